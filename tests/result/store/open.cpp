// SPDX-License-Identifier: Apache-2.0
// What is not a whole store of ours is refused in one line, and stays as it is.
#include "../../program.hpp"
#include "../document.hpp"
#include "child.hpp"

#include <benanza/machine/own_program.hpp>
#include <benanza/result/store/store.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name
namespace files = std::filesystem;

namespace {

using benanza::test::holds;

/// The refusal to open; empty if it was opened.
std::string refusal(const std::string& path, mode how) {
  try {
    const store s(path, how, 200);
  } catch (const benanza::error& e) {
    CHECK(std::string(e.what()).find('\n') == std::string::npos);
    return e.what();
  }
  return {};
}

std::string put(const std::string& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

/// A store with a run in it; its file is whole without any other.
void make_store(const std::string& file) {
  store s(file, mode::write);
  const auto r = synthetic::small_run();
  s.add(s.begin_run(r), r.measurements);
}

std::size_t stored_in(const std::string& file) {
  const store s(file, mode::read);
  std::size_t n = 0;
  for (const known_system& k : s.systems())
    s.rows().of_system(k.id, [&](stored&&) { ++n; });
  return n;
}

} // namespace

TEST_CASE("what is there and is no store is refused and left as it is") {
  const benanza::test::scratch_folder f("open");
  for (const mode how : {mode::read, mode::write}) {
    for (const auto& [name, text] : std::vector<std::pair<std::string, std::string>>{
             {"run.json", synthetic::text(synthetic::small_run())},
             {"garbage.db", std::string(5000, '\x5a')},
             {"short.db", "S"}}) {
      const std::string file = put(f / name, text);
      CHECK(holds(refusal(file, how), "this is no store of results"));
      CHECK(holds(refusal(file, how), name));
      CHECK(benanza::test::text_of(file) == text);
    }
    CHECK(holds(refusal(f.path.string(), how), "this is no file"));
    CHECK(holds(refusal("", how), "needs a name"));
    CHECK(holds(refusal("/dev/null", how), "this is no file"));
    CHECK_FALSE(refusal(f / "none/results.db", how).empty());
  }
  CHECK(holds(refusal(f / "absent.db", mode::read), "no such store"));
  CHECK_FALSE(files::exists(f / "absent.db"));
  put(f / "empty.db", "");
  CHECK(holds(refusal(f / "empty.db", mode::read), "the store is empty"));
  CHECK(refusal(f / "empty.db", mode::write).empty());
}

TEST_CASE("another application's database is refused and left as it is") {
  const benanza::test::scratch_folder f("open");
  {
    const database d(f / "theirs.db", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "", 100);
    d.run("CREATE TABLE result (x); PRAGMA user_version = 2");
  }
  const std::string before = benanza::test::text_of(f / "theirs.db");
  for (const mode how : {mode::read, mode::write})
    CHECK(holds(refusal(f / "theirs.db", how), "another application"));
  CHECK(benanza::test::text_of(f / "theirs.db") == before);
}

TEST_CASE(
    "a store with views, triggers or tables that are computed is refused, and nothing is run") {
  const benanza::test::scratch_folder f("open");
  for (const char* made :
       {"ALTER TABLE run RENAME TO run_; CREATE VIEW run AS WITH RECURSIVE n(x) AS (SELECT 1 UNION"
        " ALL SELECT x + 1 FROM n) SELECT r.* FROM n, run_ r",
        "CREATE TRIGGER t AFTER INSERT ON result BEGIN DELETE FROM graph; END",
        "CREATE TRIGGER t AFTER UPDATE ON run BEGIN DELETE FROM graph; END; PRAGMA user_version = "
        "4",
        "CREATE VIRTUAL TABLE v USING rtree(id, a, b)"}) {
    CAPTURE(made);
    files::remove(f / "a.db");
    make_store(f / "a.db");
    database(f / "a.db", SQLITE_OPEN_READWRITE, "", 100).run(made);
    const std::string before = benanza::test::text_of(f / "a.db");
    for (const mode how : {mode::read, mode::write})
      CHECK(holds(refusal(f / "a.db", how), "more than the tables of a store"));
    CHECK(benanza::test::text_of(f / "a.db") == before);
  }
  // What comes into a file that is open already does nothing.
  files::remove(f / "a.db");
  store s(f / "a.db", mode::write);
  database(f / "a.db", SQLITE_OPEN_READWRITE, "", 100)
      .run("CREATE TRIGGER t AFTER INSERT ON result BEGIN DELETE FROM graph; END");
  const auto r = synthetic::small_run();
  s.add(s.begin_run(r), r.measurements);
  CHECK(detail::number(s.tables_of(), "SELECT count(*) FROM graph") > 0);
}

TEST_CASE("a newer schema is refused and left as it is") {
  const benanza::test::scratch_folder f("open");
  make_store(f / "new.db");
  database(f / "new.db", SQLITE_OPEN_READWRITE, "", 100).run("PRAGMA user_version = 99");
  const std::string before = benanza::test::text_of(f / "new.db");
  for (const mode how : {mode::read, mode::write}) {
    CHECK(holds(refusal(f / "new.db", how), "schema 99"));
    CHECK(holds(refusal(f / "new.db", how), "newer version of Benanza"));
  }
  CHECK(benanza::test::text_of(f / "new.db") == before);
}

TEST_CASE("a store that is cut off is refused") {
  const benanza::test::scratch_folder f("open");
  make_store(f / "whole.db");
  const std::string whole = benanza::test::text_of(f / "whole.db");
  for (const std::size_t n : {std::size_t{17}, std::size_t{100}, std::size_t{4096},
                              whole.size() / 2, whole.size() - 8192}) {
    const std::string file = put(f / ("cut" + std::to_string(n)), whole.substr(0, n));
    for (const mode how : {mode::read, mode::write}) {
      CAPTURE(n);
      CHECK_FALSE(refusal(file, how).empty());
      CHECK(benanza::test::text_of(file) == whole.substr(0, n));
    }
  }
}

TEST_CASE("flipped bits in the header or anywhere end in a line or in a store, never in a crash") {
  const benanza::test::scratch_folder f("open");
  make_store(f / "whole.db");
  const std::string whole = benanza::test::text_of(f / "whole.db");
  synthetic::random dice{3};
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    std::string changed = whole;
    const auto at =
        static_cast<std::size_t>(i < 100 ? i : dice.below(static_cast<int>(whole.size())));
    changed[at] = static_cast<char>(changed[at] ^ (1 << dice.below(8)));
    const std::string file = put(f / "flipped.db", changed);
    files::remove(file + "-wal");
    files::remove(file + "-shm");
    try {
      (void)stored_in(file);
    } catch (const benanza::error& e) {
      ++refused;
      CHECK(holds(e.what(), "flipped.db"));
    }
  }
  CHECK(refused > 20);
}

