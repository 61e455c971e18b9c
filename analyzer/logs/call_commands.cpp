// SPDX-License-Identifier: Apache-2.0
#include "call_commands.hpp"

#include "choices.hpp"
#include "page.hpp"

#include <benanza/trace/inner_calls.hpp>
#include <benanza/trace/read_log.hpp>

#include <istream>

namespace benanza::analyzer {

std::vector<trace::call_log> read_logs(const call_request& asked, std::istream& in) {
  std::vector<trace::call_log> out;
  for (const std::string& l : asked.logs)
    out.push_back(l == "-" ? trace::read_log(in, "standard input") : trace::read_log_file(l));
  trace::join_inner_calls(out);
  return out;
}

std::string log_shortfall(const std::vector<trace::call_log>& logs) {
  for (const trace::call_log& l : logs)
    if (!l.warnings.empty()) return printable(l.source + ": " + l.warnings.front());
  return {};
}

report::tables::chapter calls_report(const std::vector<trace::call_log>& logs,
                                     const result::run* run, const selection& wanted,
                                     const call_request& asked, const call_view& view) {
  if (run == nullptr) {
    if (asked.iteration)
      throw error("--iteration is about a model", asked.logs.front(), "name results too");
    return report::calls_answer(logs, view.partial, view.limit);
  }
  const std::optional<numeric> type = parse_numeric(wanted.type);
  if (!wanted.type.empty() && !type)
    throw error("there is no type \"" + wanted.type + "\"", "--type");
  const bound::source source(*run);
  const model::graph* g = advice::best_model(models_named(*run, wanted.model), logs);
  const advice::framework_choices c = advice::framework_choices_of(
      source, *g, logs, {.iteration = asked.iteration, .type = type, .threads = wanted.threads});
  return report::framework_answer(*run, c, view.partial, view.limit);
}

std::string layers_of_calls(const std::vector<trace::call_log>& logs) {
  std::string out = report::layers_file(logs);
  if (out.empty())
    throw error("no call is a layer, so there is no file of layers to write", logs.front().source);
  return out;
}

} // namespace benanza::analyzer
