// SPDX-License-Identifier: Apache-2.0
// How do windows that are taken apart and put together run? Col2Im adds row by row of the columns
// to planes that stay in the cache. DeformConv samples the columns of a block of outputs, with one
// table of places for all channels that share their offsets, and multiplies weights with them.
// MaxUnpool clears and scatters, plane by plane.
//
//   kernel k = make(op::deform_conv{.input = {1, 8, 9, 9}, .outputs = 4, .kernel = {3, 3}}, job);
#pragma once

#include "detail/copy.hpp"
#include "detail/product.hpp"
#include "grid_sample.hpp"

#include <array>

namespace benanza::backend::host {

namespace detail {

/// One spatial dim of a window that slides over an image.
struct slid_dim {
  std::int64_t image = 1, blocks = 1, kernel = 1, stride = 1, dilation = 1, begin = 0;
};

template <class T>
void add_columns(const std::array<slid_dim, 3>& d, const T* columns, float* plane) {
  const slid_dim& w = d[2];
  for (std::int64_t tap = 0; tap < d[0].kernel * d[1].kernel * w.kernel; ++tap) {
    const std::int64_t k[3] = {tap / w.kernel / d[1].kernel, tap / w.kernel % d[1].kernel,
                               tap % w.kernel};
    const std::int64_t offset = k[2] * w.dilation - w.begin; // of window 0
    const std::int64_t low = offset < 0 ? (-offset + w.stride - 1) / w.stride : 0;
    const std::int64_t last = w.image - 1 - offset;
    const std::int64_t high = last < 0 ? 0 : std::min(w.blocks, last / w.stride + 1);
    for (std::int64_t z = 0; z < d[0].blocks; ++z)
      for (std::int64_t y = 0; y < d[1].blocks; ++y, columns += w.blocks) {
        const std::int64_t iz = z * d[0].stride - d[0].begin + k[0] * d[0].dilation;
        const std::int64_t iy = y * d[1].stride - d[1].begin + k[1] * d[1].dilation;
        if (iz < 0 || iz >= d[0].image || iy < 0 || iy >= d[1].image) continue;
        float* to = plane + (iz * d[1].image + iy) * w.image + offset;
        if (w.stride == 1) {
#pragma omp simd
          for (std::int64_t x = low; x < high; ++x)
            to[x] += number_of(columns[x]);
        } else {
          for (std::int64_t x = low; x < high; ++x)
            to[x * w.stride] += number_of(columns[x]);
        }
      }
  }
}
} // namespace detail

inline bool runs(const op::col2im&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::col2im& p, const detail::job& j) {
  std::array<detail::slid_dim, 3> d;
  const extents blocks = p.blocks();
  const int n = p.kernel.size;
  for (int i = 0; i < n; ++i)
    d[static_cast<std::size_t>(3 - n + i)] = {p.image[i + 2],
                                              blocks[i],
                                              p.kernel[i],
                                              op::entry(p.strides, i, 1),
                                              op::entry(p.dilations, i, 1),
                                              op::entry(p.pads, i, 0)};
  const std::int64_t planes = p.image[0] * p.image[1], in = elements(p.input(), 2, 3) * p.taps();
  const std::int64_t plane = elements(p.image, 2, p.image.size);
  const int threads = detail::team_for(j.threads, planes * (in + plane) * j.width());
  const bool floats = j.element == dtype::f32;
  const detail::scratch room(threads, floats ? 0 : plane);
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    return {"rows", [=, from = reinterpret_cast<const storage*>(j.inputs[0]),
                     to = reinterpret_cast<storage*>(j.output)] {
              detail::share(threads, planes, 1, [&](std::int64_t k, std::int64_t end) {
                for (; k < end; ++k) {
                  float* sums = room.mine();
                  if constexpr (std::is_same_v<storage, float>) sums = to + k * plane;
                  std::fill_n(sums, plane, 0.f);
                  detail::add_columns(d, from + k * in, sums);
                  if constexpr (!std::is_same_v<storage, float>)
                    for (std::int64_t i = 0; i < plane; ++i)
                      detail::put(sums[i], to[k * plane + i]);
                }
              });
            }};
  });
}

