// SPDX-License-Identifier: Apache-2.0
// What becomes of the time that cases might have lost to noise and did not? It is kept for those
// that are hit harder: a neighbour may stay for a second or two, longer than one case waits. All of
// them together lose no more than their own limits add up to.
//
//   savings s;   plan.spare_ns = s.share(cases.size(), own_limit_ns(plan));  ...
//   s.add(own_limit_ns(plan), lost_ns);
#pragma once

#include <algorithm>
#include <cstddef>

namespace benanza::measure {

/// Nanoseconds that the cases of a run have saved.
class savings {
public:
  /// More is not kept: who stays for longer may stay for ever.
  static constexpr double most_ns = 4e9;

  /// No case gets more than so many times its own limit.
  static constexpr double most_shares = 5;

  /// What each of so many cases may lose beyond its own limit.
  double share(std::size_t cases, double limit_ns) const {
    if (cases == 0) return 0;
    return std::min(saved_ns_ / static_cast<double>(cases), most_shares * limit_ns);
  }

  /// A case has lost so much of its limit: the rest is kept, or what it lost beyond is paid.
  void add(double limit_ns, double lost_ns) {
    saved_ns_ = std::clamp(saved_ns_ + limit_ns - lost_ns, 0.0, most_ns);
  }

private:
  double saved_ns_ = 0;
};

} // namespace benanza::measure
