// SPDX-License-Identifier: Apache-2.0
// The benchmark program with cuBLAS on a GPU whose every time and failure is known beforehand, and
// on a machine that has none.
#include "fake_gpu.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

using namespace benanza::test;
using nlohmann::json;

namespace {
const std::string product = "Gemm/5x7x11-tb"; // without weights there is one order of operands
const std::string weighted = "Gemm/5x7x11-tb-w";
const std::string biased = "Gemm/5x7x11-tb-c1x7";
const std::string fused = "Gemm+Relu/5x7x11-tb-c1x7";
const std::string to_json = "--backends cublas --benchmark_format=json ";
const std::string simple = "lt:algo21_tile20_stages8_splitk1_red0_swz0_cust0_inner0_cluster0";
const std::string split = "lt:algo23_tile18_stages8_splitk4_red2_swz1_cust0_inner0_cluster0";

/// The algorithm that differs in the order of its weights alone.
std::string as_stored(const std::string& id) {
  return id.starts_with("wt:") ? id.substr(3) : id;
}

/// A command without the fake GPU, on which this program itself runs.
outcome without_fake(const std::string& command) {
  return shell("env -u LD_PRELOAD " + command);
}
} // namespace

TEST_CASE("gpu cublas: times are what the GPU takes, by function and by algorithm") {
  const fake_run r({weighted, "Gemm/1x7x11-w"},
                   "cost 20us\ncold 2us\nblas gemm cost 12us\nblas gemm cold 5us\n"
                   "blas gemv cost 3us\nlt 21 cost 9us\nid " +
                       split + " cost 7us",
                   to_json + "--states hot,coldw,cold");
  CAPTURE(r.ended.err);
  CHECK(r.ended.status == 0);
  std::set<std::string> ids;
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.name);
    CHECK(row.error == "");
    const std::string id = as_stored(row.algorithm);
    const double cost = id == "gemm" ? 12e3 : id == "gemv" ? 3e3 : id == simple ? 9e3 : 7e3;
    const double more = id == "gemm" ? 5e3 : 2e3;
    const double wanted = row.state == "hot"     ? cost
                          : row.state == "coldw" ? cost + more
                                                 : cost + 2 * more;
    CHECK(is(row.min_ns, wanted));
    CHECK(is(row.median_ns, wanted));
    CHECK(row.notes.find("launched one by one") == std::string::npos);
    ids.insert(row.algorithm);
  }
  CHECK(ids == std::set<std::string>{"gemm", "gemv", simple, split, "wt:gemm", "wt:gemv",
                                     "wt:" + simple, "wt:" + split});
  CHECK(r.rows.size() == 2 * 3 * (3 + 4));
  CHECK(r.tidy());
  REQUIRE(r.records.size() == 1);
  CAPTURE(r.records[0].dump());
  CHECK(r.records[0]["graphs_launched"] > 0);
  CHECK(r.records[0]["captures_failed"] == 0); // cuBLAS had a workspace of its own
  CHECK(r.records[0]["made"]["cublas-handle"] == 1);
  CHECK(r.records[0]["made"]["cublaslt-handle"] == 1);
}

TEST_CASE("gpu cublas: the list is the library's own, whatever it is") {
  const std::string other = "lt:algo99_tile1_stages2_splitk1_red0_swz0_cust0_inner0_cluster0";
  const fake_run r({biased}, "cost 20us\noffers " + other + "\nlt 99 cost 4us",
                   to_json + "--states hot");
  CHECK(r.ended.status == 0);
  REQUIRE(r.rows.size() == 1);
  CHECK(r.rows[0].algorithm == other);
  CHECK(is(r.rows[0].min_ns, 4e3));
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: an algorithm with a hidden setting is run by its bytes") {
  // Its settings alone make none that the library takes; and two of them are alike.
  const std::string hidden = "lt:algo99_tile1_stages2_splitk1_red0_swz0_cust0_inner0_cluster0";
  std::string script = "cost 20us\nlt 99 cost 4us";
  for (const std::string& id : {hidden + "!7", simple, simple + "!3", simple, simple + "!3"})
    script += "\noffers " + id;
  std::map<std::string, std::string> first;
  for (const bool in_one_process : {true, false}) { // the worker process lists them on its own
    const fake_run r({biased}, script, to_json + "--states hot", layers_bench, in_one_process);
    CAPTURE(r.ended.err);
    CHECK(r.ended.status == 0);
    REQUIRE(json::accept(r.ended.out));
    const json result = json::parse(r.ended.out);
    std::map<std::string, std::string> bytes;
    for (const json& b : result.at("benchmarks")) {
      CAPTURE(b.at("name").get<std::string>());
      CHECK(b.value("error_message", "") == "");
      const std::string id = b.at("algorithm");
      CHECK_FALSE(bytes.contains(id));
      bytes[id] = b.at("opaque");
      CHECK(is(b.at("min_ns"), id.starts_with(hidden) ? 4e3 : 20e3));
    }
    CHECK(bytes.size() == 3);
    CHECK(bytes.contains(simple));
    CHECK(std::count_if(bytes.begin(), bytes.end(), [&](const auto& b) {
            return b.first.starts_with(hidden + "-h") || b.first.starts_with(simple + "-h");
          }) == 2);
    if (in_one_process) first = bytes;
    CHECK(bytes == first);
  }
}

