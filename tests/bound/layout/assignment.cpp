// SPDX-License-Identifier: Apache-2.0
// Is the assignment of layouts really the cheapest? Compared with every assignment there is, on
// random small graphs; the inexact method with the exact one.
#include "result/synthetic.hpp"

#include <benanza/bound/layout/assignment.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace {

using benanza::layout;
using benanza::bound::assignment;
using benanza::bound::cheapest;
using benanza::bound::impossible_ns;
using benanza::bound::laid_tensor;
using benanza::bound::layout_problem;
using benanza::bound::passed_tensor;
using benanza::bound::total_ns;
using benanza::bound::way;

constexpr benanza::bound::elimination_limits not_exact{.table = 1, .all = 1}; // of the exact method

layout random_layout(synthetic::random& dice) {
  return benanza::all_layouts[static_cast<std::size_t>(dice.below(3))];
}

/// A graph of `n` nodes that read tensors made at most `reach` nodes before, the first of them
/// given by the caller. Some changes of layout are impossible if `gaps`.
layout_problem random_problem(synthetic::random& dice, int n, int reach = 6, bool gaps = true) {
  layout_problem p;
  p.tensors.resize(static_cast<std::size_t>(n) + 1);
  for (int t = 0; t <= n; ++t) {
    passed_tensor& tensor = p.tensors[static_cast<std::size_t>(t)];
    tensor.maker = t - 1;
    tensor.plain_at_end = t == n || dice.below(8) == 0;
    for (std::size_t from = 0; from < 4; ++from)
      for (std::size_t to = 0; to < 4; ++to)
        if (from != to)
          tensor.change_ns[from][to] =
              gaps && dice.below(12) == 0 ? impossible_ns : 1 + dice.below(40);
  }
  for (int i = 0; i < n; ++i) {
    std::vector<int> reads{i - dice.below(std::min(i + 1, 3))};
    if (dice.below(2) == 0) reads.push_back(i - dice.below(std::min(i + 1, reach)));
    std::vector<way> ways(static_cast<std::size_t>(2 + dice.below(3)));
    for (way& w : ways) {
      w.ns = dice.below(60);
      w.gives = random_layout(dice);
      for (int t : reads)
        w.wants.push_back({t, random_layout(dice)});
    }
    p.nodes.push_back(std::move(ways));
  }
  return p;
}

/// The least total of all assignments.
double least(const layout_problem& p) {
  std::vector<int> ways(p.nodes.size(), 0);
  double out = impossible_ns;
  while (true) {
    out = std::min(out, total_ns(p, ways));
    std::size_t i = 0;
    while (i < ways.size() && ++ways[i] == static_cast<int>(p.nodes[i].size()))
      ways[i++] = 0;
    if (i == ways.size()) return out;
  }
}

/// Two nodes, the second reading the first, that either keep blocks or are plain.
layout_problem pair(double change) {
  layout_problem p;
  p.tensors.resize(3);
  for (std::size_t t = 0; t < 3; ++t) {
    p.tensors[t].maker = static_cast<int>(t) - 1;
    p.tensors[t].change_ns[0][3] = p.tensors[t].change_ns[3][0] = change;
  }
  p.tensors[2].plain_at_end = true;
  p.nodes = {{{.wants = {{0, layout::plain}}, .gives = layout::plain, .ns = 20},
              {.wants = {{0, layout::plain}}, .gives = layout::blocked16, .ns = 10}},
             {{.wants = {{1, layout::plain}}, .gives = layout::plain, .ns = 20},
              {.wants = {{1, layout::blocked16}}, .gives = layout::blocked16, .ns = 10}}};
  return p;
}

} // namespace

TEST_CASE("no assignment of a random small graph is cheaper than the one found") {
  int possible = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    synthetic::random dice{seed};
    const layout_problem p = random_problem(dice, 1 + dice.below(6));
    const assignment a = cheapest(p);
    REQUIRE(a.exact);
    REQUIRE(a.way.size() == p.nodes.size());
    CHECK(a.ns == total_ns(p, a.way));
    CHECK(a.ns == least(p));
    possible += std::isfinite(a.ns);
  }
  CHECK(possible > 200);
}

TEST_CASE("the inexact method is never better, is often as good, and says that it is inexact") {
  int same = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    synthetic::random dice{seed};
    const layout_problem p = random_problem(dice, 6);
    const assignment exact = cheapest(p), found = cheapest(p, not_exact);
    CHECK(exact.exact);
    CHECK_FALSE(found.exact);
    CHECK(found.ns == total_ns(p, found.way));
    CHECK(found.ns >= exact.ns);
    same += found.ns == exact.ns;
  }
  CHECK(same > 50);
}

TEST_CASE("layouts are changed where that pays, at the graph's end too") {
  CHECK(cheapest(pair(5)).ns == 25);
  CHECK(cheapest(pair(5)).way == std::vector<int>{1, 1});
  CHECK(cheapest(pair(25)).ns == 40);
  CHECK(cheapest(pair(25)).way == std::vector<int>{0, 0});
  CHECK(benanza::bound::changes(pair(5), {1, 1}).size() == 1);
  CHECK(benanza::bound::changes(pair(5), {1, 0}).size() == 1);
  CHECK(benanza::bound::changes(pair(5), {0, 0}).empty());
}

