// SPDX-License-Identifier: Apache-2.0
// What does a layer compute on? Operands in ONNX order and in the storage of the case's type, and the
// values of those attributes that do not change the cost and so are no part of a layer. Every backend
// and the reference get the same ones.
//
//   operands o = make_operands(layer, numeric::f32);   o.inputs[0].as<float>()[7]
#pragma once

#include "../op/layer.hpp"

#include <span>
#include <vector>

namespace benanza::backend {

/// Attribute values that every backend and the reference use.
namespace attribute {
inline constexpr double epsilon = 1e-5;     // BatchNormalization
inline constexpr double lrn_alpha = 1e-4, lrn_beta = 0.75, lrn_bias = 1.0;
inline constexpr double leaky_slope = 0.1;  // LeakyRelu
inline constexpr double elu_alpha = 1.0, celu_alpha = 1.0, threshold = 0.3;
inline constexpr double selu_alpha = 1.67326319217681884765625, selu_gamma = 1.05070102214813232421875;
inline constexpr double clip_low = -0.5, clip_high = 0.5;
inline constexpr double hard_sigmoid_alpha = 0.2, hard_sigmoid_beta = 0.5;
} // namespace attribute

/// What an operand is to the model: an activation, its weights, a vector of f32 parameters, positions.
enum class role : std::uint8_t { source, weights, vector, index };

/// One operand: dims and values in its storage type.
struct tensor {
  shape dims{};
  dtype type = dtype::f32;
  role part = role::source;
  std::vector<std::byte> bytes{};

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
  /// Quantised layers write round(output_scale * exact result), saturated; 1 for the others.
  double output_scale = 1;
};

} // namespace benanza::backend
