// SPDX-License-Identifier: Apache-2.0
// How does a run survive its libraries? Another process, the worker, measures; this one waits. When
// the worker crashes, hangs or is killed, the case it was on fails with the reason, a new worker
// measures the rest of the group, and the case gets one more try alone: it may have paid for what
// another one broke. Cases whose memory or device another one took are measured together again.
//
//   isolated_runner r(argv, environment, parameters, {});
//   r.measure(groups[0], all_cases(groups[0]), interrupted);
#pragma once

#include "worker_process.hpp"

#include <algorithm>
#include <cstdio>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <utility>

namespace benanza::measure {

/// Measures in a worker process.
class isolated_runner final : public runner {
public:
  /// `timeout_s`: without a sign of life, then a case is given up; unset: as the parameters say.
  isolated_runner(char** argv, const machine::environment& e, const parameters& p,
                  std::optional<double> timeout_s)
      : argv_(argv)
      , environment_(e)
      , parameters_(p)
      , timeout_s_(timeout_s) {}

  void measure(group& g, const case_list& which, const std::atomic<bool>& stop) override {
    case_list left = which;
    std::vector<case_list> again;
    int in_vain = 0;
    while (!left.empty()) {
      const loss l = attempt(g, left, stop);
      if (l.nothing) {
        left = unfinished(g, left, again, in_vain);
        continue;
      }
      // A library that fails over all of them together is asked for one after the other.
      if (l.doing == stage::preparing && l.on_case < 0 && std::exchange(g.ahead, false)) continue;
      case_list lost = blamed(g, left, l);
      for (std::size_t i : lost) {
        g.cases[i].results = failed_case(g, i, l.why);
        std::erase(left, i);
      }
      if (l.may_be_innocent)
        for (case_list& one : by_algorithm(g, lost))
          again.push_back(std::move(one));
    }
    for (const case_list& one : again) {
      if (stop || one.size() == which.size()) return;
      std::vector<bench_case> failed;
      for (std::size_t i : one)
        failed.push_back(g.cases[i]);
      worker_.reset(); // alone, also in time
      if (attempt(g, one, stop).nothing)
        (void)failed_by(g, one, {out_of_memory, device_lost, device_lost_by});
      else
        for (std::size_t i = 0; i < one.size(); ++i)
          g.cases[one[i]].results = std::move(failed[i].results);
    }
  }

  machine_seen seen(int team) const override {
    const auto known = seen_.find(team);
    return known == seen_.end() ? machine_seen{} : known->second;
  }

private:
  /// Workers follow each other: the first one's calibration counts, and the best of all.
  void note(int team, const machine_seen& now) {
    const auto [at, is_first] = seen_.try_emplace(team, now);
    if (is_first) return;
    machine_seen& s = at->second;
    s.best_nop_ratio = std::min(s.best_nop_ratio, now.best_nop_ratio);
    if (now.clock_ns > 0)
      s.clock_ns = s.clock_ns > 0 ? std::min(s.clock_ns, now.clock_ns) : now.clock_ns;
  }

  /// What an attempt lost.
  struct loss {
    bool nothing = false;
    std::string why{};
    stage doing = stage::waiting;
    int on_case = -1;
    bool may_be_innocent = false;
  };

  /// Those of `which` whose failures begin with one of `beginnings`; if there are any, the worker
  /// is used up.
  case_list failed_by(const group& g, const case_list& which,
                      std::initializer_list<std::string_view> beginnings) {
    case_list out;
    for (std::size_t i : which)
      for (std::string_view end : beginnings)
        if (g.cases[i].results.at(0).error.starts_with(end)) out.push_back(i);
    if (!out.empty()) worker_.reset();
    return out;
  }

  /// Those of `asked` that are to be measured together in a new worker, as others took their memory
  /// or their device. The case that lost the device, or that found no memory first and may have
  /// taken it, gets one more try alone. `in_vain`: how many rounds in a row came to nothing. After
  /// some of them the device is gone, or memory is too small for all.
  case_list unfinished(const group& g, const case_list& asked, std::vector<case_list>& again,
                       int& in_vain) {
    const case_list losers = failed_by(g, asked, {device_lost});
    const case_list starved = failed_by(g, asked, {out_of_memory});
    case_list rest = failed_by(g, asked, {device_lost_by});
    const std::size_t failed = losers.size() + starved.size() + rest.size();
    case_list blamed = losers;
    if (losers.size() == asked.size() && by_algorithm(g, losers).size() > 1)
      std::swap(blamed, rest); // no case is the cause
    for (const std::size_t i : starved)
      (same_algorithm(g, i, starved[0]) ? blamed : rest).push_back(i);
    for (case_list& one : by_algorithm(g, blamed))
      again.push_back(std::move(one));
    const bool nothing_won = failed == asked.size() && (losers.empty() || losers[0] == asked[0]);
    in_vain = nothing_won ? in_vain + 1 : 0;
    // The next round begins at the other end: several that lose the device may be neighbours, but
    // if it is gone the last one loses it too.
    if (nothing_won) std::reverse(rest.begin(), rest.end());
    if (in_vain < parameters_.failed_starts) return rest;
    again.clear();
    return {};
  }

