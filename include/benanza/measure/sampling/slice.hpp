// SPDX-License-Identifier: Apache-2.0
// What becomes of the samples of one slice of a case? They come in sections, each of which ends
// with a probe of the machine: then it is kept or thrown away. Waiting belongs to no section. Times
// in ns.
//
//   slice s(c, p);   s.begin(now);   s.add(ns, clock);   s.keep(later);   s.close();
#pragma once

#include "sampled_case.hpp"

#include <algorithm>
#include <cstddef>

namespace benanza::measure {

/// The account of one slice, which it enters in that of its case.
class slice {
public:
  slice(sampled_case& c, const parameters& p)
      : case_(c)
      , parameters_(p)
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
  /// So long we waited for quiet.
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
  /// The whole slice was disturbed.
  void lose_all(double now_ns, const noise& n) {
    throw_away(first_, kept_ns_ + passed_ns(now_ns), n);
    kept_ = 0, kept_ns_ = 0;
    next(now_ns);
  }
  /// The slice ends: the case's figures are made anew.
  void close() {
    if (kept_ == 0) ++case_.lost_slices;
    case_.refresh();
    if (kept_ == 0) return;
    case_.spent_ns += kept_ns_;
    ++case_.slices;
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
    case_.seen.add(n, parameters_);
  }

  sampled_case& case_;
  const parameters& parameters_;
  std::size_t first_, judged_; ///< samples before this one are kept or thrown away
  int kept_ = 0;
  double kept_ns_ = 0, begin_ns_ = 0, waited_ns_ = 0, sampled_ns_ = 0;
};

} // namespace benanza::measure
