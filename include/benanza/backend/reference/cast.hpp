// SPDX-License-Identifier: Apache-2.0
// One result of a Cast (ONNX Cast-6..24): towards zero from reals to whole numbers, which end at
// their range; whole numbers wrap around; floats round to even, those of 8 bits saturate.
//
//   value(cast{.input = {4}, .from = dtype::real, .to = dtype::s64}, operands, 3)
#pragma once

#include "quantize.hpp"
#include "whole.hpp"

namespace benanza::backend::reference {

namespace detail {
/// An 8-bit float of something that does not saturate: e4m3 has no infinity, but a NaN.
inline double overflowing(dtype to, double v) {
  if (to == dtype::e4m3 && std::fabs(v) > 464) return std::nan("");
  std::byte room[8]{};
  store(to, room, 0, v);
  return load(to, room, 0);
}
} // namespace detail

inline double value(const op::cast& p, const operands& o, std::int64_t flat) {
  const double v = element(o, 0, flat);
  if (p.to == dtype::real || p.to == dtype::f64) return v;
  if (p.to == dtype::boolean) return v != 0;
  if ((p.to == dtype::e4m3 || p.to == dtype::e5m2) && !o.attributes.saturates)
    return detail::overflowing(p.to, v);
  if (!whole(p.to)) return code_of(p.to, v);
  if (whole(p.from)) return wrapped(whole_from(v), p.to);
  return code_of(p.to, std::trunc(v));
}

} // namespace benanza::backend::reference
