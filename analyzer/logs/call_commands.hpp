// SPDX-License-Identifier: Apache-2.0
// What does `benanza_analyze --calls LOG` do? Alone it lists the calls of a framework's logs; with
// results it compares them with a model. --layers-out writes their layers as a file that
// benanza_generate --layers takes.
//
//   benanza_analyze run.json --calls cudnn.log --calls cublas.log --model resnet50
#pragma once

#include "../report/tables/page.hpp"
#include "../select.hpp"

#include <benanza/trace/call.hpp>

#include <cstddef>
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
std::vector<trace::call_log> read_logs(const call_request& asked, std::istream& in);

/// What makes the answer partial, in one line; empty: nothing.
std::string log_shortfall(const std::vector<trace::call_log>& logs);

/// How the answer is shown.
struct call_view {
  bool partial = false;
  std::size_t limit = 10; ///< the most rows of a table
};

/// The report on the logs: compared with a model of `run`, or with none where that is null.
report::tables::chapter calls_report(const std::vector<trace::call_log>& logs,
                                     const result::run* run, const selection& wanted,
                                     const call_request& asked, const call_view& view);

/// The file of the layers of all calls; refuses if there is none.
std::string layers_of_calls(const std::vector<trace::call_log>& logs);

} // namespace benanza::analyzer
