// SPDX-License-Identifier: Apache-2.0
// How do regions of images run? RoiAlign works out, once for a region, between which rows and
// columns its samples are; for each channel it then blends whole rows and takes the columns from
// the blend. NonMaxSuppression sorts the scores of each class by itself, and compares a box with
// all that are kept at once.
//
//   kernel k = make(op::roi_align{.input = {1, 256, 50, 50}, .regions = 9, .pooled = {7, 7}}, job);
#pragma once

#include "grid_sample.hpp"

#include <limits>
#include <utility>

namespace benanza::backend::host {

namespace detail {

/// Between which two rows (or columns) of an image a sample is, and their shares; no shares
/// outside.
struct between {
  std::int64_t low = 0, high = 0;
  float near = 0, far = 0;
};

inline between between_of(double at, std::int64_t size) {
  if (!(at >= -1 && at <= static_cast<double>(size))) return {};
  at = std::min(std::max(at, 0.), static_cast<double>(size - 1));
  const auto low = static_cast<std::int64_t>(at);
  const auto far = static_cast<float>(at - static_cast<double>(low));
  return {low, std::min(low + 1, size - 1), 1 - far, far};
}

/// The samples of a region along one side, bin by bin; `count` of them in each bin.
struct side_samples {
  std::vector<between> at;
  std::int64_t count = 0;

  void find(const op::roi_align& p, int side, double begin, double end) {
    constexpr double scale = attribute::roi_scale;
    const double offset = p.half_pixel ? 0.5 : 0, first = begin * scale - offset;
    double size = end * scale - offset - first;
    if (!p.half_pixel) size = std::max(size, 1.);
    const double bin = size / static_cast<double>(p.pooled[side]);
    // At most 4096 samples in a bin: no image is as large as a bin with more.
    const double wanted = p.samples > 0 ? static_cast<double>(p.samples) : std::ceil(bin);
    count = wanted > 0 ? static_cast<std::int64_t>(std::min(wanted, 4096.)) : 0;
    at.clear();
    for (std::int64_t i = 0; i < p.pooled[side]; ++i)
      for (std::int64_t k = 0; k < count; ++k) {
        const double within = (static_cast<double>(k) + 0.5) / static_cast<double>(count);
        at.push_back(
            between_of(first + (static_cast<double>(i) + within) * bin, p.input[side + 2]));
      }
  }
};

template <class T>
void average_region(const op::roi_align& p, const T* plane, const side_samples& down,
                    const side_samples& over, float* row, T* to) {
  const std::int64_t width = p.input[3];
  std::int64_t left = width, right = 0;
  for (const between& x : over.at)
    left = std::min(left, x.low), right = std::max(right, x.high + 1);
  const float share = 1.f / static_cast<float>(std::max<std::int64_t>(down.count * over.count, 1));
  for (std::int64_t i = 0; i < p.pooled[0]; ++i) {
    std::fill(row + std::min(left, right), row + right, 0.f);
    for (std::int64_t k = 0; k < down.count; ++k) {
      const between& y = down.at[static_cast<std::size_t>(i * down.count + k)];
      const T *near = plane + y.low * width, *far = plane + y.high * width;
#pragma omp simd
      for (std::int64_t x = left; x < right; ++x)
        row[x] += y.near * number_of(near[x]) + y.far * number_of(far[x]);
    }
    for (std::int64_t o = 0; o < p.pooled[1]; ++o) {
      float sum = 0;
      for (std::int64_t k = 0; k < over.count; ++k) {
        const between& x = over.at[static_cast<std::size_t>(o * over.count + k)];
        sum += x.near * row[x.low] + x.far * row[x.high];
      }
      put(sum * share, to[i * p.pooled[1] + o]);
    }
  }
}

template <class T>
void largest_of_region(const op::roi_align& p, const T* plane, const side_samples& down,
                       const side_samples& over, T* to) {
  const std::int64_t width = p.input[3];
  for (std::int64_t i = 0; i < p.pooled[0]; ++i)
    for (std::int64_t o = 0; o < p.pooled[1]; ++o) {
      float most = down.count * over.count > 0 ? -std::numeric_limits<float>::infinity() : 0;
      for (std::int64_t k = 0; k < down.count; ++k)
        for (std::int64_t l = 0; l < over.count; ++l) {
          const between& y = down.at[static_cast<std::size_t>(i * down.count + k)];
          const between& x = over.at[static_cast<std::size_t>(o * over.count + l)];
          const T *near = plane + y.low * width, *far = plane + y.high * width;
          most = std::max({most, y.near * x.near * number_of(near[x.low]),
                           y.near * x.far * number_of(near[x.high]),
                           y.far * x.near * number_of(far[x.low]),
                           y.far * x.far * number_of(far[x.high])});
        }
      put(most, to[i * p.pooled[1] + o]);
    }
}

/// Rows or columns of a bin of a MaxRoiPool: from the first to before the second.
inline std::pair<std::int64_t, std::int64_t> bin_of(double begin, double end, std::int64_t bin,
                                                    std::int64_t bins, std::int64_t size) {
  const double first = std::round(begin * attribute::roi_scale);
  const double span = std::max(std::round(end * attribute::roi_scale) - first + 1, 1.);
  const auto cut = [&](double at) {
    return at > 0 ? static_cast<std::int64_t>(std::min(at, static_cast<double>(size))) : 0;
  };
  const auto at = static_cast<double>(bin), of = static_cast<double>(bins);
  return {cut(std::floor(at * span / of) + first), cut(std::ceil((at + 1) * span / of) + first)};
}
} // namespace detail

inline bool runs(const op::roi_align&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::roi_align& p, const detail::job& j) {
  const std::int64_t plane = p.input[2] * p.input[3], result = p.pooled[0] * p.pooled[1];
  const int threads = detail::team_for(j.threads, p.cost().other * 2);
  const detail::scratch room(threads, p.input[3]);
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    return {"rows", [=, x = reinterpret_cast<const storage*>(j.inputs[0]),
                     boxes = reinterpret_cast<const storage*>(j.inputs[1]),
                     batches = reinterpret_cast<const std::int64_t*>(j.inputs[2]),
                     to = reinterpret_cast<storage*>(j.output)] {
              detail::share(threads, p.regions, 1, [&](std::int64_t n, std::int64_t end) {
                detail::side_samples down, over;
                for (; n < end; ++n) {
                  const auto at = [&](std::int64_t k) {
                    return static_cast<double>(detail::number_of(boxes[4 * n + k]));
                  };
                  down.find(p, 0, at(1), at(3));
                  over.find(p, 1, at(0), at(2));
                  const std::int64_t image = batches[n] < 0 ? batches[n] + p.input[0] : batches[n];
                  for (std::int64_t c = 0; c < p.input[1]; ++c) {
                    const storage* from = x + (image * p.input[1] + c) * plane;
                    storage* its = to + (n * p.input[1] + c) * result;
                    if (p.maximum)
                      detail::largest_of_region(p, from, down, over, its);
                    else
                      detail::average_region(p, from, down, over, room.mine(), its);
                  }
                }
              });
            }};
  });
}

