// SPDX-License-Identifier: Apache-2.0
// Does the command do what its help says? Arguments in; exit status, report and one line of error
// out. The same function that main calls, and the program itself where it is built.
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

namespace {

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

run holed_run() {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "Relu"; });
  return r;
}

run two_models() {
  run r = synthetic::small_run();
  r.graphs.push_back(r.graphs[0]);
  r.graphs[1].name = "tiny@batch=8";
  r.graphs.push_back(r.graphs[0]);
  r.graphs[2].name = r.graphs[2].model = "small";
  return r;
}

} // namespace

TEST_CASE("a result from standard input or a file gives a page and status 0") {
  const folder f;
  const std::string text = synthetic::text(synthetic::small_run());
  const std::string path = f.write("run.json", text);
  const outcome piped = analyze({}, text);
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  CHECK(holds(piped.out, "tiny@batch=1  batch 1  f32  1 thread"));
  CHECK(analyze({"-"}, text).out == piped.out);
  CHECK(analyze({path}).out == piped.out);
  CHECK(analyze({path, path}).out == piped.out);
  CHECK(analyze({path, "-"}, text).status == 0);
  CHECK(analyze({"-", "-"}, text).status == 2);
}

TEST_CASE("a model has one lower bound on every page: that of its best graph") {
  const folder f;
  run r = synthetic::rewritten_run(60e3); // its own graph takes 100 us
  r.graphs.push_back(r.graphs[0]);
  r.graphs.back().name = r.graphs.back().model = "other";
  const std::string a = f.write("run.json", synthetic::text(r));
  CHECK(holds(analyze({a, "-q"}).out, "net@batch=1          f32     1  60.0 us  60.0 us  "));
  CHECK(
      holds(analyze({a, "--format", "md"}).out, "| `net@batch=1` | f32 | 1 | 60.0 us | 60.0 us |"));
  for (const char* how : {"--details", "-q"})
    CHECK(holds(analyze({a, "--model", "net", how}).out, "lower bound                  60.0 us"));
  CHECK(holds(analyze({a, "--model", "net", "--format", "dot"}).out,
              "lower bound 60.0 us by the best graph, by this one 100 us"));
  const json one = json::parse(analyze({a, "--model", "net", "--format", "json"}).out);
  CHECK(one["analyses"][0]["lower_bound"]["ns"] == 60e3);
  for (const char* limit : {"net bound<61us", "net parallel<61us", "net workers<61us"})
    CHECK(analyze({a, "--limit", limit}).status == 0);
  for (const char* figure : {"bound", "parallel", "bound_items_per_s"}) {
    const json swept = json::parse(analyze({"sweep", a, "--over", "batch", "--model", "net",
                                            "--figure", figure, "--format", "json"})
                                       .out);
    const double is = swept["curves"][0]["points"][0]["value"].get<double>();
    CHECK(is == doctest::Approx(figure == std::string("bound_items_per_s") ? 1e9 / 60e3 : 60e3));
  }
  CHECK(holds(analyze({"compare", a, a, "--rows", "all"}).out, "60.0 us   60.0 us"));
}

TEST_CASE("--latency-limit takes the units of --limit, a number alone is of ms") {
  run r = synthetic::empty_run();
  for (const char* n : {"1", "4"}) {
    const std::string batch(n), layer = "Relu/" + batch + "x64x56x56";
    r.graphs.push_back(synthetic::make_graph("tiny@batch=" + batch, {layer}, {{}}));
    r.graphs.back().batch = batch == "4" ? 4 : 1;
    synthetic::add(r, layer, "jit", 0, batch == "4" ? 30e3 : 10e3);
  }
  const std::string text = synthetic::text(r);
  for (const char* limit : {"0.02", "20us", "20 us", "20000ns"})
    CHECK(holds(analyze({"--model", "tiny@batch=1", "--latency-limit", limit}, text).out,
                "more than batch 1 (within 20.0 us)"));
}

TEST_CASE("the order of entries changes no byte of the report") {
  run r = synthetic::small_run();
  const outcome before = analyze({"--format", "json"}, synthetic::text(r));
  std::reverse(r.measurements.begin(), r.measurements.end());
  CHECK(analyze({"--format", "json"}, synthetic::text(r)).out == before.out);
}

