// SPDX-License-Identifier: Apache-2.0
// An operation graph as cuDNN wants it: tensors with numbers, operations between them, all
// finalized, and their owner. A tensor between two operations is virtual: it has dims and f32
// precision, and no memory.
//
//   graph_maker g;
//   const int x = g.tensor({1, 64, 56, 56}, packed({1, 64, 56, 56}), CUDNN_DATA_FLOAT), ...;
//   g.convolution(x, w, y, window, CUDNN_DATA_FLOAT);   operation_graph made = g.finish();
#pragma once

#include "../../core/layout.hpp"
#include "descriptor.hpp"

#include <optional>

namespace benanza::backend::cudnn {

/// Window of a convolution or pooling, over the spatial dims.
struct window {
  shape kernel{}, pre{}, post{}, strides{}, dilations{};
};

/// Values of a pointwise operation that has any.
struct pointwise_values {
  std::optional<float> slope{};
  std::optional<double> elu_alpha{};
  std::optional<std::int64_t> axis{}; ///< along which indices are counted
  cudnnDataType_t precision = CUDNN_DATA_FLOAT;
};

/// Tensors of a normalization that takes its statistics from its source.
struct norm_tensors {
  int x = 0, scale = 0;
  std::optional<int> bias{};
  int epsilon = 0, y = 0;
};

/// Tensors of an attention: all of batch x heads x sequence x size.
struct attention_tensors {
  int q = 0, k = 0, v = 0, scale = 0, o = 0;
  std::optional<int> key_lengths{}; ///< how many keys each sequence of the batch has
};

/// A finalized graph with all that it refers to.
struct operation_graph {
  std::vector<descriptor> kept{};
  descriptor graph{CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR};
};

/// What is known of a tensor of a graph that is being made.
struct tensor_facts {
  shape dims{}, strides{};
  cudnnDataType_t type{};
};

/// Puts a graph together. Tensors are named by their numbers, from 1, which execution uses too.
class graph_maker {
public:
  /// A tensor in memory.
  int tensor(const shape& dims, const shape& strides, cudnnDataType_t type) {
    return add(dims, strides, type, false, false);
  }
  /// A tensor between two operations.
  int between(const shape& dims, const shape& strides, cudnnDataType_t type = CUDNN_DATA_FLOAT) {
    return add(dims, strides, type, true, false);
  }
  /// One f32 number that the host hands over at execution, of `rank` dims.
  int number(int rank) {
    const shape ones = shape::filled(rank, 1);
    return add(ones, ones, CUDNN_DATA_FLOAT, false, true);
  }
  const tensor_facts& facts(int tensor) const { return facts_[index(tensor)]; }

