// SPDX-License-Identifier: Apache-2.0
// The command compare: results that are the same but for chance, a kernel that became slower, what
// can explain it, and what cannot be compared.
#include "../result/document.hpp"
#include "command.hpp"

#include <benanza/result/json.hpp>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

namespace test_of_compare {

using benanza::result::json;
using benanza::result::measurement;
using benanza::result::run;
using benanza::test::analyze;
using benanza::test::holds;
using benanza::test::outcome;
using benanza::test::scratch_folder;

std::string compared_file(const std::string& file, const run& r) {
  std::ofstream(file) << synthetic::text(r);
  return file;
}

void scale(measurement& m, double factor) {
  for (double& s : m.samples_ns)
    s *= factor;
  m.min_ns = 0;
  benanza::result::recompute(m);
}

/// A start of the benchmark: each case as ever but for a few tenths of a percent.
run visit(std::uint64_t seed, double clock_ns = 1000) {
  run r = synthetic::small_run();
  synthetic::random dice{seed * 7919 + 1};
  double hot_ns = 0; // what follows the clock, of the cold case after it too
  for (measurement& m : r.measurements) {
    scale(m, 1 + 0.003 * (dice.unit() + dice.unit() - 1));
    if (m.state == "hot") hot_ns = m.median_ns;
    scale(m, 1 + (clock_ns / 1000 - 1) * hot_ns / m.median_ns);
    m.count = 200;
    m.stop_reason = "minimum settled";
    m.clock_ns = m.min_clock_ns = clock_ns;
  }
  return r;
}

run slower(run r, const std::string& algorithm, double factor) {
  for (measurement& m : r.measurements)
    if (m.algorithm.starts_with(algorithm)) scale(m, factor);
  return r;
}

json comparison(std::vector<std::string> words, int status) {
  words.insert(words.begin(), "compare");
  words.insert(words.end(), {"--format", "json"});
  const outcome o = analyze(words);
  CHECK(o.status == status);
  CAPTURE(o.err);
  return json::parse(o.out);
}

void refused_comparison(const std::vector<std::string>& words, const std::string& part) {
  std::vector<std::string> all{"compare"};
  all.insert(all.end(), words.begin(), words.end());
  const outcome o = analyze(all);
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(o.out.empty());
  CHECK(benanza::test::one_line(o.err));
  CHECK(holds(o.err, part));
}

TEST_CASE("compare: two starts of one program are the same, at another clock too") {
  const scratch_folder f("compare_same");
  const std::string a = compared_file(f / "a.json", visit(1));
  for (const double clock_ns : {1000.0, 1100.0}) {
    const json j = comparison({a, compared_file(f / "b.json", visit(2, clock_ns))}, 0);
    CHECK(j["verdict"] == "SAME");
    CHECK(j["at_one_clock"] == true);
    CHECK(j["models"][0]["what"] == "bound");
    CHECK(std::abs(j["models"][0]["change"].get<double>()) < 0.01);
    for (const char* kind : {"models", "layers", "algorithms"})
      for (const json& row : j[kind]) {
        INFO(row.dump());
        CHECK(row["verdict"] == "SAME");
      }
    CHECK(j["one_sided"].empty());
    CHECK(j["provenance"].empty());
  }
  const outcome o = analyze({"compare", a, a});
  CHECK(o.status == 0);
  CHECK(o.out.starts_with("SAME"));
  CHECK(o.err.empty());
}

TEST_CASE(
    "compare: a kernel that is 5 % slower is found, what it weighs, and what can explain it") {
  const scratch_folder f("compare_slower");
  run now = slower(visit(2), "jit_wino", 1.05);
  now.provenance["software"]["onednn_version"] = "3.7\x1b[31m";
  now.provenance["software"]["host_kernels"] = "6";
  now.provenance["measuring"]["date"] = "2025-01-01";
  const std::string a = compared_file(f / "a.json", visit(1)), b = compared_file(f / "b.json", now);
  const json j = comparison({a, b}, 3);
  CHECK(j["verdict"] == "SLOWER");
  const json& worst = j["layers"][0];
  CHECK(worst["subject"] == synthetic::conv);
  CHECK(worst["verdict"] == "SLOWER");
  CHECK(worst["change"].get<double>() == doctest::Approx(0.05).epsilon(0.1));
  CHECK(worst["in_model"] == "tiny@batch=1");
  CHECK(worst["effect_ns"].get<double>() == doctest::Approx(2 * 0.05 * 350e3).epsilon(0.1));
  CHECK(j["models"][0]["verdict"] == "SLOWER"); // two thirds of it
  CHECK(j["provenance"][0]["fact"] == "software.host_kernels");
  CHECK(j["provenance"][0]["explains_layers"] == 0); // none of ours changed
  CHECK(j["provenance"][1]["explains_layers"].get<int>() > 0);
  CHECK(j["provenance"].size() == 2); // a date explains nothing
  const outcome text = analyze({"compare", a, b});
  CHECK(text.status == 3);
  CHECK(text.out.starts_with("SLOWER"));
  CHECK(holds(text.out, "software.onednn_version: 2.6.3 -> 3.7?[31m"));
  CHECK(benanza::test::one_line(text.err));
  CHECK(comparison({b, a}, 0)["verdict"] == "FASTER");
  CHECK(comparison({a, b, "--min-change", "10%"}, 0)["verdict"] != "SLOWER");
}

TEST_CASE("compare: one short layer of one start is not believed alone") {
  const scratch_folder f("compare_short_layer");
  const std::string a = compared_file(f / "a.json", visit(1)),
                    b = compared_file(f / "b.json", slower(visit(2), "jit:avx512_core", 1.09));
  const json j = comparison({a, b}, 0);
  CHECK(j["models"][0]["verdict"] == "SAME");
  bool seen = false;
  for (const json& row : j["layers"])
    if (row["subject"] == synthetic::relu && row["what"] == "alone") {
      seen = true;
      CHECK(row["change"].get<double>() > 0.07);
      CHECK(row["verdict"] == "UNSURE");
      CHECK(row["uncorroborated"] == true);
    }
  CHECK(seen);
}

TEST_CASE("compare: further results and repetitions are visits; parts of a run make one") {
  const scratch_folder f("compare_visits");
  std::vector<std::string> words{compared_file(f / "a1.json", visit(1)),
                                 compared_file(f / "b1.json", slower(visit(2), "jit_wino", 1.03))};
  for (int i = 2; i < 5; ++i) {
    const std::string n = std::to_string(i) + ".json";
    const auto seed = static_cast<std::uint64_t>(10 * i);
    words.insert(words.end(), {"--old", compared_file(f / ("a" + n), visit(seed))});
    words.insert(words.end(), {"--new", compared_file(f / ("b" + n),
                                                      slower(visit(seed + 1), "jit_wino", 1.03))});
  }
  json j = comparison(words, 3);
  CHECK(j["old"]["visits"] == 4);
  CHECK(j["layers"][0]["new_visits"] == 4);
  CHECK(j["layers"][0]["change"].get<double>() == doctest::Approx(0.03).epsilon(0.1));
  run twice = visit(5);
  for (const measurement& m : visit(6).measurements)
    twice.measurements.push_back(m);
  j = comparison({words[0], compared_file(f / "twice.json", twice)}, 0);
  CHECK(j["new"]["visits"] == 2);
  run first = visit(7), second = first;
  std::erase_if(first.measurements, [](const measurement& m) { return m.family == "Conv"; });
  std::erase_if(second.measurements, [](const measurement& m) { return m.family != "Conv"; });
  j = comparison({words[0], compared_file(f / "first.json", first), "--new",
                  compared_file(f / "second.json", second)},
                 0);
  CHECK(j["new"]["visits"] == 1);
  CHECK(j["models"][0]["verdict"] == "SAME");
}

TEST_CASE("compare: interference leaves it unsure; what came, went and fails is named") {
  const scratch_folder f("compare_unsure");
  run now = slower(visit(2), "jit_wino", 1.06);
  for (measurement& m : now.measurements)
    m.disturbed = "others used the machine";
  const std::string a = compared_file(f / "a.json", visit(1)), b = compared_file(f / "b.json", now);
  json j = comparison({a, b}, 0);
  CHECK(j["verdict"] == "UNSURE");
  CHECK(j["models"][0]["interference"] == true);
  CHECK(analyze({"compare", a, b, "--strict"}).status == 1);
  // One whose own calibration was disturbed, as the other one knows.
  now = slower(visit(2), "", 1.2);
  now.provenance["measuring"]["begin_ratio"] = "0.37";
  run was = visit(1);
  was.provenance["measuring"]["begin_ratio"] = "0.20";
  j = comparison({compared_file(f / "c.json", was), compared_file(f / "d.json", now)}, 0);
  CHECK(j["verdict"] == "UNSURE");

  now = visit(3);
  now.graphs.push_back(synthetic::make_graph("other@batch=1", {synthetic::relu}, {{}}));
  std::erase_if(now.measurements,
                [](const measurement& m) { return m.algorithm.starts_with("jit_1x1"); });
  for (measurement& m : now.measurements)
    if (m.algorithm == "ref:any") m.error = "crashed\n\x1b";
  const outcome o = analyze({"compare", a, compared_file(f / "e.json", now)});
  CHECK(holds(o.out, "gone    algorithm onednn/jit_1x1:avx512_core of Conv/1x512x7x7"));
  CHECK(holds(o.out, "new     model other@batch=1 f32"));
  CHECK(holds(o.out, "fails   failure onednn/ref:any"));
  CHECK_FALSE(holds(o.out, "\x1b"));
}

TEST_CASE("compare: Markdown and JUnit take names of strangers as text") {
  const scratch_folder f("compare_formats");
  run was = visit(1), now = slower(visit(2), "jit_wino", 1.1);
  for (run* r : {&was, &now})
    r->graphs[0].name = "ti<b>|&\"ny@batch=1";
  const std::string a = compared_file(f / "a.json", was), b = compared_file(f / "b.json", now);
  const outcome xml = analyze({"compare", a, b, "--format", "junit"});
  CHECK(xml.status == 3);
  CHECK(holds(xml.out, "<failure message=\"SLOWER: "));
  CHECK(holds(xml.out, "ti&lt;b&gt;|&amp;&quot;ny@batch=1"));
  const outcome md = analyze({"compare", a, b, "--format", "md", "-o", f / "out.md"});
  CHECK(md.status == 3);
  CHECK(holds(benanza::test::text_of(f / "out.md"), "ti&lt;b&gt;\\|&amp;\"ny@<!-- -->batch=1"));
}

TEST_CASE("compare: what cannot be compared is refused in one line") {
  const scratch_folder f("compare_refused");
  run other = visit(2);
  for (measurement& m : other.measurements)
    m.type = m.equivalence = "bf16";
  const std::string a = compared_file(f / "a.json", visit(1)),
                    b = compared_file(f / "b.json", other);
  refused_comparison({a, b}, "no case in common");
  refused_comparison({a, b}, "f32 on 1 thread");
  refused_comparison({a}, "only a store holds both");
  refused_comparison({}, "two sides are needed");
  refused_comparison({a, a, a}, "more than two sides");
  refused_comparison({a, a, "--min-change", "2"}, "write --min-change 2%");
  refused_comparison({a, a, "--within", "nan%"}, "--within");
  refused_comparison({a, f / "none.json"}, "none.json");
  refused_comparison({a, a, "--model", "none"}, "no model is called");
  refused_comparison({a, a, "--rows", "x"}, "--rows");
  refused_comparison({a, a, "--since", "2025"}, "--since splits one store");
  refused_comparison({a, a, "--format", "yaml"}, "yaml");
}

TEST_CASE("compare: two systems, and two spans of time, of one store") {
  const scratch_folder f("compare_store");
  const std::string store = f / "results.db";
  const auto import = [&](run r, const char* date, const char* version) {
    r.provenance["measuring"]["date"] = date;
    r.provenance["software"]["onednn_version"] = version;
    return analyze({"--import", compared_file(f / "one.json", r), "--store", store}).status;
  };
  if (import(visit(1), "2026-01-01", "2.6") == 2) return; // without SQLite
  refused_comparison({store}, "holds one system");
  REQUIRE(import(visit(2), "2026-01-02", "2.6") == 0);
  REQUIRE(import(slower(visit(3), "jit_wino", 1.06), "2026-01-03", "3.7") == 0);
  json j = comparison({store}, 3);
  CHECK(j["old"]["visits"] == 2);
  CHECK(j["new"]["visits"] == 1);
  CHECK(j["layers"][0]["subject"] == synthetic::conv);
  CHECK(j["provenance"][0]["fact"] == "software.onednn_version");
  CHECK(comparison({store, "--system", "2", "--against", "1"}, 0)["verdict"] == "FASTER");
  CHECK(comparison({store, "--system", "1", "--since", "2026-01-02"}, 0)["verdict"] == "SAME");
  refused_comparison({store, "--system", "1", "--against", "1"}, "with itself");
  refused_comparison({store, "--system", "1", "--against", "7"}, "no system \"7\"");
  refused_comparison({store, "--system", "1"}, "which two systems?");
  refused_comparison({store, "--system", "1", "--since", "2030"}, "no run since that time");
}

/// A file of measure_framework: two operators, of which the second takes `factor` as long, on a
/// machine that is `drift` slower now.
std::string framework_run(const std::string& file, double drift, double factor,
                          const std::string& version = "1.0") {
  std::string events;
  int ts = 0;
  const auto event = [&](const char* cat, const std::string& name, double us, const char* node) {
    events += fmt::format(
        R"({}{{"cat":"{}","pid":1,"tid":1,"dur":{},"ts":{},"ph":"X","name":"{}","args":{{"op_name":"{}","provider":"CPUExecutionProvider","node_index":"{}"}}}})",
        events.empty() ? "" : ",", cat, std::lround(us), ts, name, node, node);
  };
  for (int i = 0; i < 4; ++i) {
    const double conv = 1000 * drift, fc = 1000 * factor * drift;
    event("Session", "model_run", conv + fc + 20, "0");
    ts += 10;
    event("Node", "conv_kernel_time", conv, "0");
    ts += static_cast<int>(conv) + 5;
    event("Node", "fc\\u001b[31m_kernel_time", fc, "1");
    ts += static_cast<int>(fc) + 100;
  }
  const double run = 1e6 * (1 + factor) * drift;
  std::ofstream(file) << fmt::format(
      R"({{"schema":"benanza-framework","schema_version":3,"framework":"onnxruntime","framework_version":"{}",
"model":{{"file":"m.onnx"}},"options":{{"threads":1,"batch":1,"precision":"f32"}},"machine":{{"processor":"P","cpus":2}},
"samples_ns":[{},{},{}],"traces":[{{"format":"onnxruntime-profile","json":[{}]}}]}})",
      version, run, run, run, events);
  return file;
}

