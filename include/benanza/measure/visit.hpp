// SPDX-License-Identifier: Apache-2.0
// What becomes of the samples of one visit of a case? They come in sections, each of which ends
// with a look at the machine: then it is kept or thrown away. Waiting belongs to no section. Times
// in ns.
//
//   visit v(c);   v.begin(now);   v.add(ns, clock);   v.keep(later);   v.close();
#pragma once

#include "sampled_case.hpp"

#include <algorithm>
#include <cstddef>

namespace benanza::measure {

/// The account of one visit, which it enters in that of its case.
class visit {
public:
  explicit visit(sampled_case& c)
      : case_(c)
      , first_(c.samples.size())
      , judged_(first_) {}

  /// A section begins.
  void begin(double now_ns) {
    begin_ns_ = now_ns;
    waited_ns_ = sampled_ns_ = 0;
  }
  /// A sample of it, per execution, and the clock that it ran at.
  void add(double ns, double clock_ns) {
    case_.samples.push_back({ns, true, clock_ns});
    sampled_ns_ += ns * case_.batch;
  }
  /// So long we waited, for somebody to leave.
  void wait(double ns) {
    case_.lost_ns += ns;
    waited_ns_ += ns;
  }
  /// Nothing disturbed the section; the next one begins.
  void keep(double now_ns) {
    kept_ += static_cast<int>(case_.samples.size() - judged_);
    kept_ns_ += passed_ns(now_ns);
    next(now_ns);
  }
  /// The section was disturbed; the next one begins.
  void lose(double now_ns, const noise& n) {
    throw_away(judged_, passed_ns(now_ns), n);
    next(now_ns);
  }
  /// The whole visit was disturbed.
  void lose_all(double now_ns, const noise& n) {
    throw_away(first_, kept_ns_ + passed_ns(now_ns), n);
    kept_ = 0, kept_ns_ = 0;
    next(now_ns);
  }
  /// The visit ends: the case's figures are made anew.
  void close() {
    if (kept_ == 0) ++case_.lost_visits;
    case_.refresh();
    if (kept_ == 0) return;
    case_.spent_ns += kept_ns_;
    case_.powers_w.push_back(case_.run->power_w());
    ++case_.visits;
    case_.figures.push_back({case_.figure(), case_.clean_samples()});
  }

  /// Samples that were not thrown away.
  int samples() const { return kept_ + unjudged(); }
  /// Samples of the section.
  int unjudged() const { return static_cast<int>(case_.samples.size() - judged_); }
  /// What they took, and what they needed.
  double ns(double now_ns) const { return kept_ns_ + passed_ns(now_ns); }

private:
  /// Sweeps count too: they may take far longer than what they make cold.
  double passed_ns(double now_ns) const {
    return std::max(sampled_ns_, now_ns - begin_ns_ - waited_ns_);
  }
  void next(double now_ns) {
    judged_ = case_.samples.size();
    begin(now_ns);
  }
  void throw_away(std::size_t from, double ns, const noise& n) {
    for (; from < case_.samples.size(); ++from)
      case_.samples[from].clean = false;
    case_.lost_ns += ns;
    case_.seen.add(n);
  }

  sampled_case& case_;
  std::size_t first_, judged_; ///< samples before this one are kept or thrown away
  int kept_ = 0;
  double kept_ns_ = 0, begin_ns_ = 0, waited_ns_ = 0, sampled_ns_ = 0;
};

} // namespace benanza::measure
