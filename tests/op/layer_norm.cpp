// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/layer_norm.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("layer_norm: ViT's") {
  constexpr layer_norm l{.input = {1, 197, 768}, .axis = 2, .bias = true};
  CHECK_TWICE(l.output() == shape{1, 197, 768});
  CHECK_TWICE(l.row() == 768);
  CHECK_TWICE(l.cost().macs == 0);
  CHECK_TWICE(l.cost().other == 1059072); // 151296 elements, seven operations each
  CHECK_TWICE(l.cost().vectors == 1536);
  CHECK_TWICE(l.cost().bytes(numeric::f32) == 1216512);
  CHECK_TWICE(l.cost().bytes(numeric::bf16) == 611328); // scale and bias stay f32
  CHECK_TWICE(write_key(l) == "1x197x768-a2-b");
  constexpr layer_norm bare{.input = {1, 197, 768}, .axis = 2};
  CHECK_TWICE(bare.cost().other == 907776);
  CHECK_TWICE(bare.cost().vectors == 768);
  CHECK_TWICE(write_key(bare) == "1x197x768-a2");
}

TEST_CASE("layer_norm: a row is all dims from the axis on") {
  constexpr layer_norm l{.input = {2, 3, 4, 5}, .axis = 1};
  CHECK_TWICE(l.row() == 60);
  CHECK_TWICE(l.cost().vectors == 60);
  constexpr layer_norm whole{.input = {2, 3}, .axis = 0};
  CHECK_TWICE(whole.row() == 6);
  CHECK_TWICE(write_key(whole) == "2x3-a0");
}

TEST_CASE("rms_norm") {
  constexpr rms_norm r{.input = {1, 128, 4096}, .axis = 2};
  CHECK_TWICE(r.output() == shape{1, 128, 4096});
  CHECK_TWICE(r.cost().other == 2097152); // 524288 elements, four operations each
  CHECK_TWICE(r.cost().vectors == 4096);
  CHECK_TWICE(r.cost().bytes(numeric::bf16) == 2113536);
  CHECK_TWICE(write_key(r) == "1x128x4096-a2");
}

TEST_CASE("layer_norm and rms_norm: what is refused") {
  CHECK_REFUSED(layer_norm{}.validate(), "axis");
  CHECK_REFUSED((layer_norm{.input = {2, 3}, .axis = 2}.validate()), "axis");
  CHECK_REFUSED((layer_norm{.input = {2, 3}, .axis = -1}.validate()), "axis");
  CHECK_REFUSED((layer_norm{.input = {2, -3}, .axis = 1}.validate()), "negative");
  CHECK_REFUSED((layer_norm{.input = {dim_limit, 1 << 14}, .axis = 1}.validate()), "2^56");
  CHECK_REFUSED(rms_norm{}.validate(), "axis");
  CHECK_REFUSED((rms_norm{.input = {2, 3}, .axis = 7}.validate()), "axis");
  CHECK_REFUSED((rms_norm{.input = {dim_limit + 1}}.validate()), "2^40");
}
