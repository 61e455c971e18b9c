// SPDX-License-Identifier: Apache-2.0
// Does the library take the graphs that are written for every kind of layer? Each must have at
// least one engine on an H200; what is known to have none is listed too, so that a change is
// noticed.
#include "listed.hpp"

#include <doctest/doctest.h>

#include <algorithm>

using namespace benanza;
using namespace benanza::backend::cudnn;
using cudnn_test::listed;

namespace {
/// Each layer is listed in the type, with one engine at least.
void offered(numeric t, std::initializer_list<const char*> layers) {
  for (const char* layer : layers) {
    CAPTURE(std::string(layer));
    CAPTURE(std::string(name(t)));
    CHECK_FALSE(recipes_for(op::parse(layer), t).empty());
    CHECK_FALSE(listed(layer, t, "h200").empty());
  }
}
} // namespace

TEST_CASE("cudnn: convolutions of every kind") {
  for (const numeric t : {numeric::f32, numeric::f16})
    offered(t, {"Conv/1x16x9x9-32x3x3-s1-p1", "Conv/1x64x17x17-64x1x7-s1-p0x3",
                "Conv/1x16x20x20-32x3x3-s2-p0x0x1x1", "Conv/2x16x20x20-32x3x3-s1-p2-d2",
                "Conv/1x32x9x9-32x3x3-s1-p1-g32", "Conv/1x32x9x9-64x3x3-s1-p1-g4",
                "Conv/1x16x100-32x3-s2-p1x0", "Conv/1x8x8x8x8-8x3x3x3-s1",
                "Conv/1x16x9x9-32x3x3-s1-p1-b", "Conv+Relu/1x16x9x9-32x3x3-s1-p1",
                "Conv+Add+Relu/1x16x9x9-32x3x3-s1-p1-b", "ConvTranspose/1x64x8x8-32x4x4-s2-p1",
                "ConvTranspose/1x64x8x8-32x3x3-s2-p1-op1",
                "ConvWeightGradient/8x64x14x14-64x3x3-s1-p1",
                "ConvWeightGradient/8x64x14x14-32x3x3-s2-p1",
                "ConvWeightGradient/8x16x100-32x3-s2-p1"});
}

TEST_CASE(
    "cudnn: what is added to a convolution leaves it the engines that are compiled beforehand") {
  const auto ready = [](const char* layer, numeric t) {
    const auto all = listed(layer, t, "h200");
    return std::count_if(all.begin(), all.end(),
                         [](const offer& o) { return !o.how.compiled_at_run_time(); });
  };
  for (const numeric t : {numeric::f32, numeric::f16, numeric::bf16}) {
    CAPTURE(std::string(name(t)));
    CHECK(ready("Conv+Relu/1x64x14x14-64x3x3-s1-p1-b", t) > 5);
    CHECK(ready("Conv+Add+Relu/1x64x14x14-64x3x3-s1-p1-b", t) > 5);
  }
}

TEST_CASE("cudnn: poolings and interpolations") {
  for (const numeric t : {numeric::f32, numeric::f16})
    offered(t, {"MaxPool/1x64x112x112-3x3-s2-p1", "MaxPool/1x64x28x28-2x2-s2",
                "AveragePool/1x64x35x35-3x3-s1-p1", "AveragePool/1x64x35x35-3x3-s1-p1-ip",
                "GlobalAveragePool/1x64x7x7", "GlobalMaxPool/1x64x7x7"});
}

