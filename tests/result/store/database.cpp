// SPDX-License-Identifier: Apache-2.0
// Are transactions whole, and do SQLite's refusals become a line of ours?
#include "../../program.hpp"
#include "child.hpp"

#include <benanza/result/store/database.hpp>

#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

using namespace benanza::result::store;

namespace {

constexpr int make = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;

using benanza::test::holds;
using benanza::test::refusal;

std::int64_t count(const database& d) {
  statement s(d, "SELECT count(*) FROM t");
  REQUIRE(s.next());
  return s.integer(0);
}

} // namespace

TEST_CASE("values go in and come out, texts with zeros and empty ones too") {
  const benanza::test::scratch_folder f("database");
  const database d(f / "a.db", make, "a.db", 100);
  d.run("CREATE TABLE t (i INTEGER, t TEXT NOT NULL, b BLOB)");
  const std::vector<unsigned char> bytes{0, 1, 255};
  statement insert(d, "INSERT INTO t VALUES (?, ?, ?)");
  insert.run(std::int64_t{-7}, std::string_view("a\0b", 3), bytes);
  insert.run(std::int64_t{8}, std::string_view(), bytes);
  statement s(d, "SELECT i, t, b FROM t ORDER BY i");
  REQUIRE(s.next());
  CHECK(s.integer(0) == -7);
  CHECK(s.text(1) == std::string_view("a\0b", 3));
  CHECK(std::vector(s.bytes(2).begin(), s.bytes(2).end()) == bytes);
  REQUIRE(s.next());
  CHECK(s.text(1).empty());
  CHECK_FALSE(s.next());
}

TEST_CASE("a transaction that is not committed leaves nothing") {
  const benanza::test::scratch_folder f("database");
  const database d(f / "a.db", make, "a.db", 100);
  d.run("CREATE TABLE t (i INTEGER)");
  {
    transaction t(d);
    d.run("INSERT INTO t VALUES (1)");
    CHECK(count(d) == 1);
  }
  CHECK(count(d) == 0);
  transaction t(d);
  d.run("INSERT INTO t VALUES (1)");
  t.commit();
  CHECK(count(d) == 1);
}

TEST_CASE("refusals name the file, the reason and what to do") {
  const benanza::test::scratch_folder f("database");
  const database d(f / "a.db", make, "a.db", 50);
  const std::string no_table = refusal([&] { statement(d, "SELECT * FROM nothing"); });
  CHECK(holds(no_table, "damaged"));
  CHECK(holds(no_table, "a.db"));

  const database other(f / "a.db", make, "a.db", 50);
  const transaction first(other);
  CHECK(holds(refusal([&] { transaction second(d); }), "another program keeps the store locked"));

  CHECK(holds(refusal([&] { database(f / "none/a.db", make, "none/a.db", 50); }),
              "No such file or directory"));
  for (const auto& refused :
       {std::pair{SQLITE_FULL, "disk is full"}, std::pair{SQLITE_READONLY, "read-only"},
        std::pair{SQLITE_CORRUPT, "damaged"}, std::pair{SQLITE_NOTADB, "damaged"},
        std::pair{SQLITE_IOERR_WRITE, "I/O"}})
    CHECK(holds(refusal([&] { d.refuse(refused.first); }), refused.second));
}
