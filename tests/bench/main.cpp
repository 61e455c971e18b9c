// SPDX-License-Identifier: Apache-2.0
// A run that is stopped, for whatever reason, goes on where it was.
#include "../measure/fragile.hpp"

#include <benanza/bench/provenance.hpp>
#include <doctest/doctest.h>

#include <fstream>
#include <random>
#include <set>

using namespace benanza::test;
using nlohmann::json;

namespace {
const std::vector<std::string> twelve_layers{"FRAGILE_LAYERS=12"};

std::vector<std::string> into(const std::string& file, const char* isolate = "--isolate") {
  return {isolate, "--benchmark_min_time=0.002", "--benchmark_format=json",
          "--benchmark_out=" + file};
}

std::set<std::string> names_of(const std::string& text) {
  std::set<std::string> names;
  for (const auto& [name, time] : rows(text))
    names.insert(name);
  return names;
}

/// All cases of twelve layers with two algorithms: six Relus hot, six Convs in two states.
constexpr std::size_t all = 12 * 2 * 2;

void check_whole(const std::string& file) {
  const std::string text = text_of(file);
  REQUIRE(json::accept(text));
  const auto got = rows(text);
  CHECK(got.size() == all);
  for (const auto& [name, time] : got)
    CHECK((time == "4000" || time == "3000"));
  CHECK_FALSE(
      json::parse(text)["context"]["benanza"]["provenance"]["measuring"].contains("interrupted"));
  CHECK_FALSE(std::filesystem::exists(file + ".unfinished"));
  CHECK_FALSE(std::filesystem::exists(file + ".part"));
}
} // namespace

TEST_CASE("killed at any moment and started again, a run ends as if nothing had been") {
  const scratch_folder s("kill");
  const std::string file = s / "run.json", log = s / "log";
  std::mt19937 moment(4);
  int kills = 0;
  for (; kills < 10; ++kills) {
    // With the pauses a whole run takes half a second at least.
    running r(s, {"FRAGILE_LAYERS=12", "FRAGILE_PAUSE=20", "FRAGILE_LOG=" + log}, into(file));
    // Every other time it is known to have measured something new, however busy the machine is.
    if (kills % 2 == 1) {
      const long enough = lines_in(log) + 1 + static_cast<long>(moment() % 4);
      const bool went_on =
          eventually([&] { return lines_in(log) >= enough || std::filesystem::exists(file); });
      CAPTURE(r.err());
      REQUIRE(went_on);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10 + moment() % 60));
    r.signal(SIGKILL);
    if (r.end() == 0) break;
    if (std::filesystem::exists(file)) break; // killed after all had been done
  }
  CHECK(kills > 0);
  running last(s, {"FRAGILE_LAYERS=12", "FRAGILE_LOG=" + log}, into(file));
  CHECK(last.end() == 0);
  check_whole(file);
  // A kill costs the group in flight, which has four cases at most, and no more.
  CHECK(lines_in(log) >= 24);
  CHECK(lines_in(log) <= static_cast<long>(all) + 4 * kills);
}

TEST_CASE("after Ctrl-C the JSON is closed and says what is missing, and the run goes on") {
  for (const char* isolate : {"--isolate", "--isolate=false"})
    for (int number : {SIGINT, SIGTERM}) {
      CAPTURE(isolate);
      const scratch_folder s("interrupt");
      const std::string file = s / "run.json", log = s / "log";
      std::string text;
      {
        running r(s, {"FRAGILE_LAYERS=12", "FRAGILE_PAUSE=20", "FRAGILE_LOG=" + log},
                  into(file, isolate));
        REQUIRE(eventually([&] { return lines_in(log) > 4; }));
        r.signal(number);
        CHECK(r.end() == 130);
        CHECK(one_line(r.err()));
        CHECK(r.err().find("run.json is not written") != std::string::npos);
        CHECK(r.err().find("run.json.unfinished") != std::string::npos);
        CHECK_FALSE(std::filesystem::exists(file)); // whole, or not there
        text = r.out();
      }
      REQUIRE(json::accept(text));
      CHECK(json::parse(text)["context"]["benanza"]["provenance"]["measuring"]["interrupted"] ==
            "yes");
      std::size_t measured = 0;
      for (const auto& [name, time] : rows(text))
        measured += time != "interrupted";
      CHECK(measured > 0);
      CHECK(measured < all);

      running r(s, {"FRAGILE_LAYERS=12", "FRAGILE_LOG=" + log}, into(file, isolate));
      CHECK(r.end() == 0);
      CHECK(r.err().find(std::to_string(measured) + " of 48 cases are in") != std::string::npos);
      check_whole(file);
    }
}

