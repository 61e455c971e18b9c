// SPDX-License-Identifier: Apache-2.0
#include "markdown.hpp"

#include "document.hpp"
#include "escape.hpp"

#include <cstddef>
#include <vector>

namespace benanza::report {

namespace {
std::string markdown_table(const document_table& t) {
  std::string out = t.title.empty() ? "" : "### " + escape::markdown(t.title) + "\n\n";
  std::string rule;
  for (const document_column& c : t.columns) {
    out += "| " + escape::markdown(c.title) + ' ';
    rule += c.is == column_kind::number ? "|---:" : "|---";
  }
  out += "|\n" + rule + "|\n";
  for (const std::vector<std::string>& row : t.rows) {
    for (std::size_t i = 0; i < row.size(); ++i)
      out += "| " +
             (t.columns[i].is == column_kind::name ? escape::markdown_code(row[i], true)
                                                   : escape::markdown(row[i])) +
             ' ';
    out += "|\n";
  }
  return out + (t.note.empty() ? "\n" : '\n' + escape::markdown(t.note) + "\n\n");
}
} // namespace

std::string markdown_report(const input& in) {
  std::string out = "# How fast could it be?\n\n";
  for (const chapter& c : document_of(in)) {
    if (!c.name.empty()) out += "## " + escape::markdown_code(c.name) + "\n\n";
    out += escape::markdown(c.about) + "\n\n";
    for (const std::string& w : c.warnings)
      out += "> [!WARNING]\n> " + escape::markdown(w) + "\n\n";
    for (const document_table& t : c.tables)
      out += markdown_table(t);
    if (!c.sure.empty()) out += "Sure? " + escape::markdown(c.sure) + "\n\n";
    if (!c.command.empty())
      out += "This measures what is missing: " + escape::markdown_code(c.command) + "\n\n";
  }
  out.pop_back();
  return out;
}

} // namespace benanza::report
