// SPDX-License-Identifier: Apache-2.0
// The command sweep: curves over batches and versions, values between measured points, and names of
// strangers in a table for spreadsheets.
#include "../result/document.hpp"
#include "command.hpp"

#include <benanza/result/json.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace test_of_sweep {

using benanza::result::json;
using benanza::result::run;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;

/// One layer, at batches 1, 4 and 8, that takes 10 us for each of a batch.
run batches(double factor = 1) {
  run r = synthetic::empty_run();
  for (const int n : {1, 4, 8}) {
    const std::string batch = std::to_string(n), layer = "Relu/" + batch + "x64x56x56";
    r.graphs.push_back(
        synthetic::make_graph("tiny@batch=" + batch + ",sequence=16", {layer}, {{}}));
    r.graphs.back().batch = n;
    synthetic::add(r, layer, "jit", 0, factor * 10e3 * n);
  }
  return r;
}

std::string swept_file(const std::string& file, const run& r) {
  std::ofstream(file) << synthetic::text(r);
  return file;
}

TEST_CASE("sweep: a curve over batches, and a value between them that is marked") {
  const benanza::test::scratch_folder f("sweep");
  const std::string a = swept_file(f / "a.json", batches());
  const json j = json::parse(analyze({"sweep", a, "--over", "batch", "--format", "json"}).out);
  REQUIRE(j["points"].size() == 3);
  CHECK(j["points"][2]["batch"] == 8);
  CHECK(j["points"][2]["value"].get<double>() == doctest::Approx(80e3));
  CHECK(j["points"][2]["interpolated"] == false);
  const outcome at = analyze({"sweep", a, "--over", "batch", "--at", "batch=6", "--at", "batch=4"});
  CHECK(at.status == 0);
  CHECK(holds(at.out, "60.0 us~"));
  CHECK(holds(at.out, "40.0 us\n"));
  CHECK(holds(at.out, "not measured"));
  const outcome rate = analyze({"sweep", a, "--over", "batch", "--figure", "bound_items_per_s"});
  CHECK(holds(rate.out, "100000/s"));
  CHECK(holds(analyze({"sweep", a, "--over", "batch", "--figure", "kind:Relu"}).out, "80.0 us"));
  CHECK(holds(analyze({"sweep", a, "--over", "sequence", "--by", "batch"}).out, "(3) batch 8"));
}

TEST_CASE("sweep: tokens a second over what is in the cache, and as a limit") {
  const benanza::test::scratch_folder f("sweep_tokens");
  run r = synthetic::empty_run();
  for (const int past : {128, 512}) {
    const std::string layer = "Relu/1x" + std::to_string(past);
    r.graphs.push_back(
        synthetic::make_graph("gpt@batch=1,past=" + std::to_string(past), {layer}, {{}}));
    r.graphs.back().cache = {.bytes = 4 * past, .sequences = 2, .past = past, .added = 1};
    synthetic::add(r, layer, "jit", 0, 1e5 * past);
  }
  const std::string a = swept_file(f / "a.json", r);
  const outcome o = analyze({"sweep", a, "--over", "past", "--figure", "bound_tokens_per_s"});
  CHECK(o.status == 0);
  CHECK(holds(o.out, "156/s"));
  CHECK(holds(o.out, "39.1/s"));
  CHECK(analyze({a, "--limit", "gpt@batch=1,past=512 tokens>30/s"}).status == 0);
  CHECK(analyze({a, "--limit", "gpt@batch=1,past=512 tokens>50/s"}).status == 3);
  CHECK(analyze({"sweep", swept_file(f / "b.json", batches()), "--over", "batch", "--figure",
                 "tokens_per_s"})
            .status == 2);
}

TEST_CASE("sweep: versions of a library, and cells that a spreadsheet takes for no formula") {
  const benanza::test::scratch_folder f("sweep_versions");
  run faster = batches(0.5);
  faster.provenance["software"]["onednn_version"] = "=cmd(\"x\"),\x1b";
  const std::string a = swept_file(f / "a.json", batches()), b = swept_file(f / "b.json", faster);
  const outcome csv = analyze({"sweep", a, b, "--over", "onednn", "--format", "csv"});
  CHECK(csv.status == 0);
  CHECK(csv.out.starts_with(
      R"("onednn","batch","figure","unit","value","low","high",)")); // one model
  CHECK(holds(csv.out, "\n\"2.6.3\",8,\"bound\",\"ns\",80000,"));
  CHECK(holds(csv.out, "\n\"'=cmd(\"\"x\"\"),?\",8,\"bound\",\"ns\",40000,"));
  const outcome text = analyze({"sweep", a, b, "--over", "batch"});
  CHECK(holds(text.out, "(1) system a.json"));
  CHECK(holds(text.out, "(2) system b.json"));
}

