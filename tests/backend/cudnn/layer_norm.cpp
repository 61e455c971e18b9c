// SPDX-License-Identifier: Apache-2.0
// Are normalizations of rows listed, and by what operands? What they compute is tried on the fake
// GPU (measure/gpu_program.cpp).
#include "listed.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::cudnn;
using cudnn_test::listed;
using cudnn_test::remade;

TEST_CASE("cudnn: normalizations of rows have engines from the A100 on, for rows of any length") {
  for (const char* gpu : {"a100", "h200", "b200"})
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      for (const char* layer : {"LayerNormalization/1x197x768-a2-b", "LayerNormalization/8x5-a1",
                                "LayerNormalization/2x3x4x10-a2-b",
                                "RMSNormalization/1x128x4096-a2", "RMSNormalization/1x3x770-a2"}) {
        CAPTURE(std::string(gpu));
        CAPTURE(std::string(layer));
        const auto all = listed(layer, t, gpu);
        CHECK_FALSE(all.empty());
        for (const offer& o : all) {
          CHECK(o.what.equivalence == name(t));
          CHECK(o.what.operand_layouts == "plain");
          CHECK(o.what.result_layout == "plain");
          CHECK(remade(o, gpu));
        }
      }
}

TEST_CASE("cudnn: rows are images, and their elements channels") {
  const auto made = recipes_for(op::parse("LayerNormalization/2x3x4x10-a2-b"), numeric::bf16);
  REQUIRE(made.size() == 1);
  REQUIRE(made[0].tensors.size() == 4);
  for (const placed& t : made[0].tensors) {
    const bool is_vector = t.input == 1 || t.input == 2;
    CHECK(t.dims == shape{is_vector ? 1 : 6, 40, 1, 1});
    CHECK(t.strides == shape{40, 1, 40, 40});
    CHECK(t.type == dtype::bf16);
    CHECK(t.elements == (is_vector ? 40 : 240));
  }
  REQUIRE(made[0].numbers.size() == 1);
  CHECK(made[0].numbers[0].value == static_cast<float>(backend::attribute::epsilon));
}

TEST_CASE("cudnn: the rows of a sum have engines too, also where the sum is read by others") {
  for (const char* gpu : {"a100", "h200"})
    for (const char* layer :
         {"Add+LayerNormalization/1x128x768-a2-b-sum", "Add+RMSNormalization/1x128x4096-a2"}) {
      CAPTURE(std::string(gpu));
      CAPTURE(std::string(layer));
      const auto all = listed(layer, numeric::f16, gpu);
      REQUIRE_FALSE(all.empty());
      CHECK(all[0].what.result_layout == "plain");
      CHECK(remade(all[0], gpu));
    }
  const auto made = recipes_for(op::parse("Add+RMSNormalization/6x40-a1-sum"), numeric::f16);
  REQUIRE(made.size() == 1);
  std::vector<int> inputs;
  for (const placed& t : made[0].tensors)
    inputs.push_back(t.input);
  CHECK(inputs == std::vector{placed::result, 0, 2, placed::second, 1});
}

TEST_CASE("cudnn: normalizations of integers, and of nothing, are not offered") {
  CHECK(recipes_for(op::parse("LayerNormalization/8x64-a1-b"), numeric::s8s8s8).empty());
  CHECK(recipes_for(op::parse("LayerNormalization/0x64-a1-b"), numeric::f32).empty());
}
