// SPDX-License-Identifier: Apache-2.0
// How many bytes a ns move in a working set of this size? Each thread sweeps a contiguous share of
// every array; all arrays together are the working set. Bytes are counted as the loop names them: a
// copy of n bytes moves 2 n, whatever else the caches fetch.
//
//   sweep_subject s(sweep, 1 << 20, 2, 0.1, memory);   s.begin();   s.ready(a_case).run->time(1);
#pragma once

#include "../../machine/team.hpp"
#include "machine_subject.hpp"
#include "pages.hpp"

#include <memory>

namespace benanza::measure::ceilings {

/// Floats of each of the arrays that make a working set: whole steps of 64 bytes.
inline std::int64_t sweep_floats(const sweep& s, std::int64_t working_set_bytes) {
  return std::max<std::int64_t>(working_set_bytes / s.arrays() / 64, 1) * 16;
}

/// Threads that go through their shares of the arrays.
class sweep_run final : public timed_run {
public:
  /// Arrays begin at a distance that is no power of two: equal low bits of addresses would make
  /// loads wait for stores that they have nothing to do with.
  sweep_run(const sweep& s, std::int64_t floats, int threads, working_memory& memory)
      : timed_run(std::string(s.way))
      , sweep_(s)
      , floats_(floats)
      , threads_(threads) {
    if (s.written > 0) to_ = memory.results();
    for (int i = 0; i < s.read; ++i) {
      const std::int64_t at = apart + i * (floats + apart);
      from_[i] = memory.sources((at + floats) * 4) + at;
    }
  }

  /// Runs once and compares what was read and written, at every place of small arrays and at some
  /// of large ones.
  void check(const std::string& what) {
    constexpr std::int64_t places = 1 << 16;
    const std::int64_t step = std::max<std::int64_t>(1, floats_ / places) | 1;
    if (to_ != nullptr)
      for (std::int64_t i = 0; i < floats_; i += step)
        to_[i] = -1;
    go(1);
    bool right = true;
    if (to_ == nullptr) {
      std::uint64_t all = 0;
      for (std::int64_t i = 0; i < floats_; i += 2) {
        std::uint64_t word = 0;
        std::memcpy(&word, from_[0] + i, sizeof word);
        all ^= word;
      }
      right = all == seen_;
    } else {
      for (std::int64_t i = 0; right && i < floats_; i += step)
        right = to_[i] == expected(i);
      right = right && to_[floats_ - 1] == expected(floats_ - 1);
    }
    if (!right) throw error("a sweep over memory gave a wrong result", what);
  }

  static constexpr std::int64_t apart = 272; ///< floats

private:
  float expected(std::int64_t i) const {
    if (sweep_.read == 0) return written_value(i);
    return sweep_.read == 1 ? from_[0][i] : from_[0][i] + triad_factor * from_[1][i];
  }

  void go(std::int64_t times) override {
    std::uint64_t all = 0;
#pragma omp parallel num_threads(threads_) reduction(^ : all) if (threads_ > 1)
    {
      const std::int64_t team = machine::team_size(), self = machine::team_rank();
      const std::int64_t steps = floats_ / 16;
      const std::int64_t begin = steps * self / team * 16, end = steps * (self + 1) / team * 16;
      float* const to[] = {to_ == nullptr ? nullptr : to_ + begin};
      const float* const from[] = {from_[0] == nullptr ? nullptr : from_[0] + begin,
                                   from_[1] == nullptr ? nullptr : from_[1] + begin};
      // Within one thread's memory every place belongs to it alone, written or read.
      if (begin < end) all ^= sweep_.run(to, from, (end - begin) * 4, times);
    }
    seen_ = all;
  }

  sweep sweep_;
  std::int64_t floats_;
  int threads_;
  float* to_ = nullptr;
  const float* from_[2] = {nullptr, nullptr};
  std::uint64_t seen_ = 0;
};

/// A kind of sweep over a working set.
class sweep_subject final : public machine_subject {
public:
  sweep_subject(const sweep& s, std::int64_t working_set_bytes, int on_threads, double share,
                std::shared_ptr<working_memory> memory)
      : machine_subject({std::string(s.kind), working_set_bytes}, numeric::f32, on_threads, share)
      , sweep_(s)
      , floats_(sweep_floats(s, working_set_bytes))
      , memory_(std::move(memory)) {
    bytes = floats_ * 4 * s.arrays();
  }

  /// Bytes of sources and of results that a working set needs at most.
  static std::int64_t memory_bytes(std::int64_t working_set_bytes) {
    return working_set_bytes + 4 * sweep_run::apart;
  }

  ready_case ready(const bench_case&) override {
    return made_ready([this] {
      auto run = std::make_unique<sweep_run>(sweep_, floats_, threads, *memory_);
      run->check(title());
      run->settle();
      return run;
    });
  }
  void end() override { memory_.reset(); }

private:
  sweep sweep_;
  std::int64_t floats_;
  std::shared_ptr<working_memory> memory_; ///< freed after the last group that needs it
};

} // namespace benanza::measure::ceilings
