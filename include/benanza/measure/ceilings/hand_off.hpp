// SPDX-License-Identifier: Apache-2.0
// What does it cost to start threads, and to hand something from one to another? A launch is a
// parallel region with nothing in it. A hand-off is a word that one thread writes and another,
// which spins on a processor of its own, sees: half of a round trip.
//
//   hand_off_subject s({0, 1});   s.ready(a_case).run->time(1);   // ns of one hand-off
#pragma once

#include "../../core/error.hpp"
#include "../team.hpp"
#include "machine_subject.hpp"

#include <atomic>
#include <sched.h>
#include <thread>

namespace benanza::measure::ceilings {

/// A processor of `allowed` that the caller does not run on; -1: there is none.
inline int other_processor(const std::vector<int>& allowed) {
  const int here = sched_getcpu();
  for (int p : allowed)
    if (p != here) return p;
  return -1;
}

/// Binds the calling thread to a processor; says whether that worked.
inline bool bind_to(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<std::size_t>(processor), &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

/// Tells the processor that this is a loop that waits.
inline void spin() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#endif
}

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
      if (team_rank() == 0) seen_ = team_size();
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

/// Two threads that pass a counter to and fro.
class hand_off_run final : public timed_run {
public:
  explicit hand_off_run(int partners_processor)
      : timed_run("spin")
      , partner_([this, partners_processor] {
        bound_ = bind_to(partners_processor) ? 1 : -1;
        for (std::uint64_t next = 1;; next += 2) {
          while (turn_.load(std::memory_order_acquire) != next) {
            if (over_.load(std::memory_order_relaxed)) return;
            spin();
          }
          turn_.store(next + 1, std::memory_order_release);
        }
      }) {
    while (bound_ == 0)
      std::this_thread::yield();
  }
  ~hand_off_run() override {
    over_ = true;
    partner_.join();
  }
  bool bound() const { return bound_ > 0; }
  /// Hand-offs in both directions so far.
  std::uint64_t passed() const { return turn_; }

private:
  // An execution is one hand-off; they come in pairs.
  void go(std::int64_t times) override {
    std::uint64_t now = turn_;
    for (std::int64_t i = 0; i < times; i += 2) {
      turn_.store(++now, std::memory_order_release);
      ++now;
      while (turn_.load(std::memory_order_acquire) != now)
        spin();
    }
  }
  alignas(64) std::atomic<std::uint64_t> turn_{0};
  alignas(64) std::atomic<bool> over_{false};
  std::atomic<int> bound_{0};
  std::thread partner_;
};

class hand_off_subject final : public machine_subject {
public:
  explicit hand_off_subject(std::vector<int> processors)
      : machine_subject({"hand_off", 0}, numeric::f32, 2, 0.3)
      , processors_(std::move(processors)) {}
  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      dismiss_teams();
      const int other = other_processor(processors_);
      if (other < 0) throw error("there is no second processor", title());
      auto run = std::make_unique<hand_off_run>(other);
      if (!run->bound()) throw error("a thread could not be bound to its processor", title());
      run->run(10);
      if (run->passed() != 10) throw error("hand-offs were lost", title());
      run->settle();
      return run;
    });
  }

private:
  std::vector<int> processors_;
};

} // namespace benanza::measure::ceilings