TEST_CASE("cudnn: what integers and FP8 can be computed in") {
  offered(numeric::s8s8s8,
          {"Conv/1x64x14x14-64x3x3-s1-p1", "Conv+Relu/1x3x32x32-10x3x3-s1-p1-b",
           "Conv+Add+Relu/1x64x14x14-64x1x1-s1-b", "Conv/1x64x14x14-64x3x3-s1-p1-g4",
           "Gemm/1x1000x2048-tb-c1x1000-w", "MatMul/8x128x64-8x64x128", "Relu/1x64x14x14",
           "Add/1x64x14x14", "Sigmoid/1x64x14x14", "MaxPool/1x64x28x28-3x3-s2-p1",
           "GlobalAveragePool/1x64x7x7"});
  // Layers on codes have scales and a zero point of the result of their own.
  for (const numeric t : {numeric::f32, numeric::f16})
    offered(t, {"QLinearConv/1x64x14x14-64x3x3-s1-p1-s8s8s8",
                "QLinearConv/1x3x32x32-10x3x3-s1-p1-b-s8s8s8-pc-zr-relu",
                "QLinearConv/1x64x14x14-64x3x3-s1-p1-b-s8s8real-pc"});
  for (const char* layer : {"QLinearConv/1x64x14x14-64x3x3-s1-u8s8u8-za",
                            "QLinearConv/1x64x14x14-64x3x3-s1-s8s8s8-za"}) {
    CHECK(listed(layer, numeric::f32, "h200").empty());
    std::vector<backend::refused_algorithm> refused;
    CHECK(recipes_for(op::parse(layer), numeric::f32, &refused).empty());
    CHECK(refused.size() == 1);
  }
  CHECK(listed("QLinearConv/1x64x14x14-64x3x3-s1-s8s8s8", numeric::tf32, "h200").empty());
  offered(numeric::e4m3, {"Conv/1x64x14x14-64x3x3-s1-p1", "Conv+Relu/1x3x32x32-10x3x3-s1-p1-b",
                          "Conv+Add+Relu/1x64x14x14-64x1x1-s1-b", "Gemm/1x1000x2048-tb-c1x1000-w",
                          "MatMul/8x128x64-8x64x128"});
  // What it has no engine for.
  for (const numeric t : {numeric::s8s8s8, numeric::e4m3})
    for (const char* layer :
         {"Conv/1x32x14x14-32x3x3-s1-p1-g32", "ConvTranspose/1x64x8x8-32x4x4-s2-p1",
          "ConvWeightGradient/8x64x14x14-64x3x3-s1-p1"})
      CHECK(listed(layer, t, "h200").empty());
}

TEST_CASE("cudnn: products of matrices, with steps and without") {
  offered(numeric::f16,
          {"Gemm/1x1000x2048-tb-c1x1000-w", "Gemm/8x16x32-ta", "Gemm/64x64x64",
           "MatMul/8x128x64-8x64x128", "MatMul/1x128x768-768x768-w",
           "Gemm+Relu/8x1000x2048-tb-c1x1000-w",
           // SwiGLU and GeGLU: the gate's product, its function, times the other one
           "MatMul+Swish+Mul/1x128x768-768x2048-w", "Gemm+Swish+Mul/128x2048x768-tb-w",
           "MatMul+Gelu+Mul/1x128x768-768x2048-w", "Swish+Mul/1x128x2048"});
}

TEST_CASE("cudnn: elementwise functions of one operand") {
  for (const char* f :
       {"Relu",      "LeakyRelu", "Elu",      "Celu",     "Selu", "Sigmoid", "HardSigmoid",
        "HardSwish", "Tanh",      "Softplus", "Softsign", "Mish", "Gelu",    "Clip",
        "FastGelu",  "Exp",       "Log",      "Sqrt",     "Abs",  "Neg",     "Reciprocal",
        "Floor",     "Ceil",      "Erf",      "Sin",      "Cos"}) {
    const std::string layer = std::string(f) + "/1x64x56x56";
    offered(numeric::f32, {layer.c_str()});
    offered(numeric::f16, {layer.c_str()});
  }
  for (const char* f : {"ThresholdedRelu", "Round", "Sign"})
    CHECK(listed(std::string(f) + "/1x64x56x56", numeric::f32, "h200").empty());
}

TEST_CASE("cudnn: elementwise functions of more operands") {
  for (const numeric t : {numeric::f32, numeric::f16})
    offered(t, {"Add/1x64x56x56", "Sub/8x56x64-1x1x64", "Mul/8x56x64-64", "Div/1x64x56x56",
                "Pow/1x64x56x56", "Min/1x64x56x56", "Max/1x64x56x56", "Sum/1x64x56x56-n3",
                "Mean/1x64x56x56-n3", "PRelu/8x56x64-64", "Greater/1x64x56x56",
                "Sigmoid+Mul/1x32x8x8"});
}

TEST_CASE("cudnn: normalizations, and reductions over the last dims or the first") {
  for (const numeric t : {numeric::f32, numeric::f16})
    offered(t, {"BatchNormalization/1x64x56x56", "BatchNormalization+Relu/1x64x28x28"});
  offered(numeric::f32, {"ReduceSum/8x1024-a1", "ReduceMax/8x1024-a1", "ReduceMin/8x1024-a1",
                         "ReduceL1/8x1024-a1", "ReduceSumSquare/8x1024-a1"});
}