/// Both sides of six turns, while the machine changes by a third.
std::vector<std::string> turns(const scratch_folder& f, double factor,
                               const std::string& version = "1.0") {
  synthetic::random dice{3};
  std::vector<std::string> out{"--in-turns"};
  for (int i = 0; i < 6; ++i) {
    const double drift = 1 + 0.3 * dice.unit();
    const auto one = [&](const char* side, double its, const std::string& of) {
      out.push_back(std::string("--") + side);
      out.push_back(framework_run(f / (side + std::to_string(i) + ".json"),
                                  drift * (1 + 0.002 * dice.unit()), its, of));
    };
    one("old", 1, "1.0");
    one("new", factor, version);
  }
  return out;
}

TEST_CASE("compare: an operator of a framework that is 5 % slower is found in turns") {
  const scratch_folder f("compare_turns");
  const std::vector<std::string> words = turns(f, 1.05, "1.1");
  const json j = comparison(words, 3);
  REQUIRE(j["layers"].size() == 2);
  CHECK(j["layers"][0]["subject"] == "fc\u001b[31m");
  CHECK(j["layers"][0]["verdict"] == "SLOWER");
  CHECK(j["layers"][0]["change"].get<double>() == doctest::Approx(0.05).epsilon(0.1));
  CHECK(j["layers"][0]["effect_share"].get<double>() == doctest::Approx(0.025).epsilon(0.1));
  CHECK(j["layers"][1]["verdict"] == "SAME");
  CHECK(j["models"][0]["change"].get<double>() == doctest::Approx(0.025).epsilon(0.1));
  CHECK(j["models"][0]["verdict"] == "SLOWER");
  for (const char* kind : {"models", "layers"})
    for (const json& row : j[kind])
      CHECK(row["new_ns"].get<double>() / row["old_ns"].get<double>() ==
            doctest::Approx(1 + row["change"].get<double>()));
  REQUIRE(j["provenance"].size() == 1);
  CHECK(j["provenance"][0]["new"] == "onnxruntime 1.1");

  std::vector<std::string> in_text{"compare"};
  in_text.insert(in_text.end(), words.begin(), words.end());
  const outcome text = analyze(in_text);
  CHECK(text.status == 3);
  CHECK(text.out.starts_with("SLOWER  1 of 1 runs, 1 of 2 operators"));
  CHECK(holds(text.out, "fc?[31m"));
  CHECK(!holds(text.out, "\u001b"));

  std::vector<std::string> apart(words.begin() + 1, words.end());
  CHECK(comparison(apart, 0)["verdict"] == "UNSURE"); // the machine changes by more
}

