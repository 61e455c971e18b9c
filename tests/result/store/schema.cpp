// SPDX-License-Identifier: Apache-2.0
// Does an old store become a current one, whole or not at all?
#include "../../program.hpp"
#include "../synthetic.hpp"

#include <benanza/result/store/store.hpp>

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name

namespace {

/// The tables of schema 1, as they were then, with a run, its graph and one result.
constexpr const char* schema_1 = R"(
CREATE TABLE system (id INTEGER PRIMARY KEY, machine TEXT NOT NULL, software TEXT NOT NULL,
  UNIQUE (machine, software));
CREATE TABLE run (id INTEGER PRIMARY KEY, system INTEGER NOT NULL REFERENCES system,
  date TEXT NOT NULL, provenance TEXT NOT NULL, results INTEGER NOT NULL DEFAULT 0);
CREATE INDEX run_by_date ON run (system, date, id);
CREATE TABLE graph (id INTEGER PRIMARY KEY, name TEXT NOT NULL, model TEXT NOT NULL,
  body TEXT NOT NULL);
CREATE INDEX graph_by_name ON graph (name);
CREATE TABLE run_graph (run INTEGER NOT NULL REFERENCES run, graph INTEGER NOT NULL
  REFERENCES graph, PRIMARY KEY (run, graph)) WITHOUT ROWID;
CREATE TABLE layer (id INTEGER PRIMARY KEY, family TEXT NOT NULL, key TEXT NOT NULL,
  UNIQUE (family, key));
CREATE TABLE setting (id INTEGER PRIMARY KEY, type TEXT NOT NULL, threads INTEGER NOT NULL,
  UNIQUE (type, threads));
CREATE TABLE variant (id INTEGER PRIMARY KEY, backend TEXT NOT NULL, algorithm TEXT NOT NULL,
  state TEXT NOT NULL, UNIQUE (backend, algorithm, state));
CREATE TABLE description (id INTEGER PRIMARY KEY, body TEXT NOT NULL UNIQUE);
CREATE TABLE result (system INTEGER NOT NULL, layer INTEGER NOT NULL, setting INTEGER NOT NULL,
  failed INTEGER NOT NULL, variant INTEGER NOT NULL, run INTEGER NOT NULL, n INTEGER NOT NULL,
  description INTEGER NOT NULL, numbers BLOB NOT NULL,
  PRIMARY KEY (system, layer, setting, failed, variant, run, n)) WITHOUT ROWID;
INSERT INTO system VALUES (1, '{"cores":"2","cpu":"Test CPU 9000","l2_bytes":"1048576","llc_bytes":"1048576"}',
  '{"benanza":"0.1","onednn_version":"2.6.3"}');
INSERT INTO run VALUES (1, 1, '2024-01-02', '{"machine":{"cores":"2","cpu":"Test CPU 9000",
  "l2_bytes":"1048576","llc_bytes":"1048576"},"measuring":{"date":"2024-01-02"},"software":{"benanza":"0.1",
  "onednn_version":"2.6.3"}}', 1);
INSERT INTO graph VALUES (1, 'g', 'g', '{"name":"g"}');
INSERT INTO run_graph VALUES (1, 1);
INSERT INTO layer VALUES (1, 'Relu', '1x64x56x56');
INSERT INTO setting VALUES (1, 'f32', 1);
INSERT INTO variant VALUES (1, 'onednn', 'jit', 'hot');
INSERT INTO description VALUES (1, '{"equivalence":"f32","numbers":"i:count t:min_ns v:samples_ns"}');
INSERT INTO result VALUES (1, 1, 1, 0, 1, 1, 0, 1, x'04d00f0100');
PRAGMA application_id = 1114536545;
PRAGMA user_version = 1;
)";

void write_old(const std::string& file) {
  const database d(file, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, file, 100);
  d.run(schema_1);
}

std::int64_t version_of(const std::string& file) {
  const database d(file, SQLITE_OPEN_READONLY, file, 100);
  return detail::number(d, "PRAGMA user_version");
}

void check_old_result(const store& s) {
  const auto found = s.find(identity_of(synthetic::empty_run()), "Relu", "1x64x56x56", "f32", 1);
  REQUIRE(found.size() == 1);
  CHECK(found[0].count == 2);
  CHECK(found[0].min_ns == 5.0);
  CHECK(found[0].samples_ns == std::vector{5.0});
  CHECK(found[0].algorithm == "jit");
}

} // namespace

TEST_CASE("the application is ours by name") {
  CHECK(application_id == 1114536545);
}

TEST_CASE("a store of schema 1 is brought up to date when it is opened, to read or to write") {
  const benanza::test::scratch_folder f("schema");
  for (const mode how : {mode::read, mode::write}) {
    const std::string file = f / (how == mode::read ? "read.db" : "write.db");
    write_old(file);
    CHECK(version_of(file) == 1);
    check_old_result(store(file, how));
    CHECK(version_of(file) == current_schema);
    check_old_result(store(file, mode::read));
    // What only the current schema can hold.
    store s(file, mode::write);
    benanza::result::run r = synthetic::small_run();
    r.graphs[0].unfused = "tiny";
    s.begin_run(r);
    statement q(s.tables_of(), "SELECT group_concat(unfused, '|') FROM graph");
    REQUIRE(q.next());
    CHECK(q.text(0) == "|tiny");
  }
}

