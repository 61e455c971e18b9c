// SPDX-License-Identifier: Apache-2.0
// How do normalizations run? BatchNormalization as one multiply and one add an element: scale and
// shift are folded from its four constant vectors when the layer is prepared, as a framework would,
// and are contiguous, as its weights. LRN over blocks of columns, whose channels all stay in the
// cache.
//
//   kernel k = make(op::lrn{.input = {1, 96, 55, 55}, .size = 5}, job);
#pragma once

#include "detail/approx.hpp"
#include "detail/convert.hpp"
#include "detail/job.hpp"

namespace benanza::backend::host {

namespace detail {
inline void scale_and_shift(const float* from, float* to, std::int64_t n, float scale,
                            float shift) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = from[i] * scale + shift;
}

inline void scale_and_shift(const float* from, float* to, std::int64_t n, const float* scale,
                            const float* shift) {
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    to[i] = from[i] * scale[i] + shift[i];
}
} // namespace detail

/// Bytes of the folded weights: a scale and a shift for each channel.
inline std::int64_t weight_bytes(const op::batch_norm& p, dtype) {
  return p.input[1] * 8;
}

/// Writes the folded weights, all scales and then all shifts.
inline void fold_weights(const op::batch_norm& p, const operands& o, float* to) {
  const std::int64_t channels = p.input[1];
  for (std::int64_t c = 0; c < channels; ++c) {
    const auto vector = [&](std::size_t k) {
      return static_cast<double>(o.inputs[k].as<float>()[static_cast<std::size_t>(c)]);
    };
    const double scale = vector(1) / std::sqrt(vector(4) + attribute::epsilon);
    to[c] = static_cast<float>(scale);
    to[channels + c] = static_cast<float>(vector(2) - vector(3) * scale);
  }
}

inline detail::kernel make(const op::batch_norm& p, const detail::job& j) {
  const std::int64_t channels = p.input[1], inner = elements(p.input, 2, p.input.size);
  const std::int64_t count = elements(p.input);
  // Channels last (inner is 1) makes one row of each image; otherwise each channel is a row.
  const bool wide = inner == 1;
  const std::int64_t n = wide ? channels : inner, rows = count == 0 ? 0 : count / n;
  const bool floats = j.element == dtype::f32;
  const int threads = detail::team_for(j.threads, 2 * count * j.width());
  return {"loop", [=, widen = detail::widen_as(j.element), narrow = detail::narrow_as(j.result),
                   width = j.width(), factor = j.scale, weights = j.weights, from = j.inputs[0],
                   to = j.output] {
            const auto* scale = reinterpret_cast<const float*>(*weights);
            const float* shift = scale + channels;
            const auto compute = [&](const float* x, float* y, std::int64_t row, std::int64_t at,
                                     std::int64_t length) {
              const std::int64_t c = row % channels;
              if (wide)
                detail::scale_and_shift(x, y, length, scale + at, shift + at);
              else
                detail::scale_and_shift(x, y, length, scale[c], shift[c]);
            };
            detail::share(threads, rows, 1, [&](std::int64_t row, std::int64_t end) {
              alignas(64) float values[detail::block];
              for (; row < end; ++row) {
                if (floats) {
                  compute(reinterpret_cast<const float*>(from) + row * n,
                          reinterpret_cast<float*>(to) + row * n, row, 0, n);
                  continue;
                }
                for (std::int64_t at = 0; at < n; at += detail::block) {
                  const std::int64_t length = std::min(detail::block, n - at);
                  widen(from + (row * n + at) * width, values, length);
                  compute(values, values, row, at, length);
                  narrow(values, to + (row * n + at) * width, length, factor);
                }
              }
            });
          }};
}

inline detail::kernel make(const op::lrn& p, const detail::job& j) {
  const std::int64_t channels = p.input[1], inner = elements(p.input, 2, p.input.size);
  const std::int64_t images = p.input[0], size = p.size, count = elements(p.input);
  if (count == 0) return {"loop", [] {}};
  const int threads = detail::team_for(j.threads, 8 * count);
  const std::int64_t lanes =
      std::min(std::clamp<std::int64_t>(32768 / channels / 16 * 16, 16, detail::block), inner);
  const std::int64_t blocks = (inner + lanes - 1) / lanes;
  const auto alpha = static_cast<float>(attribute::lrn_alpha / static_cast<double>(size));
  const detail::scratch room(threads, channels * lanes);
  return {"loop", [=, widen = detail::widen_as(j.element), narrow = detail::narrow_as(j.result),
                   width = j.width(), factor = j.scale, from = j.inputs[0], to = j.output] {
            constexpr auto bias = static_cast<float>(attribute::lrn_bias);
            // To the power of -3/4: two roots.
            static_assert(attribute::lrn_beta == 0.75);
            detail::share(threads, images * blocks, 1, [&](std::int64_t k, std::int64_t end) {
              alignas(64) float sums[detail::block];
              float* x = room.mine();
              for (; k < end; ++k) {
                const std::int64_t first = k % blocks * lanes;
                const std::int64_t n = std::min(lanes, inner - first);
                const std::int64_t base = k / blocks * channels * inner + first;
                for (std::int64_t c = 0; c < channels; ++c)
                  widen(from + (base + c * inner) * width, x + c * n, n);
                for (std::int64_t c = 0; c < channels; ++c) {
                  const std::int64_t low = std::max<std::int64_t>(0, c - (size - 1) / 2);
                  const std::int64_t high = std::min(channels - 1, c + size / 2);
                  std::fill_n(sums, n, 0.f);
                  for (std::int64_t s = low; s <= high; ++s) {
                    const float* row = x + s * n;
#pragma omp simd
                    for (std::int64_t i = 0; i < n; ++i)
                      sums[i] += row[i] * row[i];
                  }
                  const float* own = x + c * n;
                  detail::over_lanes(
                      n, [&](std::int64_t i, auto at) __attribute__((always_inline)) {
                        const auto r = detail::root(bias + alpha * at.load(sums + i));
                        at.store(at.load(own + i) * detail::inverse(r * detail::root(r)), sums + i);
                      });
                  narrow(sums, to + (base + c * inner) * width, n, factor);
                }
              }
            });
          }};
}

} // namespace benanza::backend::host
