// SPDX-License-Identifier: Apache-2.0
// How do normalizations by their own statistics run? Row by row: the moments of a row in one trip
// through it, then each element in a second one, which finds short rows in the cache. Scale and
// bias lie together as the layer's weights.
//
//   kernel k = make(op::layer_norm{.input = {1, 197, 768}, .axis = 2, .bias = true}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/job.hpp"
#include "detail/moments.hpp"

#include <concepts>

namespace benanza::backend::host {

/// Normalizations of rows by a mean and a deviation of their own.
template <class Layer>
concept own_statistics = requires(const Layer& p) {
  { p.row() } -> std::same_as<std::int64_t>;
};

/// Bytes of scale and bias.
template <own_statistics Layer>
std::int64_t weight_bytes(const Layer& p) {
  return p.cost().vectors * 4;
}

/// Writes scale and bias one after the other.
template <own_statistics Layer>
void fold_weights(const Layer&, const operands& o, float* to) {
  for (std::size_t k = 1; k < o.inputs.size(); ++k) {
    const auto from = o.inputs[k].as<float>();
    to = std::copy(from.begin(), from.end(), to);
  }
}

namespace detail {

/// Elements that are taken at once: half of a first-level cache.
inline constexpr std::int64_t part_length = 4 * block;

/// A part of a row that is to be normalized; `y` may be `x`.
struct row_part {
  const float* parameters;
  const float* x;
  float* y;
  std::int64_t row, at, length; ///< elements [at, at + length) of that row
  float mean, factor;           ///< of the row; factor: one by the deviation
};

/// Normalizes `rows` rows of `n` elements; `finish(row_part)` writes the results.
template <class Finish>
kernel normalize_rows(const job& j, std::int64_t rows, std::int64_t n, bool centred,
                      Finish finish) {
  if (rows * n == 0) return {"rows", [] {}};
  // Rows may show their statistics.
  const bool shown = j.results.size() > 1 && j.output != nullptr;
  auto* means = shown ? reinterpret_cast<float*>(j.result_at(1)) : nullptr;
  auto* factors = shown ? reinterpret_cast<float*>(j.result_at(2)) : nullptr;
  const bool floats = j.element == dtype::f32;
  const int threads = team_for(j.threads, 2 * rows * n * j.width());
  return {"rows", [=, widen = widen_as(j.element), narrow = narrow_as(j.result), width = j.width(),
                   scale = j.scale, weights = j.weights, from = j.inputs[0], to = j.output] {
            const auto* parameters = reinterpret_cast<const float*>(*weights);
            share(threads, rows, 1, [&](std::int64_t row, std::int64_t end) {
              alignas(64) float values[part_length];
              const bool whole = n <= part_length; // what was widened is still there
              const auto brought = [&](std::int64_t at, std::int64_t length,
                                       bool again) -> const float* {
                if (floats) return reinterpret_cast<const float*>(from) + at;
                if (!again || !whole) widen(from + at * width, values, length);
                return values;
              };
              for (; row < end; ++row) {
                moments all;
                for (std::int64_t at = 0; at < n; at += part_length) {
                  const std::int64_t length = std::min(part_length, n - at);
                  const float* x = brought(row * n + at, length, false);
                  centred ? all.add(x, length) : all.add_squares(x, length);
                }
                const double variance = std::max(all.squares, 0.) / all.count;
                const double deviation = std::sqrt(variance + attribute::epsilon);
                if (means != nullptr) {
                  means[row] = static_cast<float>(all.mean);
                  factors[row] = static_cast<float>(1 / deviation);
                }
                for (std::int64_t at = 0; at < n; at += part_length) {
                  const std::int64_t length = std::min(part_length, n - at), place = row * n + at;
                  finish(row_part{.parameters = parameters,
                                  .x = brought(place, length, true),
                                  .y = floats ? reinterpret_cast<float*>(to) + place : values,
                                  .row = row,
                                  .at = at,
                                  .length = length,
                                  .mean = static_cast<float>(all.mean),
                                  .factor = static_cast<float>(1 / deviation)});
                  if (!floats) narrow(values, to + place * width, length, scale);
                }
              }
            });
          }};
}

/// Scale and, if `shifted`, bias of every element of a row.
inline void finish_row(const row_part& r, std::int64_t n, bool shifted) {
  const float *x = r.x, *scale = r.parameters + r.at, *shift = scale + n;
  float* y = r.y;
  const float mean = r.mean, factor = r.factor;
  if (shifted) {
#pragma omp simd
    for (std::int64_t i = 0; i < r.length; ++i)
      y[i] = (x[i] - mean) * factor * scale[i] + shift[i];
  } else {
#pragma omp simd
    for (std::int64_t i = 0; i < r.length; ++i)
      y[i] = (x[i] - mean) * factor * scale[i];
  }
}
} // namespace detail

inline detail::kernel make(const op::layer_norm& p, const detail::job& j) {
  const std::int64_t n = p.row();
  return detail::normalize_rows(
      j, elements(p.input, 0, p.axis), n, true,
      [n, shifted = p.bias](const detail::row_part& r) { detail::finish_row(r, n, shifted); });
}

inline detail::kernel make(const op::rms_norm& p, const detail::job& j) {
  const std::int64_t n = p.row();
  return detail::normalize_rows(
      j, elements(p.input, 0, p.axis), n, false,
      [n](const detail::row_part& r) { detail::finish_row(r, n, false); });
}

} // namespace benanza::backend::host
