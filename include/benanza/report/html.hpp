// SPDX-License-Identifier: Apache-2.0
// How does a report become one page for a browser? Data as JSON within a page of our own
// (html/page/), with d3 within it: it needs no network, and asks for nothing. Untrusted names are
// data only: `<` is escaped in them, and the page's program makes text of them, never markup.
//
//   std::string page = html_report({input}, html_parts{.page = ..., .library = ...});
#pragma once

#include "../core/error.hpp"
#include "html/machine.hpp"
#include "html/model.hpp"
#include "input.hpp"

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
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

namespace html {
/// Letters for all samples of a page, at most; and dots of a case.
inline constexpr std::size_t most_letters = 300'000, most_dots = 32, least_dots = 6;

/// The data of a page about one machine, or several.
inline ordered_json page_json(const std::vector<input>& all) {
  texts known;
  ways by(known);
  std::deque<shared> told; // of each machine
  ordered_json machines = ordered_json::array(), models = ordered_json::array();
  std::size_t cases = 0;
  for (const input& in : all) {
    shared& its = told.emplace_back(shared{known, by, case_book(in.run, by)});
    for (std::size_t place = 0; place < in.advised.size(); ++place)
      models.push_back(model_json(in, place, told.size() - 1, its));
    machines.push_back(machine_json(in.run));
    cases += its.book.sampled();
  }
  const std::size_t dots =
      std::clamp(most_letters / std::max<std::size_t>(cases, 1), least_dots, most_dots);
  for (std::size_t i = 0; i < told.size(); ++i) {
    machines[i]["layers"] = told[i].layers.all();
    machines[i]["tables"] = told[i].book.json(dots);
  }
  return {{"schema", 2},
          {"lacking", all.empty() ? std::string() : printable(all.front().lacking)},
          {"dots", dots},
          {"machines", std::move(machines)},
          {"models", std::move(models)},
          {"ways", by.all()},
          {"texts", known.all()}};
}

/// JSON that can be within <script>: no letter of it begins markup.
inline std::string in_script(const ordered_json& j) {
  const std::string text = j.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}
} // namespace html

/// The page. What is advised of each model must be there.
inline std::string html_report(const std::vector<input>& all, const html_parts& parts) {
  if (parts.library.empty())
    throw error("this program was built without d3, which the page draws with", "--format html",
                "install it (on Debian: apt-get install node-d3), configure and build again");
  const std::string data = html::in_script(html::page_json(all)),
                    licence = html::in_script(std::string(parts.licence));
  const std::pair<std::string_view, std::string_view> places[] = {{"{{style}}", parts.style},
                                                                  {"{{data}}", data},
                                                                  {"{{licence}}", licence},
                                                                  {"{{library}}", parts.library},
                                                                  {"{{script}}", parts.script}};
  std::string out;
  std::string_view rest = parts.page;
  for (const auto& [mark, text] : places) {
    const std::size_t at = rest.find(mark);
    if (at == rest.npos) throw error("the page has no place, in this order", std::string(mark));
    out += rest.substr(0, at);
    out += text;
    rest.remove_prefix(at + mark.size());
  }
  return out += rest;
}

} // namespace benanza::report
