// SPDX-License-Identifier: Apache-2.0
// Is every change of layout paid for, and is no other choice of algorithms, layouts and fused nodes
// cheaper? One block by hand, random graphs against all their assignments.
#include "bound/machine_run.hpp"

#include <benanza/bound/model.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace {

using benanza::layout;
using benanza::numeric;
using benanza::bound::layout_solution;
using benanza::bound::model_bound;
using benanza::bound::source;
using benanza::model::graph;
using benanza::result::measurement;
using benanza::result::run;

model_bound analyse(const run& r) {
  return benanza::bound::analyse(source(r), r.graphs[0], {numeric::f32, 1});
}

/// A graph of elementwise layers of one shape, in three layouts with random times, and reorders.
run random_run(std::uint64_t seed, int nodes) {
  synthetic::random dice{seed};
  run r = synthetic::empty_run();
  const std::string dims = "1x32x8x8";
  const std::vector<std::string> unary{"Relu", "Tanh", "Sigmoid", "Exp"};
  const std::vector<std::string> binary{"Add", "Mul", "Sub"};
  std::vector<std::string> layers;
  std::vector<std::vector<int>> inputs;
  for (int i = 0; i < nodes; ++i) {
    const bool joins = i > 1 && dice.below(2) == 0;
    layers.push_back((joins ? binary[static_cast<std::size_t>(dice.below(3))]
                            : unary[static_cast<std::size_t>(dice.below(4))]) +
                     '/' + dims);
    std::set<int> from;
    if (i > 0) from.insert(i - 1);
    while (joins && from.size() < 2)
      from.insert(dice.below(i));
    inputs.emplace_back(from.begin(), from.end());
  }
  r.graphs.push_back(synthetic::make_graph("random", layers, inputs));
  const std::vector<std::string> names{"plain", "channels_last", "blocked16"};
  for (const std::string& kinds : std::set<std::string>(layers.begin(), layers.end())) {
    const bool joins = std::count(binary.begin(), binary.end(), kinds.substr(0, kinds.find('/')));
    for (int a = 0; a < 3; ++a) {
      const std::string& reads = names[static_cast<std::size_t>(dice.below(3))];
      const std::string& also = names[static_cast<std::size_t>(dice.below(3))];
      const std::string& writes = names[static_cast<std::size_t>(dice.below(3))];
      synthetic::add_laid(r, kinds, "a" + std::to_string(a), a, joins ? reads + ',' + also : reads,
                          writes, 100 + dice.below(900));
    }
    if (dice.below(2) == 0)
      synthetic::add_laid(r, kinds, "keeps", 3, "any", "any", 100 + dice.below(900));
  }
  for (const std::string& from : names)
    for (const std::string& to : names)
      if (from != to)
        synthetic::add_laid(r, "reorder/" + dims + '-' + from + '-' + to, "r", 0, from, to,
                            20 + dice.below(300));
  return r;
}

