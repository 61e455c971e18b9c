// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/work.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("a multiply-accumulate is two flops") {
  constexpr work w{.macs = 100, .other = 7};
  CHECK_TWICE(w.flops() == 207);
  CHECK_TWICE(work{}.flops() == 0);
}

TEST_CASE("bytes by class: sources, weights and results follow it, vectors and the fixed do not") {
  constexpr work w{
      .sources = 1000, .weights = 200, .vectors = 30, .results = 4000, .fixed_bytes = 5};
  CHECK_TWICE(w.bytes(numeric::f32) == 4000 + 800 + 120 + 16000 + 5);
  CHECK_TWICE(w.bytes(numeric::tf32) == w.bytes(numeric::f32));
  CHECK_TWICE(w.bytes(numeric::f16) == 2000 + 400 + 120 + 8000 + 5);
  CHECK_TWICE(w.bytes(numeric::bf16) == w.bytes(numeric::f16));
  CHECK_TWICE(w.bytes(numeric::u8s8u8) == 1000 + 200 + 120 + 4000 + 5);
  CHECK_TWICE(w.bytes(numeric::s8s8s8) == w.bytes(numeric::u8s8u8));
  CHECK_TWICE(w.bytes(numeric::e4m3) == w.bytes(numeric::u8s8u8));
  CHECK_TWICE(w.constant_bytes(numeric::f32) == 920);
  CHECK_TWICE(w.constant_bytes(numeric::u8s8u8) == 320);
}

TEST_CASE("moved elements are of the case's type or of their own") {
  CHECK_TWICE(moved(dtype::real, 3, 5) == work{.sources = 3, .results = 5});
  CHECK_TWICE(moved(dtype::s64, 3, 5) == work{.fixed_bytes = 64});
  CHECK_TWICE(moved(dtype::boolean, 3, 5) == work{.fixed_bytes = 8});
  CHECK_TWICE(moved(dtype::f32, 3, 5).bytes(numeric::bf16) == 32);
  CHECK_TWICE(moved(dtype::s4, 3, 5) == work{.fixed_bytes = 2 + 3});
}

TEST_CASE("the largest counts still add up to positive flops and bytes") {
  constexpr work w{.macs = count_limit,
                   .other = count_limit,
                   .sources = 2 * count_limit,
                   .weights = count_limit,
                   .vectors = count_limit,
                   .results = count_limit,
                   .fixed_bytes = 24 * count_limit};
  CHECK_TWICE(w.flops() == 3 * count_limit);
  CHECK_TWICE(w.bytes(numeric::f32) == 44 * count_limit);
}
