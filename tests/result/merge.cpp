// SPDX-License-Identifier: Apache-2.0
// Do several runs become one? Entries of a case join whatever their order; versions of a library
// are distinguished; runs of another machine, and other graphs under the same name, are refused.
#include "synthetic.hpp"

#include <benanza/result/merge.hpp>
#include <benanza/result/reader.hpp>
#include <benanza/result/stop_reason.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using benanza::result::measurement;
using benanza::result::merge;
using benanza::result::run;

/// Everything that a run says, but for its source.
std::string all_of(const run& r) {
  std::string out = benanza::result::context_to_json(r).dump();
  for (const measurement& m : r.measurements)
    out += '\n' + to_json(m).dump();
  return out;
}

std::string refusal(std::vector<run> runs) {
  try {
    (void)merge(std::move(runs));
  } catch (const benanza::error& e) {
    return e.what();
  }
  return {};
}

run with(std::vector<measurement> measurements) {
  run r = synthetic::empty_run();
  r.measurements = std::move(measurements);
  return r;
}

measurement sampled(std::vector<double> samples) {
  return synthetic::timed(synthetic::relu, "jit", 0, "hot", std::move(samples));
}

} // namespace

TEST_CASE("the order of entries means nothing") {
  const run r = synthetic::small_run();
  const std::string expected = all_of(merge({r}));
  synthetic::random dice{3};
  for (int round = 0; round < 20; ++round) {
    run shuffled = r;
    for (std::size_t i = shuffled.measurements.size(); i > 1; --i)
      std::swap(shuffled.measurements[i - 1],
                shuffled.measurements[static_cast<std::size_t>(dice.below(static_cast<int>(i)))]);
    CHECK(all_of(merge({shuffled})) == expected);
  }
}

TEST_CASE("repetitions are joined, in one file or in two, in any order") {
  const measurement a = sampled({10, 12, 14}), b = sampled({8, 9, 30});
  const run one = merge({with({a, b})});
  REQUIRE(one.measurements.size() == 1);
  const measurement& m = one.measurements[0];
  CHECK(m.samples_ns == std::vector<double>{8, 9, 30, 10, 12, 14});
  CHECK(m.count == 6);
  CHECK(m.min_ns == 8);
  CHECK(m.median_ns == 11);
  CHECK(m.p10_ns == 8.5);
  CHECK(m.p90_ns == 22);
  CHECK(m.mad_ns == doctest::Approx(2.5));
  CHECK(all_of(merge({with({b, a})})) == all_of(one));
  CHECK(all_of(merge({with({a}), with({b})})) == all_of(one));
  CHECK(all_of(merge({with({b}), with({a})})) == all_of(one));
}

TEST_CASE("a repetition that only replays the samples adds nothing") {
  const measurement a = sampled({10, 12, 14});
  const run r = merge({with({a, a, a})});
  CHECK(r.measurements[0].samples_ns == a.samples_ns);
  CHECK(r.measurements[0].count == 3);
  const run small = synthetic::small_run();
  CHECK(all_of(merge({small, small})) == all_of(merge({small})));
}

TEST_CASE("a minimum that was thinned out of the samples is kept") {
  measurement a = sampled({10, 12}), b = sampled({11, 13});
  a.min_ns = 7;
  CHECK(merge({with({a})}).measurements[0].min_ns == 7);
  CHECK(merge({with({a, b})}).measurements[0].min_ns == 7);
}

TEST_CASE("the clock of the least sample goes with it, that of the median is the mean") {
  measurement slow = sampled({10, 12}), fast = sampled({8, 9, 9, 9, 9, 9});
  slow.clock_ns = 1200, slow.min_clock_ns = 1180;
  fast.clock_ns = 1000, fast.min_clock_ns = 990;
  measurement silent = sampled({20, 21});
  for (const run& r : {merge({with({slow, fast})}), merge({with({fast, slow, silent})})}) {
    CHECK(r.measurements[0].min_clock_ns == 990);
    CHECK(r.measurements[0].clock_ns == doctest::Approx(1050));
  }
}

TEST_CASE("a case that was sampled to its end once is not one of few samples") {
  measurement lost = sampled({10, 12}), done = sampled({11, 13});
  lost.stop_reason = benanza::result::raced_out(1.5);
  done.stop_reason = benanza::result::time_limit;
  lost.rejected = 3, done.rejected = 4;
  for (const run& r : {merge({with({lost, done})}), merge({with({done, lost})})}) {
    CHECK(r.measurements[0].stop_reason == benanza::result::time_limit);
    CHECK(r.measurements[0].rejected == 7);
  }
  CHECK(benanza::result::was_raced_out(merge({with({lost, lost})}).measurements[0].stop_reason));
}

