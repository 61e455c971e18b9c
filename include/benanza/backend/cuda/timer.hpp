// SPDX-License-Identifier: Apache-2.0
// How long does what a library puts on a stream take? Executions are captured once into a CUDA
// graph, with the events that time them, and replayed: the host launches nothing between them.
// Where a library's work cannot be captured it is launched each time, and the timer says so. Hot:
// back to back. Cold weights: after a flush of the L2 cache and one execution that brings the
// activations back, each with weights that nothing has touched since. Cold: a flush before each,
// and a pair of events around each. What a pair costs around a kernel is taken off, so that what
// needs nothing from memory takes in all three the same. Outside of the events the GPU's clock is
// stamped.
//
//   timer t(gpu);   double ns = t.time(100, caches::hot, 1, [&](std::int64_t copy) { ... });
//   t.clock_ns() == 505   // what 1000 cycles took meanwhile
#pragma once

#include "gpu.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::backend::cuda {

/// What is in the GPU's L2 cache when an execution begins.
enum class caches { hot, cold_weights, cold };

/// An execution that takes less, cold, is marked: what the events cost is a good part of it.
inline constexpr double marked_cold_ns = 10e3;

/// Times executions on a GPU's stream.
class timer {
public:
  /// Puts one execution on the stream, with copy number so-and-so of the weights.
  using enqueue = std::function<void(std::int64_t copy)>;

  explicit timer(std::shared_ptr<gpu> on)
      : gpu_(std::move(on)) {}

  /// Nanoseconds of `executions`; `copies` of the weights are at `weights` (null: at their own
  /// place). What was recorded for others is kept: cases of one algorithm take turns.
  double time(int executions, caches state, std::int64_t copies, const enqueue& one,
              const void* weights = nullptr) {
    clock_ns_ = 0;
    remark_.clear();
    if (!why_not_captured_.empty()) return launched(executions, state, copies, one);
    const double pair_ns = state == caches::hot ? 0 : gpu_->event_pair_ns();
    const recording_key key(executions, state, copies, weights);
    auto known = recorded_.find(key);
    if (known == recorded_.end()) {
      if (recorded_.size() >= most_kept) recorded_.clear();
      auto made = record(executions, state, copies, one);
      if (!made) return launched(executions, state, copies, one);
      known = recorded_.emplace(key, std::move(*made)).first;
    }
    known->second.graph->launch(gpu_->stream());
    gpu_->stream().wait();
    clock_ns_ = gpu_->clock().thousand_cycles_ns();
    const std::vector<event>& events = known->second.events;
    const double pairs_ns = pair_ns * static_cast<double>(events.size() / 2);
    const double ns = std::max(sum(events) - pairs_ns, 0.0);
    if (pairs_ns > 0 && ns < marked_cold_ns * executions && pairs_ns > least_correction * ns)
      remark_ = less(pairs_ns / executions);
    return ns;
  }

  /// The memory that was recorded has moved.
  void forget() { recorded_.clear(); }

  /// Why executions are launched one by one; empty: they are replayed as a graph.
  const std::string& why_not_captured() const { return why_not_captured_; }
  /// The clock during what was timed last, as what 1000 cycles took; 0: not known.
  double clock_ns() const { return clock_ns_; }
  /// How the time that was taken last was corrected; empty: not so that it matters.
  const std::string& remark() const { return remark_; }

private:
  static constexpr std::size_t most_kept = 12;
  static constexpr double least_correction = 0.01; ///< of a time, that is worth a remark
  using recording_key = std::tuple<int, caches, std::int64_t, const void*>;

  struct recording {
    std::vector<event> events{}; ///< begin, end, begin, end ...
    std::optional<replayed_graph> graph{};
  };

  /// Puts the whole of a sample on the stream; `mark` records the next event.
  void sequence(int executions, caches state, std::int64_t copies, const enqueue& one,
                const std::function<void()>& mark) {
    if (state == caches::cold) {
      for (int i = 0; i < executions; ++i) {
        gpu_->flush();
        mark();
        one(0);
        mark();
      }
      return;
    }
    if (state == caches::hot) {
      mark();
      for (int i = 0; i < executions; ++i)
        one(0);
      mark();
      return;
    }
    for (std::int64_t done = 0; done < executions;) {
      gpu_->flush();
      one(0);
      mark();
      for (std::int64_t copy = 1; copy < copies && done < executions; ++copy, ++done)
        one(copy);
      mark();
    }
  }

  /// The same between two stamps of the clock.
  void stamped_sequence(int executions, caches state, std::int64_t copies, const enqueue& one,
                        const std::function<void()>& mark) {
    gpu_->clock().begin(gpu_->stream());
    sequence(executions, state, copies, one, mark);
    gpu_->clock().end(gpu_->stream());
  }

  std::optional<recording> record(int executions, caches state, std::int64_t copies,
                                  const enqueue& one) {
    recording r;
    r.graph = capture(
        gpu_->stream(),
        [&] {
          stamped_sequence(executions, state, copies, one, [&] {
            r.events.emplace_back();
            r.events.back().record_in_graph(gpu_->stream());
          });
        },
        why_not_captured_);
    return r.graph ? std::optional<recording>(std::move(r)) : std::nullopt;
  }

  double launched(int executions, caches state, std::int64_t copies, const enqueue& one) {
    std::vector<event> events;
    stamped_sequence(executions, state, copies, one, [&] {
      events.emplace_back();
      events.back().record(gpu_->stream());
    });
    gpu_->stream().wait();
    clock_ns_ = gpu_->clock().thousand_cycles_ns();
    return sum(events);
  }

  static std::string less(double ns) {
    std::array<char, 80> text{};
    std::snprintf(text.data(), text.size(), "less the %.2f us that events take", ns / 1e3);
    return text.data();
  }

  static double sum(const std::vector<event>& events) {
    double ns = 0;
    for (std::size_t i = 0; i + 1 < events.size(); i += 2)
      ns += events[i + 1].ns_since(events[i]);
    return ns;
  }

  std::shared_ptr<gpu> gpu_;
  std::map<recording_key, recording> recorded_{};
  std::string why_not_captured_{}, remark_{};
  double clock_ns_ = 0;
};

/// In words, where executions were launched one by one; empty: they were not.
inline std::string not_replayed(const timer& t) {
  const std::string& why = t.why_not_captured();
  return why.empty() ? "" : "launched one by one, not replayed: " + why;
}

} // namespace benanza::backend::cuda
