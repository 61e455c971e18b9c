// SPDX-License-Identifier: Apache-2.0
// What does it cost to start threads, and to hand something from one to another? A launch is a
// parallel region with nothing in it. A hand-off is a word that one thread writes and another,
// which spins on a processor of its own, sees: half of a round trip.
//
//   hand_off_subject s({0, 1});   s.ready(a_case).run->time(1);   // ns of one hand-off
#pragma once

#include "../../core/error.hpp"
#include "../../machine/binding.hpp"
#include "../../machine/ping_pong.hpp"
#include "machine_subject.hpp"

#include <algorithm>

namespace benanza::measure::ceilings {

/// Empty parallel regions.
class launch_run final : public timed_run {
public:
  explicit launch_run(int threads)
      : timed_run("parallel_region")
      , threads_(threads) {}

  /// How many threads the last region had.
  int seen() const { return seen_; }

private:
  void go(std::int64_t times) override {
    for (std::int64_t i = 0; i < times; ++i)
#pragma omp parallel num_threads(threads_)
    {
      if (machine::team_rank() == 0) seen_ = machine::team_size();
    }
  }
  int threads_, seen_ = 0;
};

class launch_subject final : public machine_subject {
public:
  explicit launch_subject(int on_threads)
      : machine_subject({"launch", 0}, numeric::f32, on_threads, 0.3) {}
  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      auto run = std::make_unique<launch_run>(threads);
      run->settle();
      if (run->seen() != threads)
        throw error("a parallel region had " + std::to_string(run->seen()) + " threads", title());
      return run;
    });
  }
};

/// Two threads that pass a word to and fro; an execution is one hand-off.
class hand_off_run final : public backend::prepared {
public:
  std::string ran() const override { return "spin"; }
  void run(int executions) override { pass(executions); }
  /// Passes it often, so that what it takes to start does not count.
  double time(int executions) override {
    constexpr int many = 2000;
    return pass(std::max(executions, many)).hand_off_ns() * executions;
  }
  void read(std::vector<double>& out) const override { out.clear(); }
  /// Hand-offs in both directions so far.
  std::int64_t passed() const { return passed_; }

private:
  machine::word_passed pass(int hand_offs) {
    const machine::word_passed word = machine::pass_word_round(2, (hand_offs + 1) / 2);
    passed_ += word.hand_offs;
    return word;
  }
  std::int64_t passed_ = 0;
};

class hand_off_subject final : public machine_subject {
public:
  explicit hand_off_subject(std::vector<int> processors)
      : machine_subject({"hand_off", 0}, numeric::f32, 2, 0.3)
      , processors_(std::move(processors)) {}
  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      if (machine::other_processor(processors_) < 0)
        throw error("there is no second processor", title());
      auto run = std::make_unique<hand_off_run>();
      run->run(10);
      if (run->passed() != 10) throw error("hand-offs were lost", title());
      return run;
    });
  }

private:
  std::vector<int> processors_;
};

} // namespace benanza::measure::ceilings
