// SPDX-License-Identifier: Apache-2.0
// Do kernels of frameworks compete as any algorithm does? They set bounds, are left out where that
// is asked for, and are in no plan.
#include "../result/document.hpp"
#include "command.hpp"

#include <benanza/result/plan.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace benanza::test;
using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;

/// What benanza_measure_framework wrote of a layer on the machine of `other`.
run framework_run(const run& other, const std::string& layer, double ns,
                  const std::string& version = "1.32.0") {
  run r = synthetic::empty_run();
  r.provenance = other.provenance;
  r.provenance["frameworks"] = {{"onnxruntime", version}};
  synthetic::add_laid(r, layer, "ort-kernel", 1, "plain", "plain", ns);
  for (measurement& m : r.measurements) {
    m.backend = "onnxruntime";
    m.name = layer + "/f32/onnxruntime/ort-kernel/" + m.state + "/t1";
  }
  return r;
}

std::string file(const scratch_folder& f, const std::string& name, const run& r) {
  std::ofstream(f / name) << synthetic::text(r);
  return f / name;
}

double bound_of(const std::string& out) {
  return json::parse(out)["analyses"][0]["bound"]["sequential"]["ns"].get<double>();
}

/// What benanza_measure_framework writes of a framework that runs the residual block as it is.
std::string framework_text(const std::string& framework, int threads) {
  std::string events;
  const std::vector<std::pair<const char*, int>> ran{{"node0", 900}, {"node1", 9}, {"node2", 110},
                                                     {"node3", 15},  {"node4", 9}, {"node5", 420}};
  int ts = 0;
  for (int run = 0; run < 3; ++run) {
    const int start = ts;
    std::string nodes;
    for (const auto& [name, us] : ran) {
      nodes += fmt::format(
          R"(,{{"cat":"Node","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"{}_kernel_time","args":{{"op_name":"Op","provider":"CPUExecutionProvider","node_index":"{}"}}}})",
          us, ts, name, name[4]);
      ts += us + 10;
    }
    events += fmt::format(
        R"({}{{"cat":"Session","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"model_run","args":{{}}}}{})",
        run == 0 ? "" : ",", ts - start, start, nodes);
  }
  return fmt::format(
      R"({{"schema":"benanza-framework","schema_version":3,"framework":"{}","framework_version":"1.2","model":{{"file":"block.onnx"}},
"options":{{"threads":{},"batch":1,"precision":"f32"}},"samples_ns":[1530000,1540000,1550000],
"traces":[{{"format":"onnxruntime-profile","json":[{}]}}]}})",
      framework, threads, events);
}

TEST_CASE("--framework: steps down from its run, what to change first, each with a command") {
  const scratch_folder f("beside");
  const std::string a = file(f, "run.json", synthetic::fused_run());
  std::ofstream(f / "ort.json") << framework_text("onnxruntime", 1);
  const outcome page = analyze({a, "--framework", f / "ort.json"});
  CAPTURE(page.err);
  CHECK(page.status == 0);
  CHECK(holds(page.out, "ONNX Runtime 1.2"));
  CHECK(holds(page.out, "From the run of ONNX Runtime 1.2 down to the machine's limits:"));
  CHECK_FALSE(holds(page.out, "because"));
  CHECK(holds(analyze({a, "--framework", f / "ort.json", "-q"}).out,
              "ONNX Runtime 1.2             1.54 ms"));
  const outcome all = analyze({a, "--framework", f / "ort.json", "--advice"});
  CHECK(holds(all.out, "    check    benanza_bench --model block@batch=1 "
                       "--benchmark_filter='^Conv/1x64x56x56-64x3x3-s1-p1/'"));
  const outcome as_json = analyze({a, "--framework", f / "ort.json", "--format", "json"});
  const json one = json::parse(as_json.out)["analyses"][0];
  CHECK(one["frameworks"][0]["latency"]["ns"] == 1540e3);
  CHECK(one["frameworks"][0]["operators"].size() == 6);
  CHECK(one["advice"]["items"][0]["id"] == "algorithm/onednn/jit/Conv");
  CHECK(analyze({a, "--format", "json", "--advice"}).status == 0); // advice without a framework
}

