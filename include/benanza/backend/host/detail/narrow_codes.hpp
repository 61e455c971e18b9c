// SPDX-License-Identifier: Apache-2.0
// How do f32 and elements of 8 bits and less become each other in bulk? Floats are encoded by
// adding whole numbers to their bits, or, where the result has no exponent, a float whose last
// place is its step; codes are decoded by tables; elements that share bytes are taken out, and put
// together, byte by byte. Reals saturate, as ONNX has it unless a node says otherwise.
//
//   float_code<e4m3_format>(1e6f) == 0x7e;   pack<4>(codes, bytes, 5)   // 3 bytes
#pragma once

#include "../../number.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace benanza::backend::host::detail {

/// 2^e as a constant.
constexpr float power_of_two(int e) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
}

/// The code of a narrow float that is nearest to `v`, ties to even.
template <narrow_float Format>
[[gnu::always_inline]] inline std::uint8_t float_code(float v) {
  constexpr int bias = Format.bias(), shift = 23 - Format.mantissa;
  constexpr auto beyond_all = std::int32_t{0x7f800000};
  constexpr std::int32_t first_normal = (128 - bias) << 23;
  constexpr std::uint32_t half = (1u << (shift - 1)) - 1;
  constexpr auto last = static_cast<std::int32_t>(Format.last());
  constexpr float step_added = power_of_two(24 - bias - Format.mantissa);
  const auto bits = std::bit_cast<std::int32_t>(v);
  const std::int32_t size = bits & 0x7fffffff;
  const auto whole = static_cast<std::uint32_t>(size); // of a NaN they go beyond a signed number
  const auto nearest = static_cast<std::int32_t>((whole + half + (whole >> shift & 1)) >> shift);
  const std::int32_t normal = nearest - ((127 - bias) << Format.mantissa);
  const std::int32_t small = std::bit_cast<std::int32_t>(std::bit_cast<float>(size) + step_added) -
                             std::bit_cast<std::int32_t>(step_added);
  const std::int32_t rounded = size < first_normal ? small : normal;
  std::int32_t code = rounded < last ? rounded : last;
  constexpr auto sign = static_cast<std::int32_t>(Format.sign());
  const std::int32_t minus = bits < 0 ? sign : 0;
  if constexpr (Format.has(beside_numbers::signed_zero)) {
    code = code == 0 ? 0 : code | minus;
    code = size > beyond_all ? sign : code;
  } else if constexpr (Format.has(beside_numbers::nothing)) {
    code = size > beyond_all ? sign : code | minus;
  } else {
    code = (size > beyond_all ? sign - 1 : code) | minus;
  }
  return static_cast<std::uint8_t>(code);
}

/// The first power of two that is no smaller than the size of `v`, as an e8m0.
[[gnu::always_inline]] inline std::uint8_t power_code(float v) {
  const std::int32_t size = std::bit_cast<std::int32_t>(v) & 0x7fffffff;
  const std::int32_t exponent = size >> 23;
  const std::int32_t up = exponent == 0 ? std::int32_t{size > 0x400000}
                                        : exponent + std::int32_t{(size & 0x7fffff) != 0};
  const std::int32_t code = up < 254 ? up : 254;
  return static_cast<std::uint8_t>(size > 0x7f800000 ? 255 : code);
}

/// `v` in single precision, such that rounding once more gives what rounding `v` would: not a tie
/// unless `v` is one (the last bit is set where anything was cut off).
[[gnu::always_inline]] inline float rounded_to_odd(double v) {
  const auto near = static_cast<float>(v);
  const auto bits = std::bit_cast<std::uint32_t>(near);
  const double back = static_cast<double>(near);
  const std::uint32_t cut = std::fabs(back) > std::fabs(v) ? bits - 1 : bits;
  return std::bit_cast<float>(back == v ? bits : cut | 1u);
}

/// What the codes of a type are.
template <dtype Type>
struct code_facts;
template <narrow_float Format, int Bits>
struct float_code_facts {
  static constexpr int bits = Bits;
  [[gnu::always_inline]] static std::uint8_t code(float v) { return float_code<Format>(v); }
  static constexpr float number(int c) {
    constexpr int ones = static_cast<int>(Format.all_ones());
    const int size = c & ones, exponent = size >> Format.mantissa;
    const int rest = size & ((1 << Format.mantissa) - 1), bias = Format.bias();
    constexpr float none = std::numeric_limits<float>::quiet_NaN();
    if (Format.has(beside_numbers::signed_zero) && size == 0 && c != 0) return none;
    if (Format.has(beside_numbers::last_code) && size == ones) return none;
    const auto v = exponent == 0
                       ? static_cast<float>(rest) * power_of_two(1 - bias - Format.mantissa)
                       : static_cast<float>(rest + (1 << Format.mantissa)) *
                             power_of_two(exponent - bias - Format.mantissa);
    const float far = rest == 0 ? std::numeric_limits<float>::infinity() : none;
    const bool beyond =
        Format.has(beside_numbers::infinities) && size > static_cast<int>(Format.last());
    const float positive = beyond ? far : v;
    return c > ones ? -positive : positive;
  }
};
template <int Bits, bool Signed>
struct whole_code_facts {
  static constexpr int bits = Bits;
  static constexpr float number(int c) {
    return static_cast<float>(Signed && c >= 1 << (Bits - 1) ? c - (1 << Bits) : c);
  }
};
// clang-format off
template <> struct code_facts<dtype::e4m3> : float_code_facts<e4m3_format, 8> {};
template <> struct code_facts<dtype::e5m2> : float_code_facts<e5m2_format, 8> {};
template <> struct code_facts<dtype::e4m3z> : float_code_facts<e4m3z_format, 8> {};
template <> struct code_facts<dtype::e5m2z> : float_code_facts<e5m2z_format, 8> {};
template <> struct code_facts<dtype::e2m1> : float_code_facts<e2m1_format, 4> {};
template <> struct code_facts<dtype::s2> : whole_code_facts<2, true> {};
template <> struct code_facts<dtype::u2> : whole_code_facts<2, false> {};
template <> struct code_facts<dtype::s4> : whole_code_facts<4, true> {};
template <> struct code_facts<dtype::u4> : whole_code_facts<4, false> {};
// clang-format on
template <>
struct code_facts<dtype::e8m0> {
  static constexpr int bits = 8;
  [[gnu::always_inline]] static std::uint8_t code(float v) { return power_code(v); }
  static constexpr float number(int c) {
    return c == 255 ? std::numeric_limits<float>::quiet_NaN()
           : c == 0 ? std::bit_cast<float>(0x400000)
                    : power_of_two(c - 127);
  }
};

