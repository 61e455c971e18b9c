// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("Reshape keeps the number of elements, or is refused") {
  const auto reshape = [](std::string_view target, std::string_view attributes = {}) {
    const auto n = std::count(target.begin(), target.end(), ',') + 1;
    return last_layer(14, "float[2,3,4] x", "y = Reshape" + std::string(attributes) + "(x, t)",
                      "int64[" + std::to_string(n) + "] t = {" + std::string(target) + "}", two);
  };
  CHECK(reshape("6,4") == "Reshape/2x3x4-6x4");
  CHECK(reshape("0,-1") == "Reshape/2x3x4-2x12");
  CHECK(reshape("-1") == "Reshape/2x3x4-24");
  CHECK(reshape("0,0,2,2") == "Reshape/2x3x4-2x3x2x2");
  CHECK_SAYS(reshape("5,5"), "it makes 5x5 of 2x3x4");
  CHECK_SAYS(reshape("5,-1"), "it makes 5x-1");
  CHECK_SAYS(reshape("-1,-1"), "it makes");
  CHECK_SAYS(reshape("-2,12"), "it makes");
  CHECK_SAYS(reshape("0,0,0,0"), "it makes");
  CHECK_SAYS(reshape("0,-1", "<allowzero = 1>"), "it makes");
  CHECK_SAYS(reshape("4611686018427387904,-1"), "it makes");
  CHECK_SAYS(reshape("1,1,1,1,1,1,1,1,24"), "more than 8 dims");
  CHECK(last_layer(1, "float[2,3,4] x", "y = Reshape<shape = [0, -1]>(x)", "", two) ==
        "Reshape/2x3x4-2x12");
  CHECK(last_layer(14, "float[0,3] x", "y = Reshape<allowzero = 1>(x, t)", "int64[2] t = {3, 0}",
                   {.shapes = {{"x", {0, 3}}}}) == "Reshape/0x3-3x0");
  CHECK_SAYS(last_layer(13, "float[2] x, int64[1] t", "y = Reshape(x, t)"),
             "computed when the model runs");
  CHECK_SAYS(last_layer(13, "float[2] x", "y = Reshape(x, t)", "int64[1] t"),
             "are not in the file");
  CHECK_SAYS(last_layer(13, "float[2] x", "y = Reshape(x, t)", "float[1] t = {2}"),
             "must hold whole numbers");
}

TEST_CASE("the other views") {
  const char* const in = "float[2,3,1,4] x";
  CHECK(last_layer(13, in, "y = Flatten(x)", "", two) == "Flatten/2x3x1x4-2x12");
  CHECK(last_layer(13, in, "y = Flatten<axis = 0>(x)", "", two) == "Flatten/2x3x1x4-1x24");
  CHECK(last_layer(13, in, "y = Flatten<axis = 4>(x)", "", two) == "Flatten/2x3x1x4-24x1");
  CHECK(last_layer(13, in, "y = Flatten<axis = -1>(x)", "", two) == "Flatten/2x3x1x4-6x4");
  CHECK(last_layer(11, in, "y = Squeeze(x)", "", two) == "Squeeze/2x3x1x4-2x3x4");
  CHECK(last_layer(11, in, "y = Squeeze<axes = [2]>(x)", "", two) == "Squeeze/2x3x1x4-2x3x4");
  CHECK(last_layer(13, in, "y = Squeeze(x, a)", "int64[1] a = {-2}", two) ==
        "Squeeze/2x3x1x4-2x3x4");
  CHECK(last_layer(11, in, "y = Unsqueeze<axes = [0, -1]>(x)", "", two) ==
        "Unsqueeze/2x3x1x4-1x2x3x1x4x1");
  CHECK(last_layer(13, in, "y = Unsqueeze(x, a)", "int64[1] a = {1}", two) ==
        "Unsqueeze/2x3x1x4-2x1x3x1x4");
  CHECK(last_layer(13, in, "y = Identity(x)", "", two) == "Identity/2x3x1x4");
  CHECK_SAYS(last_layer(11, in, "y = Squeeze<axes = [1]>(x)", "", two), "which is not 1");
  CHECK_SAYS(last_layer(11, in, "y = Squeeze<axes = [99]>(x)", "", two), "axis 99");
  CHECK_SAYS(last_layer(13, in, "y = Unsqueeze(x, a)", "int64[2] a = {1, 1}", two), "twice");
  CHECK_SAYS(last_layer(13, in, "y = Unsqueeze(x, a)", "int64[5] a = {0,1,2,3,4}", two),
             "at most 8");
}

TEST_CASE("Dropout at inference is a view; its mask has its dims") {
  const char* const in = "float[2,3] x";
  CHECK(last_layer(7, in, "y = Dropout(x)", "", two) == "Dropout/2x3");
  CHECK(last_layer(6, in, "y = Dropout<is_test = 1>(x)", "", two) == "Dropout/2x3");
  CHECK(last_layer(12, in, "y = Dropout(x, r, t)", "float r = {0.5}, bool t = {0}", two) ==
        "Dropout/2x3");
  CHECK(last_layer(12, in, "y = Dropout(x, r, t)", "float r = {0}, bool t = {1}", two) ==
        "Dropout/2x3");
  CHECK_SAYS(last_layer(12, in, "y = Dropout(x, r, t)", "float r = {0.5}, bool t = {1}", two),
             "it trains");
  CHECK(last_layer(12, in, "a, m = Dropout(x) y = Not(m)", "", two) == "Not/2x3-bool");
  CHECK(last_layer(7, in, "a, m = Dropout(x) y = Relu(m)", "", two) == "Relu/2x3");
}

TEST_CASE("a node with two results is one node, and its readers read it once") {
  const auto g = graph_of(
      text_model(13, "float[N,8] x", "a, b = Split<axis = 1>(x) c = Relu(b) y = Add(a, c)"));
  REQUIRE(g.nodes.size() == 3);
  CHECK(g.nodes[1].inputs == std::vector<int>{0});
  CHECK(g.nodes[2].inputs == std::vector<int>{0, 1});
}
