// SPDX-License-Identifier: Apache-2.0
// benanza_bench as a user runs it, on the checked-in sample (LeNet).
#include "../fake_powercap.hpp"
#include "../measure/fragile.hpp"

#include <benanza/result/stop_reason.hpp>
#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <thread>

using namespace benanza::test;
using nlohmann::json;

namespace {
const std::string bench_program = BENANZA_BENCH_BINARY;
const std::string quick = " --benchmark_min_time=0.002 ";

/// One that was added with BACKENDS and TYPES, where it could be generated.
const std::string chosen_program = BENANZA_CHOSEN_BINARY;
bool has_chosen() {
  return !chosen_program.empty();
}

void refused(const std::string& arguments, const std::string& word) {
  const outcome o = shell(bench_program + " " + arguments);
  CAPTURE(arguments);
  CAPTURE(o.err);
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(o.out.empty());
  CHECK(o.err.find(word) != std::string::npos);
}
} // namespace

TEST_CASE("the names of the cases are listed, each once") {
  const outcome o = shell(bench_program + " --benchmark_list_tests");
  REQUIRE(o.status == 0);
  std::set<std::string> names;
  std::istringstream lines(o.out);
  for (std::string line; std::getline(lines, line);) {
    CHECK(names.insert(line).second);
    CHECK(std::count(line.begin(), line.end(), '/') == 6);
  }
  CHECK(o.out.find("Conv/1x1x28x28-8x5x5-s1-p2/f32/onednn/") != std::string::npos);
}

TEST_CASE("the list is of what would run here, or there") {
  const std::string here = shell(bench_program + " --benchmark_list_tests").out;
  CHECK(holds(here, "/host/"));
  if (std::filesystem::exists("/dev/nvidiactl") ||
      !holds(shell(bench_program + " --version").out, "cudnn"))
    return;
  CHECK_FALSE(holds(here, "/cudnn/"));
  CHECK_FALSE(holds(here, "/cuda/"));
  const std::string there = shell(bench_program + " --benchmark_list_tests --target t4").out;
  CHECK(holds(there, "/cudnn/"));
  CHECK(holds(there, "/host/"));
  refused("--target t4", "--benchmark_list_tests"); // it would be measured here
}

TEST_CASE("BACKENDS and TYPES of benanza_add_benchmarks are what is measured by default" *
          doctest::skip(!has_chosen())) {
  const outcome own = shell(chosen_program + " --benchmark_list_tests");
  CHECK(own.status == 0);
  CHECK(holds(own.out, "/f32/onednn/"));
  CHECK(holds(own.out, "/bf16/onednn/"));
  CHECK_FALSE(holds(own.out, "/host/"));
  const outcome said =
      shell(chosen_program + " --benchmark_list_tests --backends host --types f32");
  CHECK(said.status == 0);
  CHECK(holds(said.out, "/f32/host/"));
  CHECK_FALSE(holds(said.out, "/onednn/"));
  CHECK_FALSE(holds(said.out, "/bf16/"));
  const outcome without =
      shell(chosen_program + " --benchmark_list_tests --backends=-onednn --types f32");
  CHECK(without.status == 0);
  CHECK(without.out == said.out);
}

TEST_CASE("the models of the program are listed, each on a line") {
  const outcome o = shell(bench_program + " --models");
  CHECK(o.status == 0);
  CHECK(o.out == "name                 batch    type   nodes  layers\n"
                 "lenet@batch=1            1     f32      11      11\n"
                 "lenet@batch=1,fused      1     f32       6       6\n");
  CHECK(holds(shell(bench_program + " --model nobody").err,
              "it holds \"lenet@batch=1\" and \"lenet@batch=1,fused\""));
}

/// A plan for one thread, from a run that is written there.
static std::string plan_of_lenet(const scratch_folder& s, const std::string& run) {
  REQUIRE(shell(bench_program + quick +
                "-q --backends host,onednn --benchmark_filter='^[A-Z][A-Za-z]*/|^reorder' "
                "--states hot,coldw --benchmark_out=" +
                run)
              .status == 0);
  shell(BENANZA_ANALYZE_BINARY " " + run + " --model lenet --unfused --plan " + (s / "plan.json"));
  return s / "plan.json";
}

