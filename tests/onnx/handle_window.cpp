// SPDX-License-Identifier: Apache-2.0
// Convolutions and poolings from ONNX's attributes: every pad rule, groups, dilations, and what is
// wrong with one.
#include "text_model.hpp"

using namespace benanza::test;

namespace {
const char* const image = "float[1,8,15,14] x";

std::string conv(std::string_view attributes, std::string_view weights,
                 std::string_view inputs = image) {
  return last_layer(13, inputs, std::string("y = Conv").append(attributes).append("(x, w)"),
                    weights);
}
std::string transposed(std::string_view attributes, std::string_view weights = "float[8,2,3,3] w") {
  return last_layer(13, image, std::string("y = ConvTranspose").append(attributes).append("(x, w)"),
                    weights);
}
std::string pool(std::string_view node, int opset = 13, std::string_view inputs = image) {
  return last_layer(opset, inputs, std::string("y = ").append(node).append("(x)"));
}
} // namespace

TEST_CASE("Conv: kernel, strides, pads, dilations, groups and bias") {
  CHECK(conv("", "float[4,8,3,3] w") == "Conv/1x8x15x14-4x3x3-s1");
  CHECK(conv("<kernel_shape = [3,3], pads = [1,1,1,1]>", "float[4,8,3,3] w") ==
        "Conv/1x8x15x14-4x3x3-s1-p1");
  CHECK(conv("<strides = [2,3], pads = [0,1,2,3]>", "float[4,8,3,3] w") ==
        "Conv/1x8x15x14-4x3x3-s2x3-p0x1x2x3");
  CHECK(conv("<dilations = [2,2]>", "float[4,8,3,3] w") == "Conv/1x8x15x14-4x3x3-s1-d2");
  CHECK(conv("<dilations = [7,7]>", "float[4,8,1,1] w") == "Conv/1x8x15x14-4x1x1-s1");
  CHECK(conv("<group = 8>", "float[8,1,3,3] w") == "Conv/1x8x15x14-8x3x3-s1-g8");
  CHECK(last_layer(13, image, "y = Conv(x, w, b)", "float[4,8,3,3] w, float[4] b") ==
        "Conv/1x8x15x14-4x3x3-s1-b");
  CHECK(conv("", "float[4,8,3] w", "float[2,8,15] x") == "Conv/2x8x15-4x3-s1");
  CHECK(conv("", "float[4,8,1,2,3] w", "float[N,8,5,6,7] x") == "Conv/1x8x5x6x7-4x1x2x3-s1");
}

TEST_CASE("Conv: auto_pad becomes plain pads") {
  CHECK(conv("<auto_pad = \"VALID\", pads = [1,1,1,1]>", "float[4,8,3,3] w") ==
        "Conv/1x8x15x14-4x3x3-s1");
  CHECK(conv("<auto_pad = \"SAME_UPPER\", strides = [2,2]>", "float[4,8,3,3] w") ==
        "Conv/1x8x15x14-4x3x3-s2-p1x0x1x1");
  CHECK(conv("<auto_pad = \"SAME_LOWER\", strides = [2,2]>", "float[4,8,3,3] w") ==
        "Conv/1x8x15x14-4x3x3-s2-p1x1x1x0");
  CHECK(conv("<auto_pad = \"NOTSET\", pads = [1,1,1,1]>", "float[4,8,3,3] w") ==
        "Conv/1x8x15x14-4x3x3-s1-p1");
  CHECK_SAYS(conv("<auto_pad = \"SAME\">", "float[4,8,3,3] w"), "auto_pad is 'SAME'");
}

TEST_CASE("Conv: what is wrong with one is that node's problem") {
  CHECK_SAYS(conv("", "float[4,8] w", "float[1,8] x"), "one to three spatial dims");
  CHECK_SAYS(conv("", "float[4,8,3] w"), "do not fit its input");
  CHECK_SAYS(conv("", "float[4,7,3,3] w"), "do not fit its input");
  CHECK_SAYS(conv("<kernel_shape = [5,5]>", "float[4,8,3,3] w"), "differs from its weights");
  CHECK_SAYS(conv("<strides = [0,1]>", "float[4,8,3,3] w"), "too small");
  CHECK_SAYS(conv("<strides = [2]>", "float[4,8,3,3] w"), "do not match the spatial dims");
  CHECK_SAYS(conv("<pads = [1,1]>", "float[4,8,3,3] w"), "do not match the spatial dims");
  CHECK_SAYS(conv("<pads = [-1,0,0,0]>", "float[4,8,3,3] w"), "too small");
  CHECK_SAYS(conv("<group = 0>", "float[4,8,3,3] w"), "groups");
  CHECK_SAYS(conv("<group = 3>", "float[4,8,3,3] w"), "groups");
  CHECK_SAYS(conv("<strides = 2>", "float[4,8,3,3] w"), "not a list of whole numbers");
  CHECK_SAYS(conv("", "float[4,8,300,300] w"), "larger than its padded input");
  CHECK_SAYS(conv("<pads = [4611686018427387904,0,0,0]>", "float[4,8,3,3] w"), "2^40");
  CHECK_SAYS(last_layer(13, image, "y = Conv(x)"), "it has 1 inputs");
  CHECK_SAYS(last_layer(13, image, "y = Conv(x, w, b)", "float[4,8,3,3] w, float[5] b"),
             "its bias is 5");
}

