// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/registry.hpp>

#include "checks.hpp"

#include <type_traits>

using namespace benanza;
using namespace benanza::op;

namespace {
constexpr conv three_by_three{
    .input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};

BENANZA_LAYERS {
  unique_layer<conv{
      .input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}, .pads = {1, 1, 1, 1}}>::add(7);
  unique_layer<pool{.function = pooling::global_average, .input = {1, 2048, 7, 7}}>::add(8);
}

// The block ran before this line; its layers are taken out again, for other tests count theirs.
const std::vector<registered_layer> from_the_block = [] {
  std::vector<registered_layer>& all = registered_layers();
  std::vector<registered_layer> mine(all.end() - 2, all.end());
  all.erase(all.end() - 2, all.end());
  return mine;
}();
} // namespace

TEST_CASE("a BENANZA_LAYERS block registers its layers at start-up, in order") {
  REQUIRE(from_the_block.size() == 2);
  CHECK(from_the_block[0].id == 7);
  CHECK(from_the_block[0].parameters == layer(three_by_three));
  CHECK(from_the_block[0].cost.macs == 115605504);
  CHECK(from_the_block[1].id == 8);
  CHECK(name(from_the_block[1].parameters) == "GlobalAveragePool/1x2048x7x7");
}

TEST_CASE("add() registers one layer") {
  std::vector<registered_layer>& all = registered_layers();
  const std::size_t before = all.size();
  unique_layer<softmax{.input = {1, 1000}, .axis = 1}>::add(42);
  REQUIRE(all.size() == before + 1);
  CHECK(all.back().id == 42);
  CHECK(all.back().cost.other == 5000);
  CHECK_FALSE(all.back().known);
  all.pop_back();
}

TEST_CASE("known() registers a layer that need not be measured") {
  std::vector<registered_layer>& all = registered_layers();
  const std::size_t before = all.size();
  unique_layer<softmax{.input = {1, 1000}, .axis = 1}>::known(42);
  REQUIRE(all.size() == before + 1);
  CHECK(all.back().id == 42);
  CHECK(all.back().known);
  all.pop_back();
}

TEST_CASE("every kind of layer is a template argument with its arithmetic known when compiling") {
  static_assert(unique_layer<three_by_three>::macs == 115605504);
  static_assert(unique_layer<three_by_three>::flops == 231211008);
  static_assert(unique_layer<three_by_three>::cost.bytes(numeric::f32) == 1753088);
  static_assert(
      unique_layer<conv_transpose{
          .input = {1, 16, 7, 7}, .outputs = 8, .kernel = {3, 3}, .strides = {2, 2}}>::macs ==
      56448);
  static_assert(unique_layer<gemm{.m = 3, .n = 5, .k = 7, .c = {1, 5}}>::flops == 225);
  static_assert(unique_layer<matmul{.a = {2, 1, 3, 4}, .b = {5, 4, 6}}>::flops == 1440);
  static_assert(unique_layer<pool{.input = {1, 2, 4, 4}, .kernel = {2, 2}}>::flops == 72);
  static_assert(unique_layer<batch_norm{.input = {1, 64, 56, 56}}>::flops == 401408);
  static_assert(unique_layer<lrn{.input = {1, 96, 55, 55}, .size = 5}>::flops == 4065600);
  static_assert(unique_layer<layer_norm{.input = {2, 8}, .axis = 1, .bias = true}>::flops == 112);
  static_assert(unique_layer<rms_norm{.input = {2, 8}, .axis = 1}>::flops == 64);
  static_assert(unique_layer<group_norm{.input = {1, 8, 2}, .groups = 4}>::flops == 96);
  static_assert(unique_layer<instance_norm{.input = {1, 8, 2}}>::flops == 96);
  static_assert(unique_layer<attention{.batch = 1,
                                       .heads = 2,
                                       .queries = 4,
                                       .head_size = 8,
                                       .kv_heads = 1,
                                       .keys = 5,
                                       .value_size = 8}>::flops == 2 * 640 + 240);
  static_assert(unique_layer<softmax{.input = {1, 1000}, .axis = 1}>::flops == 5000);
  static_assert(unique_layer<unary{.input = {10}}>::flops == 10);
  static_assert(unique_layer<binary{.a = {2, 3}, .b = {3}}>::flops == 6);
  static_assert(unique_layer<reduce{.input = {2, 3}, .axes = {1}}>::flops == 6);
  static_assert(unique_layer<concat{.whole = {4}, .parts = 2}>::flops == 0);
  static_assert(unique_layer<split{.whole = {4}, .parts = 2}>::cost.sources == 4);
  static_assert(unique_layer<transpose{.input = {2, 3}, .order = {1, 0}}>::cost.results == 6);
  static_assert(unique_layer<pad{.input = {2}, .begins = {1}, .ends = {1}}>::cost.results == 4);
  static_assert(unique_layer<slice{.input = {9}, .sizes = {3}, .steps = {-2}}>::flops == 0);
  static_assert(unique_layer<gather{.data = {4, 2}, .indices = {1}}>::cost.fixed_bytes == 8);
  static_assert(
      unique_layer<resize{.input = {2}, .sizes = {4}, .mode = interpolation::linear}>::flops == 16);
  static_assert(unique_layer<depth_to_space{.input = {1, 4, 1, 1}, .block = 2}>::flops == 0);
  static_assert(unique_layer<view{.input = {4}, .result = {2, 2}}>::flops == 0);
}

TEST_CASE("equal layers are one type, however they were made") {
  constexpr conv wordy{.input = {1, 64, 56, 56},
                       .outputs = 64,
                       .kernel = {3, 3},
                       .strides = {1, 1},
                       .pads = {1, 1, 1, 1},
                       .dilations = {1, 1}};
  static_assert(!std::is_same_v<unique_layer<wordy>, unique_layer<three_by_three>>);
  static_assert(std::is_same_v<unique_layer<wordy.canonical_form()>, unique_layer<three_by_three>>);
  static_assert(std::is_same_v<unique_layer<read_key(conv{}, "1x64x56x56-64x3x3-s1x1-p1x1")>,
                               unique_layer<three_by_three>>);

  constexpr slice s{.input = {9, 9}, .sizes = {3, 1}, .starts = {0, 4}, .steps = {2, 5}};
  static_assert(std::is_same_v<unique_layer<s.canonical_form()>,
                               unique_layer<read_key(slice{}, "9x9-3x1-from0x4-by2x1")>>);
  constexpr binary b{.function = binary_function::sum, .a = {2, 3}, .b = {9, 9, 9}, .operands = 1};
  static_assert(
      std::is_same_v<unique_layer<b.canonical_form()>,
                     unique_layer<read_key(binary{.function = binary_function::sum}, "2x3-n1")>>);
  constexpr pool p{.function = pooling::global_max, .input = {1, 2, 3}, .kernel = {3}};
  static_assert(
      std::is_same_v<unique_layer<p.canonical_form()>,
                     unique_layer<read_key(pool{.function = pooling::global_max}, "1x2x3")>>);
  // One member apart is another type.
  static_assert(!std::is_same_v<unique_layer<unary{.input = {4}}>,
                                unique_layer<unary{.input = {4}, .element = dtype::s64}>>);
  static_assert(
      !std::is_same_v<unique_layer<unary{.input = {4}}>, unique_layer<batch_norm{.input = {4}}>>);
}
