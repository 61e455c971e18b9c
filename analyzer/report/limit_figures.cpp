// SPDX-License-Identifier: Apache-2.0
#include "limit_figures.hpp"

#include "below_bound.hpp"
#include "energy.hpp"
#include "heading.hpp"
#include "layers.hpp"
#include "units.hpp"

#include <benanza/advice/energy.hpp>
#include <benanza/advice/gap.hpp>
#include <fmt/format.h>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace benanza::report {

std::optional<double> factor_of(limit_kind kind, std::string_view unit) {
  const bool of_one = kind == limit_kind::factor || kind == limit_kind::share;
  if (kind == limit_kind::time)
    return unit == "ns"                        ? std::optional(1.0)
           : unit == "us" || unit == "\u00b5s" ? std::optional(1e3)
           : unit == "ms"                      ? std::optional(1e6)
           : unit == "s"                       ? std::optional(1e9)
                                               : std::nullopt;
  if (kind == limit_kind::energy)
    return unit == "nJ"                        ? std::optional(1.0)
           : unit == "uJ" || unit == "\u00b5J" ? std::optional(1e3)
           : unit == "mJ"                      ? std::optional(1e6)
           : unit == "J"                       ? std::optional(1e9)
                                               : std::nullopt;
  if (unit.empty()) return 1.0;
  if (of_one && unit == "%") return 0.01;
  if (kind == limit_kind::rate && unit == "/s") return 1.0;
  return std::nullopt;
}

std::string shown_value(limit_kind kind, double v) {
  switch (kind) {
  case limit_kind::time: return show_time(v);
  case limit_kind::energy: return show_energy(v);
  case limit_kind::factor: return fmt::format("{:.3f}", v);
  case limit_kind::share: return percent(v);
  case limit_kind::rate: return show_rate(v) + "/s";
  case limit_kind::count: return fmt::format("{:.0f}", v);
  }
  return {};
}

std::string exact_value(limit_kind kind, double v) {
  switch (kind) {
  case limit_kind::time: return fmt::format("{:.9g} ns", v);
  case limit_kind::energy: return fmt::format("{:.9g} nJ", v);
  case limit_kind::share: return fmt::format("{:.9g} %", 100 * v);
  case limit_kind::rate: return fmt::format("{:.9g}/s", v);
  case limit_kind::factor:
  case limit_kind::count: break;
  }
  return fmt::format("{:.9g}", v);
}

std::string unsure_sum(const bound::model_bound& b) {
  if (!b.unmeasurable.empty()) return "no verdict: " + b.unmeasurable;
  if (b.covered.partial())
    return fmt::format("{} of {} not measured", b.covered.unmeasured_nodes(),
                       counted(b.covered.nodes, "node"));
  if (!b.missing.empty())
    return counted(std::ssize(b.missing), "layer or reorder") + " not measured";
  return {};
}

namespace {
std::vector<limit_value> sum_value(const advice::advised& a, double ns,
                                   const char* without = "the result does not have it") {
  if (loose(*a.model)) return {{.why = "layers without a model add up to nothing"}};
  if (!a.model->has_bound()) return {{.why = "nothing of it was measured"}};
  if (!(ns > 0)) return {{.why = without}};
  return {{.value = ns, .why = unsure_sum(*a.model)}};
}
} // namespace

double expected_ns(const bound::model_bound& b) {
  const auto expected = bound::expected(b.fastest_form());
  return expected ? expected->ns : 0;
}

namespace {
const char* const no_expected = "changes of layout were not measured";

/// A run of the model as a chain, by the prediction's choices, one layer after the other.
limit_value run_value(const bound::model_bound& b) {
  limit_value out{.why = "the model was not run: benanza_analyze --plan, benanza_bench --plan"};
  for (const bound::chain_run& w : b.runs) {
    if (w.side_by_side() || w.fused != b.fused.has_value() || out.value) continue;
    if (w.run->disturbed.empty())
      out = {.value = w.run->median_ns};
    else
      out.why = "its run was disturbed: " + w.run->disturbed;
  }
  return out;
}

/// A figure of a framework's run.
template <class Value>
limit_value of_framework(const advice::comparison& c, Value value) {
  limit_value v{.why = "it has no time of a whole run"};
  if (c.latency.ns > 0) {
    v = value(c);
    if (v.why.empty() && c.latency_profiled) v.why = "it ran with its profiler on";
    if (v.why.empty() && c.disturbed) v.why = "its runs were disturbed";
  }
  v.of = framework_name(*c.from);
  return v;
}
} // namespace

limit_value gap_value(const advice::comparison& run) {
  return of_framework(run, [](const advice::comparison& c) -> limit_value {
    const bound::model_bound& b = *c.model;
    if (!advice::has_gap(c)) return {.why = "nothing of the model was measured"};
    limit_value v{.value = advice::gap_of(c).value, .why = unsure_sum(b)};
    if (const std::string below = below_bound(c); v.why.empty() && !below.empty())
      v.why = "it " + below;
    return v;
  });
}

namespace {
/// What a run takes, the framework's or one by the libraries' first choices, over the bound.
std::vector<limit_value> gap_values(const advice::advised& a) {
  const bound::model_bound& b = *a.model;
  const double bound = b.best_form().bound.sequential.ns;
  if (a.frameworks.empty()) {
    std::vector<limit_value> out = sum_value(a, bound);
    if (out.front().value) *out.front().value = advice::changed_run_ns(a) / bound;
    return out;
  }
  if (loose(b) || !(bound > 0)) return sum_value(a, bound);
  return a.frameworks | ranges::views::transform(gap_value) | ranges::to<std::vector>;
}
} // namespace

