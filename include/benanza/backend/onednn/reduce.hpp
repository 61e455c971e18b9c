// SPDX-License-Identifier: Apache-2.0
// Reductions for oneDNN. Neighbouring dims that are all kept or all reduced become one. Where
// reduced dims are not the last ones there is a second form, `@reduced-last`, for a network that
// keeps them innermost in memory: the fast kernels know only that one. Sums and means are offered
// as products with ones too.
//
//   describe(op::reduce{.function = op::reduction::mean, .input = {1, 64, 56, 56}, .axes = {2, 3}},
//   request, out);
#pragma once

#include "ones.hpp"

#include "../../op/reduce.hpp"

namespace benanza::backend::onednn {

namespace detail {
struct reduction_kind {
  dnnl::algorithm how;
  float p;
};

inline std::optional<reduction_kind> reduction_of(op::reduction f) {
  using how = dnnl::algorithm;
  switch (f) {
  case op::reduction::mean: return reduction_kind{how::reduction_mean, 0};
  case op::reduction::sum: return reduction_kind{how::reduction_sum, 0};
  case op::reduction::max: return reduction_kind{how::reduction_max, 0};
  case op::reduction::min: return reduction_kind{how::reduction_min, 0};
  case op::reduction::product: return reduction_kind{how::reduction_mul, 0};
  case op::reduction::l1: return reduction_kind{how::reduction_norm_lp_power_p_sum, 1};
  case op::reduction::l2: return reduction_kind{how::reduction_norm_lp_sum, 2};
  case op::reduction::sum_square: return reduction_kind{how::reduction_norm_lp_power_p_sum, 2};
  default: return std::nullopt;
  }
}

/// Dims in as few as possible; adjacent ones that are both kept or both reduced are one.
struct joined_dims_of {
  dims sizes{};
  std::vector<bool> reduced{};

  explicit joined_dims_of(const op::reduce& p) {
    for (int i = 0; i < p.input.size; ++i) {
      if (p.input[i] == 1) continue;
      if (!reduced.empty() && reduced.back() == p.reduces(i)) {
        sizes.back() *= p.input[i];
      } else {
        sizes.push_back(p.input[i]);
        reduced.push_back(p.reduces(i));
      }
    }
    if (sizes.size() == 1) {
      sizes.insert(sizes.begin(), 1);
      reduced.insert(reduced.begin(), false);
    }
  }
  bool reduces(std::size_t i) const { return static_cast<bool>(reduced[i]); }
  bool reduces_any() const {
    return std::find(reduced.begin(), reduced.end(), true) != reduced.end();
  }
};

/// The library's own reductions.
inline void describe_reduction(const reduction_kind& kind, const joined_dims_of& from,
                               const request& r, recipes& out) {
  std::vector<std::size_t> order(from.sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const dims strides = dense_strides(from.sizes);
  const std::string_view names = activation_letters(12);
  const auto offer = [&](std::string after) {
    dims turned, stored, result;
    std::string letters;
    for (const std::size_t i : order) {
      turned.push_back(from.sizes[i]);
      stored.push_back(strides[i]);
      result.push_back(from.reduces(i) ? 1 : from.sizes[i]);
      letters += names[i];
    }
    recipe made{
        .result = dense(result, r.types.result), .letters = letters, .after = std::move(after)};
    made.arguments = {{.id = DNNL_ARG_SRC,
                       .input = 0,
                       .stored = {turned, r.types.source, stored},
                       .letters = letters}};
    made.what = operation::reduction(kind.how, dense(turned, r.types.source), made.result, kind.p,
                                     r.attributes());
    out.push_back(std::move(made));
  };
  offer("");
  if (std::is_sorted(from.reduced.begin(), from.reduced.end())) return;
  std::stable_partition(order.begin(), order.end(),
                        [&](std::size_t i) { return !from.reduces(i); });
  offer("@reduced-last");
}
} // namespace detail

inline void describe(const op::reduce& p, const request& r, recipes& out) {
  const auto kind = detail::reduction_of(p.function);
  if (!kind || p.element != dtype::real) return;
  using enum op::reduction;
  const detail::joined_dims_of from(p);
  if (!from.reduces_any()) return;
  // Sums leave the range of eight bits, and the library cannot scale its reductions.
  if (r.floating() || p.function == mean || p.function == max || p.function == min)
    detail::describe_reduction(*kind, from, r, out);
  if (const auto sums = row_sums_of(p)) describe_ones(*sums, r, out);
}

} // namespace benanza::backend::onednn