TEST_CASE("compare: equal runs of a framework in turns are the same") {
  const scratch_folder f("compare_equal_turns");
  const json j = comparison(turns(f, 1), 0);
  CHECK(j["verdict"] == "SAME");
  CHECK(j["provenance"].empty());
  CHECK(j["notes"].empty());
}

TEST_CASE("compare: a time that lacks in a turn is named as judged without turns") {
  const scratch_folder f("compare_lacking_turn");
  const std::vector<std::string> words = turns(f, 1);
  std::string text = benanza::test::text_of(f / "old2.json");
  for (std::size_t at; (at = text.find("conv_kernel")) != std::string::npos;)
    text.replace(at, 4, "pool");
  std::ofstream(f / "old2.json") << text;
  const json j = comparison(words, 0);
  REQUIRE(j["notes"].size() == 1);
  CHECK(j["notes"][0] == "1 time lacks in some turns: it is judged as if not measured in turns");
}

TEST_CASE("compare: what is no pair, and what no framework's run is beside one that is") {
  const scratch_folder f("compare_no_turns");
  const std::string a = framework_run(f / "a.json", 1, 1), b = framework_run(f / "b.json", 1, 1),
                    other = framework_run(f / "c.json", 1, 1, "2.0"),
                    result = compared_file(f / "r.json", visit(1));
  refused_comparison({a, b, "--old", a, "--in-turns"}, "2 old ones and 1 new ones");
  refused_comparison({a, b, "--in-turns"}, "one turn tells nothing");
  refused_comparison({result, result, "--in-turns"}, "one turn tells nothing");
  refused_comparison({a, result}, "this is no profile");
  refused_comparison({a, b, "--new", other}, "different models, frameworks or settings");
  refused_comparison({a, b, "--threads", "1"}, "leave them out");
  refused_comparison({a, b, "--model", "m"}, "--model");
}
} // namespace test_of_compare
