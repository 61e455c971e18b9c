// SPDX-License-Identifier: Apache-2.0
// What does a program read of a framework's logs? All that the pages say, as JSON with fixed field
// names: the logs, then either every different call, or the layers of a model with their calls and
// the fastest that was measured.
//
//   {"schema": 1, "status": "complete", "logs": [...], "calls": [...]}
//   {"schema": 1, "status": "complete", "logs": [...], "model": "...", "layers": [...], ...}
#pragma once

#include <benanza/advice/framework.hpp>
#include <benanza/result/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace benanza::report {

result::ordered_json to_json(const trace::call& c);

result::ordered_json to_json(const trace::call_log& l, const trace::iterations& all,
                             std::optional<std::size_t> shown);

result::ordered_json to_json(const advice::framework_choice& r, const model::graph& g);
result::ordered_json to_json(const std::vector<advice::lone_row>& rows);

/// Logs that are compared with no model.
std::string calls_json(const std::vector<trace::call_log>& logs, bool partial);

/// Logs compared with a model.
std::string framework_json(const result::run& r, const advice::framework_choices& c, bool partial);

} // namespace benanza::report
