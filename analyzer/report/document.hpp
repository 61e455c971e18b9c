// SPDX-License-Identifier: Apache-2.0
// What does a report for people consist of, whatever it is written in? Chapters with tables: a
// summary of several models, limits, and of each model its figures, what to change first, where the
// time goes, the steps down from a framework's run, and its layers. All texts are as they came:
// each format escapes them.
//
//   tables::markdown_of(document_of(in))
#pragma once

#include "input.hpp"
#include "tables/page.hpp"

#include <string>
#include <vector>

namespace benanza::report {

tables::table figures_of(const advice::advised& a);
tables::table summary_of(const std::vector<bound::model_bound>& models);

/// The report: what is about all models, then a chapter for each of them.
tables::chapter document_of(const input& in);

/// The report in GitHub's Markdown.
std::string markdown_report(const input& in);

/// The report as a LaTeX document of tables by booktabs and longtable, which any engine compiles;
/// in a paper, behind its own preamble with these packages: \def\benanzainput{}\input{report.tex}
std::string latex_report(const input& in);

} // namespace benanza::report
