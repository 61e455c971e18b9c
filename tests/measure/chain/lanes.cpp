// SPDX-License-Identifier: Apache-2.0
// Do steps run side by side that may, and wait for all that they need?
#include <benanza/measure/chain/lanes.hpp>

#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace benanza::measure;

TEST_CASE("lanes: one after the other is one lane") {
  const lane_plan p = lanes_of({{{0}, 1}, {{1}, 2}, {{2}, 3}});
  CHECK(count_of(p) == 1);
  CHECK(p[2].behind == std::vector<std::size_t>{1});
}

TEST_CASE("lanes: branches are apart, and what joins them waits for both") {
  const lane_plan p = lanes_of({{{0}, 1}, {{1}, 2}, {{1}, 3}, {{2, 3}, 4}});
  CHECK(p[1].lane != p[2].lane);
  CHECK(p[1].behind == std::vector<std::size_t>{0});
  CHECK(p[2].behind == std::vector<std::size_t>{0});
  CHECK(p[3].behind == std::vector<std::size_t>{1, 2});
  CHECK(count_of(lanes_of({})) == 0);
}

TEST_CASE("lanes: who writes a room waits for those that read what was there") {
  const lane_plan p = lanes_of({{{0}, 1}, {{1}, 2}, {{1}, 3}, {{0}, 1}});
  CHECK(p[3].behind == std::vector<std::size_t>{0, 1, 2});
}

TEST_CASE("lanes: for any steps, those that share a room keep their order") {
  std::mt19937 random(7);
  const auto any = [&random](int below) {
    return static_cast<int>(random() % static_cast<unsigned>(below));
  };
  bool right = true;
  int most = 0;
  for (int round = 0; round < 200; ++round) {
    std::vector<rooms_used> steps(20);
    for (rooms_used& s : steps) {
      for (int k = any(3); k >= 0; --k)
        s.reads.push_back(any(12));
      s.writes = any(12);
    }
    const lane_plan p = lanes_of(steps);
    most = std::max(most, count_of(p));
    // What a step is surely behind: its own lane before it, what it waits for, and so on.
    std::vector<std::set<std::size_t>> before(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      std::set<std::size_t> direct(p[i].behind.begin(), p[i].behind.end());
      for (std::size_t k = 0; k < i; ++k)
        if (p[k].lane == p[i].lane) direct.insert(k);
      for (const std::size_t k : direct) {
        before[i].insert(k);
        before[i].insert(before[k].begin(), before[k].end());
      }
      const auto uses = [&](const rooms_used& s, int room) {
        return s.writes == room || std::count(s.reads.begin(), s.reads.end(), room) > 0;
      };
      for (std::size_t k = 0; k < i; ++k) {
        bool conflict = uses(steps[k], steps[i].writes);
        for (const int r : steps[i].reads)
          conflict = conflict || steps[k].writes == r;
        right = right && (!conflict || before[i].contains(k));
      }
    }
  }
  CHECK(right);
  CHECK(most == most_lanes);
}
