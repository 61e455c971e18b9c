// SPDX-License-Identifier: Apache-2.0
// Normalizations and softmax, in the versions that differ.
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("BatchNormalization and LRN") {
  const char* const four = "float[8] a, float[8] b, float[8] c, float[8] d";
  const auto norm = [&](int opset, std::string_view node) {
    return last_layer(opset, "float[1,8,4,4] x", node, four);
  };
  CHECK(norm(13, "y = BatchNormalization(x, a, b, c, d)") == "BatchNormalization/1x8x4x4");
  CHECK(norm(6, "y = BatchNormalization<is_test = 1>(x, a, b, c, d)") ==
        "BatchNormalization/1x8x4x4");
  CHECK_SAYS(norm(9, "y, m, v, s, t = BatchNormalization(x, a, b, c, d)"), "it trains");
  CHECK_SAYS(norm(7, "y = BatchNormalization<spatial = 0>(x, a, b, c, d)"), "each activation");
  CHECK_SAYS(norm(13, "y = BatchNormalization(x, a, b, c)"), "it has 4 inputs");
  CHECK_SAYS(last_layer(13, "float[1,7,4,4] x", "y = BatchNormalization(x, a, b, c, d)", four),
             "its input 1 is 8, not 7");
  CHECK(norm(13, "y = LRN<size = 5>(x)") == "LRN/1x8x4x4-n5");
  CHECK_SAYS(norm(13, "y = LRN(x)"), "size");
}

TEST_CASE("LayerNormalization: its axis, its bias, and what no layer says") {
  const char* const in = "float[1,3,8] x";
  const auto norm = [&](std::string_view node,
                        std::string_view tensors = "float[8] s, float[8] b") {
    return last_layer(17, in, node, tensors);
  };
  CHECK(norm("y = LayerNormalization(x, s, b)") == "LayerNormalization/1x3x8-a2-b");
  CHECK(norm("y = LayerNormalization(x, s)") == "LayerNormalization/1x3x8-a2");
  CHECK(norm("y = LayerNormalization<axis = 1, epsilon = 0.1>(x, s)", "float[3,8] s") ==
        "LayerNormalization/1x3x8-a1");
  CHECK(norm("y = LayerNormalization<axis = -3>(x, s)", "float[1,3,8] s") ==
        "LayerNormalization/1x3x8-a0");
  CHECK(norm("y = com.microsoft.LayerNormalization(x, s, b)") == "LayerNormalization/1x3x8-a2-b");
  CHECK_SAYS(norm("y = LayerNormalization(x, s)", "float[1] s"),
             "its input 1 is 1, not a row of 8");
  CHECK_SAYS(norm("y = LayerNormalization<axis = 3>(x, s)"), "axis 3 lies outside");
  CHECK(norm("y, m, d = LayerNormalization(x, s)") == "LayerNormalization/1x3x8-a2-stats");
  CHECK(norm("y, , d = LayerNormalization(x, s)") == "LayerNormalization/1x3x8-a2-stats");
  CHECK(last_layer(17, in, "a, m, d = LayerNormalization(x, s) y = Relu(d)", "float[8] s") ==
        "Relu/1x3x1");
}

TEST_CASE("RMSNormalization, of opsets that libonnx may not know") {
  const char* const in = "float[1,3,8] x";
  CHECK(last_layer(23, in, "y = RMSNormalization(x, s)", "float[8] s") ==
        "RMSNormalization/1x3x8-a2");
  CHECK(last_layer(23, in, "y = RMSNormalization<axis = 1>(x, s)", "float[3,8] s") ==
        "RMSNormalization/1x3x8-a1");
  CHECK(last_layer(14, in, "y = SimplifiedLayerNormalization<axis = -1>(x, s)", "float[8] s") ==
        "RMSNormalization/1x3x8-a2");
  CHECK(last_layer(14, in, "y = com.microsoft.SimplifiedLayerNormalization(x, s)", "float[8] s") ==
        "RMSNormalization/1x3x8-a2");
  CHECK_SAYS(last_layer(14, in, "y, d = SimplifiedLayerNormalization(x, s)", "float[8] s"),
             "its statistics");
  CHECK_SAYS(last_layer(23, in, "y = RMSNormalization(x, s)", "float[3] s"), "not a row of 8");
}

TEST_CASE("GroupNormalization and InstanceNormalization") {
  const char* const in = "float[1,8,4,4] x";
  const char* const groups = "float[2] s, float[2] b";
  const char* const channels = "float[8] s, float[8] b";
  const char* const node = "y = GroupNormalization<num_groups = 2>(x, s, b)";
  CHECK(last_layer(18, in, node, groups) == "GroupNormalization/1x8x4x4-g2");
  CHECK(last_layer(21, in, node, channels) == "GroupNormalization/1x8x4x4-g2");
  CHECK_SAYS(last_layer(21, in, node, "float[4] s, float[4] b"), "its input 1 is 4, not 8");
  CHECK_SAYS(last_layer(21, in, "y = GroupNormalization(x, s, b)", channels), "divide");
  CHECK_SAYS(last_layer(21, in, "y = GroupNormalization<num_groups = 3>(x, s, b)", channels),
             "divide");
  CHECK_SAYS(last_layer(21, "float[8] x", node, channels), "has no channels");
  CHECK(last_layer(6, in, "y = InstanceNormalization(x, s, b)", channels) ==
        "InstanceNormalization/1x8x4x4");
  CHECK_SAYS(last_layer(6, in, "y = InstanceNormalization(x, s, b)", groups), "not 8");
  CHECK_SAYS(last_layer(6, "float[1,8] x", "y = InstanceNormalization(x, s, b)", channels),
             "three dims");
}

TEST_CASE("Softmax: a matrix before opset 13, an axis from then on") {
  const char* const in = "float[1,3,4,5] x";
  CHECK(last_layer(12, in, "y = Softmax(x)") == "Softmax/1x60-a1");
  CHECK(last_layer(12, in, "y = Softmax<axis = 2>(x)") == "Softmax/3x20-a1");
  CHECK(last_layer(12, in, "y = Softmax<axis = -1>(x)") == "Softmax/12x5-a1");
  CHECK(last_layer(12, in, "y = LogSoftmax<axis = 0>(x)") == "LogSoftmax/1x60-a1");
  CHECK(last_layer(13, in, "y = Softmax(x)") == "Softmax/1x3x4x5-a3");
  CHECK(last_layer(13, in, "y = Softmax<axis = 1>(x)") == "Softmax/1x3x4x5-a1");
  CHECK_SAYS(last_layer(13, in, "y = Softmax<axis = 4>(x)"), "axis 4 lies outside");
  CHECK(dims_of_y(12, in, "y = Softmax(x)") == "1x3x4x5");
}
