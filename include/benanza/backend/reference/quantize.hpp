// SPDX-License-Identifier: Apache-2.0
// One result of QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear (ONNX opsets 10 to 24) or a
// table on codes.
// Codes round to nearest even and saturate, those of 8-bit floats unless the node says that they do
// not. DynamicQuantizeLinear
// computes its scale in f32, as its definition does; behind its codes come scale and zero point.
//
//   value(quantize{.input = {4, 8}, .code = dtype::s8}, operands, 3)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace benanza::backend::reference {

/// The code of `v` in that storage. Where floats of 8 bits do not saturate, what rounds to more
/// than the largest number is an infinity or NaN.
inline double code_of(dtype code, double v, bool saturates = true) {
  if (!saturates) {
    const double none = std::nan(""), size = std::fabs(v);
    if (code == dtype::e4m3 && size > 464) return none; // halfway to 480 is 448, which is even
    if (code == dtype::e4m3z && size >= 248) return none;
    if (code == dtype::e5m2z && size >= 61440) return none;
  } else if (code == dtype::e5m2) {
    v = std::clamp(v, -57344.0, 57344.0);
  }
  std::byte bytes[8]{};
  store(code, bytes, 0, v);
  return load(code, bytes, 0);
}

/// Which of a quantization's scales an element has.
inline std::int64_t scale_index(const op::quantize& p, std::int64_t flat) {
  if (p.axis < 0) return 0;
  shape place = place_of(p.input, flat);
  if (p.block == 0) return place[p.axis];
  place[p.axis] /= p.block;
  return index_of(p.scales(), place);
}

inline double value(const op::quantize& p, const operands& o, std::int64_t flat) {
  const std::int64_t which = scale_index(p, flat);
  const double scale = element(o, 1, which), zero = p.zero_point ? element(o, 2, which) : 0;
  const double v = element(o, 0, flat);
  if (p.inverse) return (v - zero) * scale;
  if (holds_reals(p.code)) return code_of(p.code, v / scale + zero, o.attributes.saturates);
  return code_of(p.code, std::nearbyint(v / scale) + zero);
}

inline double value(const op::lookup_table&, const operands& o, std::int64_t flat) {
  return element(o, 1, static_cast<std::int64_t>(element(o, 0, flat)) & 255);
}

class dynamic_codes {
public:
  dynamic_codes(const op::dynamic_quantize&, const operands& o)
      : o_(o)
      , count_(o.inputs[0].count()) {
    float low = 0, high = 0;
    for (std::int64_t i = 0; i < count_; ++i) {
      low = std::min(low, static_cast<float>(element(o, 0, i)));
      high = std::max(high, static_cast<float>(element(o, 0, i)));
    }
    scale_ = (high - low) / 255.0f;
    zero_ = scale_ > 0 ? saturated<std::uint8_t>(static_cast<double>(-low / scale_)) : 0;
  }
  /// The exact output at a flat index over all three results.
  double at(std::int64_t flat) const {
    if (flat == count_) return static_cast<double>(scale_);
    if (flat > count_) return zero_;
    const float v = static_cast<float>(element(o_, 0, flat));
    return scale_ > 0 ? saturated<std::uint8_t>(std::nearbyint(v / scale_) + zero_) : zero_;
  }

private:
  const operands& o_;
  std::int64_t count_;
  float scale_ = 0;
  std::uint8_t zero_ = 0;
};

inline dynamic_codes lines_of(const op::dynamic_quantize& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
