// SPDX-License-Identifier: Apache-2.0
// A run that keeps its results in a store.
#include "../fragile.hpp"

#if BENANZA_STORE_BUILT
#include <benanza/result/store/store.hpp>
#endif
#include <doctest/doctest.h>

#include <fstream>

using namespace benanza::test;
using nlohmann::json;

namespace {
std::vector<std::string> into_store(const std::string& store) {
  return {"--store", store, "--benchmark_min_time=0.002", "--benchmark_format=json"};
}
constexpr std::size_t kept_cases = 12 * 2 * 2;

std::string measuring(const std::string& text, const char* fact) {
  return json::parse(text)["context"]["benanza"]["provenance"]["measuring"].value(fact, "");
}
} // namespace

#if BENANZA_STORE_BUILT

TEST_CASE("a run into a store is isolated, and what is stored is not measured again") {
  const scratch_folder s("store_run");
  const std::string store = s / "r.db", log = s / "log";
  const std::vector<std::string> settings{"FRAGILE_LAYERS=12", "FRAGILE_LOG=" + log};
  std::string first;
  {
    running r(s, settings, into_store(store));
    CHECK(r.end() == 0);
    first = r.out();
    CHECK(measuring(first, "isolated") == "yes");
  }
  const long once = lines_in(log);
  {
    running r(s, settings, into_store(store));
    CHECK(r.end() == 0);
    CHECK(r.err().find("48 of 48 cases are in") != std::string::npos);
    CHECK(rows(r.out()) == rows(first));
    CHECK(rows(first).size() == kept_cases);
  }
  CHECK(lines_in(log) == once);
  auto again = into_store(store);
  again.push_back("--again");
  running r(s, settings, again);
  CHECK(r.end() == 0);
  CHECK(lines_in(log) == 2 * once);
}

TEST_CASE("what is stored with less effort is measured again, with more it is not") {
  const scratch_folder s("store_effort");
  const std::string store = s / "r.db", log = s / "log";
  long before = 0;
  const auto measured_with = [&](const std::string& effort) {
    running r(s, {"FRAGILE_LAYERS=2", "FRAGILE_LOG=" + log},
              {"--store", store, "--effort=" + effort, "--benchmark_format=json"});
    CHECK(r.end() == 0);
    const long lines = lines_in(log);
    return std::exchange(before, lines) != lines;
  };
  CHECK(measured_with("quick"));
  CHECK_FALSE(measured_with("quick"));
  CHECK(measured_with("normal"));
  CHECK_FALSE(measured_with("normal"));
  CHECK_FALSE(measured_with("quick"));
}

TEST_CASE("that nothing runs a layer is stored once, in each type that was asked for") {
  const scratch_folder s("store_nothing");
  const std::string store = s / "r.db";
  const std::vector<std::string> settings{"FRAGILE_LAYERS=4", "FRAGILE_LACKS=Conv"};
  auto options = into_store(store);
  options.push_back("--types=bf16");
  for (int i = 0; i < 2; ++i) {
    running r(s, settings, options);
    CHECK(r.end() == 0);
    for (const auto& [name, time] : rows(r.out()))
      CHECK(name.find("-4x3x3") == std::string::npos);
  }
  const benanza::result::store::store kept(store, benanza::result::store::access::read);
  REQUIRE(kept.systems().size() == 1);
  CHECK(kept.systems()[0].runs == 1);
  std::map<std::string, int> nothing;
  kept.rows().of_system(kept.systems()[0].id, [&](benanza::result::store::stored&& row) {
    if (benanza::result::nothing_runs(row.what)) ++nothing[row.what.error];
  });
  CHECK(nothing == std::map<std::string, int>{{"no backend has an algorithm for it in bf16", 4},
                                              {"no backend has an algorithm for it in f32", 2}});
}

