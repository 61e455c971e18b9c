// SPDX-License-Identifier: Apache-2.0
// How do floats of 16 bits and f32 become each other? f16 eight at a time where the processor has
// it (F16C, or any ARM of 64 bits), else by the format's definition. Stored numbers of 16 bits have
// types of their own: u16 holds whole ones.
//
//   from_half(bytes, floats, 1024);   number_of(half_bits{0x3c00}) == 1.f
#pragma once

#include "../../number.hpp"

#include <cstddef>
#include <cstdint>
#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace benanza::backend::host::detail {

/// A loop over `n` elements.
using caster = void (*)(const std::byte*, std::byte*, std::int64_t);

struct bf16_bits {
  std::uint16_t bits;
};
struct half_bits {
  std::uint16_t bits;
};

template <class T>
[[gnu::always_inline]] inline float number_of(T v) {
  if constexpr (std::is_same_v<T, bf16_bits>)
    return from_bf16(v.bits);
  else if constexpr (!std::is_same_v<T, half_bits>)
    return static_cast<float>(v);
  else
#if defined(__F16C__)
    return _cvtsh_ss(v.bits);
#elif defined(__aarch64__)
    return static_cast<float>(std::bit_cast<__fp16>(v.bits));
#else
    return static_cast<float>(f16_format.decode(v.bits));
#endif
}

/// From f16, eight at a time where the processor has it.
inline void from_half(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const std::uint16_t*>(from);
  auto* y = reinterpret_cast<float*>(to);
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
#endif
#pragma omp simd
  for (std::int64_t k = i; k < n; ++k)
    y[k] = number_of(half_bits{x[k]});
}

inline void to_half(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const float*>(from);
  auto* y = reinterpret_cast<std::uint16_t*>(to);
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#elif defined(__aarch64__)
#pragma omp simd
  for (std::int64_t k = 0; k < n; ++k)
    y[k] = std::bit_cast<std::uint16_t>(static_cast<__fp16>(x[k]));
  i = n;
#endif
  for (; i < n; ++i)
    y[i] = static_cast<std::uint16_t>(f16_format.encode(static_cast<double>(x[i])));
}

inline void from_bfloat(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const std::uint16_t*>(from);
  auto* y = reinterpret_cast<float*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = from_bf16(x[i]);
}

inline void to_bfloat(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const float*>(from);
  auto* y = reinterpret_cast<std::uint16_t*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = to_bf16(x[i]);
}

} // namespace benanza::backend::host::detail
