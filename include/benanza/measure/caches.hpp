// SPDX-License-Identifier: Apache-2.0
// What do the caches hold when a case runs? `hot`: what its own last execution left there.
// `coldw`: activations in the last-level cache, as other layers leave them there, and weights that
// come from memory, other ones in each execution. `cold`: nothing of its own. What a case is not to
// find is swept out before each execution, outside of its time.
//
//   cache_sweeper s(llc_bytes, 1);   s.sweep();   // a read of twice the last-level cache
#pragma once

#include "../core/error.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#ifdef _OPENMP
#include <omp.h>
#endif

namespace benanza::measure {

inline constexpr std::array<std::string_view, 3> cache_states{"hot", "coldw", "cold"};

/// Fills a cache of the host, and those before it, with what no layer needs.
class cache_sweeper {
public:
  explicit cache_sweeper(std::int64_t cache_bytes)
      : words_(std::max<std::int64_t>(2 * cache_bytes, line_bytes) / 8) {}

  /// Reads twice the cache's bytes on each of `threads` threads: the caches that one of them has
  /// to itself are swept by itself.
  void sweep(int threads) {
    if (!buffer_) {
      buffer_.reset(new (std::nothrow) std::uint64_t[static_cast<std::size_t>(words_)]);
      if (!buffer_)
        throw error("no memory to sweep the caches with", "", "leave out --states cold");
      // Pages that were never written are all the same page.
      std::memset(buffer_.get(), 1, static_cast<std::size_t>(words_) * 8);
    }
#ifdef _OPENMP
    if (threads > 1) {
      std::uint64_t sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum)
      sum += read();
      keep_ = sum;
      return;
    }
#endif
    (void)threads;
    keep_ = read();
  }

  /// Bytes that a sweep reads.
  std::int64_t bytes() const {
    return words_ * 8;
  }

private:
  static constexpr std::int64_t line_bytes = 64;

  std::uint64_t read() const {
    std::uint64_t sum = 0;
    for (std::int64_t i = 0; i < words_; i += line_bytes / 8)
      sum += buffer_[static_cast<std::size_t>(i)];
    return sum;
  }

  std::int64_t words_;
  std::unique_ptr<std::uint64_t[]> buffer_{};
  volatile std::uint64_t keep_ = 0; ///< so that the reads are not left out
};

} // namespace benanza::measure