TEST_CASE("holes and failed cases: status 1 and a line; with --strict 2 and nothing written") {
  const std::string holed = synthetic::text(holed_run());
  const outcome partial = analyze({}, holed);
  CHECK(partial.status == 1);
  CHECK(holds(partial.out, "PARTIAL     1 of 7 nodes"));
  CHECK(partial.err ==
        "benanza_analyze: partial: 1 node without a measured time, such as Relu/1x64x56x56 in "
        "tiny@batch=1\n");
  const outcome strict = analyze({"--strict"}, holed);
  CHECK(strict.status == 2);
  CHECK(strict.out.empty());
  CHECK(holds(strict.err, "Relu/1x64x56x56"));

  run failed = synthetic::small_run();
  failed.measurements[4].error = "out of memory";
  CHECK(analyze({}, synthetic::text(failed)).status == 1);
  CHECK(holds(analyze({}, synthetic::text(failed)).err,
              "1 layer with failed cases, such as Conv/1x"));
  CHECK(analyze({"--strict"}, synthetic::text(synthetic::small_run())).status == 0);

  const outcome as_json = analyze({"--format", "json"}, holed);
  CHECK(as_json.status == 1);
  CHECK(json::parse(as_json.out)["status"] == "partial");
}

TEST_CASE("what is refused leaves a line, status 2 and no report") {
  const std::string text = synthetic::text(synthetic::small_run());
  const auto refused = [](const outcome& o, const std::string& part) {
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CAPTURE(o.err);
    CHECK(holds(o.err, part));
  };
  refused(analyze({}, ""), "empty");
  refused(analyze({}, text.substr(0, 900)), "cut off");
  refused(analyze({"/no/such/file"}), "cannot be opened");
  refused(analyze({"--bogus"}, text), "--bogus");
  refused(analyze({"--format", "xml"}, text), "--format");
  refused(analyze({"--layers", "many"}, text), "--layers");
  refused(analyze({"--layers", "3", "--format", "csv"}, text), "csv has all rows");
  refused(analyze({"--advice", "-q"}, text), "--quiet leaves out the advice");
  for (const char* time : {"", "0ms", "1h", "ms", "-1ms", "infs"})
    refused(analyze({"--latency-limit", time}, text), "write --latency-limit 20ms");
  refused(analyze({"--threads", "x"}, text), "--threads");
  refused(analyze({"--model"}, text), "--model");
  refused(analyze({"--model", "resnet"}, text), "there are: tiny@batch=1");
  refused(analyze({"--type", "bf16"}, text), "there are: f32 on 1 thread");
  refused(analyze({"--type", "f33"}, text), "there are: f32 on 1 thread");
  refused(analyze({"--threads", "4"}, text),
          "nothing was measured of tiny@batch=1 on 4 threads; there are: f32 on 1 thread");
  // What was measured of the machine on two threads is no layer.
  run ceilings = synthetic::small_run();
  ceilings.measurements.push_back(ceilings.measurements.front());
  ceilings.measurements.back().family = "machine";
  ceilings.measurements.back().threads = 2;
  refused(analyze({"--threads", "2"}, synthetic::text(ceilings)), "there are: f32 on 1 thread");
  run none = synthetic::small_run();
  none.graphs.clear();
  none.measurements.clear();
  refused(analyze({}, synthetic::text(none)), "no model and no layer");

  run other = synthetic::small_run();
  other.provenance["machine"]["cpu"] = "Another";
  const folder f;
  refused(analyze({f.write("a.json", text), f.write("b.json", synthetic::text(other))}),
          "different machines are not merged: cpu");
}

