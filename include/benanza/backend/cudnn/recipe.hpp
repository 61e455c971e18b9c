// SPDX-License-Identifier: Apache-2.0
// How is a layer described to cuDNN? A recipe is one way to write it as an operation graph: the
// graph, where each of its tensors comes from, and what the library's engines for it have in
// common. A layer has several: activations in ONNX order or with channels last, channels padded to
// what tensor cores like.
//
//   recipes out;   describe(op::conv{...}, request{numeric::f16}, out);   out[0].before == "nhwc:"
#pragma once

#include "../../core/dtype.hpp"
#include "../../core/layout.hpp"
#include "../concept.hpp"
#include "../cuda/placement.hpp"
#include "graph.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::backend::cudnn {

/// Which type cuDNN stores elements in; nothing for what it does not take.
inline std::optional<cudnnDataType_t> data_type_of(dtype t) {
  switch (t) {
  case dtype::f32: return CUDNN_DATA_FLOAT;
  case dtype::f16: return CUDNN_DATA_HALF;
  case dtype::bf16: return CUDNN_DATA_BFLOAT16;
  case dtype::s8: return CUDNN_DATA_INT8;
  case dtype::e4m3: return CUDNN_DATA_FP8_E4M3;
  case dtype::s32: return CUDNN_DATA_INT32;
  case dtype::s64: return CUDNN_DATA_INT64;
  case dtype::boolean: return CUDNN_DATA_BOOLEAN;
  default: return std::nullopt;
  }
}

/// A tensor of the graph that has memory: which operand it is, and how its elements are stored.
struct placed {
  int tensor = 0; ///< its number in the graph
  /// Of the operand; `result` for what is written, `second` for a further result, `unread` for what
  /// else is; `filled` with `value` where the library wants what the layer does not have; `packed`
  /// for weights in its own order.
  int input = 0;
  shape dims{}; ///< of the operand's elements in ONNX order, as the graph counts dims
  shape strides{};
  dtype type = dtype::f32;   ///< in the device's memory
  std::int64_t elements = 0; ///< of memory, padding included
  bool constant = false;     ///< weights: they may be rotated
  bool scaled = false;       ///< times the factor of integers
  double value = 0;
  static constexpr int result = -1, unread = -2, filled = -3, packed = -4, second = -5;

  cuda::stored is() const { return {dims, strides, type, elements}; }
};

/// A number that the host hands over: `value`, times the factor of integers where that is asked.
struct handed_over {
  int tensor = 0;
  float value = 0;
  bool times_factor = false;
};

/// One way to write a layer.
struct recipe {
  operation_graph graph{};
  std::vector<placed> tensors{};
  std::vector<handed_over> numbers{};
  /// By what integers multiply their exact result; none: the operands' output scale.
  std::function<double(const operands&)> factor{};
  std::string before{};          ///< of an engine's id: "nhwc:"
  std::string layouts{};         ///< of source, weights and result
  std::string operand_layouts{}; ///< as other layers know them; empty: none of theirs
  std::string result_layout{};
};
using recipes = std::vector<recipe>;

/// What a recipe is written for.
struct request {
  numeric type = numeric::f32;
  cudnnDataType_t source() const { return *data_type_of(source_of(type)); }
  cudnnDataType_t result() const { return *data_type_of(result_of(type)); }
  /// Keeps the ways that the library refuses as a whole, and why; null: it does not.
  std::vector<refused_algorithm>* refused = nullptr;
  void refuse(std::string_view way, std::string_view why) const {
    if (refused != nullptr) refused->push_back({std::string(way), std::string(why)});
  }
  /// In which products are added up.
  cudnnDataType_t accumulator() const {
    return quantised(type) ? CUDNN_DATA_INT32 : CUDNN_DATA_FLOAT;
  }
};

/// True for the classes that cuDNN computes in.
inline bool has_type(numeric t) {
  return t != numeric::u8s8u8;
}

/// `values` of dims with the last one put second.
inline shape turned(const shape& values) {
  shape out{values[0], values[values.size - 1]};
  for (int i = 1; i + 1 < values.size; ++i)
    out.push(values[i]);
  return out;
}

