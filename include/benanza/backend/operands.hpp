// SPDX-License-Identifier: Apache-2.0
// What does a layer compute on? Operands in ONNX order and in the storage of the case's type, and
// the values of those attributes that do not change the cost and so are no part of a layer. Every
// backend and the reference get the same ones.
//
//   operands o = make_operands(layer, numeric::f32);   o.inputs[0].as<float>()[7]
//   result_type(op::parse("Equal/4x5"), numeric::bf16) == dtype::boolean
#pragma once

#include "../machine/pages.hpp"
#include "../op/kinds.hpp"

#include <cmath>
#include <span>
#include <vector>

namespace benanza::backend {

/// Attribute values that every backend and the reference use.
namespace attribute {
inline constexpr double epsilon = 1e-5; // of every normalization by a deviation
inline constexpr double lrn_alpha = 1e-4, lrn_beta = 0.75, lrn_bias = 1.0;
inline constexpr double leaky_slope = 0.1; // LeakyRelu
inline constexpr double elu_alpha = 1.0, celu_alpha = 1.0, threshold = 0.3;
inline constexpr double selu_alpha = 1.67326319217681884765625,
                        selu_gamma = 1.05070102214813232421875;
inline constexpr double clip_low = -0.5, clip_high = 0.5;
inline constexpr double clip_whole_low = -50, clip_whole_high = 50; // Clip of whole numbers
inline constexpr double shrink_lambda = 0.5, shrink_bias = 0.25;
inline constexpr double hard_sigmoid_alpha = 0.2, hard_sigmoid_beta = 0.5;
inline constexpr double cubic = -0.75;      // Resize
inline constexpr double roi_scale = 0.25;   // RoiAlign, MaxRoiPool
inline constexpr double most_overlap = 0.5; // NonMaxSuppression
inline constexpr double least_score = 0.25;
inline constexpr double softcap = 2;          // Attention
inline constexpr double recurrent_clip = 0.5; // LSTM, GRU, RNN
} // namespace attribute

/// How a number becomes a power of two: the next one away from zero, towards it, or the nearest
/// (the larger one of two).
enum class rounding : std::uint8_t { up, down, nearest };

/// The same as the reference takes them. They differ from those above only where a model's own are
/// tried.
struct attribute_values {
  double epsilon = attribute::epsilon;
  double lrn_alpha = attribute::lrn_alpha, lrn_beta = attribute::lrn_beta;
  double lrn_bias = attribute::lrn_bias;
  double leaky_slope = attribute::leaky_slope, threshold = attribute::threshold;
  double elu_alpha = attribute::elu_alpha, celu_alpha = attribute::celu_alpha;
  double selu_alpha = attribute::selu_alpha, selu_gamma = attribute::selu_gamma;
  double clip_low = attribute::clip_low, clip_high = attribute::clip_high;
  double clip_whole_low = attribute::clip_whole_low, clip_whole_high = attribute::clip_whole_high;
  double shrink_lambda = attribute::shrink_lambda, shrink_bias = attribute::shrink_bias;
  bool finds_positive = true, finds_negative = true; ///< infinities, of IsInf
  bool saturates = true;                             ///< a Cast to floats of 8 bits
  rounding round_mode = rounding::up;                ///< of a Cast to powers of two
  double hard_sigmoid_alpha = attribute::hard_sigmoid_alpha;
  double hard_sigmoid_beta = attribute::hard_sigmoid_beta;
  double cubic = attribute::cubic;
  double alpha = 1, beta = 1; ///< a Gemm's
  double scale = 0;           ///< an attention's; 0: 1 / sqrt(size of a head)
  double softcap = attribute::softcap;
  double pad_constant = 0, extrapolation = 0; ///< Pad, Resize
  std::vector<double> scales{}; ///< of a Resize, one for each dim; none: as its sizes say
  bool symmetric = false;       ///< a Resize keeps the middle where its scales are not its sizes'
  double roi_scale = attribute::roi_scale;
  double most_overlap = attribute::most_overlap, least_score = attribute::least_score;
  double most_boxes = HUGE_VAL; ///< that a NonMaxSuppression keeps of a class, if fewer than it may
};

/// What an operand is to the model: an activation, its weights, a vector of f32 parameters,
/// positions.
enum class role : std::uint8_t { source, weights, vector, index };

/// Values of an operand, the large ones on pages that others gave back.
using tensor_bytes = std::vector<std::byte, machine::page_allocator<std::byte>>;

/// One operand: dims and values in its storage type.
struct tensor {
  shape dims{};
  dtype type = dtype::f32;
  role part = role::source;
  tensor_bytes bytes{};

