// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/norm.hpp>

#include "checks.hpp"

#include <limits>

using namespace benanza;
using namespace benanza::op;

TEST_CASE("batch_norm") {
  constexpr batch_norm b{.input = {1, 64, 56, 56}};
  CHECK_TWICE(b.output() == shape{1, 64, 56, 56});
  CHECK_TWICE(b.cost().macs == 0);
  CHECK_TWICE(b.cost().other == 401408);
  CHECK_TWICE(b.cost().vectors == 256); // scale, shift, mean, variance
  CHECK_TWICE(b.cost().bytes(numeric::f32) == 1606656);
  CHECK_TWICE(b.cost().bytes(numeric::bf16) == 803840); // the vectors stay f32
  CHECK_TWICE(b.cost().bytes(numeric::u8s8u8) == 402432);
  CHECK_TWICE(write_key(b) == "1x64x56x56");
  constexpr batch_norm flat{.input = {8, 100}};
  CHECK_TWICE(flat.cost().bytes(numeric::f32) == 2 * 3200 + 1600);
}

TEST_CASE("batch_norm: what is refused") {
  CHECK_REFUSED(batch_norm{}.validate(), "two dims or more");
  CHECK_REFUSED(batch_norm{.input = {5}}.validate(), "two dims or more");
  CHECK_REFUSED((batch_norm{.input = {1, -64, 2}}.validate()), "negative");
  CHECK_REFUSED((batch_norm{.input = {dim_limit, dim_limit}}.validate()), "2^56");
}

TEST_CASE("lrn: AlexNet's") {
  constexpr lrn l{.input = {1, 96, 55, 55}, .size = 5};
  CHECK_TWICE(l.output() == shape{1, 96, 55, 55});
  CHECK_TWICE(l.cost().other == 4065600); // 290400 elements, 2 * 5 + 4 each
  CHECK_TWICE(l.cost().bytes(numeric::f32) == 2 * 1161600);
  CHECK_TWICE(write_key(l) == "1x96x55x55-n5");
}

TEST_CASE("lrn: what is refused") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  CHECK_REFUSED((lrn{.input = {1, 96, 55, 55}}.validate()), "a size");
  CHECK_REFUSED((lrn{.input = {1, 96}, .size = 5}.validate()), "three dims");
  CHECK_REFUSED((lrn{.input = {1, 96, 55}, .size = -1}.validate()), "a size");
  CHECK_REFUSED((lrn{.input = {1, 96, 55}, .size = largest}.validate()), "2^40");
  CHECK_REFUSED((lrn{.input = {1, 96, -55}, .size = 5}.validate()), "negative");
  CHECK_REFUSED((lrn{.input = {1, 1 << 20, 1}, .size = dim_limit}.validate()), "2^56");
}
