// SPDX-License-Identifier: Apache-2.0
// How does a result come by the names of the kernels that ran on a device? When a group has been
// measured, a second worker process, which times nothing, runs its winners once under the device's
// profiler (kernel_look.hpp), and a few times more for the device's counters. What is seen belongs
// to all cases of the algorithm. It costs no case its result: where the profiler is absent, refuses
// or crashes, there are no names and one reason; where only the counters do, there are names.
//
//   kernel_pass p(argv, environment, parameters, {}, kernel_choice::winners);
//   p.look(group, measured, interrupted);   p.told()   // "CUPTI 13.0"
#pragma once

#include "../../result/parts.hpp"
#include "campaign.hpp"
#include "settings.hpp"
#include "worker_process.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace benanza::measure {

/// Of the cases `which`, one of each algorithm whose kernels are worth a look: of all, or of those
/// that win in a cache state among algorithms of their class with their layouts.
inline case_list worth_a_look(const group& g, const case_list& which, kernel_choice whose) {
  using rivals = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<rivals, std::pair<double, std::size_t>> best;
  case_list all;
  for (std::size_t i : which) {
    if (whose == kernel_choice::none || g.cases[i].results.empty()) continue;
    const result::measurement& m = g.cases[i].results[0];
    if (!m.error.empty() || m.device != result::gpu_device ||
        !(result::of_a_layer(m) || m.algorithm == result::call_level))
      continue;
    all.push_back(i);
    const double ns = m.state == "hot" ? m.min_ns : m.median_ns;
    const auto [at, is_first] =
        best.try_emplace(rivals(m.state, m.equivalence, m.operand_layouts, m.result_layout), ns, i);
    if (!is_first && ns < at->second.first) at->second = {ns, i};
  }
  if (whose == kernel_choice::winners) {
    all.clear();
    for (const auto& [class_of, winner] : best)
      all.push_back(winner.second);
    std::sort(all.begin(), all.end());
  }
  std::set<std::pair<std::string, std::string>> known;
  std::erase_if(all, [&](std::size_t i) {
    return !known.emplace(g.cases[i].backend, g.cases[i].algorithm.id).second;
  });
  return all;
}

class kernel_pass final : public after_group {
public:
  kernel_pass(char** argv, const machine::environment& e, const parameters& p,
              std::optional<double> timeout_s, kernel_choice whose, std::string profiler)
      : argv_(argv)
      , environment_(e)
      , parameters_(p)
      , timeout_s_(timeout_s)
      , whose_(whose)
      , profiler_(std::move(profiler)) {}

  /// Adds to the results of `g` what is seen of its cases `measured`.
  void look(group& g, const case_list& measured, const std::atomic<bool>& stop) override {
    case_list left = worth_a_look(g, measured, whose_);
    try {
      look_at(g, left, stop);
    } catch (const std::exception& e) { // of what the other process wrote
      worker_.reset();
      if (!left.empty()) miss(g, left, left.size(), e.what());
    }
  }

  /// For provenance: which profiler looked, and what it did not see.
  std::string told() const {
    if (over_ && !seen_any_) return "not seen: " + why_;
    std::string out = profiler_;
    if (unseen_ > 0)
      out += "; not seen of " + std::to_string(unseen_) +
             (unseen_ == 1 ? " algorithm: " : " algorithms: ") + why_;
    if (uncounted_.empty()) return out;
    return out + "; counters not read" + (counted_any_ ? " of all: " : ": ") + uncounted_;
  }

private:
  void look_at(group& g, case_list& left, const std::atomic<bool>& stop) {
    while (!left.empty() && !over_ && !stop) {
      nlohmann::json answer;
      if (!start(stop)) return;
      nlohmann::json question = wire::question(g, left);
      question["kernels"] = true;
      question["counters"] = counting_;
      worker_->ask(question);
      const double most_silent_s =
          timeout_s_.value_or(patience_s(*g.what, false, parameters_)); // the host prepares too
      switch (worker_->wait(
          answer, [most_silent_s] { return most_silent_s; }, stop)) {
      case worker_process::news::answer: take(answer, g, left); break;
      case worker_process::news::stopped: return worker_.reset();
      case worker_process::news::hung: lose(g, left, "no sign of life"); break;
      case worker_process::news::died: lose(g, left, worker_->reason()); break;
      }
    }
  }

