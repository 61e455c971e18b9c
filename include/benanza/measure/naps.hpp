// SPDX-License-Identifier: Apache-2.0
// How do we get back onto cores that share a cache? The host of a virtual machine puts each of its
// processors somewhere when it wakes, and leaves it there while it is busy, for ten seconds and
// more. So all threads sleep for a moment, until a look says that things are well again. Where
// that does not help, it is not tried again before ten times as long has passed.
//
//   naps n;   n.until([&] { return hand_offs.look(2) <= most_apart; }, now_ns, sleep_ns);
#pragma once

#include <limits>

namespace benanza::measure {

/// Short sleeps, as few as will do. Times in ns.
class naps {
public:
  static constexpr double nap_ns = 20e6;
  static constexpr int most = 25; ///< in a row
  /// So many times as long as sleeping was in vain, nothing more is tried.
  static constexpr double pause = 10;

  /// Sleeps until `well` is true; false if it never was, or it is too early to try again.
  template <class Well, class Now, class Sleep>
  bool until(Well&& well, Now&& now_ns, Sleep&& sleep) {
    const double start_ns = now_ns();
    if (start_ns < next_ns_) return false;
    for (int i = 0; i < most; ++i) {
      sleep(nap_ns);
      if (well()) return true;
    }
    const double end_ns = now_ns();
    next_ns_ = end_ns + pause * (end_ns - start_ns);
    return false;
  }

private:
  double next_ns_ = -std::numeric_limits<double>::infinity();
};

} // namespace benanza::measure
