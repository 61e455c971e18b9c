// SPDX-License-Identifier: Apache-2.0
// What does a transfer cost before its first byte, and what does each byte cost? The line
// t(n) = alpha + n / beta through measured minima, by least squares of the relative differences, so
// that a small transfer counts as much as a large one. n_half = alpha * beta is the size at which
// half of beta is reached. Bytes and ns.
//
//   auto f = fit_line({{4096, 110}, {8192, 210}, {16384, 410}});   f->bytes_per_ns ~ 41
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

namespace benanza::bound {

/// A time at a size.
struct timed_size {
  double bytes = 0; ///< that the time is said to depend on
  double ns = 0;
};

/// A line through times at sizes.
struct latency_fit {
  double alpha_ns = 0;     ///< what nothing would take; never below zero
  double bytes_per_ns = 0; ///< beta: the rate of a transfer without end
  double residual = 0;     ///< root of the mean square of the relative differences
  std::size_t points = 0;

  /// The size that reaches half of the rate.
  double half_bytes() const { return std::max(0.0, alpha_ns * bytes_per_ns); }
  double ns(double bytes) const { return alpha_ns + bytes / bytes_per_ns; }
};

/// The line through `points`; nothing where fewer than two sizes, or a time that does not grow,
/// leave none.
inline std::optional<latency_fit> fit_line(const std::vector<timed_size>& points) {
  // Sizes are scaled by the largest: squares of bytes would lose the digits that matter.
  double scale = 0;
  for (const timed_size& p : points)
    scale = std::max(scale, p.bytes);
  double w = 0, wx = 0, wt = 0, wxx = 0, wxt = 0;
  std::size_t used = 0;
  for (const timed_size& p : points) {
    if (!(p.ns > 0) || !(p.bytes > 0) || !std::isfinite(p.ns) || !std::isfinite(p.bytes)) continue;
    const double weight = 1 / (p.ns * p.ns), x = p.bytes / scale;
    w += weight;
    wx += weight * x;
    wt += weight * p.ns;
    wxx += weight * x * x;
    wxt += weight * x * p.ns;
    ++used;
  }
  const double spread = w * wxx - wx * wx;
  if (used < 2 || !(spread > 1e-12 * w * wxx)) return std::nullopt;
  const double slope = (w * wxt - wx * wt) / spread;
  if (!(slope > 1e-9 * wt / w)) return std::nullopt; // what remains of a level line is rounding
  latency_fit out;
  out.alpha_ns = (wt - slope * wx) / w;
  out.bytes_per_ns = scale / slope;
  if (out.alpha_ns < 0) { // nothing takes less than no time: the best line that starts at zero
    out.alpha_ns = 0;
    out.bytes_per_ns = scale * wxx / wxt;
  }
  out.points = used;
  double square = 0;
  for (const timed_size& p : points)
    if (p.ns > 0 && p.bytes > 0) square += std::pow(out.ns(p.bytes) / p.ns - 1, 2);
  out.residual = std::sqrt(square / static_cast<double>(used));
  return out;
}

} // namespace benanza::bound
