// SPDX-License-Identifier: Apache-2.0
// Files and runs for the tests of benanza_analyze.
//
//   const folder f;   analyze({f.write("run.json", synthetic::text(holed_run()))}).status == 1
#pragma once

#include "../result/document.hpp"
#include "command.hpp"

#include <benanza/model/operands.hpp>
#include <benanza/result/plan.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace analyzed {

namespace files = std::filesystem;
using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;

using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;

/// A folder with files of the test's own.
struct folder : benanza::test::scratch_folder {
  folder()
      : scratch_folder("analyze") {}
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(*this / name) << text;
    return *this / name;
  }
  std::string read(const std::string& name) const { return benanza::test::text_of(*this / name); }
};

inline run holed_run() {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "Relu"; });
  return r;
}

inline run two_models() {
  run r = synthetic::small_run();
  r.graphs.push_back(r.graphs[0]);
  r.graphs[1].name = "tiny@batch=8";
  r.graphs.push_back(r.graphs[0]);
  r.graphs[2].name = r.graphs[2].model = "small";
  return r;
}

} // namespace analyzed
