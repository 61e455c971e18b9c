// SPDX-License-Identifier: Apache-2.0
// Runs whose pages are tested, and what every page has to keep.
//
//   pages::check_width(text_report(r, pages::analyse(r), {}));
#pragma once

#include "analyzer/report/json.hpp"
#include "analyzer/report/text.hpp"
#include "analyzer/report/units.hpp"
#include "program.hpp"
#include "result/synthetic.hpp"

#include <benanza/bound/model.hpp>
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace pages {

using benanza::numeric;
using benanza::bound::model_bound;
using benanza::report::json_report;
using benanza::report::text_options;
using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;
using benanza::test::holds;

/// The figures of all models of a run.
inline std::vector<model_bound> analyse(const run& r, std::vector<numeric> types = {numeric::f32}) {
  const benanza::bound::source source(r);
  std::vector<model_bound> out;
  for (const auto& g : r.graphs)
    for (numeric t : types)
      out.push_back(benanza::bound::analyse(source, g, {t, 1}));
  return out;
}
/// The report with all details of these models, without a framework.
inline std::string text_report(const run& r, const std::vector<model_bound>& models,
                               text_options options) {
  options.details = true;
  options.columns = benanza::report::columns;
  const benanza::bound::source source(r);
  return benanza::report::text_report(r, benanza::advice::advise_all(source, models, {}), models,
                                      options);
}

/// The figures of its first model on a machine with these limits.
inline std::vector<model_bound> analyse(const run& r, const benanza::bound::limits& machine) {
  return {
      benanza::bound::analyse(benanza::bound::source(r, machine), r.graphs[0], {numeric::f32, 1})};
}

/// The small model with a hole, a failed case, a disturbed one and a layer on a reference loop.
inline run bent_run() {
  run r = synthetic::small_run();
  r.graphs[0].nodes[5].layer = benanza::model::no_layer;
  r.graphs[0].nodes[5].op = "NonZero";
  r.graphs[0].nodes[5].problem = "how large its output is depends on values";
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "Softmax"; });
  for (measurement& m : r.measurements) {
    if (m.algorithm == "ref:any") m.error = "took longer than the limit of 10 s";
    if (m.key == "1x64x56x56-256x1x1-s1-b") m.disturbed = "another process used the CPU";
    if (m.family == "Relu") m.fallback = "ref";
  }
  std::erase_if(r.measurements,
                [](const measurement& m) { return m.key.starts_with("1x512x7x7"); });
  return r;
}

/// No line is longer than a page is wide, but commands, and none ends with a blank.
inline void check_width(const std::string& text) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(line);
    const bool command = line.find("    benanza_bench ") == 0 || line.find("    check ") == 0;
    CHECK((line.size() <= benanza::report::columns || command));
    CHECK((line.empty() || line.back() != ' '));
  }
}

/// Compares a page with a file of tests/golden; to accept a new page, run with
/// BENANZA_UPDATE_GOLDEN=1 and read the difference.
inline void check_golden(const std::string& text, const std::string& name) {
  const std::string path = BENANZA_SOURCE_FOLDER "/tests/golden/" + name;
  if (std::getenv("BENANZA_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << text;
  CHECK(text == benanza::test::text_of(path));
}

} // namespace pages
