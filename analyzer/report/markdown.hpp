// SPDX-License-Identifier: Apache-2.0
// How does a report look in Markdown, as GitHub renders it? A heading a model, its tables, warnings
// as alerts. Names are code, so that nothing in them is markup.
//
//   std::string text = markdown_report(in);
#pragma once

#include "input.hpp"

#include <string>

namespace benanza::report {

/// The report in GitHub's Markdown.
std::string markdown_report(const input& in);

} // namespace benanza::report
