// SPDX-License-Identifier: Apache-2.0
// Elementwise layers. `unary` has one operand (Relu, Clip, Erf ...), `binary` two or, for Sum, Max,
// Min and Mean, more of one shape; operands broadcast as NumPy says. Slopes and bounds are
// values, not parameters: they do not change what is measured. A Pow by a constant that is cheaper
// than a power is the function that it is: Square, Cube, Sqrt, Reciprocal. A Mod is by its fmod Mod
// (the sign of the divisor) or FMod (of the dividend), a BitShift BitShiftLeft or BitShiftRight.
//
//   unary{.function = unary_function::relu, .input = {1, 64, 56, 56}}         key: 1x64x56x56
//   binary{.function = binary_function::add, .a = {1, 64, 56, 56}, .b = {1, 64, 1, 1}}
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

// clang-format off
/// One operand; the order is that of `unary_families`.
enum class unary_function : std::uint8_t {
  relu, leaky_relu, elu, selu, celu, thresholded_relu, sigmoid, hard_sigmoid, hard_swish, tanh,
  softplus, softsign, mish, gelu, fast_gelu, clip, exp, log, sqrt, abs, neg, reciprocal, floor,
  ceil, round, erf, sin, cos, sign, square, cube, swish, logical_not, tan,
  asin, acos, atan, sinh, cosh, asinh, acosh, atanh, is_nan, is_inf, bitwise_not, shrink,
};

inline constexpr std::string_view unary_families[] = {
    "Relu", "LeakyRelu", "Elu", "Selu", "Celu", "ThresholdedRelu", "Sigmoid", "HardSigmoid",
    "HardSwish", "Tanh", "Softplus", "Softsign", "Mish", "Gelu", "FastGelu", "Clip", "Exp", "Log",
    "Sqrt", "Abs", "Neg", "Reciprocal", "Floor", "Ceil", "Round", "Erf", "Sin", "Cos", "Sign",
    "Square", "Cube", "Swish", "Not", "Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh",
    "Acosh", "Atanh", "IsNaN", "IsInf", "BitwiseNot", "Shrink",
};

/// Two operands or more; the order is that of `binary_families`.
enum class binary_function : std::uint8_t {
  add, sub, mul, div, pow, min, max, sum, mean, prelu, equal, greater, greater_or_equal, less,
  less_or_equal, logical_and, logical_or, logical_xor, mod, fmod, bitwise_and, bitwise_or,
  bitwise_xor, shift_left, shift_right,
};

inline constexpr std::string_view binary_families[] = {
    "Add", "Sub", "Mul", "Div", "Pow", "Min", "Max", "Sum", "Mean", "PRelu", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "And", "Or", "Xor", "Mod", "FMod", "BitwiseAnd",
    "BitwiseOr", "BitwiseXor", "BitShiftLeft", "BitShiftRight",
};
// clang-format on

namespace detail {
template <class Enum, std::size_t N>
constexpr std::optional<Enum> find_family(const std::string_view (&names)[N],
                                          std::string_view family) {
  for (std::size_t i = 0; i < N; ++i)
    if (names[i] == family) return static_cast<Enum>(i);
  return std::nullopt;
}
} // namespace detail

/// True where the result is a truth value of a real number.
constexpr bool tells(unary_function f) {
  return f == unary_function::is_nan || f == unary_function::is_inf;
}
/// True for functions from real numbers to real numbers: those that others may be fused with.
constexpr bool of_reals(unary_function f) {
  return f != unary_function::logical_not && f != unary_function::bitwise_not && !tells(f);
}
/// True for functions of the bits of whole numbers.
constexpr bool of_bits(binary_function f) {
  return f >= binary_function::bitwise_and && f <= binary_function::shift_right;
}

struct unary {
  unary_function function = unary_function::relu;
  shape input{};
  dtype element = dtype::real;

  static constexpr std::optional<unary> of(std::string_view family) {
    if (const auto f = detail::find_family<unary_function>(unary_families, family))
      return unary{.function = *f};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return unary_families[static_cast<std::size_t>(function)];
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.element("element", element);
  }
  constexpr void validate() const {
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  constexpr result_list results() const {
    return {{input, tells(function) ? dtype::boolean : element}};
  }
  constexpr work cost() const {
    work w = moved(element, elements(input), tells(function) ? 0 : elements(input));
    if (tells(function)) w.fixed_bytes += elements(input);
    w.other = elements(input);
    return w;
  }
  constexpr unary canonical_form() const { return *this; }
  constexpr bool operator==(const unary&) const = default;
};

struct binary {
  binary_function function = binary_function::add;
  shape a{};
  shape b{};                 ///< the second and all further operands
  std::int64_t operands = 2; ///< one `a`, the others `b`
  dtype element = dtype::real;

  static constexpr std::optional<binary> of(std::string_view family) {
    if (const auto f = detail::find_family<binary_function>(binary_families, family))
      return binary{.function = *f};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return binary_families[static_cast<std::size_t>(function)];
  }
  /// True where the result is a truth value whatever the operands are.
  constexpr bool comparison() const {
    return function >= binary_function::equal && function <= binary_function::less_or_equal;
  }
  /// True where the result is a truth value.
  constexpr bool truth() const {
    return function >= binary_function::equal && function <= binary_function::logical_xor;
  }

  template <class Archive>
  constexpr void fields(Archive& archive) {
    archive.dims("a", a);
    archive.dims_or("b", b, a);
    archive.number("operands", "n", operands, 2);
    archive.element("element", element);
  }
  /// True for the functions that take any number of operands.
  constexpr bool variadic() const {
    return function >= binary_function::min && function <= binary_function::mean;
  }
  constexpr void validate() const {
    if (operands < 1 || operands > dim_limit)
      throw error("an elementwise layer takes 1 to 2^40 operands");
    if (operands != 2 && !variadic()) throw error("this elementwise layer takes two operands");
    check_dims(a);
    check_dims(b);
    (void)cost();
  }
  constexpr shape output() const { return operands < 2 ? a : broadcast(a, b); }
  constexpr result_list results() const { return {{output(), truth() ? dtype::boolean : element}}; }
  constexpr work cost() const {
    const std::int64_t in = elements(a) + checked_multiply(operands - 1, elements(b));
    const std::int64_t out = elements(output());
    work w = moved(element, in, comparison() ? 0 : out);
    if (comparison()) w.fixed_bytes += out;
    w.other = checked_multiply(out, operands < 2 ? 1 : operands - 1);
    return w;
  }
  /// A scalar operand is written as one dim of one, the operand that is not there as the first one.
  constexpr binary canonical_form() const {
    binary p = *this;
    if (p.a.empty()) p.a = {1};
    if (p.b.empty()) p.b = {1};
    if (p.operands < 2) p.b = p.a;
    return p;
  }
  constexpr bool operator==(const binary&) const = default;
};

} // namespace benanza::op
