// SPDX-License-Identifier: Apache-2.0
// Where does a chain of layers run on the GPU? Its activations are in one arena a chain, and all
// its steps are one graph on the shared stream: as in a framework that captures its models.
//
//   chain_space s(gpu::of_this_process());   std::byte* rooms = s.take(1 << 20);
//   s.time(1, {{[&] { first(); }}, {[&] { second(); }}})
#pragma once

#include "timer.hpp"

namespace benanza::backend::cuda {

class chain_space final : public device_space {
public:
  explicit chain_space(std::shared_ptr<gpu> on)
      : gpu_(std::move(on))
      , timer_(gpu_) {}

  std::byte* take(std::int64_t bytes) override {
    memory& m = taken_.emplace_back(bytes);
    if (bytes > 0) {
      check(cudaMemset(m.data(), 0, static_cast<std::size_t>(bytes)), "memory of a chain");
      wait_for_default_stream();
    }
    return m.data();
  }
  void upload(std::byte* to, std::span<const std::byte> from) override { cuda::upload(to, from); }
  void download(const std::byte* from, std::span<std::byte> to) const override {
    cuda::download(from, to);
  }
  void start_copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    gpu_->copy(to, from, bytes);
  }
  void wait() override { gpu_->stream().wait(); }

  void start(const std::vector<part>& parts) override {
    int lanes = 1;
    for (const part& p : parts)
      lanes = std::max(lanes, p.lane + 1);
    if (lanes == 1) {
      for (const part& p : parts)
        p.put();
      return;
    }
    start_lanes(parts, lanes);
  }
  double time(int executions, const std::vector<part>& parts) override {
    return timer_.time(executions, caches::hot, 1, [&](std::int64_t) { start(parts); });
  }
  double clock_ns() const override { return timer_.clock_ns(); }
  std::string remark() const override { return not_replayed(timer_); }

  /// By the medians of a few replays, with an event between two parts. The first replay warms up.
  std::vector<double> times_of(const std::vector<part>& parts) override {
    constexpr int replays = 9;
    std::vector<event> events(parts.size() + 1);
    std::string problem;
    auto graph = capture(
        gpu_->stream(),
        [&] {
          events[0].record_in_graph(gpu_->stream());
          for (std::size_t i = 0; i < parts.size(); ++i) {
            parts[i].put();
            events[i + 1].record_in_graph(gpu_->stream());
          }
        },
        problem);
    if (!graph) return {};
    std::vector<std::vector<double>> all(parts.size());
    for (int replay = 0; replay <= replays; ++replay) {
      graph->launch(gpu_->stream());
      wait();
      for (std::size_t i = 0; replay > 0 && i < parts.size(); ++i)
        all[i].push_back(std::max(0.0, events[i + 1].ns_since(events[i]) - gpu_->event_pair_ns()));
    }
    std::vector<double> out;
    for (std::vector<double>& times : all) {
      std::nth_element(times.begin(), times.begin() + replays / 2, times.end());
      out.push_back(times[replays / 2]);
    }
    return out;
  }

private:
  /// Lanes begin after what is on the first one, which continues after all of them.
  void start_lanes(const std::vector<part>& parts, int lanes) {
    ends_.resize(std::max(ends_.size(), parts.size()));
    joins_.resize(std::max(joins_.size(), static_cast<std::size_t>(lanes)));
    const struct first_again {
      gpu& of;
      ~first_again() { of.use_lane(0); }
    } at_the_end{*gpu_};
    const auto on = [this](int lane) -> const stream& {
      gpu_->use_lane(lane);
      return gpu_->stream();
    };
    joins_[0].record(on(0));
    for (int lane = 1; lane < lanes; ++lane)
      joins_[0].hold_back(on(lane));
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const stream& s = on(parts[i].lane);
      for (const std::size_t before : parts[i].behind)
        if (parts[before].lane != parts[i].lane) ends_[before].hold_back(s);
      parts[i].put();
      ends_[i].record(s);
    }
    for (int lane = 1; lane < lanes; ++lane) {
      joins_[static_cast<std::size_t>(lane)].record(on(lane));
      joins_[static_cast<std::size_t>(lane)].hold_back(on(0));
    }
  }

  std::shared_ptr<gpu> gpu_;
  timer timer_;
  std::vector<event> ends_{}, joins_{}; ///< of parts, and of lanes
  std::vector<memory> taken_{};
};

} // namespace benanza::backend::cuda
