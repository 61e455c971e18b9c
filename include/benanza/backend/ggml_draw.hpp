// SPDX-License-Identifier: Apache-2.0
// Random weights in ggml's blocks: all bytes may be drawn but those of scales, which would make
// infinities. Those are such that a result has the variance of its source.
//
//   put_ggml_scales(op::ggml_format::q4_k, 2048, bytes)
#pragma once

#include "draw.hpp"
#include "ggml_blocks.hpp"

#include <cmath>
#include <cstring>
#include <span>

namespace benanza::backend {

namespace detail {
/// What numbers of a format are multiplied by, where `length` of them are added up.
inline double ggml_unit(op::ggml_format format, std::int64_t length) {
  using enum op::ggml_format;
  // Deviations of codes times scales of parts, where there are some.
  const double spread = format == q8_0                                                      ? 74
                        : format == q5_0 || format == q5_1                                  ? 9.2
                        : format == q4_k                                                    ? 230
                        : format == q5_k                                                    ? 460
                        : format == q6_k || format == iq4_xs                                ? 1300
                        : format == iq4_nl                                                  ? 70
                        : format == op::ggml_format::f16 || format == op::ggml_format::bf16 ? 0.58
                                                                                            : 4.6;
  return std::exp2(std::floor(-std::log2(spread * std::sqrt(static_cast<double>(length)))));
}
} // namespace detail

inline void put_ggml_scales(op::ggml_format format, std::int64_t length,
                            std::span<std::byte> weights) {
  using enum op::ggml_format;
  const double unit = detail::ggml_unit(format, length);
  const std::int64_t block = op::block_of(format).bytes;
  if (format == op::ggml_format::f16 || format == op::ggml_format::bf16) {
    const dtype type = format == op::ggml_format::f16 ? dtype::f16 : dtype::bf16;
    for (std::int64_t i = 0; i < std::ssize(weights) / 2;
         ++i) { // eight significant bits: both hold
      const std::uint64_t bits = detail::random_bits(3, static_cast<std::uint64_t>(i));
      store(type, weights.data(), i, (static_cast<double>(bits % 255) - 127) / 128 * unit);
    }
    return;
  }
  std::byte scale[4];
  std::int64_t first = 0, size = 2;
  store(dtype::f16, scale, 0, unit);
  if (format == mxfp4) {
    scale[0] = static_cast<std::byte>(128 + std::lround(std::log2(unit)));
    size = 1;
  } else if (format == q6_k) {
    first = 208;
  } else if (format == q4_1 || format == q4_k || format == q5_1 || format == q5_k) {
    const double middle = format == q4_1 || format == q4_k ? 7.5 : 15.5;
    const bool added = format == q4_1 || format == q5_1;
    store(dtype::f16, scale, 1, added ? -middle * unit : middle * unit);
    size = 4;
  }
  for (std::int64_t at = first; at < std::ssize(weights); at += block)
    std::memcpy(weights.data() + at, scale, static_cast<std::size_t>(size));
}

} // namespace benanza::backend
