// SPDX-License-Identifier: Apache-2.0
// What is one element of a tensor? `dtype` is its storage, `numeric` the class a case runs in: the
// storage of sources, weights and results together, one token of a closed list (`f32`, `u8s8u8`).
// Layers hold `dtype::real` for every floating operand: the case's numeric class says what it is.
// Elements of less than a byte are packed, the first one in the lowest bits.
//
//   size_bytes(dtype::bf16) == 2;   source_of(numeric::u8s8u8) == dtype::u8
//   bytes_of(dtype::s4, 5) == 3
#pragma once

#include "language.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace benanza {

// clang-format off
/// Storage of one element; `real` means "the floating (or quantised) type of the case". Floats come
/// before whole numbers. e4m3z and e5m2z have neither infinities nor a zero with a sign (ONNX's
/// "fnuz"), e8m0 is a power of two.
enum class dtype : std::uint8_t {
  real, f64, f32, f16, bf16, e4m3, e5m2, e4m3z, e5m2z, e8m0, e2m1,
  s2, u2, s4, u4, s8, u8, s16, u16, s32, u32, s64, u64, boolean,
};

/// The numeric class a case runs in.
enum class numeric : std::uint8_t { f32, tf32, f16, bf16, u8s8u8, s8s8s8, e4m3 };
// clang-format on

namespace detail {
// clang-format off
inline constexpr std::array<std::pair<dtype, std::string_view>, 24> dtype_names{{
    {dtype::real, "real"}, {dtype::f64, "f64"},   {dtype::f32, "f32"},   {dtype::f16, "f16"},
    {dtype::bf16, "bf16"}, {dtype::e4m3, "e4m3"}, {dtype::e5m2, "e5m2"}, {dtype::e4m3z, "e4m3z"},
    {dtype::e5m2z, "e5m2z"}, {dtype::e8m0, "e8m0"}, {dtype::e2m1, "e2m1"}, {dtype::s2, "s2"},
    {dtype::u2, "u2"},     {dtype::s4, "s4"},     {dtype::u4, "u4"},     {dtype::s8, "s8"},
    {dtype::u8, "u8"},     {dtype::s16, "s16"},   {dtype::u16, "u16"},   {dtype::s32, "s32"},
    {dtype::u32, "u32"},   {dtype::s64, "s64"},   {dtype::u64, "u64"},   {dtype::boolean, "bool"},
}};

inline constexpr std::array<std::pair<numeric, std::string_view>, 7> numeric_names{{
    {numeric::f32, "f32"}, {numeric::tf32, "tf32"}, {numeric::f16, "f16"},
    {numeric::bf16, "bf16"}, {numeric::u8s8u8, "u8s8u8"}, {numeric::s8s8s8, "s8s8s8"},
    {numeric::e4m3, "e4m3"},
}};
// clang-format on

template <class Table, class Value>
constexpr std::string_view name_in(const Table& table, Value value) {
  for (const auto& [v, n] : table)
    if (v == value) return n;
  return "?";
}

template <class Value, class Table>
constexpr std::optional<Value> value_in(const Table& table, std::string_view name) {
  for (const auto& [v, n] : table)
    if (n == name) return v;
  return std::nullopt;
}
} // namespace detail

/// The token of an element type, as keys and results write it.
constexpr std::string_view name(dtype t) {
  return detail::name_in(detail::dtype_names, t);
}

/// The token of a numeric class, as case names and results write it.
constexpr std::string_view name(numeric t) {
  return detail::name_in(detail::numeric_names, t);
}

/// The element type of a token, if it is one.
constexpr std::optional<dtype> parse_dtype(std::string_view text) {
  return detail::value_in<dtype>(detail::dtype_names, text);
}

/// The numeric class of a token, if it is one.
constexpr std::optional<numeric> parse_numeric(std::string_view text) {
  return detail::value_in<numeric>(detail::numeric_names, text);
}

/// Storage of the activations that a case of class `t` reads.
constexpr dtype source_of(numeric t) {
  switch (t) {
  case numeric::f32:
  case numeric::tf32: return dtype::f32;
  case numeric::f16: return dtype::f16;
  case numeric::bf16: return dtype::bf16;
  case numeric::u8s8u8: return dtype::u8;
  case numeric::s8s8s8: return dtype::s8;
  case numeric::e4m3: return dtype::e4m3;
  }
  return dtype::f32;
}

/// Storage of the weights that a case of class `t` reads.
constexpr dtype weights_of(numeric t) {
  return t == numeric::u8s8u8 ? dtype::s8 : source_of(t);
}

/// Storage of the activations that a case of class `t` writes.
constexpr dtype result_of(numeric t) {
  return source_of(t);
}

/// Bits of one element in memory; `real` is resolved with the sources of `t`.
constexpr std::int64_t size_bits(dtype d, numeric t = numeric::f32) {
  switch (d) {
  case dtype::real: return size_bits(source_of(t));
  case dtype::f64:
  case dtype::s64:
  case dtype::u64: return 64;
  case dtype::f32:
  case dtype::s32:
  case dtype::u32: return 32;
  case dtype::f16:
  case dtype::bf16:
  case dtype::s16:
  case dtype::u16: return 16;
  case dtype::e2m1:
  case dtype::s4:
  case dtype::u4: return 4;
  case dtype::s2:
  case dtype::u2: return 2;
  default: return 8;
  }
}

/// True where several elements share a byte.
constexpr bool packed_in_bytes(dtype d) {
  return size_bits(d) < 8;
}

/// Bytes of one element in memory, which of a packed type is a byte by itself.
constexpr std::int64_t size_bytes(dtype d, numeric t = numeric::f32) {
  return (size_bits(d, t) + 7) / 8;
}

/// Bytes of `count` elements in memory; the last byte of packed ones may hold fewer.
constexpr std::int64_t bytes_of(dtype d, std::int64_t count, numeric t = numeric::f32) {
  return packed_in_bytes(d) ? (count * size_bits(d) + 7) / 8 : count * size_bytes(d, t);
}

/// True for floating types, of any width.
constexpr bool holds_reals(dtype d) {
  return d <= dtype::e2m1;
}

/// True for the classes that compute with integers.
constexpr bool quantised(numeric t) {
  return t == numeric::u8s8u8 || t == numeric::s8s8s8;
}

/// How the id of an algorithm begins that computes a narrower type by kernels of f32.
inline constexpr std::string_view by_f32 = "f32:";

/// Bits of the significand in which a class multiplies, with the first one; 0 for integers.
constexpr int significant_bits(numeric t) {
  switch (t) {
  case numeric::f32: return 24;
  case numeric::tf32:
  case numeric::f16: return 11;
  case numeric::bf16: return 8;
  case numeric::e4m3: return 4;
  default: return 0;
  }
}

} // namespace benanza