  std::int64_t count() const { return elements(dims); }
  template <class T>
  std::span<const T> as() const {
    return {reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
  template <class T>
  std::span<T> as() {
    return {reinterpret_cast<T*>(bytes.data()), bytes.size() / sizeof(T)};
  }
};

/// The operands of a layer in the order of its ONNX operator.
struct operands {
  std::vector<tensor> inputs{};
  /// Quantised layers write round(output_scale * exact result), saturated; 1 for the others. Fused
  /// ones scale before their steps: joined operands are codes of the result.
  double output_scale = 1;
  /// How long the parts of a Split are along its axis; empty: as equal as they can be.
  std::vector<std::int64_t> parts{};
  attribute_values attributes{}; ///< that the reference takes
};

/// Storage of a layer's elements in a case: its own type, or the case's where it says `real`.
constexpr dtype storage_of(dtype element, numeric t) {
  return element == dtype::real ? source_of(t) : element;
}

/// Storage of the layer's (first) result.
inline dtype result_type(const op::layer& l, numeric t) {
  const dtype element = op::results(l)[0].element;
  return element == dtype::real ? result_of(t) : element;
}

/// A result in the memory of all results of a layer.
struct placed_result {
  shape dims{};
  dtype type = dtype::f32;
  std::int64_t first = 0;  ///< how many elements of others are before it
  std::int64_t offset = 0; ///< in bytes

  std::int64_t count() const { return elements(dims); }
  std::int64_t end_bytes() const { return offset + bytes_of(type, count()); }
};

/// Where the results of a layer are: one after the other, each begins with a cache line.
inline std::vector<placed_result> results_of(const op::layer& l, numeric t) {
  std::vector<placed_result> out;
  for (const op::result& r : op::results(l)) {
    placed_result p{.dims = r.dims, .type = r.element == dtype::real ? result_of(t) : r.element};
    if (!out.empty()) {
      p.first = out.back().first + out.back().count();
      p.offset = (out.back().end_bytes() + 63) / 64 * 64;
    }
    out.push_back(p);
  }
  return out;
}

/// The one among a layer's results in which element `flat` of all of them is.
inline const placed_result& result_at(const std::vector<placed_result>& results,
                                      std::int64_t flat) {
  std::size_t k = results.size() - 1;
  while (k > 0 && flat < results[k].first)
    --k;
  return results[k];
}

/// Elements of all results of a layer together.
inline std::int64_t result_count(const op::layer& l) {
  std::int64_t n = 0;
  for (const op::result& r : op::results(l))
    n += elements(r.dims);
  return n;
}

/// Bytes of the memory of all results of a layer.
inline std::int64_t bytes_of_results(const op::layer& l, numeric t) {
  return results_of(l, t).back().end_bytes();
}

/// True where the layer's result is round(output_scale * exact), saturated.
inline bool requantises(const op::layer& l, numeric t) {
  const bool real = op::visit(
      [](const auto& p) {
        if constexpr (requires { p.element; })
          return p.element == dtype::real;
        else
          return true;
      },
      l);
  return real && op::results(l)[0].element == dtype::real && quantised(t) &&
         result_type(l, t) == result_of(t);
}

namespace detail {
struct terms {
  std::int64_t operator()(const op::conv& p) const { return elements(p.weights()) / p.outputs; }
  std::int64_t operator()(const op::conv_transpose& p) const {
    std::int64_t n = p.input[1] / p.groups;
    for (int i = 0; i < p.kernel.size; ++i) {
      const std::int64_t stride = op::entry(p.strides, i, 1);
      n *= (p.kernel[i] + stride - 1) / stride;
    }
    return n;
  }
  std::int64_t operator()(const op::conv_weight_gradient& p) const {
    const shape dy = p.gradient();
    return elements(dy) / dy[1];
  }
  std::int64_t operator()(const op::gemm& p) const { return p.k; }
  std::int64_t operator()(const op::matmul& p) const { return p.k(); }
  std::int64_t operator()(const op::pool& p) const {
    std::int64_t n = 1;
    for (int i = 0; i < p.input.size - 2; ++i)
      n *= p.global() ? p.input[i + 2] : p.kernel[i];
    return n;
  }
  std::int64_t operator()(const op::grid_sample& p) const { return p.taps(); }
  std::int64_t operator()(const op::affine_grid& p) const { return p.rank() + 1; }
  std::int64_t operator()(const op::roi_align& p) const {
    return 4 * p.samples_along(0) * p.samples_along(1);
  }
  std::int64_t operator()(const op::col2im& p) const { return p.taps(); }
  std::int64_t operator()(const op::deform_conv& p) const {
    return elements(p.weights()) / p.outputs;
  }
  std::int64_t operator()(const op::dft& p) const { return p.wanted(); }
  std::int64_t operator()(const op::det& p) const { return p.side(); }
  std::int64_t operator()(const op::lrn& p) const { return p.size; }
  std::int64_t operator()(const op::layer_norm& p) const { return p.row(); }
  std::int64_t operator()(const op::rms_norm& p) const { return p.row(); }
  template <class Norm>
  std::int64_t operator()(const op::residual<Norm>& p) const {
    return p.row();
  }
  std::int64_t operator()(const op::group_norm& p) const { return p.row(); }
  std::int64_t operator()(const op::instance_norm& p) const { return p.row(); }
  std::int64_t operator()(const op::softmax& p) const { return p.input[p.axis]; }
  std::int64_t operator()(const op::attention& p) const { return p.seen_keys() + p.head_size; }
  std::int64_t operator()(const op::matmul_nbits& p) const { return p.length(); }
  std::int64_t operator()(const op::matmul_ggml& p) const { return p.length(); }
  std::int64_t operator()(const op::rotary&) const { return 2; }
  std::int64_t operator()(const op::linear_attention& p) const { return p.steps + p.key_size; }
  std::int64_t operator()(const op::binary& p) const { return p.operands; }
  std::int64_t operator()(const op::reduce& p) const {
    std::int64_t n = 1;
    for (std::int64_t axis : p.axes)
      n *= p.input[static_cast<int>(axis)];
    return n;
  }
  std::int64_t operator()(const op::cumulate& p) const { return p.input[p.axis]; }
  std::int64_t operator()(const op::recurrent& p) const { return p.inputs + p.hidden; }
  template <class Base>
  std::int64_t operator()(const op::on_codes<Base>& p) const {
    return (*this)(p.base);
  }
  template <class Base>
  std::int64_t operator()(const op::fused<Base>& p) const {
    return (*this)(p.base);
  }
  std::int64_t operator()(const auto&) const { return 1; }
};
} // namespace detail

/// How many terms one result element combines: multiply-accumulates, window taps, reduced elements;
/// 1 where nothing is accumulated.
inline std::int64_t reduction_length(const op::layer& l) {
  const std::int64_t n = op::visit(detail::terms{}, l);
  return n < 1 ? 1 : n;
}

} // namespace benanza::backend