TEST_CASE("a plan's weights are loaded in each way, also by clients that begin at once") {
  const scratch_folder s("clients");
  const std::string run = s / "run.json", plan = plan_of_lenet(s, run), load = s / "load.json";
  const outcome o =
      shell(bench_program + quick + "--plan " + plan + " --load --benchmark_out=" + load);
  CAPTURE(o.err);
  CHECK(o.status <= 1); // where the file system keeps its pages no disk is read
  std::map<std::string, json> rows;
  const json result = json::parse(text_of(load));
  for (const json& row : result.at("benchmarks"))
    rows[row.at("algorithm")] = row;
  for (const int clients : {1, 2})
    for (const std::string side : {"private:", "shared:"}) {
      CAPTURE(side);
      const json& row = rows.at(side + std::to_string(clients));
      CHECK_FALSE(row.contains("error_message"));
      CHECK(row.at("parts").size() == static_cast<std::size_t>(clients));
      CHECK(row.at("weight_bytes").get<std::int64_t>() > 0);
    }
  const outcome page = shell(BENANZA_ANALYZE_BINARY " coldstart " + run + " " + load);
  CAPTURE(page.err);
  CHECK(page.status == 0);
  for (const char* part : {"clients", "held, private", "from the page cache"})
    CHECK_MESSAGE(holds(page.out, part), part, "\n", page.out);
}

TEST_CASE("a variable that only a client finds is refused in one line") {
  const outcome o = shell("BENANZA_CLIENT=odd " + bench_program + " --benchmark_list_tests");
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(holds(o.err, "BENANZA_CLIENT"));
}

TEST_CASE("a plan for one thread runs wherever one core is allowed") {
  if (shell("taskset -c 0,1 true").status != 0) return; // there is one
  const scratch_folder s("plan_core");
  const std::string run = s / "run.json", plan = plan_of_lenet(s, run), whole = s / "whole.json";
  const outcome one = shell("taskset -c 0 " + bench_program + quick + "--plan " + plan +
                            " --benchmark_out=" + whole);
  CAPTURE(one.err);
  CHECK(one.status == 0);
  // It belongs to the result that the plan came from.
  CHECK_FALSE(holds(shell(BENANZA_ANALYZE_BINARY " " + run + " " + whole).err, "provenance"));
}

TEST_CASE("a link is written through, and stays") {
  const scratch_folder s("link");
  std::filesystem::create_symlink("real.json", s / "run.json");
  REQUIRE(
      shell(bench_program + quick + "--benchmark_filter=^Relu --benchmark_out=" + (s / "run.json"))
          .status == 0);
  CHECK(std::filesystem::is_symlink(s / "run.json"));
  CHECK(json::accept(text_of(s / "real.json")));
}