TEST_CASE("models, types and threads can be chosen") {
  const std::string text = synthetic::text(two_models());
  const outcome all = analyze({}, text);
  CHECK(holds(all.out, "--model NAME"));
  CHECK(holds(all.out, "small "));
  CHECK_FALSE(holds(all.out, "batch 1"));
  // An exact name wins over names that hold it; a model's name means all of its variants.
  CHECK(holds(analyze({"--model", "small"}, text).out, "small  batch 1"));
  const outcome variants = analyze({"--model", "tiny"}, text);
  CHECK(holds(variants.out, "tiny@batch=1  batch 1"));
  CHECK(holds(variants.out, "tiny@batch=8  batch 1"));
  CHECK(holds(analyze({"--model", "@batch=8"}, text).out, "tiny@batch=8  batch 1"));

  run r = synthetic::small_run();
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "bf16");
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "f32", 2);
  const std::string many = synthetic::text(r);
  const auto count = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    std::vector<std::pair<std::string, int>> out;
    const json report = json::parse(analyze(arguments, many).out);
    for (const json& a : report["analyses"])
      out.emplace_back(a["type"], a["threads"]);
    return out;
  };
  using rows = std::vector<std::pair<std::string, int>>;
  CHECK(count({}) == rows{{"f32", 1}, {"f32", 2}, {"bf16", 1}});
  CHECK(count({"--type", "bf16"}) == rows{{"bf16", 1}});
  CHECK(count({"--threads", "2"}) == rows{{"f32", 2}});
  CHECK(count({"--type", "f32", "--threads", "1"}) == rows{{"f32", 1}});
  CHECK(analyze({"--type", "bf16", "--threads", "2"}, many).status == 2);
}

TEST_CASE("a fused form is reported with its model, and not as a model of its own") {
  const std::string text = synthetic::text(synthetic::fused_run());
  const json report = json::parse(analyze({"--format", "json"}, text).out);
  REQUIRE(report["analyses"].size() == 1);
  CHECK(report["analyses"][0]["fused"]["graph"] == "block@batch=1,fused");
  CHECK(report["analyses"][0]["workers"] == 2);
  const json three = json::parse(analyze({"--format", "json", "--workers", "3"}, text).out);
  CHECK(three["analyses"][0]["workers"] == 3);
  CHECK(analyze({"--workers", "0"}, text).status == 2);
  run broken = synthetic::fused_run();
  broken.graphs[1].nodes[1].parts = {2, 3};
  const outcome o = analyze({}, synthetic::text(broken));
  CHECK(o.status == 2);
  CHECK(holds(o.err, "block@batch=1,fused"));
}

TEST_CASE("--plan writes how each node should run, whole or not at all") {
  const folder f;
  const std::string path = f / "plan.json";
  run faster = synthetic::fused_run(); // fused, by more than its samples scatter
  for (measurement& m : faster.measurements)
    if (m.family == "Conv+Relu")
      for (double& s : m.samples_ns)
        s *= 0.9;
  const std::string text = synthetic::text(faster);
  const auto nodes = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--plan", path});
    files::remove(path);
    CHECK(analyze(std::move(arguments), text).status == 0);
    return benanza::result::read_plan(f.read("plan.json"), path).graph.nodes.size();
  };
  CHECK(nodes({}) == 5);
  CHECK(nodes({"--fused"}) == 5);
  CHECK(nodes({"--unfused", "--model", "block"}) == 6);
  files::remove(path);
  const auto refused = [&](std::vector<std::string> arguments, const std::string& input,
                           const std::string& part) {
    arguments.insert(arguments.end(), {"--plan", path});
    const outcome o = analyze(std::move(arguments), input);
    CHECK(o.status == 2);
    CHECK(o.out.empty());
    CAPTURE(o.err);
    CHECK(holds(o.err, part));
    CHECK_FALSE(files::exists(path));
  };
  refused({}, synthetic::text(synthetic::small_run()), "layouts are not known");
  refused({"--fused"}, synthetic::text(synthetic::small_run()), "no fused form");
  refused({"--fused", "--unfused"}, text, "--");
  refused({}, synthetic::text(two_models()), "--model");
  run r = synthetic::fused_run();
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "bf16");
  refused({}, synthetic::text(r), "--type");
}

TEST_CASE("layers without a model: a table of them, and no sum") {
  run r = synthetic::small_run();
  r.graphs.clear();
  const outcome o = analyze({}, synthetic::text(r));
  CHECK(o.status == 0);
  CHECK(holds(o.out, "5 layers, no model  f32  1 thread"));
  CHECK(holds(o.out, "645w jit_wino_4x3"));
  CHECK(holds(o.out, "jit_wino_4x3:avx512_core for brgconv:avx512_core"));
  CHECK_FALSE(holds(o.out, "sequential"));
}

TEST_CASE("--layers says how many rows a table has") {
  const std::string text = synthetic::text(synthetic::small_run());
  CHECK(holds(analyze({"--layers", "2"}, text).out, "and 3 more layers"));
  CHECK_FALSE(holds(analyze({"--layers", "all"}, text).out, "more layers"));
  CHECK(analyze({"--layers", "-1"}, text).status == 2);
}

