// SPDX-License-Identifier: Apache-2.0
#include "../escape.hpp"
#include "formats.hpp"
#include "grid.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace benanza::report::tables {

namespace {
/// The columns of a table: those with long texts share what the others leave of a line.
std::string latex_columns(const grid& g) {
  constexpr std::size_t short_text = 18;
  std::vector<std::size_t> longest(g.columns.size(), 0);
  for (std::size_t i = 0; i < g.columns.size(); ++i) {
    longest[i] = g.columns[i]->title.size();
    for (const std::vector<std::string>& row : g.rows)
      longest[i] = std::max(longest[i], row[i].size());
  }
  std::size_t wide = 0, narrow = 0;
  for (const std::size_t n : longest)
    (n > short_text ? wide : narrow) += n > short_text ? 1 : n + 3;
  std::string out;
  for (std::size_t i = 0; i < g.columns.size(); ++i)
    out += longest[i] > short_text
               ? fmt::format(">{{\\raggedright\\arraybackslash}}p{{{:.3f}\\linewidth}}",
                             std::max(0.15, (0.95 - 0.0105 * static_cast<double>(narrow)) /
                                                static_cast<double>(wide)))
           : g.columns[i]->right() ? "r"
                                   : "l";
  return out;
}

std::string table_latex(const table& t) {
  const grid g = grid_of(t);
  std::string head;
  for (std::size_t i = 0; i < g.columns.size(); ++i)
    head += (i == 0 ? "" : " & ") + escape::latex(g.columns[i]->title);
  std::string out = t.title.empty() ? "" : "\\subsection*{" + escape::latex(t.title) + "}\n";
  out += "\\begin{longtable}{@{}" + latex_columns(g) + "@{}}\n\\toprule\n" + head +
         " \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endlastfoot\n";
  for (const std::vector<std::string>& row : g.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += " & ";
      const std::string text = escape::latex(row[i]);
      out += g.columns[i]->in == unit::name ? "\\texttt{" + text + '}' : text;
    }
    out += " \\\\\n";
  }
  out += "\\end{longtable}\n";
  return out + (g.note.empty() ? "\n" : "\\noindent " + escape::latex(g.note) + "\n\n");
}

std::string paragraph_latex(const paragraph& p) {
  std::string text = escape::latex(p.text);
  if (p.is == paragraph::kind::warning) text = "\\textbf{" + text + '}';
  if (p.is == paragraph::kind::command) text = "\\texttt{" + text + '}';
  // Braces: what begins with a bracket is no option of \noindent's line before it.
  return "\\noindent " + (p.label.empty() ? "" : escape::latex(p.label) + ": ") + text + "\n\n";
}

std::string chapter_latex(const chapter& c) {
  std::string out;
  const std::string title = escape::latex(c.title);
  if (!title.empty())
    out += "\\section*{" + (c.title_is_name ? "\\texttt{" + title + '}' : title) + "}\n";
  for (const auto& part : c.parts)
    if (const auto* t = std::get_if<table>(&part); t == nullptr)
      out += paragraph_latex(std::get<paragraph>(part));
    else if (t->for_people())
      out += table_latex(*t);
  for (const chapter& within : c.chapters)
    out += chapter_latex(within);
  return out;
}
} // namespace

std::string latex_of(const chapter& answer) {
  return std::string(R"(% Alone this is a document. In another one, which has the packages:
%   \def\benanzainput{}\input{report.tex}
\ifdefined\benanzainput\else
\documentclass[a4paper]{article}
\usepackage{array,booktabs,longtable}
\usepackage[margin=2cm]{geometry}
\begin{document}
\small
\fi
)") + chapter_latex(answer) +
         "\\ifdefined\\benanzainput\\else\\end{document}\\fi\n";
}

} // namespace benanza::report::tables
