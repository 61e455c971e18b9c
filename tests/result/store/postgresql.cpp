// SPDX-License-Identifier: Apache-2.0
// Is no password of an address ever shown; and does a server keep all that it was given exactly
// once, whatever becomes of connections and of itself? What is true of every store is asked of it
// by the other tests of this folder.
#include "../synthetic.hpp"
#include "child.hpp"
#include "places.hpp"

#include <benanza/result/store/store.hpp>

#include <doctest/doctest.h>

#include <cstdlib>
#include <map>
#include <string>
#include <thread>
#include <vector>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name
using benanza::result::measurement;
using benanza::result::run;

TEST_CASE("an address shows its server and its database, and nothing else") {
  for (const auto& [address, seen] : std::map<std::string, std::string>{
           {"postgresql://db/results", "postgresql://db/results"},
           {"postgres://me:s3cret@db.example:5433/results", "postgresql://db.example:5433/results"},
           {"postgresql://me:s3c%40ret@[::1]:5433/r", "postgresql://[::1]:5433/r"},
           {"postgresql://h1:1,h2:2/r?user=me&password=s3cret", "postgresql://h1:1,h2:2/r"},
           {"postgresql:///r?host=/run/s3cret&options=-csearch_path%3Dmine", "postgresql:///r"},
           {"postgresql://", "postgresql:///"}}) {
    CHECK(is_address(address));
    CHECK(shown(address) == seen);
  }
  // What another reading would take for a password is not shown, and not sent to a server.
  for (const char* unclear :
       {"postgresql://me:s3c@ret@db/r", "postgresql://me:s3c/ret@db/r", "postgresql://me:1?2@db/r",
        "postgresql://me:s3cret%@db/r", "postgresql://me:s3cret%00@db/r", "postgresql://db/a b",
        "postgresql://db/r?s3cret", "postgresql://db/r?password=s3c@ret",
        "postgresql://me:s#c@db/r", "postgresql://db:s3cret/r", "postgresql://db/s3cret@x",
        "POSTGRESQL://me:s3cret@db/r", "Postgres://me:s3cret@db/r", "postgresql:/me:s3cret@db",
        "host=db user=me password=s3cret", "host=db PASSWORD=s3cret"}) {
    CAPTURE(unclear);
    CHECK(shown(unclear) == "postgresql://...");
    const std::string said = benanza::test::refusal([&] { store(unclear, mode::read); });
    CHECK_FALSE(said.empty());
    CHECK(said.find("s3c") == std::string::npos);
  }
  CHECK_FALSE(is_address("postgresql.db"));
  CHECK(shown("./postgresql:/x") == "./postgresql:/x");
}

#ifdef BENANZA_WITH_POSTGRES

namespace {

using benanza::test::holds;
using benanza::test::refusal;

bool no_server() {
  return benanza::test::server().empty();
}

std::map<std::int64_t, int> times_stored(const store& s) {
  std::map<std::int64_t, int> out;
  for (const known_system& k : s.systems())
    s.rows().of_system(k.id, [&](stored&& row) { ++out[row.what.count]; });
  return out;
}

/// `n` measurements with the numbers from `first` on, of layers that are new with each of them.
std::vector<measurement> fresh_layers(std::int64_t first, int n, bool backwards = false) {
  std::vector<measurement> out;
  for (int i = 0; i < n; ++i) {
    out.push_back(synthetic::timed("Relu/1x" + std::to_string(backwards ? n - i : i + 1), "a", 0,
                                   "hot", {1e3}));
    out.back().count = first + i;
  }
  return out;
}

/// Ends all other sessions with the server.
void end_sessions(const postgresql& p) {
  statement(p, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname ="
               " current_database() AND pid <> pg_backend_pid()")
      .run();
}

} // namespace

TEST_CASE("statements are numbered, and bytes are hexadecimal digits" *
          doctest::skip(no_server())) {
  CHECK(detail::numbered("a = ? AND b = ? OR c(d, ?8) = ?8") ==
        "a = $1 AND b = $2 OR c(d, $8) = $8");
  CHECK(detail::from_hex(detail::to_hex(bytes{0, 1, 0xab, 255})) == bytes{0, 1, 0xab, 255});
  CHECK(detail::full_address("postgresql://db/r?connect_timeout=3").find("connect_timeout=10") ==
        std::string::npos);
}

