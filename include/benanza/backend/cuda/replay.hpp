// SPDX-License-Identifier: Apache-2.0
// How is work recorded once and run again? A graph holds what a stream was given while it was
// captured, with the events that time it, and is replayed: the host launches nothing in between.
//
//   std::string problem;   auto g = capture(stream, [&] { ... }, problem);   g->launch(stream);
#pragma once

#include "device.hpp"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace benanza::backend::cuda {

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

/// The graph of what `put` puts on the stream; none, with the reason in `problem`, where that
/// cannot be captured. Throws where the device is lost.
template <class Put>
std::optional<replayed_graph> capture(const stream& s, const Put& put, std::string& problem) {
  problem.clear();
  if (cudaStreamBeginCapture(s.get(), cudaStreamCaptureModeThreadLocal) != cudaSuccess)
    problem = "a capture cannot begin";
  if (problem.empty()) try {
      put();
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
      return std::optional<replayed_graph>(captured);
    } catch (const error& e) {
      problem = e.what();
    }
  else if (captured != nullptr)
    cudaGraphDestroy(captured);
  return std::nullopt;
}

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

/// What a pair of events around what `enqueue` puts on the stream costs in a graph, in ns: how much
/// longer that takes between two events than in a row of its like, by medians. 0: no graph can be
/// had.
template <class Enqueue>
double event_pair_ns(const stream& s, const Enqueue& enqueue) {
  constexpr int pairs = 32, replays = 5;
  std::vector<event> events(2 * pairs + 2);
  std::string problem;
  auto graph = capture(
      s,
      [&] {
        for (std::size_t i = 0; i < events.size(); i += 2) {
          events[i].record_in_graph(s);
          for (int k = 0; k < (i == 2 * pairs ? pairs : 1); ++k) // the last pair is around a row
            enqueue();
          events[i + 1].record_in_graph(s);
        }
      },
      problem);
  if (!graph) return 0;
  std::vector<double> each, rows;
  for (int replay = 0; replay < replays; ++replay) {
    graph->launch(s);
    s.wait();
    for (std::size_t i = 0; i < events.size(); i += 2)
      (i == 2 * pairs ? rows : each).push_back(events[i + 1].ns_since(events[i]));
  }
  const auto median = [](std::vector<double>& all) {
    const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), middle, all.end());
    return *middle;
  };
  // One takes pair + t, the row pair + pairs * t.
  return std::max(0.0, (pairs * median(each) - median(rows)) / (pairs - 1));
}

} // namespace benanza::backend::cuda
