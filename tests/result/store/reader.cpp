// SPDX-License-Identifier: Apache-2.0
// Does a store give the run that its result files would have given?
#include "../synthetic.hpp"
#include "places.hpp"

#include <benanza/result/store/reader.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace benanza::result::store;
using benanza::result::measurement;
using benanza::result::run;
using benanza::result::to_json;
using mode = benanza::result::store::access; // POSIX has a function of that name

namespace {

void put(const std::string& file, const run& r) {
  store s(file, mode::write);
  s.add(s.begin_run(r), r.measurements);
}

std::vector<std::string> texts(const run& r) {
  std::vector<std::string> out;
  for (const measurement& m : r.measurements)
    out.push_back(to_json(m).dump());
  return out;
}

std::vector<std::string> names_in(const run& r) {
  std::vector<std::string> out;
  for (const auto& g : r.graphs)
    out.push_back(g.name);
  return out;
}

run dated(const char* date) {
  run r = synthetic::small_run();
  r.provenance["measuring"]["date"] = date;
  return r;
}

} // namespace

TEST_CASE("one run comes back as its result file would be read") {
  const benanza::test::store_places f("reader");
  const run r = synthetic::small_run();
  put(f / "a.db", r);
  const run from_file = benanza::result::merge({r});
  const run read = read_store(f / "a.db");
  CHECK(texts(read) == texts(from_file));
  CHECK(read.provenance == r.provenance);
  REQUIRE(read.graphs.size() == 1);
  CHECK(to_json(read.graphs[0]) == to_json(r.graphs[0]));
  CHECK(read.source == shown(f / "a.db"));
}

TEST_CASE("a run, a graph or a link between them that is not what was written is refused") {
  for (const char* harm :
       {"DELETE FROM run_graph", "UPDATE run SET provenance = replace(provenance, 'Test', 'Fest')",
        "UPDATE run SET effort = 3", "UPDATE graph SET body = body || ' '",
        "UPDATE graph SET model = 'other'", "UPDATE result SET run = 2 WHERE n = 3"}) {
    const benanza::test::store_places f("reader");
    put(f / "a.db", synthetic::small_run());
    store(f / "a.db", mode::write).tables_of().run(harm);
    CAPTURE(harm);
    try {
      (void)read_store(f / "a.db");
      FAIL("damaged, and read");
    } catch (const benanza::error& e) {
      CHECK(std::string(e.what()).find("the store is damaged") == 0);
    }
  }
}

TEST_CASE("several runs are merged as their files would be") {
  const benanza::test::store_places f("reader");
  run a = dated("2024-01-01"), b = dated("2024-01-03");
  for (measurement& m : b.measurements)
    for (double& ns : m.samples_ns)
      ns += 3;
  for (measurement& m : b.measurements)
    benanza::result::recompute(m);
  put(f / "a.db", b);
  put(f / "a.db", a);
  const run read = read_store(f / "a.db");
  CHECK(texts(read) == texts(benanza::result::merge({a, b})));
  CHECK(read.measurements[0].samples_ns.size() == 40);
  CHECK(read.provenance.at("measuring").at("date") == "2024-01-01 to 2024-01-03");
  CHECK(read.provenance.at("measuring").at("runs") == "2");
  CHECK(read_entries(store(f / "a.db", mode::read), {}).measurements.size() ==
        a.measurements.size() * 2);
}

TEST_CASE("disturbed entries and failures count only where there is nothing better") {
  const benanza::test::store_places f("reader");
  run r = synthetic::empty_run();
  const auto entry = [&](const char* algorithm, double ns, const char* disturbed,
                         const char* error) {
    measurement m = synthetic::timed(synthetic::relu, algorithm, 0, "hot", {ns});
    m.disturbed = disturbed;
    m.error = error;
    r.measurements.push_back(m);
  };
  entry("a", 1, "a neighbour", "");
  entry("a", 2, "", "");
  entry("a", 3, "", "failed");
  entry("a", 4, "", "");
  entry("b", 5, "a neighbour", "");
  entry("b", 6, "", "failed");
  entry("c", 7, "", "failed");
  entry("c", 8, "", "failed");
  put(f / "a.db", r);
  const run read = read_store(f / "a.db");
  REQUIRE(read.measurements.size() == 3);
  CHECK(read.measurements[0].samples_ns == std::vector<double>{2, 4});
  CHECK(read.measurements[0].disturbed.empty());
  CHECK(read.measurements[1].samples_ns == std::vector<double>{5});
  CHECK(read.measurements[1].disturbed == "a neighbour");
  CHECK(read.measurements[2].error == "failed");
}

