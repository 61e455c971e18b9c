// SPDX-License-Identifier: Apache-2.0
#include "made_up.hpp"

#include <benanza/profile/chrome_trace.hpp>
#include <benanza/profile/perfetto_trace.hpp>
#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace benanza;
using namespace test_of_profile;

namespace test_of_timeline {
/// All slices of one track are within each other or apart.
void check_nesting(const nlohmann::json& events) {
  std::map<std::pair<int, int>, std::vector<std::pair<double, double>>> tracks;
  for (const auto& e : events) {
    REQUIRE(e.contains("ph"));
    if (e["ph"] != "X") continue;
    const double begin = e.at("ts"), end = begin + e.at("dur").get<double>();
    CHECK(begin <= end);
    tracks[{e.at("pid"), e.at("tid")}].emplace_back(begin, end);
  }
  constexpr double error = 1e-6;
  for (const auto& [track, all] : tracks)
    for (const auto& a : all)
      for (const auto& b : all)
        CHECK((a.second <= b.first + error || b.second <= a.first + error ||
               (a.first <= b.first + error && b.second <= a.second + error) ||
               (b.first <= a.first + error && a.second <= b.second + error)));
}

trace::span at(int level, double begin, double end, const char* track = "") {
  return {.level = level, .name = "x", .begin_ns = begin, .ns = end - begin, .track = track};
}

TEST_CASE("runs are side by side, a process each, their levels nested") {
  auto all = profile::levelled_runs(levels_run());
  all.push_back(all[0]);
  all[1].who = "another";
  const auto j = nlohmann::json::parse(profile::chrome_trace(profile::timeline(all)));
  CHECK(j["displayTimeUnit"] == "ns");
  const auto& events = j["traceEvents"];
  check_nesting(events);
  std::map<std::string, int> of_category;
  std::map<int, std::string> process;
  for (const auto& e : events) {
    if (e["ph"] == "X") ++of_category[e["cat"]];
    if (e["name"] == "process_name") process[e["pid"]] = e["args"]["name"];
  }
  CHECK(of_category == std::map<std::string, int>{{"model", 2}, {"layer", 6}, {"call", 6}});
  CHECK(process == std::map<int, std::string>{{1, "benanza: net@batch=1 f32 t1"},
                                              {2, "another: net@batch=1 f32 t1"}});
  for (const auto& e : events)
    if (e["ph"] == "X" && e["name"] == "second") CHECK(e["args"]["ns"] == 5000);
}

TEST_CASE("any name is valid in it") {
  auto all = profile::levelled_runs(levels_run());
  all[0].layers[0].name = "a\"b\\c\n\x01</script>\xff\xfe";
  all[0].calls[0].told = "\xc3(";
  const auto j = nlohmann::json::parse(profile::chrome_trace(profile::timeline(all)));
  check_nesting(j["traceEvents"]);
  const std::string same =
      "a\"b\\c\n\x01</script>\ufffd\ufffd"; // tests/scripts/timelines.py reads it
  CHECK(j.dump(-1, ' ', false).find(nlohmann::json(same).dump()) != std::string::npos);
  CHECK(profile::perfetto_trace(profile::timeline(all)).find(same) != std::string::npos);
}

TEST_CASE("fields of Protocol Buffers have the bytes of their kind") {
  protobuf_message inner, m;
  inner.number(1, 150);
  m.message(3, inner).text(16, "ab").real(2, 1.5).number(4, UINT64_MAX);
  CHECK(m.bytes() == std::string("\x1a\x03\x08\x96\x01"
                                 "\x82\x01\x02"
                                 "ab\x11\0\0\0\0\0\0\xf8\x3f"
                                 "\x20\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01",
                                 30));
}

TEST_CASE("what is longer within than without is drawn so, and says what was measured") {
  auto all = profile::levelled_runs(levels_run());
  all[0].calls[0].ns = 20e3;
  const auto j = nlohmann::json::parse(profile::chrome_trace(profile::timeline(all)));
  check_nesting(j["traceEvents"]);
  for (const auto& e : j["traceEvents"])
    if (e["name"] == "first") {
      CHECK(e["dur"] == 20);
      CHECK(e["args"]["ns"] == 4000);
    }
}

TEST_CASE("events that do not nest get tracks of their own; cut times are mended") {
  auto all = profile::levelled_runs(levels_run());
  all[0].spans = {at(1, 0, 100e3),      at(2, 0, 50e3),        at(2, 30e3, 80e3),
                  at(2, 80e3, 100.9e3), at(3, 0, 10e3, "GPU"), at(3, 5e3, 20e3, "GPU"),
                  at(2, 49.5e3, 60e3)};
  const auto j = nlohmann::json::parse(profile::chrome_trace(profile::timeline(all)));
  check_nesting(j["traceEvents"]);
  std::vector<std::string> names;
  int slices = 0;
  for (const auto& e : j["traceEvents"]) {
    if (e["name"] == "thread_name") names.push_back(e["args"]["name"]);
    slices += e["ph"] == "X" ? 1 : 0;
  }
  CHECK(slices == 7);
  CHECK(names == std::vector<std::string>{"run", "GPU", "GPU (2)", "run (2)"});
}
} // namespace test_of_timeline
