// SPDX-License-Identifier: Apache-2.0
// Cases that take scripted times, sampled on a virtual clock.
#pragma once

#include "scripted_monitor.hpp"

#include <benanza/measure/sampling/sampler.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace benanza::test {

/// Takes the time that a script gives for the number of the execution.
class scripted : public backend::prepared, public backend::device_control {
public:
  using script = std::function<double(int)>;
  scripted(script ns, scripted_monitor& m)
      : ns_(std::move(ns))
      , monitor_(m) {}
  std::string ran() const override { return "scripted"; }
  void run(int n) override { time(n); }
  double time(int n) override {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += ns_(executions++);
    monitor_.clock_ns += sum;
    return sum;
  }
  void read(std::vector<double>&) const override {}
  double clock_ns() const override { return of_device ? of_device(executions) : 0; }
  backend::device_account end_account() override { return account; }
  backend::device_control* own_device() override { return device ? this : nullptr; }
  bool host_launches() const override { return launched; }

  int executions = 0;
  std::function<double(int)> of_device{}; ///< the device's clock, by the executions so far
  backend::device_account account{};      ///< of each slice
  bool device = false, launched = false;  ///< a device's; and not replayed there

private:
  script ns_;
  scripted_monitor& monitor_;
};

/// `ns` with a spread of some percent that repeats after seven executions.
inline scripted::script about(double ns, double spread = 0.02) {
  return [=](int i) { return ns * (1 + spread * ((3 * i) % 7) / 7); };
}

/// Gets better and better, for ever.
inline scripted::script improving(double ns) {
  return [=](int i) { return ns / (1 + 0.01 * i); };
}

/// Cases that run scripts, and the order of their slices.
struct setup {
  scripted_monitor monitor;
  std::vector<std::unique_ptr<scripted>> runs;
  std::vector<measure::sampled_case> cases;
  std::vector<std::size_t> slices;
  std::atomic<bool> stop{false};

  explicit setup(const std::vector<scripted::script>& scripts) {
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      runs.push_back(std::make_unique<scripted>(scripts[i], monitor));
      cases.push_back({.run = runs.back().get(), .enter = [this, i] { slices.push_back(i); }});
    }
  }
  void sample(measure::effort e = measure::effort::normal) { sample(measure::plan_of(e)); }
  void sample(const measure::sampling_plan& plan) { measure::sample(cases, plan, monitor, stop); }
  const measure::sampled_pass& of(std::size_t i) const { return cases.at(i).passes.at(0); }
  bool raced_out(std::size_t i) const { return result::was_raced_out(of(i).stop_reason); }
};

inline double least(const std::vector<double>& v) {
  return *std::min_element(v.begin(), v.end());
}
} // namespace benanza::test
