// SPDX-License-Identifier: Apache-2.0
#include "profile.hpp"

#include "units.hpp"

#include <benanza/profile/analyses.hpp>
#include <benanza/result/json.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace benanza::report {

namespace {
constexpr std::size_t widest_cell = 44;
} // namespace

std::string cut(std::string text) {
  return text.size() <= widest_cell ? text : ".." + text.substr(text.size() - widest_cell + 2);
}

namespace {
std::string cell_text(const profile::cell& c) {
  if (const auto* text = std::get_if<std::string>(&c)) return cut(printable(*text));
  if (const auto* n = std::get_if<std::int64_t>(&c)) return std::to_string(*n);
  if (const auto* v = std::get_if<double>(&c)) {
    const double size = std::abs(*v);
    return fmt::format("{:.{}f}", *v,
                       size >= 99.95    ? 0
                       : size >= 9.995  ? 1
                       : size >= 0.0995 ? 2
                                        : 3);
  }
  return {};
}
} // namespace

std::string heading(const profile::column& c) {
  return c.unit.empty() ? c.name : c.name + ", " + c.unit;
}

namespace {
std::string table_text(const profile::table& t, const profile_page& page) {
  std::string out = fmt::format("\n{:<4} {}\n", t.id, t.title);
  const std::size_t shown = std::min(page.rows, t.rows.size());
  std::vector<std::vector<std::string>> lines(1);
  std::vector<bool> is_text(t.columns.size(), false);
  for (const profile::column& c : t.columns)
    lines[0].push_back(heading(c));
  for (std::size_t r = 0; r < shown; ++r) {
    std::vector<std::string>& line = lines.emplace_back();
    for (std::size_t c = 0; c < t.columns.size(); ++c) {
      line.push_back(cell_text(t.rows[r][c]));
      if (std::holds_alternative<std::string>(t.rows[r][c])) is_text[c] = true;
    }
  }
  for (const std::vector<std::string>& line : lines) {
    if (t.rows.empty()) break;
    std::string text = "    ";
    for (std::size_t c = 0; c < line.size(); ++c) {
      std::size_t width = 0;
      for (const auto& other : lines)
        width = std::max(width, other[c].size());
      text += is_text[c] ? fmt::format(" {:<{}}", line[c], width)
                         : fmt::format(" {:>{}}", line[c], width);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + '\n';
  }
  if (shown < t.rows.size())
    out += fmt::format("     {} more: --rows all\n", t.rows.size() - shown);
  for (const std::string& note : t.notes)
    out += wrapped("   - ", printable(note));
  if (page.explain)
    for (const profile::column& c : t.columns)
      out += wrapped("   " + heading(c) + ": ", c.meaning);
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
} // namespace

std::string profile_text(const std::vector<profile::levelled_run>& runs,
                         const std::vector<std::string>& ids, const profile_page& page) {
  std::string out;
  for (const profile::levelled_run& r : runs) {
    std::string head = printable(r.who + ": " + r.graph);
    if (!r.type.empty()) head += ' ' + r.type;
    if (r.threads > 0) head += fmt::format(", {}", counted(r.threads, "thread"));
    if (!r.device.empty()) head += ", " + r.device;
    out += (out.empty() ? "" : "\n") + head + '\n' + wrapped("  ", events_text(r));
    for (const std::string& note : r.notes)
      out += wrapped("  ! ", printable(note));
    for (const profile::table& t : profile::analyse(ids, runs, r))
      out += table_text(t, page);
  }
  return out;
}

std::string profile_json(const std::vector<profile::levelled_run>& runs,
                         const std::vector<std::string>& ids) {
  const auto number = [](const std::optional<double>& v) {
    return v ? result::ordered_json(*v) : result::ordered_json();
  };
  result::ordered_json all = result::ordered_json::array();
  for (const profile::levelled_run& r : runs) {
    result::ordered_json tables = result::ordered_json::array();
    for (const profile::table& t : profile::analyse(ids, runs, r)) {
      result::ordered_json named = result::ordered_json::array(),
                           rows = result::ordered_json::array();
      for (const profile::column& c : t.columns)
        named.push_back({{"name", c.name}, {"unit", c.unit}, {"meaning", c.meaning}});
      for (const std::vector<profile::cell>& row : t.rows) {
        result::ordered_json cells = result::ordered_json::array();
        for (const profile::cell& c : row)
          std::visit(
              [&]<class T>(const T& v) {
                if constexpr (std::is_same_v<T, std::monostate>)
                  cells.push_back(nullptr);
                else
                  cells.push_back(v);
              },
              c);
        rows.push_back(std::move(cells));
      }
      tables.push_back({{"id", t.id},
                        {"title", t.title},
                        {"columns", std::move(named)},
                        {"rows", std::move(rows)},
                        {"notes", t.notes}});
    }
    all.push_back({{"who", r.who},
                   {"model", r.model},
                   {"graph", r.graph},
                   {"batch", r.batch},
                   {"type", r.type},
                   {"device", r.device},
                   {"threads", r.threads},
                   {"model_ns", r.model_ns},
                   {"free_of_events", r.free_of_events},
                   {"layer_events_ns", number(r.layer_events_ns)},
                   {"call_events_ns", number(r.call_events_ns)},
                   {"layers_ns", r.layers_ns()},
                   {"notes", r.notes},
                   {"analyses", std::move(tables)}});
  }
  const result::ordered_json out{{"schema", 1}, {"runs", std::move(all)}};
  return out.dump(2, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

} // namespace benanza::report
