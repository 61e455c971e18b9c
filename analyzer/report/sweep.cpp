// SPDX-License-Identifier: Apache-2.0
#include "sweep.hpp"

#include "energy.hpp"
#include "escape.hpp"
#include "units.hpp"

#include <benanza/result/json.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <set>
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

/// A place as a cell: a number as it is.
std::string place_cell(const std::string& place) {
  return compare::number_at(place) ? place : escape::csv(place);
}
} // namespace

std::string sweep_text(const sweep_page& s) {
  std::string out = fmt::format("{} over {}\n", printable(s.figure, 200), printable(s.x, 100));
  // What curves have in common is in no column's head: `others` distinguishes them.
  std::size_t n = 0;
  const bool numbered = s.curves.size() > 1;
  for (const compare::curve& c : s.curves) {
    ++n;
    if (c.others.empty()) continue;
    std::string what;
    for (const auto& [axis, place] : c.others)
      what += (what.empty() ? "" : ", ") + printable(axis, 60) + ' ' + printable(place, 200);
    out += numbered ? wrapped(fmt::format("  ({}) ", n), what) : wrapped("  ", what);
  }
  const std::vector<std::string> places = places_of(s);
  std::size_t width = s.x.size();
  for (const std::string& p : places)
    width = std::max(width, std::min<std::size_t>(printable(p).size(), 30));
  out += fmt::format("\n{:<{}}", printable(s.x, 30), width);
  for (std::size_t i = 1; i <= s.curves.size(); ++i)
    out += fmt::format("{:>13}  ", numbered ? fmt::format("({})", i) : s.figure.substr(0, 13));
  out = out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
  bool interpolated = false, partial = false, disturbed = false;
  for (const std::string& place : places) {
    std::string line = fmt::format("{:<{}}", printable(place, 30), width);
    for (const compare::curve& c : s.curves) {
      const auto p =
          std::find_if(c.points.begin(), c.points.end(),
                       [&](const compare::curve_point& at) { return at.place == place; });
      if (p == c.points.end()) {
        line += fmt::format("{:>13}  ", "-");
        continue;
      }
      line += fmt::format("{:>13}{:<2}", show_figure(p->at), marks_of(*p));
      interpolated = interpolated || p->interpolated;
      partial = partial || p->partial;
      disturbed = disturbed || p->disturbed;
    }
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  if (interpolated) out += "~ not measured: on the line between its two measured points\n";
  if (partial) out += "p partial: layers of the model have no time\n";
  if (disturbed) out += "! no verdict: interference while it was measured\n";
  return out;
}

std::string sweep_csv(const sweep_page& s) {
  std::set<std::string> axes;
  for (const compare::curve& c : s.curves)
    for (const auto& [axis, place] : c.others)
      axes.insert(axis);
  std::string out = escape::csv(s.x);
  for (const std::string& a : axes)
    out += ',' + escape::csv(a);
  out += ",figure,unit,value,low,high,interpolated,partial,no_verdict\n";
  for (const compare::curve& c : s.curves)
    for (const compare::curve_point& p : c.points) {
      out += place_cell(p.place);
      for (const std::string& a : axes) {
        const auto place = c.others.find(a);
        out += ',' + (place == c.others.end() ? std::string() : place_cell(place->second));
      }
      out += fmt::format(",{},{},{:.10g},{:.10g},{:.10g},{:d},{:d},{:d}\n", escape::csv(s.figure),
                         name(p.at.unit), p.at.value, p.at.low, p.at.high, p.interpolated,
                         p.partial, p.disturbed);
    }
  return out;
}

std::string sweep_json(const sweep_page& s) {
  result::ordered_json all = result::ordered_json::array();
  for (const compare::curve& c : s.curves) {
    result::ordered_json points = result::ordered_json::array();
    for (const compare::curve_point& p : c.points) {
      const auto number = compare::number_at(p.place);
      points.push_back(
          {{"x", number ? result::ordered_json(*number) : result::ordered_json(p.place)},
           {"value", p.at.value},
           {"low", p.at.low},
           {"high", p.at.high},
           {"interpolated", p.interpolated},
           {"partial", p.partial},
           {"no_verdict", p.disturbed}});
    }
    all.push_back({{"axes", c.others}, {"points", std::move(points)}});
  }
  const compare::sweep_unit unit =
      s.curves.empty() ? compare::sweep_unit::time : s.curves.front().points.front().at.unit;
  const result::ordered_json out{{"schema", 1},
                                 {"axis", s.x},
                                 {"figure", s.figure},
                                 {"unit", name(unit)},
                                 {"curves", std::move(all)}};
  return out.dump(2, ' ', true, result::ordered_json::error_handler_t::replace) + '\n';
}

} // namespace benanza::report
