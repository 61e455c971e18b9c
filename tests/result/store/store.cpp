// SPDX-License-Identifier: Apache-2.0
// Does a store keep all that it was given, exactly once, whatever happens: other writers, a kill, a
// full disk?
#include "../synthetic.hpp"
#include "child.hpp"
#include "places.hpp"

#include <benanza/result/store/store.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <csignal>
#include <map>
#include <set>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace benanza::result::store;
using mode = benanza::result::store::access; // POSIX has a function of that name
using benanza::result::measurement;
using benanza::result::run;
using benanza::result::to_json;

namespace {

using benanza::test::holds;
using benanza::test::refusal;

/// How often each measurement is stored, by its count, which the tests use as a number.
std::map<std::int64_t, int> numbered(const store& s) {
  std::map<std::int64_t, int> out;
  for (const known_system& k : s.systems())
    s.rows().of_system(k.id, [&](stored&& row) { ++out[row.what.count]; });
  return out;
}

/// `n` measurements with the numbers from `first` on.
std::vector<measurement> batch(std::int64_t first, int n) {
  std::vector<measurement> out;
  for (int i = 0; i < n; ++i) {
    out.push_back(synthetic::timed(i % 2 == 0 ? synthetic::conv : synthetic::relu,
                                   "a" + std::to_string((first + i) % 7), 0, "hot", {1e3, 2e3}));
    out.back().count = first + i;
  }
  return out;
}

/// A connection that is lost at each second commit: before it, or when it came to pass.
class losing final : public connection {
public:
  losing(std::unique_ptr<connection> whole, bool before)
      : connection(whole->path())
      , whole_(std::move(whole))
      , before_(before) {}
  std::unique_ptr<prepared> prepare(std::string_view sql) const override {
    return whole_->prepare(sql);
  }
  void run(const char* sql) const override { whole_->run(sql); }
  void begin() const override { whole_->begin(); }
  void undo() const noexcept override { whole_->undo(); }
  void exclude_others() const override { whole_->exclude_others(); }
  bool many_write() const override { return whole_->many_write(); }
  void commit() const override {
    const bool lost = n_++ % 2 == 1;
    if (lost && before_) throw undone("lost");
    whole_->commit();
    if (lost) throw undone("lost");
  }

private:
  std::unique_ptr<connection> whole_;
  bool before_;
  mutable int n_ = 0;
};

} // namespace

TEST_CASE("a change whose answer was lost is there once") {
  for (const bool before : {true, false}) {
    const benanza::test::store_places f("store");
    store s(std::make_unique<losing>(open(f / "a.db", mode::write, 1000), before));
    const auto id = s.begin_run(synthetic::small_run());
    for (int b = 0; b < 4; ++b)
      s.add(id, batch(b * 10, 10));
    const auto found = numbered(s);
    CHECK(found.size() == 40);
    for (const auto& [number, times] : found)
      CHECK(times == 1);
  }
}

TEST_CASE("what was added is found by system, layer, type and threads, to the last bit") {
  const benanza::test::store_places f("store");
  run r = synthetic::small_run();
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "bf16");
  synthetic::add(r, synthetic::conv, "a", 0, 50e3, 1.1, "f32", 2);
  measurement failed = r.measurements[0];
  failed.algorithm = "broken";
  failed.error = "out of memory";
  r.measurements.push_back(failed);
  const auto id = identity_of(r);
  {
    store s(f / "a.db", mode::write);
    s.add(s.begin_run(r), r.measurements);
    s.add(1, {});
  }
  const store s(f / "a.db", mode::read);
  std::multiset<std::string> in, out;
  for (const measurement& m : r.measurements)
    if (m.family == "Conv" && m.key == "1x64x56x56-64x3x3-s1-p1" && m.type == "f32" &&
        m.threads == 1)
      in.insert(to_json(m).dump());
  failed.name = detail::case_name(failed);
  const auto found = s.find(id, "Conv", "1x64x56x56-64x3x3-s1-p1", "f32", 1);
  for (const measurement& m : found)
    out.insert(to_json(m).dump());
  CHECK(found.size() == 7);
  CHECK(in == out);
  CHECK(found.back().error == "out of memory");
  CHECK(s.find(id, "Conv", "1x64x56x56-64x3x3-s1-p1", "bf16", 1).size() == 2);
  CHECK(s.find(id, "Conv", "1x64x56x56-64x3x3-s1-p1", "f32", 2).size() == 2);
  CHECK(s.find(id, "Conv", "1x64x56x56-64x3x3-s1-p1", "f32", 3).empty());
  CHECK(s.find(id, "Conv", "1x64", "f32", 1).empty());
  CHECK(s.find(id, "Relu", "1x64x56x56-64x3x3-s1-p1", "f32", 1).empty());
  auto other = id;
  other.machine["cpu"] = "Another";
  CHECK(s.find(other, "Conv", "1x64x56x56-64x3x3-s1-p1", "f32", 1).empty());

  const std::int64_t system = *s.find_system(id);
  CHECK(s.holds(system, "Conv", "1x64x56x56-64x3x3-s1-p1", "bf16", 1));
  CHECK_FALSE(s.holds(system, "Conv", "1x64x56x56-64x3x3-s1-p1", "f16", 1));
  CHECK_FALSE(s.holds(system + 1, "Conv", "1x64x56x56-64x3x3-s1-p1", "bf16", 1));
  CHECK(s.provenance_of(1) == r.provenance);
}

