// SPDX-License-Identifier: Apache-2.0
// What does a transfer cost before its first byte, and what does each byte cost? The line
// t(n) = alpha + n / beta through measured minima, by least squares of the relative differences, so
// that a small transfer counts as much as a large one; and how far it is off. Where alpha cannot be
// distinguished from 0, an upper limit of it is known, and the line starts at 0. n_half = alpha *
// beta is the size at which half of beta is reached. Bytes and ns.
//
//   auto f = fit_line({{4096, 110}, {8192, 210}, {16384, 410}});   f->bytes_per_ns ~ 41
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
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
  double alpha_ns = 0;       ///< what nothing would take
  double alpha_below_ns = 0; ///< an upper limit of alpha
  bool alpha_known = false;  ///< it is clearly above 0, and less than any transfer takes
  double bytes_per_ns = 0;   ///< beta: the rate of a transfer without end
  double off_by = 0;         ///< the largest relative difference from a time

  double half_bytes() const { return alpha_ns * bytes_per_ns; }
  double ns(double bytes) const { return alpha_ns + bytes / bytes_per_ns; }
};

/// A minimum is no surer than this, however well a line runs through all of them.
inline constexpr double least_noise = 0.02;
/// A line that is further off than this is none.
inline constexpr double most_off_by = 0.15;

namespace detail {
/// The largest difference of a line from times, and the sum of the squares of all; relative.
struct line_error {
  double largest = 0, square = 0;

  line_error(const latency_fit& line, const std::vector<timed_size>& points) {
    for (const timed_size& p : points) {
      const double off = std::abs(line.ns(p.bytes) / p.ns - 1);
      largest = std::max(largest, off);
      square += off * off;
    }
  }
};
} // namespace detail

/// The line through `points`; nothing where fewer than three, or times that do not grow, leave
/// none. Its alpha is not known where it is more than `least_ns`, what some transfer takes.
inline std::optional<latency_fit>
fit_line(std::vector<timed_size> points,
         double least_ns = std::numeric_limits<double>::infinity()) {
  std::erase_if(points, [](const timed_size& p) {
    return !(p.ns > 0) || !(p.bytes > 0) || !std::isfinite(p.ns) || !std::isfinite(p.bytes);
  });
  if (points.size() < 3) return std::nullopt;
  // Sizes are scaled by the largest: squares of bytes would lose the digits that matter.
  double scale = 0;
  for (const timed_size& p : points)
    scale = std::max(scale, p.bytes);
  double w = 0, wx = 0, wt = 0, wxx = 0, wxt = 0;
  for (const timed_size& p : points) {
    const double weight = 1 / (p.ns * p.ns), x = p.bytes / scale;
    w += weight;
    wx += weight * x;
    wt += weight * p.ns;
    wxx += weight * x * x;
    wxt += weight * x * p.ns;
  }
  const double spread = w * wxx - wx * wx;
  if (!(spread > 1e-12 * w * wxx)) return std::nullopt;
  const double slope = (w * wxt - wx * wt) / spread;
  if (!(slope > 1e-9 * wt / w)) return std::nullopt; // what remains of a level line is rounding
  latency_fit out{.alpha_ns = (wt - slope * wx) / w, .bytes_per_ns = scale / slope};
  const double freedom = static_cast<double>(points.size() - 2),
               deviation = std::sqrt(detail::line_error(out, points).square / freedom),
               twice_its_error = 2 * std::max(least_noise, deviation) * std::sqrt(wxx / spread);
  out.alpha_below_ns = std::max(0.0, out.alpha_ns) + twice_its_error;
  for (const timed_size& p : points)
    out.alpha_below_ns = std::min(out.alpha_below_ns, p.ns);
  out.alpha_known = out.alpha_ns > twice_its_error && out.alpha_ns < least_ns;
  if (out.alpha_ns <= twice_its_error) {
    out.alpha_ns = 0;
    out.bytes_per_ns = scale * wxx / wxt; // of the lines that start at zero the best
  }
  out.off_by = detail::line_error(out, points).largest;
  return out;
}

} // namespace benanza::bound
