// SPDX-License-Identifier: Apache-2.0
// What does an elementwise function compute, by its ONNX definition? Said once, for anything that
// calculates like a number: of a `double` it is the reference's value, of an expression the text of
// a kernel on a GPU (cuda/source/function.hpp). Round is to even. Functions of bits and of whole
// numbers are other headers'.
//
//   formula(op::unary_function::relu, -2.0) == 0;   formula(op::binary_function::pow, 2.0, 3.0) ==
//   8
#pragma once

#include "../op/eltwise.hpp"
#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string_view>

namespace benanza::backend {

/// A function of C's library.
struct c_function {
  std::string_view name;
  double (*of)(double);
};

namespace libm {
inline constexpr c_function exp{"exp", [](double v) { return std::exp(v); }},
    expm1{"expm1", [](double v) { return std::expm1(v); }},
    log{"log", [](double v) { return std::log(v); }},
    log1p{"log1p", [](double v) { return std::log1p(v); }},
    sqrt{"sqrt", [](double v) { return std::sqrt(v); }},
    fabs{"fabs", [](double v) { return std::fabs(v); }},
    floor{"floor", [](double v) { return std::floor(v); }},
    ceil{"ceil", [](double v) { return std::ceil(v); }},
    rint{"rint", [](double v) { return std::nearbyint(v); }},
    erf{"erf", [](double v) { return std::erf(v); }},
    sin{"sin", [](double v) { return std::sin(v); }},
    cos{"cos", [](double v) { return std::cos(v); }},
    tan{"tan", [](double v) { return std::tan(v); }},
    asin{"asin", [](double v) { return std::asin(v); }},
    acos{"acos", [](double v) { return std::acos(v); }},
    atan{"atan", [](double v) { return std::atan(v); }},
    sinh{"sinh", [](double v) { return std::sinh(v); }},
    cosh{"cosh", [](double v) { return std::cosh(v); }},
    tanh{"tanh", [](double v) { return std::tanh(v); }},
    asinh{"asinh", [](double v) { return std::asinh(v); }},
    acosh{"acosh", [](double v) { return std::acosh(v); }},
    atanh{"atanh", [](double v) { return std::atanh(v); }};
} // namespace libm

/// What formulas need of a number beside its operators.
template <class Number>
struct mathematics;

template <>
struct mathematics<double> {
  static double call(const c_function& f, double v) { return f.of(v); }
  static double larger(double a, double b) { return std::max(a, b); }
  static double smaller(double a, double b) { return std::min(a, b); }
  static double select(bool when, double a, double b) { return when ? a : b; }
  static double number(bool truth) { return truth; }
  static bool infinite(double v) { return std::isinf(v); }
  static double power(double a, double b) { return std::pow(a, b); }
  static double rest(double a, double b) { return std::fmod(a, b); }
  /// With the sign of the divisor.
  static double modulus(double a, double b) {
    const double r = std::fmod(a, b);
    if (r == 0) return std::copysign(r, b);
    return std::signbit(r) != std::signbit(b) ? r + b : r;
  }
};

/// A function of one number.
template <class Number>
Number formula(op::unary_function f, const Number& x, const attribute_values& given = {}) {
  using enum op::unary_function;
  using m = mathematics<Number>;
  const auto softplus_of = [](const Number& v) {
    return m::larger(v, 0.) + m::call(libm::log1p, m::call(libm::exp, -m::call(libm::fabs, v)));
  };
  const auto clamped = [](const Number& v, double low, double high) {
    return m::smaller(m::larger(v, low), high);
  };
  switch (f) {
  case relu: return m::select(x < 0., 0., x);
  case leaky_relu: return m::select(x < 0., given.leaky_slope * x, x);
  case elu: return m::select(x < 0., given.elu_alpha * m::call(libm::expm1, x), x);
  case selu:
    return given.selu_gamma * m::select(x > 0., x, given.selu_alpha * m::call(libm::expm1, x));
  case celu:
    return m::larger(x, 0.) +
           m::smaller(given.celu_alpha * m::call(libm::expm1, x / given.celu_alpha), 0.);
  case thresholded_relu: return m::select(x > given.threshold, x, 0.);
  case sigmoid: return 1. / (1. + m::call(libm::exp, -x));
  case hard_sigmoid: return clamped(given.hard_sigmoid_alpha * x + given.hard_sigmoid_beta, 0, 1);
  case hard_swish: return x * clamped(x / 6. + 0.5, 0, 1);
  case softplus: return softplus_of(x);
  case softsign: return x / (1. + m::call(libm::fabs, x));
  case mish: return x * m::call(libm::tanh, softplus_of(x));
  case swish: return x / (1. + m::call(libm::exp, -x));
  case gelu: return 0.5 * x * (1. + m::call(libm::erf, x * (std::numbers::sqrt2 / 2)));
  case fast_gelu: // Hendrycks and Gimpel 2016, section 2; ONNX's Gelu-20 with approximate = "tanh"
    return 0.5 * x *
           (1. + m::call(libm::tanh, std::numbers::sqrt2 * std::numbers::inv_sqrtpi *
                                         (x + 0.044715 * x * x * x)));
  case clip:
    return clamped(x, given.clip_low, given.clip_high); // the lower bound is the upper one
                                                        // where it passes it
  case neg: return -x;
  case reciprocal: return 1. / x;
  case sign: return m::number(x > 0.) - m::number(x < 0.);
  case square: return x * x;
  case cube: return x * x * x;
  case logical_not: return m::number(x == 0.);
  case is_nan: return m::number(x != x);
  case is_inf: return m::number(m::infinite(x));
  case shrink:
    return m::select(x < -given.shrink_lambda, x + given.shrink_bias,
                     m::select(x > given.shrink_lambda, x - given.shrink_bias, 0.));
  case abs: return m::call(libm::fabs, x);
  case exp: return m::call(libm::exp, x);
  case log: return m::call(libm::log, x);
  case sqrt: return m::call(libm::sqrt, x);
  case floor: return m::call(libm::floor, x);
  case ceil: return m::call(libm::ceil, x);
  case round: return m::call(libm::rint, x);
  case erf: return m::call(libm::erf, x);
  case sin: return m::call(libm::sin, x);
  case cos: return m::call(libm::cos, x);
  case tan: return m::call(libm::tan, x);
  case asin: return m::call(libm::asin, x);
  case acos: return m::call(libm::acos, x);
  case atan: return m::call(libm::atan, x);
  case sinh: return m::call(libm::sinh, x);
  case cosh: return m::call(libm::cosh, x);
  case tanh: return m::call(libm::tanh, x);
  case asinh: return m::call(libm::asinh, x);
  case acosh: return m::call(libm::acosh, x);
  case atanh: return m::call(libm::atanh, x);
  case bitwise_not: break; // whole numbers have it
  }
  return x;
}

/// A function of two numbers; Mean adds, its division comes at the end.
template <class Number>
Number formula(op::binary_function f, const Number& a, const Number& b) {
  using enum op::binary_function;
  using m = mathematics<Number>;
  switch (f) {
  case add:
  case sum:
  case mean: return a + b;
  case sub: return a - b;
  case mul: return a * b;
  case div: return a / b;
  case pow: return m::power(a, b);
  case min: return m::select(b < a, b, a);
  case max: return m::select(a < b, b, a);
  case prelu: return m::select(a < 0., a * b, a);
  case equal: return m::number(a == b);
  case greater: return m::number(a > b);
  case greater_or_equal: return m::number(a >= b);
  case less: return m::number(a < b);
  case less_or_equal: return m::number(a <= b);
  case logical_and: return m::number(a != 0. && b != 0.);
  case logical_or: return m::number(a != 0. || b != 0.);
  case logical_xor: return m::number((a != 0.) != (b != 0.));
  case mod: return m::modulus(a, b);
  case fmod: return m::rest(a, b);
  default: return a; // functions of bits: whole numbers have them
  }
}

} // namespace benanza::backend
