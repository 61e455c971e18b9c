// SPDX-License-Identifier: Apache-2.0
// How does a figure change with the batch, the threads, a dim, the type, the system, a library's
// version, or time? A point for each model, type and number of threads of each result, with its
// place on all of these axes; a figure of all of them by its name; and curves over one axis, one
// for each place on the others. Between two measured points a curve may be asked for a value: it is
// marked.
//
//   std::vector<point> all = points_of(source, models, "run.json");
//   std::vector<curve> c = curves(all, "batch", "bound");   value_at(c[0], 6)->interpolated
#pragma once

#include "../advice/energy.hpp"
#include "../advice/gap.hpp"
#include "../bound/model.hpp"
#include "../core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::compare {

/// A figure of a point: times in ns, energies in nJ, rates a second, factors.
enum class sweep_unit { time, energy, rate, factor };
struct sweep_figure {
  double value = 0, low = 0, high = 0;
  sweep_unit unit = sweep_unit::time;
};

/// The unit as programs read it.
constexpr std::string_view name(sweep_unit u) {
  return u == sweep_unit::time     ? "ns"
         : u == sweep_unit::energy ? "nJ"
         : u == sweep_unit::rate   ? "1/s"
                                   : "";
}

/// One model in one type on some threads, of one result.
struct point {
  std::map<std::string, std::string> axes{};
  const bound::model_bound* of = nullptr;
  const advice::comparison* run = nullptr; ///< a framework's; null: the point is of the model
  bool partial = false, disturbed = false;
};

/// A number of a place on an axis; nothing: it is a text.
inline std::optional<double> number_at(std::string_view place) {
  double v = 0;
  const auto [end, bad] = std::from_chars(place.data(), place.data() + place.size(), v);
  if (bad != std::errc{} || end != place.data() + place.size() || !std::isfinite(v))
    return std::nullopt;
  return v;
}

/// The order of places: numbers by their value, before texts.
inline bool before_on_axis(const std::string& a, const std::string& b) {
  const auto x = number_at(a), y = number_at(b);
  if (x && y && *x != *y) return *x < *y;
  if (x.has_value() != y.has_value()) return x.has_value();
  return a < b;
}

/// The points of a result; `system` is what its place on that axis is called.
inline std::vector<point> points_of(const result::run& r,
                                    const std::vector<bound::model_bound>& models,
                                    const std::string& system) {
  std::map<std::string, std::string> shared{{"system", system}};
  const auto fact = [&](const char* section, const char* name, const std::string& axis) {
    if (const auto facts = r.provenance.find(section); facts != r.provenance.end())
      if (const auto found = facts->second.find(name); found != facts->second.end())
        shared[axis] = found->second;
  };
  fact("measuring", "date", "date");
  fact("machine", "cpu", "cpu");
  fact("machine", "gpu", "gpu");
  fact("software", "compiler", "compiler");
  constexpr std::string_view version = "_version";
  if (const auto facts = r.provenance.find("software"); facts != r.provenance.end())
    for (const auto& [name, told] : facts->second)
      if (name.ends_with(version)) shared[name.substr(0, name.size() - version.size())] = told;
  std::vector<point> out;
  for (const bound::model_bound& b : models) {
    point& p = out.emplace_back(point{shared, &b, nullptr, b.partial(), !b.unmeasurable.empty()});
    const std::string& name = b.graph->name;
    p.axes["model"] = b.graph->model.empty() ? name : b.graph->model;
    p.axes["batch"] = std::to_string(b.graph->batch);
    p.axes["type"] = benanza::name(b.type);
    p.axes["threads"] = std::to_string(b.threads);
    // A variant is called model@batch=1,sequence=128.
    if (const std::size_t at = name.find('@'); at != std::string::npos)
      for (const std::string_view part : split_at(std::string_view(name).substr(at + 1), ","))
        if (const std::size_t is = part.find('='); is != std::string_view::npos && is > 0)
          p.axes[std::string(part.substr(0, is))] = part.substr(is + 1);
  }
  return out;
}

/// A point for each framework's run of the models of `all`, with its place on the axis `framework`.
inline std::vector<point> points_of_runs(const std::vector<point>& all,
                                         const std::deque<advice::comparison>& runs) {
  std::vector<point> out;
  for (const point& p : all)
    for (const advice::comparison& c : runs) {
      if (c.model != p.of) continue;
      point& one = out.emplace_back(p);
      one.run = &c;
      one.axes["framework"] = advice::run_title(c);
      one.disturbed = p.disturbed || c.disturbed || c.latency_profiled;
    }
  return out;
}

