// SPDX-License-Identifier: Apache-2.0
// Do the older functions of cuDNN become the layers that they compute? Every family, in the words
// of versions 7 to 9, and descriptors that are no layer.
#include "log_text.hpp"

#include <doctest/doctest.h>

#include <string>

namespace test_of_cudnn_legacy {
using namespace log_text;
using benanza::numeric;
using benanza::trace::call;

const dims image{1, 64, 56, 56};

TEST_CASE("a convolution: layer, algorithm, precision, layout, workspace") {
  const call c = only(conv_call(image, {64, 64, 3, 3}, image, 1, 1, "WINOGRAD_NONFUSED"));
  CHECK(layer_of(c) == "Conv/1x64x56x56-64x3x3-s1-p1");
  CHECK(c.function == "cudnnConvolutionForward");
  CHECK(c.algorithm == "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD_NONFUSED");
  CHECK(c.math == "DEFAULT_MATH");
  CHECK(c.layout == "plain");
  CHECK(c.workspace_bytes == 4096);
  CHECK(c.type == numeric::f32);
  CHECK(c.from == benanza::trace::library::cudnn);
}

TEST_CASE("groups follow from the filter, strides and pads from the descriptor") {
  CHECK(layer_of(only(conv_call({8, 32, 112, 112}, {32, 1, 3, 3}, {8, 32, 56, 56}, 1, 2,
                                "IMPLICIT_GEMM"))) == "Conv/8x32x112x112-32x3x3-s2-p1-g32");
  const std::string one = cudnn_call(
      "cudnnConvolutionForward", tensor("xDesc", {1, 8, 100}) + filter("wDesc", {16, 8, 5}) +
                                     convolution({4}, {1}, {2}) + tensor("yDesc", {1, 16, 100}));
  CHECK(layer_of(only(one)) == "Conv/1x8x100-16x5-s1-p4-d2");
}

TEST_CASE("the precision that is asked for decides between f32 and tf32") {
  const auto type = [](const std::string& math) {
    return only(conv_call(image, {64, 64, 3, 3}, image, 1, 1, "X", "91900 56", math)).type;
  };
  CHECK(type("DEFAULT_MATH") == numeric::f32);
  CHECK(type("FMA_MATH") == numeric::f32);
  CHECK(type("TENSOR_OP_MATH") == numeric::tf32);
  CHECK(type("TENSOR_OP_MATH_ALLOW_CONVERSION") == numeric::tf32);
}

TEST_CASE("halves with their channels last") {
  const dims x{8, 64, 56, 56}, y{8, 128, 28, 28};
  const call c =
      only(cudnn_call("cudnnConvolutionForward",
                      tensor("xDesc", x, "HALF", true) + filter("wDesc", {128, 64, 3, 3}, "HALF") +
                          convolution({1, 1}, {2, 2}, {1, 1}, 1, "TENSOR_OP_MATH") +
                          tensor("yDesc", y, "HALF", true)));
  CHECK(layer_of(c) == "Conv/8x64x56x56-128x3x3-s2-p1");
  CHECK(c.type == numeric::f16);
  CHECK(c.layout == "channels_last");
}

TEST_CASE("other element types; those without a class keep their layer") {
  const auto type = [](const std::string& t) {
    const call c = only(
        cudnn_call("cudnnActivationForward",
                   nested("activationDesc", "cudnnActivationDescriptor_t",
                          value("mode", "cudnnActivationMode_t", "CUDNN_ACTIVATION_TANH (2)")) +
                       tensor("srcDesc", image, t) + tensor("destDesc", image, t)));
    CHECK(layer_of(c) == "Tanh/1x64x56x56");
    return c.type;
  };
  CHECK(type("BFLOAT16") == numeric::bf16);
  CHECK(type("INT8x4") == numeric::s8s8s8);
  CHECK(type("FP8_E4M3") == numeric::e4m3);
  CHECK_FALSE(type("DOUBLE"));
}

TEST_CASE("a convolution that adds to what is there") {
  const auto layer = [](const std::string& beta) {
    return layer_of(
        only(cudnn_call("cudnnConvolutionForward",
                        tensor("xDesc", image) + filter("wDesc", {64, 64, 3, 3}) +
                            convolution({1, 1}, {1, 1}, {1, 1}) +
                            value("beta", "CUDNN_DATA_FLOAT", beta) + tensor("yDesc", image))));
  };
  CHECK(layer("1.000000") == "Conv+Add/1x64x56x56-64x3x3-s1-p1");
  CHECK(layer("0.000000") == "Conv/1x64x56x56-64x3x3-s1-p1");
}

TEST_CASE("the words of version 7: srcDesc, filterDesc, destDesc") {
  const std::string old = cudnn_call(
      "cudnnConvolutionForward",
      "handle: type=cudnnHandle_t; streamId=0x7fa5880083d0;\n" +
          tensor("srcDesc", {1, 3, 227, 227}) + filter("filterDesc", {96, 3, 11, 11}) +
          convolution({0, 0}, {4, 4}, {1, 1}) +
          value("algo", "cudnnConvolutionFwdAlgo_t", "CUDNN_CONVOLUTION_FWD_ALGO_FFT (4)") +
          tensor("destDesc", {1, 96, 55, 55}),
      "7501");
  const call c = only(old);
  CHECK(layer_of(c) == "Conv/1x3x227x227-96x11x11-s4");
  CHECK(c.algorithm == "CUDNN_CONVOLUTION_FWD_ALGO_FFT");
}

TEST_CASE("a convolution with bias, a tensor to add, and a function") {
  const auto fused = [](const std::string& alpha2, const std::string& mode) {
    return layer_of(only(cudnn_call(
        "cudnnConvolutionBiasActivationForward",
        value("alpha1", "CUDNN_DATA_FLOAT", "1.000000") + tensor("xDesc", image) +
            filter("wDesc", {64, 64, 3, 3}) + convolution({1, 1}, {1, 1}, {1, 1}) +
            value("alpha2", "CUDNN_DATA_FLOAT", alpha2) + tensor("zDesc", image) +
            tensor("biasDesc", {1, 64, 1, 1}) +
            "activationDesc: type=cudnnActivationDescriptor_t: \n" +
            deeper(value("coef", "double", "0") +
                   value("mode", "cudnnActivationMode_t", "CUDNN_ACTIVATION_" + mode + " (1)")) +
            tensor("yDesc", image))));
  };
  CHECK(fused("0.000000", "RELU") == "Conv+Relu/1x64x56x56-64x3x3-s1-p1-b");
  CHECK(fused("1.000000", "RELU") == "Conv+Add+Relu/1x64x56x56-64x3x3-s1-p1-b");
  CHECK(fused("0.000000", "IDENTITY") == "Conv/1x64x56x56-64x3x3-s1-p1-b");
  CHECK(fused("0.000000", "SWISH") == "(a convolution with SWISH)");
}

TEST_CASE("the gradient towards the input is a transposed convolution, that of weights no layer") {
  const std::string data = cudnn_call(
      "cudnnConvolutionBackwardData",
      filter("wDesc", {64, 32, 4, 4}) + tensor("dyDesc", {1, 64, 28, 28}) +
          convolution({1, 1}, {2, 2}, {1, 1}) +
          value("algo", "cudnnConvolutionBwdDataAlgo_t", "CUDNN_CONVOLUTION_BWD_DATA_ALGO_1 (1)") +
          tensor("dxDesc", {1, 32, 57, 56}));
  CHECK(layer_of(only(data)) == "ConvTranspose/1x64x28x28-32x4x4-s2-p1-op1x0");
  CHECK(layer_of(only(cudnn_call("cudnnConvolutionBackwardFilter", tensor("xDesc", image)))) ==
        "(a gradient)");
}

TEST_CASE("poolings: what is counted, what rounds up, what takes everything") {
  const auto pool = [](const std::string& mode, const dims& window, const dims& pads,
                       const dims& strides, const dims& y) {
    return layer_of(only(cudnn_call(
        "cudnnPoolingForward",
        nested("poolingDesc", "cudnnPoolingDescriptor_t",
               value("mode", "cudnnPoolingMode_t", "CUDNN_POOLING_" + mode + " (0)") +
                   value("windowDimA", "int", row(window)) + value("paddingA", "int", row(pads)) +
                   value("strideA", "int", row(strides))) +
            tensor("srcDesc", image) + tensor("destDesc", y))));
  };
  CHECK(pool("MAX", {3, 3}, {1, 1}, {2, 2}, {1, 64, 28, 28}) == "MaxPool/1x64x56x56-3x3-s2-p1");
  CHECK(pool("MAX_DETERMINISTIC", {3, 3}, {0, 0}, {2, 2}, {1, 64, 28, 28}) ==
        "MaxPool/1x64x56x56-3x3-s2-ceil");
  CHECK(pool("AVERAGE_COUNT_INCLUDE_PADDING", {3, 3}, {1, 1}, {1, 1}, image) ==
        "AveragePool/1x64x56x56-3x3-s1-p1-ip");
  CHECK(pool("AVERAGE_COUNT_EXCLUDE_PADDING", {3, 3}, {1, 1}, {1, 1}, image) ==
        "AveragePool/1x64x56x56-3x3-s1-p1");
  CHECK(pool("AVERAGE_COUNT_EXCLUDE_PADDING", {56, 56}, {0, 0}, {56, 56}, {1, 64, 1, 1}) ==
        "GlobalAveragePool/1x64x56x56");
  CHECK(pool("MAX", {3, 3}, {1, 1}, {2, 2}, {1, 64, 9, 9}) == "(its descriptors are no layer)");
}

TEST_CASE("softmax over a row, over channels, and its logarithm") {
  const auto softmax = [](const std::string& algorithm, const std::string& mode, const dims& x) {
    return layer_of(only(cudnn_call(
        "cudnnSoftmaxForward",
        value("algorithm", "cudnnSoftmaxAlgorithm_t", "CUDNN_SOFTMAX_" + algorithm + " (1)") +
            value("mode", "cudnnSoftmaxMode_t", "CUDNN_SOFTMAX_MODE_" + mode + " (0)") +
            tensor("srcDesc", x) + tensor("destDesc", x))));
  };
  CHECK(softmax("ACCURATE", "INSTANCE", {1, 1000, 1, 1}) == "Softmax/1x1000-a1");
  CHECK(softmax("FAST", "INSTANCE", {2, 10, 4, 4}) == "Softmax/2x160-a1");
  CHECK(softmax("LOG", "CHANNEL", {2, 21, 32, 32}) == "LogSoftmax/2x21x32x32-a1");
  CHECK(softmax("LOG", "CHANNEL", {2, 21, 1, 1}) == "LogSoftmax/2x21-a1");
}

TEST_CASE("normalizations, at inference only") {
  const auto norm = [](const std::string& function, const std::string& mode) {
    return layer_of(only(cudnn_call(
        function, value("mode", "cudnnBatchNormMode_t", "CUDNN_BATCHNORM_" + mode + " (1)") +
                      tensor("xDesc", image) + tensor("yDesc", image))));
  };
  CHECK(norm("cudnnBatchNormalizationForwardInference", "SPATIAL") ==
        "BatchNormalization/1x64x56x56");
  CHECK(norm("cudnnBatchNormalizationForwardInference", "PER_ACTIVATION") ==
        "(a normalization of each element)");
  CHECK(norm("cudnnBatchNormalizationForwardTraining", "SPATIAL") == "(a layer in training)");
  CHECK(layer_of(only(cudnn_call(
            "cudnnLRNCrossChannelForward",
            nested("normDesc", "cudnnLRNDescriptor_t", value("lrnN", "unsigned", "5")) +
                tensor("xDesc", image) + tensor("yDesc", image)))) == "LRN/1x64x56x56-n5");
}

TEST_CASE("elementwise functions of one and of two tensors, reductions, changes of layout") {
  CHECK(layer_of(only(cudnn_call("cudnnAddTensor", tensor("biasDesc", {1, 64, 1, 1}) +
                                                       tensor("srcDestDesc", image)))) ==
        "Add/1x64x56x56-1x64x1x1");
  CHECK(layer_of(only(cudnn_call(
            "cudnnAddTensor", tensor("aDesc", {1, 64, 1, 1}) + tensor("cDesc", image), "8907"))) ==
        "Add/1x64x56x56-1x64x1x1");
  const auto op = [](const std::string& name) {
    return layer_of(only(cudnn_call(
        "cudnnOpTensor",
        nested("opDesc", "cudnnOpTensorDescriptor_t",
               value("op", "cudnnOpTensorOp_t", "CUDNN_OP_TENSOR_" + name + " (0)")) +
            tensor("aDesc", image) + tensor("biasDesc", image) + tensor("destDesc", image))));
  };
  CHECK(op("MUL") == "Mul/1x64x56x56");
  CHECK(op("SQRT") == "Sqrt/1x64x56x56");
  const auto reduce = [](const std::string& name) {
    return layer_of(only(cudnn_call(
        "cudnnReduceTensor",
        nested("reduceDesc", "cudnnReduceTensorDescriptor_t",
               value("op", "cudnnReduceTensorOp_t", "CUDNN_REDUCE_TENSOR_" + name + " (5)")) +
            tensor("aDesc", image) + tensor("destDesc", {1, 64, 1, 1}))));
  };
  CHECK(reduce("AVG") == "ReduceMean/1x64x56x56-a2x3");
  CHECK(reduce("AMAX") == "(the reduction AMAX)");
  CHECK(layer_of(only(
            cudnn_call("cudnnTransformTensor",
                       tensor("srcDesc", image) + tensor("destDesc", image, "FLOAT", true)))) ==
        "reorder/1x64x56x56-plain-channels_last");
  CHECK(layer_of(only(cudnn_call("cudnnTransformTensor",
                                 tensor("srcDesc", image) + tensor("destDesc", image)))) ==
        "(a copy)");
}

TEST_CASE("functions that only prepare, ask or search are no calls; what else computes is named") {
  const std::string prepared =
      cudnn_call("cudnnCreateTensorDescriptor", "") +
      cudnn_call("cudnnSetTensor4dDescriptor", number("n", 1)) +
      cudnn_call("cudnnGetConvolutionForwardWorkspaceSize", tensor("xDesc", image)) +
      cudnn_call("cudnnFindConvolutionForwardAlgorithm", tensor("xDesc", image)) +
      cudnn_call("cudnnBackendFinalize", "descriptor: type=CUDNN_BACKEND_TENSOR_DESCRIPTOR:\n") +
      cudnn_call("cudnnBackendFinalizeGraphVisualize", value("apiLog", "json", "{}"));
  const benanza::trace::call_log l = read(prepared + cudnn_call("cudnnRNNForward", number("n", 1)));
  REQUIRE(l.entries.size() == 1);
  CHECK(layer_of(l.calls[0]) == "(no layer)");
  CHECK(l.calls[0].function == "cudnnRNNForward");
}

TEST_CASE("descriptors that say nonsense give a call without a layer, and no more") {
  for (const dims& w : {dims{64, 64, 300, 300}, dims{64, 63, 3, 3}, dims{64, 64, 3},
                        dims{64, 0, 3, 3}, dims{0, 64, 3, 3}, dims{-1, -1, -1, -1}}) {
    const call c =
        only(cudnn_call("cudnnConvolutionForward", tensor("xDesc", image) + filter("wDesc", w) +
                                                       convolution({0, 0}, {1, 1}, {1, 1}) +
                                                       tensor("yDesc", image)));
    CHECK_FALSE(c.layer);
    CHECK_FALSE(c.remark.empty());
  }
  for (const char* broken : {"[1,64,56", "[]", "[1,2,3,4,5,6,7,8,9]", "[a,b]", "NULL_PTR",
                             "[99999999999999999999,1,1,1]"}) {
    const std::string x = nested("xDesc", "cudnnTensorDescriptor_t", value("dimA", "int", broken));
    CHECK_FALSE(
        only(cudnn_call("cudnnConvolutionForward", x + filter("wDesc", {1, 1, 1, 1}))).layer);
  }
}

} // namespace test_of_cudnn_legacy
