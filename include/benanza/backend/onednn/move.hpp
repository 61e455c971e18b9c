// SPDX-License-Identifier: Apache-2.0
// Data movement for oneDNN: Concat as its concat primitive; Transpose, Slice, DepthToSpace and
// SpaceToDepth as one reorder between two ways to walk the same memory; Resize as resampling where
// its sample positions are ONNX's. Operands of 8 and 32 bits move too, whatever they mean.
//
//   describe(op::transpose{.input = {1, 2, 58, 28}, .order = {0, 2, 1, 3}}, request, out);
#pragma once

#include "pool.hpp"

#include "../../op/move.hpp"

#include <cmath>

namespace benanza::backend::onednn {

namespace detail {
/// One reorder: `sizes` elements, read with `strides` from element `first` on, written densely.
inline void describe_copy(const dims& sizes, const dims& strides, std::int64_t first, data_type t,
                          const request& r, recipes& out) {
  dims merged_sizes, merged_strides;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] == 1) continue;
    if (!merged_sizes.empty() && merged_strides.back() == strides[i] * sizes[i]) {
      merged_sizes.back() *= sizes[i];
      merged_strides.back() = strides[i];
    } else {
      merged_sizes.push_back(sizes[i]);
      merged_strides.push_back(strides[i]);
    }
  }
  if (merged_sizes.empty()) merged_sizes = merged_strides = {1};
  const description from(merged_sizes, t, merged_strides), to = dense(merged_sizes, t);
  recipe made{.result = to, .letters = "abcdefgh", .before = "reorder:"};
  made.arguments = {
      {.id = DNNL_ARG_FROM, .input = 0, .stored = from, .letters = "abcdefgh", .first = first}};
  made.what = operation::reorder(from, to, r.engine, r.attributes());
  out.push_back(std::move(made));
}

/// The source element that ONNX takes for output `i` with rounding to the nearest. Places are exact
/// fractions up / down, so no rounding decides a tie.
inline std::int64_t nearest_source(op::sampling where, std::int64_t i, std::int64_t in,
                                   std::int64_t out) {
  const auto floored = [](std::int64_t a, std::int64_t b) { return a / b - (a % b < 0); };
  const auto nearest = [&](std::int64_t up, std::int64_t down) { // ties go to the lower one
    return -floored(down - 2 * up, 2 * down);
  };
  std::int64_t x = 0;
  switch (where) {
  case op::sampling::asymmetric: x = floored(i * in, out); break;
  case op::sampling::align_corners:
    if (out > 1) x = nearest(i * (in - 1), out - 1);
    break;
  case op::sampling::pytorch_half_pixel:
    if (out == 1) break;
    [[fallthrough]];
  case op::sampling::half_pixel: x = nearest((2 * i + 1) * in - out, 2 * out); break;
  default: break; // not offered
  }
  return std::clamp(x, std::int64_t{0}, in - 1);
}

/// True if the library's sample positions are those of the layer.
inline bool same_samples(const op::resize& p) {
  if (!p.plain() || p.mode == op::interpolation::cubic || p.input.size < 3 || p.input.size > 5)
    return false;
  if (p.input[0] != p.sizes[0] || p.input[1] != p.sizes[1]) return false;
  for (int d = 2; d < p.input.size; ++d) {
    const std::int64_t in = p.input[d], n = p.sizes[d];
    if (in == n) continue;
    if (p.mode == op::interpolation::linear) {
      if (p.coordinates == op::sampling::half_pixel ||
          (p.coordinates == op::sampling::pytorch_half_pixel && n > 1))
        continue;
      return false;
    }
    for (std::int64_t i = 0; i < n; ++i) {
      const float x =
          (static_cast<float>(i) + 0.5f) * static_cast<float>(in) / static_cast<float>(n) - 0.5f;
      const auto its =
          std::clamp(static_cast<std::int64_t>(std::round(x)), std::int64_t{0}, in - 1);
      if (its != nearest_source(p.coordinates, i, in, n)) return false;
    }
  }
  return true;
}
} // namespace detail

inline void describe(const op::transpose& p, const request& r, recipes& out) {
  const auto t = storage(p.element, r.type);
  if (!t) return;
  const dims strides = dense_strides(to_dims(p.input));
  dims walk;
  for (const std::int64_t d : p.order)
    walk.push_back(strides[static_cast<std::size_t>(d)]);
  detail::describe_copy(to_dims(p.output()), walk, 0, *t, r, out);
}

inline void describe(const op::slice& p, const request& r, recipes& out) {
  const auto t = storage(p.element, r.type);
  if (!t) return;
  dims strides = dense_strides(to_dims(p.input));
  std::int64_t first = 0;
  for (int i = 0; i < p.input.size; ++i) {
    auto& s = strides[static_cast<std::size_t>(i)];
    first += p.start(i) * s;
    if (p.step(i) < 0 && p.sizes[i] > 1) return;
    s *= std::abs(p.step(i));
  }
  detail::describe_copy(to_dims(p.sizes), strides, first, *t, r, out);
}

