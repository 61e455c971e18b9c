// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/units.hpp"

#include <benanza/profile/analyses.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

namespace benanza::report {

namespace {
constexpr std::size_t widest_cell = 44;
} // namespace

std::string cut(std::string text) {
  return text.size() <= widest_cell ? text : ".." + text.substr(text.size() - widest_cell + 2);
}

std::string heading(const profile::column& c) {
  return c.unit.empty() ? c.name : c.name + ", " + c.unit;
}

namespace {
using tables::unit;
using tables::whole;

std::string key_of(const profile::column& c) {
  std::string out = c.name;
  if (c.unit == "%")
    out += " percent";
  else if (c.unit == "1/s")
    out += " per s";
  else if (!c.unit.empty())
    out += ' ' + c.unit;
  std::replace(out.begin(), out.end(), ' ', '_');
  std::replace(out.begin(), out.end(), '/', '_');
  return out;
}

tables::cell cell_of(const profile::cell& c) {
  return std::visit([](const auto& v) { return tables::cell(v); }, c);
}

/// An analysis: a column for programs and one for people, who see the end of a long name.
tables::table table_of(const profile::table& t, std::size_t rows) {
  tables::table out{.key = t.id, .title = fmt::format("{:<4} {}", t.id, t.title), .shown = rows};
  for (std::size_t c = 0; c < t.columns.size(); ++c) {
    const bool words = std::any_of(t.rows.begin(), t.rows.end(), [&](const auto& row) {
      return std::holds_alternative<std::string>(row[c]);
    });
    out.columns.push_back({key_of(t.columns[c]), "", words ? unit::text : unit::number});
    out.columns.push_back({"", heading(t.columns[c]), words ? unit::text : unit::number});
  }
  for (const std::vector<profile::cell>& row : t.rows) {
    std::vector<tables::cell>& line = out.rows.emplace_back();
    for (const profile::cell& c : row) {
      const auto* text = std::get_if<std::string>(&c);
      line.push_back(cell_of(c));
      line.push_back(text != nullptr ? tables::cell(cut(*text)) : cell_of(c));
    }
  }
  return out;
}

std::string events_text(const profile::levelled_run& r) {
  std::string out = "model " + show_time(r.model_ns);
  const auto add = [&](std::string_view what, const std::optional<double>& ns) {
    if (ns)
      out += fmt::format("; events of {} {}{} ({:+.1f} %)", what, *ns < 0 ? "-" : "+",
                         show_time(std::abs(*ns)), 100 * *ns / r.model_ns);
  };
  add("layers", r.layer_events_ns);
  add("calls", r.call_events_ns);
  if (!r.layers.empty())
    out += fmt::format("; layers add up to {}", percent(r.layers_ns() / r.model_ns));
  return out + '.';
}

std::string title_of(const profile::levelled_run& r) {
  std::string out = r.who + ": " + r.graph;
  if (!r.type.empty()) out += ' ' + r.type;
  if (r.threads > 0) out += fmt::format(", {}", counted(r.threads, "thread"));
  return r.device.empty() ? out : out + ", " + r.device;
}

tables::chapter run_chapter(const profile::levelled_run& r,
                            const std::vector<profile::table>& analyses, const profile_page& page) {
  const auto number = [](const std::optional<double>& v) {
    return v ? tables::cell(*v) : tables::cell();
  };
  tables::chapter out{.key = "runs",
                      .title = title_of(r),
                      .fields = {{"who", r.who, true},
                                 {"model", r.model, true},
                                 {"graph", r.graph, true},
                                 {"batch", whole(r.batch)},
                                 {"type", r.type, true},
                                 {"device", r.device},
                                 {"threads", whole(r.threads), true},
                                 {"model_ns", r.model_ns},
                                 {"free_of_events", r.free_of_events},
                                 {"layer_events_ns", number(r.layer_events_ns)},
                                 {"call_events_ns", number(r.call_events_ns)},
                                 {"layers_ns", r.layers_ns()},
                                 {"notes", r.notes}}};
  tables::table notes{.key = "analysis_notes", .columns = tables::keys({"analysis", "note"})};
  out.say(events_text(r));
  for (const std::string& note : r.notes)
    out.warn(note);
  for (const profile::table& t : analyses) {
    if (t.rows.empty()) out.say(fmt::format("{:<4} {}", t.id, t.title));
    out.add(table_of(t, page.rows));
    for (const std::string& note : t.notes) {
      out.say("- " + note);
      notes.rows.push_back({t.id, note});
    }
    if (page.explain)
      for (const profile::column& c : t.columns)
        out.say(heading(c) + ": " + c.meaning);
  }
  out.add(std::move(notes));
  return out;
}
} // namespace

tables::chapter profile_answer(const std::vector<profile::levelled_run>& runs,
                               const std::vector<std::string>& ids, const profile_page& page) {
  tables::chapter out{.fields = {{"schema", whole(2)}}};
  tables::table meanings{.key = "columns",
                         .columns = tables::keys({"analysis", "column", "unit", "meaning"})};
  for (const profile::levelled_run& r : runs) {
    const std::vector<profile::table> analyses = profile::analyse(ids, runs, r);
    if (meanings.rows.empty())
      for (const profile::table& t : analyses)
        for (const profile::column& c : t.columns)
          meanings.rows.push_back({t.id, key_of(c), c.unit, c.meaning});
    out.chapters.push_back(run_chapter(r, analyses, page));
  }
  out.add(std::move(meanings));
  return out;
}

} // namespace benanza::report
