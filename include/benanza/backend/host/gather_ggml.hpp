// SPDX-License-Identifier: Apache-2.0
// How are rows taken from a table in ggml's blocks? Block by block, decoded on the way. A token
// reads one row.
//
//   kernel k = make(op::gather_ggml{.data = {32000, 2048}, .indices = {1, 1}, ...}, job);
#pragma once

#include "../ggml_blocks.hpp"
#include "detail/job.hpp"

#include <algorithm>

namespace benanza::backend::host {

/// True where there is a kernel: f32.
inline bool runs(const op::gather_ggml&, dtype, dtype result) {
  return result == dtype::f32;
}

inline detail::kernel make(const op::gather_ggml& p, const detail::job& j) {
  const std::int64_t count = elements(p.indices);
  const int threads = detail::team_for(j.threads, 8 * count * p.data[1]);
  return {"blocks",
          [=, table = j.inputs[0], indices = reinterpret_cast<const std::int64_t*>(j.inputs[1]),
           to = reinterpret_cast<float*>(j.output)] {
            const op::ggml_block b = op::block_of(p.format);
            detail::share(threads, count, 1, [&](std::int64_t at, std::int64_t end) {
              float numbers[most_in_ggml_block];
              for (; at < end; ++at) {
                const std::int64_t row = indices[at] < 0 ? indices[at] + p.data[0] : indices[at];
                const std::byte* from = table + row * p.row_bytes();
                float* out = to + at * p.data[1];
                for (std::int64_t i = 0; i < p.data[1]; i += b.weights, from += b.bytes) {
                  decode(p.format, from, numbers);
                  std::copy_n(numbers, b.weights, out + i);
                }
              }
            });
          }};
}

} // namespace benanza::backend::host