/// The names of figures; node:NAME, kind:OP and layer:NAME are more. The last two are of
/// frameworks' runs.
inline constexpr std::string_view sweep_figures[] = {
    "bound",    "expected",  "roofline", "run",    "items_per_s",  "bound_items_per_s",
    "parallel", "framework", "gap",      "energy", "tokens_per_s", "bound_tokens_per_s"};
constexpr bool is_of_frameworks(std::string_view figure) {
  return figure == "framework" || figure == "gap";
}

namespace detail {
inline sweep_figure as_time(const bound::figure& f) {
  return {f.ns, f.low_ns, f.high_ns, sweep_unit::time};
}
inline sweep_figure as_rate(const bound::figure& f, std::int64_t batch) {
  const double n = 1e9 * static_cast<double>(batch);
  return {n / f.ns, n / f.high_ns, n / f.low_ns, sweep_unit::rate};
}

/// The bound of some nodes of the unfused form.
template <class Is>
std::optional<sweep_figure> of_nodes(const bound::model_bound& b, Is is) {
  double ns = 0;
  for (const model::node& n : b.graph->nodes) {
    if (n.layer == model::no_layer || !is(n)) continue;
    const bound::layer_answer& l = b.layers[static_cast<std::size_t>(n.layer)];
    if (!l.known()) return std::nullopt;
    ns += l.algorithms.bound.ns;
  }
  if (!(ns > 0)) return std::nullopt;
  return sweep_figure{ns, ns, ns};
}
} // namespace detail

/// A figure of a point by its name; nothing: it has none, or no such name is known.
inline std::optional<sweep_figure> figure_of(const point& p, std::string_view figure) {
  const bound::model_bound& b = *p.of;
  const bound::form_figures& best = b.best_form();
  const auto time = [](const bound::figure& f) -> std::optional<sweep_figure> {
    if (!(f.ns > 0)) return std::nullopt;
    return detail::as_time(f);
  };
  const auto after = [&](std::string_view prefix) { return figure.substr(prefix.size()); };
  if (figure == "bound") return time(best.bound.sequential);
  if (figure == "parallel") return time(best.bound.parallel);
  if (figure == "roofline") return time(best.roofline.sequential);
  if (figure == "bound_items_per_s" && best.bound.sequential.ns > 0)
    return detail::as_rate(best.bound.sequential, b.graph->batch);
  const std::int64_t tokens = b.graph->cache.tokens();
  if (figure == "bound_tokens_per_s" && tokens > 0 && best.bound.sequential.ns > 0)
    return detail::as_rate(best.bound.sequential, tokens);
  if (const auto expected = bound::expected(b.fastest_form()); expected && expected->ns > 0) {
    if (figure == "expected") return detail::as_time(*expected);
    if (figure == "items_per_s") return detail::as_rate(*expected, b.graph->batch);
    if (figure == "tokens_per_s" && tokens > 0) return detail::as_rate(*expected, tokens);
  }
  if (figure == "run" && !b.runs.empty()) {
    const bound::measurement& m = *b.runs.front().run;
    return sweep_figure{m.median_ns, m.p10_ns, m.p90_ns};
  }
  if (figure == "energy")
    if (const advice::layers_energy e = advice::energy_of(b); e.whole())
      return sweep_figure{e.nj, e.nj, e.nj, sweep_unit::energy};
  if (p.run != nullptr && figure == "framework") return time(p.run->latency);
  if (p.run != nullptr && figure == "gap" && advice::has_gap(*p.run)) {
    const advice::factor gap = advice::gap_of(*p.run);
    return sweep_figure{gap.value, gap.low, gap.high, sweep_unit::factor};
  }
  if (figure.starts_with("node:"))
    return detail::of_nodes(b, [&](const model::node& n) { return n.name == after("node:"); });
  if (figure.starts_with("kind:"))
    return detail::of_nodes(b, [&](const model::node& n) { return n.op == after("kind:"); });
  if (figure.starts_with("layer:"))
    for (const bound::layer_answer& l : b.layers)
      if (l.name == after("layer:") && l.timed())
        return sweep_figure{l.algorithms.bound.ns, l.algorithms.bound.ns, l.algorithms.bound.ns};
  return std::nullopt;
}