TEST_CASE("several models and frameworks: runs, gaps and their geometric means") {
  const scratch_folder f("gaps");
  run r = synthetic::empty_run();
  const std::string small = "Relu/1x64x56x56", large = "Relu/4x64x56x56", absent = "Add/1x64x56x56";
  r.graphs = {synthetic::make_graph("large@batch=1", {large}, {{}}),
              synthetic::make_graph("partly@batch=1", {small, absent}, {{}, {0}}),
              synthetic::make_graph("small@batch=1", {small}, {{}})};
  synthetic::add(r, small, "jit", 0, 10e3);
  synthetic::add(r, large, "jit", 0, 40e3);
  const std::string a = file(f, "run.json", r);
  std::vector<std::string> words{a};
  const auto beside = [&](const std::string& framework, const std::string& model, double ns) {
    const std::string name = f / (framework + '_' + model);
    std::ofstream(name) << framework_latency(framework, model, ns);
    words.insert(words.end(), {"--framework", name});
  };
  beside("onnxruntime", "small", 20e3);
  beside("onnxruntime", "large", 320e3);
  beside("onnxruntime", "partly", 100e3);
  beside("openvino", "small", 30e3);
  const auto as = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    const outcome o = analyze(more);
    CAPTURE(o.err);
    CHECK(o.status == 1);
    return o.out;
  };
  const std::string text = as({"-q"});
  CHECK(holds(text, "  (1) ONNX Runtime 1.2\n  (2) OpenVINO 1.2\n"));
  CHECK(holds(text, "large@batch=1        f32     1   320 us  8.00         -     -\n"));
  CHECK(holds(text, "partly@batch=1       f32     1   100 us 10.00!        -     -\n"));
  CHECK(holds(text, "small@batch=1        f32     1  20.0 us  2.00   30.0 us  3.00\n"));
  CHECK(holds(text, "geometric mean       f32     1           4.00            3.00\n"));
  CHECK(holds(text, "  of so many models  f32     1              2               1\n"));
  CHECK(holds(as({}), "of partly@batch=1: 1 of 2 nodes not measured"));
  const json j = json::parse(as({"--format", "json"}));
  const json mean = j["mean_gaps"][0];
  CHECK(mean["framework"] == "ONNX Runtime 1.2");
  CHECK(mean["models"] == 2);
  CHECK(mean["gap"]["value"].get<double>() == doctest::Approx(4));
  CHECK(mean["gap"]["low"].get<double>() < 4);
  CHECK(mean["gap"]["high"].get<double>() < 4.1);
  CHECK(j["analyses"][0]["frameworks"][0]["gap"]["value"].get<double>() == doctest::Approx(8));
  const std::string csv = as({"--format", "csv-models"});
  CHECK(holds(csv, "\n\"small@batch=1\",1,\"f32\",1,10000,10000,"));
  CHECK(holds(csv, ",1,0,\"OpenVINO 1.2\",30000,"));
  CHECK(holds(csv, "\n\"geometric mean\",,\"f32\",1,,,,,,,\"ONNX Runtime 1.2\",,,,4,"));
  for (const char* format : {"md", "latex"}) {
    const std::string page = as({"--format", format});
    CHECK(holds(page, "geometric mean"));
    CHECK(holds(page, "2 models"));
    CHECK(holds(page, "10.00"));
  }
}

TEST_CASE("--framework: what is no profile, or of other threads, is refused in a line") {
  const scratch_folder f("beside_refused");
  const std::string a = file(f, "run.json", synthetic::fused_run());
  std::ofstream(f / "two.json") << framework_text("onnxruntime", 2);
  std::ofstream(f / "text.json") << "no profile\n";
  for (const std::string name : {"two.json", "text.json", "absent.json"}) {
    const outcome o = analyze({a, "--framework", f / name});
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CHECK(std::count(o.err.begin(), o.err.end(), '\n') == 1);
    CHECK(holds(o.err, name));
  }
}
} // namespace

TEST_CASE("a framework's kernel sets a bound, unless only others compete") {
  const scratch_folder f("frameworks");
  const run ours = synthetic::small_run();
  const std::string a = file(f, "run.json", ours);
  const std::string b = file(f, "ort.json", framework_run(ours, synthetic::relu, 5e3));
  const std::vector<std::string> as_json{"--format", "json"};
  const auto of = [&](std::vector<std::string> words) {
    words.insert(words.end(), as_json.begin(), as_json.end());
    const outcome o = analyze(words);
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    return o.out;
  };
  const double alone = bound_of(of({a}));
  CHECK(alone - bound_of(of({a, b})) == doctest::Approx(4e3));
  CHECK(bound_of(of({a, b, "--backends", "onednn,host"})) == alone);
  const outcome page = analyze({a, b, "--layers", "all", "--details"});
  CHECK(holds(page.out, "onnxruntime 1.32.0"));
  CHECK(holds(page.out, "ort-kernel for jit:avx512_core at 1 x"));
  const outcome none = analyze({a, b, "--backends", "onednn,mkl"});
  CHECK(none.status == 2);
  CHECK(holds(none.err, "\"mkl\""));
  CHECK(holds(none.err, "there are: host, onednn, onnxruntime"));
}

TEST_CASE("two versions of a framework are distinguished") {
  const scratch_folder f("versions");
  const run ours = synthetic::small_run();
  const std::string a = file(f, "run.json", ours);
  const std::string b = file(f, "b.json", framework_run(ours, synthetic::relu, 5e3));
  const std::string c = file(f, "c.json", framework_run(ours, synthetic::conv, 9e5, "1.33.0"));
  const outcome o = analyze({a, b, c, "--format", "json"});
  CHECK(o.status == 0);
  CHECK(holds(o.out, "onnxruntime-1.32.0"));
  CHECK(holds(o.out, "onnxruntime-1.33.0"));
  CHECK(analyze({a, b, c, "--backends", "onednn,host,onnxruntime"}).status == 0);
}

TEST_CASE("a store holds what benanza_bench measured; frameworks are analysed with it") {
  const scratch_folder f("beside");
  const run ours = synthetic::small_run();
  const std::string a = file(f, "run.json", ours), store = f / "s.db";
  const std::string b = file(f, "ort.json", framework_run(ours, synthetic::relu, 5e3));
  if (analyze({"--import", a, "--store", store}).status != 0) return; // built without SQLite
  const outcome refused = analyze({"--import", b, "--store", store});
  CHECK(refused.status == 2);
  CHECK(holds(refused.err, "not stored"));
  CHECK(analyze({store, b}).status == 0);
}

TEST_CASE("a plan names nothing that benanza_bench does not run") {
  const scratch_folder f("plan");
  const run ours = synthetic::fused_run();
  const std::string a = file(f, "run.json", ours);
  const std::string b = file(f, "ort.json", framework_run(ours, synthetic::relu, 1));
  const outcome o = analyze({a, b, "--unfused", "--plan", f / "plan.json"});
  CAPTURE(o.err);
  CHECK(o.status == 0);
  const std::string plan = text_of(f / "plan.json");
  CHECK(holds(plan, "eltwise"));
  CHECK_FALSE(holds(plan, "ort-kernel"));
}
