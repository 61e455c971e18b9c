// SPDX-License-Identifier: Apache-2.0
// Which algorithm or library should run which layers? With a framework: where its operators are
// slower, beyond noise, than the best kernel for the same work, by what that kernel is. Without
// one: where a library's first choice is slower than another of its own algorithms, in the form
// that should run. A loop of ours, or a library's reference loop, is no framework's first choice
// and is not compared with. A user cannot give a framework a kernel: its makers get a text.
//
//   advice_of_kind a = kernel_advice(grounds);   a.items[0].what
#pragma once

#include "item.hpp"

#include <fmt/format.h>
#include <range/v3/action/sort.hpp>
#include <range/v3/action/unique.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
/// One kernel that should run several layers.
struct kernel_group {
  item made{};
  std::int64_t nodes = 0, workspace = 0;
  double search_ns = 0; ///< of sampling all algorithms of these layers
  std::map<std::string, std::int64_t> shapes{};

  void add(const grounds& g, const bound::layer_answer& of, std::int64_t count, double saves_ns,
           double noise_ns, std::string row) {
    const std::string& layer = of.name;
    workspace = std::max(workspace, of.algorithms.chosen->workspace_bytes);
    if (shapes[layer] == 0)
      for (const bound::candidate& c : g.of.cases.of(layer, of.type, g.model.threads).algorithms)
        for (const bound::measurement* m : {c.hot, c.llcw, c.coldw})
          if (m != nullptr) search_ns += m->sampling_ns;
    shapes[layer] += count;
    nodes += count;
    made.saves.ns += saves_ns;
    made.saves.low_ns += saves_ns - noise_ns;
    made.saves.high_ns += saves_ns + noise_ns;
    if (made.evidence.size() < most_evidence) made.evidence.push_back(std::move(row));
    if (made.check.empty()) made.check = layer_command(g, layer);
  }
};

using kernel_groups = std::map<std::tuple<std::string, std::string, std::string>, kernel_group>;

/// What the operators of a run take that do the work of these nodes, ascending, and no other;
/// nothing: some of it is done otherwise, or not seen.
inline std::optional<double> taken_by(const comparison& c, const std::vector<int>& nodes) {
  double ns = 0;
  std::size_t done = 0;
  for (const compared_operator& o : c.operators) {
    if (!std::includes(nodes.begin(), nodes.end(), o.nodes.begin(), o.nodes.end())) continue;
    if (!o.known || !o.seen) return std::nullopt;
    ns += o.ns;
    done += o.nodes.size();
  }
  return done == nodes.size() ? std::optional(ns) : std::nullopt;
}

/// Another framework that was measured in the same setting and is faster at these nodes; empty:
/// there is none.
inline std::string who_has_it(const grounds& g, const std::vector<int>& nodes) {
  if (g.framework == nullptr) return {};
  const std::optional<double> own = taken_by(*g.framework, nodes);
  std::string out;
  double least = own ? (1 - told_apart) * *own : 0;
  for (const comparison* c : g.runs) {
    if (c->model != &g.model || c->from->framework == g.framework->from->framework) continue;
    const std::optional<double> its = taken_by(*c, nodes);
    if (!its || *its >= least) continue;
    least = *its;
    out = fmt::format("{} takes {} for these in place of {}", framework_of(*c), time_text(*its),
                      time_text(*own));
  }
  return out;
}

inline std::vector<item> items_of(const grounds& grounds_of, kernel_groups groups) {
  std::vector<item> out;
  for (auto& [key, g] : groups) {
    const auto& [backend, algorithm, family] = key;
    // A version of a library that is one of several, or kernels of ours: something to install.
    const bool other = backend.starts_with("host") || backend.find('-') != std::string::npos;
    g.made.kind = other ? "library" : "algorithm";
    constexpr double least_mib = 0.05;
    if (const double mib = static_cast<double>(g.workspace) / (1 << 20); mib >= least_mib)
      g.made.costs.push_back(fmt::format("up to {:.1f} MiB of workspace", mib));
    if (g.search_ns > 0)
      g.made.costs.push_back(fmt::format("{:.1f} s of measuring, to find it", g.search_ns / 1e9));
    g.made.id = fmt::format("{}/{}/{}/{}", g.made.kind, backend, algorithm, family);
    g.made.what = fmt::format("{} by {} of {}, {} node{}", family, algorithm, backend, g.nodes,
                              g.nodes == 1 ? "" : "s");
    g.made.nodes = std::move(g.made.nodes) | ranges::actions::sort | ranges::actions::unique;
    const std::string has_it = who_has_it(grounds_of, g.made.nodes);
    g.made.how = by_makers(grounds_of, g.made.what,
                           fmt::format("{} has to take {}'s {}{}", who_is_asked(grounds_of),
                                       backend, algorithm, has_it.empty() ? "" : "; " + has_it),
                           g.made.evidence);
    if (!has_it.empty()) g.made.evidence.push_back(has_it);
    out.push_back(std::move(g.made));
  }
  return out;
}
} // namespace detail

