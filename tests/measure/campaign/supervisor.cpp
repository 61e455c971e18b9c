// SPDX-License-Identifier: Apache-2.0
// What a library does to the process that measures costs its own case, and no other.
#include "../fragile.hpp"

#include <benanza/measure/campaign/supervisor.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <set>

using namespace benanza::test;

namespace {
/// One layer, Relu, with these algorithms.
std::map<std::string, std::string> measured(const std::string& algorithms,
                                            const std::string& options = "") {
  const outcome o = fragile("FRAGILE_LAYERS=1 FRAGILE_ALGORITHMS=" + algorithms,
                            "--isolate --benchmark_format=json " + options);
  CAPTURE(o.err);
  CHECK((o.status == 0 || o.status == 1));
  return rows(o.out);
}
const std::string relu = "1x4x5x5 ";
} // namespace

TEST_CASE("each way to fail is named, and what else there is gets its time") {
  const std::pair<const char*, const char*> reasons[] = {
      {"crash", "the library crashed: Segmentation fault (signal 11), while preparing"},
      {"abort@check", "the library crashed: Aborted (signal 6), while checking its result"},
      {"crash@time", "the library crashed: Segmentation fault (signal 11), while being timed"},
      {"exit", "the library ended the process with exit status 3, while preparing"},
      {"killed", "the process was killed (signal 9): out of memory, or by somebody, while "
                 "preparing"},
      {"throw", "the library refuses"}};
  std::string algorithms = "good";
  for (const auto& [algorithm, reason] : reasons)
    algorithms += std::string(",") + algorithm;
  auto got = measured(algorithms + ",better");
  for (const auto& [algorithm, reason] : reasons)
    CHECK(got[relu + algorithm + " hot"] == reason);
  CHECK(got[relu + "good hot"] == "4000");
  CHECK(got[relu + "better hot"] == "3000");
  CHECK(got.size() == 16);
}

TEST_CASE("a library that fails over all algorithms at once costs none of them") {
  const outcome o = fragile("FRAGILE_LAYERS=1 FRAGILE_AHEAD=crash FRAGILE_ALGORITHMS=good,better",
                            "--isolate --benchmark_format=json --states hot");
  CHECK(o.status == 0);
  auto got = rows(o.out);
  CHECK(got[relu + "good hot"] == "4000");
  CHECK(got[relu + "better hot"] == "3000");
}

TEST_CASE("a hang is ended when there was no sign of life for long enough") {
  auto got = measured("good,hang,hang@time", "--case-timeout 1.5 --states hot");
  CHECK(got[relu + "hang hot"] == "no sign of life for 1.5 s: stopped, while preparing");
  CHECK(got[relu + "hang@time hot"] == "no sign of life for 1.5 s: stopped, while being timed");
  CHECK(got[relu + "good hot"] == "4000");
}

