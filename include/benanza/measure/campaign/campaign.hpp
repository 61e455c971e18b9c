// SPDX-License-Identifier: Apache-2.0
// How do the groups of a run get their results? Those that are kept from before come back; the
// others are measured, and kept at once. What a stopped run did not get to says so in its place, so
// that a partial result never looks whole.
//
//   campaign c(runner, keeper, settings, request, groups);   c.measure(groups[0]);   c.failure()
#pragma once

#include "../process/interrupt.hpp"
#include "keeper.hpp"
#include "progress.hpp"
#include "shard.hpp"

#include <cstddef>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

namespace benanza::measure {

/// True for the results of a case that was not measured, or not to its end.
inline bool not_measured(const bench_case& c) {
  return c.results.empty() || c.results[0].error == interrupted_error;
}

/// What is done with a group that was measured, before it is kept.
class after_group {
public:
  virtual ~after_group() = default;
  virtual void look(group& g, const case_list& measured, const std::atomic<bool>& stop) = 0;
};

/// A run over many groups.
class campaign {
public:
  /// `keeper` may be null: then nothing is kept; `after` too.
  campaign(runner& r, keeper* k, const campaign_settings& s, const sampling_request& asked,
           std::vector<group>& groups, after_group* after = nullptr)
      : runner_(r)
      , keeper_(k)
      , after_(after)
      , settings_(s)
      , asked_(asked)
      , progress_(s.progress, count(groups), estimate(groups, asked)) {
    for (group& g : groups)
      recall(g);
  }

  /// Fills in the results of all cases of `g`, once.
  void measure(group& g) {
    if (g.measured) return;
    g.measured = true;
    case_list missing;
    for (std::size_t i = 0; i < g.cases.size(); ++i)
      if (g.cases[i].results.empty()) missing.push_back(i);
    if (missing.empty()) return;
    if (!stopped()) {
      progress_.at(g.what->title());
      runner_.measure(g, missing, interrupted);
      progress_.done(missing.size(), estimated(g, missing.size()));
      progress_.leads(fastest(g, missing));
      if (settings_.dry_run) disclaim(g, missing);
      // An interrupted group may lack samples: it is as if it had not been measured.
      if (after_ != nullptr && !stopped()) after_->look(g, missing, interrupted);
      if (!stopped()) return keep(g, missing);
    }
    for (std::size_t i : missing)
      g.cases[i].results = failed_case(g, i, interrupted_error);
  }

  /// Why nothing more was measured, if that was a failure to keep results.
  const std::string& failure() const { return failure_; }
  bool stopped() const { return interrupted || !failure_.empty(); }
  /// Cases that came back from an earlier run.
  std::size_t recalled() const { return recalled_; }
  /// Takes the progress line off the terminal, for something else to be printed there.
  void make_room() { progress_.make_room(); }
  void finish() { progress_.finish(); }

private:
  /// The algorithm that took the least time of these cases, and that time; empty: none has one.
  static std::string fastest(const group& g, const case_list& which) {
    const result::measurement* least = nullptr;
    for (std::size_t i : which)
      for (const result::measurement& m : g.cases[i].results)
        if (m.error.empty() && m.min_ns > 0 && (least == nullptr || m.min_ns < least->min_ns))
          least = &m;
    if (least == nullptr) return {};
    char time[32];
    std::snprintf(time, sizeof time, " %.4g us", least->min_ns / 1e3);
    return least->algorithm + time;
  }

  static std::size_t count(const std::vector<group>& groups) {
    std::size_t n = 0;
    for (const group& g : groups)
      n += g.cases.size();
    return n;
  }

  static double estimate(const std::vector<group>& groups, const sampling_request& asked) {
    double s = 0;
    for (const group& g : groups)
      s += estimated_seconds(g, asked);
    return s;
  }

  double estimated(const group& g, std::size_t cases) const {
    return estimated_seconds(g, asked_) * static_cast<double>(cases) /
           static_cast<double>(g.cases.size());
  }

  void recall(group& g) {
    if (g.measured) progress_.skip(g.cases.size(), estimated(g, g.cases.size()));
    if (g.measured || keeper_ == nullptr || settings_.again == again_mode::everything) return;
    keeper_->recall(g);
    std::size_t here = 0;
    for (bench_case& c : g.cases) {
      if (!c.results.empty() && settings_.again == again_mode::failed &&
          !c.results[0].error.empty())
        c.results.clear();
      here += !c.results.empty();
    }
    recalled_ += here;
    if (here > 0) progress_.skip(here, estimated(g, here));
  }

  /// The times of a dry run are no figures: no verdict may rest on them.
  static void disclaim(group& g, const case_list& which) {
    for (std::size_t i : which)
      for (result::measurement& m : g.cases[i].results)
        if (m.error.empty()) m.disturbed = "this was a dry run, whose times mean nothing";
  }

  void keep(const group& g, case_list which) {
    std::erase_if(which, [&](std::size_t i) {
      const auto& all = g.cases[i].results;
      return !all.empty() && all[0].error.starts_with(no_worker_error);
    });
    if (keeper_ == nullptr || which.empty()) return;
    try {
      keeper_->keep(g, which);
    } catch (const std::exception& e) {
      failure_ = e.what();
    }
  }

  runner& runner_;
  keeper* keeper_;
  after_group* after_;
  const campaign_settings& settings_;
  const sampling_request& asked_;
  progress progress_;
  std::size_t recalled_ = 0;
  std::string failure_{};
};

} // namespace benanza::measure
