// SPDX-License-Identifier: Apache-2.0
// Did a time change? The samples of one start of the benchmark share its memory, its clock and its
// interference: a test over them takes the difference of any two starts for a change. So each start
// (a visit) counts as one value. How far values of two visits are apart by themselves is learnt
// from all cases that were measured: from several visits of one side where there are any, else from
// how the differences of all cases scatter. One case's own scatter is weighed against that (a
// moderated t test: Smyth, Statistical Applications in Genetics and Molecular Biology 3, 2004).
// Values are logarithms of times.
//
//   std::vector<twin> all = ...;   const scatter s(all);   difference d = difference_of(all[0], s);
//   d.change   d.low   d.high   d.p
#pragma once

#include "statistics.hpp"

#include "../result/statistics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace benanza::compare {

/// Which values scatter alike.
enum class pool { hot, cold, run };
inline constexpr std::size_t pools = 3;

/// What one visit says of a time.
struct value {
  double log_ns = 0;
  /// How far another visit's may differ from it, relatively, on a quiet machine.
  double spread = 0.01;
  /// How far interference that was seen may have raised it.
  double raised = 0;
};

/// A time on both sides, a value a visit.
struct twin {
  pool of = pool::hot;
  std::vector<value> before{}, after{};
  bool pairs = false; ///< measured in turns: the i-th of both, one behind the other
};

/// How sure what is learnt from all cases is, in degrees of freedom: of a quiet machine, of sums
/// over many layers, and of single times where interference met more than a few. Then some of those
/// that it was not seen to meet are far off, and only a large difference is more than chance
/// (compare/README.md).
inline constexpr double quiet_df = 8, noisy_df = 2;
/// The share of disturbed cases from which on a visit is no longer quiet.
inline constexpr double most_disturbed = 0.05;

namespace detail {
/// Of visits with interference and such without, those without count.
inline std::vector<value> cleanest(const std::vector<value>& all) {
  std::vector<value> out;
  for (const value& v : all)
    if (v.raised == 0) out.push_back(v);
  return out.empty() ? all : out;
}

/// The values of one side as one.
struct side_mean {
  double log_ns = 0, weight = 0, raised = 0;
  double squares = 0; ///< of the values' deviations, in units of their spreads
  std::size_t visits = 0;
};

inline side_mean mean_of(const std::vector<value>& all) {
  side_mean out;
  const std::vector<value> used = cleanest(all);
  for (const value& v : used) {
    const double w = 1 / (v.spread * v.spread);
    out.weight += w;
    out.log_ns += w * v.log_ns;
    out.raised += w * v.raised;
  }
  out.log_ns /= out.weight;
  out.raised /= out.weight;
  double low = used.front().log_ns, high = low;
  for (const value& v : used) {
    out.squares += (v.log_ns - out.log_ns) * (v.log_ns - out.log_ns) / (v.spread * v.spread);
    low = std::min(low, v.log_ns);
    high = std::max(high, v.log_ns);
  }
  out.visits = used.size();
  // Interference that came and went moved the visits apart by as much.
  if (out.visits >= 3) out.raised = std::min(out.raised, high - low);
  return out;
}

/// How far each visit of a side in turns is behind its partner.
inline std::vector<value> turns_of(const twin& t) {
  std::vector<value> out;
  for (std::size_t i = 0; i < t.before.size(); ++i) {
    const value &a = t.before[i], &b = t.after[i];
    out.push_back({.log_ns = b.log_ns - a.log_ns,
                   .spread = joined({a.spread, b.spread}),
                   .raised = std::max(a.raised, b.raised)});
  }
  return out;
}

/// How far the sides of a time are apart.
struct apart {
  double before_log_ns = 0, after_log_ns = 0;
  double log = 0, weight = 0;
  double squares = 0, own = 0; ///< of deviations in units of their spreads; degrees of freedom
  double before_raised = 0, after_raised = 0;
};

inline apart apart_of(const twin& t) {
  const side_mean a = mean_of(t.before), b = mean_of(t.after);
  apart out{.before_log_ns = a.log_ns,
            .after_log_ns = b.log_ns,
            .log = b.log_ns - a.log_ns,
            .weight = 1 / (1 / a.weight + 1 / b.weight),
            .squares = a.squares + b.squares,
            .own = static_cast<double>(a.visits + b.visits - 2),
            .before_raised = a.raised,
            .after_raised = b.raised};
  if (!t.pairs) return out;
  const side_mean turns = mean_of(turns_of(t));
  out.log = turns.log_ns;
  out.before_log_ns = std::midpoint(a.log_ns, b.log_ns) - out.log / 2; // so far apart are the two
  out.after_log_ns = out.before_log_ns + out.log;
  out.weight = turns.weight;
  out.squares = turns.squares;
  out.own = static_cast<double>(turns.visits - 1);
  return out;
}

/// The standard deviation of what is nearly normal around zero, but for outliers.
inline double robust_deviation(std::vector<double> of) {
  for (double& v : of)
    v = std::abs(v);
  return result::median(std::move(of)) / 0.6745;
}
} // namespace detail

/// How far visits are apart, as a factor on the spreads that values come with.
class scatter {
public:
  /// From so many cases on something is learnt.
  static constexpr std::size_t fewest = 10;
  /// Where no side has several visits, changes of many cases look like scatter: no more than this.
  static constexpr double most_alone = 3;
  static constexpr double least = 0.5;

