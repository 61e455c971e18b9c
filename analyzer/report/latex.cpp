// SPDX-License-Identifier: Apache-2.0
#include "latex.hpp"

#include "document.hpp"
#include "escape.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace benanza::report {

namespace {
/// The columns of a table: those with long texts share what the others leave of a line.
std::string latex_columns(const document_table& t) {
  constexpr std::size_t short_text = 18;
  std::vector<std::size_t> longest(t.columns.size(), 0);
  for (std::size_t i = 0; i < t.columns.size(); ++i) {
    longest[i] = t.columns[i].title.size();
    for (const std::vector<std::string>& row : t.rows)
      longest[i] = std::max(longest[i], row[i].size());
  }
  std::size_t wide = 0, narrow = 0;
  for (const std::size_t n : longest)
    (n > short_text ? wide : narrow) += n > short_text ? 1 : n + 3;
  std::string out;
  for (std::size_t i = 0; i < t.columns.size(); ++i)
    out += longest[i] > short_text
               ? fmt::format(">{{\\raggedright\\arraybackslash}}p{{{:.3f}\\linewidth}}",
                             std::max(0.15, (0.95 - 0.0105 * static_cast<double>(narrow)) /
                                                static_cast<double>(wide)))
           : t.columns[i].is == column_kind::number ? "r"
                                                    : "l";
  return out;
}

std::string latex_table(const document_table& t) {
  std::string head;
  for (std::size_t i = 0; i < t.columns.size(); ++i)
    head += (i == 0 ? "" : " & ") + escape::latex(t.columns[i].title);
  std::string out = t.title.empty() ? "" : "\\subsection*{" + escape::latex(t.title) + "}\n";
  out += "\\begin{longtable}{@{}" + latex_columns(t) + "@{}}\n\\toprule\n" + head +
         " \\\\\n\\midrule\n\\endhead\n\\bottomrule\n\\endlastfoot\n";
  for (const std::vector<std::string>& row : t.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) out += " & ";
      const std::string text = escape::latex(row[i]);
      out += t.columns[i].is == column_kind::name ? "\\texttt{" + text + '}' : text;
    }
    out += " \\\\\n";
  }
  out += "\\end{longtable}\n";
  return out + (t.note.empty() ? "\n" : "\\noindent " + escape::latex(t.note) + "\n\n");
}
} // namespace

std::string latex_report(const input& in) {
  std::string out = R"(% Alone this is a document. In another one, which has the packages:
%   \def\benanzainput{}\input{report.tex}
\ifdefined\benanzainput\else
\documentclass[a4paper]{article}
\usepackage{array,booktabs,longtable}
\usepackage[margin=2cm]{geometry}
\begin{document}
\small
\fi
)";
  for (const chapter& c : document_of(in)) {
    if (!c.name.empty()) out += "\\section*{\\texttt{" + escape::latex(c.name) + "}}\n";
    out += "\\noindent " + escape::latex(c.about) + "\n\n";
    for (const std::string& w : c.warnings)
      out += "\\noindent\\textbf{" + escape::latex(w) + "}\n\n";
    for (const document_table& t : c.tables)
      out += latex_table(t);
    if (!c.sure.empty()) out += "\\noindent Sure? " + escape::latex(c.sure) + "\n\n";
    if (!c.command.empty())
      out += "\\noindent This measures what is missing: \\texttt{" + escape::latex(c.command) +
             "}\n\n";
  }
  return out + "\\ifdefined\\benanzainput\\else\\end{document}\\fi\n";
}

} // namespace benanza::report
