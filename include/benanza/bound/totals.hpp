// SPDX-License-Identifier: Apache-2.0
// What do the layers of a model add up to? One after the other, along the longest path, and on k
// workers, each with an interval: the samples are drawn again, and each time the path is looked for
// anew, because another one may win. Times in ns.
//
//   total_series s(workers);   for (...) s.add({sum, path});   totals t = s.totals({sum, path});
#pragma once

#include "interval.hpp"
#include "paths.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <vector>

namespace benanza::bound {

/// The three totals of a model.
struct totals {
  figure sequential; ///< one layer after the other
  figure parallel;   ///< the longest path
  figure reachable;  ///< with as many workers as there are: max(path, sum / workers)
  path longest;
  double path_share = 1; ///< the share of redraws in which `longest` was the longest path
  std::size_t paths = 1; ///< how many paths were the longest one in some redraw, or are it
};

/// What the nodes of a graph take one after the other, and the longest path through them.
struct sums {
  double sequential_ns = 0;
  path longest;
};

/// Collects redrawn totals.
class total_series {
public:
  explicit total_series(int workers)
      : workers_(workers) {}

  /// Adds a redraw.
  void add(sums drawn) {
    sequential_.push_back(drawn.sequential_ns);
    parallel_.push_back(drawn.longest.ns);
    reachable_.push_back(reachable(drawn.longest.ns, drawn.sequential_ns, workers_));
    ++paths_[std::move(drawn.longest.nodes)];
    ++draws_;
  }

  /// The totals around their point estimates.
  bound::totals totals(sums point) {
    bound::totals out;
    const path& longest = point.longest;
    if (draws_ != 0) {
      const std::size_t same = paths_[longest.nodes];
      out.paths = paths_.size();
      out.path_share = static_cast<double>(same) / static_cast<double>(draws_);
    }
    out.sequential = between(std::move(sequential_), point.sequential_ns);
    out.parallel = between(std::move(parallel_), longest.ns);
    out.reachable =
        between(std::move(reachable_), reachable(longest.ns, point.sequential_ns, workers_));
    out.longest = std::move(point.longest);
    return out;
  }

private:
  int workers_;
  std::vector<double> sequential_, parallel_, reachable_;
  std::map<std::vector<int>, std::size_t> paths_; ///< and in how many draws each was the longest
  std::size_t draws_ = 0;
};

} // namespace benanza::bound