TEST_CASE("texts of any length come back; one with a zero byte is refused" *
          doctest::skip(no_server())) {
  const benanza::test::store_places f("postgresql");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  r.provenance["machine"]["cpu"] = std::string(20'000, 'c') + "\xc3\xa4'\"\\";
  measurement m = synthetic::timed("Relu/1x64", "a", 0, "hot", {1e3});
  m.key = std::string(9'000, '7');
  m.algorithm = std::string(9'000, '\'') + "%s$1?";
  m.stop_reason = std::string(9'000, 'x');
  m.name.clear();
  const auto id = s.begin_run(r);
  s.add(id, std::vector{m});
  const auto found = s.find(identity_of(r), m.family, m.key, m.type, m.threads);
  REQUIRE(found.size() == 1);
  CHECK(found[0].algorithm == m.algorithm);
  CHECK(found[0].stop_reason == m.stop_reason);
  m.algorithm = std::string("a\0b", 3);
  CHECK(holds(refusal([&] { s.add(id, std::vector{m}); }), "zero byte"));
  CHECK(times_stored(s).size() == 1);
}

TEST_CASE("what is no store of ours is refused, and a reader changes nothing" *
          doctest::skip(no_server())) {
  const benanza::test::store_places f("postgresql");
  CHECK(holds(refusal([&] { store(f / "a.db", mode::read); }), "the store is empty"));
  store(f / "a.db", mode::write).tables_of().run("UPDATE benanza_store SET schema = 99");
  CHECK(holds(refusal([&] { store(f / "a.db", mode::read); }), "newer version of Benanza"));
  postgresql(f / "other", false, 1000).run("CREATE TABLE result (x int)");
  for (const mode how : {mode::read, mode::write})
    CHECK(holds(refusal([&] { store(f / "other", how); }), "another application"));
  const store made(f / "b.db", mode::write);
  const store reader(f / "b.db", mode::read, 1000);
  CHECK(holds(refusal([&] { reader.tables_of().run("DELETE FROM result"); }), "read-only"));
  CHECK(holds(refusal([&] {
                store(benanza::test::server() + "&options=-csearch_path%3Dnowhere", mode::write);
              }),
              "no schema of that name"));
}

TEST_CASE("programs that add the same layers in other orders wait for each other, and end" *
          doctest::skip(no_server())) {
  const benanza::test::store_places f("postgresql");
  const std::string place = f / "a.db";
  std::vector<pid_t> children;
  for (int w = 0; w < 4; ++w)
    children.push_back(benanza::test::start_child([&] {
      store s(place, mode::write);
      s.add(s.begin_run(synthetic::empty_run()), fresh_layers(w * 300, 300, w % 2 == 0));
      return 0;
    }));
  for (const pid_t child : children)
    CHECK(benanza::test::end_of(child) == 0);
  const store s(place, mode::read);
  CHECK(times_stored(s).size() == 1200);
  CHECK(s.systems().size() == 1);
  statement layers(s.tables_of(), "SELECT count(*) FROM layer");
  REQUIRE(layers.next());
  CHECK(layers.integer(0) == 300);
}

TEST_CASE("a commit whose answer was lost is to be made again" * doctest::skip(no_server())) {
  const benanza::test::store_places f("postgresql");
  const postgresql p(f / "a.db", false, 2000), other(f / "a.db", false, 2000);
  p.run("CREATE TABLE t (i INT)");
  const auto count = [&] {
    statement s(p, "SELECT count(*) FROM t");
    return s.next() ? s.integer(0) : -1;
  };
  for (const bool came_to_pass : {true, false}) {
    transaction t(p);
    p.run("INSERT INTO t VALUES (1)");
    if (came_to_pass) p.run("COMMIT");
    end_sessions(other);
    CHECK_THROWS_AS(t.commit(), undone);
  }
  CHECK(count() == 1);
  end_sessions(other); // a question is asked again
  CHECK(count() == 1);
}

TEST_CASE("connections that end and servers that are killed lose nothing and double nothing" *
          doctest::skip(no_server())) {
  const benanza::test::store_places f("postgresql");
  const std::string place = f / "a.db";
  constexpr int writers = 4, batches = 40, size = 10;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w)
    children.push_back(benanza::test::start_child([&] {
      store s(place, mode::write);
      const auto id = s.begin_run(synthetic::small_run());
      for (int b = 0; b < batches; ++b) {
        s.add(id, fresh_layers((w * batches + b) * size, size, w % 2 == 0));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      return 0;
    }));
  {
    const postgresql p(place, false, 10'000);
    for (int i = 0; i < 5; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(60));
      end_sessions(p);
    }
  }
  if (const char* restart = std::getenv("BENANZA_TEST_POSTGRESQL_RESTART"))
    CHECK(std::system(restart) == 0);
  for (const pid_t child : children)
    CHECK(benanza::test::end_of(child) == 0);
  const store s(place, mode::read);
  const auto found = times_stored(s);
  CHECK(found.size() == writers * batches * size);
  for (const auto& [number, times] : found)
    CHECK(times == 1);
  CHECK(s.systems()[0].runs == writers);
}

#endif
