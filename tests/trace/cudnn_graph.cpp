// SPDX-License-Identifier: Apache-2.0
// Do the plans that cuDNN executes become layers and algorithms? Graphs of one operation, chains
// that are one fused layer, and graphs that are none.
#include "log_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_of_cudnn_graph {
using namespace log_text;
using benanza::numeric;
using benanza::trace::call;

const dims image{16, 64, 56, 56}, weights{64, 64, 3, 3}, bias{1, 64, 1, 1};

/// A convolution of tensor 10 to tensor 13.
std::string conv(const std::string& type = "HALF") {
  return operation("CONVOLUTION_FORWARD", graph_tensor("xDesc", image, 10, type, true) +
                                              graph_tensor("wDesc", weights, 11, type, true) +
                                              graph_window({1, 1}, {1, 1}, {1, 1}) +
                                              graph_tensor("yDesc", image, 13, "FLOAT", true));
}
std::string x(int uid) {
  return graph_tensor("xDesc", image, uid, "FLOAT", true);
}
std::string y(int uid) {
  return graph_tensor("yDesc", image, uid, "FLOAT", true);
}
std::string b(const dims& d, int uid = 99) {
  return graph_tensor("bDesc", d, uid, "HALF", true);
}

std::string fused(const std::string& rest) {
  return layer_of(only(execute(conv() + rest)));
}

TEST_CASE("a convolution with its engine and knobs") {
  const std::string knobs = value("CUDNN_KNOB_TYPE_TILEK", "int", "0") +
                            value("CUDNN_KNOB_TYPE_TILE_SIZE", "int", "4") +
                            value("CUDNN_KNOB_TYPE_SPLIT_K_SLC", "int", "-1") +
                            value("CUDNN_KNOB_TYPE_TILE_CGA_M", "int", "7") +
                            value("CUDNN_KNOB_TYPE_OF_TOMORROW", "int", "3");
  const call c =
      only(execute(conv(), "62", knobs, value("CUDNN_NUMERICAL_NOTE_TENSOR_CORE", "bool", "true")));
  CHECK(layer_of(c) == "Conv/16x64x56x56-64x3x3-s1-p1");
  CHECK(c.function == "cudnnBackendExecute");
  CHECK(c.algorithm == "eng62_k2=4_k13=0_k17=-1_k27=7_OF_TOMORROW=3");
  CHECK(c.math == "TENSOR_CORE");
  CHECK(c.layout == "channels_last");
  CHECK(c.type == numeric::f16);
}

TEST_CASE("on floats the engine's note decides between f32 and tf32") {
  CHECK(only(execute(conv("FLOAT"))).type == numeric::f32);
  CHECK(only(execute(conv("FLOAT"), "1", "",
                     value("CUDNN_NUMERICAL_NOTE_TENSOR_CORE", "bool", "true")))
            .type == numeric::tf32);
  CHECK(only(execute(conv("BFLOAT16"))).type == numeric::bf16);
}

TEST_CASE("pads differ at both ends, and groups follow from the channels") {
  const std::string op = operation(
      "CONVOLUTION_FORWARD",
      graph_tensor("xDesc", {1, 32, 224, 224}, 1) + graph_tensor("wDesc", {64, 16, 3, 3}, 2) +
          graph_window({0, 0}, {1, 1}, {2, 2}) + graph_tensor("yDesc", {1, 64, 112, 112}, 3));
  CHECK(layer_of(only(execute(op))) == "Conv/1x32x224x224-64x3x3-s2-p0x0x1x1-g2");
}

TEST_CASE("what is done on the result becomes bias and steps") {
  CHECK(fused(pointwise("ADD", x(13), b(bias), y(14)) + pointwise("RELU_FWD", x(14), "", y(15))) ==
        "Conv+Relu/16x64x56x56-64x3x3-s1-p1-b");
  CHECK(fused(pointwise("ADD", x(13), b(image), y(14)) + pointwise("ADD", x(14), b(bias), y(15)) +
              pointwise("RELU_FWD", x(15), "", y(16))) ==
        "Conv+Add+Relu/16x64x56x56-64x3x3-s1-p1-b");
  CHECK(fused(pointwise("ADD", x(13), b(bias), y(14))) == "Conv/16x64x56x56-64x3x3-s1-p1-b");
  CHECK(fused(pointwise("MUL", x(13), b(bias), y(14)) + pointwise("ADD", x(14), b(bias), y(15))) ==
        "Conv+Mul+Add/16x64x56x56-64x3x3-s1-p1-w1x64x1x1-ww1x64x1x1");
  // The result so far may be the second operand.
  CHECK(fused(pointwise("ADD", x(50), b(image, 13), y(14))) == "Conv+Add/16x64x56x56-64x3x3-s1-p1");
}

TEST_CASE("a rectifier with a slope or a ceiling is another function") {
  const auto relu = [&](const std::string& more) {
    return fused(pointwise("RELU_FWD", x(13), "", y(14), more));
  };
  CHECK(relu(value("ReluUpperClip", "double", "1.79769e+308") +
             value("ReluLowerClipSlope", "double", "0")) == "Conv+Relu/16x64x56x56-64x3x3-s1-p1");
  CHECK(relu(value("ReluUpperClip", "double", "6")) == "Conv+Clip/16x64x56x56-64x3x3-s1-p1");
  CHECK(relu(value("ReluLowerClipSlope", "double", "0.01")) ==
        "Conv+LeakyRelu/16x64x56x56-64x3x3-s1-p1");
}

