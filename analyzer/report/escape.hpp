// SPDX-License-Identifier: Apache-2.0
// How is untrusted text written in a document? As text: each format has one function that takes
// away what would be markup, a formula or a command in it. All of them pass through printable(), so
// no line breaks, control characters and marks of direction are left, and what is cut says so.
//
//   escape::xml("<b>&") == "&lt;b&gt;&amp;"   escape::csv("=1+1") == "\"'=1+1\""
#pragma once

#include <benanza/core/printable.hpp>

#include <string>
#include <string_view>

namespace benanza::report::escape {

/// `text` with what `replaced` returns for each of its bytes, where that is not empty.
template <class Replaced>
std::string each(std::string_view text, Replaced replaced) {
  std::string out;
  for (const char c : benanza::printable(text)) {
    const std::string_view other = replaced(c);
    if (other.empty())
      out += c;
    else
      out += other;
  }
  return out;
}

/// For text and for attributes in quotes of XML and HTML.
std::string xml(std::string_view text);

/// For text of LaTeX, by any of its engines: what is not ASCII is written by its number, and after
/// each mark a line may end.
std::string latex(std::string_view text);

/// For what is in quotes in Graphviz: no escape sequence and no entity of a label is left.
std::string dot(std::string_view text);

/// A whole cell of CSV (RFC 4180), in quotes. What a spreadsheet would take for a formula begins
/// with an apostrophe.
std::string csv(std::string_view text);

/// For a sentence of GitHub's Markdown.
std::string markdown(std::string_view text);

/// A name as code of GitHub's Markdown; in a table, rows are cut before code is looked for.
std::string markdown_code(std::string_view text, bool in_table = false);

} // namespace benanza::report::escape
