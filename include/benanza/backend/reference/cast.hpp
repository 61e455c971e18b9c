// SPDX-License-Identifier: Apache-2.0
// One result of a Cast (ONNX Cast-6..24): towards zero from reals to whole numbers, which end at
// their range, those of less than a byte at that of s32 of which they are the last bits; whole
// numbers wrap around; floats round to even, those of 8 bits saturate.
//
//   value(cast{.input = {4}, .from = dtype::real, .to = dtype::s64}, operands, 3)
#pragma once

#include "quantize.hpp"
#include "whole.hpp"

namespace benanza::backend::reference {

namespace detail {
/// A power of two by ONNX's table: of zero, of what is beyond the ends and of infinities it says
/// whether the range ends there. Signs are dropped.
inline double power_of_two(double v, const attribute_values& given) {
  constexpr double least = 0x1p-127, most = 0x1p127;
  const double size = std::fabs(v), none = std::nan("");
  if (std::isnan(v)) return none;
  if (size < least) return given.saturates ? least : none;
  if (size > most) return given.saturates ? most : none;
  const double below = std::ldexp(1.0, std::ilogb(size));
  if (below == size || given.round_mode == rounding::down) return below;
  return given.round_mode == rounding::nearest && size < 1.5 * below ? below : 2 * below;
}
} // namespace detail

inline double value(const op::cast& p, const operands& o, std::int64_t flat) {
  const double v = element(o, 0, flat);
  if (p.to == dtype::real || p.to == dtype::f64) return v;
  if (p.to == dtype::boolean) return v != 0;
  if (p.to == dtype::e8m0) return detail::power_of_two(v, o.attributes);
  if (!whole(p.to)) {
    const bool eight = size_bits(p.to) == 8;
    return code_of(p.to, v, o.attributes.saturates || !eight);
  }
  if (whole(p.from)) return wrapped(whole_from(v), p.to);
  if (packed_in_bytes(p.to)) return wrapped(whole_from(code_of(dtype::s32, std::trunc(v))), p.to);
  return code_of(p.to, std::trunc(v));
}

} // namespace benanza::backend::reference