/// The least that `g` takes when each node runs by one of its algorithms, by trying all of them.
double least_of_all(const run& r, const graph& g) {
  struct kind {
    std::vector<int> reads;
    int writes;
    double ns;
  };
  const auto number = [](const std::string& text) {
    const auto l = benanza::parse_layout(text);
    return l ? static_cast<int>(*l) : -1;
  };
  std::map<std::string, std::vector<kind>> kinds;
  double change[4][4] = {};
  for (const measurement& m : r.measurements) {
    if (m.state != "hot") continue;
    if (m.family == "reorder") {
      change[number(m.operand_layouts)][number(m.result_layout)] = m.min_ns;
      continue;
    }
    const auto comma = m.operand_layouts.find(',');
    const int first = number(m.operand_layouts.substr(0, comma));
    const int second =
        comma == std::string::npos ? first : number(m.operand_layouts.substr(comma + 1));
    for (int l : {0, 1, 3})
      if (first >= 0 ? l == 0 : true)
        kinds[m.family + '/' + m.key].push_back(
            first >= 0 ? kind{{first, second}, number(m.result_layout), m.min_ns}
                       : kind{{l, l}, l, m.min_ns});
  }
  const std::size_t n = g.nodes.size();
  std::vector<const std::vector<kind>*> ways;
  for (const auto& v : g.nodes)
    ways.push_back(&kinds.at(benanza::op::name(g.layers[static_cast<std::size_t>(v.layer)])));
  std::vector<std::size_t> at(n, 0);
  double least = std::numeric_limits<double>::infinity();
  while (true) {
    double ns = 0;
    std::vector<std::set<int>> wanted(n + 1); // the last: of the model's input
    std::vector<char> read(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      const kind& k = (*ways[i])[at[i]];
      ns += k.ns;
      const auto& inputs = g.nodes[i].inputs;
      if (inputs.empty()) wanted[n].insert(k.reads[0]);
      for (std::size_t j = 0; j < inputs.size(); ++j) {
        wanted[static_cast<std::size_t>(inputs[j])].insert(k.reads[j]);
        read[static_cast<std::size_t>(inputs[j])] = 1;
      }
    }
    for (std::size_t i = 0; i <= n; ++i) {
      if (i < n && !read[i]) wanted[i].insert(0);
      for (int to : wanted[i])
        ns += change[i < n ? (*ways[i])[at[i]].writes : 0][to];
    }
    least = std::min(least, ns);
    std::size_t i = 0;
    while (i < n && ++at[i] == ways[i]->size())
      at[i++] = 0;
    if (i == n) return least;
  }
}

/// The fused form of a graph: pairs of nodes of which only the second reads the first, as one node.
graph pairs_of(const graph& g) {
  std::vector<int> readers(g.nodes.size(), 0);
  for (const auto& v : g.nodes)
    for (int i : v.inputs)
      ++readers[static_cast<std::size_t>(i)];
  std::vector<std::string> layers;
  std::vector<std::vector<int>> inputs, parts;
  std::vector<int> place(g.nodes.size());
  const auto name = [&](std::size_t i) {
    return benanza::op::name(g.layers[static_cast<std::size_t>(g.nodes[i].layer)]);
  };
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const bool pair = i + 1 < g.nodes.size() && readers[i] == 1 &&
                      g.nodes[i + 1].inputs == std::vector<int>{static_cast<int>(i)};
    std::set<int> from;
    for (int f : g.nodes[i].inputs)
      from.insert(place[static_cast<std::size_t>(f)]);
    place[i] = static_cast<int>(layers.size());
    if (pair) {
      const std::string first = name(i), second = name(i + 1);
      layers.push_back(first.substr(0, first.find('/')) + '+' + second.substr(0, second.find('/')) +
                       first.substr(first.find('/')));
      parts.push_back({static_cast<int>(i), static_cast<int>(i) + 1});
      place[i + 1] = place[i];
      ++i;
    } else {
      layers.push_back(name(i));
      parts.push_back({static_cast<int>(i)});
    }
    inputs.emplace_back(from.begin(), from.end());
  }
  graph f = synthetic::make_graph("random,fused", layers, inputs);
  f.unfused = g.name;
  for (std::size_t i = 0; i < parts.size(); ++i)
    f.nodes[i].parts = parts[i];
  return f;
}

} // namespace

