// SPDX-License-Identifier: Apache-2.0
// What does an elementwise function read like in C? An expression of names that hold numbers of the
// computed type: f32 or f64 for real ones, 64 bits for whole ones. Attribute values are those that
// every backend uses.
//
//   *expression_of(op::unary_function::hard_swish, "v", f32);
//   *expression_of(op::binary_function::prelu, "a", "b", f32) == "(a < 0 ? a * b : a)"
#pragma once

#include "../../operands.hpp"
#include "number.hpp"

#include <optional>

namespace benanza::backend::cuda::source {

/// The expression of a function of one number; nothing where whole numbers have none.
inline std::optional<std::string> expression_of(op::unary_function f, const std::string& v,
                                                const arithmetic& a) {
  using enum op::unary_function;
  namespace value = backend::attribute;
  const auto n = [&a](double number) { return literal(number, a); };
  const auto call = [&a](std::string_view name, const std::string& of) {
    return std::string(name) + a.suffix + '(' + of + ')';
  };
  const auto clamped = [&](const std::string& of, double low, double high) {
    return call("fmin", call("fmax", of + ", " + n(low)) + ", " + n(high));
  };
  const auto softplus_of = [&](const std::string& of) {
    return '(' + call("fmax", of + ", " + n(0)) + " + " +
           call("log1p", call("exp", '-' + call("fabs", of))) + ')';
  };
  const auto positive_or = [&v](const std::string& otherwise) {
    return '(' + v + " > 0 ? " + v + " : " + otherwise + ')';
  };
  switch (f) {
  case relu: return positive_or("0");
  case abs: return '(' + v + " < 0 ? -" + v + " : " + v + ')';
  case neg: return "(-" + v + ')';
  case sign: return "((" + v + " > 0) - (" + v + " < 0))";
  case logical_not: return '(' + v + " == 0)";
  case bitwise_not: return a.whole ? std::optional("(~" + v + ')') : std::nullopt;
  default: break;
  }
  if (a.whole) return f == floor || f == ceil || f == round ? std::optional(v) : std::nullopt;
  switch (f) {
  case leaky_relu: return positive_or(n(value::leaky_slope) + " * " + v);
  case elu: return positive_or(n(value::elu_alpha) + " * " + call("expm1", v));
  case selu:
    return '(' + n(value::selu_gamma) + " * " +
           positive_or(n(value::selu_alpha) + " * " + call("expm1", v)) + ')';
  case celu:
    return '(' + call("fmax", v + ", " + n(0)) + " + " +
           call("fmin", n(value::celu_alpha) + " * " +
                            call("expm1", v + " / " + n(value::celu_alpha)) + ", " + n(0)) +
           ')';
  case thresholded_relu:
    return '(' + v + " > " + n(value::threshold) + " ? " + v + " : " + n(0) + ')';
  case sigmoid: return '(' + n(1) + " / (" + n(1) + " + " + call("exp", '-' + v) + "))";
  case hard_sigmoid:
    return clamped(n(value::hard_sigmoid_alpha) + " * " + v + " + " + n(value::hard_sigmoid_beta),
                   0, 1);
  case hard_swish: return '(' + v + " * " + clamped(v + " / " + n(6) + " + " + n(0.5), 0, 1) + ')';
  case tanh: return call("tanh", v);
  case softplus: return softplus_of(v);
  case softsign: return '(' + v + " / (" + n(1) + " + " + call("fabs", v) + "))";
  case mish: return '(' + v + " * " + call("tanh", softplus_of(v)) + ')';
  case swish: return '(' + v + " / (" + n(1) + " + " + call("exp", '-' + v) + "))";
  case gelu:
    return '(' + n(0.5) + " * " + v + " * (" + n(1) + " + " +
           call("erf", v + " * " + n(0.70710678118654752)) + "))";
  case fast_gelu: {
    const std::string cube = n(0.044715) + " * " + v + " * " + v + " * " + v;
    return '(' + n(0.5) + " * " + v + " * (" + n(1) + " + " +
           call("tanh", n(0.79788456080286536) + " * (" + v + " + " + cube + ')') + "))";
  }
  case clip: return clamped(v, value::clip_low, value::clip_high);
  case exp: return call("exp", v);
  case log: return call("log", v);
  case sqrt: return call("sqrt", v);
  case reciprocal: return '(' + n(1) + " / " + v + ')';
  case floor: return call("floor", v);
  case ceil: return call("ceil", v);
  case round: return call("rint", v);
  case erf: return call("erf", v);
  case sin: return call("sin", v);
  case cos: return call("cos", v);
  case tan: return call("tan", v);
  case asin: return call("asin", v);
  case acos: return call("acos", v);
  case atan: return call("atan", v);
  case sinh: return call("sinh", v);
  case cosh: return call("cosh", v);
  case asinh: return call("asinh", v);
  case acosh: return call("acosh", v);
  case atanh: return call("atanh", v);
  case is_nan: return '(' + v + " != " + v + ')';
  case is_inf: return '(' + v + " == " + v + " && " + v + " - " + v + " != 0)";
  case shrink:
    return '(' + v + " < " + n(-value::shrink_lambda) + " ? " + v + " + " + n(value::shrink_bias) +
           " : " + v + " > " + n(value::shrink_lambda) + " ? " + v + " - " + n(value::shrink_bias) +
           " : " + n(0) + ')';
  case square: return '(' + v + " * " + v + ')';
  case cube: return '(' + v + " * " + v + " * " + v + ')';
  default: return std::nullopt;
  }
}

/// The expression of a function of two numbers; Mean adds, its division comes at the end.
inline std::string expression_of(op::binary_function f, const std::string& x, const std::string& y,
                                 const arithmetic& a) {
  using enum op::binary_function;
  const auto with = [&](std::string_view sign) {
    return '(' + x + ' ' + std::string(sign) + ' ' + y + ')';
  };
  const auto chosen = [&](const std::string& when) {
    return '(' + when + " ? " + x + " : " + y + ')';
  };
  const std::string tx = '(' + x + " != 0)", ty = '(' + y + " != 0)";
  const std::string last = a.stored == "int" ? "31" : "63";
  const std::string inside = '(' + y + " >= 0 && " + y + " <= " + last + ')';
  switch (f) {
  case add:
  case sum:
  case mean: return with("+");
  case sub: return with("-");
  case mul: return with("*");
  case div: return with("/");
  case pow: return (a.whole ? "whole_power(" : "pow" + a.suffix + '(') + x + ", " + y + ')';
  case min: return chosen(x + " < " + y);
  case max: return chosen(x + " > " + y);
  case prelu: return '(' + x + " < 0 ? " + x + " * " + y + " : " + x + ')';
  case equal: return with("==");
  case greater: return with(">");
  case greater_or_equal: return with(">=");
  case less: return with("<");
  case less_or_equal: return with("<=");
  case logical_and: return '(' + tx + " && " + ty + ')';
  case logical_or: return '(' + tx + " || " + ty + ')';
  case logical_xor: return '(' + tx + " != " + ty + ')';
  case mod:
    if (a.whole) return "whole_mod(" + x + ", " + y + ')';
    return '(' + x + " - " + y + " * floor" + a.suffix + '(' + x + " / " + y + "))";
  case fmod:
    if (a.whole) return '(' + y + " == 0 ? 0 : " + with("%") + ')';
    return "fmod" + a.suffix + '(' + x + ", " + y + ')';
  case bitwise_and: return with("&");
  case bitwise_or: return with("|");
  case bitwise_xor: return with("^");
  case shift_left: // what is shifted by its width or more is gone
    return '(' + inside + " ? " + with("<<") + " : 0)";
  case shift_right: return '(' + x + " >> (" + inside + " ? " + y + " : " + last + "))";
  }
  return x;
}

/// What the expressions of whole numbers need.
inline std::string functions_of(op::binary_function f, const arithmetic& a) {
  if (f == op::binary_function::mod && a.whole)
    return "static __device__ __forceinline__ long long whole_mod(long long a, long long b) {\n"
           "  if (b == 0) return 0;\n"
           "  long long r = a % b;\n"
           "  return r != 0 && (r < 0) != (b < 0) ? r + b : r;\n}\n";
  if (f != op::binary_function::pow || !a.whole) return {};
  return "static __device__ __forceinline__ long long whole_power(long long a, long long b) {\n"
         "  if (b < 0) return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;\n"
         "  long long p = 1;\n"
         "  for (; b > 0; --b) p *= a;\n"
         "  return p;\n}\n";
}

} // namespace benanza::backend::cuda::source