TEST_CASE("runs of a store of schema 2 get the effort that their provenance says") {
  const benanza::test::scratch_folder f("schema");
  const std::string file = f / "old.db";
  write_old(file);
  {
    const database d(file, SQLITE_OPEN_READWRITE, file, 100);
    d.run(migrations[0].sql);
    d.run(R"(DELETE FROM run;
INSERT INTO run VALUES (1, 1, '1', '{"measuring":{"effort":"quick","min_time_s":"0.030000"}}', 0);
INSERT INTO run VALUES (2, 1, '2', '{"measuring":{"effort":"normal","min_time_s":"0.100000"}}', 0);
INSERT INTO run VALUES (3, 1, '3', '{"measuring":{"effort":"thorough","min_time_s":"0.300000"}}', 0);
INSERT INTO run VALUES (4, 1, '4', '{"measuring":{"effort":"exhaustive","min_time_s":"0.50"}}', 0);
INSERT INTO run VALUES (5, 1, '5', '{"measuring":{"effort":"normal","min_time_s":"0.008000"}}', 0);
INSERT INTO run VALUES (6, 1, '6', '{"measuring":{"effort":"exhaustive","min_time_s":"0.3"}}', 0);
INSERT INTO run VALUES (7, 1, '7', '{"measuring":{"date":"2024-01-02"}}', 0);
INSERT INTO run VALUES (8, 1, '8', 'no JSON', 0);
PRAGMA user_version = 2;)");
  }
  const store s(file, mode::write);
  CHECK(version_of(file) == current_schema);
  statement q(s.tables_of(), "SELECT id, effort, provenance FROM run ORDER BY id");
  const std::vector<std::int64_t> efforts{0, 1, 2, 3, 0, 2, 1, 1};
  for (const std::int64_t e : efforts) {
    REQUIRE(q.next());
    CAPTURE(q.integer(0));
    CHECK(q.integer(1) == e);
    if (q.integer(0) == 8) continue;
    benanza::result::run r; // what a run that is stored today would get
    r.provenance = s.provenance_of(q.integer(0));
    CHECK(static_cast<std::int64_t>(effort_of(r)) == e);
  }
}

TEST_CASE("runs of a store of schema 4 get their dates in UTC, and keep all else") {
  const benanza::test::scratch_folder f("schema");
  const std::string file = f / "old.db";
  {
    store s(file, mode::write);
    for (int i = 0; i < 4; ++i)
      s.begin_run(synthetic::small_run());
  }
  {
    const database d(file, SQLITE_OPEN_READWRITE, file, 100);
    d.run(R"(UPDATE run SET date = '2026-11-27T12:44:51-0400' WHERE id = 1;
UPDATE run SET date = '2026-11-27T16:44:50+0000' WHERE id = 2;
UPDATE run SET date = '2026-99-99T16:44:50+0100' WHERE id = 3;
PRAGMA user_version = 4;)");
  }
  const store s(file, mode::read);
  CHECK(version_of(file) == current_schema);
  statement q(s.tables_of(), "SELECT date, checksum FROM run ORDER BY id");
  for (const char* date : {"2026-11-27T16:44:51+0000", "2026-11-27T16:44:50+0000",
                           "2026-99-99T16:44:50+0100", "2024-01-02"}) {
    REQUIRE(q.next());
    CHECK(q.text(0) == date);
  }
  s.check_run(1);
  s.check_run(4);
}

TEST_CASE("a made store and a migrated one have the same columns") {
  const benanza::test::scratch_folder f("schema");
  write_old(f / "old.db");
  const auto columns = [](const store& s) {
    statement q(s.tables_of(), "SELECT group_concat(x, ' ') FROM (SELECT m.name || '.' || c.name AS"
                               " x FROM sqlite_master m, pragma_table_info(m.name) c ORDER BY x)");
    REQUIRE(q.next());
    return std::string(q.text(0));
  };
  CHECK(columns(store(f / "old.db", mode::write)) == columns(store(f / "new.db", mode::write)));
}

TEST_CASE("steps are taken from the schema that is there, and all of them or none") {
  const benanza::test::scratch_folder f("schema");
  const database d(f / "a.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "a.db", 100);
  const std::array<migration, 3> steps{
      {{1, "CREATE TABLE one (i)"}, {2, "CREATE TABLE two (i)"}, {3, "CREATE TABLE three (i)"}}};
  migrate(d, 2, steps);
  CHECK(detail::number(d, "SELECT count(*) FROM sqlite_master") == 2);
  CHECK(detail::number(d, "PRAGMA user_version") == 4);

  const std::array<migration, 2> broken{{{4, "CREATE TABLE four (i)"}, {5, "no SQL"}}};
  try {
    transaction t(d);
    migrate(d, 4, broken);
    t.commit();
    FAIL("a broken step was taken");
  } catch (const benanza::error&) {
  }
  CHECK(detail::number(d, "SELECT count(*) FROM sqlite_master") == 2);
  CHECK(detail::number(d, "PRAGMA user_version") == 4);
}
