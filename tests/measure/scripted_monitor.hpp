// SPDX-License-Identifier: Apache-2.0
// A noise monitor for tests: its clock goes on when a fake runs, and it sees the noise that it is
// given.
#pragma once

#include <benanza/measure/sampling/noise_monitor.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace benanza::test {

class scripted_monitor : public measure::noise_monitor {
public:
  double clock_ns = 0;
  int slices = 0;                              ///< that have ended
  std::function<measure::noise(int)> of_slice; ///< by the slice's number; unset: quiet
  std::function<double(double)> other_load;    ///< at a time; judged at the end of a window
  std::function<double(double)> smt_loss;      ///< at a time; unset: no quick probe sees any
  std::function<double(double)> processor;     ///< its clock at a time; unset: not known
  double between_probes_ns = 0;                ///< at least, unless it must probe

  double now_ns() override { return clock_ns += 1; }
  double clock_after_sample_ns() override { return processor ? processor(clock_ns) : 0; }
  void begin_slice() override {}
  measure::noise end_slice() override {
    measure::noise n = of_slice ? of_slice(slices++) : measure::noise{};
    if (const auto seen = probed()) n.smt_loss = std::max(n.smt_loss, seen->smt_loss);
    return n;
  }
  bool quick_probe(bool must = false) override {
    if (!smt_loss) return true;
    if (!must && probes_ > 0 && clock_ns - probed_ns_ < between_probes_ns) return last_ == 0;
    probed_ns_ = clock_ns;
    last_ = smt_loss(clock_ns);
    sum_ += last_;
    ++probes_;
    return last_ == 0;
  }
  /// Probes every 20 us.
  bool wait_for_quiet(double most_ns) override {
    const double start_ns = clock_ns;
    while (smt_loss && smt_loss(clock_ns) > 0 && clock_ns - start_ns < most_ns)
      clock_ns += 20e3;
    sum_ = 0, probes_ = 0;
    return !smt_loss || smt_loss(clock_ns) == 0;
  }
  std::optional<measure::noise> probed() override {
    if (probes_ == 0) return {};
    return measure::noise{.smt_loss = std::exchange(sum_, 0) / std::exchange(probes_, 0)};
  }
  bool window_is_over() override { return clock_ns - window_ns_ > 100e6; }
  measure::noise end_window() override {
    const double at = (window_ns_ + clock_ns) / 2;
    window_ns_ = clock_ns;
    return {.other_load = other_load ? other_load(at) : 0};
  }

private:
  double window_ns_ = 0, sum_ = 0, last_ = 0, probed_ns_ = 0;
  int probes_ = 0;
};

} // namespace benanza::test
