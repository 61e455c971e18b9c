// SPDX-License-Identifier: Apache-2.0
// Which numbers does a block of weights in a GGUF file hold? As ggml defines its formats: codes of
// half a byte are low halves first, then high ones; scales are f16, and in blocks of 256 whole
// numbers of few bits times an f16.
//
//   float w[256];   decode(op::ggml_format::q4_k, block, w);
#pragma once

#include "../op/matmul_ggml.hpp"
#include "number.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace benanza::backend {

/// Most weights of a block.
inline constexpr std::int64_t most_in_ggml_block = 256;

/// What the 16 codes of IQ4 mean, and of FP4 (twice as much).
inline constexpr std::int8_t iq4_values[] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                             1,    13,   25,  38,  53,  69,  89,  113};
inline constexpr std::int8_t fp4_values[] = {0, 1,  2,  3,  4,  6,  8,  12,
                                             0, -1, -2, -3, -4, -6, -8, -12};

namespace detail {
/// A block of bytes, and what is at a place of it.
struct ggml_bytes {
  const std::byte* at;

  int u8(std::int64_t i) const { return std::to_integer<int>(at[i]); }
  int s8(std::int64_t i) const { return static_cast<std::int8_t>(at[i]); }
  /// The half byte `i` of those from `first` on, of which `half` are low ones, then as many high.
  int nibble(std::int64_t first, std::int64_t half, std::int64_t i) const {
    return i < half ? u8(first + i) & 15 : u8(first + i - half) >> 4;
  }
  int bit(std::int64_t first, std::int64_t i) const { return u8(first + i / 8) >> (i % 8) & 1; }
  float f16(std::int64_t i) const { return static_cast<float>(load(dtype::f16, at + i, 0)); }
  float bf16(std::int64_t i) const {
    return from_bf16(static_cast<std::uint16_t>(u8(i) | u8(i + 1) << 8));
  }
};

/// Scale and minimum of one of eight parts of a block of 256, in six bits each.
struct ggml_part {
  int scale, least;
};
inline ggml_part part_of(const ggml_bytes& b, std::int64_t first, int i) {
  if (i < 4) return {b.u8(first + i) & 63, b.u8(first + 4 + i) & 63};
  return {(b.u8(first + 4 + i) & 15) | b.u8(first + i - 4) >> 6 << 4,
          b.u8(first + 4 + i) >> 4 | b.u8(first + i) >> 6 << 4};
}
/// The scale of one of eight parts of an IQ4_XS block.
inline int iq4_scale(const ggml_bytes& b, int i) {
  const int low = b.u8(4 + i / 2) >> (i % 2 * 4) & 15;
  const int high = (b.u8(2) | b.u8(3) << 8) >> (2 * i) & 3;
  return (low | high << 4) - 32;
}
/// Code `i` of a block of Q6_K, less 32.
inline int q6_code(const ggml_bytes& b, std::int64_t i) {
  const std::int64_t half = i / 128, k = i % 128, row = k / 32, l = k % 32;
  const int low = b.u8(half * 64 + row % 2 * 32 + l) >> (row / 2 * 4) & 15;
  const int high = b.u8(128 + half * 32 + l) >> (2 * row) & 3;
  return (low | high << 4) - 32;
}
} // namespace detail

/// The numbers of a block.
inline void decode(op::ggml_format f, const std::byte* block, float* to) {
  using enum op::ggml_format;
  const detail::ggml_bytes b{block};
  const std::int64_t n = op::block_of(f).weights;
  switch (f) {
  case op::ggml_format::f16: to[0] = b.f16(0); return;
  case op::ggml_format::bf16: to[0] = b.bf16(0); return;
  case q4_0:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<float>(b.nibble(2, 16, i) - 8) * b.f16(0);
    return;
  case q4_1:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<float>(b.nibble(4, 16, i)) * b.f16(0) + b.f16(2);
    return;
  case q5_0:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<float>((b.nibble(6, 16, i) | b.bit(2, i) << 4) - 16) * b.f16(0);
    return;
  case q5_1:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<float>(b.nibble(8, 16, i) | b.bit(4, i) << 4) * b.f16(0) + b.f16(2);
    return;
  case q8_0:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = static_cast<float>(b.s8(2 + i)) * b.f16(0);
    return;
  case q4_k:
  case q5_k:
    for (std::int64_t i = 0; i < n; ++i) {
      const auto part = static_cast<int>(i / 32);
      const detail::ggml_part p = detail::part_of(b, 4, part);
      int code = b.nibble((f == q4_k ? 16 : 48) + i / 64 * 32, 32, i % 64);
      if (f == q5_k) code |= (b.u8(16 + i % 32) >> part & 1) << 4;
      to[i] = b.f16(0) * static_cast<float>(p.scale) * static_cast<float>(code) -
              b.f16(2) * static_cast<float>(p.least);
    }
    return;
  case q6_k:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = b.f16(208) * static_cast<float>(b.s8(192 + i / 16)) *
              static_cast<float>(detail::q6_code(b, i));
    return;
  case iq4_nl:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = b.f16(0) * static_cast<float>(iq4_values[b.nibble(2, 16, i)]);
    return;
  case iq4_xs:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = b.f16(0) * static_cast<float>(detail::iq4_scale(b, static_cast<int>(i / 32))) *
              static_cast<float>(iq4_values[b.nibble(8 + i / 32 * 16, 16, i % 32)]);
    return;
  case mxfp4:
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = std::ldexp(static_cast<float>(fp4_values[b.nibble(1, 16, i)]), b.u8(0) - 128);
    return;
  }
}

} // namespace benanza::backend