namespace detail {

/// Outputs whose columns are made at once.
inline constexpr std::int64_t deformed_block = 2 * tile_columns;

/// For a block of outputs: the four elements that a moved tap is between, and their weights.
struct moved_tap {
  std::int32_t at[4][deformed_block];
  float weight[4][deformed_block];
};

template <class T>
struct deform_plan {
  op::deform_conv p{};
  const T *x, *offsets, *masks;
  const float* bias;
  T* y;
  std::int64_t height, width, lines, taps, each; // `lines`: outputs of an image

  deform_plan(const op::deform_conv& layer, const job& j)
      : p(layer)
      , x(reinterpret_cast<const T*>(j.inputs[0]))
      , offsets(reinterpret_cast<const T*>(j.inputs[2]))
      , masks(layer.mask ? reinterpret_cast<const T*>(j.inputs[4]) : nullptr)
      , bias(layer.bias ? reinterpret_cast<const float*>(j.inputs[3]) : nullptr)
      , y(reinterpret_cast<T*>(j.output))
      , height(layer.input[2])
      , width(layer.input[3])
      , lines(elements(layer.output(), 2, 4))
      , taps(layer.taps())
      , each(layer.input[1] / layer.groups) {}

  std::int64_t blocks() const { return (lines + deformed_block - 1) / deformed_block; }
  /// Columns of all channels, and the sums of one group.
  std::int64_t floats() const {
    return (p.input[1] * taps + p.outputs / p.groups) * deformed_block;
  }

  void run(std::int64_t number, const float* weights, float* room) const {
    const std::int64_t image = number / blocks(), first = number % blocks() * deformed_block;
    const std::int64_t n = std::min(deformed_block, lines - first);
    float *columns = room, *sums = room + p.input[1] * taps * deformed_block;
    moved_tap moved;
    const std::int64_t channels = p.input[1] / p.offset_groups;
    for (std::int64_t part = 0; part < p.offset_groups; ++part)
      for (std::int64_t tap = 0; tap < taps; ++tap) {
        place(image, part, tap, first, n, moved);
        for (std::int64_t c = part * channels; c < (part + 1) * channels; ++c)
          sample_row(x + (image * p.input[1] + c) * height * width, moved,
                     columns + (c * taps + tap) * deformed_block);
      }
    const std::int64_t outputs = p.outputs / p.groups, depth = each * taps;
    for (std::int64_t g = 0; g < p.groups; ++g) {
      for (std::int64_t o = 0; o < outputs; ++o)
        std::fill_n(sums + o * deformed_block, deformed_block,
                    bias == nullptr ? 0.f : bias[g * outputs + o]);
      add_product(weights + g * outputs * depth, depth, columns + g * depth * deformed_block,
                  deformed_block, sums, deformed_block, outputs, deformed_block, depth);
      for (std::int64_t o = 0; o < outputs; ++o) {
        T* to = y + (image * p.outputs + g * outputs + o) * lines + first;
        for (std::int64_t i = 0; i < n; ++i)
          put(sums[o * deformed_block + i], to[i]);
      }
    }
  }

private:
  void place(std::int64_t image, std::int64_t part, std::int64_t tap, std::int64_t first,
             std::int64_t n, moved_tap& to) const {
    const std::int64_t columns = p.output()[3], which = part * taps + tap;
    const std::int64_t all = p.offset_groups * taps;
    const T* down = offsets + (image * 2 * all + 2 * which) * lines + first;
    const T* over = down + lines;
    const T* mask = masks == nullptr ? nullptr : masks + (image * all + which) * lines + first;
    const std::int64_t stride[2] = {op::entry(p.strides, 0, 1), op::entry(p.strides, 1, 1)};
    const std::int64_t top =
        tap / p.kernel[1] * op::entry(p.dilations, 0, 1) - op::entry(p.pads, 0, 0);
    const std::int64_t left =
        tap % p.kernel[1] * op::entry(p.dilations, 1, 1) - op::entry(p.pads, 1, 0);
    const auto rows = static_cast<float>(height), wide = static_cast<float>(width);
    for (std::int64_t i = 0; i < deformed_block; ++i) {
      if (i >= n) {
        for (int k = 0; k < 4; ++k)
          to.at[k][i] = 0, to.weight[k][i] = 0;
        continue;
      }
      const std::int64_t line = (first + i) / columns, column = (first + i) % columns;
      const float v = static_cast<float>(line * stride[0] + top) + number_of(down[i]);
      const float u = static_cast<float>(column * stride[1] + left) + number_of(over[i]);
      const float low = std::floor(v), near = std::floor(u);
      const float scale = mask == nullptr ? 1.f : number_of(mask[i]);
      for (int k = 0; k < 4; ++k) {
        const float r = low + static_cast<float>(k / 2), c = near + static_cast<float>(k % 2);
        const bool inside = r >= 0 && r < rows && c >= 0 && c < wide;
        const float a = k / 2 == 0 ? 1 - (v - low) : v - low;
        const float b = k % 2 == 0 ? 1 - (u - near) : u - near;
        to.at[k][i] = inside ? static_cast<std::int32_t>(r) * static_cast<std::int32_t>(width) +
                                   static_cast<std::int32_t>(c)
                             : 0;
        to.weight[k][i] = inside ? a * b * scale : 0;
      }
    }
  }
  static void sample_row(const T* __restrict plane, const moved_tap& from, float* __restrict to) {
#pragma omp simd
    for (std::int64_t i = 0; i < deformed_block; ++i)
      to[i] = (from.weight[0][i] * number_of(plane[from.at[0][i]]) +
               from.weight[1][i] * number_of(plane[from.at[1][i]])) +
              (from.weight[2][i] * number_of(plane[from.at[2][i]]) +
               from.weight[3][i] * number_of(plane[from.at[3][i]]));
  }
};
} // namespace detail

