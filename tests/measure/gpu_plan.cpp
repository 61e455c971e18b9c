// SPDX-License-Identifier: Apache-2.0
// Does a whole model run on a GPU as one graph, with real data flow? On the fake GPU, which
// computes, notices what is read before it is written, and lets streams run side by side.
#include "fake_gpu.hpp"

#include <benanza/result/load_case.hpp>
#include <doctest/doctest.h>

using namespace benanza::test;
using nlohmann::json;

namespace {
/// Two branches behind a convolution, which are joined again.
const char* const branched = R"({"benanza_graphs": 1, "known": [], "graphs": [{
  "name": "branched@batch=1", "model": "branched", "batch": 1, "type": "f32", "parameters": 0,
  "parameter_bytes": 0, "folded": 0, "repairs": [],
  "layers": [["Add", "1x8x6x6"], ["Conv", "1x4x6x6-8x3x3-s1-p1"], ["Conv", "1x8x6x6-8x1x1-s1"],
             ["Relu", "1x8x6x6"], ["Sigmoid", "1x8x6x6"]],
  "nodes": [["stem", "Conv", 1, [-1, -2]], ["left", "Conv", 2, [0, -2]],
            ["right", "Conv", 2, [0, -2]], ["left_on", "Relu", 3, [1]],
            ["right_on", "Sigmoid", 4, [2]], ["join", "Add", 0, [3, 4]]]}]})";

/// Two sums that are normalized; the second one reads the sum of the first.
const char* const normalized = R"({"benanza_graphs": 1, "known": [], "graphs": [{
  "name": "block@batch=1", "model": "block", "batch": 1, "type": "f32", "parameters": 0,
  "parameter_bytes": 0, "folded": 0, "repairs": [],
  "layers": [["Add+LayerNormalization", "1x16x32-a2-b"], ["Add+RMSNormalization", "1x16x32-a2-sum"],
             ["MatMul", "1x16x32-32x32-w"]],
  "nodes": [["before", "MatMul", 2, [-1, -2]], ["norm", "Add+RMSNormalization", 1, [0, -2, -1]],
            ["within", "MatMul", 2, [1, -2]],
            ["again", "Add+LayerNormalization", 0, [2, -2, -2, [1, 1]]],
            ["after", "MatMul", 2, [3, -2]]]}]})";

const std::string on_gpu = "--benchmark_format=json --backends cuda,cudnn,cublas ";

/// The plan of the model from times on the fake GPU.
std::string plan_from(const scratch_folder& s, const std::string& script,
                      const std::string& model = branched) {
  std::ofstream(s / "graphs.json") << model;
  const fake_run layers(
      {}, script,
      on_gpu +
          "'--benchmark_filter=^[A-Z].*/(eng1|eng5|eng70_k2=12_k18=0|gemm|wt:gemm|kernel:v1)/'" +
          " --states hot,coldw --graphs " + (s / "graphs.json"));
  // As if these algorithms were all that the libraries have.
  nlohmann::json whole = layers.result;
  whole["context"]["benanza"]["provenance"]["measuring"].erase("planned");
  std::ofstream(s / "layers.json") << whole.dump();
  const outcome o = shell(std::string(BENANZA_ANALYZE_BINARY) + ' ' + (s / "layers.json") +
                          " --plan " + (s / "plan.json"));
  CAPTURE(layers.ended.err);
  CAPTURE(o.err);
  REQUIRE(std::filesystem::exists(s / "plan.json"));
  return s / "plan.json";
}
} // namespace

TEST_CASE("gpu: a plan runs as one graph, in order and with branches side by side") {
  const scratch_folder s("gpu_plan");
  const std::string script = "cost 20us";
  const std::string plan = plan_from(s, script);
  const fake_run r({}, script, on_gpu + "--plan " + plan, BENANZA_BENCH_BINARY);
  CAPTURE(r.ended.err);
  REQUIRE(r.rows.size() == 2);
  CHECK(r.ended.status == 0);
  CHECK(r.tidy());
  const auto& in_order = r.rows[0];
  const auto& side_by_side = r.rows[1];
  CHECK(in_order.algorithm == "plan");
  CHECK(side_by_side.algorithm == "streams");
  CHECK(in_order.error.empty());
  CHECK(side_by_side.error.empty());
  // Six layers of 20 us, perhaps with changes of layout; the branches' two run at the same time.
  CHECK(in_order.median_ns >= 120e3);
  CHECK(side_by_side.median_ns <= in_order.median_ns - 39e3);
  CHECK(in_order.notes.find("not replayed") == std::string::npos);

  // The parts of the run are its nodes, and the page names both.
  std::ofstream(s / "runs.json") << r.ended.out;
  const auto first = json::parse(r.ended.out).at("benchmarks").at(0);
  CHECK(std::any_of(first.at("parts").begin(), first.at("parts").end(),
                    [](const json& p) { return std::string(p.at("name")).ends_with(" join"); }));
  const outcome page = shell(std::string(BENANZA_ANALYZE_BINARY) + ' ' + (s / "layers.json") + ' ' +
                             (s / "runs.json"));
  CAPTURE(page.out);
  CAPTURE(page.err);
  CHECK(page.out.find("branches side by side") != std::string::npos);
}

