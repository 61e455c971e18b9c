// SPDX-License-Identifier: Apache-2.0
// Reductions for oneDNN. Neighbouring dims that are all kept or all reduced become one. Where
// reduced dims are not the last ones there is a second form, `@reduced-last`, for a network that
// keeps them innermost in memory: the fast kernels know only that one.
//
//   describe(op::reduce{.function = op::reduction::mean, .input = {1, 64, 56, 56}, .axes = {2, 3}},
//   request, out);
#pragma once

#include "recipe.hpp"

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
} // namespace detail

inline void describe(const op::reduce& p, const request& r, recipes& out) {
  const auto kind = detail::reduction_of(p.function);
  if (!kind || p.element != dtype::real) return;
  // Sums leave the range of eight bits, and the library cannot scale them.
  const bool stays = p.function == op::reduction::mean || p.function == op::reduction::max ||
                     p.function == op::reduction::min;
  if (!r.floating() && !stays) return;
  dims sizes, kept;
  std::vector<bool> reduced;
  for (int i = 0; i < p.input.size; ++i) {
    if (p.input[i] == 1) continue;
    if (!reduced.empty() && reduced.back() == p.reduces(i)) {
      sizes.back() *= p.input[i];
    } else {
      sizes.push_back(p.input[i]);
      reduced.push_back(p.reduces(i));
    }
  }
  const auto is_reduced = [&](std::size_t i) { return static_cast<bool>(reduced[i]); };
  if (std::find(reduced.begin(), reduced.end(), true) == reduced.end()) return;
  if (sizes.size() == 1) {
    sizes.insert(sizes.begin(), 1);
    reduced.insert(reduced.begin(), false);
  }
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const dims strides = dense_strides(sizes);
  const std::string_view names = activation_letters(12);
  const auto offer = [&](std::string after) {
    dims turned, stored, result;
    std::string letters;
    for (const std::size_t i : order) {
      turned.push_back(sizes[i]);
      stored.push_back(strides[i]);
      result.push_back(is_reduced(i) ? 1 : sizes[i]);
      letters += names[i];
    }
    recipe made{
        .result = dense(result, r.types.result), .letters = letters, .after = std::move(after)};
    made.arguments = {{.id = DNNL_ARG_SRC,
                       .input = 0,
                       .stored = {turned, r.types.source, stored},
                       .letters = letters}};
    made.what = operation::reduction(kind->how, dense(turned, r.types.source), made.result, kind->p,
                                     r.attributes());
    out.push_back(std::move(made));
  };
  offer("");
  if (std::is_sorted(reduced.begin(), reduced.end())) return;
  std::stable_partition(order.begin(), order.end(), [&](std::size_t i) { return !is_reduced(i); });
  offer("@reduced-last");
}

} // namespace benanza::backend::onednn