TEST_CASE("for one model only its layers are read, and what is no layer") {
  const benanza::test::store_places f("reader");
  run r = synthetic::small_run();
  r.graphs.push_back(
      synthetic::make_graph("other@batch=1", {synthetic::relu, synthetic::softmax}, {{}, {0}}));
  r.graphs.push_back(synthetic::make_graph("tiny@batch=8", {synthetic::deep}, {{}}));
  for (const char* family : {"machine", "model"}) {
    measurement m = r.measurements[0];
    m.family = family;
    m.key = "all of it";
    r.measurements.push_back(m);
  }
  put(f / "a.db", r);
  const run other = read_store(f / "a.db", {.model = "other"});
  CHECK(names_in(other) == std::vector<std::string>{"other@batch=1"});
  for (const measurement& m : other.measurements)
    CHECK(m.family != "Conv");
  CHECK(other.measurements.size() == 4);
  CHECK(names_in(read_store(f / "a.db", {.model = "tiny"})) ==
        std::vector<std::string>{"tiny@batch=1", "tiny@batch=8"});
  CHECK(names_in(read_store(f / "a.db", {.model = "tiny@batch=8"})) ==
        std::vector<std::string>{"tiny@batch=8"});
  CHECK(names_in(read_store(f / "a.db", {.model = "@batch=1"})).size() == 2);
  try {
    (void)read_store(f / "a.db", {.model = "resnet"});
    FAIL("there is no such model");
  } catch (const benanza::error& e) {
    CHECK(std::string(e.what()).find("there are: other@batch=1, tiny@batch=1") !=
          std::string::npos);
  }
}

TEST_CASE("with a model comes the same with weights or a cache in other types") {
  const benanza::test::store_places f("reader");
  run r = synthetic::small_run();
  for (const char* name : {"tiny,weights=q8_0", "tiny,colour=red", "tin,cache=f32"})
    r.graphs.push_back(
        synthetic::make_graph(name + std::string("@batch=1"), {synthetic::relu}, {{}}));
  put(f / "a.db", r);
  const std::vector<std::string> both{"tiny,weights=q8_0@batch=1", "tiny@batch=1"};
  CHECK(names_in(read_store(f / "a.db", {.model = "tiny"})) == both);
  CHECK(names_in(read_store(f / "a.db", {.model = "tiny,weights=q8_0"})) == both);
  CHECK(names_in(read_store(f / "a.db", {.model = "tiny,colour=red"})).size() == 1);
}

TEST_CASE("of graphs with one name the newest is read, and fused forms come along") {
  const benanza::test::store_places f("reader");
  run newer = dated("2025-01-01"), older = dated("2024-01-01");
  newer.graphs[0] = synthetic::make_graph("tiny@batch=1", {synthetic::relu}, {{}});
  run fused = dated("2023-01-01");
  fused.graphs[0] = synthetic::make_graph("whole", {synthetic::softmax}, {{}});
  fused.graphs[0].unfused = "tiny@batch=1";
  put(f / "a.db", newer);
  put(f / "a.db", older);
  put(f / "a.db", fused);
  const run read = read_store(f / "a.db", {.model = "tiny"});
  CHECK(names_in(read) == std::vector<std::string>{"tiny@batch=1", "whole"});
  CHECK(read.graphs[0].nodes.size() == 1);
  CHECK(names_in(read_store(f / "a.db", {.model = "whole"})).size() == 2);
}

TEST_CASE("different software of one machine is one answer") {
  const benanza::test::store_places f("reader");
  run r = synthetic::small_run();
  put(f / "a.db", r);
  const std::size_t cases = r.measurements.size();
  const auto both = cases + static_cast<std::size_t>(
                                std::count_if(r.measurements.begin(), r.measurements.end(),
                                              [](const auto& m) { return m.backend == "onednn"; }));
  r.provenance["software"]["onednn_version"] = "3.7.2";
  r.provenance["software"]["compiler"] = "gcc 14";
  r.provenance["measuring"]["date"] = "2026-05-06";
  r.measurements[1].samples_ns = {1, 1, 1};
  put(f / "a.db", r);
  const run all = read_store(f / "a.db");
  CHECK(all.graphs.size() == r.graphs.size());
  CHECK(all.measurements.size() == both); // others' cases are the same ones
  std::set<std::string> backends;
  for (const auto& m : all.measurements)
    backends.insert(m.backend);
  CHECK(backends == std::set<std::string>{"host", "onednn-2.6.3", "onednn-3.7.2"});
  CHECK(read_store(f / "a.db", {.system = "1"}).measurements.size() == cases);
  CHECK(read_store(f / "a.db", {.system = "latest"}).measurements[0].backend == "onednn");

  // Of one version of a library, the newest system's rows count.
  r.provenance["software"]["compiler"] = "gcc 15";
  r.provenance["measuring"]["date"] = "2026-06-07";
  for (auto& m : r.measurements)
    m.samples_ns = {5, 5};
  put(f / "a.db", r);
  const run newest = read_store(f / "a.db");
  CHECK(newest.measurements.size() == both);
  for (const auto& m : newest.measurements)
    if (m.backend == "onednn-3.7.2") CHECK(m.samples_ns == std::vector<double>{5, 5});
}

TEST_CASE("systems are not mixed") {
  const benanza::test::store_places f("reader");
  run r = synthetic::small_run();
  put(f / "a.db", r);
  r.provenance["machine"]["cpu"] = "Another";
  r.measurements.resize(1);
  put(f / "a.db", r);
  CHECK_THROWS_AS(read_store(f / "a.db"), benanza::error);
  CHECK(read_store(f / "a.db", {.system = "1"}).measurements.size() > 1);
  const run second = read_store(f / "a.db", {.system = "2"});
  CHECK(second.measurements.size() == 1);
  CHECK(second.provenance.at("machine").at("cpu") == "Another");
}
