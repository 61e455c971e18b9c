// SPDX-License-Identifier: Apache-2.0
// The tasks of a layer that is named.
//
//   only("Gemm/2x3x4-w").what == product{.m = 2, .n = 3, .k = 4}
#pragma once

#include <benanza/backend/cublas/describe.hpp>

#include <doctest/doctest.h>

namespace cublas_test {

inline benanza::backend::cublas::tasks of(const std::string& layer,
                                          benanza::numeric t = benanza::numeric::f32) {
  return benanza::backend::cublas::tasks_for(benanza::op::parse(layer), t);
}

/// The only one of them, but for the one that differs in the layout of its weights.
inline benanza::backend::cublas::task only(const std::string& layer,
                                           benanza::numeric t = benanza::numeric::f32) {
  CAPTURE(layer);
  auto all = of(layer, t);
  if (all.size() == 2 && all[1].before == "wt:") all.pop_back();
  REQUIRE(all.size() == 1);
  return all[0];
}

} // namespace cublas_test
