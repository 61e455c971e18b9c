// SPDX-License-Identifier: Apache-2.0
// What is an assignment of algorithms and layouts to the nodes of a model, and how long does it
// take? Its steps in an order in which they can run, and the figures of their times, with the
// changes of layout between them. Times in ns.
//
//   const layout_solution& l = *model.layouts->prediction;   l.total.ns l.steps[0].runs->algorithm
#pragma once

#include "../../core/layout.hpp"
#include "../choice.hpp"
#include "../interval.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace benanza::bound {

/// What times are asked for: the least of hot caches, or those of a run of the model.
enum class purpose { bound, prediction };

/// The time by which ways are compared.
inline double deciding_ns(const choice& c, purpose p) {
  return p == purpose::bound ? c.bound.ns : c.chosen_by_ns;
}
/// The time that is reported.
inline const timing& reported(const choice& c, purpose p) {
  return p == purpose::bound ? c.bound : c.prediction;
}

/// One node that runs: of the fused graph, or of the unfused one.
struct layout_step {
  bool fused = false;
  int node = 0;
  const measurement* runs = nullptr; ///< null: nothing runs (a view), or nothing was measured
  std::vector<layout> operands;
  layout result = layout::plain;
  double ns = 0;      ///< that it takes
  by_clock clocked{}; ///< and at other clocks
};

/// An assignment of algorithms and layouts to all nodes.
struct layout_solution {
  figure total;                            ///< of this assignment: only its times are drawn again
  figure changes;                          ///< what the changes of layout add to it
  by_clock total_clocked, changes_clocked; ///< both at other clocks
  std::int64_t change_count = 0;
  bool exact = true;              ///< no assignment is cheaper; else: none was found
  std::vector<layout_step> steps; ///< in an order in which producers come first
};

namespace detail {
/// The figures of all times: of so many nodes, and behind them of the changes of layout.
inline void add_figures(layout_solution& out, const std::vector<const timing*>& times,
                        std::size_t nodes, purpose p) {
  out.change_count = static_cast<std::int64_t>(times.size() - nodes);
  // A timing that several nodes share is drawn once: it is the same measurement.
  struct share {
    const timing* time;
    double all = 0, changes = 0; ///< how often it counts
  };
  std::map<const timing*, std::size_t> numbers;
  std::vector<share> shares;
  for (std::size_t i = 0; i < times.size(); ++i) {
    const auto [found, fresh] = numbers.try_emplace(times[i], shares.size());
    if (fresh) shares.push_back({times[i]});
    shares[found->second].all += 1;
    if (i >= nodes) shares[found->second].changes += 1;
  }
  std::vector<double> all_drawn, changes_drawn;
  double all = 0, changes = 0;
  for (const share& s : shares) {
    all += s.all * s.time->ns;
    changes += s.changes * s.time->ns;
    out.total_clocked += s.time->clocked * s.all;
    out.changes_clocked += s.time->clocked * s.changes;
  }
  generator random{1};
  for (int draw = 0; draw < redraws; ++draw) {
    double all_ns = 0, changes_ns = 0;
    for (const share& s : shares) {
      const double ns = p == purpose::bound ? redrawn_minimum(s.time->sorted_ns, random)
                                            : redrawn_median(s.time->sorted_ns, random);
      all_ns += s.all * ns;
      changes_ns += s.changes * ns;
    }
    all_drawn.push_back(all_ns);
    changes_drawn.push_back(changes_ns);
  }
  out.total = between(std::move(all_drawn), all);
  out.changes = between(std::move(changes_drawn), changes);
}
} // namespace detail

} // namespace benanza::bound
