// SPDX-License-Identifier: Apache-2.0
// What does an equivalent graph save, which the user writes and any framework runs? The difference
// of what a run should take by both graphs, fused where that is faster. A framework whose operators
// make fewer points than the model's nodes has done it by itself.
//
//   advice_of_kind a = rewrite_advice(grounds);   a.items[0].id   // "rewrite/graph"
#pragma once

#include "../model/rewrite/rewrite.hpp"
#include "drawn.hpp"
#include "item.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace benanza::advice {

namespace detail {
/// The nodes of the model that compute less in its rewritten graph, ascending.
inline std::vector<int> rewritten_nodes(const model::graph& own, const model::graph& rewritten) {
  std::map<std::string, std::vector<int>> by_name;
  for (std::size_t i = 0; i < own.nodes.size(); ++i)
    by_name[own.nodes[i].name].push_back(static_cast<int>(i));
  std::vector<int> out;
  for (const model::rewrite& r : rewritten.rewrites)
    for (const int n : r.nodes) {
      if (n >= static_cast<int>(rewritten.nodes.size())) continue;
      const auto found = by_name.find(rewritten.nodes[static_cast<std::size_t>(n)].name);
      if (found != by_name.end() && found->second.size() == 1) out.push_back(found->second[0]);
    }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

/// True if the framework's operators of most of those nodes make fewer elements than they do.
inline bool computes_less(const comparison& c, const std::vector<int>& nodes) {
  std::size_t told = 0, fewer = 0;
  for (const compared_operator& o : c.operators) {
    const std::vector<trace::profiled_tensor>& results = c.from->operators[o.op].results;
    if (results.empty() || !results[0].dims) continue;
    for (const int n : o.nodes) {
      if (!std::binary_search(nodes.begin(), nodes.end(), n)) continue;
      const op::layer* l =
          model::layer_of(*c.model->graph, c.model->graph->nodes[static_cast<std::size_t>(n)]);
      if (l == nullptr) continue;
      ++told;
      fewer += elements(*results[0].dims) < elements(op::output(*l));
      break;
    }
  }
  return told > 0 && 2 * fewer > told;
}
} // namespace detail

/// Advice to rewrite the model's graph.
inline advice_of_kind rewrite_advice(const grounds& g) {
  advice_of_kind out;
  if (!g.model.rewritten) return out;
  const bound::model_bound& other = *g.model.rewritten;
  const auto own = bound::expected(g.model.fastest_form()),
             less = bound::expected(other.fastest_form());
  if (!own || !less || less->ns >= own->ns) return out;
  item one{.id = "rewrite/graph", .kind = "rewrite"};
  std::string what;
  for (const model::rewrite& r : model::by_rule(other.graph->rewrites)) {
    what += fmt::format("{}{} at {} node{}", what.empty() ? "" : ", ", r.rule, r.nodes.size(),
                        r.nodes.size() == 1 ? "" : "s");
    one.evidence.push_back(fmt::format("{}: {:.3g} GFLOP and {:.3g} MB less", r.rule,
                                       1e-9 * static_cast<double>(r.flops),
                                       1e-6 * static_cast<double>(r.bytes)));
  }
  one.nodes = detail::rewritten_nodes(*g.model.graph, *other.graph);
  if (g.framework != nullptr && detail::computes_less(*g.framework, one.nodes)) {
    out.not_worth.push_back({"rewrite", what + ": the framework does it by itself"});
    return out;
  }
  one.what = "rewrite the model: " + what;
  one.saves = detail::between_figures(*own, *less);
  one.evidence.push_back(fmt::format("by the model's graph a run should take {}, by the rewritten "
                                     "one {}",
                                     detail::time_text(own->ns), detail::time_text(less->ns)));
  one.assumes = "a framework's kernels gain what the best ones gain; results differ by rounding";
  one.check = fmt::format("benanza_generate rewrite {0}.onnx -o {0}_rewritten.onnx",
                          bound::shell_word(g.model.graph->model));
  out.items.push_back(std::move(one));
  return out;
}

} // namespace benanza::advice
