// SPDX-License-Identifier: Apache-2.0
// Is a layer that models share in the catalogue once, with every use?
#include <benanza/model/unique.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

using namespace benanza;

namespace {
/// A chain of the layers of these names; "" is a node that could not be resolved.
model::graph chain(std::initializer_list<std::string_view> names) {
  model::graph g;
  std::vector<std::string> sorted;
  for (std::string_view n : names)
    if (!n.empty()) sorted.emplace_back(n);
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  for (const std::string& n : sorted)
    g.layers.push_back(op::parse(n));
  for (std::string_view n : names) {
    model::node v;
    v.op = std::string(n.substr(0, n.find('/')));
    if (n.empty())
      v.problem = "unknown";
    else
      v.layer = static_cast<int>(std::find(sorted.begin(), sorted.end(), n) - sorted.begin());
    if (!g.nodes.empty()) v.inputs = {static_cast<int>(g.nodes.size()) - 1};
    g.nodes.push_back(v);
  }
  return g;
}
} // namespace

TEST_CASE("layers that models share are there once, with their uses") {
  const std::vector<model::graph> graphs{
      chain({"Relu/1x8", "Tanh/1x8", "Relu/1x8"}),
      chain({"Tanh/1x8", "", "Abs/1x8", ""}),
      chain({"Relu/2x8"}),
  };
  const model::catalogue c = model::unique_layers(graphs);
  REQUIRE(c.layers.size() == 4);
  CHECK(op::name(c.layers[0].layer) == "Abs/1x8");
  CHECK(op::name(c.layers[1].layer) == "Relu/1x8");
  CHECK(op::name(c.layers[2].layer) == "Relu/2x8");
  CHECK(op::name(c.layers[3].layer) == "Tanh/1x8");
  CHECK(c.layers[1].uses == std::vector<model::use>{{0, 2}});
  CHECK(c.layers[3].uses == std::vector<model::use>{{0, 1}, {1, 1}});
  CHECK(c.layers[3].count() == 2);
  CHECK(c.nodes == 8);
  CHECK(c.unresolved == 2);
}

TEST_CASE("no graphs, and graphs without layers, make an empty catalogue") {
  CHECK(model::unique_layers({}).layers.empty());
  const std::vector<model::graph> graphs{chain({""}), model::graph{}};
  const model::catalogue c = model::unique_layers(graphs);
  CHECK(c.layers.empty());
  CHECK(c.nodes == 1);
  CHECK(c.unresolved == 1);
}

TEST_CASE("a layer that no node uses is not in the catalogue") {
  model::graph g = chain({"Relu/1x8"});
  g.layers.push_back(op::parse("Tanh/1x8"));
  const std::vector<model::graph> graphs{g};
  CHECK(model::unique_layers(graphs).layers.size() == 1);
}

TEST_CASE("the order of the graphs changes the uses' numbers, not the layers") {
  std::vector<model::graph> graphs{chain({"Relu/1x8", "Abs/3"}), chain({"Abs/3", "Tanh/1"})};
  const auto names = [](const model::catalogue& c) {
    std::vector<std::string> out;
    for (const auto& e : c.layers)
      out.push_back(op::name(e.layer) + " " + std::to_string(e.count()));
    return out;
  };
  const auto before = names(model::unique_layers(graphs));
  std::reverse(graphs.begin(), graphs.end());
  CHECK(names(model::unique_layers(graphs)) == before);
  CHECK(std::is_sorted(before.begin(), before.end()));
}

TEST_CASE("unresolved nodes are counted by operator and reason") {
  model::graph g = chain({"", "Relu/1x8", "", ""});
  g.nodes[0].op = "LSTM";
  g.nodes[2].op = "LSTM";
  g.nodes[3].op = "GRU";
  const auto missing = model::unresolved(g);
  CHECK(missing.size() == 2);
  CHECK(missing.at({"LSTM", "unknown"}) == 2);
  CHECK(model::counts(g) == std::vector<std::int64_t>{1});
}