inline bool runs(const op::max_roi_pool&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::max_roi_pool& p, const detail::job& j) {
  const std::int64_t plane = p.input[2] * p.input[3], channels = p.input[1];
  const int threads = detail::team_for(j.threads, p.cost().other * 4);
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    return {"loop", [=, x = reinterpret_cast<const storage*>(j.inputs[0]),
                     boxes = reinterpret_cast<const storage*>(j.inputs[1]),
                     to = reinterpret_cast<storage*>(j.output)] {
              detail::share(
                  threads, p.regions * channels, 1, [&](std::int64_t k, std::int64_t end) {
                    for (; k < end; ++k) {
                      const auto at = [&](std::int64_t i) {
                        return static_cast<double>(detail::number_of(boxes[k / channels * 5 + i]));
                      };
                      const auto image = static_cast<std::int64_t>(
                          std::min(std::max(at(0), 0.), static_cast<double>(p.input[0] - 1)));
                      const storage* from = x + (image * channels + k % channels) * plane;
                      for (std::int64_t o = 0; o < p.pooled[0] * p.pooled[1]; ++o) {
                        const auto rows =
                            detail::bin_of(at(2), at(4), o / p.pooled[1], p.pooled[0], p.input[2]);
                        const auto columns =
                            detail::bin_of(at(1), at(3), o % p.pooled[1], p.pooled[1], p.input[3]);
                        const bool any = rows.first < rows.second && columns.first < columns.second;
                        float most = any ? -std::numeric_limits<float>::infinity() : 0;
                        for (std::int64_t r = rows.first; r < rows.second; ++r)
                          for (std::int64_t c = columns.first; c < columns.second; ++c)
                            most = std::max(most, detail::number_of(from[r * p.input[3] + c]));
                        detail::put(most, to[k * p.pooled[0] * p.pooled[1] + o]);
                      }
                    }
                  });
            }};
  });
}

