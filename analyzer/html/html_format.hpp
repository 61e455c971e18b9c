// SPDX-License-Identifier: Apache-2.0
// How does a report become a page for a browser? By the texts that the build put into the program
// (cmake/benanza_html.cmake).
//
//   std::string page = html_format(input);
#pragma once

#include "../report/input.hpp"

#include <string>
#include <vector>

namespace benanza::analyzer {

/// The page about one machine, or about several.
std::string html_format(const report::input& in);
std::string html_format(const std::vector<report::input>& all);

} // namespace benanza::analyzer
