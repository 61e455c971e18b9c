// SPDX-License-Identifier: Apache-2.0
// The command benanza_analyze, called as its main does.
#pragma once

#include "../program.hpp"

#include "analyzer/analyze.hpp"
#include "analyzer/commands.hpp"
#include "schema.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace benanza::test {

/// The schema of what a command line writes as JSON; `report` without a command.
inline std::string answer_name(const std::vector<std::string>& words) {
  for (const char* option : {"models", "algorithms", "machine", "versions", "calls"})
    if (std::find(words.begin(), words.end(), std::string("--") + option) != words.end())
      return option;
  const bool command = !words.empty() && analyzer::find_command(words[0]) != nullptr;
  if (!command) return "report";
  return words[0] == "store" && words.size() > 1 ? "store_" + words[1] : words[0];
}

/// JSON is as the schemas say that the packages have.
inline void check_answer(const std::vector<std::string>& words, const outcome& o) {
  const auto format = std::find(words.begin(), words.end(), "--format");
  if (o.out.empty() || o.status == 2 || format == words.end() || format + 1 == words.end() ||
      *(format + 1) != "json")
    return;
  static const schema report(
      nlohmann::json::parse(text_of(BENANZA_SOURCE_FOLDER "/analyzer/report/report.schema.json"))),
      answers(nlohmann::json::parse(
          text_of(BENANZA_SOURCE_FOLDER "/analyzer/report/answers.schema.json")));
  const std::string name = answer_name(words);
  const nlohmann::json said = nlohmann::json::parse(o.out);
  const std::string fault = name == "report" ? report.first_fault(said)
                                             : answers.first_fault(nlohmann::json{{name, said}});
  CHECK_MESSAGE(fault.empty(), name, ": ", fault);
}

/// What comes out of it, with `input` on its standard input.
inline outcome analyze(const std::vector<std::string>& arguments, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  outcome o;
  o.status = analyzer::analyze(arguments, in, out, err);
  o.out = out.str();
  o.err = err.str();
  // One line, or none.
  CHECK(std::count(o.err.begin(), o.err.end(), '\n') == (o.err.empty() ? 0 : 1));
  CHECK((o.err.empty() || o.err.starts_with("benanza_analyze: ")));
  check_answer(arguments, o);
  return o;
}

/// What benanza_measure_framework writes of runs without a profile, about so long each.
inline std::string framework_latency(const std::string& framework, const std::string& model,
                                     double ns, int batch = 1) {
  return fmt::format(
      R"({{"schema":"benanza-framework","schema_version":3,"framework":"{}","framework_version":"1.2","model":{{"file":"{}.onnx"}},
"options":{{"threads":1,"batch":{},"precision":"f32"}},"samples_ns":[{},{},{}],"traces":[]}})",
      framework, model, batch, 0.99 * ns, ns, 1.01 * ns);
}

} // namespace benanza::test
