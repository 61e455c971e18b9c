// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;
namespace op = benanza::op;

TEST_CASE("reductions: axes by attribute and by input, kept or dropped") {
  const char* const in = "float[2,3,4] x";
  for (std::string_view f : op::reduction_families) {
    const std::string name(f);
    CHECK(last_layer(11, in, "y = " + name + "<axes = [-1, 1]>(x)", "", two) ==
          name + "/2x3x4-a1x2");
    CHECK(last_layer(18, in, "y = " + name + "(x, axes)", "int64[1] axes = {2}", two) ==
          name + "/2x3x4-a2");
    CHECK(last_layer(11, in, "y = " + name + "(x)", "", two) == name + "/2x3x4-a0x1x2");
  }
  CHECK(last_layer(13, in, "y = ReduceSum(x, axes)", "int64[1] axes = {1}", two) ==
        "ReduceSum/2x3x4-a1");
  CHECK(last_layer(18, in, "y = ReduceMean<noop_with_empty_axes = 1>(x)", "", two) ==
        "ReduceMean/2x3x4");
  CHECK(dims_of_y(11, in, "y = ReduceMax<axes = [1], keepdims = 0>(x)", "", two) == "2x4");
  CHECK(dims_of_y(11, in, "y = ReduceMax<axes = [1]>(x)", "", two) == "2x1x4");
  CHECK(dims_of_y(11, in, "y = ReduceMax<keepdims = 0>(x)", "", two) == "scalar");
  CHECK_SAYS(last_layer(11, in, "y = ReduceMax<axes = [1, -2]>(x)", "", two), "named twice");
  CHECK_SAYS(last_layer(11, in, "y = ReduceMax<axes = [3]>(x)", "", two), "axis 3");
  CHECK_SAYS(last_layer(18, "float[2,3,4] x, int64[1] a", "y = ReduceMax(x, a)", "", two),
             "computed when the model runs");
}