/// Advice on algorithms and libraries.
inline advice_of_kind kernel_advice(const grounds& g) {
  advice_of_kind out;
  detail::kernel_groups groups;
  if (g.framework != nullptr && g.framework->profiled()) {
    for (const compared_row& r : g.framework->slower) {
      if (r.answer == nullptr || r.answer->algorithms.chosen == nullptr) continue;
      const bound::measurement& best = *r.answer->algorithms.chosen;
      detail::kernel_group& group =
          groups[{best.backend, std::string(detail::plain_algorithm(best.algorithm)),
                  std::string(detail::family_of(r.layer))}];
      group.made.nodes.insert(group.made.nodes.end(), r.nodes.begin(), r.nodes.end());
      group.add(g, *r.answer, r.count, r.lost_ns(), r.scatter_ns,
                fmt::format(
                    "{} x {}: {} by the framework's {}, {} by {}", r.count, r.layer,
                    detail::time_text(r.ns / static_cast<double>(r.count)),
                    r.kernel.empty() || r.kernel.ends_with("ExecutionProvider") ? r.type : r.kernel,
                    detail::time_text(r.best_ns / static_cast<double>(r.count)), best.algorithm));
      group.made.assumes = "tensors lie as that kernel wants them; changes of layout that this "
                           "needs are counted apart";
    }
    out.items = detail::items_of(g, std::move(groups));
    return out;
  }
  if (g.framework != nullptr && g.framework->latency.ns > 0) {
    if (!tells_operators(g.framework->from->framework)) return out;
    out.not_measured.push_back({"algorithm",
                                "which operators of " + detail::framework_of(*g.framework) +
                                    " are slow: there is no profile of them",
                                detail::measure_command(*g.framework)});
    return out;
  }
  // Of the form that runs: a layer that is a part of a fused one there takes no time.
  const std::vector<std::vector<std::vector<int>>> used = nodes_as_fused(g.model);
  const auto used_by = [&](const bound::layer_answer& l) -> const std::vector<std::vector<int>>& {
    return used[static_cast<std::size_t>(&l - g.model.layers.data())];
  };
  const auto gain = [&](const bound::layer_answer& l) {
    return static_cast<double>(used_by(l).size()) * detail::library_gain_ns(l);
  };
  for (const bound::layer_answer* l : ranked(g.model.layers, gain)) {
    const bound::choice& c = l->algorithms;
    detail::kernel_group& group =
        groups[{c.chosen->backend, std::string(detail::plain_algorithm(c.chosen->algorithm)),
                std::string(detail::family_of(l->name))}];
    for (const std::vector<int>& its : used_by(*l))
      group.made.nodes.insert(group.made.nodes.end(), its.begin(), its.end());
    const std::int64_t uses = std::ssize(used_by(*l));
    group.add(g, *l, uses, gain(*l),
              static_cast<double>(uses) * (c.first->mad_ns + c.chosen->mad_ns),
              fmt::format("{} x {}: {} by {}, {} by {}", uses, l->name,
                          detail::time_text(c.first_choice.ns), c.first->algorithm,
                          detail::time_text(c.prediction.ns), c.chosen->algorithm));
    group.made.assumes = "a framework takes the library's first choice";
  }
  out.items = detail::items_of(g, std::move(groups));
  if (out.items.empty())
    out.not_worth.push_back({"algorithm",
                             "the libraries' first choices are as fast as any other "
                             "algorithm that was measured",
                             "other algorithms (first choices are as fast)"});
  return out;
}

} // namespace benanza::advice