TEST_CASE("cases have the energy that the packages' counters give, in a process of their own too") {
  using clock = std::chrono::steady_clock;
  fake_powercap fake;
  fake.zone("intel-rapl:0", "package-0", 0);
  const std::jthread counts([&fake](const std::stop_token& over) { // 30 W
    for (const auto began = clock::now(); !over.stop_requested();) {
      fake.set("intel-rapl:0",
               static_cast<std::uint64_t>(
                   30e6 * std::chrono::duration<double>(clock::now() - began).count()));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  const auto measured = [&](const std::string& folder, const std::string& options) {
    // Others may use the machine as they like.
    const outcome o = shell("BENANZA_POWERCAP=" + folder + ' ' + bench_program +
                            " -q --benchmark_format=json --backends onednn --states hot "
                            "--benchmark_filter='^Conv/1x1x28x28.*jit' --set most_waiting=1e9 "
                            "--set most_other_load=1e9 --set most_clock_loss=1e9 "
                            "--set most_smt_loss=1e9 --set most_memory_loss=1e9 "
                            "--set energy_busy=1e-9 --set energy_alike=1e9 " +
                            options);
    CAPTURE(o.err);
    CHECK(o.status <= 1);
    return json::parse(o.out);
  };
  const auto fact = [](const json& j) -> std::string {
    return j.at("context").at("benanza").at("provenance").at("measuring").at("energy");
  };
  const auto with_energy = [](const json& j) {
    int n = 0;
    for (const json& b : j.at("benchmarks")) {
      if (!b.contains("energy_nj")) continue;
      const double watts = b.at("energy_nj").get<double>() / b.at("median_ns").get<double>();
      CHECK(watts > 3);
      CHECK(watts < 300);
      ++n;
    }
    return n;
  };
  for (const char* isolated : {"--isolate=false", "--isolate"}) {
    const json j = measured(fake.folder(), std::string("--benchmark_min_time=0.06 ") + isolated);
    CHECK(with_energy(j) > 0);
    CHECK(fact(j) == "of the processor's package (RAPL)");
  }
  const json brief = measured(fake.folder(), "--benchmark_min_time=0.01");
  CHECK(with_energy(brief) == 0);
  CHECK(fact(brief) == "none: cases are sampled for 0.01 s, and the counter needs 0.05 s: "
                       "--benchmark_min_time=0.05");
  const json nowhere = measured("/nonexistent", "--benchmark_min_time=0.06");
  CHECK(with_energy(nowhere) == 0);
  CHECK(fact(nowhere) == "none: no RAPL in /nonexistent");
}

TEST_CASE("the JSON is Google Benchmark's, with our fields") {
  const outcome o =
      shell(bench_program + quick + "--benchmark_format=json --benchmark_filter=Conv");
  CAPTURE(o.err);
  REQUIRE(o.status == 0);
  const json j = json::parse(o.out);
  const json& ours = j.at("context").at("benanza");
  CHECK(ours.at("schema") == 1);
  CHECK(ours.at("graphs").at(0).at("name") == "lenet@batch=1");
  const json& p = ours.at("provenance");
  for (const char* fact : {"cpu", "cores", "llc_bytes"})
    CHECK_FALSE(p.at("machine").at(fact).get<std::string>().empty());
  CHECK(p.at("measuring").at("OMP_PROC_BIND") == "true");
  // Some containers forbid it.
  const std::string addresses = p.at("measuring").at("addresses");
  CHECK((addresses == "fixed" || addresses == "random"));
  const std::string allocator = p.at("measuring").at("allocator");
  CHECK(allocator.find("glibc.malloc.hugetlb=1") != std::string::npos);
  std::set<std::string> states;
  for (const json& b : j.at("benchmarks")) {
    CHECK(b.at("family").get<std::string>().starts_with("Conv"));
    CHECK(b.at("name").get<std::string>().find("/iterations") == std::string::npos);
    CHECK(b.at("real_time").get<double>() * 1000 ==
          doctest::Approx(b.at("median_ns").get<double>()).epsilon(1e-3));
    CHECK(b.at("min_ns") <= b.at("p10_ns"));
    CHECK(b.at("p10_ns") <= b.at("median_ns"));
    CHECK(b.at("median_ns") <= b.at("p90_ns"));
    // Who loses a race, or ends in noise, may have fewer samples than others, but never none.
    const auto why = b.at("stop_reason").get<std::string>();
    const bool cut_short = benanza::result::was_raced_out(why) ||
                           why == benanza::result::fewest_samples || b.contains("disturbed");
    CHECK(b.at("samples_ns").size() >= (cut_short ? 1 : 4));
    CHECK(b.at("flops").get<std::int64_t>() > 0);
    states.insert(b.at("state").get<std::string>());
    if (b.at("state") == "coldw") CHECK(b.at("pool_bytes").get<std::int64_t>() > 1 << 20);
  }
  CHECK(states.contains("hot"));
  CHECK((states.contains("coldw") || states.contains("llcw"))); // as large as our last cache is
}

TEST_CASE("one thread is bound to one processor") {
  const outcome o =
      shell(bench_program + quick + "--benchmark_format=json --benchmark_filter=MatMul");
  REQUIRE(o.status == 0);
  const std::string bound =
      json::parse(o.out)["context"]["benanza"]["provenance"]["measuring"]["bound_to"];
  CHECK(bound.find(',') == std::string::npos);
}

TEST_CASE("a file appears whole, under its name only") {
  const scratch_folder s("bench");
  const std::string file = s / "run.json";
  const outcome o =
      shell(bench_program + quick + "--benchmark_filter=Relu --benchmark_out=" + file);
  REQUIRE(o.status == 0);
  CHECK(json::parse(text_of(file)).at("benchmarks").size() > 0);
  CHECK(std::distance(std::filesystem::directory_iterator(s.path), {}) == 1);
  CHECK(o.out.find("Relu/") != std::string::npos); // the console shows it too
}

TEST_CASE("repetitions are rows of their own, also in random order") {
  for (const char* order : {"false", "true"}) {
    const outcome o = shell(bench_program + quick +
                            "--benchmark_format=json --benchmark_filter=MaxPool "
                            "--benchmark_repetitions=3 --benchmark_enable_random_interleaving=" +
                            order);
    REQUIRE(o.status == 0);
    std::map<std::string, int> rows;
    const json j = json::parse(o.out);
    for (const json& b : j.at("benchmarks"))
      if (b.at("run_type") == "iteration") ++rows[b.at("name")];
    CHECK(!rows.empty());
    for (const auto& [name, count] : rows)
      CHECK(count == 3);
  }
}

TEST_CASE("what was measured can be analysed at once") {
  // All, less what fills memory, and less products of 2 GFLOP.
  const std::string small =
      "--benchmark_filter='^[A-Z]|^reorder|^machine/[a-ln-z_][a-z_]*(-[0-9]{1,6})?/' ";
  const outcome o =
      shell(bench_program + quick + small + "--benchmark_format=json | " BENANZA_ANALYZE_BINARY);
  CAPTURE(o.err);
  // On a busy machine the program must say that, and nothing else may be wrong.
  const bool disturbed = o.err.starts_with("benanza_analyze: partial: no verdict: ") &&
                         o.err.find("disturbed measurements") != std::string::npos;
  CHECK(o.status == (disturbed ? 1 : 0));
  CHECK(o.err.empty() != disturbed);
  CHECK(o.out.find("lenet@batch=1") != std::string::npos);
}

TEST_CASE("bad arguments are refused in one line, before anything is measured") {
  refused("--nonsense", "--nonsense");
  refused("--benchmark_filter=NoSuchLayer", "NoSuchLayer");
  refused("--benchmark_filter='(('", "regular expression");
  refused("--threads=4096", "4096 threads");
  refused("--types=f33", "f33");
  refused("--backends=-nobody", "nobody");
  refused("--backends=-onednn,host", "others left out");
  refused("--algorithms=proposed --backends host,onednn", "--algorithms proposed");
  refused("--write-experiment=e.json --benchmark_filter=Conv", "an experiment is of all cases");
  refused("--model=nobody", "nobody");
  refused("--benchmark_out=/nowhere/at/all.json", "/nowhere/at/all.json");
  refused("--benchmark_min_time=10x", "--benchmark_min_time");
}

TEST_CASE("layers that are not computed in the type asked for are named") {
  const outcome o =
      shell("printf 'Conv/1x1x8x8-8x5x5-s1-p2\\nSoftmax/1x10-a1\\n' | " + bench_program + quick +
            "--layers /dev/stdin --types e4m3 --benchmark_filter=-^machine");
  CAPTURE(o.err);
  CHECK(holds(o.err, "own type: 2 of them, such as Conv/1x1x8x8-8x5x5-s1-p2: no library here "
                     "computes them in e4m3"));
}

TEST_CASE("models of a file give the cases and the graphs of those that are compiled in") {
  const std::string file = " --graphs " BENANZA_SOURCE_FOLDER "/generated/sample/graphs.json";
  const auto listed = [&](const std::string& options) {
    const outcome o = shell(bench_program + options + " --benchmark_list_tests --types f32,bf16");
    CHECK(o.status == 0);
    return o.out;
  };
  CHECK_FALSE(listed("").empty());
  CHECK(listed(file) == listed(""));
  CHECK(listed(file + " --model fused") == listed(" --model fused"));
  const auto graphs = [&](const std::string& options) {
    const outcome o =
        shell(bench_program + quick + "--benchmark_format=json --benchmark_filter=^Relu" + options);
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    return json::parse(o.out).at("context").at("benanza").at("graphs").dump();
  };
  CHECK(graphs(file) == graphs(""));
  CHECK(graphs(file + " --isolate") == graphs(""));
}

TEST_CASE("layers of a file are measured in place of those compiled in; a pipe is read once") {
  for (const char* isolate : {" --isolate", ""}) {
    const outcome o =
        shell("printf 'Relu/1x8x9 # mine\\n\\nGelu/4x10\\n' | " + bench_program + quick +
              "--layers /dev/stdin --benchmark_filter=-^machine "
              "--benchmark_format=json" +
              isolate);
    CAPTURE(o.err);
    REQUIRE(o.status == 0);
    const json j = json::parse(o.out);
    CHECK(j["context"]["benanza"]["graphs"][0]["name"] == "stdin@layers");
    std::set<std::string> families;
    for (const json& b : j.at("benchmarks"))
      families.insert(b.at("family"));
    CHECK(families == std::set<std::string>{"Gelu", "Relu"});
  }
}

TEST_CASE("files that hold nothing to measure are refused in one line") {
  const scratch_folder s("files");
  const auto file = [&](const std::string& name, const std::string& text) {
    std::ofstream(s / name, std::ios::binary) << text;
    return s / name;
  };
  refused("--layers " + (s / "none.txt"), "none.txt");
  refused("--layers " + file("empty.txt", "# nothing\n"), "holds no layers");
  refused("--layers " + file("view.txt", "Relu/1x8\nReshape/1x4x4=1x16\n"), "line 2");
  refused("--layers " + file("no.txt", "Relu/1x8\nConv/huh\n"), "line 2");
  refused("--layers /dev/zero", "longer than 64 MiB");
  refused("--layers " + s.path.string(), "cannot be read");
  const std::string sample = text_of(BENANZA_SOURCE_FOLDER "/generated/sample/graphs.json");
  const std::string good = file("good.json", sample);
  refused("--graphs " + file("cut.json", sample.substr(0, sample.size() / 2)), "cut off");
  refused("--graphs " + file("empty.json", ""), "empty.json");
  refused("--graphs " + file("foreign.json", "{\"context\": {}}"), "not a file of graphs");
  refused("--graphs " + file("nested.json", std::string(100000, '[')), "nested");
  refused("--graphs " + file("later.json", "{\"benanza_graphs\": 2}"), "schema 2");
  refused("--graphs " + file("lacks.json", "{\"benanza_graphs\": 1, \"known\": []}"), "missing");
  refused("--graphs " + file("none.json", "{\"benanza_graphs\": 1, \"known\": [], \"graphs\": []}"),
          "no layer that is to be measured");
  refused("--graphs " + good + " --graphs " + good, "called so");
  refused("--graphs " + good + " --plan plan.json", "--plan");
  refused("--graphs=", "--graphs");
}

TEST_CASE("an interrupted run says so and still closes its JSON") {
  const scratch_folder s("interrupt");
  running r(s, {}, {"--benchmark_format=json", "--benchmark_min_time=30", "--progress=always"},
            RLIM_INFINITY, bench_program);
  REQUIRE(eventually([&] { return r.err().find(" cases] ") != std::string::npos; }));
  r.signal(SIGINT);
  CHECK(r.end() == 130);
  CHECK(r.err().find("interrupted") != std::string::npos);
  REQUIRE(json::accept(r.out()));
  CHECK(json::parse(r.out())["context"]["benanza"]["provenance"]["measuring"]["interrupted"] ==
        "yes");
}