TEST_CASE("the energy of a case is the average over its samples, where it is known") {
  measurement a = sampled({10, 12}), b = sampled({11, 13, 14, 15, 16, 17}), c = sampled({9, 14});
  a.energy_nj = 1000, b.energy_nj = 2000;
  CHECK(merge({with({a, b})}).measurements[0].energy_nj == 1750);
  CHECK(merge({with({b, a})}).measurements[0].energy_nj == 1750);
  CHECK(merge({with({a, c})}).measurements[0].energy_nj == 1000);
  CHECK(merge({with({c})}).measurements[0].energy_nj == 0);
}

TEST_CASE("kernels that were seen in one of several entries are those of the case") {
  measurement a = sampled({10, 12}), b = sampled({11, 13});
  b.kernels = {{.name = "k", .ns = 9}};
  b.counters = {.tensor_pipe_percent = 5, .active_cycles = 7};
  for (const run& r : {merge({with({a, b})}), merge({with({b, a})})}) {
    CHECK(r.measurements[0].kernels == b.kernels);
    CHECK(r.measurements[0].counters == b.counters);
  }
}

TEST_CASE("a failed repetition never loses a good one") {
  measurement bad = sampled({1});
  bad.samples_ns.clear();
  bad.error = "out of memory";
  const run r = merge({with({bad, sampled({10, 12})})});
  REQUIRE(r.measurements.size() == 1);
  CHECK(r.measurements[0].error.empty());
  CHECK(r.measurements[0].median_ns == 11);
  CHECK(r.measurements[0].disturbed == "1 of 2 entries failed: out of memory");
  CHECK(merge({with({bad, bad})}).measurements[0].error == "out of memory");
}

TEST_CASE("samples that were disturbed count where there are no others") {
  const measurement clean = sampled({10, 12});
  measurement met = sampled({20, 24});
  met.disturbed = "another process used the CPU";
  for (const run& r : {merge({with({clean}), with({met})}), merge({with({met, clean})})}) {
    REQUIRE(r.measurements.size() == 1);
    CHECK(r.measurements[0].disturbed.empty());
    CHECK(r.measurements[0].samples_ns == clean.samples_ns);
  }
  CHECK(merge({with({met}), with({met})}).measurements[0].disturbed == met.disturbed);
}

TEST_CASE("cases that differ in any part of their identity stay apart") {
  std::vector<measurement> cases(7, sampled({10}));
  cases[0].backend = "host";
  cases[1].algorithm = "gemm:jit";
  cases[2].state = "coldw";
  cases[3].threads = 2;
  cases[4].type = "bf16";
  cases[5].key = "1x64x56x57";
  CHECK(merge({with(cases)}).measurements.size() == 7);
}

TEST_CASE("the machine has to be the same; what was measured when need not") {
  const run a = synthetic::small_run();
  run b = a;
  b.source = "b.json";
  b.provenance["measuring"]["date"] = "2024-02-03";
  CHECK(merge({a, b}).provenance.at("measuring").at("date") == "2024-01-02; 2024-02-03");
  CHECK(merge({b, a}).provenance == merge({a, b}).provenance);
  b.provenance["machine"]["cpu"] = "Another CPU";
  CHECK(refusal({a, b}) == "results of different machines are not merged: cpu is \"Test CPU "
                           "9000\" and \"Another CPU\" (made up and b.json); compare them: "
                           "benanza_analyze compare A B; or see both on one page: --format html");
}

