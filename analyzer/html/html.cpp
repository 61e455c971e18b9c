// SPDX-License-Identifier: Apache-2.0
#include "html.hpp"

#include "cases.hpp"
#include "machine.hpp"
#include "model.hpp"
#include "numbers.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <utility>

namespace benanza::report::html {

namespace {
/// Letters for all samples of a page, at most; and dots of a case.
constexpr std::size_t most_letters = 300'000, most_dots = 32, least_dots = 6;
} // namespace

result::ordered_json page_json(const std::vector<input>& all) {
  texts known;
  ways by(known);
  std::deque<shared> told; // of each machine
  result::ordered_json machines = result::ordered_json::array(),
                       models = result::ordered_json::array();
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

std::string in_script(const result::ordered_json& j) {
  const std::string text = j.dump(-1, ' ', true, result::ordered_json::error_handler_t::replace);
  std::string out;
  out.reserve(text.size() + text.size() / 64);
  for (char c : text)
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  return out;
}
} // namespace benanza::report::html

namespace benanza::report {

std::string html_report(const std::vector<input>& all, const html_parts& parts) {
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