  /// Cross-correlation, as ONNX means it.
  void convolution(int x, int w, int y, const window& over, cudnnDataType_t compute) {
    const descriptor& how = convolution_descriptor(over, compute);
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR);
    scale(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA, 1);
    scale(op, CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA, 0);
    op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC, how)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X, of(x))
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W, of(w))
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y, of(y))
        .finalize("a convolution");
  }

  /// The gradient of a convolution by its source, which is what ONNX calls ConvTranspose.
  void transposed_convolution(int dy, int w, int dx, const window& over, cudnnDataType_t compute) {
    const descriptor& how = convolution_descriptor(over, compute);
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR);
    scale(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA, 1);
    scale(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA, 0);
    op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC, how)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY, of(dy))
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W, of(w))
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX, of(dx))
        .finalize("a transposed convolution");
  }

  /// The gradient of a convolution by its weights.
  void weight_gradient(int x, int dy, int dw, const window& over, cudnnDataType_t compute) {
    const descriptor& how = convolution_descriptor(over, compute);
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR);
    scale(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA, 1);
    scale(op, CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA, 0);
    op.set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC, how)
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X, of(x))
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY, of(dy))
        .set(CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW, of(dw))
        .finalize("a gradient by weights");
  }

  void matmul(int a, int b, int c, cudnnDataType_t compute) {
    kept_.emplace_back(CUDNN_BACKEND_MATMUL_DESCRIPTOR);
    kept_.back().set(CUDNN_ATTR_MATMUL_COMP_TYPE, compute).finalize("a matrix product");
    const std::size_t how = kept_.size() - 1;
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_MATMUL_DESC, kept_[how])
        .set(CUDNN_ATTR_OPERATION_MATMUL_ADESC, of(a))
        .set(CUDNN_ATTR_OPERATION_MATMUL_BDESC, of(b))
        .set(CUDNN_ATTR_OPERATION_MATMUL_CDESC, of(c))
        .finalize("a matrix product");
  }

  /// y = f(x), or y = f(x, b) where `b` broadcasts to x.
  void pointwise(cudnnPointwiseMode_t mode, int x, std::optional<int> b, int y,
                 const pointwise_values& values = {}) {
    add_pointwise(mode, x, b, std::nullopt, y, values);
  }
  /// y = x where `which` is true, and b elsewhere.
  void select(int x, int b, int which, int y) {
    add_pointwise(CUDNN_POINTWISE_BINARY_SELECT, x, b, which, y, {});
  }

  /// A normalization at inference by the statistics of its source.
  void normalization(cudnnBackendNormMode_t mode, const norm_tensors& t) {
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_NORM_FWD_MODE, mode)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE, CUDNN_NORM_FWD_INFERENCE)
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, of(t.x))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, of(t.scale))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, of(t.epsilon))
        .set(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, of(t.y));
    if (t.bias) op.set(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, of(*t.bias));
    op.finalize("a normalization");
  }

  /// softmax(q k^T scale) v as one operation.
  void attention(const attention_tensors& t) {
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR);
    if (t.key_lengths) op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_SEQ_LEN_KVDESC, of(*t.key_lengths));
    op.set(CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC, of(t.q))
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_KDESC, of(t.k))
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_VDESC, of(t.v))
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_SCALEDESC, of(t.scale))
        .set(CUDNN_ATTR_OPERATION_SDPA_FWD_ODESC, of(t.o))
        .finalize("an attention");
  }

  void reduction(cudnnReduceTensorOp_t what, int x, int y) {
    kept_.emplace_back(CUDNN_BACKEND_REDUCTION_DESCRIPTOR);
    kept_.back()
        .set(CUDNN_ATTR_REDUCTION_OPERATOR, what)
        .set(CUDNN_ATTR_REDUCTION_COMP_TYPE, CUDNN_DATA_FLOAT)
        .finalize("a reduction");
    const std::size_t how = kept_.size() - 1;
    operation(CUDNN_BACKEND_OPERATION_REDUCTION_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_REDUCTION_DESC, kept_[how])
        .set(CUDNN_ATTR_OPERATION_REDUCTION_XDESC, of(x))
        .set(CUDNN_ATTR_OPERATION_REDUCTION_YDESC, of(y))
        .finalize("a reduction");
  }

  /// Pooling. cuDNN counts in fractions, since it also interpolates by this.
  void resample(cudnnResampleMode_t mode, int x, int y, const shape& kernel,
                std::span<const cudnnFraction_t> pre, std::span<const cudnnFraction_t> post,
                std::span<const cudnnFraction_t> strides, cudnnPaddingMode_t padding) {
    kept_.emplace_back(CUDNN_BACKEND_RESAMPLE_DESCRIPTOR);
    std::vector<cudnnFraction_t> windows;
    for (std::int64_t k : kernel)
      windows.push_back({k, 1});
    kept_.back()
        .set(CUDNN_ATTR_RESAMPLE_MODE, mode)
        .set(CUDNN_ATTR_RESAMPLE_COMP_TYPE, CUDNN_DATA_FLOAT)
        .set(CUDNN_ATTR_RESAMPLE_PADDING_MODE, padding)
        .set(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, std::int64_t{kernel.size})
        .set_all(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS, std::span<const cudnnFraction_t>(windows))
        .set_all(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS, pre)
        .set_all(CUDNN_ATTR_RESAMPLE_POST_PADDINGS, post)
        .set_all(CUDNN_ATTR_RESAMPLE_STRIDES, strides)
        .finalize("a resampling");
    const std::size_t how = kept_.size() - 1;
    operation(CUDNN_BACKEND_OPERATION_RESAMPLE_FWD_DESCRIPTOR)
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC, kept_[how])
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, of(x))
        .set(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, of(y))
        .finalize("a resampling");
  }

  /// The whole graph. Nothing may be added any more.
  operation_graph finish() {
    operation_graph out;
    std::vector<cudnnBackendDescriptor_t> ops;
    for (const descriptor& op : operations_)
      ops.push_back(op.get());
    out.graph.set_children(CUDNN_ATTR_OPERATIONGRAPH_OPS, ops).finalize("an operation graph");
    out.kept = std::move(tensors_);
    for (auto* part : {&kept_, &operations_})
      for (descriptor& d : *part)
        out.kept.push_back(std::move(d));
    return out;
  }

