// SPDX-License-Identifier: Apache-2.0
// How do normalizations by their own statistics run? Row by row: the moments of a row in one trip
// through it, then each element in a second one, which finds short rows in the cache. What is added
// to a row first is added in the first trip, and the sums of short rows stay in the cache as f32.
// Scale and bias are contiguous, as the layer's weights.
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
std::int64_t weight_bytes(const Layer& p, dtype) {
  return p.cost().vectors * 4;
}

/// Writes scale and bias one after the other.
template <own_statistics Layer>
void fold_weights(const Layer&, const operands& o, float* to) {
  for (std::size_t k = 1; k < o.inputs.size(); ++k) {
    if (o.inputs[k].part != role::vector) continue;
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

/// What is added to the rows before they are normalized, and where the sums go.
struct addition {
  const std::byte* other = nullptr; ///< null: nothing is added
  std::byte* sums = nullptr;        ///< null: they are not read
};

/// to = x + what is added, of `length` elements from `at` on; `widen` is null for floats.
inline void add_part(const addition& a, const float* x, float* to, std::int64_t at,
                     std::int64_t length, widener widen, std::int64_t width) {
  alignas(64) float room[block];
  for (std::int64_t done = 0; done < length; done += block) {
    const std::int64_t n = std::min(block, length - done);
    const auto* other = reinterpret_cast<const float*>(a.other) + at + done;
    if (widen != nullptr) {
      widen(a.other + (at + done) * width, room, n);
      other = room;
    }
#pragma omp simd
    for (std::int64_t i = 0; i < n; ++i)
      to[done + i] = x[done + i] + other[i];
  }
}

/// Normalizes `rows` rows of `n` elements; `finish(row_part)` writes the results.
template <class Finish>
kernel normalize_rows(const job& j, std::int64_t rows, std::int64_t n, bool centred, Finish finish,
                      const addition& added = {}) {
  if (rows * n == 0) return {"rows", [] {}};
  // Rows may show their statistics.
  const bool shown = j.results.size() > 2 && j.output != nullptr;
  auto* means = shown ? reinterpret_cast<float*>(j.result_at(1)) : nullptr;
  auto* factors = shown ? reinterpret_cast<float*>(j.result_at(2)) : nullptr;
  const bool floats = j.element == dtype::f32;
  const bool adds = added.other != nullptr;
  const int trips = 2 + adds + (added.sums != nullptr);
  const int threads = team_for(j.threads, trips * rows * n * j.width());
  return {"rows", [=, widen = widen_as(j.element), narrow = narrow_as(j.result), width = j.width(),
                   scale = j.scale, weights = j.weights, from = j.inputs[0], to = j.output] {
            const auto* parameters = reinterpret_cast<const float*>(*weights);
            share(threads, rows, 1, [&](std::int64_t row, std::int64_t end) {
              alignas(64) float values[part_length];
              const bool whole = n <= part_length; // what was widened is still there
              const auto brought = [&](std::int64_t at, std::int64_t length,
                                       bool again) -> const float* {
                const float* x = floats ? reinterpret_cast<const float*>(from) + at : values;
                if (floats && !adds) return x;
                // Sums that are floats are written once, and read from there.
                const bool there = floats && added.sums != nullptr;
                float* sums = there ? reinterpret_cast<float*>(added.sums) + at : values;
                if (again && (there || whole)) return sums;
                if (!floats) widen(from + at * width, values, length);
                if (!adds) return values;
                add_part(added, x, sums, at, length, floats ? nullptr : widen, width);
                if (!again && !there && added.sums != nullptr)
                  narrow(values, added.sums + at * width, length, 1);
                return sums;
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

/// Floats alone: the codes of a quantised type are not added.
template <class Norm>
bool runs(const op::residual<Norm>&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

template <class Norm>
detail::kernel make(const op::residual<Norm>& p, const detail::job& j) {
  constexpr bool centred = std::same_as<Norm, op::layer_norm>;
  const std::int64_t n = p.row();
  bool shifted = false;
  if constexpr (centred) shifted = p.base.bias;
  const detail::addition added{.other = j.inputs.back(), .sums = p.sum ? j.result_at(1) : nullptr};
  return detail::normalize_rows(
      j, elements(p.base.input, 0, p.base.axis), n, centred,
      [n, shifted](const detail::row_part& r) { detail::finish_row(r, n, shifted); }, added);
}

} // namespace benanza::backend::host
