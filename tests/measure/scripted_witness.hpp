// SPDX-License-Identifier: Apache-2.0
// A witness for tests: its clock goes on when a fake runs, and it sees the noise that it is told.
#pragma once

#include <benanza/measure/witness.hpp>

#include <algorithm>
#include <functional>
#include <utility>

namespace benanza::test {

class scripted_witness : public measure::witness {
public:
  double clock_ns = 0;
  int visits = 0;                              ///< that have ended
  std::function<measure::noise(int)> of_visit; ///< by the visit's number; unset: quiet
  std::function<double(double)> foreign;       ///< at a time; judged at the end of a stretch
  std::function<double(double)> crowded;       ///< at a time; unset: no glance sees anything
  std::function<double(double)> processor;     ///< its clock at a time; unset: not told
  double between_glances_ns = 0;               ///< at least, unless it must look

  double now_ns() override { return clock_ns += 1; }
  double clock_after_sample_ns() override { return processor ? processor(clock_ns) : 0; }
  void begin_visit() override {}
  measure::noise end_visit() override {
    measure::noise n = of_visit ? of_visit(visits++) : measure::noise{};
    if (const auto seen = glanced()) n.crowded = std::max(n.crowded, seen->crowded);
    return n;
  }
  bool glance(bool must = false) override {
    if (!crowded) return true;
    if (!must && glances_ > 0 && clock_ns - glanced_ns_ < between_glances_ns) return last_ == 0;
    glanced_ns_ = clock_ns;
    last_ = crowded(clock_ns);
    sum_ += last_;
    ++glances_;
    return last_ == 0;
  }
  /// Looks every 20 us.
  bool wait_alone(double most_ns) override {
    const double start_ns = clock_ns;
    while (crowded && crowded(clock_ns) > 0 && clock_ns - start_ns < most_ns)
      clock_ns += 20e3;
    sum_ = 0, glances_ = 0;
    return !crowded || crowded(clock_ns) == 0;
  }
  std::optional<measure::noise> glanced() override {
    if (glances_ == 0) return {};
    return measure::noise{.crowded = std::exchange(sum_, 0) / std::exchange(glances_, 0)};
  }
  bool stretch_is_over() override { return clock_ns - stretch_ns_ > 100e6; }
  measure::noise end_stretch() override {
    const double at = (stretch_ns_ + clock_ns) / 2;
    stretch_ns_ = clock_ns;
    return {.foreign = foreign ? foreign(at) : 0};
  }

private:
  double stretch_ns_ = 0, sum_ = 0, last_ = 0, glanced_ns_ = 0;
  int glances_ = 0;
};

} // namespace benanza::test
