// SPDX-License-Identifier: Apache-2.0
// What have all cases of the machine in common? A family, a key of kind and bytes, one state, and
// the host's clock around so many executions that the clock itself does not count.
//
//   struct my_run : timed_run { void go(std::int64_t times) override { ... } };
#pragma once

#include "../../core/stopwatch.hpp"
#include "../../result/machine_key.hpp"
#include "../subjects/subject.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace benanza::measure::ceilings {

/// A case of the machine, ready to run.
class timed_run : public backend::prepared {
public:
  explicit timed_run(std::string way)
      : way_(std::move(way)) {}

  std::string ran() const override { return way_; }
  void run(int executions) override { go(executions); }
  /// Takes many executions where few would be too short, and gives the time of those asked for.
  double time(int executions) override {
    const std::int64_t n = std::max<std::int64_t>(executions, at_once_);
    return clocked(n) * executions / static_cast<double>(n);
  }
  void read(std::vector<double>& out) const override { out.clear(); }

  /// Finds how many executions make a time that the clock and a parallel region's start are small
  /// against; warms up.
  void settle() {
    constexpr double long_enough_ns = 50e3;
    for (int i = 0; i < 40; ++i) {
      // The least of three: one that was disturbed would leave the executions too few for good.
      const double ns = std::min({clocked(at_once_), clocked(at_once_), clocked(at_once_)});
      if (ns >= long_enough_ns) break;
      at_once_ *= ns > long_enough_ns / 8 ? 2 : 4;
    }
  }

protected:
  /// Executes `times` times.
  virtual void go(std::int64_t times) = 0;

private:
  double clocked(std::int64_t times) {
    const stopwatch timer;
    go(times);
    return timer.ns();
  }
  std::string way_;
  std::int64_t at_once_ = 1;
};

/// A part of the machine as the subject of a group.
class machine_subject : public subject {
public:
  machine_subject(const result::machine_key& what, numeric t, int on_threads, double share) {
    family = result::machine_family;
    key = result::text(what);
    type = t;
    threads = on_threads;
    time_share = share;
  }
};

/// A case of `what`, by the way of that name.
inline bench_case machine_case(const subject& what, std::string backend,
                               backend::algorithm algorithm) {
  std::string part = algorithm.id;
  std::replace_if(
      part.begin(), part.end(), [](char c) { return c == '/' || c == ' '; }, '_');
  bench_case c;
  c.name = what.title() + '/' + std::string(name(what.type)) + '/' + backend + '/' + part +
           "/hot/t" + std::to_string(what.threads);
  c.backend = std::move(backend);
  c.algorithm = std::move(algorithm);
  c.state = "hot";
  return c;
}

/// A case of the machine itself, not of a library.
inline bench_case own_case(const subject& what, std::string_view way) {
  return machine_case(what, std::string(result::machine_family),
                      {.id = std::string(way),
                       .equivalence = std::string(name(what.type)),
                       .layouts = "plain",
                       .flops = what.flops});
}

/// The case ready, with the time that this took.
template <class Make>
ready_case made_ready(const Make& make) {
  const stopwatch timer;
  std::unique_ptr<backend::prepared> run = make();
  return {std::move(run), timer.ns()};
}

} // namespace benanza::measure::ceilings