/// Numbers that share a byte.
template <dtype Type>
inline constexpr int in_a_byte = 8 / code_facts<Type>::bits;

template <class T, dtype Type>
constexpr auto byte_table() {
  using facts = code_facts<Type>;
  std::array<std::array<T, in_a_byte<Type>>, 256> table{};
  for (int byte = 0; byte < 256; ++byte)
    for (int k = 0; k < in_a_byte<Type>; ++k)
      table[static_cast<std::size_t>(byte)][static_cast<std::size_t>(k)] =
          static_cast<T>(facts::number(byte >> (k * facts::bits) & ((1 << facts::bits) - 1)));
  return table;
}

/// For each byte the numbers that it holds.
template <class T, dtype Type>
inline constexpr auto numbers_in = byte_table<T, Type>();

/// Elements of `Type` as numbers.
template <class T, dtype Type>
void unpack(const std::byte* from, std::byte* to, std::int64_t n) {
  constexpr std::int64_t each = in_a_byte<Type>;
  const auto* x = reinterpret_cast<const std::uint8_t*>(from);
  T* y = reinterpret_cast<T*>(to);
  const std::int64_t whole = n / each;
  for (std::int64_t i = 0; i < whole; ++i) {
    const auto& held = numbers_in<T, Type>[x[i]];
    std::memcpy(y + i * each, held.data(), sizeof held);
  }
  for (std::int64_t i = whole * each; i < n; ++i)
    y[i] = numbers_in<T, Type>[x[whole]][static_cast<std::size_t>(i - whole * each)];
}

/// The last `Bits` bits of bytes, put together.
template <int Bits>
void pack(const std::byte* from, std::byte* to, std::int64_t n) {
  constexpr std::int64_t each = 8 / Bits;
  constexpr unsigned mask = (1u << Bits) - 1u;
  const auto* x = reinterpret_cast<const std::uint8_t*>(from);
  auto* y = reinterpret_cast<std::uint8_t*>(to);
  const std::int64_t whole = n / each;
#pragma omp simd
  for (std::int64_t i = 0; i < whole; ++i) {
    unsigned byte = x[i * each] & mask;
    for (std::int64_t k = 1; k < each; ++k)
      byte |= (x[i * each + k] & mask) << (k * Bits);
    y[i] = static_cast<std::uint8_t>(byte);
  }
  unsigned rest = 0;
  for (std::int64_t i = whole * each; i < n; ++i)
    rest |= (x[i] & mask) << ((i - whole * each) * Bits);
  if (whole * each < n) y[whole] = static_cast<std::uint8_t>(rest);
}

/// Codes of floats, a byte each.
template <dtype Type>
void encode(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const float*>(from);
  auto* y = reinterpret_cast<std::uint8_t*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = code_facts<Type>::code(x[i]);
}

/// Calls `f` with a constant that is the type, one of less than a byte or a float of 8 bits; gives
/// nothing for others.
template <class F>
auto with_codes(dtype t, F&& f) -> decltype(f(std::integral_constant<dtype, dtype::e2m1>{})) {
  switch (t) {
  case dtype::e4m3: return f(std::integral_constant<dtype, dtype::e4m3>{});
  case dtype::e5m2: return f(std::integral_constant<dtype, dtype::e5m2>{});
  case dtype::e4m3z: return f(std::integral_constant<dtype, dtype::e4m3z>{});
  case dtype::e5m2z: return f(std::integral_constant<dtype, dtype::e5m2z>{});
  case dtype::e8m0: return f(std::integral_constant<dtype, dtype::e8m0>{});
  case dtype::e2m1: return f(std::integral_constant<dtype, dtype::e2m1>{});
  case dtype::s2: return f(std::integral_constant<dtype, dtype::s2>{});
  case dtype::u2: return f(std::integral_constant<dtype, dtype::u2>{});
  case dtype::s4: return f(std::integral_constant<dtype, dtype::s4>{});
  case dtype::u4: return f(std::integral_constant<dtype, dtype::u4>{});
  default: return {};
  }
}

} // namespace benanza::backend::host::detail
