// SPDX-License-Identifier: Apache-2.0
// A witness for tests: its clock goes on when a fake runs, and it sees the noise that it is told.
#pragma once

#include <benanza/measure/witness.hpp>

#include <functional>

namespace benanza::test {

class scripted_witness : public measure::witness {
public:
  double clock_ns = 0;
  int visits = 0;                              ///< that have ended
  std::function<measure::noise(int)> of_visit; ///< by the visit's number; unset: quiet
  std::function<double(double)> foreign;       ///< at a time; judged at the end of a stretch
  std::function<void(const measure::noise&)> of_recovery; ///< what recovering does; unset: nothing

  double now_ns() override { return clock_ns += 1; }
  void begin_visit() override {}
  measure::noise end_visit() override { return of_visit ? of_visit(visits++) : measure::noise{}; }
  void recover(const measure::noise& n) override {
    if (of_recovery) of_recovery(n);
  }
  bool stretch_is_over() override { return clock_ns - stretch_ns_ > 100e6; }
  measure::noise end_stretch() override {
    const double at = (stretch_ns_ + clock_ns) / 2;
    stretch_ns_ = clock_ns;
    return {.foreign = foreign ? foreign(at) : 0};
  }

private:
  double stretch_ns_ = 0;
};

} // namespace benanza::test