TEST_CASE("a block: layouts along it, reorders at its ends, and fused where that is faster") {
  const run measured = synthetic::fused_run();
  const model_bound b = analyse(measured);
  REQUIRE(b.layouts);
  REQUIRE(b.layouts->bound);
  const layout_solution& l = *b.layouts->bound;
  CHECK(l.exact);
  CHECK(l.total.ns == 60e3 + 700e3 + 9e3 + 105e3 + 15e3 + 9e3 + 60e3 + 400e3);
  CHECK(l.change_count == 2);
  CHECK(l.changes.ns == 120e3);
  CHECK(l.total.low_ns <= l.total.ns);
  CHECK(l.total.high_ns > l.total.ns);
  REQUIRE(l.steps.size() == 6);
  for (std::size_t conv : {0u, 2u}) {
    CHECK(l.steps[conv].operands == std::vector<layout>{layout::blocked16});
    CHECK(l.steps[conv].result == layout::blocked16);
  }
  CHECK(l.steps[5].result == layout::plain);
  CHECK(b.layouts->plain_prediction->ns > b.layouts->prediction->total.ns);

  REQUIRE(b.fused);
  const layout_solution& f = *b.fused->layouts->bound;
  // Conv+Relu as one, the join as its parts: in blocks they are faster.
  CHECK(f.total.ns == 60e3 + 704e3 + 105e3 + 15e3 + 9e3 + 60e3 + 400e3);
  REQUIRE(f.steps.size() == 5);
  CHECK(f.steps[0].fused);
  CHECK_FALSE(f.steps[1].fused);
  CHECK(f.steps[1].node == 2);
  CHECK(f.steps[2].operands == std::vector<layout>{layout::blocked16, layout::blocked16});
}

TEST_CASE("without reorders' times there is no figure but that of plain tensors") {
  run r = synthetic::fused_run();
  std::erase_if(r.measurements, [](const measurement& m) { return m.family == "reorder"; });
  const model_bound b = analyse(r);
  CHECK_FALSE(b.layouts->bound);
  CHECK_FALSE(b.layouts->prediction);
  CHECK(b.layouts->plain_prediction->ns > 1200e3 + 9e3 + 180e3 + 15e3 + 9e3 + 400e3);
  CHECK_FALSE(benanza::bound::expected(b));
  CHECK(b.missing.size() == 6);
  CHECK(b.partial());

  std::erase_if(r.measurements, [](const measurement& m) { return m.algorithm == "gemm:jit"; });
  const model_bound none = analyse(r);
  CHECK_FALSE(none.layouts->bound);
  CHECK_FALSE(none.layouts->prediction);
  CHECK_FALSE(none.layouts->plain_prediction);
}

TEST_CASE(
    "algorithms that do not say their layouts are plain, and without any there is no figure") {
  run r = synthetic::fused_run();
  for (measurement& m : r.measurements)
    if (m.family == "Relu") m.operand_layouts = m.result_layout = "";
  const model_bound b = analyse(r);
  CHECK(std::any_of(b.notes.begin(), b.notes.end(), [](const std::string& n) {
    return n.find("2 nodes do not say in which layouts") != std::string::npos;
  }));
  CHECK(b.layouts->bound->total.ns > analyse(synthetic::fused_run()).layouts->bound->total.ns);
  CHECK_FALSE(analyse(synthetic::small_run()).layouts);
}

TEST_CASE("changes that cost nothing: small tensors, and views that keep the memory") {
  // The pooled tensor is laid out alike in blocks and plain, so that Flatten needs no reorder.
  run r = synthetic::empty_run();
  const std::string pool = "GlobalAveragePool/1x64x7x7", view = "Flatten/1x64x1x1-1x64";
  r.graphs.push_back(synthetic::make_graph("g", {pool, view}, {{}, {0}}));
  synthetic::add_laid(r, pool, "a", 0, "plain", "blocked16", 100);
  const model_bound b = analyse(r);
  REQUIRE(b.layouts->bound);
  CHECK(b.layouts->bound->total.ns == 100);
  CHECK(b.layouts->bound->change_count == 0);
}

