// SPDX-License-Identifier: Apache-2.0
#include "../escape.hpp"
#include "formats.hpp"
#include "grid.hpp"

namespace benanza::report::tables {

namespace {
std::string table_markdown(const table& t, const std::string& level) {
  const grid g = grid_of(t);
  std::string out = t.title.empty() ? "" : level + ' ' + escape::markdown(t.title) + "\n\n";
  std::string rule;
  for (const column* c : g.columns) {
    out += "| " + escape::markdown(c->title) + ' ';
    rule += c->right() ? "|---:" : "|---";
  }
  out += "|\n" + rule + "|\n";
  for (const std::vector<std::string>& row : g.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out +=
          "| " +
          (g.columns[i]->in == unit::name && !row[i].empty() ? escape::markdown_code(row[i], true)
                                                             : escape::markdown(row[i])) +
          ' ';
    out += "|\n";
  }
  return out + '\n' + (g.note.empty() ? "" : escape::markdown(g.note) + "\n\n");
}

std::string paragraph_markdown(const paragraph& p) {
  if (p.is == paragraph::kind::warning)
    return "> [!WARNING]\n> " + escape::markdown(p.text) + "\n\n";
  std::string out = p.label.empty() ? "" : escape::markdown(p.label) + ": ";
  return out +
         (p.is == paragraph::kind::command ? escape::markdown_code(p.text)
                                           : escape::markdown(p.text)) +
         "\n\n";
}

std::string chapter_markdown(const chapter& c, const std::string& level) {
  std::string out;
  if (!c.title.empty())
    out += level + ' ' +
           (c.title_is_name ? escape::markdown_code(c.title) : escape::markdown(c.title)) + "\n\n";
  for (const auto& part : c.parts)
    if (const auto* t = std::get_if<table>(&part); t == nullptr)
      out += paragraph_markdown(std::get<paragraph>(part));
    else if (t->for_people())
      out += table_markdown(*t, level + '#');
  for (const chapter& within : c.chapters)
    out += chapter_markdown(within, level + '#');
  return out;
}
} // namespace

std::string markdown_of(const chapter& answer) {
  std::string out = chapter_markdown(answer, "#");
  if (out.ends_with("\n\n")) out.pop_back();
  return out;
}

} // namespace benanza::report::tables