/// The graph and its tensors while a recipe is being written.
class writer {
public:
  explicit writer(const request& r)
      : request_(r) {}

  graph_maker graph{};
  recipe made{};

  /// An operand with memory.
  int operand(int input, const shape& dims, const shape& strides, dtype type,
              bool constant = false) {
    return padded_operand(input, dims, dims, strides, type, constant);
  }
  /// An operand whose elements are `dims` of a tensor of `padded` dims.
  int padded_operand(int input, const shape& dims, const shape& padded, const shape& strides,
                     dtype type, bool constant = false) {
    const int t = graph.tensor(padded, strides, *data_type_of(type));
    made.tensors.push_back({t, input, dims, strides, type, elements(padded), constant});
    return t;
  }
  /// A tensor that no operand gives: all its elements are `value`.
  int filled(const shape& dims, dtype type, double value) {
    const int t = operand(placed::filled, dims, packed(dims), type);
    made.tensors.back().value = value;
    return t;
  }
  /// The result.
  int result(const shape& dims, const shape& strides, dtype type) {
    return operand(placed::result, dims, strides, type);
  }
  /// An operand, or the result, as ONNX stores it, described so that its last dim is what cuDNN
  /// calls channels: its elementwise engines take tensors with the channels last, and no others.
  int turned_operand(int input, const shape& dims, dtype type) {
    const int t = graph.tensor(turned(dims), turned(packed(dims)), *data_type_of(type));
    made.tensors.push_back({t, input, dims, packed(dims), type, elements(dims), false});
    return t;
  }
  int padded_result(const shape& dims, const shape& padded, const shape& strides, dtype type) {
    return padded_operand(placed::result, dims, padded, strides, type);
  }
  int number(int rank, float value, bool times_factor = false) {
    const int t = graph.number(rank);
    made.numbers.push_back({t, value, times_factor});
    return t;
  }
  /// A tensor like `t` that has no memory.
  int between(int t) {
    const tensor_facts f = graph.facts(t);
    return graph.between(f.dims, f.strides);
  }

  const request& asked() const { return request_; }
  dtype source_type() const { return source_of(request_.type); }
  dtype result_type() const { return result_of(request_.type); }
  /// Vectors of parameters: as networks of 16 bits store them, with which the library has most
  /// engines (make_operands.hpp draws such as lose nothing by it); f32 in all others.
  dtype vector_type() const {
    const bool narrow = request_.type == numeric::f16 || request_.type == numeric::bf16;
    return narrow ? source_of(request_.type) : dtype::f32;
  }

  recipe finish() {
    made.graph = graph.finish();
    return std::move(made);
  }

private:
  request request_;
};

/// `dims` with dims of one put behind the first two until there are `rank`: a layer over fewer
/// spatial dims is one over more.
inline shape widened(const shape& dims, int rank) {
  shape out{dims[0], dims[1]};
  for (int i = dims.size; i < rank; ++i)
    out.push(1);
  for (int i = 2; i < dims.size; ++i)
    out.push(dims[i]);
  return out;
}

/// Strides of N x C x spatial in a layout.
inline shape strides_in(layout l, const shape& dims) {
  return l == layout::channels_last ? channels_last(dims) : packed(dims);
}

/// The letters of a layout with so many dims of activations, or of weights.
inline std::string activation_letters(layout l, int rank) {
  return std::string(letters(l, rank));
}
inline std::string weight_letters(layout l, int rank) {
  static constexpr std::string_view names[2][3] = {{"oiw", "oihw", "oidhw"},
                                                   {"owi", "ohwi", "odhwi"}};
  return rank < 3 || rank > 5 ? "" : std::string(names[l == layout::channels_last][rank - 3]);
}

inline constexpr layout cudnn_layouts[] = {layout::plain, layout::channels_last};

/// The prefix of the ids of a layout's engines: empty for ONNX's own.
inline std::string prefix_of(layout l) {
  return l == layout::channels_last ? "nhwc:" : "";
}

} // namespace benanza::backend::cudnn
