// SPDX-License-Identifier: Apache-2.0
// Does one command measure all that is missing, and nothing else?
#include "analysed.hpp"

#include <benanza/bound/missing.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_missing {
using namespace analysed;

TEST_CASE("a file in a printed command is never an option") {
  CHECK(benanza::bound::shell_file("net.onnx") == "net.onnx");
  CHECK(benanza::bound::shell_file("-o.onnx") == "./-o.onnx");
  CHECK(benanza::bound::shell_file("-o $(x).onnx") == "'./-o $(x).onnx'");
}

TEST_CASE(
    "one command measures all that is missing, whole families where there is nothing of one") {
  run r = synthetic::fused_run();
  CHECK(analyse(r).missing.empty());
  CHECK(analyse(r).missing_command.empty());
  drop(r, "reorder");
  drop(r, "Conv+Relu");
  drop(r, "Add");
  std::erase_if(r.measurements, [](const measurement& m) {
    return m.key == "1x64x56x56-64x1x1-s1-b" && m.family == "Conv";
  });
  r.provenance["measuring"]["effort"] = "quick";
  r.graphs[0].name = "it's one";
  r.graphs[1].unfused = r.graphs[0].name;
  const model_bound b = analyse(r);
  CHECK(b.partial());
  CHECK(b.missing_command ==
        "benanza_bench --model 'it'\\''s one' --effort quick --benchmark_filter="
        "'^(Add|Conv/1x64x56x56-64x1x1-s1-b|Conv\\+Relu|reorder)/' --benchmark_out=missing.json");
  // Models that were not compiled into the program are in files, which the command names.
  r.provenance["measuring"]["graphs"] = "a/graphs.json; -my graphs.json; turns\x1b[2J";
  const model_bound of_files = analyse(r);
  CHECK(of_files.missing_command.starts_with(
      "benanza_bench --graphs a/graphs.json --graphs './-my graphs.json' --model "));
  REQUIRE(!of_files.covered.holes.empty());
  CHECK(of_files.covered.holes[0].command.starts_with("benanza_bench --graphs a/graphs.json "));
  CHECK_FALSE(b.layouts->prediction);
  CHECK_FALSE(benanza::bound::expected(b));
  r.graphs[0].name = r.graphs[1].unfused = "turns\x1b[2J";
  CHECK(analyse(r).missing_command.find("--model") == std::string::npos);
  // Changes of layout that only missing layers may need are measured with them.
  run unknown = synthetic::fused_run();
  for (const char* family : {"Conv", "Conv+Relu", "Conv+Add+Relu"})
    drop(unknown, family);
  const std::string change = "1x64x56x56-plain-blocked16";
  std::erase_if(unknown.measurements, [&](const measurement& m) { return m.key == change; });
  const model_bound u = analyse(unknown);
  CHECK(u.missing.size() == 4);
  CHECK(u.missing_command.find("(Conv|Conv\\+Add\\+Relu|Conv\\+Relu|reorder/" + change + ")/'") !=
        std::string::npos);
  unknown.measurements.clear();
  CHECK(analyse(unknown).missing_command ==
        "benanza_bench --model block@batch=1 --benchmark_out=missing.json");
  // What nothing runs, or a fused layer that failed, is not asked for again.
  run none = synthetic::fused_run();
  for (measurement& m : none.measurements) {
    if (m.family == "Conv+Relu") m.error = "wrong result";
    if (m.family == "Softmax") m.backend = "none", m.error = "no backend has an algorithm for it";
  }
  CHECK(analyse(none).missing.empty());
  CHECK(analyse(none).partial());
}

TEST_CASE("a filter selects the layers that it was made of, and no others") {
  using benanza::bound::filter_of;
  CHECK(filter_of({"Conv/1x3x8x8-4x1x1"}) == "^Conv/1x3x8x8-4x1x1/");
  CHECK(filter_of({"Conv/b", "Conv/a+c", "Relu/d"}) == "^(Conv/(b|a\\+c)|Relu/d)/");
  CHECK(filter_of({"Conv+Relu/a", "Conv+Relu/b"}, {"Conv+Relu"}) == "^Conv\\+Relu/");
}
} // namespace test_of_missing
