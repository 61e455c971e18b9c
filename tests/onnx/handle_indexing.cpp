// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("what indices name: in all versions, and what does not fit") {
  const auto layer = [](std::string_view node, std::string_view more, int opset = 16) {
    return last_layer(opset, std::string("float[4,9] x, ").append(more), node, {}, {.batch = 4});
  };
  CHECK(layer("y = GatherElements<axis = -1>(x, i)", "int64[4,3] i") ==
        "GatherElements/4x9-4x3-a1");
  CHECK(layer("y = GatherND<batch_dims = 1>(x, i)", "int64[4,1] i") == "GatherND/4x9-4x1-b1");
  CHECK(layer("y = ScatterElements<axis = 1>(x, i, u)", "int32[4,3] i, float[4,3] u") ==
        "ScatterElements/4x9-4x3-a1-i32");
  CHECK(layer("y = Scatter(x, i, u)", "int64[2,9] i, float[2,9] u", 10) ==
        "ScatterElements/4x9-2x9");
  CHECK(layer("y = ScatterND<reduction = \"add\">(x, i, u)", "int64[3,1] i, float[3,9] u") ==
        "ScatterND/4x9-3x1-add");
  CHECK(layer("y = TensorScatter<axis = 1, mode = \"circular\">(x, u, w)",
              "float[4,2] u, int64[4] w", 24) == "TensorScatter/4x9-a1-n2-at-circular");
  CHECK_SAYS(layer("y = ScatterND(x, i, u)", "int64[3,1] i, float[3,8] u"), "not 3x9");
  CHECK_SAYS(layer("y = ScatterND<reduction = \"or\">(x, i, u)", "int64[3,1] i, float[3,9] u"),
             "reduction is");
  CHECK_SAYS(layer("y = GatherND<batch_dims = 7>(x, i)", "int64[4,1] i"), "batch_dims");
  CHECK_SAYS(layer("y = GatherND(x, i)", "int64[4,3] i"), "more numbers");
  CHECK_SAYS(layer("y = GatherElements(x, i)", "int64[4] i"), "lack dims");
  CHECK_SAYS(layer("y = TensorScatter<axis = 1>(x, u)", "float[4] u", 24), "does not fit");
}
