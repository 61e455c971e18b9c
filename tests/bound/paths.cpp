// SPDX-License-Identifier: Apache-2.0
// Do the sequential, the parallel and the reachable bound hold what they promise on any graph?
// Checked on random small graphs against all their paths.
#include "../result/synthetic.hpp"

#include <benanza/bound/paths.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <set>
#include <vector>

namespace {

using benanza::bound::path;
using benanza::bound::reachable;
using benanza::bound::sequential;
using benanza::model::counts;
using benanza::model::graph;

double cost(const graph& g, const std::vector<double>& ns, int node) {
  const int layer = g.nodes[static_cast<std::size_t>(node)].layer;
  return layer == benanza::model::no_layer ? 0 : ns[static_cast<std::size_t>(layer)];
}

/// The longest path of a graph whose layers take `ns`.
path longest(const graph& g, const std::vector<double>& ns) {
  return benanza::bound::longest_path(g, benanza::bound::on_nodes(g, ns));
}

/// The most that any path ending in `node` takes, by walking all of them.
double longest_to(const graph& g, const std::vector<double>& ns, int node) {
  double before = 0;
  for (int from : g.nodes[static_cast<std::size_t>(node)].inputs)
    before = std::max(before, longest_to(g, ns, from));
  return before + cost(g, ns, node);
}

double longest_of_all(const graph& g, const std::vector<double>& ns) {
  double most = 0;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    most = std::max(most, longest_to(g, ns, static_cast<int>(i)));
  return most;
}

std::vector<double> random_times(const graph& g, synthetic::random& dice) {
  std::vector<double> ns;
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    ns.push_back(1 + 99 * dice.unit());
  return ns;
}

graph diamond(const std::vector<std::vector<int>>& inputs) {
  return synthetic::make_graph("g", std::vector<std::string>(inputs.size(), synthetic::relu),
                               inputs);
}

} // namespace

TEST_CASE("on random graphs: parallel <= reachable <= sequential, and the path is the longest") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    synthetic::random dice{seed};
    graph g = synthetic::random_graph("g", 1 + dice.below(12), seed, dice.below(5));
    if (seed % 7 == 0) g.nodes.back().layer = benanza::model::no_layer;
    const std::vector<double> ns = random_times(g, dice);
    const double sum = sequential(counts(g), ns);
    const path p = longest(g, ns);
    CHECK(p.ns == doctest::Approx(longest_of_all(g, ns)));

    double along = 0;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      along += cost(g, ns, p.nodes[i]);
      const auto& inputs = g.nodes[static_cast<std::size_t>(p.nodes[i])].inputs;
      if (i == 0)
        CHECK(inputs.empty());
      else
        CHECK(std::count(inputs.begin(), inputs.end(), p.nodes[i - 1]) == 1);
    }
    CHECK(along == doctest::Approx(p.ns));

    double before = sum * (1 + 1e-12);
    for (int workers : {1, 2, 3, 8, 1000}) {
      const double r = reachable(p.ns, sum, workers);
      CHECK(p.ns <= r);
      CHECK(r <= before);
      before = r;
    }
    CHECK(reachable(p.ns, sum, 1) == doctest::Approx(sum));
  }
}

TEST_CASE("a slower layer never lowers a bound and always raises the sequential one") {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    synthetic::random dice{seed};
    const graph g = synthetic::random_graph("g", 10, seed);
    const auto uses = counts(g);
    std::vector<double> ns = random_times(g, dice);
    for (std::size_t l = 0; l < ns.size(); ++l) {
      std::vector<double> slower = ns;
      slower[l] *= 1.5;
      const double sum = sequential(uses, ns), slower_sum = sequential(uses, slower);
      const double p = longest(g, ns).ns, slower_p = longest(g, slower).ns;
      CHECK(slower_p >= p);
      CHECK(reachable(slower_p, slower_sum, 2) >= reachable(p, sum, 2));
      if (uses[l] > 0)
        CHECK(slower_sum > sum);
      else
        CHECK(slower_sum == sum);
    }
  }
}

TEST_CASE("chains have nothing to run in parallel; separate nodes everything") {
  const graph chain = diamond({{}, {0}, {1}, {2}});
  CHECK(longest(chain, {5}).ns == 20);
  CHECK(longest(chain, {5}).nodes == std::vector<int>{0, 1, 2, 3});
  CHECK(sequential(counts(chain), {5}) == 20);
  const graph apart = diamond({{}, {}, {}, {}});
  CHECK(longest(apart, {5}).ns == 5);
  CHECK(longest(apart, {5}).nodes.size() == 1);
  CHECK(longest(graph{}, {}).ns == 0);
  CHECK(longest(graph{}, {}).nodes.empty());
}

TEST_CASE("several sources and sinks, and forks whose one branch ends, as Dropout's mask does") {
  // 0 -> 2 -> 3 (a mask that is not read), 1 -> 2 -> 4 -> 5.
  const graph g = diamond({{}, {}, {0, 1}, {2}, {2}, {4}});
  CHECK(longest(g, {1}).ns == 4);
  CHECK(longest(g, {1}).nodes.back() == 5);
  CHECK(sequential(counts(g), {1}) == 6);
}
