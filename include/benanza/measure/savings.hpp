// SPDX-License-Identifier: Apache-2.0
// What becomes of the time that cases might have lost to noise and did not? It is kept for those
// that are hit harder: a neighbour may stay for a second or two, longer than one case waits. All of
// them together lose no more than their own limits add up to. And who has disturbed all for long
// will hardly go: then none waits for its whole limit, until one is clean again.
//
//   savings s;   plan.extra_share *= s.hope();
//   plan.spare_ns = s.share(cases.size(), own_limit_ns(plan));  ...
//   s.add(own_limit_ns(plan), lost_ns, disturbed);
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

  /// All cases since the last clean one may lose so much before it seems to be in vain.
  static constexpr double long_in_vain_ns = 1e10;
  /// What of its own limit a case may lose then.
  static constexpr double little_hope = 0.2;

  /// The share of its own limit that a case may lose: who has stayed for long will stay.
  double hope() const { return in_vain_ns_ > long_in_vain_ns ? little_hope : 1; }

  /// A case has lost so much of its limit: the rest is kept, or what it lost beyond is paid.
  /// `disturbed`: it was not measured for all that.
  void add(double limit_ns, double lost_ns, bool disturbed) {
    saved_ns_ = std::clamp(saved_ns_ + limit_ns - lost_ns, 0.0, most_ns);
    in_vain_ns_ = disturbed ? in_vain_ns_ + lost_ns : 0;
  }

private:
  double saved_ns_ = 0, in_vain_ns_ = 0;
};

} // namespace benanza::measure
