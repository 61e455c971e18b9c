// SPDX-License-Identifier: Apache-2.0
// Functions of whole numbers, exact in 64 bits and then as the element type holds them: sums and
// products wrap around, quotients are cut off towards zero, division by zero gives zero.
//
//   whole_value(op::binary_function::add, 200, 100, dtype::u8) == 44
#pragma once

#include "../operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace benanza::backend::reference {

/// True for element types that hold whole numbers by themselves, not as codes of quantised values.
inline bool whole(dtype t) {
  return t >= dtype::s2 && t <= dtype::boolean;
}
inline bool has_sign(dtype t) {
  return t == dtype::s2 || t == dtype::s4 || t == dtype::s8 || t == dtype::s16 || t == dtype::s32 ||
         t == dtype::s64;
}

/// A whole number from one as elements are loaded; those of u64 keep their bits.
inline std::int64_t whole_from(double v) {
  return v >= 0x1p63 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(v))
                     : static_cast<std::int64_t>(v);
}

/// The number that the last bits of `v` are in a type.
inline double wrapped(std::int64_t v, dtype t) {
  const int bits = static_cast<int>(size_bits(t));
  if (t == dtype::boolean) return v != 0;
  if (t == dtype::u64) return static_cast<double>(static_cast<std::uint64_t>(v));
  if (bits == 64) return static_cast<double>(v);
  const std::int64_t range = std::int64_t{1} << bits, low = v & (range - 1);
  return static_cast<double>(has_sign(t) && low >= range / 2 ? low - range : low);
}

namespace detail {
inline std::int64_t whole_quotient(std::int64_t a, std::int64_t b, bool is_signed) {
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  if (b == 0) return 0;
  if (!is_signed) return static_cast<std::int64_t>(ua / ub);
  return b == -1 ? static_cast<std::int64_t>(0 - ua) : a / b;
}
inline std::int64_t whole_power(std::int64_t a, std::int64_t b) {
  if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 == 0 ? 1 : -1) : 0;
  std::uint64_t result = 1, square = static_cast<std::uint64_t>(a);
  for (; b > 0; b /= 2, square *= square)
    if (b % 2 != 0) result *= square;
  return static_cast<std::int64_t>(result);
}
inline bool whole_less(std::int64_t a, std::int64_t b, bool is_signed) {
  return is_signed ? a < b : static_cast<std::uint64_t>(a) < static_cast<std::uint64_t>(b);
}
} // namespace detail

/// A function of two whole numbers of a type.
inline double whole_value(op::binary_function f, double x, double y, dtype t) {
  using enum op::binary_function;
  const std::int64_t a = whole_from(x), b = whole_from(y);
  const auto ua = static_cast<std::uint64_t>(a), ub = static_cast<std::uint64_t>(b);
  const bool is_signed = has_sign(t);
  const auto bits = [&](std::uint64_t v) { return wrapped(static_cast<std::int64_t>(v), t); };
  const std::uint64_t width = 8 * static_cast<std::uint64_t>(size_bytes(t));
  switch (f) {
  case add:
  case sum:
  case mean: return bits(ua + ub);
  case sub: return bits(ua - ub);
  case mul: return bits(ua * ub);
  case div: return wrapped(detail::whole_quotient(a, b, is_signed), t);
  case fmod:
  case mod: {
    if (b == 0) return 0;
    std::int64_t r = static_cast<std::int64_t>(
        ua - static_cast<std::uint64_t>(detail::whole_quotient(a, b, is_signed)) * ub);
    if (f == mod && is_signed && r != 0 && (r < 0) != (b < 0)) r += b;
    return wrapped(r, t);
  }
  case pow: return wrapped(detail::whole_power(a, b), t);
  case min: return wrapped(detail::whole_less(a, b, is_signed) ? a : b, t);
  case max: return wrapped(detail::whole_less(a, b, is_signed) ? b : a, t);
  case prelu: return is_signed && a < 0 ? bits(ua * ub) : wrapped(a, t);
  case equal: return a == b;
  case greater: return detail::whole_less(b, a, is_signed);
  case greater_or_equal: return !detail::whole_less(a, b, is_signed);
  case less: return detail::whole_less(a, b, is_signed);
  case less_or_equal: return !detail::whole_less(b, a, is_signed);
  case logical_and: return a != 0 && b != 0;
  case logical_or: return a != 0 || b != 0;
  case logical_xor: return (a != 0) != (b != 0);
  case bitwise_and: return bits(ua & ub);
  case bitwise_or: return bits(ua | ub);
  case bitwise_xor: return bits(ua ^ ub);
  case shift_left: return ub < width ? bits(ua << ub) : 0;
  case shift_right:
    if (ub >= width) return is_signed && a < 0 ? -1 : 0;
    return is_signed ? wrapped(a >> ub, t) : bits(ua >> ub);
  }
  return x;
}

/// The functions of one whole number; others are those of reals, cut off.
inline double whole_value(op::unary_function f, double x, dtype t, const attribute_values& given) {
  using enum op::unary_function;
  const std::int64_t v = whole_from(x);
  const bool negative = has_sign(t) && v < 0;
  const auto opposite = static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(v));
  switch (f) {
  case relu: return negative ? 0 : x;
  case abs: return negative ? wrapped(opposite, t) : x;
  case neg: return wrapped(opposite, t);
  case sign: return negative ? -1 : v != 0;
  case bitwise_not: return wrapped(~v, t);
  case logical_not: return v == 0;
  case clip: // the lower bound is the upper one where it passes it
    return std::min(std::max(x, given.clip_whole_low), given.clip_whole_high);
  default: return x;
  }
}

} // namespace benanza::backend::reference