TEST_CASE("--layers all shows all of every table, the advice too") {
  const std::string text = synthetic::text(synthetic::large_run(1, 40, 2, 6));
  CHECK(holds(analyze({}, text).out, "(--layers all shows them)"));
  CHECK_FALSE(holds(analyze({"--layers", "all"}, text).out, "(--layers all shows them)"));
}

TEST_CASE("two runs of the same cases are refused, or said to be merged") {
  const folder f;
  run again = synthetic::small_run();
  for (measurement& m : again.measurements)
    for (double& s : m.samples_ns)
      s *= 0.9;
  const std::string a = f.write("a.json", synthetic::text(synthetic::small_run()));
  const std::string b = f.write("b.json", synthetic::text(again));
  const outcome o = analyze({a, b});
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(benanza::test::one_line(o.err));
  CHECK(holds(o.err, "14 of them, such as Conv/"));
  CHECK(holds(o.err, a + " and " + b));
  CHECK(holds(o.err, "--merge"));
  const outcome merged = analyze({a, b, "--merge"});
  CHECK(merged.status == 0);
  CHECK(holds(merged.out, "MERGED      14 cases that several runs measured"));
  const json report = json::parse(analyze({a, b, "--merge", "--format", "json"}).out);
  CHECK(report["provenance"]["measuring"]["merged_cases"] == "14");
  CHECK_FALSE(holds(analyze({a, a, "--merge"}).out, "MERGED"));
  // Of two models that share layers all samples count.
  again.graphs[0].name = again.graphs[0].model = "another";
  const std::string c = f.write("c.json", synthetic::text(again));
  const outcome shared = analyze({a, c});
  CHECK(shared.status == 0);
  CHECK(holds(shared.out, "MERGED      14 cases that several runs measured"));
  CHECK(holds(shared.out, "another"));
}

TEST_CASE("a run of the whole model that failed is shown, with its reason") {
  const folder f;
  run whole = synthetic::empty_run();
  measurement m;
  m.name = "model/tiny@batch=1/f32/chain/plan/run/t1";
  m.family = "model", m.key = "tiny@batch=1", m.type = "f32", m.backend = "chain";
  m.algorithm = "plan", m.state = "run", m.error = "a node reads a tensor of other dims";
  whole.measurements.push_back(m);
  const std::string a = f.write("a.json", synthetic::text(synthetic::small_run()));
  const std::string b = f.write("b.json", synthetic::text(whole));
  const outcome o = analyze({a, b});
  CHECK(o.status == 1);
  CHECK(holds(o.out, "run         FAILED, unfused: a node reads a tensor of other dims."));
  CHECK(holds(o.out, "PARTIAL     the run of the whole model failed."));
  CHECK(holds(o.err, "the run of the whole model failed: a node reads"));
  const json report = json::parse(analyze({a, b, "--format", "json"}).out);
  CHECK(report["status"] == "partial");
  CHECK(report["analyses"][0]["failed_cases"] == 1);
  CHECK(report["analyses"][0]["failed_runs"][0]["error"] == m.error);
}

TEST_CASE("--models lists what there is, --quiet leaves only the figures") {
  run r = synthetic::fused_run();
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "bf16", 2);
  r.measurements.back().error = "out of memory";
  const std::string text = synthetic::text(r);
  const outcome list = analyze({"--models"}, text);
  CHECK(list.status == 0);
  CHECK(std::count(list.out.begin(), list.out.end(), '\n') == 3);
  const json rows = json::parse(analyze({"--models", "--format", "json"}, text).out);
  REQUIRE(rows.size() == 2);
  CHECK(rows[0]["model"] == "block@batch=1");
  CHECK(rows[0]["fused_form"] == true);
  CHECK(rows[0]["layers"] == 7);
  CHECK(rows[0]["timed_layers"] == 7);
  CHECK(rows[0]["failed_cases"] == 0);
  CHECK(rows[1]["type"] == "bf16");
  CHECK(rows[1]["threads"] == 2);
  CHECK(rows[1]["timed_layers"] == 1);
  CHECK(rows[1]["measured_cases"] == 1);
  CHECK(rows[1]["failed_cases"] == 1);

  const std::string whole = synthetic::text(synthetic::fused_run());
  const outcome quiet = analyze({"-q"}, whole);
  CHECK(quiet.status == 0);
  for (const char* figures : {"block@batch=1  batch 1", "layouts paid for", "coverage    measured"})
    CHECK(holds(quiet.out, figures));
  for (const char* words : {"per layer the least", "Where another", "GFLOP/s", "algorithms  "})
    CHECK_FALSE(holds(quiet.out, words));
  CHECK(holds(analyze({"--quiet"}, synthetic::text(holed_run())).out, "PARTIAL"));
  CHECK_FALSE(holds(analyze({"--quiet"}, synthetic::text(two_models())).out, "holes: "));
}