TEST_CASE("gpu cublas: bytes that mean nothing are in no name") {
  const std::string other = "lt:algo99_tile1_stages2_splitk1_red0_swz0_cust0_inner0_cluster0";
  const fake_run r({biased}, "cost 20us\noffers " + other + "!255", to_json + "--states hot",
                   layers_bench, false);
  CHECK(r.ended.status == 0);
  REQUIRE(r.rows.size() == 1);
  CHECK(r.rows[0].algorithm == other);
  CHECK(r.rows[0].error == "");
  CHECK(is(r.rows[0].min_ns, 20e3));
}

TEST_CASE("gpu cublas: algorithms whose sums meet in a narrow type crowd out no others") {
  std::string script = "cost 20us";
  for (int tile = 1; tile <= 16; ++tile)
    script += "\noffers lt:algo23_tile" + std::to_string(tile) +
              "_stages8_splitk4_red4_swz1_cust0_inner0_cluster0";
  script += "\noffers " + simple;
  const fake_run exact({biased}, script, to_json + "--types f16,f32 --states hot");
  CHECK(exact.ended.status == 0);
  std::map<std::string, int> listed;
  for (const gpu_row& row : exact.rows) {
    CHECK(row.error == "");
    ++listed[row.algorithm];
  }
  CHECK(listed[simple] == 1); // of f16; f32 adds up in f32 anyway
  CHECK(exact.rows.size() == 17);
  // All of them, none twice.
  const fake_run all({biased}, script, to_json + "--types f16 --states hot --all --effort quick");
  std::set<std::string> ids;
  for (const gpu_row& row : all.rows)
    ids.insert(row.algorithm);
  CHECK(ids.size() == 17);
  CHECK(all.rows.size() == 17);
}

TEST_CASE("gpu cublas: FP8 with fast accumulation is measured where all are asked for") {
  const std::string layer = "Gemm/5x32x48-tb-w";
  for (const bool all : {false, true}) {
    const fake_run r({layer}, "cost 20us",
                     to_json + "--types e4m3 --states hot" + (all ? " --all" : ""));
    CHECK(r.ended.status == 0);
    CHECK(r.rows.size() == (all ? 6 : 3));
    CHECK(r.tidy());
    REQUIRE(json::accept(r.ended.out));
    const json result = json::parse(r.ended.out);
    for (const json& b : result.at("benchmarks")) {
      const bool fast = b.at("algorithm").get<std::string>().ends_with("-fast-accum");
      CHECK(b.at("equivalence") == (fast ? "e4m3-fast-accum" : "e4m3"));
    }
  }
}

