// SPDX-License-Identifier: Apache-2.0
// What does running several layers as one save? With a framework: groups that are faster as one and
// that it runs as several operators. Without one the run is assumed to be fused already.
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
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
/// What a framework gains by running a group as one: all its operators in the group but the
/// longest, which is as good as the group's own kernel at most. Nothing: they are one, or do other
/// nodes too.
inline std::optional<bound::figure> gained_by_fusing(const comparison& c,
                                                     const std::vector<int>& group, double as_one) {
  const std::set<int> inside(group.begin(), group.end());
  std::set<int> owners;
  for (int n : group)
    owners.insert(c.matched.owner[static_cast<std::size_t>(n)]);
  double sum = 0, scatter = 0, longest = 0;
  int operators = 0;
  for (const compared_operator& o : c.operators) {
    if (!owners.contains(static_cast<int>(o.op))) continue;
    for (int n : o.nodes)
      if (!inside.contains(n)) return std::nullopt;
    if (!o.seen) return bound::figure{}; // what it takes is not known
    ++operators;
    sum += o.ns;
    scatter += o.scatter_ns;
    longest = std::max(longest, o.ns);
  }
  if (operators < 2) return std::nullopt;
  const double ns = sum - std::max(longest, as_one);
  return bound::figure{.ns = ns, .low_ns = ns - scatter, .high_ns = ns + scatter};
}

/// Groups of one family that should run as one.
struct fused_family {
  item made{};
  std::int64_t groups = 0;
  std::set<std::string> layers{};
};

inline void add(bound::figure& to, const bound::figure& f) {
  to.ns += f.ns;
  to.low_ns += f.low_ns;
  to.high_ns += f.high_ns;
}

/// A framework whose setting limits optimization gets another one; else its makers are asked.
inline how_to way_to_fuse(const grounds& g, const std::string& family,
                          const std::vector<std::string>& rows) {
  const std::map<std::string, std::string>& chosen = g.framework->from->settings;
  for (const setting& s :
       settings_for(lever::optimization, g.framework->from->framework, std::string_view()))
    if (const auto its = chosen.find(s.name);
        its != chosen.end() && its->second != "all" && its->second != s.value)
      return by_settings(lever::optimization, s.framework, s.value);
  return by_makers(g, "run " + family + " as one kernel",
                   who_is_asked(g) + " has to fuse " + family, rows);
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
  std::map<std::string, detail::fused_family> families;
  double done_ns = 0;
  std::int64_t done = 0;
  for (std::size_t i = 0; i < t.own.size(); ++i) {
    const model::node& n = b.fused->graph->nodes[i];
    const auto [as_one, as_parts] = b.fused->pair.times(i, t.own, t.parts);
    if (n.parts.size() < 2 || as_one == bound::detail::never || as_parts == bound::detail::never)
      continue;
    const std::optional<bound::figure> gain =
        beside ? detail::gained_by_fusing(*g.framework, n.parts, as_one) : std::nullopt;
    if (!gain) {
      done_ns += std::max(0.0, as_parts - as_one);
      ++done;
    }
    if (!gain || gain->ns <= 0) continue;
    const std::string layer = op::name(b.fused->graph->layers[static_cast<std::size_t>(n.layer)]);
    const std::string family(detail::family_of(layer));
    detail::fused_family& f = families[family];
    ++f.groups;
    detail::add(f.made.saves, *gain);
    f.made.nodes.insert(f.made.nodes.end(), n.parts.begin(), n.parts.end());
    if (f.layers.insert(layer).second && f.made.evidence.size() < most_evidence)
      f.made.evidence.push_back(fmt::format("{}: {} as one, {} as {} layers", layer,
                                            detail::time_text(as_one), detail::time_text(as_parts),
                                            n.parts.size()));
    if (f.made.check.empty()) f.made.check = detail::layer_command(g, layer);
  }
  for (auto& [family, f] : families) {
    f.made.kind = "fusion";
    f.made.id = "fusion/" + family;
    f.made.what = fmt::format("run {} {} as one layer each", f.groups, family);
    f.made.assumes = "a group as one takes what its longest operator takes now";
    f.made.nodes = std::move(f.made.nodes) | ranges::actions::sort;
    f.made.how = detail::way_to_fuse(g, family, f.made.evidence);
    out.items.push_back(std::move(f.made));
  }
  if (done_ns > 0 && beside)
    out.not_worth.push_back(
        {"fusion",
         fmt::format("the framework runs {} groups as one already, or cut otherwise, which saves "
                     "{}",
                     done, detail::time_text(done_ns)),
         "fusion (done)"});
  else if (done_ns > 0)
    out.not_worth.push_back(
        {"fusion",
         fmt::format("the run is supposed to have {} groups as one, which saves {}; what a "
                     "framework fuses, its run says (--framework)",
                     done, detail::time_text(done_ns)),
         "fusion (supposed done)"});
  return out;
}

} // namespace benanza::advice