TEST_CASE("--missing writes the filter for what was not measured") {
  const folder f;
  const std::string path = f / "missing.txt";
  CHECK(analyze({"--missing", path}, synthetic::text(holed_run())).status == 1);
  CHECK(f.read("missing.txt") == "^Relu/1x64x56x56/\n");
  files::remove(path);
  const outcome none = analyze({"--missing", path}, synthetic::text(synthetic::small_run()));
  CHECK(none.status == 2);
  CHECK(holds(none.err, "nothing is missing"));
  CHECK_FALSE(files::exists(path));
}

TEST_CASE("-o writes the whole report or nothing") {
  const folder f;
  const std::string text = synthetic::text(synthetic::small_run());
  const std::string path = f / "report.txt";
  const outcome o = analyze({"-o", path}, text);
  CHECK(o.status == 0);
  CHECK(o.out.empty());
  CHECK(f.read("report.txt") == analyze({}, text).out);

  CHECK(analyze({"-o", path}, "broken").status == 2);
  CHECK(f.read("report.txt") == analyze({}, text).out);
  CHECK(analyze({"-o", "/no/such/folder/report.txt"}, text).status == 2);
  CHECK(analyze({"-o", f.path.string()}, text).status == 0); // a folder: as report.txt in it
  CHECK(f.read("report.txt") == analyze({}, text).out);
  CHECK(analyze({"-o", "/dev/null"}, text).status == 0);
  CHECK(files::is_character_file("/dev/null"));
  CHECK(std::distance(files::directory_iterator(f.path), files::directory_iterator()) == 1);
  CHECK_FALSE(files::exists(f.path.string() + ".part"));
}

TEST_CASE("--help explains itself with status 0; a stream that cannot be written is refused") {
  REQUIRE(analyze({"--help"}).status == 0);
  const std::string help = analyze({"--help"}).out;
  CHECK(holds(help, "--strict"));
  CHECK(help.find("--framework") < help.find("--model"));
  CHECK(help.find("--model") < help.find("--export"));
  for (const char* part :
       {"Examples:", "Formats:\n  text ", "Figures of limits:\n  expected ", "Exit status:"})
    CHECK(holds(help, part));
  CHECK_FALSE(holds(help, " ...\n"));
  CHECK_FALSE(holds(help, "TEXT"));
  std::istringstream in(synthetic::text(synthetic::small_run()));
  std::ostringstream out, err;
  out.setstate(std::ios::badbit);
  CHECK(benanza::analyzer::analyze({}, in, out, err) == 2);
  CHECK(holds(err.str(), "cannot be written"));
}

