// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze --calls LOG` do? Alone it lists the calls of a framework's logs; with
// results it compares them with a model. --layers-out writes their layers as a file that
// benanza_generate --layers takes.
//
//   benanza_analyze run.json --calls cudnn.log --calls cublas.log --model resnet50
#pragma once

#include "report/calls.hpp"
#include "report/calls_json.hpp"
#include "report/framework.hpp"
#include "select.hpp"

#include <benanza/trace/inner_calls.hpp>
#include <benanza/trace/read_log.hpp>

#include <algorithm>
#include <cstddef>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// What the command line says of logs.
struct call_request {
  std::vector<std::string> logs;
  std::string layers_out;               ///< where the layers of the calls go
  std::optional<std::size_t> iteration; ///< which is compared, from 1
};

/// The logs, `-` from `in`; calls that are in two of them joined.
inline std::vector<trace::call_log> read_logs(const call_request& asked, std::istream& in) {
  std::vector<trace::call_log> out;
  for (const std::string& l : asked.logs)
    out.push_back(l == "-" ? trace::read_log(in, "standard input") : trace::read_log_file(l));
  trace::join_inner_calls(out);
  return out;
}

/// What makes the answer partial, in one line; empty: nothing.
inline std::string log_shortfall(const std::vector<trace::call_log>& logs) {
  for (const trace::call_log& l : logs)
    if (!l.warnings.empty()) return printable(l.source + ": " + l.warnings.front());
  return {};
}

/// How the answer is shown.
struct call_view {
  bool json = false, partial = false;
  std::size_t limit = 10; ///< the most rows of a table
};

/// The report on the logs: compared with a model of `run`, or with none where that is null.
inline std::string calls_report(const std::vector<trace::call_log>& logs, const result::run* run,
                                const selection& wanted, const call_request& asked,
                                const call_view& view) {
  if (run == nullptr) {
    if (asked.iteration)
      throw error("--iteration is about a model", asked.logs.front(), "name results too");
    return view.json ? report::calls_json(logs, view.partial)
                     : report::calls_page(logs, {.limit = view.limit});
  }
  const std::optional<numeric> type = parse_numeric(wanted.type);
  if (!wanted.type.empty() && !type)
    throw error("there is no type \"" + wanted.type + "\"", "--type");
  const bound::source source(*run);
  const model::graph* g = advice::best_model(detail::models(*run, wanted.model), logs);
  const advice::framework_choices c = advice::framework_choices_of(
      source, *g, logs, {.iteration = asked.iteration, .type = type, .threads = wanted.threads});
  return view.json ? report::framework_json(*run, c, view.partial)
                   : report::framework_page(*run, c, view.limit);
}

/// The file of the layers of all calls; refuses if there is none.
inline std::string layers_of_calls(const std::vector<trace::call_log>& logs) {
  std::string out = report::layers_file(logs);
  if (out.empty())
    throw error("no call is a layer, so there is no file of layers to write", logs.front().source);
  return out;
}

} // namespace benanza::analyzer