TEST_CASE("gpu: each way of a plan's weights to the GPU is a case, and coldstart adds them up") {
  const scratch_folder s("gpu_load");
  const std::string script = "cost 20us";
  const fake_run r({}, script, on_gpu + "--load --plan " + plan_from(s, script),
                   BENANZA_BENCH_BINARY);
  CAPTURE(r.ended.err);
  CHECK(r.ended.status <= 1); // no disk is read where the file system keeps its pages
  CHECK(r.tidy());
  std::map<std::string, double> ns;
  for (const auto& row : r.rows) {
    CAPTURE(row.name);
    CHECK((row.error.empty() || benanza::result::of_a_disk(row.algorithm)));
    ns[row.algorithm] = row.median_ns;
  }
  for (const char* way : {"read", "mmap", "pack", "setup", "touch", "pin", "attach:1", "attach:3"})
    CHECK_MESSAGE(ns[way] > 0, way);
  for (const auto& b : r.result.at("benchmarks"))
    CHECK(b.at("device") == "gpu");
  // Copies as the fake has them, of some KB.
  CHECK(ns["pinned"] > 1000);
  CHECK(ns["pageable"] - 1000 == doctest::Approx(2 * (ns["pinned"] - 1000)).epsilon(0.05));
  std::ofstream(s / "load.json") << r.ended.out;
  const outcome page = shell(std::string(BENANZA_ANALYZE_BINARY) + " coldstart " +
                             (s / "layers.json") + ' ' + (s / "load.json"));
  CAPTURE(page.out);
  CAPTURE(page.err);
  CHECK(page.status == 0);
  for (const char* part : {"on a GPU", "first answer", "pageable", " cold: ", "3 objects"})
    CHECK_MESSAGE(page.out.find(part) != std::string::npos, part);
}

TEST_CASE("gpu: GPUs and processes copy to each other") {
  const fake_run r({}, "gpus 2",
                   on_gpu + "--all '--benchmark_filter=^machine/(device_(to|from)_device_1|" +
                       "both_ways_device_1|ipc_open|ipc_copy)-1048576/'",
                   BENANZA_BENCH_BINARY);
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  CHECK(r.tidy());
  std::map<std::string, double> ns;
  for (const auto& row : r.rows) {
    CAPTURE(row.error);
    CHECK(row.error.empty());
    ns[row.name.substr(8, row.name.find('-') - 8)] = row.median_ns;
  }
  CHECK(is(ns["device_to_device_1"], 10e3));
  CHECK(is(ns["device_from_device_1"], 10e3));
  CHECK(is(ns["both_ways_device_1"], 20e3)); // the fake does one thing after the other
  CHECK(is(ns["ipc_copy"], 10e3));
  CHECK(ns["ipc_open"] > 0);
}

TEST_CASE("gpu: a plan's levels are timed, and each kernel has its layer") {
  const scratch_folder s("gpu_levels");
  const std::string script = "cost 20us";
  const fake_run r({}, script, on_gpu + "--levels call --plan " + plan_from(s, script),
                   BENANZA_BENCH_BINARY, true, fake_gpu);
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  REQUIRE(r.rows.size() == 3);
  CHECK(r.rows[0].algorithm == "level-model");
  CHECK(r.rows[2].algorithm == "level-call");
  for (const auto& row : r.rows)
    CHECK(row.median_ns >= 119.9e3); // six kernels
  const json layers = r.result.at("benchmarks").at(1), calls = r.result.at("benchmarks").at(2);
  const std::size_t parts = layers.at("parts").size();
  CHECK(parts >= 6);
  REQUIRE(calls.contains("kernels"));
  std::int64_t last = 0;
  for (const json& k : calls.at("kernels")) {
    CHECK(k.at("part") >= last);
    last = k.at("part");
  }
  CHECK(last < static_cast<std::int64_t>(parts));
}

TEST_CASE("gpu: a plan whose products want their weights n x k runs, each node right") {
  const scratch_folder s("gpu_turned");
  const std::string script = "cost 20us\nturned gemm cost 5us";
  const std::string plan = plan_from(s, script, normalized);
  const std::string steps = text_of(plan);
  CHECK(steps.find("wt:gemm") != std::string::npos);
  CHECK(steps.find("\"gemm\"") == std::string::npos);
  const fake_run r({}, script, on_gpu + "--plan " + plan, BENANZA_BENCH_BINARY);
  CAPTURE(r.ended.err);
  REQUIRE(r.rows.size() == 1);
  CHECK(r.tidy());
  CHECK(r.rows[0].error.empty());
  CHECK(r.rows[0].median_ns >= 54.9e3); // three products of 5 us, two norms of 20
  CHECK(r.rows[0].median_ns <= 60e3);

  const fake_run wrong({}, script + "\nblas gemm wrong", on_gpu + "--plan " + plan,
                       BENANZA_BENCH_BINARY);
  REQUIRE(wrong.rows.size() == 1);
  CHECK(wrong.rows[0].error.find("wrong result in the chain") != std::string::npos);
}

TEST_CASE("gpu: sums that are normalized run in a plan, node by node right") {
  const scratch_folder s("gpu_norms");
  const std::string plan = plan_from(s, "cost 20us", normalized);
  const fake_run r({}, "cost 20us", on_gpu + "--plan " + plan, BENANZA_BENCH_BINARY);
  CAPTURE(r.ended.err);
  REQUIRE(r.rows.size() == 1);
  CHECK(r.tidy());
  CHECK(r.rows[0].error.empty());
  CHECK(r.rows[0].median_ns >= 99.9e3); // five nodes, none of which became several
  CHECK(r.rows[0].median_ns <= 120e3);

  const fake_run wrong({}, "cost 20us\nengine 5 wrong", on_gpu + "--plan " + plan,
                       BENANZA_BENCH_BINARY);
  REQUIRE(wrong.rows.size() == 1);
  CHECK(wrong.rows[0].error.find("wrong result in the chain") != std::string::npos);
  CHECK(wrong.rows[0].error.find("norm, Add+RMSNormalization") != std::string::npos);
}
