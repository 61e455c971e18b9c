// SPDX-License-Identifier: Apache-2.0
// What did other frameworks' runs of the model take, and runs of the same one in another type or
// with other settings? Each that was measured and is faster is a piece of advice with nothing
// assumed; each that is not is said not to be worth it.
//
//   advice_of_kind a = measured_advice(grounds);   a.items[0].id   // "framework/switch/openvino"
#pragma once

#include "other_runs.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/any_of.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::advice {

namespace detail {
/// In what another run differs from that of the page.
struct run_difference {
  bool framework = false, type = false, settings = false;
  std::vector<setting> set{}; ///< settings of the other that the page's run does not have
  int count() const { return framework + type + settings; }
};

inline run_difference difference_of(const comparison& page, const comparison& other) {
  run_difference out{.framework = !same_framework(page, other),
                     .type = page.model->type != other.model->type};
  for (const auto& [key, value] : other.from->settings) {
    const auto own = page.from->settings.find(key);
    if (own == page.from->settings.end() || own->second != value)
      out.set.push_back({other.from->framework, key, value, key + '=' + value});
  }
  out.settings = !out.type && !out.framework && !out.set.empty();
  return out;
}

/// `OpenVINO 2026.4.1 in bf16`, `bf16`, or `execution_mode=parallel`.
inline std::string what_differs(const run_difference& d, const comparison& other) {
  std::string out = d.framework ? framework_of(other) : "";
  if (d.type) out += (out.empty() ? "" : " in ") + std::string(name(other.model->type));
  if (d.settings)
    for (const setting& s : d.set)
      out += (out.empty() ? "" : " ") + s.written;
  return out;
}

inline how_to way_to_run(const run_difference& d, const comparison& other) {
  if (d.type) {
    how_to by = by_settings(lever::precision, other.from->framework, name(other.model->type));
    if (d.framework) by.text = framework_of(other) + (by.text.empty() ? "" : ": " + by.text);
    if (d.framework || by.by == doer::you) {
      by.by = doer::you;
      by.kind = d.framework ? way::framework : way::setting;
    }
    return by;
  }
  if (d.framework)
    return {
        .by = doer::you, .kind = way::framework, .text = "run the model by " + framework_of(other)};
  how_to by{.by = doer::you, .kind = way::setting, .settings = d.set};
  for (const setting& s : by.settings)
    by.text += (by.text.empty() ? "" : " ") + s.written;
  return by;
}
} // namespace detail

/// Advice by runs that were made on as many threads, at the same batch.
inline advice_of_kind measured_advice(const grounds& g) {
  advice_of_kind out;
  if (g.framework == nullptr || !detail::timed_alone(*g.framework)) return out;
  const comparison& page = *g.framework;
  for (const comparison* other : g.runs) {
    const bound::model_bound& b = *other->model;
    if (other == &page || b.graph != g.model.graph || b.threads != g.model.threads) continue;
    const detail::run_difference d = detail::difference_of(page, *other);
    // The type of the page's own framework is said once, by its own run.
    const bool own_type = d.framework && d.type && detail::run_of(g, b) != nullptr;
    if (d.count() == 0 || own_type) continue;
    const std::string what = detail::what_differs(d, *other);
    if (!detail::timed_alone(*other)) {
      out.not_measured.push_back(
          {"framework", what + ": its runs had a profiler on", detail::measure_command(*other)});
      continue;
    }
    const std::string now = detail::time_text(page.latency.ns),
                      then = detail::time_text(other->latency.ns);
    if (other->latency.ns > (1 - least_share) * page.latency.ns) {
      out.not_worth.push_back({d.framework ? "framework"
                               : d.type    ? "precision"
                                           : "setting",
                               fmt::format("{}: {} in place of {}", what, then, now),
                               what + " (measured: " + then + ')'});
      continue;
    }
    item one{.kind = d.framework ? "framework" : d.type ? "precision" : "setting"};
    one.id = d.framework ? "framework/switch/" + other->from->framework +
                               (d.type ? fmt::format("/{}", name(b.type)) : "")
             : d.type ? fmt::format("precision/{}", name(b.type))
                      : "setting/" + what;
    const std::string_view change =
        d.type && !quantised(b.type) ? detail::exactness(g.model.type, b.type) : "";
    one.what = fmt::format("{}: {} -> {}{}{}", what, now, then, change.empty() ? "" : ", ", change);
    one.saves = detail::between_figures(page.latency, other->latency);
    one.leads_to = what;
    one.bound_ns = b.best_form().bound.sequential.ns;
    one.evidence = {fmt::format("{}: {}, least {}{}", detail::framework_of(page), now,
                                detail::time_text(page.least_ns), detail::disturbed_text(page)),
                    fmt::format("{}: {}, least {}{}", what, then,
                                detail::time_text(other->least_ns),
                                detail::disturbed_text(*other))};
    one.how = detail::way_to_run(d, *other);
    one.check = detail::measure_command(*other);
    out.items.push_back(std::move(one));
  }
  return out;
}

} // namespace benanza::advice