TEST_CASE("ConvTranspose: pads, output padding, output_shape and auto_pad") {
  CHECK(transposed("") == "ConvTranspose/1x8x15x14-2x3x3-s1");
  CHECK(transposed("<group = 2>") == "ConvTranspose/1x8x15x14-4x3x3-s1-g2");
  CHECK(transposed("<strides = [2,2], pads = [1,1,1,1], output_padding = [1,1]>") ==
        "ConvTranspose/1x8x15x14-2x3x3-s2-p1-op1");
  // 2 x 14 + 3 = 31 rows, one too many, which goes to the begin; 2 x 13 + 3 = 29 columns.
  CHECK(transposed("<strides = [2,2], output_shape = [30,28]>") ==
        "ConvTranspose/1x8x15x14-2x3x3-s2-p1x1x0x0");
  CHECK(transposed("<strides = [2,2], auto_pad = \"SAME_UPPER\">") ==
        "ConvTranspose/1x8x15x14-2x3x3-s2-p0x0x1x1");
  CHECK(transposed("<strides = [2,2], auto_pad = \"SAME_LOWER\">") ==
        "ConvTranspose/1x8x15x14-2x3x3-s2-p1x1x0x0");
  CHECK(transposed("<strides = [2,2], output_shape = [1,2,32,29]>") ==
        "ConvTranspose/1x8x15x14-2x3x3-s2-op1x0");
  CHECK_SAYS(transposed("<output_shape = [0,5]>"), "out of range");
  CHECK_SAYS(transposed("<output_shape = [5]>"), "does not match");
  CHECK_SAYS(transposed("<group = 0>"), "less than 1");
  CHECK_SAYS(transposed("", "float[7,2,3,3] w"), "do not fit");
  CHECK_SAYS(transposed("<pads = [20,20,20,20]>"), "output is empty");
}

TEST_CASE("pools: windows, ceil, padding counted or not") {
  CHECK(pool("MaxPool<kernel_shape = [2,2], strides = [2,2]>") == "MaxPool/1x8x15x14-2x2-s2");
  CHECK(pool("MaxPool<kernel_shape = [2,2], strides = [2,2], ceil_mode = 1>") ==
        "MaxPool/1x8x15x14-2x2-s2-ceil");
  CHECK(pool("MaxPool<kernel_shape = [2,2], strides = [1,2], ceil_mode = 1>") ==
        "MaxPool/1x8x15x14-2x2-s1x2");
  CHECK(pool("MaxPool<kernel_shape = [3,3], dilations = [2,2]>") == "MaxPool/1x8x15x14-3x3-s1-d2");
  CHECK(pool("AveragePool<kernel_shape = [3,3], pads = [1,1,1,1], count_include_pad = 1>") ==
        "AveragePool/1x8x15x14-3x3-s1-p1-ip");
  CHECK(pool("AveragePool<kernel_shape = [3,3], auto_pad = \"SAME_UPPER\", strides = [2,2]>") ==
        "AveragePool/1x8x15x14-3x3-s2-p1x0x1x1");
  CHECK(pool("AveragePool<kernel_shape = [2,2], dilations = [2,2]>", 19) ==
        "AveragePool/1x8x15x14-2x2-s1-d2");
  CHECK(pool("GlobalAveragePool") == "GlobalAveragePool/1x8x15x14");
  CHECK(pool("GlobalMaxPool", 13, "float[1,8,15] x") == "GlobalMaxPool/1x8x15");
  CHECK(last_layer(13, image, "y, i = MaxPool<kernel_shape = [2,2]>(x)") ==
        "MaxPool/1x8x15x14-2x2-s1-indices");
  CHECK(last_layer(13, image, "y, i = MaxPool<kernel_shape = [2,2], storage_order = 1>(x)") ==
        "MaxPool/1x8x15x14-2x2-s1-cindices");
  CHECK(dims_of_y(13, image, "a, y = MaxPool<kernel_shape = [2,2]>(x)") == "1x8x14x13");
}

TEST_CASE("pools: what is wrong with one") {
  CHECK_SAYS(pool("MaxPool"), "kernel_shape is missing");
  CHECK_SAYS(pool("MaxPool<kernel_shape = [2]>"), "do not match");
  CHECK_SAYS(pool("MaxPool<kernel_shape = [0,2]>"), "too small");
  CHECK_SAYS(pool("MaxPool<kernel_shape = [300,2]>"), "larger than its padded input");
  CHECK_SAYS(pool("MaxPool<kernel_shape = [2,2], pads = [2,0,0,0]>"), "padding alone");
  CHECK_SAYS(pool("MaxPool<kernel_shape = [2,2], strides = [-1,1]>"), "too small");
  CHECK_SAYS(last_layer(13, image, "y, z = AveragePool<kernel_shape = [2,2]>(x)"),
             "more than one output");
  CHECK_SAYS(pool("GlobalMaxPool", 13, "float[8] x"), "no channels");
  CHECK_SAYS(pool("GlobalMaxPool", 13, "float[1,8] x"), "spatial dims");
}
