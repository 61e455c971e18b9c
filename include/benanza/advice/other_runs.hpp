// SPDX-License-Identifier: Apache-2.0
// What would the run that changes start from take in another setting: on other threads, at another
// batch? What the same framework took in it, where that was measured. Else, with a framework, its
// run changed as the best kernels' prediction changes; and without one, what the libraries' first
// choices take there.
//
//   other_run o = run_in(grounds, other_model);   o.takes.ns   o.measured()
#pragma once

#include "drawn.hpp"
#include "item.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/find_if.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::advice {

/// A run in another setting.
struct other_run {
  const bound::model_bound* model = nullptr;
  const comparison* by =
      nullptr; ///< the framework's run of that setting; null: it was not measured
  bound::figure takes{};
  bool measured() const { return by != nullptr; }
};

namespace detail {
/// True for runs whose whole time can be compared with that of others; what disturbed them makes
/// them longer.
inline bool timed_alone(const comparison& c) {
  return c.latency.ns > 0 && !c.latency_profiled;
}
/// What to say of them then.
inline std::string disturbed_text(const comparison& c) {
  return c.disturbed ? "; its runs were disturbed" : "";
}

inline bool same_framework(const comparison& a, const comparison& b) {
  return a.from->framework == b.from->framework && a.from->version == b.from->version;
}

/// The run of the page's framework, in the same version and with the same settings but those that
/// choose the type, of the figures of `other`; null: there is none.
inline const comparison* run_of(const grounds& g, const bound::model_bound& other) {
  if (g.framework == nullptr || !timed_alone(*g.framework)) return nullptr;
  const auto plain = [](const comparison& c) {
    std::map<std::string, std::string> out = c.from->settings;
    for (const lever type : {lever::precision, lever::cache})
      for (const setting& s : settings_for(type, c.from->framework, "f32"))
        out.erase(s.name);
    return out;
  };
  const auto found = ranges::find_if(g.runs, [&](const comparison* c) {
    return c->model == &other && timed_alone(*c) && same_framework(*c, *g.framework) &&
           plain(*c) == plain(*g.framework);
  });
  return found == g.runs.end() ? nullptr : *found;
}

inline bound::figure figure_of_run(const bound::model_bound& b) {
  return bound::expected(b.fastest_form()).value_or(b.fastest_form().prediction.sequential);
}
inline bound::figure times(const bound::figure& f, double by) {
  return {.ns = by * f.ns, .low_ns = by * f.low_ns, .high_ns = by * f.high_ns};
}
} // namespace detail

/// The run in the setting of `other`, figures of the same model; nothing where these lack
/// something.
inline std::optional<other_run> run_in(const grounds& g, const bound::model_bound& other) {
  other_run out{.model = &other};
  if (&other == &g.model) {
    out.takes = g.framework != nullptr && !g.run.supposed
                    ? g.framework->latency
                    : detail::times(detail::figure_of_run(other),
                                    g.run.ns / detail::figure_of_run(other).ns);
    out.by = g.run.supposed ? nullptr : g.framework;
    return out;
  }
  if (const comparison* const c = detail::run_of(g, other)) {
    out.takes = c->latency;
    out.by = c;
    return out;
  }
  const bound::figure own = detail::figure_of_run(g.model), its = detail::figure_of_run(other);
  if (other.partial() || g.model.partial() || own.ns <= 0 || its.ns <= 0) return std::nullopt;
  out.takes =
      detail::times(its, g.run.supposed ? by_first_choices_ns(other) / its.ns : g.run.ns / own.ns);
  return out;
}

namespace detail {
/// What users of a model count, and how many of them a run gives.
inline std::string_view counted_in(const model::graph& g) {
  return g.cache ? "tokens" : "items";
}
inline double count_of(const model::graph& g) {
  return static_cast<double>(g.cache ? g.cache.tokens() : g.batch);
}
/// `12.7 tokens/s`
inline std::string rate_text(const model::graph& g, double ns) {
  const double rate = 1e9 * count_of(g) / ns;
  return fmt::format("{:.{}f} {}/s", rate, rate < 99.95 ? 1 : 0, counted_in(g));
}

/// What is assumed of a run that was not measured.
inline std::string assumed_of(const grounds& g, const other_run& o, std::string_view what) {
  if (o.measured()) return {};
  if (g.run.supposed) return "a framework takes the libraries' first choices";
  return fmt::format("{} gains from {} what the best kernels gain", framework_of(*g.framework),
                     what);
}
/// A row of evidence on a run.
inline std::string row_of(const grounds& g, const other_run& o, const std::string& setting) {
  const std::string who = o.measured() ? framework_of(*o.by) + ", measured" + disturbed_text(*o.by)
                          : g.run.supposed ? "by the libraries' first choices"
                                           : framework_of(*g.framework) + ", not measured";
  const bound::figure best = figure_of_run(*o.model);
  return fmt::format("{}: {} ({}){}", setting, time_text(o.takes.ns), who,
                     best.ns > 0 ? ", expected of the best kernels " + time_text(best.ns) : "");
}

/// What a change of type does to results; empty: nothing.
inline std::string_view exactness(numeric from, numeric to) {
  const int now = significant_bits(from), then = significant_bits(to);
  if (then == now) return "";
  return then < now ? "results less exact" : "results more exact";
}
} // namespace detail

} // namespace benanza::advice