/// A value of a curve.
struct curve_point {
  std::string place{};
  sweep_figure at{};
  bool partial = false, disturbed = false, interpolated = false;
};

/// A figure over an axis, at one place on all others that differ.
struct curve {
  std::map<std::string, std::string> others{};
  std::vector<curve_point> points{}; ///< in the order of their places
};

/// The axes on which the points differ, but for those that say no more than another one does: of
/// systems, what they are made of.
inline std::set<std::string> differing_axes(const std::vector<point>& all) {
  std::map<std::string, std::set<std::string>> places;
  for (const point& p : all)
    for (const auto& [axis, place] : p.axes)
      places[axis].insert(place);
  std::set<std::string> out;
  for (const auto& [axis, its] : places)
    if (its.size() > 1 || std::any_of(all.begin(), all.end(), [&, &of = axis](const point& p) {
          return !p.axes.contains(of);
        }))
      out.insert(axis);
  return out;
}

/// The axes of a system, which differ where it does.
inline bool belongs_to_system(const std::string& axis, const std::vector<point>& all) {
  std::map<std::string, std::string> by_system;
  if (axis == "system") return false;
  for (const point& p : all) {
    const auto place = p.axes.find(axis);
    const std::string is = place == p.axes.end() ? std::string() : place->second;
    const auto system = p.axes.find("system");
    if (system == p.axes.end() || by_system.try_emplace(system->second, is).first->second != is)
      return false;
  }
  return true;
}

/// The curves of a figure over the axis `x`; points without a place on it, or without the figure,
/// are left out. `apart`: axes that distinguish curves; empty: all on which the points differ.
inline std::vector<curve> curves(const std::vector<point>& all, const std::string& x,
                                 std::string_view figure, std::set<std::string> apart = {}) {
  if (apart.empty()) {
    apart = differing_axes(all);
    // What a system is made of differs with it: one of them is enough, and none if that is `x`.
    const bool of_system = x == "system" || belongs_to_system(x, all);
    std::erase_if(apart, [&](const std::string& axis) {
      return axis != "system" && belongs_to_system(axis, all);
    });
    if (of_system) apart.erase("system");
  }
  apart.erase(x);
  std::map<std::map<std::string, std::string>, curve> by_place;
  for (const point& p : all) {
    const auto place = p.axes.find(x);
    const auto value = figure_of(p, figure);
    if (place == p.axes.end() || !value) continue;
    std::map<std::string, std::string> others;
    for (const std::string& axis : apart)
      if (const auto found = p.axes.find(axis); found != p.axes.end()) others.insert(*found);
    curve& c = by_place[others];
    c.others = others;
    c.points.push_back({place->second, *value, p.partial, p.disturbed, false});
  }
  std::vector<curve> out;
  for (auto& [others, c] : by_place) {
    std::stable_sort(c.points.begin(), c.points.end(),
                     [](const auto& a, const auto& b) { return before_on_axis(a.place, b.place); });
    out.push_back(std::move(c));
  }
  return out;
}

/// What a curve says of a place: measured, or on the line between its two measured points, and
/// marked so; nothing outside of what was measured.
inline std::optional<curve_point> value_at(const curve& c, double x) {
  const curve_point* low = nullptr;
  const curve_point* high = nullptr;
  for (const curve_point& p : c.points) {
    const auto at = number_at(p.place);
    if (!at) continue;
    if (*at == x) return p;
    if (*at < x) low = &p;
    if (*at > x && high == nullptr) high = &p;
  }
  if (low == nullptr || high == nullptr) return std::nullopt;
  const double a = *number_at(low->place), b = *number_at(high->place), t = (x - a) / (b - a);
  curve_point out{.place = {},
                  .at = {std::lerp(low->at.value, high->at.value, t),
                         std::lerp(low->at.low, high->at.low, t),
                         std::lerp(low->at.high, high->at.high, t), low->at.unit},
                  .partial = low->partial || high->partial,
                  .disturbed = low->disturbed || high->disturbed,
                  .interpolated = true};
  char text[32];
  out.place.assign(text, std::to_chars(text, text + sizeof text, x).ptr);
  return out;
}

} // namespace benanza::compare
