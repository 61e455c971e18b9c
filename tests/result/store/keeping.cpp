// SPDX-License-Identifier: Apache-2.0
// Is it known who measured what, is every kind of damage found, and is nothing forgotten that newer
// runs do not know?
#include "../synthetic.hpp"
#include "places.hpp"

#include <benanza/result/store/keeping.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name
using benanza::result::run;

namespace {

/// A run of a date with small_run's results, of those layers that are left.
run of_date(const std::string& date, const std::string& without = {}) {
  run r = synthetic::small_run();
  r.provenance["measuring"]["date"] = date;
  std::erase_if(r.measurements, [&](const auto& m) { return m.family == without; });
  return r;
}

std::int64_t add(store& s, const run& r) {
  const std::int64_t id = s.begin_run(r);
  s.add(id, r.measurements);
  return id;
}

std::vector<std::int64_t> ids(const store& s) {
  std::vector<std::int64_t> out;
  for (const run_entry& r : runs_of(s))
    out.push_back(r.id);
  return out;
}

} // namespace

TEST_CASE("the newest run is the last one, in whatever zone it was") {
  const benanza::test::store_places f("keeping");
  store s(f / "a.db", mode::write);
  const auto first = add(s, of_date("2026-11-27T16:44:50+0000"));
  const auto second = add(s, of_date("2026-11-27T12:44:51-0400")); // a second later
  CHECK(ids(s) == std::vector{first, second});
  CHECK(runs_of(s)[1].date == "2026-11-27T16:44:51+0000");
  prune(s, {.keep = 1}, false);
  CHECK(ids(s) == std::vector{second});
  s.check_run(second);
}

TEST_CASE("runs are listed with their dates, machines, models and who measured, if that was said") {
  const benanza::test::store_places f("keeping");
  store s(f / "a.db", mode::write);
  run second = of_date("2026-02-03T04:05:06+0000");
  second.provenance["measuring"][by_fact] = "night run";
  add(s, second);
  add(s, of_date("2026-01-01", "Conv"));
  second.provenance["machine"]["cpu"] = "Another";
  s.begin_run(second);
  const auto runs = runs_of(s);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].date == "2026-01-01");
  CHECK(runs[0].by.empty());
  CHECK(runs[1].by == "night run");
  CHECK(runs[1].machine == "Test CPU 9000");
  CHECK(runs[1].results == std::ssize(second.measurements));
  CHECK(runs[0].results < runs[1].results);
  CHECK(runs[1].models == std::vector<std::string>{synthetic::small_run().graphs[0].name});
  CHECK(runs[2].results == 0);
  CHECK(runs_of(s, 2).size() == 1);
}

TEST_CASE("only what newer runs have as well is forgotten") {
  const benanza::test::store_places f("keeping");
  store s(f / "a.db", mode::write);
  const std::size_t all = of_date("1").measurements.size();
  add(s, of_date("2026-01-01"));
  add(s, of_date("2026-01-02", "Conv"));
  add(s, of_date("2026-01-03", "Conv"));
  const auto conv =
      std::ssize(of_date("1").measurements) - std::ssize(of_date("1", "Conv").measurements);
  const auto read = [&] { return read_entries(s, {}).measurements.size(); };
  const std::size_t before = read();

  const pruned told = prune(s, {.keep = 1}, true);
  CHECK(read() == before);
  CHECK(ids(s).size() == 3);
  CHECK(told.runs == 1); // the first has the only results of Conv
  CHECK(told.results == std::ssize(of_date("1").measurements) - conv +
                            std::ssize(of_date("1", "Conv").measurements));
  CHECK(prune(s, {.keep = 3}, false).results == 0);
  CHECK(prune(s, {.before = "2026-01-01"}, false).results == 0);
  CHECK(prune(s, {.keep = 1, .before = "2026-01-01"}, false).runs == 0);

  const pruned gone = prune(s, {.keep = 1}, false);
  CHECK(gone.results == told.results);
  CHECK(ids(s) == std::vector<std::int64_t>{1, 3});
  CHECK(read() == all);
  CHECK(check_all(s).faults.empty());
  CHECK(prune(s, {.keep = 1}, false).results == 0);

  // A success makes a failure old, and not the other way round; less effort makes nothing old.
  run failed = of_date("2026-01-04");
  for (auto& m : failed.measurements)
    m.error = "failed";
  add(s, failed);
  run quick = of_date("2026-01-05");
  quick.provenance["measuring"]["effort"] = "quick";
  add(s, quick);
  CHECK(prune(s, {.keep = 1}, false).results == 0);
  add(s, of_date("2026-01-06"));
  CHECK(prune(s, {.keep = 1}, false).runs == 4);
  CHECK(read() == all);

  // The only graph of a name keeps its run.
  run model = of_date("2026-01-07");
  model.graphs[0].name = "other";
  add(s, model);
  const pruned last = prune(s, {.keep = 1}, false);
  CHECK(last.results == std::ssize(model.measurements));
  CHECK(last.runs == 0);
  CHECK(ids(s).size() == 2);
}

TEST_CASE("the systems are pruned each for itself, and graphs of no run go") {
  const benanza::test::store_places f("keeping");
  store s(f / "a.db", mode::write);
  run r = of_date("2026-01-01");
  r.graphs[0].nodes.clear();
  add(s, r);
  add(s, of_date("2026-01-02"));
  run other = of_date("2020-01-01");
  other.provenance["machine"]["cpu"] = "Another";
  add(s, other);
  const pruned gone = prune(s, {.keep = 1}, false);
  CHECK(gone.runs == 1);
  CHECK(gone.graphs == 1);
  CHECK(ids(s).size() == 2);
}

TEST_CASE("a check finds what is not what was written") {
  for (const char* harm :
       {"", "UPDATE result SET checksum = checksum + 1 WHERE n = 2",
        "UPDATE run SET provenance = '{}'", "UPDATE graph SET body = body || ' '",
        "UPDATE result SET run = 77 WHERE n = 2", "UPDATE result SET system = 77",
        "DELETE FROM layer", "DELETE FROM description"}) {
    const benanza::test::store_places f("keeping");
    store s(f / "a.db", mode::write);
    const run r = of_date("2026-01-01");
    add(s, r);
    if (*harm != '\0') s.tables_of().run(harm);
    CAPTURE(harm);
    const findings found = check_all(store(f / "a.db", mode::read));
    CHECK(found.faults.empty() == (*harm == '\0'));
    CHECK(found.runs == 1);
    CHECK(found.graphs == 1);
    if (*harm == '\0') CHECK(found.results == std::ssize(r.measurements));
  }
}
