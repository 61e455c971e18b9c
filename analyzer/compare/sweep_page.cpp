// SPDX-License-Identifier: Apache-2.0
#include "sweep_page.hpp"

#include "../report/energy.hpp"
#include "../report/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string_view>
#include <utility>

namespace benanza::report {

namespace {
std::string show_figure(const compare::sweep_figure& f) {
  switch (f.unit) {
  case compare::sweep_unit::time: return show_time(f.value);
  case compare::sweep_unit::energy: return show_energy(f.value);
  case compare::sweep_unit::rate: return show_rate(f.value) + "/s";
  case compare::sweep_unit::factor: return fmt::format("{:.3f}", f.value);
  }
  return {};
}

/// `~` interpolated, `p` partial, `!` disturbed.
std::string marks_of(const compare::curve_point& p) {
  return std::string(p.interpolated ? "~" : "") + (p.partial ? "p" : "") + (p.disturbed ? "!" : "");
}

std::vector<std::string> places_of(const sweep_page& s) {
  std::set<std::string> all;
  for (const compare::curve& c : s.curves)
    for (const compare::curve_point& p : c.points)
      all.insert(p.place);
  std::vector<std::string> out(all.begin(), all.end());
  std::stable_sort(out.begin(), out.end(), compare::before_on_axis);
  return out;
}

/// A place as programs read it: a number as one.
tables::cell place_cell(const std::string& place) {
  const auto number = compare::number_at(place);
  return number ? tables::cell(*number) : tables::cell(place);
}

/// A column a curve, a row a place.
tables::table shown_curves(const sweep_page& s) {
  const bool numbered = s.curves.size() > 1;
  tables::table out{.columns = {{"", s.x}}};
  std::size_t marks = 0;
  for (std::size_t i = 0; i < s.curves.size(); ++i) {
    out.columns.push_back(
        {"", numbered ? fmt::format("({})", i + 1) : s.figure, tables::unit::time});
    for (const compare::curve_point& p : s.curves[i].points)
      marks = std::max(marks, marks_of(p).size());
  }
  for (const std::string& place : places_of(s)) {
    std::vector<tables::cell>& row = out.rows.emplace_back();
    row.emplace_back(place);
    for (const compare::curve& c : s.curves) {
      const auto p =
          std::find_if(c.points.begin(), c.points.end(),
                       [&](const compare::curve_point& at) { return at.place == place; });
      row.emplace_back(p == c.points.end()
                           ? std::string("-")
                           : fmt::format("{}{:<{}}", show_figure(p->at), marks_of(*p), marks));
    }
  }
  return out;
}

/// A row a point: its place on the axis and on those of its curve, its value with its interval, and
/// what its marks say.
tables::table points_of(const sweep_page& s) {
  static constexpr std::string_view fixed[] = {"figure", "unit",         "value",   "low",
                                               "high",   "interpolated", "partial", "no_verdict"};
  // A dim of a model may be called anything.
  const auto key = [](const std::string& axis) {
    return std::find(std::begin(fixed), std::end(fixed), axis) == std::end(fixed) ? axis
                                                                                  : "axis " + axis;
  };
  std::set<std::string> axes;
  for (const compare::curve& c : s.curves)
    for (const auto& [axis, place] : c.others)
      axes.insert(axis);
  tables::table out{.key = "points", .columns = {{key(s.x), ""}}};
  for (const std::string& axis : axes)
    out.columns.push_back({key(axis), ""});
  for (const std::string_view name : fixed)
    out.columns.push_back({std::string(name), ""});
  for (const compare::curve& c : s.curves)
    for (const compare::curve_point& p : c.points) {
      std::vector<tables::cell>& row = out.rows.emplace_back();
      row.push_back(place_cell(p.place));
      for (const std::string& axis : axes) {
        const auto place = c.others.find(axis);
        row.push_back(place == c.others.end() ? tables::cell() : place_cell(place->second));
      }
      const std::vector<tables::cell> its{s.figure,   std::string(name(p.at.unit)),
                                          p.at.value, p.at.low,
                                          p.at.high,  p.interpolated,
                                          p.partial,  p.disturbed};
      row.insert(row.end(), its.begin(), its.end());
    }
  return out;
}
} // namespace

tables::chapter sweep_answer(const sweep_page& s) {
  tables::chapter out{.title = s.figure + " over " + s.x,
                      .fields = {{"axis", s.x}, {"figure", s.figure}}};
  // What curves have in common is in no column's head: `others` distinguishes them.
  bool interpolated = false, partial = false, disturbed = false;
  for (std::size_t i = 0; i < s.curves.size(); ++i) {
    std::string what;
    for (const auto& [axis, place] : s.curves[i].others)
      what += (what.empty() ? "" : ", ") + axis + ' ' + place;
    if (!what.empty()) out.say((s.curves.size() > 1 ? fmt::format("({}) ", i + 1) : "") + what);
    for (const compare::curve_point& p : s.curves[i].points) {
      interpolated = interpolated || p.interpolated;
      partial = partial || p.partial;
      disturbed = disturbed || p.disturbed;
    }
  }
  out.add(shown_curves(s));
  out.add(points_of(s));
  if (interpolated) out.say("~ not measured: on the line between its two measured points");
  if (partial) out.say("p partial: layers of the model have no time");
  if (disturbed) out.say("! no verdict: interference while it was measured");
  return out;
}

} // namespace benanza::report