std::span<const limit_figure> limit_figures() {
  using advised = advice::advised;
  using values = std::vector<limit_value>;
  static constexpr limit_figure all[] = {
      {"expected", limit_kind::time, "what a run should take",
       [](const advised& a) { return sum_value(a, expected_ns(*a.model), no_expected); }},
      {"bound", limit_kind::time, "the lower bound",
       [](const advised& a) { return sum_value(a, a.model->best_form().bound.sequential.ns); }},
      {"parallel", limit_kind::time, "the bound along the longest path",
       [](const advised& a) { return sum_value(a, a.model->best_form().bound.parallel.ns); }},
      {"workers", limit_kind::time, "the bound on as many workers as there are",
       [](const advised& a) { return sum_value(a, a.model->best_form().bound.reachable.ns); }},
      {"roofline", limit_kind::time, "the machine's limits",
       [](const advised& a) {
         return sum_value(a, a.model->best_form().roofline.sequential.ns,
                          "the machine's limits were not measured");
       }},
      {"run", limit_kind::time, "the model, run as a chain by --plan",
       [](const advised& a) { return values{run_value(*a.model)}; }},
      {"energy", limit_kind::energy, "of the layers of a run, where all have one",
       [](const advised& a) -> values {
         const advice::layers_energy e = advice::energy_of(*a.model);
         if (!e.whole())
           return {{.why = e.with == 0
                               ? "no layer has an energy"
                               : fmt::format("{} of the layers have one", percent(e.share()))}};
         return sum_value(a, e.nj);
       }},
      {"framework", limit_kind::time, "each framework's run (--framework)",
       [](const advised& a) -> values {
         if (a.frameworks.empty()) return {{.why = "no framework's run was given (--framework)"}};
         values out;
         for (const advice::comparison& run : a.frameworks)
           out.push_back(of_framework(run, [](const advice::comparison& c) {
             return limit_value{.value = c.latency.ns};
           }));
         return out;
       }},
      {"first", limit_kind::time, "a run by what the libraries choose first",
       [](const advised& a) {
         const bound::model_bound& b = *a.model;
         values out = sum_value(a, b.prediction.sequential.ns);
         if (out.front().value) *out.front().value += advice::algorithm_gain(b).ns;
         return out;
       }},
      {"gap", limit_kind::factor,
       "each framework's run, or else the first choices', over the bound", gap_values},
      {"error", limit_kind::share, "how far the expected run lies from the chain's run",
       [](const advised& a) -> values {
         const limit_value run = run_value(*a.model);
         if (!run.value || !(*run.value > 0)) return {run};
         values out = sum_value(a, expected_ns(*a.model), no_expected);
         if (out.front().value) out.front().value = std::abs(*out.front().value / *run.value - 1);
         return out;
       }},
      {"coverage", limit_kind::share, "how much of the bound is measured",
       [](const advised& a) -> values {
         const bound::coverage& c = a.model->covered;
         const double share = c.measured() < 1 - 1e-9 ? c.measured() : 1; // only rounding is lost
         if (c.missing_nodes > 0)
           return {{.value = share,
                    .why = fmt::format("{} without any time", counted(c.missing_nodes, "node"))}};
         return {{.value = share}};
       }},
      {"saves", limit_kind::share, "the most that one change saves of a run",
       [](const advised& a) {
         const double run = advice::changed_run_ns(a);
         values out = sum_value(a, run);
         if (!out.front().value) return out;
         double most = 0;
         for (const advice::item& i : a.list.items)
           most = std::max(most, i.saves.ns / run);
         out.front().value = most;
         return out;
       }},
      {"tokens", limit_kind::rate, "tokens a second that a step of a language model should add",
       [](const advised& a) -> values {
         const std::int64_t tokens = a.model->graph->cache.tokens();
         if (tokens == 0) return {{.why = "no inputs keep keys and values of earlier tokens"}};
         values out = sum_value(a, expected_ns(*a.model), no_expected);
         if (out.front().value)
           out.front().value = 1e9 * static_cast<double>(tokens) / *out.front().value;
         return out;
       }},
      {"rate", limit_kind::rate, "items a second that a run should give",
       [](const advised& a) {
         values out = sum_value(a, expected_ns(*a.model), no_expected);
         if (out.front().value)
           out.front().value =
               1e9 * static_cast<double>(a.model->graph->batch) / *out.front().value;
         return out;
       }},
      {"unmeasured", limit_kind::count, "nodes without a measured time",
       [](const advised& a) {
         return values{{.value = static_cast<double>(a.model->covered.unmeasured_nodes())}};
       }},
      {"failed", limit_kind::count, "cases that failed",
       [](const advised& a) { return values{{.value = static_cast<double>(a.model->failed())}}; }},
      {"disturbed", limit_kind::count, "layers whose deciding cases were disturbed",
       [](const advised& a) {
         return values{{.value = static_cast<double>(disturbed(*a.model).size())}};
       }},
  };
  return all;
}

const limit_figure* find_limit_figure(std::string_view name) {
  for (const limit_figure& f : limit_figures())
    if (f.name == name || (name == "prediction" && f.name == "expected")) return &f;
  return nullptr;
}

std::string names_of_limit_figures() {
  std::string out;
  for (const limit_figure& f : limit_figures())
    out += (out.empty() ? "" : ", ") + std::string(f.name);
  return out;
}

} // namespace benanza::report