TEST_CASE("gpu cublas: a stack is measured as a group of products too") {
  const fake_run r({"MatMul/3x5x8-3x8x16-w", "MatMul/3x5x8-3x8x16"},
                   "cost 20us\nblas grouped cost 4us\nblas grouped cold 1us",
                   to_json + "--types bf16 --states hot,coldw,cold");
  CHECK(r.ended.status == 0);
  int groups = 0;
  for (const gpu_row& row : r.rows) {
    CHECK(row.error == "");
    CHECK(row.notes.find("launched one by one") == std::string::npos);
    if (row.algorithm != "gemm_grouped") continue;
    ++groups;
    CHECK(row.notes == "call,tensor-cores=unknown");
    // Cold are three tables and three matrices of weights, or of each operand.
    const bool is_all = row.state == "cold" || row.name.find("16-w/") == std::string::npos;
    CHECK(is(row.median_ns, row.state == "hot" ? 4e3 : is_all ? 13e3 : 10e3));
  }
  CHECK(groups == 6); // and three with turned weights
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: each failure costs its own cases, and is named") {
  const fake_run r({product}, "cost 20us\nlt 21 refuses-to-run\nlt 23 wrong\nblas gemm unsupported",
                   to_json + "--types f16 --states hot");
  CHECK(r.ended.status == 1);
  CHECK(one_line(r.ended.err));
  std::map<std::string, std::string> errors;
  for (const gpu_row& row : r.rows)
    errors[row.algorithm] = row.error;
  REQUIRE(errors.size() == 4);
  CHECK(holds(errors[simple], "an execution failed: "));
  CHECK(holds(errors[simple], "CUBLAS_STATUS_EXECUTION_FAILED"));
  CHECK(errors[split].starts_with("wrong result: output 0 "));
  CHECK(holds(errors["gemm"], "CUBLAS_STATUS_NOT_SUPPORTED"));
  CHECK(std::count_if(errors.begin(), errors.end(),
                      [](const auto& e) { return e.second.empty(); }) == 1);
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: what the library proposes and then refuses is named, with its reason") {
  const fake_run r({product}, "cost 20us\nlt 21 unsupported", to_json + "--states hot");
  CHECK(r.ended.status == 1);
  REQUIRE(r.rows.size() == 3);
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.algorithm);
    CHECK((row.algorithm == simple) == holds(row.error, "CUBLAS_STATUS_NOT_SUPPORTED"));
    CHECK((row.algorithm == simple) == (row.notes == "heuristic,refused"));
    CHECK((row.algorithm == simple) != row.error.empty());
  }
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: memory that cannot be had costs the cases that need it") {
  // Enough to empty the L2 cache, for the workspace and the operands, not for copies of weights.
  const std::int64_t l2 = std::int64_t{61440} << 10, workspace = std::int64_t{32} << 20;
  const fake_run r({weighted}, "malloc-limit " + std::to_string(4 * l2 + workspace + 100'000),
                   to_json);
  CHECK(r.ended.status == 1);
  int hot = 0, cold = 0;
  for (const gpu_row& row : r.rows) {
    hot += row.state == "hot" && row.error.empty();
    cold += row.state == "coldw" && row.error == "out of memory";
  }
  CHECK(hot == 6);
  CHECK(cold == 6);
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: a launch that kills the device is distinguished from one that was refused") {
  const std::string script = "cost 20us\nlt 21 launch-failure";
  const fake_run apart({product}, script, to_json + "--states hot", layers_bench, false);
  CHECK(apart.ended.status == 1);
  REQUIRE(apart.rows.size() == 3);
  for (const gpu_row& row : apart.rows) {
    CAPTURE(row.algorithm);
    if (row.algorithm == simple) {
      CHECK(row.error.starts_with("device lost: "));
      CHECK(holds(row.error, "cudaErrorLaunchFailure"));
    } else {
      CHECK(row.error == "");
      CHECK(is(row.min_ns, 20e3));
    }
  }
}

TEST_CASE("gpu cublas: what cannot be captured is launched one by one, and says so") {
  const fake_run r({product}, "cost 20us\nno-capture", to_json + "--states hot");
  CHECK(r.ended.status == 0);
  REQUIRE(r.rows.size() == 3);
  for (const gpu_row& row : r.rows) {
    CHECK(is(row.min_ns, 20e3));
    CHECK(holds(row.notes, "launched one by one, not replayed"));
  }
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: every type and every layout is measured") {
  const fake_run r({"Conv/2x16x3x5-32x1x1-s1", "Gemm/5x32x48-tb-w"}, "cost 20us",
                   "--backends cublas --benchmark_format=json --states hot --effort quick "
                   "--types f32,tf32,f16,bf16,s8s8s8,e4m3");
  CHECK(r.ended.status == 0);
  std::set<std::string> seen;
  for (const gpu_row& row : r.rows) {
    CAPTURE(row.name);
    CHECK(row.error == "");
    std::string key = row.name.substr(row.name.find('/') + 1);
    key = key.substr(key.find('/') + 1);
    seen.insert(row.name.substr(0, 4) + key.substr(0, key.find('/')) +
                (row.algorithm.starts_with("nhwc:") ? " nhwc" : ""));
  }
  for (const char* type : {"f32", "tf32", "f16", "bf16", "s8s8s8", "e4m3"}) {
    CHECK(seen.contains(std::string("Gemm") + type));
    CHECK(seen.contains(std::string("Conv") + type + " nhwc"));
  }
  CHECK(seen.contains("Convf16"));
  CHECK_FALSE(seen.contains("Convs8s8s8"));
  CHECK(r.tidy());
}

