// SPDX-License-Identifier: Apache-2.0
// How does a report look in LaTeX? As a document of tables by booktabs and longtable, which any
// engine compiles; in a paper, behind its own preamble with these packages:
//
//   \def\benanzainput{}\input{report.tex}
//
//   std::string text = latex_report(in);
#pragma once

#include "input.hpp"

#include <string>

namespace benanza::report {

/// The report as a LaTeX document.
std::string latex_report(const input& in);

} // namespace benanza::report