namespace detail {

/// Boxes that a class has kept, corner by corner, so that one is compared with many at once.
struct kept_corners {
  std::vector<float> top, left, bottom, right, area;

  void clear() {
    for (auto* v : {&top, &left, &bottom, &right, &area})
      v->clear();
  }
  void keep(const float (&box)[4]) {
    top.push_back(box[0]), left.push_back(box[1]);
    bottom.push_back(box[2]), right.push_back(box[3]);
    area.push_back((box[2] - box[0]) * (box[3] - box[1]));
  }
  bool overlap(const float (&box)[4]) const {
    constexpr auto most = static_cast<float>(attribute::most_overlap);
    const float own = (box[2] - box[0]) * (box[3] - box[1]);
    const std::size_t n = top.size();
    int found = 0;
#pragma omp simd reduction(| : found)
    for (std::size_t i = 0; i < n; ++i) {
      const float height = std::min(bottom[i], box[2]) - std::max(top[i], box[0]);
      const float width = std::min(right[i], box[3]) - std::max(left[i], box[1]);
      const float common = std::max(height, 0.f) * std::max(width, 0.f);
      found |= common > most * (area[i] + own - common);
    }
    return found != 0;
  }
};

template <class T>
void corners_of(const T* box, bool centred, float (&to)[4]) {
  for (int d = 0; d < 2; ++d) {
    const float u = number_of(box[d]), v = number_of(box[d + 2]);
    to[d] = centred ? u - v / 2 : std::min(u, v);
    to[d + 2] = centred ? u + v / 2 : std::max(u, v);
  }
}

/// The boxes that one class keeps, by falling score.
template <class T>
void keep_boxes(const op::non_max_suppression& p, const T* boxes, const T* scores,
                std::vector<std::pair<float, std::int64_t>>& found, kept_corners& kept,
                std::vector<std::int64_t>& out) {
  constexpr auto least = static_cast<float>(attribute::least_score);
  found.clear();
  kept.clear();
  out.clear();
  for (std::int64_t i = 0; i < p.boxes; ++i)
    if (const float s = number_of(scores[i]); s > least) found.emplace_back(-s, i);
  std::sort(found.begin(), found.end());
  for (const auto& [score, i] : found) {
    if (static_cast<std::int64_t>(out.size()) == p.most) return;
    float box[4];
    corners_of(boxes + 4 * i, p.centred, box);
    if (kept.overlap(box)) continue;
    kept.keep(box);
    out.push_back(i);
  }
}
} // namespace detail

inline bool runs(const op::non_max_suppression&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::non_max_suppression& p, const detail::job& j) {
  const std::int64_t lists = p.batch * p.classes;
  const int threads = detail::team_for(j.threads, elements(p.scores()) * 32);
  auto kept = std::make_shared<std::vector<std::vector<std::int64_t>>>(
      static_cast<std::size_t>(j.output == nullptr ? 0 : lists));
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    return {"sorted", [=, boxes = reinterpret_cast<const storage*>(j.inputs[0]),
                       scores = reinterpret_cast<const storage*>(j.inputs[1]),
                       to = reinterpret_cast<std::int64_t*>(j.output)] {
              detail::share(threads, lists, 1, [&](std::int64_t k, std::int64_t end) {
                std::vector<std::pair<float, std::int64_t>> found;
                detail::kept_corners corners;
                for (; k < end; ++k)
                  detail::keep_boxes(p, boxes + k / p.classes * p.boxes * 4, scores + k * p.boxes,
                                     found, corners, (*kept)[static_cast<std::size_t>(k)]);
              });
              std::int64_t* row = to;
              for (std::int64_t k = 0; k < lists; ++k)
                for (const std::int64_t i : (*kept)[static_cast<std::size_t>(k)]) {
                  row[0] = k / p.classes, row[1] = k % p.classes, row[2] = i;
                  row += 3;
                }
              std::fill(row, to + elements(p.output()), std::int64_t{-1});
            }};
  });
}

} // namespace benanza::backend::host