  scatter() { factor_.fill(1); }
  explicit scatter(const std::vector<twin>& cases)
      : scatter() {
    using sides = std::vector<std::vector<value>>;
    std::array<std::vector<double>, pools> within, between;
    for (const twin& t : cases) {
      const auto p = static_cast<std::size_t>(t.of);
      for (const std::vector<value>& visits :
           t.pairs ? sides(1, detail::turns_of(t)) : sides{t.before, t.after}) {
        const std::vector<value> used = detail::cleanest(visits);
        if (used.size() < 2) continue;
        const detail::side_mean m = detail::mean_of(used);
        const auto n = static_cast<double>(used.size());
        for (const value& v : used)
          within[p].push_back((v.log_ns - m.log_ns) / v.spread * std::sqrt(n / (n - 1)));
      }
      if (t.before.empty() || t.after.empty()) continue;
      const detail::apart d = detail::apart_of(t);
      between[p].push_back(d.log * std::sqrt(d.weight));
    }
    for (std::size_t p = 0; p < pools; ++p) {
      if (within[p].size() >= 2 * fewest) {
        factor_[p] = std::max(least, detail::robust_deviation(within[p]));
      } else if (between[p].size() >= fewest) {
        const double middle = result::median(between[p]);
        for (double& z : between[p])
          z -= middle;
        factor_[p] = std::clamp(detail::robust_deviation(between[p]), least, most_alone);
      }
    }
  }

  double of(pool p) const { return factor_[static_cast<std::size_t>(p)]; }

private:
  std::array<double, pools> factor_{};
};

/// What both sides of a time say of its change.
struct difference {
  double before_ns = 0, after_ns = 0;
  double change = 0;        ///< 0.05: the new one takes 5 % longer
  double low = 0, high = 0; ///< within, with 95 % confidence
  double p = 1;             ///< the chance of such a difference where there is none
  std::size_t before_visits = 0, after_visits = 0;
  bool raised = false; ///< interference widens the interval
};

/// Interference only makes times longer: of the new side it may explain that it is slower, of the
/// old one that it was.
inline difference difference_of(const twin& t, const scatter& s, double prior_df = quiet_df) {
  const detail::apart d = detail::apart_of(t);
  const double prior = s.of(t.of) * s.of(t.of), df = prior_df + d.own;
  const double error = std::sqrt((prior_df * prior + d.squares) / df / d.weight);
  const double times = quantile(0.05, df);
  const double down = joined({error, d.after_raised}), up = joined({error, d.before_raised});
  return {.before_ns = std::exp(d.before_log_ns),
          .after_ns = std::exp(d.after_log_ns),
          .change = std::expm1(d.log),
          .low = std::expm1(d.log - times * down),
          .high = std::expm1(d.log + times * up),
          .p = tail(d.log / (d.log > 0 ? down : up), df),
          .before_visits = t.before.size(),
          .after_visits = t.after.size(),
          .raised = d.before_raised > 0 || d.after_raised > 0};
}

/// What the differences of several times of one kind say of all of them: their median, which a few
/// that are far off do not move.
inline difference together(const std::vector<twin>& all, const scatter& s) {
  difference out;
  std::vector<double> changes;
  double squares = 0, down = 0, up = 0;
  for (const twin& t : all) {
    const detail::apart d = detail::apart_of(t);
    changes.push_back(d.log);
    squares += s.of(t.of) * s.of(t.of) / d.weight;
    down += d.after_raised;
    up += d.before_raised;
    out.before_ns += std::exp(d.before_log_ns);
    out.after_ns += std::exp(d.after_log_ns);
    out.before_visits = std::max(out.before_visits, t.before.size());
    out.after_visits = std::max(out.after_visits, t.after.size());
  }
  constexpr double seen_of_one_by_one = 0.2; // interference meets them one by one
  const auto n = static_cast<double>(all.size());
  const double d = result::median(changes);
  for (double& c : changes)
    c -= d;
  const double own = detail::robust_deviation(changes);
  const double error = 1.2533 * std::sqrt(std::max(own * own, squares / n) / n);
  const double df = n - 1 + noisy_df, times = quantile(0.05, df);
  down = joined({error, seen_of_one_by_one * down / n});
  up = joined({error, seen_of_one_by_one * up / n});
  out.change = std::expm1(d);
  out.low = std::expm1(d - times * down);
  out.high = std::expm1(d + times * up);
  out.p = tail(d / (d > 0 ? down : up), df);
  out.raised = down > error || up > error;
  return out;
}

enum class verdict { same, faster, slower, unsure };

constexpr const char* name(verdict v) {
  switch (v) {
  case verdict::same: return "SAME";
  case verdict::faster: return "FASTER";
  case verdict::slower: return "SLOWER";
  case verdict::unsure: return "UNSURE";
  }
  return "?";
}

/// When is a difference a change?
struct limits {
  double min_change = 0.02; ///< less is none
  double within = 0.05;     ///< what SAME rules out, with 95 % confidence; no less than min_change
  double chance = 0.05;     ///< of any false claim among all times of a kind
  bool in_turns = false;    ///< the i-th visits of both sides were measured one behind the other
};

/// The verdict on a difference whose chance, corrected for all that were looked at, is `adjusted`.
inline verdict judge(const difference& d, double adjusted, const limits& l) {
  if (adjusted < l.chance && std::abs(d.change) >= l.min_change)
    return d.change > 0 ? verdict::slower : verdict::faster;
  const double within = std::max(l.within, l.min_change);
  return d.low > -within && d.high < within ? verdict::same : verdict::unsure;
}

} // namespace benanza::compare
