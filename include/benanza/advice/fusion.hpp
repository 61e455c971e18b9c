// SPDX-License-Identifier: Apache-2.0
// What does running several layers as one save? Beside a framework: groups that are faster as one
// and that it runs as several operators. Without one: groups that are no product followed by what
// every framework fuses with it.
//
//   advice_of_kind a = fusion_advice(grounds);   a.items[0].id   // "fusion/LayerNormalization"
#pragma once

#include "item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace benanza::advice {

namespace detail {
/// True for a product with what follows it: every framework fuses that by itself.
inline bool usually_fused(std::string_view family) {
  return family.starts_with("Conv+") || family.starts_with("Gemm+") ||
         family.starts_with("ConvTranspose+");
}

/// What a framework gains by running a group as one: all its operators in the group but the
/// longest, which is as good as the group's own kernel at most. Nothing: they are one, or do other
/// nodes too.
inline std::optional<double> gained_by_fusing(const comparison& c, const std::vector<int>& group,
                                              double as_one) {
  const std::set<int> inside(group.begin(), group.end());
  std::set<int> owners;
  for (int n : group)
    owners.insert(c.matched.owner[static_cast<std::size_t>(n)]);
  owners.erase(trace::no_operator);
  double sum = 0, longest = 0;
  int operators = 0;
  for (const compared_operator& o : c.operators) {
    if (!owners.contains(static_cast<int>(o.op))) continue;
    for (int n : o.nodes)
      if (!inside.contains(n)) return std::nullopt;
    ++operators;
    sum += o.ns;
    longest = std::max(longest, o.ns);
  }
  if (operators < 2) return std::nullopt;
  return sum - std::max(longest, as_one);
}
} // namespace detail

/// Advice on fusion.
inline advice_of_kind fusion_advice(const grounds& g) {
  advice_of_kind out;
  if (!g.model.fused) return out;
  const bound::model_bound& b = g.model;
  const bound::layer_times point = bound::point_times(b.layers);
  const bound::detail::fused_times t = bound::detail::times_as_fused(b, point.prediction);
  const bool beside = g.framework != nullptr && g.framework->profiled();
  std::map<std::string, item> groups;
  std::map<std::string, std::int64_t> count, uses;
  double usual_ns = 0, done_ns = 0;
  std::int64_t done = 0;
  for (std::size_t i = 0; i < t.own.size(); ++i) {
    const model::node& n = b.fused->graph->nodes[i];
    const auto [as_one, as_parts] = b.fused->pair.times(i, t.own, t.parts);
    if (n.parts.size() < 2 || as_one == bound::detail::never || as_parts == bound::detail::never)
      continue;
    double saves = as_parts - as_one;
    if (!beside && saves <= 0) continue;
    const std::string layer = op::name(b.fused->graph->layers[static_cast<std::size_t>(n.layer)]);
    const std::string family(detail::family_of(layer));
    if (beside) {
      const auto gain = detail::gained_by_fusing(*g.framework, n.parts, as_one);
      if (!gain) {
        done_ns += std::max(0.0, saves);
        ++done;
        continue;
      }
      saves = *gain;
      if (saves <= 0) continue;
    } else if (detail::usually_fused(family)) {
      usual_ns += saves;
      continue;
    }
    item& one = groups[family];
    ++count[family];
    one.saves.ns += saves;
    one.nodes.insert(one.nodes.end(), n.parts.begin(), n.parts.end());
    if (++uses[layer] == 1 && one.evidence.size() < most_evidence)
      one.evidence.push_back(fmt::format("{}: {} as one, {} as {} layers", layer,
                                         detail::time_text(as_one), detail::time_text(as_parts),
                                         n.parts.size()));
    if (one.check.empty()) one.check = bound::measuring_command(layer);
  }
  for (auto& [family, one] : groups) {
    one.kind = "fusion";
    one.id = "fusion/" + family;
    one.what = fmt::format("run {} {} as one layer each", count[family], family);
    one.saves = detail::about(one.saves.ns);
    one.assumes = "kernels as they were measured alone";
    one.nodes = std::move(one.nodes) | ranges::actions::sort;
    out.items.push_back(std::move(one));
  }
  if (done > 0)
    out.not_worth.push_back(
        {"fusion",
         fmt::format(
             "the framework runs {} groups as one already, or cut otherwise, which saves {}", done,
             detail::time_text(done_ns))});
  if (usual_ns > 0)
    out.not_worth.push_back(
        {"fusion", fmt::format("products with what follows them save {} as one layer, and "
                               "frameworks do that by themselves",
                               detail::time_text(usual_ns))});
  return out;
}

} // namespace benanza::advice