TEST_CASE("where nothing may be written a store is read, and writing is refused" *
          doctest::skip(benanza::machine::is_emulated())) { // which reads root's files as nobody
  const benanza::test::scratch_folder f("open");
  files::permissions(f.path, files::perms::all);
  make_store(f / "results.db");
  const std::size_t n = stored_in(f / "results.db");
  REQUIRE(n > 0);

  const auto as_reader = [&] {
    return benanza::test::in_child([&] {
      if (!benanza::test::become_nobody()) return 50;
      if (stored_in(f / "results.db") != n) return 1;
      const std::string said = refusal(f / "results.db", mode::write);
      return holds(said, "read-only") || holds(said, "rights") ? 0 : 2;
    });
  };
  files::permissions(f / "results.db", files::perms(0444));
  CHECK(as_reader() == 0); // the file
  for (const char* beside : {"results.db-wal", "results.db-shm"})
    files::remove(f / beside); // which a reader may leave, and a writer could use
  files::permissions(f.path, files::perms(0555));
  CHECK(as_reader() == 0); // the file and its folder
  files::permissions(f / "results.db", files::perms(0666));
  CHECK(as_reader() == 0); // the folder
  CHECK(benanza::test::in_child([&] {
          if (!benanza::test::become_nobody()) return 50;
          return holds(refusal(f / "new.db", mode::write), "in that folder: Permission denied") ? 0
                                                                                                : 1;
        }) == 0);
  files::permissions(f / "results.db", files::perms(0));
  CHECK(benanza::test::in_child([&] {
          if (!benanza::test::become_nobody()) return 50;
          return holds(refusal(f / "results.db", mode::read), "rights") ? 0 : 1;
        }) == 0);
  files::permissions(f.path, files::perms::all);
  files::permissions(f / "results.db", files::perms(0666));
  CHECK(stored_in(f / "results.db") == n);
}

TEST_CASE("who may write leaves nothing next to a store that it has read") {
  const benanza::test::scratch_folder f("open");
  make_store(f / "results.db");
  REQUIRE(stored_in(f / "results.db") > 0);
  for (const char* beside : {"results.db-wal", "results.db-shm"})
    CHECK_FALSE(files::exists(f / beside));
  const store s(f / "results.db", mode::read);
  CHECK_THROWS_AS(s.tables_of().run("DELETE FROM result"), benanza::error);
}

TEST_CASE("names that SQLite would take for something else are names of files") {
  const benanza::test::scratch_folder f("open");
  const auto here = files::current_path();
  files::current_path(f.path);
  for (const char* name : {":memory:", "file:a.db?mode=memory", "a b%20?#.db"}) {
    make_store(name);
    CHECK(files::is_regular_file(name));
    CHECK(stored_in(name) > 0);
  }
  files::current_path(here);
  CHECK(detail::immutable_name("/a b/100%?#.db") == "file:/a b/100%25%3f%23.db?immutable=1");
}

TEST_CASE("programs that make the same store at once make one") {
  const benanza::test::scratch_folder f("open");
  for (int round = 0; round < 5; ++round) {
    const std::string file = f / (std::to_string(round) + ".db");
    std::vector<pid_t> children;
    for (int i = 0; i < 4; ++i)
      children.push_back(benanza::test::start_child([&] {
        make_store(file);
        return 0;
      }));
    for (const pid_t child : children)
      CHECK(benanza::test::end_of(child) == 0);
    CHECK(stored_in(file) == 4 * synthetic::small_run().measurements.size());
  }
}