TEST_CASE("gpu cublas: a fused product wins where it is scripted to") {
  // LeNet's last layer is a product with a bias.
  const std::string bare = "MatMul/1x256-256x10-w", whole = "MatMul+Add/1x256-256x10-w";
  const fake_run r({}, "cost 20us\nlt 21 cost 5us\nlt 23 cost 2us\nblas gemv cost 1us",
                   "--backends cublas --benchmark_format=json --benchmark_filter=^MatMul",
                   BENANZA_BENCH_BINARY);
  CAPTURE(r.ended.err);
  CHECK((r.ended.status == 0 || r.ended.status == 1));
  CHECK(r.tidy());
  const scratch_folder s("fused");
  std::ofstream(s / "run.json") << r.ended.out;
  const outcome o =
      without_fake(std::string(BENANZA_ANALYZE_BINARY) + " --format json " + (s / "run.json"));
  CAPTURE(o.err);
  REQUIRE(json::accept(o.out));
  std::map<std::string, json> bounds;
  const json analysis = json::parse(o.out);
  for (const auto& a : analysis.at("analyses"))
    for (const auto& l : a.at("layers"))
      if (l.contains("bound")) bounds[l.at("layer")] = l.at("bound");
  REQUIRE(bounds.contains(bare));
  CHECK(bounds[bare].at("algorithm") == "gemv");
  CHECK(is(bounds[bare].at("ns").get<double>(), 1e3));
  REQUIRE(bounds.contains(whole));
  CHECK(bounds[whole].at("algorithm") == split);
  CHECK(is(bounds[whole].at("ns").get<double>(), 2e3));
}

TEST_CASE("gpu cublas: weights that are n x k set the bound where they are faster, and run") {
  const std::string bare = "MatMul/1x256-256x10-w", whole = "MatMul+Add/1x256-256x10-w";
  const std::string script = "cost 20us\nturned gemv cost 1us\nturned 23 cost 2us\n"
                             "lt 21 unsupported\n";
  const scratch_folder s("turned");
  const fake_run r({}, script, to_json + "--benchmark_filter=^MatMul", BENANZA_BENCH_BINARY);
  std::ofstream(s / "run.json") << r.ended.out;
  const outcome o =
      without_fake(std::string(BENANZA_ANALYZE_BINARY) + " --format json " + (s / "run.json"));
  CAPTURE(o.err);
  REQUIRE(json::accept(o.out));
  std::map<std::string, json> layers;
  const json analysis = json::parse(o.out);
  for (const auto& a : analysis.at("analyses"))
    for (const auto& l : a.at("layers"))
      layers[l.at("layer")] = l;
  for (const auto& [layer, id, ns] :
       {std::tuple{bare, std::string("wt:gemv"), 1e3}, {whole, "wt:" + split, 2e3}}) {
    const std::string its = layer; // what CAPTURE takes
    CAPTURE(its);
    REQUIRE(layers.contains(layer));
    for (const char* figure : {"bound", "prediction"}) {
      CHECK(layers[layer].at(figure).at("algorithm") == id);
      CHECK(is(layers[layer].at(figure).at("ns").get<double>(), ns));
    }
  }
}

TEST_CASE("no gpu: cuBLAS lists its plain functions, and each case says why it has no time" *
          doctest::skip(has_driver())) {
  const scratch_folder s("no_gpu");
  std::ofstream(s / "layers") << product << '\n' << biased << '\n' << fused << '\n';
  const std::string bench =
      "BENANZA_LAYERS=" + (s / "layers") + ' ' + layers_bench + " --backends cublas ";
  const outcome listed = without_fake(bench + "--benchmark_list_tests --benchmark_filter=^Gemm");
  CHECK(listed.status == 0);
  CHECK(holds(listed.out, product + "/f32/cublas/gemm/hot/t1"));
  CHECK_FALSE(holds(listed.out, "/lt:"));
  const outcome o = without_fake(bench + "--benchmark_format=json --benchmark_filter=^Gemm");
  CHECK(o.status == 1);
  REQUIRE(json::accept(o.out));
  int functions = 0;
  const json result = json::parse(o.out);
  for (const auto& b : result.at("benchmarks")) {
    const std::string error = b.at("error_message");
    functions += holds(error, "no NVIDIA driver");
  }
  CHECK(functions == 2);                        // hot and coldw
  CHECK_FALSE(holds(o.out, "c1x7/f32/cublas")); // cublasLt's alone
}

TEST_CASE("no gpu: TF32 is not listed for a GPU that is older" * doctest::skip(has_driver())) {
  const scratch_folder s("old_gpu");
  std::ofstream(s / "layers") << product << '\n';
  const std::string bench = "BENANZA_LAYERS=" + (s / "layers") + ' ' + layers_bench +
                            " --backends cublas --benchmark_list_tests --types tf32 "
                            "--benchmark_filter=^Gemm --target ";
  CHECK(holds(without_fake(bench + "a100").out, "/tf32/cublas/gemm/"));
  CHECK_FALSE(holds(without_fake(bench + "t4").out, "/tf32/cublas/gemm/"));
}
