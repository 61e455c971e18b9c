// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/kinds.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("a normalized sum reads two tensors, and may give the sum too") {
  constexpr residual<layer_norm> alone{.base = {.input = {1, 128, 768}, .axis = 2, .bias = true}};
  constexpr residual<layer_norm> read{.base = alone.base, .sum = true};
  constexpr std::int64_t n = 128 * 768;
  CHECK_TWICE(alone.cost().sources == 2 * n);
  CHECK_TWICE(alone.cost().results == n);
  CHECK_TWICE(read.cost().results == 2 * n);
  CHECK_TWICE(read.cost().other == alone.base.cost().other + n);
  CHECK_TWICE(read.cost().vectors == 2 * 768);
  CHECK_TWICE(read.results().size == 2);
  CHECK_TWICE(read.results()[1].dims == shape{1, 128, 768});
  CHECK_TWICE(alone.results().size == 1);
}

TEST_CASE("a normalized sum is named after both") {
  const layer sum = residual<rms_norm>{.base = {.input = {1, 128, 4096}, .axis = 2}, .sum = true};
  CHECK(name(sum) == "Add+RMSNormalization/1x128x4096-a2-sum");
  for (const char* text :
       {"Add+LayerNormalization/1x128x768-a2-b", "Add+LayerNormalization/1x128x768-a2-b-sum",
        "Add+LayerNormalization/8x64-a1-sum", "Add+RMSNormalization/2x3x5-a1"}) {
    CHECK(name(parse(text)) == text);
    CHECK(parse(name(parse(text))) == parse(text));
  }
  CHECK_FALSE(parse("Add+RMSNormalization/2x4-a1") == parse("Add+RMSNormalization/2x4-a1-sum"));
}

TEST_CASE("what is no normalized sum is refused") {
  for (const char* bad : {"Add+LayerNormalization/8x64-a1-stats", "Add+LayerNormalization/8x64-a2",
                          "Add+LayerNormalization/8x64-a1-sum-b", "Mul+LayerNormalization/8x64-a1",
                          "Add+Add+RMSNormalization/8x64-a1", "Add+RMSNormalization+Relu/8x64-a1",
                          "LayerNormalization+Add/8x64-a1", "Add+GroupNormalization/1x4x8-g2"})
    CHECK_THROWS_AS_MESSAGE(parse(bad), error, bad);
}
