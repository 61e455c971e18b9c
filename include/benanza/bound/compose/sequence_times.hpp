// SPDX-License-Identifier: Apache-2.0
// What does a sequence of layers take within a model? Measured by itself it was timed in several
// cache states. Hot and cold are the ends of an interval: in a model some of what it uses is there,
// and not all of it. The estimate is between them: with weights as warm as a run of the model finds
// them, its operands just written and its results' memory used a while ago (llcw, coldw); where
// only hot and cold were measured, the same share of these; of one state, that. A model that fits a
// core's own caches finds everything there: it is hot.
//
//   sequence_times times(run, {numeric::f32, 1});   times.find("sequence/3-9ae16a3b2f90404f")
//   t->estimate_ns({.gone = 0.4})   t->interval(ns).low_ns
#pragma once

#include "../../model/sequence.hpp"
#include "../../result/fields.hpp"
#include "../../result/statistics.hpp"
#include "../cases.hpp"
#include "../clock.hpp"
#include "../interval.hpp"
#include "../warmth.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::bound {

/// What a case takes: the median of its samples. Where others disturbed it all along, most of them
/// are too slow, and the lower quartile is taken.
inline double typical_ns(const measurement& m) {
  if (m.disturbed.empty() || m.samples_ns.empty()) return m.median_ns;
  std::vector<double> sorted = m.samples_ns;
  std::sort(sorted.begin(), sorted.end());
  return std::min(m.median_ns, result::quantile(sorted, 0.25));
}

/// The cases of one sequence; null: not measured so.
struct sequence_cases {
  const measurement *hot = nullptr, *llcw = nullptr, *coldw = nullptr, *cold = nullptr;
  const measurement* failed = nullptr; ///< one that has no time

  bool measured() const {
    return hot != nullptr || llcw != nullptr || coldw != nullptr || cold != nullptr;
  }
  /// Both ends of an interval are known.
  bool has_ends() const { return hot != nullptr && (coldw != nullptr || cold != nullptr); }

  /// With weights, and all else that a model leaves, as warm as that.
  double estimate_ns(const warmth& w) const {
    if (w.hot && hot != nullptr) return typical_ns(*hot);
    const measurement* warm = llcw != nullptr && coldw != nullptr ? llcw : hot;
    const measurement* far = coldw != nullptr ? coldw : cold;
    if (coldw != nullptr && llcw == nullptr) warm = coldw;
    if (warm == nullptr || far == nullptr) return typical_ns(any());
    return (1 - w.gone) * typical_ns(*warm) + w.gone * typical_ns(*far);
  }
  /// The same at another clock, where both are known (0: unknown).
  double estimate_ns(const warmth& w, double clock_ns) const {
    const double ns = estimate_ns(w);
    if (hot == nullptr || clock_ns <= 0) return ns;
    const measurement& at = coldw != nullptr ? *coldw : any();
    return by_clock::of(ns, at.clock_ns, typical_ns(*hot), hot->clock_ns).at(clock_ns);
  }
  /// From the fastest to the slowest state.
  figure interval(double ns) const {
    figure out{.ns = ns, .low_ns = ns, .high_ns = ns};
    for (const measurement* m : {hot, llcw, coldw, cold})
      if (m != nullptr) {
        out.low_ns = std::min(out.low_ns, typical_ns(*m));
        out.high_ns = std::max(out.high_ns, typical_ns(*m));
      }
    return out;
  }
  /// Wall time that its measuring took.
  double clock_time_ns() const {
    double ns = 0;
    for (const measurement* m : {hot, llcw, coldw, cold})
      if (m != nullptr) ns += m->sampling_ns;
    return ns + (measured() ? any().setup_ns : 0);
  }
  const measurement& any() const {
    return coldw != nullptr ? *coldw : llcw != nullptr ? *llcw : hot != nullptr ? *hot : *cold;
  }
};

/// All sequences of a run in one type on some threads. Refers to the run.
class sequence_times {
public:
  sequence_times(const result::run& r, setting in) {
    for (const measurement& m : r.measurements) {
      if (m.family != model::sequence_family || m.type != name(in.first) || m.threads != in.second)
        continue;
      sequence_cases& its = by_name_[std::string(model::sequence_prefix) + m.key];
      if (!m.error.empty()) {
        its.failed = &m;
        continue;
      }
      how_ = m.algorithm;
      const measurement** const place = m.state == "hot"     ? &its.hot
                                        : m.state == "llcw"  ? &its.llcw
                                        : m.state == "coldw" ? &its.coldw
                                                             : &its.cold;
      *place = &m;
    }
  }

  /// Null: nothing is known of it.
  const sequence_cases* find(const std::string& name) const& {
    const auto found = by_name_.find(name);
    return found == by_name_.end() ? nullptr : &found->second;
  }
  const sequence_cases*
  find(const std::string& name) const&& = delete; // it would point into nothing
  bool empty() const { return by_name_.empty(); }
  /// By what their layers run: first choices, or named ones.
  std::string_view how() const { return how_; }
  /// Layers of the longest one that has a time.
  std::size_t longest() const {
    std::size_t most = 1;
    for (const auto& [name, its] : by_name_)
      if (its.measured())
        most = std::max<std::size_t>(
            most, std::strtoul(name.c_str() + model::sequence_prefix.size(), nullptr, 10));
    return most;
  }

private:
  std::map<std::string, sequence_cases> by_name_{};
  std::string_view how_{};
};

} // namespace benanza::bound
