// SPDX-License-Identifier: Apache-2.0
// Does the command do what its help says? Arguments in; exit status, report and one line of error
// out.
#include "runs.hpp"

namespace test_of_analyze {
using namespace analyzed;

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
    const double is = swept["points"][0]["value"].get<double>();
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
} // namespace test_of_analyze