TEST_CASE("a new run adds; the newest comes first, by its date and not by when it was stored") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  for (const char* date : {"2024-01-02", "2026-01-02", "2025-01-02"}) {
    r.provenance["measuring"]["date"] = date;
    measurement m = synthetic::timed(synthetic::relu, "a", 0, "hot", {1e3});
    m.stop_reason = date;
    s.add(s.begin_run(r), std::vector{m});
    m.error = "failed";
    s.add(s.begin_run(r), std::vector{m});
  }
  std::vector<std::string> dates;
  const auto found = s.find(identity_of(r), "Relu", "1x64x56x56", "f32", 1);
  for (const measurement& m : found)
    dates.push_back(m.stop_reason);
  CHECK(dates == std::vector<std::string>{"2026-01-02", "2025-01-02", "2024-01-02", "2026-01-02",
                                          "2025-01-02", "2024-01-02"});
  CHECK(found[2].error.empty());
  CHECK(found[3].error == "failed");
  REQUIRE(s.systems().size() == 1);
  CHECK(s.systems()[0].runs == 6);
  CHECK(s.systems()[0].last_date == "2026-01-02");
}

TEST_CASE("a case that only failed is not held") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write);
  measurement m = synthetic::timed(synthetic::relu, "a", 0, "hot", {1e3});
  m.error = "failed";
  const auto id = s.begin_run(synthetic::empty_run());
  s.add(id, std::vector{m});
  CHECK_FALSE(s.holds(1, "Relu", "1x64x56x56", "f32", 1));
  m.error.clear();
  s.add(id, std::vector{m});
  CHECK(s.holds(1, "Relu", "1x64x56x56", "f32", 1));
}

TEST_CASE("results count where no more effort is asked for than they took") {
  using benanza::result::effort;
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  measurement m = synthetic::timed(synthetic::relu, "a", 0, "hot", {1e3});
  const auto find = [&](effort least) {
    return s.find(identity_of(r), "Relu", "1x64x56x56", "f32", 1, least).size();
  };
  const auto holds_it = [&](effort least) {
    return s.holds(1, "Relu", "1x64x56x56", "f32", 1, least);
  };
  const auto failed = [&](effort least) {
    return s.failure(1, "Relu", "1x64x56x56", "f32", 1, least).has_value();
  };
  r.provenance["measuring"]["effort"] = "quick";
  s.add(s.begin_run(r), std::vector{m});
  CHECK(find(effort::quick) == 1);
  CHECK(find(effort::normal) == 0);
  CHECK(holds_it(effort::quick));
  CHECK_FALSE(holds_it(effort::normal));
  r.provenance["measuring"]["effort"] = "thorough";
  s.add(s.begin_run(r), std::vector{m});
  CHECK(find(effort::quick) == 2);
  CHECK(find(effort::normal) == 1);
  CHECK(find(effort::thorough) == 1);
  CHECK(holds_it(effort::thorough));
  CHECK_FALSE(holds_it(effort::exhaustive));
  m.error = "crashed";
  s.add(s.begin_run(r), std::vector{m});
  CHECK(failed(effort::thorough));
  CHECK_FALSE(failed(effort::exhaustive));
  m.backend = "none";
  s.add(s.begin_run(r), std::vector{m});
  CHECK(failed(effort::exhaustive));
}

