// SPDX-License-Identifier: Apache-2.0
// Do our convolutions and poolings have the output dims that cuDNN itself computes? For all of the
// zoo. The legacy API answers without a GPU. It knows only equal pads on both sides: others are put
// into the input's dims.
#include "generator/zoo/zoo.hpp"
#include <benanza/onnx/resolve.hpp>
#include <benanza/op/kinds.hpp>

#include <cudnn.h>
#include <doctest/doctest.h>

#include <map>

using namespace benanza;

namespace {
using ints = std::vector<int>;

struct problem {
  ints input{}, kernel{}, strides{}, pads{}, dilations{};
};

/// The window of a layer over its input; dims of the input grow by pads that are not equal.
template <class Layer>
problem problem_of(const Layer& l) {
  problem p;
  for (const std::int64_t d : l.input)
    p.input.push_back(static_cast<int>(d));
  const int n = l.kernel.size;
  for (int i = 0; i < n; ++i) {
    const auto begin = static_cast<int>(op::entry(l.pads, i, 0)),
               end = static_cast<int>(op::entry(l.pads, i + n, 0));
    p.kernel.push_back(static_cast<int>(l.kernel[i]));
    p.strides.push_back(static_cast<int>(op::entry(l.strides, i, 1)));
    p.dilations.push_back(static_cast<int>(op::entry(l.dilations, i, 1)));
    p.pads.push_back(begin == end ? begin : 0);
    if (begin != end) p.input[static_cast<std::size_t>(i) + 2] += begin + end;
  }
  return p;
}

void describe_input(cudnnTensorDescriptor_t d, const ints& dims) {
  ints strides(dims.size(), 1);
  for (std::size_t i = dims.size() - 1; i-- > 0;)
    strides[i] = strides[i + 1] * dims[i + 1];
  REQUIRE(cudnnSetTensorNdDescriptor(d, CUDNN_DATA_FLOAT, static_cast<int>(dims.size()),
                                     dims.data(), strides.data()) == CUDNN_STATUS_SUCCESS);
}

shape to_shape(const ints& dims) {
  shape s;
  for (const int d : dims)
    s.push(d);
  return s;
}

shape by_library(const op::conv& c) {
  const problem p = problem_of(c);
  cudnnTensorDescriptor_t x = nullptr;
  cudnnFilterDescriptor_t w = nullptr;
  cudnnConvolutionDescriptor_t how = nullptr;
  cudnnCreateTensorDescriptor(&x);
  cudnnCreateFilterDescriptor(&w);
  cudnnCreateConvolutionDescriptor(&how);
  describe_input(x, p.input);
  ints filter{static_cast<int>(c.outputs), static_cast<int>(c.input[1] / c.groups)};
  filter.insert(filter.end(), p.kernel.begin(), p.kernel.end());
  const int rank = static_cast<int>(p.input.size());
  REQUIRE(cudnnSetFilterNdDescriptor(w, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, rank, filter.data()) ==
          CUDNN_STATUS_SUCCESS);
  REQUIRE(cudnnSetConvolutionNdDescriptor(how, rank - 2, p.pads.data(), p.strides.data(),
                                          p.dilations.data(), CUDNN_CROSS_CORRELATION,
                                          CUDNN_DATA_FLOAT) == CUDNN_STATUS_SUCCESS);
  cudnnSetConvolutionGroupCount(how, static_cast<int>(c.groups));
  ints out(p.input.size());
  CHECK(cudnnGetConvolutionNdForwardOutputDim(how, x, w, rank, out.data()) == CUDNN_STATUS_SUCCESS);
  cudnnDestroyConvolutionDescriptor(how);
  cudnnDestroyFilterDescriptor(w);
  cudnnDestroyTensorDescriptor(x);
  return to_shape(out);
}

shape by_library(const op::pool& l) {
  problem p = problem_of(l);
  if (l.global()) {
    p.kernel.assign(p.input.begin() + 2, p.input.end());
    p.pads.assign(p.kernel.size(), 0);
    p.strides.assign(p.kernel.size(), 1);
  }
  cudnnTensorDescriptor_t x = nullptr;
  cudnnPoolingDescriptor_t how = nullptr;
  cudnnCreateTensorDescriptor(&x);
  cudnnCreatePoolingDescriptor(&how);
  describe_input(x, p.input);
  REQUIRE(cudnnSetPoolingNdDescriptor(how, CUDNN_POOLING_MAX, CUDNN_PROPAGATE_NAN,
                                      static_cast<int>(p.kernel.size()), p.kernel.data(),
                                      p.pads.data(), p.strides.data()) == CUDNN_STATUS_SUCCESS);
  ints out(p.input.size());
  CHECK(cudnnGetPoolingNdForwardOutputDim(how, x, static_cast<int>(out.size()), out.data()) ==
        CUDNN_STATUS_SUCCESS);
  cudnnDestroyPoolingDescriptor(how);
  cudnnDestroyTensorDescriptor(x);
  return to_shape(out);
}
} // namespace

TEST_CASE("cudnn: output dims of all convolutions and poolings of the zoo are the library's") {
  std::map<std::string, op::layer> layers;
  for (const auto& e : generator::zoo::list()) {
    const model::graph g =
        benanza::onnx::resolve(benanza::onnx::from(generator::zoo::build(e.name)), {});
    for (const op::layer& l : g.layers)
      layers.emplace(op::name(l), l);
  }
  int convolutions = 0, poolings = 0;
  for (const auto& [key, l] : layers) {
    const std::string& name = key; // what CAPTURE takes
    CAPTURE(name);
    if (const auto* c = op::as<op::conv>(l)) {
      CHECK(by_library(*c) == c->output());
      ++convolutions;
    }
    // The library never rounds up, and has no dilated poolings.
    if (const auto* p = op::as<op::pool>(l); p != nullptr && !p->ceil) {
      CHECK(by_library(*p) == p->output());
      ++poolings;
    }
  }
  CHECK(convolutions > 300);
  CHECK(poolings > 20);
}
