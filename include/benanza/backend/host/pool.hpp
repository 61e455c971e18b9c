// SPDX-License-Identifier: Apache-2.0
// How does global pooling run? As the reduction over all spatial dims that it is. Windows are left
// to libraries that have them.
//
//   kernel k = make(op::pool{.function = op::pooling::global_average, .input = {1, 2048, 7, 7}},
//   job);
#pragma once

#include "reduce.hpp"

namespace benanza::backend::host {

/// True where there is a kernel: global pooling of f32, bf16 and codes.
inline bool runs(const op::pool& p, dtype element) {
  return p.global() && detail::computes_in_f32(element);
}

inline detail::kernel make(const op::pool& p, const detail::job& j) {
  op::reduce r{.function = p.maximum() ? op::reduction::max : op::reduction::mean,
               .input = p.input};
  for (int i = 2; i < p.input.size; ++i)
    r.axes.push(i);
  return make(r, j);
}

} // namespace benanza::backend::host