TEST_CASE("machines and software make systems; how it was measured does not") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write);
  CHECK(s.systems().empty());
  CHECK_FALSE(s.latest_system());
  run r = synthetic::empty_run();
  s.begin_run(r);
  r.provenance["measuring"]["date"] = "2024-01-03";
  s.begin_run(r);
  CHECK(s.systems().size() == 1);
  r.provenance["software"]["onednn_version"] = "3.0";
  r.provenance["measuring"]["date"] = "2024-01-01";
  s.begin_run(r);
  r.provenance["machine"]["cpu"] = "Another";
  s.begin_run(r);
  CHECK(s.systems().size() == 3);
  CHECK(s.latest_system() == 1);
  CHECK(s.systems()[2].identity.machine.at("cpu") == "Another");
}

TEST_CASE("a run without provenance and a run that was not begun are refused") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write);
  CHECK(holds(refusal([&] { s.begin_run({}); }), "\"machine\""));
  run r = synthetic::empty_run();
  r.provenance["software"].clear();
  CHECK(holds(refusal([&] { s.begin_run(r); }), "\"software\""));
  CHECK(holds(refusal([&] { s.add(7, batch(0, 1)); }), "no run 7"));
  CHECK(s.systems().empty());
  CHECK(holds(refusal([&] { store(f / "a.db", mode::read).begin_run(synthetic::empty_run()); }),
              "read-only"));
}

TEST_CASE("what is new of a run is added once, what is stored already is not") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write);
  run r = synthetic::small_run();
  const auto n = std::ssize(r.measurements);
  CHECK(s.add_new(r) == n);
  CHECK(s.add_new(r) == 0);
  CHECK(s.systems()[0].runs == 1);
  // The same results out of a run that was stored while it was measured.
  run live = synthetic::small_run();
  live.provenance["machine"]["cpu"] = "Live";
  s.add(s.begin_run(live), live.measurements);
  CHECK(s.add_new(live) == 0);
  // Another repetition is new, the same graph under the same name is not.
  r.measurements[0].samples_ns[0] += 1;
  CHECK(s.add_new(r) == 1);
  r.graphs[0].name = "renamed";
  CHECK(s.add_new(r) == 0);
  CHECK(s.systems()[0].runs == 3);
  CHECK(s.add_new(r) == 0);
  CHECK(s.systems()[0].runs == 3);
}

TEST_CASE("two programs that write at once lose nothing and double nothing") {
  const benanza::test::store_places f("store");
  const std::string place = f / "a.db";
  constexpr int writers = 2, batches = 100, size = 20;
  std::vector<pid_t> children;
  for (int w = 0; w < writers; ++w)
    children.push_back(benanza::test::start_child([&] {
      store s(place, mode::write);
      run r = synthetic::small_run();
      r.provenance["measuring"]["date"] = "2024-01-0" + std::to_string(w + 1);
      const auto id = s.begin_run(r);
      for (int b = 0; b < batches; ++b)
        s.add(id, batch((w * batches + b) * size, size));
      return 0;
    }));
  for (const pid_t child : children)
    CHECK(benanza::test::end_of(child) == 0);
  const store s(place, mode::read);
  const auto found = numbered(s);
  CHECK(found.size() == writers * batches * size);
  for (const auto& [number, times] : found)
    CHECK(times == 1);
  CHECK(s.systems()[0].runs == writers);
}

