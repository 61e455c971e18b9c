// SPDX-License-Identifier: Apache-2.0
// For a terminal: columns by spaces; a long name has a line of its own, above its figures, and long
// words in the last column are wrapped.
#include "../units.hpp"
#include "formats.hpp"
#include "grid.hpp"

#include <benanza/core/printable.hpp>
#include <fmt/format.h>

#include <algorithm>

namespace benanza::report::tables {

namespace {
constexpr std::size_t widest_name = 28, most_letters = 300, label_width = 12, widest_margin = 44;

/// A line without the spaces at its end.
std::string line(std::string text) {
  text.erase(text.find_last_not_of(' ') + 1);
  return text + '\n';
}

std::string table_text(const table& t) {
  grid g = grid_of(t);
  std::string out = t.title.empty() ? "" : printable(t.title, most_letters) + '\n';
  for (std::vector<std::string>& row : g.rows)
    for (std::string& c : row)
      c = printable(c, most_letters);
  std::vector<std::string> head;
  for (const column* c : g.columns)
    head.push_back(printable(c->title, most_letters));
  const bool named = g.columns.size() > 1 && !g.columns.front()->right();
  const auto own_line = [&](const std::vector<std::string>& row) {
    return named && row.front().size() > widest_name;
  };
  std::vector<std::size_t> width(head.size());
  for (std::size_t c = 0; c < head.size(); ++c) {
    width[c] = head[c].size();
    for (const std::vector<std::string>& row : g.rows)
      if (c != 0 || !own_line(row)) width[c] = std::max(width[c], row[c].size());
  }
  const auto add = [&](const std::vector<std::string>& row, bool without_first) {
    std::string text;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string cell = c == 0 && without_first ? std::string() : row[c];
      text += c == 0 ? "" : "  ";
      if (c + 1 == row.size() && g.columns[c]->in == unit::text && text.size() <= widest_margin &&
          text.size() + cell.size() > report::columns) {
        out += wrapped(text, cell);
        return;
      }
      text += g.columns[c]->right() ? fmt::format("{:>{}}", cell, width[c])
                                    : fmt::format("{:<{}}", cell, width[c]);
    }
    out += line(std::move(text));
  };
  if (std::any_of(head.begin(), head.end(), [](const auto& h) { return !h.empty(); }))
    add(head, false);
  for (const std::vector<std::string>& row : g.rows) {
    if (own_line(row)) out += line(row.front());
    add(row, own_line(row));
  }
  return out + (g.note.empty() ? "" : wrapped("", printable(g.note, 1000)));
}

std::string paragraph_text(const paragraph& p) {
  const std::string text = printable(p.text, 2000);
  if (p.is == paragraph::kind::command) return text + '\n'; // as it is to be typed
  if (p.is == paragraph::kind::warning) return wrapped("! ", text);
  return wrapped(p.label.empty() ? "" : fmt::format("{:<{}}", p.label, label_width), text);
}

std::string chapter_text(const chapter& c) {
  std::string out;
  bool after_table = false;
  const auto blank = [&] { out += out.empty() || out.ends_with("\n\n") ? "" : "\n"; };
  if (!c.title.empty()) out += wrapped("", printable(c.title, most_letters));
  for (const auto& part : c.parts) {
    const auto* t = std::get_if<table>(&part);
    if (t != nullptr && !t->for_people()) continue;
    if (t != nullptr || after_table) blank();
    after_table = t != nullptr;
    out += t != nullptr ? table_text(*t) : paragraph_text(std::get<paragraph>(part));
  }
  for (const chapter& within : c.chapters)
    if (const std::string text = chapter_text(within); !text.empty()) {
      blank();
      out += text;
    }
  return out;
}
} // namespace

std::string text_of(const chapter& answer) {
  return chapter_text(answer);
}

} // namespace benanza::report::tables