TEST_CASE("a tensor that two want in the same other layout is changed once") {
  layout_problem p = pair(8);
  p.tensors.push_back(p.tensors[2]);
  p.tensors[3].maker = 2;
  p.nodes.push_back(p.nodes[1]);
  p.nodes[0].resize(1);
  for (std::size_t n : {1u, 2u})
    p.nodes[n] = {{.wants = {{1, layout::blocked16}}, .gives = layout::plain, .ns = 3}};
  CHECK(cheapest(p).ns == 20 + 8 + 3 + 3);
  CHECK(benanza::bound::changes(p, {0, 0, 0}).size() == 1);
}

TEST_CASE(
    "what needs an impossible change is not chosen, and is infinite if there is nothing else") {
  layout_problem p = pair(impossible_ns);
  CHECK(cheapest(p).ns == 40);
  p.nodes[1].erase(p.nodes[1].begin());
  CHECK(std::isinf(cheapest(p).ns));
  CHECK(cheapest(layout_problem{}).ns == 0);
}

TEST_CASE("an order takes the cheapest variable next, and says what passes the limits") {
  using benanza::bound::elimination_order;
  const std::vector<std::size_t> sizes{2, 3, 2, 1};
  elimination_order chain(sizes);
  chain.together({0, 1});
  chain.together({1, 2});
  REQUIRE(chain.find({.table = 6, .all = 18}));
  REQUIRE(chain.steps().size() == 3); // what has one value is no choice
  CHECK(chain.steps()[0].variable == 0);
  CHECK(chain.steps()[0].given == std::vector<int>{1});
  CHECK(chain.steps()[2].given.empty());
  for (const benanza::bound::elimination_limits& less :
       {benanza::bound::elimination_limits{.table = 5, .all = 100}, {.table = 6, .all = 13}}) {
    elimination_order again(sizes);
    again.together({0, 1});
    again.together({1, 2});
    CHECK_FALSE(again.find(less));
  }
}

TEST_CASE("graphs of tens of thousands of nodes: exact where they are narrow, and said where not") {
  synthetic::random dice{11};
  constexpr int n = 30'000;
  const auto tensors = [&](layout_problem& p) {
    for (int t = 0; t <= n; ++t) {
      passed_tensor& tensor = p.tensors.emplace_back();
      tensor.maker = t - 1;
      for (std::size_t from = 0; from < 4; ++from)
        for (std::size_t to = 0; to < 4; ++to)
          if (from != to) tensor.change_ns[from][to] = 1 + dice.below(40);
    }
  };
  const auto ways = [&](const std::vector<int>& reads) {
    std::vector<way> out(3);
    for (way& w : out) {
      w.ns = dice.below(60);
      w.gives = random_layout(dice);
      for (int t : reads)
        w.wants.push_back({t, random_layout(dice)});
    }
    return out;
  };
  layout_problem chain, star, join, wide;
  for (layout_problem* p : {&chain, &star, &join, &wide})
    tensors(*p);
  std::vector<int> all;
  for (int i = 0; i < n; ++i) {
    chain.nodes.push_back(ways({i}));
    star.nodes.push_back(ways({i == 0 ? 0 : 1}));
    wide.nodes.push_back(ways({dice.below(i + 1), dice.below(i + 1)}));
    join.nodes.push_back(i + 1 < n ? ways({0}) : ways(all));
    all.push_back(i + 1);
  }
  for (const layout_problem* p : {&chain, &star, &join}) {
    const assignment a = cheapest(*p), found = cheapest(*p, not_exact);
    CHECK(a.exact);
    CHECK(a.ns == total_ns(*p, a.way));
    CHECK(a.ns <= found.ns);
  }
  const assignment a = cheapest(wide);
  CHECK_FALSE(a.exact);
  CHECK(a.ns == total_ns(wide, a.way));
}

TEST_CASE("where every node reads all before it, the work is bounded and the answer says so") {
  synthetic::random dice{3};
  constexpr int n = 600;
  layout_problem p;
  std::vector<int> all;
  for (int i = 0; i < n; ++i) {
    passed_tensor& tensor = p.tensors.emplace_back();
    tensor.maker = i - 1;
    tensor.change_ns[0][1] = tensor.change_ns[1][0] = 1 + dice.below(40);
    all.push_back(i);
    std::vector<way>& ways = p.nodes.emplace_back(2);
    for (std::size_t w = 0; w < 2; ++w) {
      ways[w].ns = dice.below(60);
      ways[w].gives = benanza::all_layouts[w];
      for (int t : all)
        ways[w].wants.push_back({t, benanza::all_layouts[w]});
    }
  }
  const assignment a = cheapest(p);
  CHECK_FALSE(a.exact);
  CHECK(a.ns == total_ns(p, a.way));
}

TEST_CASE("a long graph is solved exactly, never worse than by improving node by node") {
  synthetic::random dice{5};
  const layout_problem p = random_problem(dice, 400, 4, false);
  const assignment exact = cheapest(p), found = cheapest(p, not_exact);
  CHECK(exact.exact);
  CHECK(exact.ns == total_ns(p, exact.way));
  CHECK(exact.ns <= found.ns);
  MESSAGE("400 nodes: " << exact.ns << " exactly, " << found.ns << " node by node");
}