TEST_CASE("what add() returned from is there once, whenever its program was killed") {
  const benanza::test::store_places f("store");
  const std::string place = f / "a.db";
  synthetic::random dice{11};
  std::int64_t confirmed = 0, begun = 0;
  constexpr int size = 10;
  for (int round = 0; round < 10; ++round) {
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    const pid_t child = benanza::test::start_child([&] {
      close(ends[0]);
      store s(place, mode::write);
      const auto id = s.begin_run(synthetic::small_run());
      for (std::int64_t first = begun;; first += size) {
        s.add(id, batch(first, size));
        if (write(ends[1], &first, sizeof first) != sizeof first) return 1;
      }
    });
    close(ends[1]);
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + dice.below(100)));
    kill(child, SIGKILL);
    CHECK(benanza::test::end_of(child) == 128 + SIGKILL);
    std::int64_t last = -1;
    for (std::int64_t first = 0; read(ends[0], &first, sizeof first) == sizeof first;)
      last = first;
    close(ends[0]);
    // A server may still be at the end of it.
    std::this_thread::sleep_for(std::chrono::milliseconds(is_address(place) ? 100 : 0));

    const store s(place, mode::write);
    const auto found = numbered(s);
    for (const auto& [number, times] : found)
      CHECK(times == 1);
    if (last >= 0) {
      for (std::int64_t n = begun; n < last + size; ++n)
        CHECK(found.contains(n));
      confirmed += last + size - begun;
    }
    // The last batch may be there without a word of it, but only whole.
    CHECK(found.size() % size == 0);
    begun = found.empty() ? 0 : found.rbegin()->first + 1;
  }
  MESSAGE("confirmed before a kill: " << confirmed);
  const store s(place, mode::read);
  statement counted(s.tables_of(), "SELECT sum(results) FROM run");
  REQUIRE(counted.next());
  CHECK(counted.integer(0) == std::ssize(numbered(s)));
}

TEST_CASE("SQLite: a full disk: one line, none of the batch is stored, nothing else is lost") {
  const benanza::test::store_places f("store");
  {
    store s(f / "a.db", mode::write);
    const auto id = s.begin_run(synthetic::small_run());
    s.add(id, batch(0, 100));
    s.tables_of().run("PRAGMA max_page_count = 1");
    CHECK(holds(refusal([&] {
                  for (int i = 1; i < 1000; ++i)
                    s.add(id, batch(i * 100, 100));
                }),
                "the disk is full"));
    const auto full = numbered(s);
    CHECK(full.size() % 100 == 0);
    // With space again, it goes on: no number of a layer from the undone batch is remembered.
    s.tables_of().run("PRAGMA max_page_count = 1000000");
    s.add(id, batch(1'000'000, 100));
    CHECK(numbered(s).size() == full.size() + 100);
  }
  // A limit of the system, in the middle of a write.
  const std::size_t before = numbered(store(f / "a.db", mode::read)).size();
  CHECK(benanza::test::in_child([&] {
          std::signal(SIGXFSZ, SIG_IGN);
          const rlimit limit{400'000, 400'000};
          if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 50;
          store s(f / "a.db", mode::write);
          const auto id = s.begin_run(synthetic::small_run());
          std::int64_t done = 0;
          const std::string said = refusal([&] {
            for (; done < 1000; ++done)
              s.add(id, batch(2'000'000 + done * 100, 100));
          });
          if (said.find('\n') != std::string::npos || !holds(said, "a.db")) return 1;
          std::cerr << said << '\n';
          return numbered(s).size() == before + static_cast<std::size_t>(done) * 100 ? 0 : 2;
        }) == 0);
  CHECK(numbered(store(f / "a.db", mode::write)).size() >= before);
}

TEST_CASE("who has read goes on to write, though others wrote in between") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write, 100);
  const run r = synthetic::small_run();
  const auto id = s.begin_run(r);
  s.add(id, batch(0, 20));
  CHECK(s.find(identity_of(r), "Relu", "1x64x56x56", "f32", 1).size() == 10);
  CHECK(s.holds(1, "Relu", "1x64x56x56", "f32", 1));
  CHECK(s.latest_system() == 1);
  CHECK_THROWS_AS(s.rows().of_system(1, [](stored&&) { throw benanza::error("enough"); }),
                  benanza::error);
  {
    store other(f / "a.db", mode::write, 100);
    other.add(id, batch(20, 20));
  }
  s.add(id, batch(40, 20));
  CHECK(numbered(s).size() == 60);
}

TEST_CASE("SQLite: a writer that waits too long is refused, and nothing is stored") {
  const benanza::test::store_places f("store");
  store s(f / "a.db", mode::write, 100);
  const auto id = s.begin_run(synthetic::small_run());
  {
    const store other(f / "a.db", mode::write);
    const transaction held(other.tables_of());
    CHECK(
        holds(refusal([&] { s.add(id, batch(0, 10)); }), "another program keeps the store locked"));
    CHECK(store(f / "a.db", mode::read).systems().size() == 1); // readers do not wait
  }
  CHECK(numbered(s).empty());
  s.add(id, batch(0, 10));
  CHECK(numbered(s).size() == 10);
}
