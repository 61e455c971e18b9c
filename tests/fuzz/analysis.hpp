// SPDX-License-Identifier: Apache-2.0
// What benanza_analyze says of a file that a target was given: shown text that is safe to show, and
// JSON that is JSON.
//
//   fuzz::analyze({path, "--layers", "all"});
#pragma once

#include "analyzer/analyze.hpp"
#include "target.hpp"

#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace fuzz {

/// Runs the analyzer; gives what it printed.
inline std::string analyze(const std::vector<std::string>& arguments, std::string_view input = {}) {
  std::istringstream in{std::string(input)};
  std::ostringstream out, err;
  benanza::analyzer::parse_and_respond(arguments, in, out, err);
  check_shown(out.str());
  check_shown(err.str());
  return out.str();
}

/// The same as JSON, which has to be valid.
inline void analyze_as_json(std::vector<std::string> arguments, std::string_view input = {}) {
  arguments.insert(arguments.end(), {"--format", "json"});
  const std::string text = analyze(arguments, input);
  if (!nlohmann::json::accept(text)) throw finding("the answer is no JSON");
}

} // namespace fuzz