  bool start(const std::atomic<bool>& stop) {
    if (worker_) return true;
    nlohmann::json answer;
    try {
      worker_ = std::make_unique<worker_process>(argv_, environment_);
      if (worker_->wait(
              answer, [this] { return parameters_.start_s; }, stop) ==
              worker_process::news::answer &&
          answer.contains("ready"))
        return true;
      why_ = "the process that looks did not get ready";
    } catch (const std::exception& e) {
      why_ = e.what();
    }
    worker_.reset();
    over_ = !stop;
    return false;
  }

  void take(const nlohmann::json& answer, group& g, case_list& left) {
    if (answer.contains("refused")) return miss(g, left, left.size(), answer.at("refused"));
    const auto& all = answer.at("kernels");
    bool lost = false, again = false;
    for (const auto& one : all) {
      if (left.empty() || one.at("case") != g.cases[left[0]].name)
        return miss(g, left, left.size(), "the process that looks answered something else");
      if (!one.contains("seen")) {
        over_ = one.contains("for_all");
        lost = one.contains("process_lost");
        miss(g, left, 1, one.at("why"));
        continue;
      }
      std::vector<device_kernel> seen;
      result::from_json(seen, one.at("seen"), "worker");
      seen_any_ = true;
      if (one.contains("uncounted")) {
        if (uncounted_.empty()) uncounted_ = one.at("uncounted");
        if (one.contains("process_lost")) counting_ = false, again = true;
      }
      device_counters counted;
      if (const auto c = one.find("counted"); c != one.end()) {
        counted_any_ = true;
        counted = {.tensor_pipe_percent = c->at("tensor_pipe_percent"),
                   .dram_read_bytes = c->at("dram_read_bytes"),
                   .dram_written_bytes = c->at("dram_written_bytes"),
                   .active_cycles = c->at("active_cycles")};
      }
      const bench_case& looked_at = g.cases[left[0]];
      for (bench_case& c : g.cases)
        if (c.backend == looked_at.backend && c.algorithm.id == looked_at.algorithm.id)
          for (result::measurement& m : c.results)
            if (m.error.empty()) m.kernels = seen, m.counters = counted;
      left.erase(left.begin());
    }
    if (all.empty()) miss(g, left, left.size(), "the process that looks answered nothing");
    if (lost) over_ = ++losses_ >= parameters_.failed_starts;
    if (lost || over_ || again) worker_.reset();
  }

  /// The process is gone: the algorithm that it was at has no names.
  void lose(const group& g, case_list& left, const std::string& why) {
    const int at = worker_->on_case();
    const bool known = at >= 0 && at < static_cast<int>(left.size());
    worker_.reset();
    if (std::exchange(counting_, false)) { // it may be the counters: all are looked at without
      uncounted_ = why;
      return;
    }
    if (known) std::rotate(left.begin(), left.begin() + at, left.begin() + at + 1);
    miss(g, left, known ? 1 : left.size(), why);
    over_ = ++losses_ >= parameters_.failed_starts;
  }

  void miss(const group& g, case_list& left, std::size_t n, const std::string& why) {
    if (unseen_ == 0) why_ = why + " (" + g.cases[left[0]].name + ')';
    if (over_) why_ = why;
    unseen_ += n;
    left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(n));
  }

  char** argv_;
  const machine::environment& environment_;
  parameters parameters_;
  std::optional<double> timeout_s_;
  kernel_choice whose_;
  std::string profiler_, why_{}, uncounted_{};
  std::size_t unseen_ = 0;
  int losses_ = 0;
  bool seen_any_ = false, counting_ = true, counted_any_ = false;
  bool over_ = false; ///< there is no point in going on
  std::unique_ptr<worker_process> worker_{};
};

} // namespace benanza::measure
