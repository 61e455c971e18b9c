// SPDX-License-Identifier: Apache-2.0
// What else does the command write, and how does it end? Plans, lists, files; large runs; the
// program itself, where it is built.
#include "runs.hpp"

namespace test_of_outputs {
using namespace analyzed;

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

TEST_CASE("--models lists what there is, --quiet leaves only the figures") {
  run r = synthetic::fused_run();
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "bf16", 2);
  r.measurements.back().error = "out of memory";
  const std::string text = synthetic::text(r);
  const outcome list = analyze({"--models"}, text);
  CHECK(list.status == 0);
  CHECK(std::count(list.out.begin(), list.out.end(), '\n') == 3);
  const json rows = json::parse(analyze({"--models", "--format", "json"}, text).out)["models"];
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
} // namespace test_of_outputs