TEST_CASE("thirty models with eight thousand cases take a moment") {
  const std::string text = synthetic::text(synthetic::large_run(30, 1000, 4, 40));
  const auto start = std::chrono::steady_clock::now();
  CHECK(analyze({}, text).status == 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  MESSAGE("read and analysed " << text.size() / 1'000'000 << " MB in " << took.count() << " s");
}

TEST_CASE("thirty residual networks, fused and with layouts, take a moment") {
  run r = synthetic::fused_run();
  const auto unfused = r.graphs[0], fused = r.graphs[1];
  r.graphs.clear();
  constexpr int models = 30, blocks = 40;
  for (int m = 0; m < models; ++m) {
    auto g = unfused, h = fused;
    g.nodes.clear();
    h.nodes.clear();
    g.name = g.model = "net" + std::to_string(m);
    h.name = g.name + ",fused";
    h.unfused = g.name;
    // A chain of blocks: each reads the last node of the one before.
    const auto append = [&](auto& to, const auto& from, int parts) {
      const int first = static_cast<int>(to.nodes.size());
      for (auto n : from.nodes) {
        if (n.op == "Softmax") continue;
        for (auto& o : n.operands)
          o.node = o.node >= 0 ? o.node + first : o.node == -1 && first > 0 ? first - 1 : o.node;
        n.inputs = benanza::model::inputs_of(n.operands);
        for (int& p : n.parts)
          p += parts;
        to.nodes.push_back(std::move(n));
      }
    };
    for (int i = 0; i < blocks; ++i) {
      append(h, fused, static_cast<int>(g.nodes.size()));
      append(g, unfused, 0);
    }
    r.graphs.push_back(std::move(g));
    r.graphs.push_back(std::move(h));
  }
  const std::string text = synthetic::text(r);
  const auto start = std::chrono::steady_clock::now();
  CHECK(analyze({}, text).status == 0);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  MESSAGE("30 models of " << 5 * blocks << " nodes in " << took.count() << " s");
}

TEST_CASE("the program: pipes, a reader that goes away, a full disk") {
  const std::string binary = BENANZA_ANALYZE_BINARY;
  if (binary.empty()) {
    MESSAGE("skipped: benanza_analyze is not built");
    return;
  }
  using benanza::test::shell;
  const folder f;
  const std::string path = f.write("run.json", synthetic::text(synthetic::large_run(4, 200, 2, 4)));
  const auto piped = shell(binary + " <" + path);
  CHECK(piped.status == 0);
  CHECK(piped.err.empty());
  CHECK(holds(piped.out, "model3 "));
  const auto headed = shell("{ " + binary + " " + path + " --format json; echo $? >" +
                            (f / "status") + "; } | head -c 1");
  CHECK(headed.err.empty());
  CHECK(f.read("status") == "0\n");
  for (const char* full : {" --help >/dev/full", " -o /dev/full", " >/dev/full"}) {
    const auto refused = shell(binary + " " + path + full);
    CHECK(refused.status == 2);
    CHECK(benanza::test::one_line(refused.err));
    CHECK(holds(refused.err, "cannot be written"));
  }
  CHECK(shell(binary + " --nonsense").status == 2);
}

TEST_CASE("times of a CPU and of a GPU are two answers: one has to be chosen") {
  folder f;
  run r = synthetic::small_run();
  const std::size_t count = r.measurements.size();
  for (std::size_t i = 0; i < count; ++i) {
    measurement m = r.measurements[i];
    if (m.family == "machine") continue;
    m.backend = "cudnn";
    m.min_ns /= 10, m.p10_ns /= 10, m.median_ns /= 10, m.p90_ns /= 10;
    for (double& s : m.samples_ns)
      s /= 10;
    r.measurements.push_back(m);
  }
  const std::string file = f.write("both.json", synthetic::text(r));
  const outcome both = analyze({file});
  CHECK(both.status == 2);
  CHECK(both.out.empty());
  CHECK(holds(both.err, "choose with --device cpu or --device gpu"));
  const auto bound = [&](const std::string& device) {
    const outcome o = analyze({file, "--device", device, "--format", "json"});
    return json::parse(o.out)
        .at("analyses")
        .at(0)
        .at("bound")
        .at("sequential")
        .at("ns")
        .get<double>();
  };
  CHECK(bound("gpu") < bound("cpu"));
  // With only a GPU's times nothing has to be chosen, and no fact of the host's is taken for its.
  std::erase_if(r.measurements,
                [](const measurement& m) { return m.family != "machine" && m.backend != "cudnn"; });
  r.provenance["machine"]["cpu"] = "a host's processor";
  r.provenance["software"]["cudnn_gpu"] = "NVIDIA H200";
  const outcome gpu_only = analyze({f.write("gpu.json", synthetic::text(r))});
  CHECK(gpu_only.status != 2);
  CHECK(holds(gpu_only.out, "NVIDIA H200,"));
  CHECK_FALSE(holds(gpu_only.out, "a host's processor"));
  const std::string cpu_only = f.write("cpu.json", synthetic::text(synthetic::small_run()));
  CHECK(analyze({cpu_only, "--device", "cpu"}).status == analyze({cpu_only}).status);
  CHECK(analyze({cpu_only, "--device", "gpu"}).status == 2);
}