TEST_CASE("Ctrl-C ends a hang at once, and the JSON on standard output is closed too") {
  const scratch_folder s("interrupt_hang");
  running r(s, {"FRAGILE_ALGORITHMS=good,hang", "FRAGILE_LOG=" + (s / "log")},
            {"--isolate", "--benchmark_min_time=0.002", "--benchmark_format=json"});
  REQUIRE(eventually([&] { return lines_in(s / "log") > 1; }));
  const auto before = std::chrono::steady_clock::now();
  r.signal(SIGINT);
  CHECK(r.end() == 130);
  // A hang that is not interrupted is given two minutes.
  CHECK(std::chrono::steady_clock::now() - before < std::chrono::seconds(30));
  REQUIRE(json::accept(r.out()));
  for (const auto& [name, time] : rows(r.out()))
    CHECK(time == "interrupted");
}

TEST_CASE("a full disk stops the run in one line, keeps what there was, and the run goes on") {
  const scratch_folder s("full");
  const std::string file = s / "run.json";
  {
    running r(s, twelve_layers, into(file), 12 << 10);
    CHECK(r.end() == 2);
    CHECK(one_line(r.err()));
    CHECK(r.err().find("make room") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(file));
    CHECK_FALSE(std::filesystem::exists(file + ".part"));
    const std::string kept = text_of(file + ".unfinished");
    CHECK(kept.size() > 2000);
    CHECK(kept.back() == '\n');
  }
  running r(s, twelve_layers, into(file));
  CHECK(r.end() == 0);
  CHECK(r.err().find("are in") != std::string::npos);
  check_whole(file);
}

TEST_CASE("a result that cannot be written whole is said, and not called a success") {
  const outcome o =
      shell(fragile_bench + " --benchmark_min_time=0.002 --benchmark_format=json >/dev/full");
  CHECK(o.status == 2);
  CHECK(one_line(o.err));
  CHECK(o.err.find("standard output") != std::string::npos);
}

TEST_CASE("what is no regular file is written as it is") {
  CHECK(fragile("", "--benchmark_out=/dev/null").status == 0);
  CHECK(std::filesystem::is_character_file("/dev/null"));
  CHECK_FALSE(std::filesystem::exists("/dev/null.unfinished"));
}

TEST_CASE("a run of devices alone goes on with another host, and not with another library") {
  const benanza::bench::run_facts here{
      {"machine", {{"cpu", "one"}}},
      {"software", {{"cudnn_version", "9.19"}}},
      {"measuring", {{"effort", "quick"}, {"processors", "0,1"}, {"OMP_DYNAMIC", "false"}}}};
  auto moved = here, changed = here, longer = here;
  moved["machine"]["cpu"] = "another";
  moved["measuring"]["processors"] = "0";
  changed["software"]["cudnn_version"] = "9.20";
  longer["measuring"]["effort"] = "normal";
  using benanza::bench::setting_of;
  CHECK(setting_of(moved, true) == setting_of(here, true));
  CHECK(setting_of(moved) != setting_of(here));
  CHECK(setting_of(changed, true) != setting_of(here, true));
  CHECK(setting_of(longer, true) != setting_of(here, true));
}

