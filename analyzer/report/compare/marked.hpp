// SPDX-License-Identifier: Apache-2.0
// How does a comparison look in a review of code, and in a system that runs tests? As Markdown,
// with tables; as JUnit's XML, a test case a row: SLOWER fails, UNSURE is skipped.
//
//   comparison_markdown(c, 10)   comparison_junit(c)
#pragma once

#include <benanza/compare/rows.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

/// The comparison as Markdown, with at most `most` rows a table.
std::string comparison_markdown(const compare::comparison& c, std::size_t most);

/// The comparison as JUnit's XML.
std::string comparison_junit(const compare::comparison& c);

} // namespace benanza::report
