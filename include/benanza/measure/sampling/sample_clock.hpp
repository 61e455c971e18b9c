// SPDX-License-Identifier: Apache-2.0
// At which clock did a sample run? What a chain on registers took directly after it; of a sample of
// several parts, after each, by how long they took. Of a device what 1000 of its cycles took
// meanwhile. Times in ns.
//
//   sample_clock c;   c.begin(now);   c.note(later, 1060);   c.mean_ns() == 1060
#pragma once

namespace benanza::measure {

/// The mean of the clocks seen in one sample.
class sample_clock {
public:
  /// The sample begins.
  void begin(double now_ns) {
    sum_ = seen_ns_ = last_ns_ = 0;
    since_ns_ = now_ns;
  }
  /// A part of it ends at `now_ns`, and the chain took `clock_ns`; 0: not known.
  void note(double now_ns, double clock_ns) {
    if (clock_ns <= 0) return;
    sum_ += (now_ns - since_ns_) * clock_ns;
    seen_ns_ += now_ns - since_ns_;
    last_ns_ = clock_ns;
    since_ns_ = now_ns;
  }
  /// What has passed since then was no part of it.
  void go_on(double now_ns) { since_ns_ = now_ns; }

  /// 0: not known.
  double mean_ns() const { return seen_ns_ > 0 ? sum_ / seen_ns_ : last_ns_; }

private:
  double sum_ = 0, seen_ns_ = 0, last_ns_ = 0, since_ns_ = 0;
};

} // namespace benanza::measure