TEST_CASE("sweep: frameworks' runs, and their gaps, a curve each") {
  const benanza::test::scratch_folder f("sweep_frameworks");
  const std::string a = swept_file(f / "a.json", batches());
  std::vector<std::string> words{"sweep", a, "--over", "batch"};
  for (const auto& [framework, factor] : {std::pair("onnxruntime", 2.0), {"openvino", 3.0}})
    for (const int batch : {1, 4, 8}) {
      const std::string file = f / (framework + std::to_string(batch) + ".json");
      std::ofstream(file) << benanza::test::framework_latency(framework, "tiny",
                                                              factor * 10e3 * batch, batch);
      words.insert(words.end(), {"--framework", file});
    }
  const auto of = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    const outcome o = analyze(more);
    CAPTURE(o.err);
    CHECK(o.status == 0);
    return o.out;
  };
  const std::string runs = of({"--figure", "framework"});
  CHECK(holds(runs, "(1) framework ONNX Runtime 1.2"));
  CHECK(holds(runs, "80.0 us"));
  const json j = json::parse(of({"--figure", "gap", "--format", "json"}));
  REQUIRE(j["points"].size() == 6);
  CHECK(j["points"][5]["unit"] == "");
  CHECK(j["points"][5]["framework"] == "OpenVINO 1.2");
  CHECK(j["points"][5]["value"].get<double>() == doctest::Approx(3));
  CHECK(holds(of({"--figure", "gap", "--format", "csv"}), "\n4,\"OpenVINO 1.2\",\"gap\",\"\",3,"));
  CHECK(holds(of({"--figure", "gap"}), "2.000"));
  CHECK(analyze({"sweep", a, "--over", "batch", "--figure", "gap"}).status == 2);
  words.insert(words.end(), {"--figure", "bound"});
  CHECK(holds(analyze(words).err, "name runs with --framework and one of the two figures"));
}

TEST_CASE("sweep: what cannot be swept is refused in one line") {
  const benanza::test::scratch_folder f("sweep_refused");
  const std::string a = swept_file(f / "a.json", batches());
  const auto refused = [&](std::vector<std::string> words, const std::string& part) {
    words.insert(words.begin(), {"sweep", a});
    const outcome o = analyze(words);
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(benanza::test::one_line(o.err));
    CHECK(holds(o.err, part));
  };
  refused({}, "--over");
  refused({"--over", "colour"}, "there are: batch");
  refused({"--over", "batch", "--figure", "beauty"}, "there are: bound");
  refused({"--over", "batch", "--figure", "run"}, "--plan");
  refused({"--over", "batch", "--at", "batch=9"}, "measured points on both sides");
  refused({"--over", "batch", "--at", "threads=2"}, "--at batch=2");
  refused({"--over", "batch", "--at", "batch=x"}, "--at batch=6");
  refused({"--over", "batch", "--type", "bf16"}, "bf16");
}
TEST_CASE("energy is swept where all layers have one") {
  const benanza::test::scratch_folder folder("sweep_energy");
  run r = batches();
  for (auto& m : r.measurements)
    if (m.key != "4x64x56x56") m.energy_nj = 20 * m.median_ns;
  const std::string file = swept_file(folder / "run.json", r);
  const std::vector<std::string> asked{"sweep", file, "--over", "batch", "--figure", "energy"};
  const outcome text = analyze(asked);
  CHECK(text.status == 0);
  CHECK(holds(text.out, "energy over batch"));
  CHECK(holds(text.out, "uJ"));
  auto as_json = asked;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json j = json::parse(analyze(as_json).out);
  REQUIRE(j["points"].size() == 2); // not of batch 4
  CHECK(j["points"][0]["unit"] == "nJ");
  CHECK(j["points"][1]["batch"] == 8);
  CHECK(j["points"][1]["value"] > 4 * j["points"][0]["value"].get<double>());

  const outcome none = analyze({"sweep", swept_file(folder / "none.json", batches()), "--over",
                                "batch", "--figure", "energy"});
  CHECK(none.status == 2);
  CHECK(benanza::test::one_line(none.err));
  CHECK(holds(none.err, "no result has that figure"));
}
} // namespace test_of_sweep
