// SPDX-License-Identifier: Apache-2.0
// What does each node of the form take that should run, and when can it run? A fused node takes the
// less of its own time and of that of its parts. k workers, each with one task at a time, start the
// task with the longest way still before it: one schedule, not always the shortest.
//
//   std::vector<node_times> all = times_of_nodes(model);   all[3].bound_ns
//   std::vector<task> runs = schedule(model);              runs[3].begin_ns, runs[3].worker
#pragma once

#include <benanza/bound/figures.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace benanza::report {

/// The times of a node of `fastest_form().graph`; 0: it takes none, or none is known.
struct node_times {
  double bound_ns = 0, prediction_ns = 0, roofline_ns = 0;
  bool known = false;   ///< its layer has a time
  bool as_one = true;   ///< false: it runs as its several parts
  bool on_path = false; ///< of the bound's longest path
  std::string layer{};  ///< that it runs as; empty: several, or none

  /// What a kernel at the roofline would save.
  double lost_ns() const { return roofline_ns > 0 ? std::max(0.0, bound_ns - roofline_ns) : 0; }
};

/// The times of all nodes of the form that should run.
std::vector<node_times> times_of_nodes(const bound::model_bound& b);

/// Something that runs at once: a node of the form, or a part of one that ends sooner in parts.
struct task {
  int node = 0; ///< of the unfused graph where it is a part, else of the form
  bool part = false;
  double ns = 0;                ///< by its bound
  std::vector<int> waits_for{}; ///< tasks before it, each once
  int worker = 0;
  double begin_ns = 0;
};

/// What runs, in an order in which nothing comes before what it waits for.
std::vector<task> tasks_of(const bound::model_bound& b);

/// What runs by the bounds on `b.workers` workers, and when.
std::vector<task> schedule(const bound::model_bound& b);

} // namespace benanza::report
