// SPDX-License-Identifier: Apache-2.0
// How much arithmetic does the processor do out of its registers? Every thread runs chains of
// multiply-adds that touch no memory; nothing in the same type can do more, but what has better
// instructions than the program was compiled with.
//
//   loop_subject s(loop, 1);   s.ready(a_case).run->time(1);   // ns of s.flops
#pragma once

#include "../../core/error.hpp"
#include "kernels.hpp"
#include "machine_subject.hpp"

namespace benanza::measure::ceilings {

/// Threads that each run a loop's chains.
class loop_run final : public timed_run {
public:
  static constexpr std::int64_t rounds = 20'000;

  loop_run(const loop& l, int threads)
      : timed_run(std::string(l.way))
      , loop_(l)
      , threads_(threads) {}

  /// Runs a few rounds and compares every lane of every chain.
  void check(const std::string& what) const {
    lane_sums sums{};
    for (std::int64_t n : {1, 1000}) {
      loop_.run(n, sums);
      for (int lane = 0; lane < loop_.lanes; ++lane)
        if (sums[static_cast<std::size_t>(lane)] != loop_.expected(n, lane))
          throw error("a loop of multiply-adds gave a wrong sum", what);
    }
  }

private:
  void go(std::int64_t times) override {
    double all = 0;
#pragma omp parallel num_threads(threads_) reduction(+ : all) if (threads_ > 1)
    {
      lane_sums sums{};
      loop_.run(rounds * times, sums);
      all += sums[0];
    }
    sum_ = all;
  }

  loop loop_;
  int threads_;
  volatile double sum_ = 0;
};

/// The arithmetic of a type.
class loop_subject final : public machine_subject {
public:
  loop_subject(const loop& l, int on_threads)
      : machine_subject({"fma", 0}, l.type, on_threads, 1)
      , loop_(l) {
    flops = direct_flops = loop_run::rounds * l.flops_a_round * on_threads;
  }

  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      auto run = std::make_unique<loop_run>(loop_, threads);
      run->check(title());
      run->settle();
      return run;
    });
  }

private:
  loop loop_;
};

} // namespace benanza::measure::ceilings