inline void describe(const op::depth_to_space& p, const request& r, recipes& out) {
  const std::int64_t n = p.input[0], b = p.block, c = p.input[1], h = p.input[2], w = p.input[3];
  if (p.inverse) {
    // Output (n, i, j, c, y, x) is input (n, c, y b + i, x b + j); or (n, c, i, j, y, x) is.
    if (p.column_row_depth)
      detail::describe_copy({n, c, b, b, h / b, w / b}, {c * h * w, h * w, w, 1, w * b, b}, 0,
                            r.types.source, r, out);
    else
      detail::describe_copy({n, b, b, c, h / b, w / b}, {c * h * w, w, 1, h * w, w * b, b}, 0,
                            r.types.source, r, out);
    return;
  }
  // Output (n, c, y, i, x, j) is input channel (i b + j) C + c, or c b b + i b + j.
  const std::int64_t depth = c / (b * b), plane = h * w;
  const dims walk = p.column_row_depth
                        ? dims{c * plane, b * b * plane, w, b * plane, 1, plane}
                        : dims{c * plane, plane, w, b * depth * plane, 1, depth * plane};
  detail::describe_copy({n, depth, h, b, w, b}, walk, 0, r.types.source, r, out);
}

inline void describe(const op::concat& p, const request& r, recipes& out) {
  const auto t = storage(p.element, r.type);
  if (!t) return;
  const std::int64_t outer = elements(p.whole, 0, p.axis),
                     inner = elements(p.whole, p.axis + 1, p.whole.size);
  const dims whole = to_dims(p.whole);
  // The library's concat takes six dims at most.
  const bool merged = whole.size() > 5;
  const auto part_at = [&](std::int64_t i) {
    shape part = op::part_of(p.whole, p.axis, p.parts, i);
    if (!r.parts.empty()) part[p.axis] = r.parts[static_cast<std::size_t>(i)];
    return part;
  };
  bool blocks = true;
  for (std::int64_t i = 0; i < p.parts; ++i)
    blocks = blocks && part_at(i)[p.axis] % channels_in_block() == 0;
  const bool channels = p.axis == 1 && p.element == dtype::real;
  for (const arrangement in : arrangements(whole, r.floating(), blocks)) {
    if (in != arrangement::plain && !channels) continue;
    recipe made{.result = dense(merged ? dims{outer, p.whole[p.axis] * inner} : whole, *t)};
    made.letters = activation_letters(merged ? 2 : whole.size());
    std::vector<description> sources;
    for (std::int64_t i = 0; i < p.parts; ++i) {
      const shape part = part_at(i);
      const dims sizes = merged ? dims{outer, part[p.axis] * inner} : to_dims(part);
      sources.push_back(arranged(sizes, *t, in));
      made.arguments.push_back({.id = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i),
                                .input = static_cast<int>(i),
                                .stored = dense(sizes, *t),
                                .letters = i == 0 ? made.letters : ""});
    }
    const description result = arranged(merged ? anatomy(made.result).sizes : whole, *t, in);
    if (in != arrangement::plain) made.after = '@' + layout_name(result, made.letters);
    made.what = operation::concat(result, merged ? 1 : p.axis, sources, r.engine, r.attributes());
    out.push_back(std::move(made));
  }
}

inline void describe(const op::resize& p, const request& r, recipes& out) {
  if (!detail::same_samples(p)) return;
  const dims source = to_dims(p.input), result = to_dims(p.sizes);
  const auto how = p.mode == op::interpolation::nearest ? dnnl::algorithm::resampling_nearest
                                                        : dnnl::algorithm::resampling_linear;
  describe_arrangements(source, r, out, [&](arrangement in) {
    recipe made{.result = dense(result, r.types.result)};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source)}};
    made.what = operation::resampling(how, arranged(source, r.types.source, in),
                                      arranged(result, r.types.result, in), r.attributes());
    return made;
  });
}

inline void describe(const op::reorder& p, const request& r, recipes& out) {
  const dims sizes = to_dims(p.input);
  const auto type = storage(p.element, r.type);
  if (!type) return;
  const auto laid_out = [&](layout l) -> description {
    switch (l) {
    case layout::plain: return dense(sizes, *type);
    case layout::channels_last: return arranged(sizes, *type, arrangement::channels_last);
    case layout::blocked8: return in_blocks(sizes, *type, 8);
    case layout::blocked16: break;
    }
    return in_blocks(sizes, *type, 16);
  };
  recipe made{.result = dense(sizes, *type)};
  made.letters = activation_letters(sizes.size());
  made.arguments = {
      {.id = DNNL_ARG_FROM, .input = 0, .stored = dense(sizes, *type), .letters = made.letters}};
  made.what = operation::reorder(laid_out(p.from), laid_out(p.to), r.engine, r.attributes());
  out.push_back(std::move(made));
}

} // namespace benanza::backend::onednn
