// SPDX-License-Identifier: Apache-2.0
// What is one element of a computed constant? Whole numbers are exact: what passes 64 bits, or is
// divided by zero, is not known. Reals are rounded as their type is.
//
//   computed(call, {scalar{7}, scalar{2}}, proto::INT64)   // Div: 3
#pragma once

#include "handle_eltwise.hpp"

#include <cmath>
#include <optional>
#include <vector>

namespace benanza::onnx::detail {

/// A whole number (or truth value), or a real.
struct scalar {
  bool real = false;
  std::int64_t integer = 0;
  double number = 0;

  static scalar of(std::int64_t v) { return {.integer = v}; }
  static scalar of(double v) { return {.real = true, .number = v}; }
  double as_real() const { return real ? number : static_cast<double>(integer); }
};

using maybe_scalar = std::optional<scalar>;

/// How many of a node's operands are read: of the second one of a CastLike only the type is.
inline std::size_t values_read(std::string_view op, std::size_t operands) {
  return op == "CastLike" ? std::min<std::size_t>(operands, 1) : operands;
}

inline scalar element_at(const elements_of& e, std::size_t i) {
  return e.real ? scalar::of(e.reals[i]) : scalar::of(e.integers[i]);
}

/// The nearest number that a type of 16, 32 or 64 bits has; of two the even one.
inline double nearest(double v, int element) {
  if (element == proto::DOUBLE) return v;
  if (element == proto::FLOAT16 || element == proto::BFLOAT16) {
    const bool half = element == proto::FLOAT16;
    int exponent = 0;
    if (v == 0 || !std::isfinite(v)) return v;
    std::frexp(v, &exponent);
    const int last = std::max(exponent, half ? -13 : -125) - (half ? 11 : 8);
    v = std::ldexp(std::nearbyint(std::ldexp(v, -last)), last);
    return half && std::abs(v) > 65504 ? std::copysign(HUGE_VAL, v) : v;
  }
  return static_cast<double>(static_cast<float>(v));
}

/// Adds `v` to elements of the type `element`; false where that type cannot hold it.
inline bool append(elements_of& to, const scalar& v, int element) {
  if (to.real) {
    to.reals.push_back(nearest(v.as_real(), element));
    const element_type* its = find_element_type(element);
    return its == nullptr || its->bits > 8; // narrower ones would round
  }
  if (v.real) return false;
  const element_type* t = find_element_type(element);
  if (t != nullptr && t->bits > 0 && t->bits < 64) {
    const bool is_signed = t->name.starts_with("int");
    const std::int64_t half = std::int64_t{1} << (t->bits - 1);
    if (v.integer < (is_signed ? -half : 0) || v.integer >= (is_signed ? half : 2 * half))
      return false;
  }
  to.integers.push_back(v.integer);
  return true;
}

/// Quotient and remainder round towards zero (ONNX Div-7, Mod-10 with fmod = 1).
inline maybe_scalar whole_result(op::binary_function f, std::int64_t a, std::int64_t b) {
  using enum op::binary_function;
  std::int64_t r = 0;
  switch (f) {
  case add:
  case sum:
    if (__builtin_add_overflow(a, b, &r)) return std::nullopt;
    return scalar::of(r);
  case sub:
    if (__builtin_sub_overflow(a, b, &r)) return std::nullopt;
    return scalar::of(r);
  case mul:
    if (__builtin_mul_overflow(a, b, &r)) return std::nullopt;
    return scalar::of(r);
  case div:
    if (b == 0 || (b == -1 && a == std::numeric_limits<std::int64_t>::min())) return std::nullopt;
    return scalar::of(a / b);
  case pow:
    if (b < 0 || b > 63) return std::nullopt;
    r = 1;
    for (std::int64_t i = 0; i < b; ++i)
      if (__builtin_mul_overflow(r, a, &r)) return std::nullopt;
    return scalar::of(r);
  case min: return scalar::of(std::min(a, b));
  case max: return scalar::of(std::max(a, b));
  case equal: return scalar::of(std::int64_t{a == b});
  case greater: return scalar::of(std::int64_t{a > b});
  case greater_or_equal: return scalar::of(std::int64_t{a >= b});
  case less: return scalar::of(std::int64_t{a < b});
  case less_or_equal: return scalar::of(std::int64_t{a <= b});
  case logical_and: return scalar::of(std::int64_t{a != 0 && b != 0});
  case logical_or: return scalar::of(std::int64_t{a != 0 || b != 0});
  case logical_xor: return scalar::of(std::int64_t{(a != 0) != (b != 0)});
  case bitwise_and: return scalar::of(a & b);
  case bitwise_or: return scalar::of(a | b);
  case bitwise_xor: return scalar::of(a ^ b);
  case shift_left: // what passes 64 bits is not known
    if (b < 0 || b > 62 || a < 0 || (a << b) >> b != a) return std::nullopt;
    return scalar::of(a << b);
  case shift_right:
    if (b < 0 || b > 63) return std::nullopt;
    return scalar::of(a >> b);
  default: return std::nullopt;
  }
}

inline maybe_scalar real_result(op::binary_function f, double a, double b) {
  using enum op::binary_function;
  switch (f) {
  case add:
  case sum: return scalar::of(a + b);
  case sub: return scalar::of(a - b);
  case mul: return scalar::of(a * b);
  case div: return scalar::of(a / b);
  case pow: return scalar::of(std::pow(a, b));
  case min: return scalar::of(std::min(a, b));
  case max: return scalar::of(std::max(a, b));
  case equal: return scalar::of(std::int64_t{a == b});
  case greater: return scalar::of(std::int64_t{a > b});
  case greater_or_equal: return scalar::of(std::int64_t{a >= b});
  case less: return scalar::of(std::int64_t{a < b});
  case less_or_equal: return scalar::of(std::int64_t{a <= b});
  default: return std::nullopt;
  }
}

inline maybe_scalar result_of_two(op::binary_function f, const scalar& a, const scalar& b) {
  return a.real || b.real ? real_result(f, a.as_real(), b.as_real())
                          : whole_result(f, a.integer, b.integer);
}

inline maybe_scalar result_of_one(op::unary_function f, const scalar& x) {
  using enum op::unary_function;
  if (!x.real) {
    if (f == logical_not) return scalar::of(std::int64_t{x.integer == 0});
    if (f == sign) return scalar::of(std::int64_t{x.integer > 0} - std::int64_t{x.integer < 0});
    const bool negates = f == neg || (f == abs && x.integer < 0);
    if (negates) return whole_result(op::binary_function::sub, 0, x.integer);
    if (f == abs || f == floor || f == ceil || f == round) return x;
    if (f == relu) return scalar::of(std::max<std::int64_t>(x.integer, 0));
    if (f == bitwise_not) return scalar::of(~x.integer);
    return std::nullopt;
  }
  switch (f) {
  case neg: return scalar::of(-x.number);
  case abs: return scalar::of(std::abs(x.number));
  case floor: return scalar::of(std::floor(x.number));
  case ceil: return scalar::of(std::ceil(x.number));
  case round: return scalar::of(std::nearbyint(x.number)); // halves to even, as ONNX says
  case sqrt: return scalar::of(std::sqrt(x.number));
  case exp: return scalar::of(std::exp(x.number));
  case sin: return scalar::of(std::sin(x.number));
  case cos: return scalar::of(std::cos(x.number));
  case log: return scalar::of(std::log(x.number));
  case reciprocal: return scalar::of(1 / x.number);
  case sign: return scalar::of(static_cast<double>((x.number > 0) - (x.number < 0)));
  case relu: return scalar::of(std::max(x.number, 0.0));
  case is_nan: return scalar::of(std::int64_t{std::isnan(x.number)});
  default: return std::nullopt;
  }
}

/// A Cast: reals are cut off towards zero; what does not fit is not known.
inline maybe_scalar cast(const scalar& x, int element) {
  if (is_floating(element)) return scalar::of(x.as_real());
  if (element == proto::BOOL) return scalar::of(std::int64_t{x.as_real() != 0});
  if (!x.real) return x;
  if (!(std::abs(x.number) < 9.2e18)) return std::nullopt;
  return scalar::of(static_cast<std::int64_t>(x.number));
}

inline maybe_scalar modulo(const call& c, const scalar& a, const scalar& b) {
  if (a.real || b.real) {
    const double divisor = b.as_real(), r = std::fmod(a.as_real(), divisor);
    if (c.integer("fmod", 0) != 0 || r == 0) return scalar::of(r);
    return scalar::of((r < 0) != (divisor < 0) ? r + divisor : r);
  }
  if (b.integer == 0) return std::nullopt;
  if (b.integer == -1) return scalar::of(std::int64_t{0});
  std::int64_t r = a.integer % b.integer;
  const bool sign_of_divisor = c.integer("fmod", 0) == 0;
  if (sign_of_divisor && r != 0 && (r < 0) != (b.integer < 0)) r += b.integer;
  return scalar::of(r);
}

/// One element of an elementwise node's output; nothing where it is not known.
inline maybe_scalar computed(const call& c, const std::vector<maybe_scalar>& x, int element) {
  const std::string& op = c.op();
  if (x.empty() || !x[0]) return std::nullopt;
  if (op == "Cast" || op == "CastLike") return cast(*x[0], element);
  if (op == "Where") return x[0]->integer != 0 ? x.at(1) : x.at(2);
  if (op == "Mod") return modulo(c, *x[0], *x.at(1));
  if (op == "BitShift") return result_of_two(shift_of(c), *x[0], *x.at(1));
  if (op == "Clip") {
    maybe_scalar v = x[0];
    const bool inputs = c.opset() >= 11;
    if (!inputs && (c.has_attribute("min") || c.has_attribute("max"))) return std::nullopt;
    if (x.size() > 1 && x[1]) v = result_of_two(op::binary_function::max, *v, *x[1]);
    if (v && x.size() > 2 && x[2]) v = result_of_two(op::binary_function::min, *v, *x[2]);
    return v;
  }
  if (const auto u = op::unary::of(op)) return result_of_one(u->function, *x[0]);
  const auto b = op::binary::of(op);
  if (!b || b->function == op::binary_function::prelu ||
      (b->function == op::binary_function::mean && x.size() > 1))
    return std::nullopt;
  maybe_scalar v = x[0];
  for (std::size_t i = 1; i < x.size() && v; ++i) {
    if (!x[i]) return std::nullopt;
    v = result_of_two(b->function, *v, *x[i]);
  }
  return v;
}

/// One element of a reduction: of those that `group` names.
inline maybe_scalar reduced(op::reduction f, const elements_of& x,
                            const std::vector<std::size_t>& group) {
  using enum op::binary_function;
  if (group.empty()) return std::nullopt;
  const op::binary_function step = f == op::reduction::max       ? max
                                   : f == op::reduction::min     ? min
                                   : f == op::reduction::product ? mul
                                                                 : add;
  if (f > op::reduction::product) return std::nullopt;
  maybe_scalar v = element_at(x, group[0]);
  for (std::size_t i = 1; i < group.size() && v; ++i)
    v = result_of_two(step, *v, element_at(x, group[i]));
  if (!v || f != op::reduction::mean) return v;
  const auto n = static_cast<std::int64_t>(group.size());
  return v->real ? real_result(div, v->number, static_cast<double>(n))
                 : whole_result(div, v->integer, n);
}

} // namespace benanza::onnx::detail
