// SPDX-License-Identifier: Apache-2.0
// What did each move of a chain take, in each of its executions, and was anybody beside us then? A
// look between moves judges those since the last one.
//
//   move_times t(3);   t.add(5e3);   t.looked(true);   ...   t.end();   t.undisturbed()[0]
#pragma once

#include "statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza::measure {

/// Nanoseconds by move; the same number of executions for each.
using times_by_move = std::vector<std::vector<double>>;

/// The sums over those moves that are `wanted`, by their number; one an execution.
template <class Wanted>
std::vector<double> sums(const times_by_move& times, Wanted&& wanted) {
  std::vector<double> out(times.empty() ? 0 : times[0].size(), 0);
  for (std::size_t k = 0; k < times.size(); ++k)
    for (std::size_t i = 0; wanted(k) && i < out.size(); ++i)
      out[i] += times[k][i];
  return out;
}

/// Of the first executions of a chain; later ones are not kept.
class move_times {
public:
  static constexpr std::size_t most_kept = 4096;

  explicit move_times(std::size_t moves = 0)
      : moves_(moves) {}

  bool full() const { return totals_ns_.size() >= most_kept; }
  /// The next move took so long.
  void add(double ns) { timed_.push_back({ns, false}); }
  /// Nobody was beside us since the last look, or somebody was.
  void looked(bool alone) {
    for (; judged_ < timed_.size(); ++judged_)
      timed_[judged_].alone = alone;
  }
  /// Somebody was beside us all the time: no look so far saw him.
  void disbelieve_looks() {
    for (timed& t : timed_)
      t.alone = false;
  }
  /// An execution has ended, and took so long as a whole.
  void end(double total_ns) {
    totals_ns_.push_back(total_ns);
    judged_ = timed_.size();
  }

  /// Those of the executions that took one of `totals_ns`; empty: there are none.
  times_by_move of(const std::vector<double>& totals_ns) const {
    times_by_move out(moves_);
    for (std::size_t e = 0; e < totals_ns_.size(); ++e)
      if (std::find(totals_ns.begin(), totals_ns.end(), totals_ns_[e]) != totals_ns.end())
        for (std::size_t k = 0; k < moves_; ++k)
          out[k].push_back(timed_[e * moves_ + k].ns);
    return whole(std::move(out));
  }

  /// Those in which nobody was beside a move, as many for each as the rarest has; without as large
  /// a share of the slowest as somebody was beside (sampled_case.hpp).
  times_by_move undisturbed() const {
    times_by_move out(moves_);
    for (std::size_t i = 0; i < timed_.size(); ++i)
      if (timed_[i].alone) out[i % moves_].push_back(timed_[i].ns);
    std::size_t rarest = most_kept;
    for (auto& ns : out) {
      const double alone = static_cast<double>(ns.size()) / static_cast<double>(totals_ns_.size());
      ns = without_slowest(std::move(ns), 1 - alone);
      rarest = std::min(rarest, ns.size());
    }
    for (auto& ns : out)
      ns = thinned(ns, rarest);
    return whole(std::move(out));
  }

private:
  struct timed {
    double ns;
    bool alone; ///< nobody was beside us before, in or after it
  };

  static times_by_move whole(times_by_move t) {
    return t.empty() || t[0].empty() ? times_by_move{} : t;
  }

  std::size_t moves_, judged_ = 0;
  std::vector<double> totals_ns_{};
  std::vector<timed> timed_{}; ///< all moves of one execution in a row
};

} // namespace benanza::measure