TEST_CASE("a graph that is more than a layer is named by its operations") {
  CHECK(fused(pointwise("SWISH_FWD", x(13), "", y(14))) == "(CONVOLUTION_FORWARD+SWISH)");
  // An operation that does not read the one before it.
  CHECK(fused(pointwise("ADD", x(50), b(image, 51), y(14))) == "(CONVOLUTION_FORWARD+ADD)");
  const dims q{1, 12, 128, 64}, k{1, 12, 64, 128}, s{1, 12, 128, 128};
  const std::string attention =
      operation("MATMUL", graph_tensor("aDesc", q, 1, "HALF") +
                              graph_tensor("bDesc", k, 2, "HALF") + graph_tensor("cDesc", s, 3)) +
      operation("REDUCTION",
                graph_tensor("xDesc", s, 3) + graph_tensor("yDesc", {1, 12, 128, 1}, 4)) +
      operation("MATMUL", graph_tensor("aDesc", s, 5) + graph_tensor("bDesc", q, 6, "HALF") +
                              graph_tensor("cDesc", q, 7, "HALF"));
  const call c = only(execute(attention));
  CHECK(layer_of(c) == "(MATMUL+REDUCTION+MATMUL)");
  CHECK(c.type == numeric::f16);
  CHECK(layer_of(only(execute(operation("SDPA_FWD", graph_tensor("qDesc", q, 1, "BFLOAT16"))))) ==
        "(SDPA_FWD)");
}

TEST_CASE("products of matrices, and which operand is transposed") {
  const dims a{12, 128, 64}, bt{12, 64, 128}, c{12, 128, 128};
  const std::string mm =
      operation("MATMUL", graph_tensor("aDesc", a, 1, "HALF") +
                              graph_tensor("bDesc", bt, 2, "HALF", false, {8192, 1, 64}) +
                              graph_tensor("cDesc", c, 3, "HALF"));
  const call plain = only(execute(mm));
  CHECK(layer_of(plain) == "MatMul/12x128x64-12x64x128");
  CHECK(plain.layout == "tb");
  const std::string gelu =
      pointwise("GELU_FWD", graph_tensor("xDesc", c, 3), "", graph_tensor("yDesc", c, 4));
  CHECK(layer_of(only(execute(mm + gelu))) == "MatMul+Gelu/12x128x64-12x64x128");
}

TEST_CASE("a transposed convolution, a pooling, single functions") {
  const std::string back = operation(
      "CONVOLUTION_BACKWARD_DATA",
      graph_tensor("dxDesc", {1, 32, 56, 56}, 1) + graph_tensor("wDesc", {64, 32, 4, 4}, 2) +
          graph_window({1, 1}, {1, 1}, {2, 2}) + graph_tensor("dyDesc", {1, 64, 28, 28}, 3));
  CHECK(layer_of(only(execute(back))) == "ConvTranspose/1x64x28x28-32x4x4-s2-p1");
  const auto pool = [](const std::string& mode) {
    return layer_of(only(execute(operation(
        "RESAMPLE_FWD", graph_tensor("xDesc", {1, 64, 112, 112}, 1, "HALF", true) +
                            graph_tensor("yDesc", {1, 64, 56, 56}, 2, "HALF", true) +
                            nested("resampleDesc", "CUDNN_BACKEND_RESAMPLE_DESCRIPTOR",
                                   value("mode", "int", mode) + number("nbSpatialDims", 2) +
                                       value("windowDimA", "cudnnFraction_t", "[3/1,3/1]") +
                                       value("prePaddingA", "cudnnFraction_t", "[1/1,1/1]") +
                                       value("postPaddingA", "cudnnFraction_t", "[1/1,1/1]") +
                                       value("strideA", "cudnnFraction_t", "[2/1,2/1]"))))));
  };
  CHECK(pool("3") == "MaxPool/1x64x112x112-3x3-s2-p1");
  CHECK(pool("2") == "AveragePool/1x64x112x112-3x3-s2-p1-ip");
  CHECK(pool("4") == "AveragePool/1x64x112x112-3x3-s2-p1");
  CHECK(pool("1") == "(RESAMPLE_FWD)");
  CHECK(layer_of(only(execute(pointwise("SIGMOID_FWD", x(1), "", y(2))))) == "Sigmoid/16x64x56x56");
  CHECK(layer_of(only(execute(pointwise("MUL", x(1), b(bias), y(2))))) ==
        "Mul/16x64x56x56-1x64x1x1");
}

TEST_CASE("a version that leaves the graph out gives the engine alone") {
  const call c =
      only(execute("", "0", value("CUDNN_KNOB_TYPE_KERNEL_CFG", "int", "27"), "", "8204"));
  CHECK(layer_of(c) == "(a graph that this version of cuDNN does not write out)");
  CHECK(c.algorithm == "eng0_k24=27");
  CHECK(layer_of(
            only(cudnn_call("cudnnBackendExecute", value("executionPlan", "void*", "NULL_PTR")))) ==
        "(a plan that the log does not write out)");
}

} // namespace test_of_cudnn_graph
