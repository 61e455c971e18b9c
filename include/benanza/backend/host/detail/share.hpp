// SPDX-License-Identifier: Apache-2.0
// How is work cut among threads? Into one contiguous range for each, by OpenMP; at once in the
// caller where a parallel region would cost more than it saves.
//
//   share(2, rows, 1, [&](std::int64_t begin, std::int64_t end) { ... });
#pragma once

#include "memory.hpp"

#include <algorithm>
#include <cstdint>
#include <omp.h>

namespace benanza::backend::host::detail {

/// Below this many bytes a second thread does not pay: waking it takes about a microsecond.
inline constexpr std::int64_t worth_sharing = 128 * 1024;

/// Threads for a kernel that moves `bytes`.
inline int team_for(int threads, std::int64_t bytes) {
  return bytes < worth_sharing ? 1 : threads;
}

/// Calls `body(begin, end)` for ranges that cover [0, count), cut at multiples of `grain`.
template <class Body>
void share(int threads, std::int64_t count, std::int64_t grain, const Body& body) {
  if (threads <= 1 || count <= grain) {
    if (count > 0) body(std::int64_t{0}, count);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    const std::int64_t team = omp_get_num_threads(), self = omp_get_thread_num();
    const std::int64_t grains = (count + grain - 1) / grain;
    const std::int64_t begin = grains * self / team * grain;
    const std::int64_t end = std::min(count, grains * (self + 1) / team * grain);
    if (begin < end) body(begin, end);
  }
}

/// Floats that each thread of a kernel may write, allocated before it is timed.
class scratch {
public:
  scratch() = default;
  scratch(int threads, std::int64_t floats)
      : each_((floats + 31) / 16 * 16)
      , held_(std::make_shared<buffer>(threads * each_ * 4)) {}
  float* mine() const {
    return reinterpret_cast<float*>(held_->bytes()) + omp_get_thread_num() * each_;
  }

private:
  std::int64_t each_ = 0;
  std::shared_ptr<buffer> held_;
};

} // namespace benanza::backend::host::detail
