// SPDX-License-Identifier: Apache-2.0
// Do calls find the nodes that they computed? Plain and fused calls on graphs built by hand: in
// order, by dims alone, with a folded normalization, with a bias apart, and what is left over.
#include "log_text.hpp"

#include <benanza/trace/match.hpp>

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace test_of_match {
using benanza::model::constant;
using benanza::model::graph;
using benanza::model::model_input;
using benanza::model::operand;
using benanza::op::name;
using benanza::op::parse;
using benanza::trace::call;
using benanza::trace::call_log;
using benanza::trace::likeness;
using benanza::trace::matcher;

/// A graph of nodes, each with its layer and where its operands come from.
graph graph_of(const std::vector<std::pair<std::string, std::vector<int>>>& nodes) {
  graph g;
  g.name = g.model = "net";
  std::map<std::string, int> index;
  for (const auto& [layer, inputs] : nodes)
    if (!layer.empty()) index.emplace(name(parse(layer)), 0);
  for (auto& [layer, i] : index) {
    i = static_cast<int>(g.layers.size());
    g.layers.push_back(parse(layer));
  }
  for (const auto& [layer, inputs] : nodes) {
    benanza::model::node n;
    n.name = "n" + std::to_string(g.nodes.size());
    if (!layer.empty()) n.layer = index.at(name(parse(layer)));
    for (int i : inputs)
      n.operands.push_back({i});
    n.inputs = benanza::model::inputs_of(n.operands);
    g.nodes.push_back(n);
  }
  return g;
}

/// A log of calls of these layers; an empty one is a call that is no layer.
call_log log_of(const std::vector<std::string>& layers) {
  call_log l;
  benanza::trace::call_table table;
  for (const std::string& layer : layers) {
    call c{.function = "f"};
    if (!layer.empty()) c.layer = parse(layer);
    l.entries.push_back({table.place(l, c)});
  }
  return l;
}

struct found {
  std::vector<std::vector<int>> nodes;
  std::vector<likeness> how;
  std::size_t strangers = 0, surplus = 0;
  std::vector<int> uncalled;
};

found match(const graph& g, const std::vector<std::string>& calls) {
  const call_log l = log_of(calls);
  matcher m(g);
  m.add(l, 0, l.entries.size());
  found out;
  for (const auto& p : m.pairs()) {
    out.nodes.push_back(p.nodes);
    out.how.push_back(p.how);
  }
  for (const auto& c : m.lone())
    ++(c.surplus ? out.surplus : out.strangers);
  out.uncalled = m.uncalled();
  return out;
}

using lists = std::vector<std::vector<int>>;
using hows = std::vector<likeness>;
constexpr auto exact = likeness::exact, shaped = likeness::shape, partial = likeness::partial,
               biased = likeness::bias;
constexpr int in = model_input, c = constant;

const std::string conv = "Conv/1x64x56x56-64x3x3-s1-p1", relu = "Relu/1x64x56x56",
                  bn = "BatchNormalization/1x64x56x56", add = "Add/1x64x56x56",
                  rows = "Add/1x64x56x56-1x64x1x1";

TEST_CASE("equal layers are taken in their order") {
  const graph g = graph_of({{conv, {in, c}}, {relu, {0}}, {conv, {1, c}}, {relu, {2}}});
  const found f = match(g, {conv, relu, conv, relu});
  CHECK(f.nodes == lists{{0}, {1}, {2}, {3}});
  CHECK(f.how == hows{exact, exact, exact, exact});
  CHECK(f.uncalled.empty());
}

TEST_CASE("a call too many, a stranger, a call that is no layer, a node without a call") {
  const graph g =
      graph_of({{conv, {in, c}}, {relu, {0}}, {"", {1}}, {"Flatten/1x64x1x1-1x64", {2}}});
  const found f = match(g, {conv, conv, "Conv/1x3x8x8-8x1x1-s1", ""});
  CHECK(f.nodes == lists{{0}});
  CHECK(f.surplus == 1);
  CHECK(f.strangers == 2);
  // The view costs nothing, and so is not missed.
  CHECK(f.uncalled == std::vector<int>{1, 2});
}

TEST_CASE("the same dims, written another way; an equal key goes first") {
  const graph g = graph_of({{conv + "-b", {in, c, c}}, {conv, {0, c}}});
  const found f = match(g, {"Conv/1x64x58x58-64x3x3-s1", conv});
  CHECK(f.nodes == lists{{0}, {1}});
  CHECK(f.how == hows{shaped, exact});
  const found other = match(g, {conv, conv});
  CHECK(other.nodes == lists{{1}, {0}});
  CHECK(other.how == hows{exact, shaped});
}

TEST_CASE("a product's third operand and constants are not in a log") {
  const graph g = graph_of(
      {{"MatMul/1x128x768-768x3072-w", {in, c}}, {"Gemm/1x1000x2048-tb-c1x1000-w", {in, c, c}}});
  const found f = match(g, {"Gemm/128x3072x768-tb", "Gemm/1x1000x2048-tb"});
  CHECK(f.nodes == lists{{0}, {1}});
  CHECK(f.how == hows{shaped, exact});
}

TEST_CASE("a fused call takes the nodes that follow") {
  const graph g = graph_of({{conv + "-b", {in, c, c}}, {add, {0, in}}, {relu, {1}}});
  const found f = match(g, {"Conv+Add+Relu/1x64x56x56-64x3x3-s1-p1-b"});
  CHECK(f.nodes == lists{{0, 1, 2}});
  CHECK(f.how == hows{exact});
  CHECK(f.uncalled.empty());
}

TEST_CASE("a normalization is folded into a call with a bias, and only there") {
  const graph g = graph_of({{conv, {in, c}}, {bn, {0, c, c, c, c}}, {relu, {1}}});
  CHECK(match(g, {"Conv+Relu/1x64x56x56-64x3x3-s1-p1-b"}).nodes == lists{{0, 1, 2}});
  CHECK(match(g, {conv + "-b"}).nodes == lists{{0, 1}});
  CHECK(match(g, {conv + "-b", relu}).nodes == lists{{0, 1}, {2}});
  const found apart = match(g, {conv, bn, relu});
  CHECK(apart.nodes == lists{{0}, {1}, {2}});
  CHECK(apart.how == hows{exact, exact, exact});
  // Weights and bias of a node can take one up too, but not where it is called by itself.
  const graph own = graph_of({{conv + "-b", {in, c, c}}, {bn, {0, c, c, c, c}}});
  CHECK(match(own, {conv + "-b"}).nodes == lists{{0, 1}});
  CHECK(match(own, {conv + "-b", bn}).nodes == lists{{0}, {1}});
  // A row that is added counts as a bias too, if it is constant.
  const graph row = graph_of({{conv, {in, c}}, {rows, {0, c}}, {relu, {1}}});
  CHECK(match(row, {conv + "-b", relu}).nodes == lists{{0, 1}, {2}});
  const graph read = graph_of({{conv, {in, c}}, {rows, {0, in}}});
  CHECK(match(read, {conv + "-b"}).nodes == lists{{0}});
}

TEST_CASE("what two nodes read is not fused over") {
  const graph g = graph_of({{conv + "-b", {in, c, c}}, {relu, {0}}, {"Tanh/1x64x56x56", {0}}});
  const found f = match(g, {"Conv+Relu/1x64x56x56-64x3x3-s1-p1-b"});
  CHECK(f.nodes == lists{{0}});
  CHECK(f.how == hows{partial});
  CHECK(f.uncalled == std::vector<int>{1, 2});
}

TEST_CASE("of equal nodes the one with all of the call's steps goes first") {
  const graph g = graph_of(
      {{conv + "-b", {in, c, c}}, {"Tanh/1x64x56x56", {0}}, {conv + "-b", {1, c, c}}, {relu, {2}}});
  CHECK(match(g, {"Conv+Relu/1x64x56x56-64x3x3-s1-p1-b", conv + "-b"}).nodes == lists{{2, 3}, {0}});
}

TEST_CASE("a graph that is fused already") {
  const std::string fused = "Conv+Relu/1x64x56x56-64x3x3-s1-p1-b",
                    joined = "Conv+Add+Relu/1x64x56x56-64x3x3-s1-p1-b";
  const graph g =
      graph_of({{fused, {in, c, c}}, {joined, {0, c, c, in}}, {conv + "-b", {1, c, c}}});
  const found f = match(g, {conv + "-b", joined, fused});
  CHECK(f.nodes == lists{{2}, {1}, {0}});
  CHECK(f.how == hows{exact, exact, exact});
  // Where nothing does the same steps, the same work will do.
  const graph one = graph_of({{fused, {in, c, c}}});
  CHECK(match(one, {joined}).how == hows{partial});
  CHECK(match(one, {conv + "-b"}).how == hows{partial});
  // What is done by a node behind goes on with the call's steps.
  const graph begun =
      graph_of({{"Conv+Add/1x64x56x56-64x3x3-s1-p1-b", {in, c, c, in}}, {relu, {0}}});
  CHECK(match(begun, {joined}).nodes == lists{{0, 1}});
}

TEST_CASE("a bias that is added by a call of its own belongs to its convolution") {
  const graph g = graph_of({{conv + "-b", {in, c, c}}, {relu, {0}}});
  const found f = match(g, {conv, rows, relu});
  CHECK(f.nodes == lists{{0}, {0}, {1}});
  CHECK(f.how == hows{shaped, biased, exact});
  CHECK(f.strangers == 0);
  CHECK(match(g, {conv, rows, rows}).strangers == 1);
}

TEST_CASE("views between a layer and its step are passed") {
  const graph g =
      graph_of({{"Gemm/1x10x4-c1x10", {in, c, c}}, {"Identity/1x10", {0}}, {"Relu/1x10", {1}}});
  CHECK(match(g, {"Gemm+Relu/1x10x4-c1x10"}).nodes == lists{{0, 1, 2}});
  CHECK(match(g, {"Gemm/1x10x4-c1x10"}).nodes == lists{{0}});
}

TEST_CASE(
    "calls of several logs share one model, and layers without a model have any number of calls") {
  const graph g = graph_of({{conv, {in, c}}, {"Gemm/1x10x4", {0, c}}});
  const call_log first = log_of({conv}), second = log_of({"Gemm/1x10x4", conv});
  matcher m(g);
  m.add(first, 0, 1);
  m.add(second, 0, 2);
  REQUIRE(m.pairs().size() == 2);
  CHECK(m.pairs()[1].from == &second);
  CHECK(m.covered() == 2);
  CHECK(m.lone().size() == 1);
  matcher again(g, true);
  again.add(first, 0, 1);
  again.add(second, 0, 2);
  CHECK(again.pairs().size() == 3);
  CHECK(again.lone().empty());
}

} // namespace test_of_match