TEST_CASE("a device that hangs is given up sooner than the slowest loops of the host") {
  using benanza::measure::patience_s;
  const benanza::measure::parameters p;
  CHECK(patience_s(0, false, p) == 120);
  CHECK(patience_s(1'000'000'000, false, p) == 130);
  CHECK(patience_s(0, true, p) == 20);
  CHECK(patience_s(1'000'000'000'000, true, p) == 30);
  // Half a gigabyte of weights is the host's work, though a device will use them.
  struct loading : benanza::measure::subject {
    benanza::measure::ready_case ready(const benanza::measure::bench_case&) override { return {}; }
  } weights;
  weights.loaded_bytes = 500'000'000;
  CHECK(patience_s(weights, true, p) == 170);
}

TEST_CASE("who crashes while the group is freed is found among all, and the others keep theirs") {
  auto got = measured("good,crash@free,better");
  CHECK(got[relu + "good hot"] == "4000");
  CHECK(got[relu + "better hot"] == "3000");
  CHECK(got[relu + "crash@free hot"].find("the library crashed") == 0);
}

TEST_CASE("who only crashes after another one gets its time alone") {
  auto got = measured("spoiler,victim");
  CHECK(got[relu + "spoiler hot"] == "4000");
  CHECK(got[relu + "victim hot"] == "4000");
}

TEST_CASE("a device that one algorithm loses is there again for the others") {
  auto got = measured("good,lose,better");
  CHECK(got[relu + "good hot"] == "4000");
  CHECK(got[relu + "lose hot"].find("device lost: nobody answers") == 0);
  CHECK(got[relu + "better hot"] == "3000");
}

TEST_CASE("memory that one algorithm eats is there again for the others, and for other layers") {
  const outcome o = shell("ulimit -v 400000; env FRAGILE_CACHE=1000000000 FRAGILE_LAYERS=3 "
                          "FRAGILE_ALGORITHMS=glutton,good " +
                          fragile_bench +
                          " --isolate --benchmark_min_time=0.002 --states hot,coldw,cold "
                          "--benchmark_filter=Relu --benchmark_format=json");
  CAPTURE(o.err);
  CHECK(o.status == 1);
  auto got = rows(o.out);
  CHECK(got[relu + "glutton hot"] == "out of memory");
  CHECK(got[relu + "good hot"] == "4000");
  CHECK(got["1x4x5x7 glutton hot"] == "out of memory");
  CHECK(got["1x4x5x7 good hot"] == "4000");
  CHECK(got[relu + "good coldw"] == "4000");
  CHECK(got[relu + "good cold"] == "out of memory"); // for sweeping so large a cache
}

TEST_CASE("a crash in preparing costs both states of an algorithm, one in timing each by itself") {
  const scratch_folder s("states");
  const outcome o =
      fragile("FRAGILE_LAYERS=2 FRAGILE_ALGORITHMS=good,crash FRAGILE_LOG=" + (s / "log"),
              "--isolate --benchmark_filter=Conv --benchmark_format=json");
  auto got = rows(o.out);
  CHECK(got.size() == 4);
  const std::string conv = "1x4x5x6-4x3x3-s1-p1 ";
  CHECK(got[conv + "crash hot"] == got[conv + "crash coldw"]);
  CHECK(got[conv + "good coldw"] == "4000");
  const std::string log = text_of(s / "log");
  std::size_t tries = 0;
  for (std::size_t at = 0; (at = log.find(" crash\n", at)) != std::string::npos; ++at)
    ++tries;
  CHECK(tries == 2); // once in company, once alone
}

TEST_CASE("what a library prints does not get into the result") {
  const outcome o = fragile("FRAGILE_ALGORITHMS=talk", "--isolate --benchmark_format=json");
  CHECK(o.status == 0);
  CHECK(nlohmann::json::accept(o.out));
  CHECK(o.err.find("the library talks") != std::string::npos);
}

TEST_CASE("a library that fails while one layer is listed costs that layer, and is named") {
  const std::pair<const char*, const char*> ways[] = {
      {"crash", "the library crashed: Segmentation fault (signal 11)"},
      {"divide", "the library crashed: Floating point exception (signal 8)"},
      {"abort", "the library crashed: Aborted (signal 6)"},
      {"throw", "the library refuses"}};
  const char* isolate = "--isolate"; // once: the worker must come to the same list
  for (const auto& of : ways) {
    const char *const way = of.first, *const why = of.second;
    const outcome o =
        fragile("FRAGILE_LAYERS=3 FRAGILE_LISTED=Relu/1x4x5x5 FRAGILE_LISTING=" + std::string(way),
                std::string(isolate) + " --benchmark_format=json");
    CAPTURE(way);
    CAPTURE(o.err);
    CHECK(o.status == 1);
    CHECK(one_line(o.err));
    CHECK(o.err.find("the first: Relu/1x4x5x5/f32/fragile/none/none/t1: " + std::string(why)) !=
          std::string::npos);
    auto got = rows(o.out);
    CHECK(got.size() == 1 + 2 * 4);
    CHECK(got[relu + "none none"] == why + std::string(", while its algorithms were listed"));
    CHECK(got["1x4x5x7 good hot"] == "4000");
    CHECK(got["1x4x5x6-4x3x3-s1-p1 better hot"] == "3000");
    isolate = "--isolate=false";
  }
}

TEST_CASE("what cannot be listed fails no run that does not ask for it, and stays out of lists") {
  const std::string crash = "FRAGILE_LISTED=Relu/1x4x5x5 FRAGILE_LISTING=crash";
  for (const char* filter : {"--benchmark_filter=^Conv", "--benchmark_filter=Conv"}) {
    const outcome o = fragile(crash, filter + std::string(" --benchmark_format=json"));
    CAPTURE(o.err);
    CHECK(o.status == 0);
    CHECK(o.err.empty());
  }
  const outcome list = fragile(crash, "--benchmark_list_tests");
  CHECK(list.status == 1);
  CHECK(list.out.find("none") == std::string::npos);
  CHECK(list.out.find("Conv/1x4x5x6-4x3x3-s1-p1/f32/fragile/good/hot/t1\n") != std::string::npos);
  CHECK(one_line(list.err));
  CHECK(list.err.find("not listed, Relu/1x4x5x5/f32/fragile/") != std::string::npos);

  const outcome everything = fragile("FRAGILE_LISTING=crash", "");
  CHECK(everything.status == 1);
  CHECK(everything.err.find("2 of 2 cases failed") != std::string::npos);
}

TEST_CASE("what could not be listed is in the result and in the store with its reason") {
  const scratch_folder s("unlisted");
  const std::string run = s / "run.json", keys = s / "keys.txt";
  std::ofstream(keys) << "Relu/1x4x5x5\nConv/1x4x5x6-4x3x3-s1-p1\n";
  const std::string crash = "FRAGILE_LISTED=Relu/1x4x5x5 FRAGILE_LISTING=divide";
  CHECK(fragile(crash, "--layers " + keys + " --benchmark_out=" + run).status == 1);
  const outcome answer = shell(std::string(BENANZA_ANALYZE_BINARY) + " " + run);
  CHECK(answer.status == 1);
  CHECK(answer.out.find("Floating point exception") != std::string::npos);
  if (BENANZA_STORE_BUILT == 0) return;
  for (int i = 0; i < 2; ++i)
    CHECK(fragile(crash, "--layers " + keys + " --again=failed --store " + (s / "r.db")).status ==
          1);
}

TEST_CASE("a library that fails in the worker alone fails its cases, not the run") {
  const outcome there =
      fragile("FRAGILE_WORKER_LISTING=abort", "--isolate --benchmark_format=json");
  CHECK(there.status == 1);
  for (const auto& [name, reason] : rows(there.out))
    CHECK(reason ==
          "the worker process did not get ready: the library crashed: Aborted (signal 6)");
}

TEST_CASE("both ways to measure give the same cases") {
  const std::string options = "--benchmark_format=json --benchmark_repetitions=2";
  const auto here = nlohmann::json::parse(fragile("", options).out);
  const auto there = nlohmann::json::parse(fragile("", options + " --isolate").out);
  CHECK(here["context"]["benanza"]["provenance"]["measuring"]["isolated"] == "no");
  CHECK(there["context"]["benanza"]["provenance"]["measuring"]["isolated"] == "yes");
  std::multiset<std::string> a, b;
  for (const auto& [rows, names] : {std::pair{&here, &a}, {&there, &b}})
    for (const auto& row : rows->at("benchmarks"))
      names->insert(row["name"].get<std::string>() + row["run_type"].get<std::string>() +
                    std::to_string(row.value("median_ns", 0)));
  CHECK(!a.empty());
  CHECK(a == b);
}

TEST_CASE("a killed supervisor takes its worker along, even one that hangs") {
  const scratch_folder s("orphan");
  running r(s, {"FRAGILE_ALGORITHMS=hang", "FRAGILE_LOG=" + (s / "log")}, {"--isolate"});
  REQUIRE(eventually([&] { return lines_in(s / "log") > 0; }));
  const auto workers = r.children();
  REQUIRE(workers.size() == 1);
  r.signal(SIGKILL);
  CHECK(r.end() == 128 + SIGKILL);
  CHECK(eventually([&] {
    const std::string state = text_of("/proc/" + std::to_string(workers[0]) + "/stat");
    return state.empty() || state.find(") Z ") != std::string::npos;
  }));
}

TEST_CASE("a killed worker costs a new start, and no result") {
  const scratch_folder s("worker");
  running r(s, {"FRAGILE_LAYERS=8", "FRAGILE_PAUSE=20", "FRAGILE_LOG=" + (s / "log")},
            {"--isolate", "--benchmark_min_time=0.005", "--benchmark_format=json"});
  REQUIRE(eventually([&] { return lines_in(s / "log") > 4; }));
  const auto workers = r.children();
  CHECK(workers.size() == 1);
  for (pid_t worker : workers)
    kill(worker, SIGKILL);
  CHECK(r.end() == 0);
  for (const auto& [name, time] : rows(r.out()))
    CHECK((time == "4000" || time == "3000"));
}