TEST_CASE("only changes between layouts that tensors of those dims can have are asked for") {
  run r = synthetic::empty_run();
  synthetic::add_machine(r);
  const std::string stem = "Conv/1x3x56x56-64x3x3-s1-p1";
  r.graphs.push_back(synthetic::make_graph("g", {stem, synthetic::conv}, {{}, {0}}));
  synthetic::add_laid(r, stem, "a", 0, "plain", "plain", 900e3);
  synthetic::add_laid(r, stem, "b", 1, "channels_last", "channels_last", 700e3);
  synthetic::add_laid(r, synthetic::conv, "a", 0, "blocked16", "blocked16", 700e3);
  const auto add_change = [&](const std::string& dims, const char* from, const char* to) {
    synthetic::add_laid(r, "reorder/" + dims + '-' + from + '-' + to, "r", 0, from, to, 50e3);
  };
  add_change("1x3x56x56", "plain", "channels_last");
  add_change("1x3x56x56", "channels_last", "plain");
  const std::vector<const char*> all{"plain", "channels_last", "blocked16"};
  for (const char* from : all)
    for (const char* to : all)
      if (from != to) add_change("1x64x56x56", from, to);
  const model_bound b = analyse(r);
  REQUIRE(b.layouts->bound);
  CHECK(b.layouts->bound->total.ns == 50e3 + 700e3 + 50e3 + 700e3 + 50e3);
  CHECK(b.notes.empty());

  // One of those that can be needed is missing: the page says which, and why.
  const auto lost = std::find_if(r.measurements.begin(), r.measurements.end(), [](const auto& m) {
    return m.key == "1x64x56x56-blocked16-plain";
  });
  lost->error = "out of memory";
  const model_bound modelled = analyse(r);
  REQUIRE(modelled.notes.size() == 1);
  CHECK(modelled.notes[0] == "1 reorder is modelled by roofline, such as "
                             "reorder/1x64x56x56-blocked16-plain: out of memory");
}

TEST_CASE("on random graphs no assignment is cheaper, and layouts that are free cost no more") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const run r = random_run(seed, 2 + static_cast<int>(seed % 4));
    const model_bound b = analyse(r);
    REQUIRE(b.layouts);
    REQUIRE(b.layouts->bound);
    CHECK(b.layouts->bound->exact);
    CHECK(b.layouts->bound->total.ns == doctest::Approx(least_of_all(r, r.graphs[0])));
    CHECK(b.bound.sequential.ns <= b.layouts->bound->total.ns * (1 + 1e-12));
  }
}

TEST_CASE("a fused form whose fused layers have no time is the unfused one, layouts and all") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    run r = random_run(seed, 6);
    r.graphs.push_back(pairs_of(r.graphs[0]));
    const model_bound b = analyse(r);
    REQUIRE(b.fused);
    CHECK(b.fused->bound.sequential.ns == doctest::Approx(b.bound.sequential.ns));
    CHECK(b.fused->bound.parallel.ns == doctest::Approx(b.bound.parallel.ns));
    CHECK(b.fused->layouts->bound->total.ns == doctest::Approx(b.layouts->bound->total.ns));
    CHECK(b.fused->not_measured == b.fused->fused_nodes);
  }
}

TEST_CASE("fused layers never make a figure worse, and never beat the free layouts") {
  int better = 0;
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    run r = random_run(seed, 7);
    r.graphs.push_back(pairs_of(r.graphs[0]));
    synthetic::random dice{seed};
    for (const auto& l : r.graphs[1].layers)
      if (const std::string name = benanza::op::name(l); name.find('+') != std::string::npos)
        for (const char* in : {"plain", "blocked16"})
          synthetic::add_laid(r, name, std::string("fused-") + in, 0, in, in,
                              100 + dice.below(1500));
    const model_bound b = analyse(r);
    const auto& f = *b.fused;
    CHECK(f.bound.sequential.ns <= b.bound.sequential.ns);
    CHECK(f.bound.parallel.ns <= b.bound.parallel.ns);
    CHECK(f.prediction.sequential.ns <= b.prediction.sequential.ns);
    CHECK(f.layouts->bound->total.ns <= b.layouts->bound->total.ns * (1 + 1e-12));
    CHECK(f.bound.sequential.ns <= f.layouts->bound->total.ns * (1 + 1e-12));
    better += f.layouts->bound->total.ns < 0.999 * b.layouts->bound->total.ns;
  }
  CHECK(better > 5);
}
