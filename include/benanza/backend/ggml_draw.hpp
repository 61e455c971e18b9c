// SPDX-License-Identifier: Apache-2.0
// Which bytes of random weights in ggml's blocks are none? Scales: any bytes would make infinities.
// They are such that a result has the variance of its source.
//
//   const ggml_scaled fix(op::ggml_format::q4_k, 2048);   fix(i, random_byte)   // what byte `i` of
//   the weights is
#pragma once

#include "draw.hpp"
#include "ggml_blocks.hpp"

#include <cmath>

namespace benanza::backend {

class ggml_scaled {
public:
  /// Of `length` numbers that are added up.
  ggml_scaled(op::ggml_format format, std::int64_t length)
      : format_(format)
      , bytes_(op::block_of(format).bytes) {
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
    unit_ = std::exp2(std::floor(-std::log2(spread * std::sqrt(static_cast<double>(length)))));
  }

  double operator()(std::int64_t i, double byte) const {
    using enum op::ggml_format;
    const std::int64_t at = i % bytes_;
    switch (format_) {
    case op::ggml_format::f16:
    case op::ggml_format::bf16: { // eight significant bits, which both types have
      const std::uint64_t bits = detail::random_bits(3, static_cast<std::uint64_t>(i / 2));
      const double v = (static_cast<double>(bits % 255) - 127) / 128 * unit_;
      return part(format_ == op::ggml_format::f16 ? dtype::f16 : dtype::bf16, v, at);
    }
    case mxfp4: return at == 0 ? 128 + std::log2(unit_) : byte;
    case q6_k: return at >= 208 ? part(dtype::f16, unit_, at - 208) : byte;
    case q4_1:
    case q4_k:
    case q5_1:
    case q5_k: {
      const double middle = format_ == q4_1 || format_ == q4_k ? 7.5 : 15.5;
      const bool added = format_ == q4_1 || format_ == q5_1;
      if (at >= 4) return byte;
      return at < 2 ? part(dtype::f16, unit_, at)
                    : part(dtype::f16, added ? -middle * unit_ : middle * unit_, at - 2);
    }
    default: return at < 2 ? part(dtype::f16, unit_, at) : byte;
    }
  }

private:
  static double part(dtype t, double v, std::int64_t byte) {
    std::byte room[8]{};
    store(t, room, 0, v);
    return std::to_integer<int>(room[byte]);
  }

  op::ggml_format format_;
  std::int64_t bytes_;
  double unit_;
};

} // namespace benanza::backend