inline bool runs(const op::deform_conv& p, dtype element) {
  return (element == dtype::f32 || element == dtype::bf16) &&
         elements(p.input, 2, 4) < std::int64_t{1} << 31;
}

/// Bytes of the weights as the kernel reads them.
inline std::int64_t weight_bytes(const op::deform_conv& p, dtype) {
  return elements(p.weights()) * 4;
}

inline void fold_weights(const op::deform_conv&, const operands& o, float* to) {
  const tensor& w = o.inputs[1];
  for (std::int64_t i = 0; i < w.count(); ++i)
    to[i] = static_cast<float>(load(w.type, w.bytes.data(), i));
}

inline detail::kernel make(const op::deform_conv& p, const detail::job& j) {
  const int threads = detail::team_for(j.threads, p.cost().flops());
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    const detail::deform_plan<decltype(e)> plan(p, j);
    const detail::scratch room(threads, plan.floats());
    return {"columns", [=, weights = j.weights] {
              detail::share(threads, p.input[0] * plan.blocks(), 1,
                            [&](std::int64_t k, std::int64_t end) {
                              for (; k < end; ++k)
                                plan.run(k, reinterpret_cast<const float*>(*weights), room.mine());
                            });
            }};
  });
}

/// MaxUnpool moves elements: any storage will do.
inline bool runs(const op::max_unpool&, dtype) {
  return true;
}

inline detail::kernel make(const op::max_unpool& p, const detail::job& j) {
  const int rank = p.input.size;
  const std::int64_t planes = p.input[0] * p.input[1], count = elements(p.input, 2, rank);
  const std::int64_t whole = elements(p.unpooled), width = j.width();
  const bool same = p.unpooled == p.result;
  const std::int64_t bytes = elements(p.result) * width;
  const int threads = detail::team_for(j.threads, bytes + planes * count * (width + 8));
  detail::kernel made{"scatter", {}};
  detail::with_width(width, [&](auto e) {
    using element = decltype(e);
    made.run = [=, from = reinterpret_cast<const element*>(j.inputs[0]),
                places = reinterpret_cast<const std::int64_t*>(j.inputs[1]),
                to = reinterpret_cast<element*>(j.output)] {
      detail::share(threads, elements(p.result), 1024, [&](std::int64_t begin, std::int64_t end) {
        std::fill(to + begin, to + end, element{});
      });
      const shape inner = packed(p.unpooled), outer = packed(p.result);
      detail::share(threads, planes, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin * count; i < end * count; ++i) {
          std::int64_t at = places[i] < 0 ? places[i] + whole : places[i];
          if (!same) {
            std::int64_t rest = at;
            at = 0;
            for (int d = 0; d < rank; ++d) {
              at += rest / inner[d] * outer[d];
              rest %= inner[d];
            }
          }
          to[at] = from[i];
        }
      });
    };
  });
  return made;
}

} // namespace benanza::backend::host
