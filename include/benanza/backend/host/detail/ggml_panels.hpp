// SPDX-License-Identifier: Apache-2.0
// How are weights in ggml's blocks kept for a kernel that makes a tile's columns at once? In panels
// of a tile's columns. Of each block come the scales of all columns, as they are stored; then for
// each group of codes its own scales and minima, if it has some, and the codes, step by step: of
// four bits one byte of two columns; fifth and sixth bits in planes of a bit each behind them,
// which takes at most a twentieth more room than the file. Where no instruction takes such bits as
// a mask, codes of five and six bits are bytes.
//
//   const ggml_panels parts(p);   pack(p, weights, to);   // of one expert
#pragma once

#include "../../ggml_blocks.hpp"
#include "../../operands.hpp"
#include "product.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace benanza::backend::host::detail {

/// Bits of a plane are a mask as they are.
inline constexpr bool has_masks =
#if defined(__AVX512F__)
    true;
#else
    false;
#endif

/// What a format's codes are, and what belongs to a block and to a group of them.
struct ggml_shape {
  std::int64_t group = 32;                       ///< codes that share a scale
  std::int64_t bits = 4;                         ///< of a code without its planes
  std::int64_t planes = 0;                       ///< bits beyond four
  std::int64_t scale = 2;                        ///< bytes of a block's scale
  std::int64_t least = 0;                        ///< bytes of a block's minimum
  std::int64_t group_scale = 0, group_least = 0; ///< bytes
  int zero = 0;                                  ///< what codes are less
};

/// The same of codes of more than four bits where planes would be slow.
constexpr ggml_shape in_bytes(ggml_shape s) {
  if (!has_masks && s.planes > 0) s.bits = 8, s.planes = 0;
  return s;
}

constexpr ggml_shape shape_of(op::ggml_format f) {
  using enum op::ggml_format;
  switch (f) {
  case f16:
  case bf16: return {.group = 32, .bits = 16, .scale = 0};
  case q4_0: return {.zero = 8};
  case q4_1: return {.least = 2};
  case q5_0: return in_bytes({.planes = 1, .zero = 16});
  case q5_1: return in_bytes({.planes = 1, .least = 2});
  case q8_0: return {.bits = 8};
  case q4_k: return {.least = 2, .group_scale = 1, .group_least = 1};
  case q5_k: return in_bytes({.planes = 1, .least = 2, .group_scale = 1, .group_least = 1});
  case q6_k: return in_bytes({.group = 16, .planes = 2, .group_scale = 1, .zero = 32});
  case iq4_nl: return {};
  case iq4_xs: return {.group_scale = 1};
  case mxfp4: return {.scale = 1};
  }
  return {};
}

/// Where the parts of packed weights are, in bytes.
struct ggml_panels {
  ggml_shape s;
  std::int64_t weights, groups; ///< of a block
  std::int64_t blocks, panels;
  std::int64_t step_bytes, group_bytes, block_bytes, panel_bytes, all;

  explicit ggml_panels(const op::matmul_ggml& p)
      : s(shape_of(p.format))
      , weights(std::max<std::int64_t>(op::block_of(p.format).weights, s.group))
      , groups(weights / s.group)
      , blocks((p.length() + weights - 1) / weights)
      , panels((p.n + tile_columns - 1) / tile_columns)
      , step_bytes((s.bits + s.planes) * tile_columns / 8)
      , group_bytes((s.group_scale + s.group_least) * tile_columns + s.group * step_bytes)
      , block_bytes((s.scale + s.least) * tile_columns + groups * group_bytes)
      , panel_bytes(blocks * block_bytes)
      , all(panels * panel_bytes) {}
};

/// Code `i` of a block, before its zero is taken off.
inline int raw_code(op::ggml_format f, const backend::detail::ggml_bytes& b, std::int64_t i) {
  using enum op::ggml_format;
  switch (f) {
  case q4_0:
  case iq4_nl: return b.nibble(2, 16, i);
  case q4_1: return b.nibble(4, 16, i);
  case q5_0: return b.nibble(6, 16, i) | b.bit(2, i) << 4;
  case q5_1: return b.nibble(8, 16, i) | b.bit(4, i) << 4;
  case q8_0: return b.u8(2 + i);
  case q4_k: return b.nibble(16 + i / 64 * 32, 32, i % 64);
  case q5_k:
    return b.nibble(48 + i / 64 * 32, 32, i % 64) | (b.u8(16 + i % 32) >> (i / 32) & 1) << 4;
  case q6_k: return backend::detail::q6_code(b, i) + 32;
  case iq4_xs: return b.nibble(8 + i / 32 * 16, 16, i % 32);
  case mxfp4: return b.nibble(1, 16, i);
  default: return 0;
  }
}

/// Brings weights into panels.
inline void pack(const op::matmul_ggml& p, const std::byte* weights, std::byte* to) {
  using enum op::ggml_format;
  constexpr std::int64_t columns = tile_columns, half = columns / 2;
  const ggml_panels parts(p);
  const ggml_shape& s = parts.s;
  std::fill_n(to, parts.all, std::byte{0});
  const std::int64_t row_bytes = p.weights()[1], block_bytes = op::block_of(p.format).bytes;
  for (std::int64_t column = 0; column < p.n; ++column) {
    const std::byte* row = weights + column * row_bytes;
    const std::int64_t j = column % columns;
    for (std::int64_t k = 0; k < parts.blocks; ++k) {
      std::byte* out = to + column / columns * parts.panel_bytes + k * parts.block_bytes;
      const auto put = [&](std::int64_t first, std::int64_t each, const std::byte* from) {
        std::copy_n(from, each, out + first + j * each);
      };
      if (s.bits == 16) {
        const std::int64_t n = std::min(parts.weights, p.length() - k * parts.weights);
        for (std::int64_t i = 0; i < n; ++i)
          put(i * parts.step_bytes, 2, row + (k * parts.weights + i) * 2);
        continue;
      }
      const std::byte* stored = row + k * block_bytes;
      const backend::detail::ggml_bytes b{stored};
      put(0, s.scale, stored + (p.format == q6_k ? 208 : 0));
      put(s.scale * columns, s.least, stored + s.scale);
      for (std::int64_t g = 0; g < parts.groups; ++g) {
        const std::int64_t at = (s.scale + s.least) * columns + g * parts.group_bytes;
        const auto number = [&](std::int64_t place, int v) {
          const auto byte = static_cast<std::byte>(v);
          put(at + place * columns, 1, &byte);
        };
        if (s.group_least > 0) {
          const backend::detail::ggml_part its =
              backend::detail::part_of(b, 4, static_cast<int>(g));
          number(0, its.scale);
          number(1, its.least);
        } else if (p.format == q6_k) {
          number(0, b.s8(192 + g));
        } else if (p.format == iq4_xs) {
          number(0, backend::detail::iq4_scale(b, static_cast<int>(g)));
        }
        std::byte* codes = out + at + (s.group_scale + s.group_least) * columns;
        for (std::int64_t i = 0; i < s.group; ++i, codes += parts.step_bytes) {
          const int code = raw_code(p.format, b, g * s.group + i);
          if (s.bits == 8) {
            codes[j] = static_cast<std::byte>(code);
            continue;
          }
          codes[j % half] |= static_cast<std::byte>((code & 15) << (j < half ? 0 : 4));
          for (std::int64_t plane = 0; plane < s.planes; ++plane)
            codes[half + plane * columns / 8 + j / 8] |=
                static_cast<std::byte>((code >> (4 + plane) & 1) << (j % 8));
        }
      }
    }
  }
}

} // namespace benanza::backend::host::detail