TEST_CASE("where nothing runs any layer the run is refused, and the store knows") {
  const scratch_folder s("store_nothing");
  const std::string store = s / "r.db";
  auto options = into_store(store);
  options.push_back("--benchmark_filter=^Conv/");
  running r(s, {"FRAGILE_LACKS=Conv"}, options);
  CHECK(r.end() == 2);
  CHECK(one_line(r.err()));
  CHECK(r.err().find("no backend has an algorithm for the selected layers") != std::string::npos);
  CHECK(r.out().empty());
  const benanza::result::store::store kept(store, benanza::result::store::access::read);
  CHECK(kept.failure(1, "Conv", "1x4x5x6-4x3x3-s1-p1", "f32", 1).has_value());
  CHECK_FALSE(kept.failure(1, "Relu", "1x4x5x5", "f32", 1).has_value());
}

TEST_CASE("other software finds no results of its own in a store") {
  const scratch_folder s("store_other");
  const std::string store = s / "r.db", log = s / "log";
  for (const char* version : {"FRAGILE_VERSION=1", "FRAGILE_VERSION=2"}) {
    const long before = lines_in(log);
    running r(s, {"FRAGILE_LAYERS=12", "FRAGILE_LOG=" + log, version}, into_store(store));
    CHECK(r.end() == 0);
    CHECK(lines_in(log) > before);
    CHECK(r.err().empty());
  }
}

TEST_CASE("a store loses nothing when the run is killed, and nothing is measured twice") {
  const scratch_folder s("store_kill");
  const std::string store = s / "r.db", log = s / "log";
  const std::vector<std::string> settings{"FRAGILE_LAYERS=12", "FRAGILE_LOG=" + log};
  int kills = 0;
  for (; kills < 10; ++kills) {
    auto slowly = settings;
    slowly.push_back("FRAGILE_PAUSE=20");
    running r(s, slowly, into_store(store));
    std::this_thread::sleep_for(std::chrono::milliseconds(30 + 17 * kills));
    r.signal(SIGKILL);
    if (r.end() == 0) break;
  }
  CHECK(kills > 0);
  running last(s, settings, into_store(store));
  CHECK(last.end() == 0);
  const auto got = rows(last.out());
  CHECK(got.size() == kept_cases);
  for (const auto& [name, time] : got)
    CHECK((time == "4000" || time == "3000"));
  CHECK(lines_in(log) <= static_cast<long>(kept_cases) + 4 * kills);
}

TEST_CASE("the stores of the parts of a run hold together what the whole does") {
  const scratch_folder s("store_shard");
  const std::string store = s / "r.db";
  for (const char* shard : {"1/2", "2/2"}) {
    auto options = into_store(store);
    options.push_back(std::string("--shard=") + shard);
    running r(s, {"FRAGILE_LAYERS=12"}, options);
    CHECK(r.end() == 0);
  }
  running whole(s, {"FRAGILE_LAYERS=12"}, into_store(store));
  CHECK(whole.end() == 0);
  CHECK(whole.err().find("48 of 48 cases are in") != std::string::npos);
}

TEST_CASE("a full disk under a store is one line, and the run goes on") {
  const scratch_folder s("store_full");
  const std::string store = s / "r.db";
  {
    running r(s, {"FRAGILE_LAYERS=12"}, into_store(store), 350 << 10);
    CHECK(r.end() == 2);
    CHECK(one_line(r.err()));
  }
  running r(s, {"FRAGILE_LAYERS=12"}, into_store(store));
  CHECK(r.end() == 0);
  CHECK(r.err().find("cases are in") != std::string::npos);
  CHECK(rows(r.out()).size() == kept_cases);
}

TEST_CASE("what is no store is refused before anything is measured") {
  const scratch_folder s("store_foreign");
  std::ofstream(s / "x.db") << "hello, I am no database, and long enough to tell";
  const outcome o = fragile("", "--store " + (s / "x.db"));
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(o.out.empty());
}

#else

TEST_CASE("without SQLite a store is refused with that reason") {
  const outcome o = fragile("", "--store r.db");
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(o.err.find("without SQLite") != std::string::npos);
}

#endif
