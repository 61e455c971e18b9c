// SPDX-License-Identifier: Apache-2.0
// How does arithmetic in f32 meet other storage? In blocks that stay in the first-level cache:
// bf16, u8 and s8 are widened to floats, computed, and narrowed again, which the compiler
// vectorises. Codes are rounded to even and saturated; `scale` is the output scale of a quantised
// result.
//
//   widen_as(dtype::bf16)(from, floats, 1024);   narrow_as(dtype::u8)(floats, to, 1024, 0.5f);
#pragma once

#include "../../number.hpp"

#include <algorithm>
#include <bit>

namespace benanza::backend::host::detail {

/// Elements of a block: four of them in f32 are half of a 32 KiB cache.
inline constexpr std::int64_t block = 1024;

template <class T>
void widen(const std::byte* from, float* to, std::int64_t n) {
  const T* source = reinterpret_cast<const T*>(from);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    if constexpr (std::is_same_v<T, std::uint16_t>)
      to[i] = from_bf16(source[i]);
    else
      to[i] = static_cast<float>(source[i]);
}

/// `v` kept within +-`bound`, by bits: comparisons of floats turn into masks. A NaN becomes a
/// bound.
inline float within(float v, float bound) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t size = std::min(bits & 0x7fffffffu, std::bit_cast<std::uint32_t>(bound));
  return std::bit_cast<float>((bits & 0x80000000u) | size);
}

/// bf16 of a computed value. A NaN needs no care here: its last bits come from bf16 and are zero.
inline std::uint16_t computed_bf16(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  return static_cast<std::uint16_t>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

template <class T>
void narrow(const float* from, std::byte* to, std::int64_t n, float scale) {
  T* target = reinterpret_cast<T*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i) {
    const float v = from[i] * scale;
    if constexpr (std::is_same_v<T, float>) {
      target[i] = v;
    } else if constexpr (std::is_same_v<T, std::uint16_t>) {
      target[i] = computed_bf16(v);
    } else {
      // Clamped as whole numbers, where it takes one operation: v + 1.5 x 2^23 has the rounded
      // value in its last bits, as long as v is not larger than 2^22.
      constexpr float shift = 12582912.f;
      constexpr std::int32_t low = std::numeric_limits<T>::min();
      constexpr std::int32_t high = std::numeric_limits<T>::max();
      const float shifted = within(v, 4194303.f) + shift;
      const std::int32_t whole =
          std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(shift);
      target[i] = static_cast<T>(std::min(std::max(whole, low), high));
    }
  }
}

using widener = void (*)(const std::byte*, float*, std::int64_t);
using narrower = void (*)(const float*, std::byte*, std::int64_t, float);

/// True for storage that computes in f32.
inline bool computes_in_f32(dtype t) {
  return t == dtype::f32 || t == dtype::bf16 || t == dtype::u8 || t == dtype::s8;
}

/// True for bytes that are whole numbers by themselves: unlike codes of a quantised type, which
/// saturate, their arithmetic wraps around.
inline bool wraps(dtype layer_element) {
  return layer_element == dtype::u8 || layer_element == dtype::s8;
}

/// The function that widens a block of that storage.
inline widener widen_as(dtype t) {
  switch (t) {
  case dtype::bf16: return widen<std::uint16_t>;
  case dtype::u8: return widen<std::uint8_t>;
  case dtype::s8: return widen<std::int8_t>;
  default: return widen<float>;
  }
}

/// The function that narrows a block to that storage.
inline narrower narrow_as(dtype t) {
  switch (t) {
  case dtype::bf16: return narrow<std::uint16_t>;
  case dtype::boolean:
  case dtype::u8: return narrow<std::uint8_t>;
  case dtype::s8: return narrow<std::int8_t>;
  default: return narrow<float>;
  }
}

} // namespace benanza::backend::host::detail
