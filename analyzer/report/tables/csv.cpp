// SPDX-License-Identifier: Apache-2.0
#include "../escape.hpp"
#include "formats.hpp"

#include <benanza/core/text.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace benanza::report::tables {

namespace {
/// Tables of one name are one: their heads are equal, or rows are filled up.
struct csv_table {
  std::string name{};
  std::vector<std::string> head{};
  std::vector<std::vector<std::string>> rows{};
};

std::string csv_cell(const cell& c) {
  if (const auto* text = std::get_if<std::string>(&c)) return escape::csv(*text);
  if (const auto* truth = std::get_if<bool>(&c)) return *truth ? "1" : "0";
  if (const auto* n = std::get_if<std::int64_t>(&c)) return std::to_string(*n);
  if (const auto* v = std::get_if<double>(&c); v != nullptr && std::isfinite(*v))
    return fmt::format("{:.10g}", *v);
  if (const auto* list = std::get_if<std::vector<std::string>>(&c))
    return escape::csv(join(*list, "; "));
  return {};
}

/// A row by the names of its columns.
using named_row = std::vector<std::pair<std::string, std::string>>;

void add_row(std::vector<csv_table>& all, const std::string& name, const named_row& row) {
  auto t = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  if (t == all.end()) t = all.insert(all.end(), {.name = name, .head = {}, .rows = {}});
  std::vector<std::string> cells(t->head.size());
  for (const auto& [key, value] : row) {
    const auto at =
        static_cast<std::size_t>(std::find(t->head.begin(), t->head.end(), key) - t->head.begin());
    if (at == t->head.size()) {
      t->head.push_back(key);
      cells.emplace_back();
    }
    cells[at] = value;
  }
  t->rows.push_back(std::move(cells));
}

void add_fields(std::vector<csv_table>& all, const std::string& name, const chapter& c,
                named_row row) {
  for (const field& f : c.fields)
    row.emplace_back(f.key, csv_cell(f.is));
  if (!row.empty()) add_row(all, name, row);
}

void add_chapter(std::vector<csv_table>& all, const chapter& c, named_row begin) {
  if (c.only_one) return; // no rows
  const auto identifies = [](const field& f) { return f.identifies; };
  if (!c.key.empty() && !std::all_of(c.fields.begin(), c.fields.end(), identifies))
    add_fields(all, c.key, c, begin);
  for (const field& f : c.fields)
    if (f.identifies) begin.emplace_back(f.key, csv_cell(f.is));
  for (const auto& part : c.parts) {
    const auto* t = std::get_if<table>(&part);
    if (t == nullptr || t->key.empty()) continue;
    for (const std::vector<cell>& cells : t->rows) {
      named_row row = begin;
      for (std::size_t i = 0; i < t->columns.size(); ++i)
        if (t->columns[i].for_programs())
          row.emplace_back(t->columns[i].key, csv_cell(cells.at(i)));
      add_row(all, t->key, row);
    }
  }
  for (const chapter& within : c.chapters)
    add_chapter(all, within, begin);
}
} // namespace

std::vector<std::pair<std::string, std::string>> csv_of(const chapter& answer) {
  std::vector<csv_table> all;
  add_chapter(all, answer, {});
  if (all.empty()) add_fields(all, "answer", answer, {});
  std::vector<std::pair<std::string, std::string>> out;
  for (const csv_table& t : all) {
    std::string text;
    for (std::size_t i = 0; i < t.head.size(); ++i)
      text += (i == 0 ? "" : ",") + escape::csv(t.head[i]);
    text += '\n';
    for (const std::vector<std::string>& row : t.rows) {
      for (std::size_t i = 0; i < t.head.size(); ++i)
        text += (i == 0 ? "" : ",") + (i < row.size() ? row[i] : std::string());
      text += '\n';
    }
    out.emplace_back(t.name, std::move(text));
  }
  return out;
}

} // namespace benanza::report::tables
