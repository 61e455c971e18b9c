// SPDX-License-Identifier: Apache-2.0
// One output of an elementwise layer, by its ONNX definition, with the attribute values that all
// backends use, if no others are given. Whole numbers are another header's. Round is to even.
//
//   function_value(unary_function::relu, -2) == 0;   function_value(binary_function::pow, 2, 3) ==
//   8
#pragma once

#include "position.hpp"
#include "whole.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace benanza::backend::reference {

/// A function of one number.
inline double function_value(op::unary_function f, double x, const attribute_values& given = {}) {
  using enum op::unary_function;
  const auto softplus_of = [](double v) {
    return std::max(v, 0.) + std::log1p(std::exp(-std::fabs(v)));
  };
  switch (f) {
  case relu: return std::max(x, 0.);
  case leaky_relu: return x < 0 ? given.leaky_slope * x : x;
  case elu: return x < 0 ? given.elu_alpha * std::expm1(x) : x;
  case selu: return given.selu_gamma * (x > 0 ? x : given.selu_alpha * std::expm1(x));
  case celu:
    return std::max(0., x) + std::min(0., given.celu_alpha * std::expm1(x / given.celu_alpha));
  case thresholded_relu: return x > given.threshold ? x : 0;
  case sigmoid: return 1 / (1 + std::exp(-x));
  case hard_sigmoid:
    return std::clamp(given.hard_sigmoid_alpha * x + given.hard_sigmoid_beta, 0., 1.);
  case hard_swish: return x * std::clamp(x / 6 + 0.5, 0., 1.);
  case tanh: return std::tanh(x);
  case softplus: return softplus_of(x);
  case softsign: return x / (1 + std::fabs(x));
  case mish: return x * std::tanh(softplus_of(x));
  case swish: return x / (1 + std::exp(-x));
  case gelu: return 0.5 * x * (1 + std::erf(x / std::sqrt(2.)));
  case fast_gelu: // Hendrycks and Gimpel 2016, section 2; ONNX's Gelu-20 with approximate = "tanh"
    return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  case clip: // the lower bound is the upper one where it passes it
    return std::min(std::max(x, given.clip_low), given.clip_high);
  case exp: return std::exp(x);
  case log: return std::log(x);
  case sqrt: return std::sqrt(x);
  case abs: return std::fabs(x);
  case neg: return -x;
  case reciprocal: return 1 / x;
  case floor: return std::floor(x);
  case ceil: return std::ceil(x);
  case round: return std::nearbyint(x);
  case erf: return std::erf(x);
  case sin: return std::sin(x);
  case cos: return std::cos(x);
  case sign: return static_cast<double>((x > 0) - (x < 0));
  case square: return x * x;
  case cube: return x * x * x;
  case logical_not: return x == 0;
  case tan: return std::tan(x);
  case asin: return std::asin(x);
  case acos: return std::acos(x);
  case atan: return std::atan(x);
  case sinh: return std::sinh(x);
  case cosh: return std::cosh(x);
  case asinh: return std::asinh(x);
  case acosh: return std::acosh(x);
  case atanh: return std::atanh(x);
  case is_nan: return std::isnan(x);
  case is_inf:
    return std::isinf(x) && (std::signbit(x) ? given.finds_negative : given.finds_positive);
  case shrink:
    return x < -given.shrink_lambda  ? x + given.shrink_bias
           : x > given.shrink_lambda ? x - given.shrink_bias
                                     : 0;
  case bitwise_not: break; // whole numbers have it
  }
  return x;
}

/// A function of two numbers; Mean adds, its division comes at the end.
inline double function_value(op::binary_function f, double a, double b) {
  using enum op::binary_function;
  switch (f) {
  case add:
  case sum:
  case mean: return a + b;
  case sub: return a - b;
  case mul: return a * b;
  case div: return a / b;
  case pow: return std::pow(a, b);
  case min: return std::min(a, b);
  case max: return std::max(a, b);
  case prelu: return a < 0 ? a * b : a;
  case equal: return a == b;
  case greater: return a > b;
  case greater_or_equal: return a >= b;
  case less: return a < b;
  case less_or_equal: return a <= b;
  case logical_and: return a != 0 && b != 0;
  case logical_or: return a != 0 || b != 0;
  case logical_xor: return (a != 0) != (b != 0);
  case mod: {
    const double r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return std::signbit(r) != std::signbit(b) ? r + b : r;
  }
  case fmod: return std::fmod(a, b);
  default: return a; // functions of bits: whole numbers have them
  }
}

inline double value(const op::unary& p, const operands& o, std::int64_t flat) {
  const double x = element(o, 0, flat);
  if (whole(p.element)) return whole_value(p.function, x, p.element, o.attributes);
  return function_value(p.function, x, o.attributes);
}

inline double value(const op::binary& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  double v = element(o, 0, broadcast_index(p.a, place));
  for (std::int64_t i = 1; i < p.operands; ++i) {
    const double next = element(o, static_cast<std::size_t>(i), broadcast_index(p.b, place));
    v = whole(p.element) ? whole_value(p.function, v, next, p.element)
                         : function_value(p.function, v, next);
  }
  if (p.function == op::binary_function::mean) v /= static_cast<double>(p.operands);
  return whole(p.element) ? std::trunc(v) : v;
}

} // namespace benanza::backend::reference
