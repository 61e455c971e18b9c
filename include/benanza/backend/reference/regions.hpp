// SPDX-License-Identifier: Apache-2.0
// One output of a RoiAlign (ONNX RoiAlign-16) or of a MaxRoiPool-1, and all of a
// NonMaxSuppression-11, in double.
//
//   value(roi_align{.input = {1, 1, 8, 8}, .regions = 1, .pooled = {2, 2}}, operands, 3)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace benanza::backend::reference {

/// The four elements around a sample of an image, each with its weight.
inline std::array<double, 4> around(const operands& o, std::int64_t image, std::int64_t height,
                                    std::int64_t width, double y, double x) {
  if (y < -1 || y > static_cast<double>(height) || x < -1 || x > static_cast<double>(width))
    return {};
  const auto low = [](double& at, std::int64_t size) {
    at = std::clamp(at, 0., static_cast<double>(size - 1));
    return static_cast<std::int64_t>(at);
  };
  const std::int64_t top = low(y, height), left = low(x, width);
  const std::int64_t bottom = std::min(top + 1, height - 1), right = std::min(left + 1, width - 1);
  const double down = y - static_cast<double>(top), over = x - static_cast<double>(left);
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return element(o, 0, image + row * width + column);
  };
  return {(1 - down) * (1 - over) * at(top, left), (1 - down) * over * at(top, right),
          down * (1 - over) * at(bottom, left), down * over * at(bottom, right)};
}

inline double value(const op::roi_align& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  double begin[2], bin[2];
  std::int64_t samples[2];
  for (int side = 0; side < 2; ++side) { // down, then right
    const double offset = p.half_pixel ? 0.5 : 0, scale = o.attributes.roi_scale;
    begin[side] = element(o, 1, place[0] * 4 + 1 - side) * scale - offset;
    double size = element(o, 1, place[0] * 4 + 3 - side) * scale - offset - begin[side];
    if (!p.half_pixel) size = std::max(size, 1.);
    bin[side] = size / static_cast<double>(p.pooled[side]);
    samples[side] = p.samples > 0 ? p.samples : static_cast<std::int64_t>(std::ceil(bin[side]));
  }
  auto batch = static_cast<std::int64_t>(element(o, 2, place[0]));
  if (batch < 0) batch += p.input[0];
  const std::int64_t height = p.input[2], width = p.input[3];
  const std::int64_t image = (batch * p.input[1] + place[1]) * height * width;
  double sum = 0, most = -std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < samples[0]; ++i)
    for (std::int64_t k = 0; k < samples[1]; ++k) {
      const auto at = [&](int side, std::int64_t which) {
        const double within =
            (static_cast<double>(which) + 0.5) / static_cast<double>(samples[side]);
        return begin[side] + (static_cast<double>(place[side + 2]) + within) * bin[side];
      };
      const auto four = around(o, image, height, width, at(0, i), at(1, k));
      sum += four[0] + four[1] + four[2] + four[3];
      most = std::max(most, *std::max_element(four.begin(), four.end()));
    }
  const std::int64_t count = samples[0] * samples[1];
  if (p.maximum) return count > 0 ? most : 0;
  return sum / static_cast<double>(std::max<std::int64_t>(count, 1));
}

/// Regions begin with the number of their image; an empty bin gives 0.
inline double value(const op::max_roi_pool& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  const auto corner = [&](std::int64_t k) {
    return std::round(element(o, 1, place[0] * 5 + k) * o.attributes.roi_scale);
  };
  std::int64_t low[2], high[2];
  for (int side = 0; side < 2; ++side) {
    const double begin = corner(2 - side), size = std::max(corner(4 - side) - begin + 1, 1.);
    const auto cut = [&](double bins, bool up) {
      const double at = bins * size / static_cast<double>(p.pooled[side]);
      return std::clamp((up ? std::ceil(at) : std::floor(at)) + begin, 0.,
                        static_cast<double>(p.input[side + 2]));
    };
    const auto bin = static_cast<double>(place[side + 2]);
    low[side] = static_cast<std::int64_t>(cut(bin, false));
    high[side] = static_cast<std::int64_t>(cut(bin + 1, true));
  }
  const auto batch = static_cast<std::int64_t>(element(o, 1, place[0] * 5));
  double most = -std::numeric_limits<double>::infinity();
  for (std::int64_t y = low[0]; y < high[0]; ++y)
    for (std::int64_t x = low[1]; x < high[1]; ++x)
      most = std::max(most, element(o, 0, index_of(p.input, {batch, place[1], y, x})));
  return low[0] < high[0] && low[1] < high[1] ? most : 0;
}

/// What a NonMaxSuppression keeps, found once.
class kept_boxes {
public:
  kept_boxes(const op::non_max_suppression& p, const operands& o)
      : p_(p) {
    for (std::int64_t b = 0; b < p.batch; ++b)
      for (std::int64_t c = 0; c < p.classes; ++c)
        keep(o, b, c);
  }
  double at(std::int64_t flat) const {
    const auto i = static_cast<std::size_t>(flat);
    return i < rows_.size() ? rows_[i] : -1;
  }

private:
  struct corners {
    double low[2], high[2];
    double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
  };
  corners box(const operands& o, std::int64_t b, std::int64_t i) const {
    corners c{};
    for (int d = 0; d < 2; ++d) {
      const double u = element(o, 0, (b * p_.boxes + i) * 4 + d);
      const double v = element(o, 0, (b * p_.boxes + i) * 4 + d + 2);
      c.low[d] = p_.centred ? u - v / 2 : std::min(u, v);
      c.high[d] = p_.centred ? u + v / 2 : std::max(u, v);
    }
    return c;
  }
  static bool overlap(const corners& a, const corners& b, double threshold) {
    double common = 1;
    for (int d = 0; d < 2; ++d)
      common *= std::max(0., std::min(a.high[d], b.high[d]) - std::max(a.low[d], b.low[d]));
    const double both = a.area() + b.area() - common;
    return common > 0 && both > 0 && common / both > threshold;
  }
  void keep(const operands& o, std::int64_t b, std::int64_t c) {
    std::vector<std::pair<double, std::int64_t>> found;
    for (std::int64_t i = 0; i < p_.boxes; ++i)
      if (const double s = element(o, 1, (b * p_.classes + c) * p_.boxes + i);
          s > o.attributes.least_score)
        found.emplace_back(-s, i);
    std::sort(found.begin(), found.end());
    std::vector<corners> kept;
    for (const auto& [score, i] : found) {
      if (static_cast<std::int64_t>(kept.size()) == p_.most ||
          static_cast<double>(kept.size()) >= o.attributes.most_boxes)
        break;
      const corners its = box(o, b, i);
      if (std::any_of(kept.begin(), kept.end(),
                      [&](const corners& k) { return overlap(its, k, o.attributes.most_overlap); }))
        continue;
      kept.push_back(its);
      for (const std::int64_t v : {b, c, i})
        rows_.push_back(static_cast<double>(v));
    }
  }

  op::non_max_suppression p_;
  std::vector<double> rows_;
};

inline kept_boxes lines_of(const op::non_max_suppression& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
