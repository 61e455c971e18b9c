// SPDX-License-Identifier: Apache-2.0
// How long does what a library puts on a stream take? Executions are captured once into a CUDA
// graph, with the events that time them, and replayed: no launch from the host stands between them.
// Where a library's work cannot be captured it is launched each time, and the timer says so.
// Hot: back to back. Cold weights: after a flush of the L2 cache and one execution that brings the
// activations back, each with weights that nothing has touched since. Cold: a flush before each.
//
//   timer t(gpu);   double ns = t.time(100, caches::hot, 1, [&](std::int64_t copy) { ... });
#pragma once

#include "gpu.hpp"

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::backend::cuda {

/// What is in the GPU's L2 cache when an execution begins.
enum class caches { hot, cold_weights, cold };

/// Owner of a graph that can be replayed.
class replayed_graph {
public:
  explicit replayed_graph(cudaGraph_t captured) {
    const cudaError_t e = cudaGraphInstantiate(&it_, captured, 0);
    cudaGraphDestroy(captured);
    check(e, "a graph cannot be made ready");
  }
  replayed_graph(replayed_graph&& o) noexcept
      : it_(std::exchange(o.it_, nullptr)) {}
  replayed_graph& operator=(replayed_graph&& o) noexcept {
    std::swap(it_, o.it_);
    return *this;
  }
  ~replayed_graph() {
    if (it_ != nullptr) cudaGraphExecDestroy(it_);
  }
  void launch(const stream& s) { check(cudaGraphLaunch(it_, s.get()), "a graph"); }

private:
  cudaGraphExec_t it_ = nullptr;
};

/// Nanoseconds between two events around what `enqueue` puts on the stream.
template <class Enqueue>
double between_events(const stream& s, const Enqueue& enqueue) {
  event begin, end;
  begin.record(s);
  enqueue();
  end.record(s);
  s.wait();
  return end.ns_since(begin);
}

/// Times executions on a GPU's stream.
class timer {
public:
  /// Puts one execution on the stream, with copy number so-and-so of the weights.
  using enqueue = std::function<void(std::int64_t copy)>;

  explicit timer(std::shared_ptr<gpu> on)
      : gpu_(std::move(on)) {}

  /// Nanoseconds of `executions`; `copies` of the weights stand at `weights` (null: they are at
  /// their own place). What was recorded for others is kept: cases of one algorithm take turns.
  double time(int executions, caches state, std::int64_t copies, const enqueue& one,
              const void* weights = nullptr) {
    if (!why_not_captured_.empty()) return launched(executions, state, copies, one);
    const recording_key key(executions, state, copies, weights);
    auto known = recorded_.find(key);
    if (known == recorded_.end()) {
      if (recorded_.size() >= most_kept) recorded_.clear();
      auto made = capture(executions, state, copies, one);
      if (!made) return launched(executions, state, copies, one);
      known = recorded_.emplace(key, std::move(*made)).first;
    }
    known->second.graph->launch(gpu_->stream());
    gpu_->stream().wait();
    return sum(known->second.events);
  }

  /// What was recorded stands elsewhere now.
  void forget() { recorded_.clear(); }

  /// Why executions are launched one by one; empty: they are replayed as a graph.
  const std::string& why_not_captured() const { return why_not_captured_; }

private:
  static constexpr std::size_t most_kept = 12;
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

  std::optional<recording> capture(int executions, caches state, std::int64_t copies,
                                   const enqueue& one) {
    const stream& s = gpu_->stream();
    recording r;
    std::string problem;
    if (cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeThreadLocal) != cudaSuccess)
      problem = "a capture cannot begin";
    if (problem.empty()) try {
        sequence(executions, state, copies, one, [&] {
          r.events.emplace_back();
          r.events.back().record_in_graph(s);
        });
      } catch (const device_lost&) {
        throw;
      } catch (const std::exception& e) {
        problem = e.what();
      }
    cudaGraph_t captured = nullptr;
    const cudaError_t ended = cudaStreamEndCapture(s.get(), &captured);
    cudaGetLastError();
    if (problem.empty() && ended != cudaSuccess) problem = cudaGetErrorString(ended);
    if (problem.empty()) try {
        r.graph.emplace(captured);
        return r;
      } catch (const error& e) {
        problem = e.what();
      }
    else if (captured != nullptr)
      cudaGraphDestroy(captured);
    why_not_captured_ = problem;
    return std::nullopt;
  }

  double launched(int executions, caches state, std::int64_t copies, const enqueue& one) {
    std::vector<event> events;
    sequence(executions, state, copies, one, [&] {
      events.emplace_back();
      events.back().record(gpu_->stream());
    });
    gpu_->stream().wait();
    return sum(events);
  }

  static double sum(const std::vector<event>& events) {
    double ns = 0;
    for (std::size_t i = 0; i + 1 < events.size(); i += 2)
      ns += events[i + 1].ns_since(events[i]);
    return ns;
  }

  std::shared_ptr<gpu> gpu_;
  std::map<recording_key, recording> recorded_{};
  std::string why_not_captured_{};
};

} // namespace benanza::backend::cuda