TEST_CASE("another machine, build or setting does not go on from what is left") {
  const scratch_folder s("other");
  const std::string file = s / "run.json";
  {
    running r(s, twelve_layers, into(file), 12 << 10);
    REQUIRE(r.end() == 2);
  }
  const outcome other = shell("env FRAGILE_LAYERS=12 FRAGILE_VERSION=2 " + fragile_bench +
                              " --benchmark_min_time=0.002 --benchmark_out=" + file);
  CHECK(other.status == 2);
  CHECK(one_line(other.err));
  CHECK(other.err.find("software.fragile_version \"1\"") != std::string::npos);
  const outcome longer =
      shell("env FRAGILE_LAYERS=12 " + fragile_bench + " --benchmark_out=" + file);
  CHECK(longer.status == 2);
  CHECK(longer.err.find("min_time_s") != std::string::npos);
  const outcome anew = shell("env FRAGILE_LAYERS=12 FRAGILE_VERSION=2 " + fragile_bench +
                             " --benchmark_min_time=0.002 --again --benchmark_out=" + file);
  CHECK(anew.status == 0);
  check_whole(file);
}

TEST_CASE("failed cases are part of a result, and measured again when that is asked for") {
  const scratch_folder s("failed");
  const std::string file = s / "run.json", log = s / "log";
  const std::vector<std::string> settings{"FRAGILE_LAYERS=5", "FRAGILE_ALGORITHMS=good,crash",
                                          "FRAGILE_LOG=" + log};
  {
    running r(s, settings, into(file), 9 << 10);
    REQUIRE(r.end() == 2);
  }
  const std::string kept = text_of(file + ".unfinished");
  std::set<std::string> layers; // those whose results are kept
  std::istringstream lines(kept);
  for (std::string line; std::getline(lines, line);) {
    const json kept_line = json::parse(line.substr(17));
    for (const auto& m : kept_line.value("measurements", json::array()))
      layers.insert(m["family"].get<std::string>() + '/' + m["key"].get<std::string>());
  }
  REQUIRE(layers.size() > 1);
  REQUIRE(layers.size() < 5);
  const auto goes_on = [&](const char* again, bool failed_anew) {
    std::ofstream(file + ".unfinished") << kept;
    std::filesystem::remove(log);
    auto options = into(file);
    options.push_back(again);
    running r(s, settings, options);
    CHECK(r.end() == 1);
    const std::string prepared = text_of(log);
    for (const std::string& layer : layers) {
      CHECK(prepared.find(layer + " good") == std::string::npos);
      CHECK((prepared.find(layer + " crash") != std::string::npos) == failed_anew);
    }
    CHECK(rows(text_of(file)).size() == 5 * 2 * 2);
  };
  goes_on("--isolate", false);
  goes_on("--again=failed", true);
}

TEST_CASE("the parts of a split run are the whole run, each case once") {
  const auto part = [](const std::string& shard) {
    const outcome o = fragile("FRAGILE_LAYERS=12", "--benchmark_format=json " + shard);
    REQUIRE(o.status == 0);
    return names_of(o.out);
  };
  const auto whole = part("");
  std::set<std::string> together;
  std::size_t sum = 0;
  for (const char* i : {"1/3", "2/3", "3/3"}) {
    const auto one = part(std::string("--isolate --shard ") + i);
    CHECK(one.size() > all / 6);
    sum += one.size();
    together.insert(one.begin(), one.end());
  }
  CHECK(sum == all);
  CHECK(together == whole);
}

TEST_CASE("two runs do not write one file at once") {
  const scratch_folder s("two");
  const std::string file = s / "run.json";
  running first(s, {"FRAGILE_ALGORITHMS=hang", "FRAGILE_LOG=" + (s / "log")}, into(file));
  REQUIRE(eventually([&] { return lines_in(s / "log") > 0; }));
  const outcome second = fragile("", "--benchmark_out=" + file);
  CHECK(second.status == 2);
  CHECK(one_line(second.err));
  CHECK(second.err.find("another run") != std::string::npos);
}

TEST_CASE("bad options of a long run are refused in one line") {
  for (const char* bad :
       {"--shard 0/2", "--shard 3/2", "--shard 1", "--shard a/b", "--shard 1/2x", "--shard 1/99",
        "--case-timeout 0", "--case-timeout soon", "--isolate=perhaps", "--again=never",
        "--store=", "--benchmark_out=/proc/run.json", "--benchmark_out=/tmp"}) {
    const outcome o = fragile("", bad);
    CAPTURE(bad);
    CAPTURE(o.err);
    CHECK(o.status == 2);
    CHECK(one_line(o.err));
    CHECK(o.out.empty());
  }
}
