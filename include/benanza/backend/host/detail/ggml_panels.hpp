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

/// Codes of a block from one on, before their zero is taken off.
inline void raw_codes(op::ggml_format f, const backend::detail::ggml_bytes& b, std::int64_t first,
                      std::int64_t count, std::uint8_t* to) {
  using enum op::ggml_format;
  const auto each = [&](auto code) {
    for (std::int64_t i = 0; i < count; ++i)
      to[i] = static_cast<std::uint8_t>(code(first + i));
  };
  const auto high = [](int bit) { return bit << 4; };
  switch (f) {
  case q4_0:
  case iq4_nl: return each([&](auto i) { return b.nibble(2, 16, i); });
  case q4_1: return each([&](auto i) { return b.nibble(4, 16, i); });
  case q5_0: return each([&](auto i) { return b.nibble(6, 16, i) | high(b.bit(2, i)); });
  case q5_1: return each([&](auto i) { return b.nibble(8, 16, i) | high(b.bit(4, i)); });
  case q8_0: return each([&](auto i) { return b.u8(2 + i); });
  case q4_k: return each([&](auto i) { return b.nibble(16 + i / 64 * 32, 32, i % 64); });
  case q5_k:
    return each([&](auto i) {
      return b.nibble(48 + i / 64 * 32, 32, i % 64) | high(b.u8(16 + i % 32) >> (i / 32) & 1);
    });
  case q6_k: return each([&](auto i) { return backend::detail::q6_code(b, i) + 32; });
  case iq4_xs: return each([&](auto i) { return b.nibble(8 + i / 32 * 16, 16, i % 32); });
  case mxfp4: return each([&](auto i) { return b.nibble(1, 16, i); });
  default: return;
  }
}

/// Brings a block of a row into its place in a panel, which was zero.
inline void pack_block(const ggml_panels& parts, op::ggml_format format, const std::byte* stored,
                       std::int64_t j, std::byte* out) {
  using enum op::ggml_format;
  constexpr std::int64_t columns = tile_columns, half = columns / 2;
  const ggml_shape& s = parts.s;
  const backend::detail::ggml_bytes b{stored};
  const auto put = [&](std::int64_t first, std::int64_t each, const std::byte* from) {
    std::copy_n(from, each, out + first + j * each);
  };
  put(0, s.scale, stored + (format == q6_k ? 208 : 0));
  put(s.scale * columns, s.least, stored + s.scale);
  for (std::int64_t g = 0; g < parts.groups; ++g) {
    const std::int64_t at = (s.scale + s.least) * columns + g * parts.group_bytes;
    const auto number = [&](std::int64_t place, int v) {
      out[at + place * columns + j] = static_cast<std::byte>(v);
    };
    if (s.group_least > 0) {
      const backend::detail::ggml_part its = backend::detail::part_of(b, 4, static_cast<int>(g));
      number(0, its.scale);
      number(1, its.least);
    } else if (format == q6_k) {
      number(0, b.s8(192 + g));
    } else if (format == iq4_xs) {
      number(0, backend::detail::iq4_scale(b, static_cast<int>(g)));
    }
    std::uint8_t codes[32];
    raw_codes(format, b, g * s.group, s.group, codes);
    std::byte* step = out + at + (s.group_scale + s.group_least) * columns;
    for (std::int64_t i = 0; i < s.group; ++i, step += parts.step_bytes) {
      const int code = codes[i];
      if (s.bits == 8) {
        step[j] = static_cast<std::byte>(code);
        continue;
      }
      step[j % half] |= static_cast<std::byte>((code & 15) << (j < half ? 0 : 4));
      for (std::int64_t plane = 0; plane < s.planes; ++plane)
        step[half + plane * columns / 8 + j / 8] |=
            static_cast<std::byte>((code >> (4 + plane) & 1) << (j % 8));
    }
  }
}

/// Brings weights into panels, block by block, as what one takes of a panel stays in a cache.
inline void pack(const op::matmul_ggml& p, const std::byte* weights, std::byte* to) {
  constexpr std::int64_t columns = tile_columns;
  const ggml_panels parts(p);
  std::fill_n(to, parts.all, std::byte{0});
  const std::int64_t row_bytes = p.weights()[1], block_bytes = op::block_of(p.format).bytes;
  for (std::int64_t panel = 0; panel < parts.panels; ++panel)
    for (std::int64_t k = 0; k < parts.blocks; ++k)
      for (std::int64_t j = 0; j < std::min(columns, p.n - panel * columns); ++j) {
        const std::byte* row = weights + (panel * columns + j) * row_bytes;
        std::byte* out = to + panel * parts.panel_bytes + k * parts.block_bytes;
        if (parts.s.bits != 16) {
          pack_block(parts, p.format, row + k * block_bytes, j, out);
          continue;
        }
        const std::int64_t first = k * parts.weights;
        for (std::int64_t i = 0; i < std::min(parts.weights, p.length() - first); ++i)
          std::copy_n(row + (first + i) * 2, 2, out + i * parts.step_bytes + j * 2);
      }
}

} // namespace benanza::backend::host::detail
