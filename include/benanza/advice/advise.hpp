// SPDX-License-Identifier: Apache-2.0
// What should be changed first? All advice on a model: what its user can do, what only the makers
// of the framework can do, what cannot be done today, each by what it saves; what is not worth
// doing, and what was not measured. Pieces of advice are not independent: what they save does not
// add up. None saves more than the difference between the run and its lower bound, or that of the
// setting it leads to.
//
//   advice_list a = advise(grounds);   a.items[0].what   a.not_worth[0].what
#pragma once

#include "batch.hpp"
#include "framework_run.hpp"
#include "fusion.hpp"
#include "kernels.hpp"
#include "measured.hpp"
#include "parallel.hpp"
#include "precision.hpp"
#include "rewritten.hpp"
#include "rounding.hpp"
#include "threads.hpp"
#include "variants.hpp"

#include <fmt/format.h>
#include <range/v3/action/stable_sort.hpp>
#include <range/v3/algorithm/find_if.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace benanza::advice {

/// All advice on a model.
struct advice_list {
  baseline run{};            ///< from which changes start
  std::vector<item> items{}; ///< by who can do it, then what saves most first
  std::vector<remark> not_worth{};
  std::vector<question> not_measured{};
  std::int64_t small = 0; ///< changes that save less than 0.5 % of a run each,
  double small_ns = 0;    ///< and what they save together
};

namespace detail {
/// A change cannot save more than the difference between the run and its lower bound.
inline item within_bound(item i, const grounds& g) {
  const double bound = i.leads_to.empty() ? g.model.fastest_form().bound.sequential.ns : i.bound_ns;
  const double most = std::max(0.0, g.run.ns - bound);
  if (i.saves.ns <= most) return i;
  i.evidence.push_back(fmt::format("its parts add up to {}; more than {} is below the lower bound",
                                   time_text(i.saves.ns), time_text(most)));
  i.saves.ns = most;
  i.saves.low_ns = std::min(i.saves.low_ns, most);
  i.saves.high_ns = std::min(i.saves.high_ns, most);
  return i;
}

/// Branches side by side use cores that threads use too: the better of both is advised.
inline void choose_for_cores(advice_list& l) {
  const auto of = [&](std::string_view kind) {
    return ranges::find_if(l.items, [&](const item& i) { return i.kind == kind; });
  };
  const auto threads = of("threads"), branches = of("parallel");
  if (threads == l.items.end() || branches == l.items.end() ||
      threads->saves.ns < branches->saves.ns)
    return;
  l.not_worth.push_back({"parallel",
                         fmt::format("branches side by side save {}, more threads {}",
                                     time_text(branches->saves.ns), time_text(threads->saves.ns)),
                         "branches side by side (threads save more)"});
  l.items.erase(branches);
}

/// Of a language model also what a change comes to in tokens.
inline void say_tokens(item& i, const grounds& g) {
  const model::graph& graph = *g.model.graph;
  if (!graph.cache || i.what.find("tokens/s") != i.what.npos) return;
  i.what += fmt::format(": {} in place of {}", rate_text(graph, g.run.ns - i.saves.ns),
                        rate_text(graph, g.run.ns));
}
} // namespace detail

/// All advice.
inline advice_list advise(const grounds& g) {
  advice_list out{.run = g.run};
  if (!g.model.has_bound()) return out;
  const double least = least_share * g.run.ns;
  const auto add = [&](advice_of_kind a) {
    for (item& one : a.items) {
      item i = detail::within_bound(std::move(one), g);
      if (i.saves.ns >= least && i.saves.ns > 0) {
        detail::say_tokens(i, g);
        out.items.push_back(std::move(i));
      } else if (i.saves.ns > 0) {
        ++out.small;
        out.small_ns += i.saves.ns;
      }
    }
    for (remark& r : a.not_worth)
      out.not_worth.push_back(std::move(r));
    for (question& q : a.not_measured)
      out.not_measured.push_back(std::move(q));
  };
  add(thread_advice(g));
  add(measured_advice(g));
  add(kernel_advice(g));
  add(fusion_advice(g));
  add(rewrite_advice(g));
  add(precision_advice(g));
  add(framework_advice(g));
  add(parallel_advice(g));
  add(batch_advice(g));
  add(variant_advice(g));
  add(rounding_advice(g));
  detail::choose_for_cores(out);
  out.items |= ranges::actions::stable_sort(
      ranges::less{}, [](const item& i) { return std::pair(i.how.by, -i.saves.ns); });
  return out;
}

} // namespace benanza::advice