private:
  static std::size_t index(int tensor) { return static_cast<std::size_t>(tensor - 1); }
  const descriptor& of(int tensor) const { return tensors_[index(tensor)]; }

  int add(const shape& dims, const shape& strides, cudnnDataType_t type, bool is_virtual,
          bool by_value) {
    const auto number = static_cast<std::int64_t>(tensors_.size()) + 1;
    tensors_.emplace_back(CUDNN_BACKEND_TENSOR_DESCRIPTOR);
    descriptor& d = tensors_.back();
    d.set(CUDNN_ATTR_TENSOR_UNIQUE_ID, number)
        .set(CUDNN_ATTR_TENSOR_DATA_TYPE, type)
        .set_all(CUDNN_ATTR_TENSOR_DIMENSIONS,
                 std::span<const std::int64_t>(dims.at, static_cast<std::size_t>(dims.size)))
        .set_all(CUDNN_ATTR_TENSOR_STRIDES,
                 std::span<const std::int64_t>(strides.at, static_cast<std::size_t>(strides.size)))
        .set(CUDNN_ATTR_TENSOR_BYTE_ALIGNMENT, std::int64_t{16});
    if (is_virtual) d.set(CUDNN_ATTR_TENSOR_IS_VIRTUAL, true);
    if (by_value) d.set(CUDNN_ATTR_TENSOR_IS_BY_VALUE, true);
    d.finalize("a tensor");
    facts_.push_back({dims, strides, type});
    return static_cast<int>(number);
  }

  descriptor& operation(cudnnBackendDescriptorType_t type) {
    operations_.emplace_back(type);
    return operations_.back();
  }

  void add_pointwise(cudnnPointwiseMode_t mode, int x, std::optional<int> b, std::optional<int> t,
                     int y, const pointwise_values& values) {
    kept_.emplace_back(CUDNN_BACKEND_POINTWISE_DESCRIPTOR);
    descriptor& how = kept_.back();
    how.set(CUDNN_ATTR_POINTWISE_MODE, mode).set(CUDNN_ATTR_POINTWISE_MATH_PREC, values.precision);
    if (values.slope) how.set(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, double{*values.slope});
    if (values.elu_alpha) how.set(CUDNN_ATTR_POINTWISE_ELU_ALPHA, *values.elu_alpha);
    if (values.axis) how.set(CUDNN_ATTR_POINTWISE_AXIS, *values.axis);
    how.finalize("an elementwise function");
    const std::size_t at = kept_.size() - 1;
    descriptor& op = operation(CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR);
    op.set(CUDNN_ATTR_OPERATION_POINTWISE_PW_DESCRIPTOR, kept_[at])
        .set(CUDNN_ATTR_OPERATION_POINTWISE_XDESC, of(x));
    if (b) op.set(CUDNN_ATTR_OPERATION_POINTWISE_BDESC, of(*b));
    if (t) op.set(CUDNN_ATTR_OPERATION_POINTWISE_TDESC, of(*t));
    op.set(CUDNN_ATTR_OPERATION_POINTWISE_YDESC, of(y)).finalize("an elementwise operation");
  }

  const descriptor& convolution_descriptor(const window& w, cudnnDataType_t compute) {
    kept_.emplace_back(CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR);
    const auto all = [](const shape& s) {
      return std::span<const std::int64_t>(s.at, static_cast<std::size_t>(s.size));
    };
    return kept_.back()
        .set(CUDNN_ATTR_CONVOLUTION_COMP_TYPE, compute)
        .set(CUDNN_ATTR_CONVOLUTION_CONV_MODE, CUDNN_CROSS_CORRELATION)
        .set(CUDNN_ATTR_CONVOLUTION_SPATIAL_DIMS, std::int64_t{w.kernel.size})
        .set_all(CUDNN_ATTR_CONVOLUTION_PRE_PADDINGS, all(w.pre))
        .set_all(CUDNN_ATTR_CONVOLUTION_POST_PADDINGS, all(w.post))
        .set_all(CUDNN_ATTR_CONVOLUTION_FILTER_STRIDES, all(w.strides))
        .set_all(CUDNN_ATTR_CONVOLUTION_DILATIONS, all(w.dilations))
        .finalize("a window");
  }

  static void scale(descriptor& op, cudnnBackendAttributeName_t name, float value) {
    op.set(name, value);
  }

  std::vector<tensor_facts> facts_{};
  std::vector<descriptor> tensors_{}, kept_{}, operations_{};
};

} // namespace benanza::backend::cudnn