TEST_CASE("versions of a library are distinguished, and each keeps its rows") {
  run a = with({sampled({10, 12})}), b = with({sampled({8, 9})});
  const std::string backend = a.measurements[0].backend;
  a.source = "a.json", b.source = "b.json";
  measurement host = sampled({20});
  host.backend = "host";
  a.measurements.push_back(host);
  measurement chain = sampled({30});
  chain.backend = "chain", chain.parts = {{backend + "/x conv", 1}, {"host/y add", 2}};
  b.measurements.push_back(chain);
  b.refused = {{"Conv", "1x1", "f32", backend, "winograd", "gone"}};
  for (run* r : {&a, &b}) {
    r->provenance["software"] = {{"compiler", "gcc 12"},
                                 {backend + "_version", "2.6.3"},
                                 {"host_compiler", "12.2.0"},
                                 {"host_kernels", "5"}};
  }
  CHECK(merge({a, b}).provenance.at("software").contains(backend + "_version")); // one version
  b.provenance["software"][backend + "_version"] = "3.7.2";
  b.provenance["software"]["compiler"] = "gcc 14";
  const run all = merge({a, b});
  std::set<std::string> backends;
  for (const measurement& m : all.measurements) {
    backends.insert(m.backend);
    if (m.backend == backend + "-3.7.2") CHECK(m.min_ns == 8);
    if (m.backend != "chain") continue;
    CHECK(m.parts[0].name == backend + "-3.7.2/x conv");
    CHECK(m.parts[1].name == "host/y add");
  }
  CHECK(backends == std::set<std::string>{"chain", "host", backend + "-2.6.3", backend + "-3.7.2"});
  CHECK(all.provenance.at("software").at(backend + "-2.6.3_version") == "2.6.3");
  CHECK(all.provenance.at("software").at("compiler") == "gcc 12; gcc 14");
  CHECK(all.refused.at(0).backend == backend + "-3.7.2");
  using benanza::result::overlap_of;
  CHECK(overlap_of({a, b}).cases == 1);
  std::vector<run> both{a, b};
  benanza::result::tell_versions_apart(both);
  CHECK(overlap_of(both).cases == 0);

  // What one version says of itself has to be one.
  b.provenance["software"][backend + "_version"] = "2.6.3";
  b.provenance["software"][backend + "_threading"] = "TBB";
  CHECK(refusal({a, b}) == "results of different provenance are not merged: of " + backend +
                               "-2.6.3, threading is nothing and \"TBB\" (a.json and b.json); "
                               "analyse them one at a time");
}

TEST_CASE("a library's name means all of its versions") {
  using benanza::result::library_of;
  using benanza::result::means;
  CHECK(library_of("onednn-3.7.2") == "onednn");
  CHECK(library_of("host") == "host");
  CHECK(means("onednn", "onednn-3.7.2"));
  CHECK(means("onednn-3.7.2", "onednn-3.7.2"));
  CHECK_FALSE(means("onednn-2.6.3", "onednn-3.7.2"));
  CHECK_FALSE(means("one", "onednn"));
}

TEST_CASE("graphs join by name, and have to be equal then") {
  const run a = synthetic::small_run();
  run b = a;
  b.graphs[0].name = "another";
  CHECK(merge({a, b}).graphs.size() == 2);
  CHECK(merge({a, b}).graphs[0].name == "another");
  b = a;
  b.graphs[0].nodes[4].inputs = {3};
  CHECK(refusal({a, b}).find("two different graphs are called \"tiny@batch=1\"") !=
        std::string::npos);
}

TEST_CASE("two runs of the same cases are distinguished from parts of one run") {
  using benanza::result::overlap_of;
  const measurement a = sampled({10, 12}), b = sampled({8, 9});
  measurement cold = sampled({20, 22}), bad = sampled({1}), ceiling = a, other_ceiling = b;
  cold.state = "coldw";
  bad.error = "out of memory";
  ceiling.family = other_ceiling.family = "machine";
  run first = with({a, ceiling}), second = with({b, cold, other_ceiling});
  first.source = "a.json", second.source = "b.json";
  const auto both = overlap_of({first, second});
  CHECK(both.cases == 1);
  CHECK(both.example == a.name);
  CHECK(both.one == "a.json");
  CHECK(both.another == "b.json");
  CHECK(overlap_of({with({a, b, a})}).cases == 0);                 // repetitions
  CHECK(overlap_of({with({a}), with({cold})}).cases == 0);         // other cases
  CHECK(overlap_of({with({a}), with({a}), with({a})}).cases == 0); // one measurement, named thrice
  CHECK(overlap_of({with({a, b}), with({b})}).cases == 0);         // a part of the other
  CHECK(both.again == 1);
  run tiny = synthetic::small_run(), other = tiny;
  for (measurement& m : other.measurements)
    for (double& s : m.samples_ns)
      s *= 0.9;
  CHECK(overlap_of({tiny, other}).again == 14);
  other.graphs[0].name = "another";
  CHECK(overlap_of({tiny, other}).cases == 14);
  CHECK(overlap_of({tiny, other}).again == 0);            // two models share all of their layers
  CHECK(overlap_of({with({a}), with({bad})}).cases == 0); // measured once
  CHECK(overlap_of({with({ceiling}), with({other_ceiling})}).cases == 0); // every run measures it
  CHECK(overlap_of({with({cold}), with({a}), with({b, cold})}).cases == 1);
}