  /// Measures `which` together. They have their results where nothing was lost.
  loss attempt(group& g, const case_list& which, const std::atomic<bool>& stop) {
    try {
      if (!stop && !worker_)
        if (loss l = start(stop); !l.nothing) return l;
      nlohmann::json answer;
      worker_process::news news = worker_process::news::stopped;
      if (!stop) {
        nlohmann::json question = wire::question(g, which);
        if (!g.ahead) question["ahead"] = false;
        worker_->ask(question);
        news = worker_->wait(
            answer, [&] { return patience_now_s(g, which); }, stop);
      }
      if (news == worker_process::news::answer) {
        if (answer.contains("refused")) return {.why = answer.at("refused").get<std::string>()};
        wire::take_answer(answer, g, which);
        note(g.what->team, wire::seen(answer));
      } else if (news == worker_process::news::stopped) {
        worker_.reset();
        for (std::size_t i : which)
          g.cases[i].results = failed_case(g, i, "interrupted");
      } else {
        return told(news, g, which);
      }
      return {.nothing = true};
    } catch (const std::exception& e) {
      worker_.reset();
      return {.why = e.what()};
    }
  }

  loss start(const std::atomic<bool>& stop) {
    if (failed_starts_ >= parameters_.failed_starts) return {.why = start_failure_};
    worker_ = std::make_unique<worker_process>(argv_, environment_);
    nlohmann::json answer;
    const auto news = worker_->wait(
        answer, [&] { return parameters_.start_s; }, stop);
    if (news == worker_process::news::stopped) return {.nothing = true};
    if (news == worker_process::news::answer && answer.contains("ready")) {
      failed_starts_ = 0;
      return {.nothing = true};
    }
    ++failed_starts_;
    start_failure_ = news == worker_process::news::died
                         ? "the worker process did not get ready: " + worker_->reason()
                         : "the worker process did not get ready in time";
    worker_.reset();
    return {.why = start_failure_};
  }

  /// What is known of a worker that is no more.
  loss told(worker_process::news news, const group& g, const case_list& asked) {
    loss l{.doing = worker_->doing(), .on_case = worker_->on_case()};
    if (news == worker_process::news::hung) {
      char text[64];
      std::snprintf(text, sizeof text, "no sign of life for %.4g s: stopped",
                    patience_now_s(g, asked));
      l.why = text;
    } else {
      l.why = worker_->reason();
      l.may_be_innocent = l.doing != stage::beginning;
    }
    l.why += ", while " + std::string(words(l.doing));
    worker_.reset();
    return l;
  }

  /// The cases that pay for a loss: one that was being timed for itself; one that could not be
  /// prepared for all states of its algorithm; all of them where none was at work.
  static case_list blamed(const group& g, const case_list& asked, const loss& l) {
    if (l.on_case < 0 || l.on_case >= static_cast<int>(asked.size())) return asked;
    const std::size_t at = asked[static_cast<std::size_t>(l.on_case)];
    if (l.doing == stage::sampling) return {at};
    for (case_list& one : by_algorithm(g, asked))
      if (std::find(one.begin(), one.end(), at) != one.end()) return std::move(one);
    return {at};
  }

  static bool same_algorithm(const group& g, std::size_t a, std::size_t b) {
    return g.cases[a].backend == g.cases[b].backend &&
           g.cases[a].algorithm.id == g.cases[b].algorithm.id;
  }

  static std::vector<case_list> by_algorithm(const group& g, const case_list& which) {
    std::map<std::pair<std::string, std::string>, case_list> sorted;
    for (std::size_t i : which)
      sorted[{g.cases[i].backend, g.cases[i].algorithm.id}].push_back(i);
    std::vector<case_list> out;
    for (auto& [algorithm, cases] : sorted)
      out.push_back(std::move(cases));
    return out;
  }

  /// How long the worker's step may take that it noted last.
  double patience_now_s(const group& g, const case_list& asked) const {
    if (timeout_s_) return *timeout_s_;
    const stage doing = worker_->doing();
    const auto at = static_cast<std::size_t>(worker_->on_case()); // -1: none
    const bool runs = doing == stage::checking || doing == stage::sampling;
    return patience_s(*g.what, runs && at < asked.size() && g.cases[asked[at]].on_device,
                      parameters_);
  }

  char** argv_;
  const machine::environment& environment_;
  parameters parameters_;
  std::optional<double> timeout_s_;
  std::unique_ptr<worker_process> worker_;
  std::map<int, machine_seen> seen_{};
  int failed_starts_ = 0;
  std::string start_failure_{};
};

} // namespace benanza::measure
