// SPDX-License-Identifier: Apache-2.0
// Rule: upsampling folded into the convolution. Where a Resize only repeats points and a
// convolution reads the result, several of its taps read the same point: their weights are summed,
// once, and one transposed convolution does both.
//   before: Resize 256x16x16 to 32x32 -> Conv 3x3     after: ConvTranspose 4x4 with stride 2
// Proof: with taps k, pads p before and f repeats, a result at v is the sum of w[k] x[i] over all k
// and i with i f <= v + k - p < (i + 1) f, which is the sum over i of x[i] w'[v - i f + K - 1 - p]
// where w'[j] is the sum of the w[k] with K - 1 - j <= k < K - 1 - j + f. There are K + f - 1
// places for j, of which each result takes every f-th: (K - 1) / f + 1, rounded up, in place of K.
#pragma once

#include "../../op/kinds.hpp"
#include "draft.hpp"
#include "rewritten.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

inline constexpr std::string_view upsampling_rule = "upsampling folded into the convolution";

namespace detail {
/// How often a Resize repeats each point along the dims behind the channels; nothing: it does
/// something else.
inline std::optional<extents> repeats(const op::resize& r) {
  using enum op::nearest;
  const bool from_corner = r.coordinates == op::sampling::asymmetric,
             from_centre = r.coordinates == op::sampling::half_pixel ||
                           r.coordinates == op::sampling::pytorch_half_pixel;
  const bool picks_own = (from_corner && (r.rounding == usual || r.rounding == floor)) ||
                         (from_centre && r.rounding != floor && r.rounding != ceil);
  if (r.mode != op::interpolation::nearest || !picks_own || r.input.size < 3 ||
      r.sizes[0] != r.input[0] || r.sizes[1] != r.input[1])
    return std::nullopt;
  extents out;
  for (int i = 2; i < r.input.size; ++i) {
    if (r.sizes[i] % r.input[i] != 0) return std::nullopt;
    out.push(r.sizes[i] / r.input[i]);
  }
  return out;
}

/// The transposed convolution of `from` that gives what `c` gives of points repeated `times`;
/// nothing: it would read beyond what pads there are.
inline std::optional<op::conv_transpose> upsampled(const op::conv& c, const shape& from,
                                                   const extents& times) {
  if (!c.strides.all(1) || !c.dilations.all(1) || c.groups != 1) return std::nullopt;
  op::conv_transpose out{.input = from, .outputs = c.outputs, .strides = times, .bias = c.bias};
  const int n = c.kernel.size;
  out.pads = paddings{};
  for (int side = 0; side < 2; ++side)
    for (int i = 0; i < n; ++i) {
      const std::int64_t left = c.kernel[i] - 1 - op::entry(c.pads, i + side * n, 0);
      if (left < 0) return std::nullopt;
      out.pads.push(left);
    }
  for (int i = 0; i < n; ++i)
    out.kernel.push(c.kernel[i] + times[i] - 1);
  return out.canonical_form();
}
} // namespace detail

/// The kernel of the convolution that `p` took the place of.
inline extents taps_before(const op::conv_transpose& p) {
  extents out;
  for (int i = 0; i < p.kernel.size; ++i)
    out.push(p.kernel[i] - op::entry(p.strides, i, 1) + 1);
  return out;
}

/// Which taps of that convolution (rows) are summed in which of `p` (columns): ones, else zeros.
inline std::vector<std::int64_t> summed_taps(const op::conv_transpose& p) {
  std::vector<std::int64_t> out{1};
  std::int64_t rows = 1, columns = 1;
  const extents taps = taps_before(p);
  for (int i = 0; i < p.kernel.size; ++i) {
    const std::int64_t K = taps[i], size = p.kernel[i], times = op::entry(p.strides, i, 1);
    std::vector<std::int64_t> next;
    for (std::int64_t r = 0; r < rows * K; ++r)
      for (std::int64_t c = 0; c < columns * size; ++c) {
        const std::int64_t first = K - 1 - c % size, k = r % K;
        next.push_back(first <= k && k < first + times
                           ? out[static_cast<std::size_t>(r / K * columns + c / size)]
                           : 0);
      }
    out = std::move(next);
    rows *= K;
    columns *= size;
  }
  return out;
}

/// Sums of weights are more bytes than the weights. Fewer operations than these for each byte more
/// may not be worth it: processors compute 10 to 20 in f32 while they read one.
inline constexpr std::int64_t least_flops_per_byte = 64;

/// `g` with one upsampling folded into the convolution behind it, the first one where that saves
/// operations, and enough of them for the bytes of weights that come; nothing: there is none.
inline std::optional<graph> upsampling_folded(const graph& g) {
  const draft seen(g);
  for (int i = 0; i < seen.size(); ++i) {
    const op::layer* l = seen.layer(i);
    const auto* c = l == nullptr ? nullptr : op::as<op::conv>(l);
    const std::vector<operand>& its = seen.at(i).operands;
    if (c == nullptr || its.size() < 2 || its[0].node < 0 || its[1].node != constant) continue;
    const op::layer* before = seen.layer(its[0].node);
    const auto* r = before == nullptr ? nullptr : op::as<op::resize>(before);
    if (r == nullptr) continue;
    const auto times = detail::repeats(*r);
    const auto both = times ? detail::upsampled(*c, r->input, *times) : std::nullopt;
    if (!both) continue;

    draft w(g);
    const int resize = its[0].node;
    std::vector<operand> operands = its;
    operands[0] = seen.at(resize).operands.at(0);
    const int made = w.insert_before(i, seen.at(i).name + std::string(upsampled_mark),
                                     op::layer(*both), operands);
    w.replace(i, {made});
    if (seen.inner(resize) && seen.readers(resize).size() == 1) w.drop(resize);
    graph folded = w.finished(upsampling_rule, {made});
    const rewrite& saved = folded.rewrites.back();
    if (saved.flops > 0 && saved.flops >= -saved.bytes * least_flops_per_byte) return folded;
  }
  return std::nullopt;
}

} // namespace benanza::model
