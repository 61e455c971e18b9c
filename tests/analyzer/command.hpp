// SPDX-License-Identifier: Apache-2.0
// The command benanza_analyze, called as its main does.
#pragma once

#include "../program.hpp"

#include "analyzer/analyze.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace benanza::test {

/// What comes out of it, with `input` on its standard input.
inline outcome analyze(std::vector<std::string> arguments, const std::string& input = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  outcome o;
  o.status = analyzer::analyze(std::move(arguments), in, out, err);
  o.out = out.str();
  o.err = err.str();
  // One line, or none.
  CHECK(std::count(o.err.begin(), o.err.end(), '\n') == (o.err.empty() ? 0 : 1));
  CHECK((o.err.empty() || o.err.starts_with("benanza_analyze: ")));
  return o;
}

/// What scripts/measure_framework writes of runs without a profile, about so long each.
inline std::string framework_latency(const std::string& framework, const std::string& model,
                                     double ns, int batch = 1) {
  return fmt::format(
      R"({{"schema":"benanza-framework","schema_version":2,"framework":"{}","framework_version":"1.2","model":{{"file":"{}.onnx"}},
"options":{{"threads":1,"batch":{},"precision":"f32"}},"samples_ns":[{},{},{}],"traces":[],"operators":[]}})",
      framework, model, batch, 0.99 * ns, ns, 1.01 * ns);
}

} // namespace benanza::test
