// SPDX-License-Identifier: Apache-2.0
// Are normalizations of each image listed where the library has an engine, and only there?
#include "listed.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;
using cudnn_test::listed;
using cudnn_test::remade;

TEST_CASE("cudnn: instance normalizations have engines in both layouts") {
  for (const char* gpu : {"a100", "h200", "b200"})
    for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16})
      for (const char* layer :
           {"InstanceNormalization/1x32x56x56", "InstanceNormalization/2x16x100",
            "InstanceNormalization/1x8x4x8x8"}) {
        CAPTURE(std::string(gpu));
        CAPTURE(std::string(layer));
        std::set<std::string> layouts;
        for (const offer& o : listed(layer, t, gpu)) {
          layouts.insert(o.what.operand_layouts);
          CHECK(o.what.operand_layouts == o.what.result_layout);
          CHECK(remade(o, gpu));
        }
        CHECK(layouts == std::set<std::string>{"plain", "channels_last"});
      }
}

TEST_CASE("cudnn: group normalizations are offered only where each channel is a group") {
  CHECK(listed("GroupNormalization/1x32x8x8-g8", numeric::f32, "h200").empty());
  CHECK(listed("GroupNormalization/1x32x8x8-g1", numeric::f32, "h200").empty());
  CHECK_FALSE(listed("GroupNormalization/1x32x8x8-g32", numeric::f32, "h200").empty());
  CHECK(recipes_for(op::parse("GroupNormalization/4x32-g32"), numeric::f32).empty());
}

TEST_CASE("cudnn: the library has no engine for its own mode of group normalizations") {
  // Noticed here, should a later version have one.
  const shape x{2, 32, 28, 28}, channels{1, 32, 1, 1};
  for (const char* gpu : {"a100", "h200", "b200"})
    for (const layout l : cudnn_layouts) {
      graph_maker g;
      norm_tensors t{.x = g.tensor(x, strides_in(l, x), CUDNN_DATA_FLOAT)};
      t.scale = g.tensor(channels, packed(channels), CUDNN_DATA_FLOAT);
      t.bias = g.tensor(channels, packed(channels), CUDNN_DATA_FLOAT);
      t.epsilon = g.number(4);
      t.y = g.tensor(x, strides_in(l, x), CUDNN_DATA_FLOAT);
      g.normalization(CUDNN_GROUP_NORM, t);
      CHECK(engines_for(g.finish(), cudnn_test::gpu(gpu)).empty());
    }
}
