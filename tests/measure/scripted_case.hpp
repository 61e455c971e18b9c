// SPDX-License-Identifier: Apache-2.0
// Cases that take the times they are told, sampled on a virtual clock.
#pragma once

#include "scripted_witness.hpp"

#include <benanza/measure/sampler.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace benanza::test {

/// Takes the time that it is told by the number of the execution, and notes its visits.
class scripted : public backend::prepared {
public:
  using script = std::function<double(int)>;
  scripted(script ns, scripted_witness& w)
      : ns_(std::move(ns))
      , witness_(w) {}
  std::string ran() const override { return "scripted"; }
  void run(int n) override { time(n); }
  double time(int n) override {
    double sum = 0;
    for (int i = 0; i < n; ++i)
      sum += ns_(executions++);
    witness_.clock_ns += sum;
    return sum;
  }
  void read(std::vector<double>&) const override {}
  std::string disturbance() override { return trouble ? trouble(looks++) : std::string{}; }
  double power_w() const override { return power; }
  bool on_device() const override { return device; }

  int executions = 0, looks = 0;
  std::function<std::string(int)> trouble{}; ///< with its device, by the number of the look
  double power = 0;
  bool device = false;

private:
  script ns_;
  scripted_witness& witness_;
};

/// `ns` with a spread of some percent that repeats after seven executions.
inline scripted::script about(double ns, double spread = 0.02) {
  return [=](int i) { return ns * (1 + spread * ((3 * i) % 7) / 7); };
}

/// Gets better and better, for ever.
inline scripted::script improving(double ns) {
  return [=](int i) { return ns / (1 + 0.01 * i); };
}

/// Cases that run scripts, and the order in which they were visited.
struct setup {
  scripted_witness witness;
  std::vector<std::unique_ptr<scripted>> runs;
  std::vector<measure::sampled_case> cases;
  std::vector<std::size_t> visits;
  std::atomic<bool> stop{false};

  explicit setup(const std::vector<scripted::script>& scripts) {
    for (std::size_t i = 0; i < scripts.size(); ++i) {
      runs.push_back(std::make_unique<scripted>(scripts[i], witness));
      cases.push_back({.run = runs.back().get(), .enter = [this, i] { visits.push_back(i); }});
    }
  }
  void sample(measure::effort e = measure::effort::normal) { sample(measure::plan_of(e)); }
  void sample(const measure::sampling_plan& plan) { measure::sample(cases, plan, witness, stop); }
  const measure::sampled_pass& of(std::size_t i) const { return cases.at(i).passes.at(0); }
  bool raced_out(std::size_t i) const { return result::was_raced_out(of(i).stop_reason); }
};

inline double least(const std::vector<double>& v) {
  return *std::min_element(v.begin(), v.end());
}
} // namespace benanza::test
