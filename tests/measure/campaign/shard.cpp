// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/campaign/shard.hpp>
#include <doctest/doctest.h>

#include <random>
#include <set>

using namespace benanza;
using namespace benanza::measure;

namespace {
struct nothing final : subject {
  explicit nothing(int number, std::int64_t work) {
    key = std::to_string(number);
    flops = work;
  }
  ready_case ready(const bench_case&) override { return {}; }
};

std::vector<group> some(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<group> out;
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t work = std::int64_t{1} << (random() % 36);
    group g{.what = std::make_shared<nothing>(static_cast<int>(i), work)};
    for (std::size_t left = 1 + random() % 9; left > 0; --left)
      g.cases.emplace_back().algorithm.id = std::to_string(left);
    out.push_back(std::move(g));
  }
  return out;
}
} // namespace

TEST_CASE("all parts together are all groups, each once, in their order") {
  for (std::size_t count : {1u, 2u, 7u, 60u})
    for (int parts : {1, 2, 3, 7}) {
      if (static_cast<std::size_t>(parts) > count) continue;
      std::set<int> seen;
      for (int i = 1; i <= parts; ++i) {
        auto groups = some(count, 3);
        keep_shard(groups, i, parts, {});
        CHECK_FALSE(groups.empty());
        int last = -1;
        for (const group& g : groups) {
          const int number = std::stoi(g.what->key);
          CHECK(number > last);
          last = number;
          CHECK(seen.insert(number).second);
        }
      }
      CHECK(seen.size() == count);
    }
}

TEST_CASE("the split is the same in whichever cache states parts measure") {
  for (int i = 1; i <= 3; ++i) {
    auto some_states = some(40, 7), other_states = some(40, 7);
    for (std::size_t g = 0; g < other_states.size();
         g += 2) { // as a model that fits the last cache
      const auto cases = other_states[g].cases;
      for (bench_case c : cases) {
        c.state = "llcw";
        other_states[g].cases.push_back(c);
      }
    }
    keep_shard(some_states, i, 3, {});
    keep_shard(other_states, i, 3, {});
    REQUIRE(some_states.size() == other_states.size());
    for (std::size_t g = 0; g < some_states.size(); ++g)
      CHECK(some_states[g].what->key == other_states[g].what->key);
  }
}

TEST_CASE("no part takes longer than its share and the longest group") {
  const sampling_request o;
  double whole = 0, longest = 0;
  for (const group& g : some(80, 5)) {
    whole += estimated_seconds(g, o);
    longest = std::max(longest, estimated_seconds(g, o));
  }
  for (int parts : {2, 5, 16})
    for (int i = 1; i <= parts; ++i) {
      auto groups = some(80, 5);
      keep_shard(groups, i, parts, o);
      double mine = 0;
      for (const group& g : groups)
        mine += estimated_seconds(g, o);
      CHECK(mine <= whole / parts + longest);
    }
}

TEST_CASE("more parts than groups are refused") {
  auto groups = some(3, 1);
  CHECK_THROWS_WITH_AS(
      keep_shard(groups, 4, 4, {}),
      "there are only 3 groups of cases to split (--shard 4/4); split into fewer parts", error);
}
