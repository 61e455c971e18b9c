// SPDX-License-Identifier: Apache-2.0
// How does a report become one page for a browser? Data as JSON within a page of our own
// (html/page/), with d3 within it: it needs no network, and asks for nothing. Untrusted names are
// data only: `<` is escaped in them, and the page's program makes text of them, never markup.
//
//   std::string page = html_report({input}, html_parts{.page = ..., .library = ...});
#pragma once

#include "../report/input.hpp"

#include <benanza/result/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// The texts that a page is made of: those of the folder html/page/, and d3 (5 or later).
struct html_parts {
  std::string_view page{};    ///< with a line `{{style}}`, and so on, for each of the others
  std::string_view style{};   ///< CSS
  std::string_view script{};  ///< our own
  std::string_view library{}; ///< d3.min.js
  std::string_view licence{}; ///< of the library: whose it is, and under what
};

} // namespace benanza::report

namespace benanza::report::html {

/// The data of a page about one machine, or several.
result::ordered_json page_json(const std::vector<input>& all);

/// JSON that can be within <script>: no letter of it begins markup.
std::string in_script(const result::ordered_json& j);

} // namespace benanza::report::html

namespace benanza::report {

/// The page. What is advised of each model must be there.
std::string html_report(const std::vector<input>& all, const html_parts& parts);

} // namespace benanza::report
