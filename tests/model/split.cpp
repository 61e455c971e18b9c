// SPDX-License-Identifier: Apache-2.0
// Does every node come into one sequence, in an order in which all edges go forward, and are equal
// sequences called alike? On small graphs by hand, on VGG-16, and on random ones.
#include "../growth.hpp"
#include "graph_maker.hpp"

#include <benanza/model/forms.hpp>
#include <benanza/model/fuse.hpp>
#include <benanza/model/sequence.hpp>
#include <benanza/model/split.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <vector>

using namespace graphs;

namespace {
using cuts = std::vector<std::vector<int>>;

std::set<std::string> unique_of(const graph& g, const granularity& how) {
  std::set<std::string> out;
  for (const auto& nodes : split(g, how))
    out.insert(sequence_of(g, nodes).name);
  return out;
}

/// A random graph: nodes read the caller, constants, and any nodes before them.
graph random_graph(std::mt19937& random) {
  const auto one_of = [&random](int n) { return static_cast<int>(random() % unsigned(n)); };
  const char* const layers[] = {"Relu/1x8", "Tanh/1x8", "Add/1x8", "Identity/1x8"};
  maker m;
  const int nodes = 1 + one_of(40);
  for (int i = 0; i < nodes; ++i) {
    const int which = one_of(4);
    std::string operands;
    for (int k = 0; k < (which == 2 ? 2 : 1); ++k) {
      const int back = 1 + one_of(one_of(3) == 0 ? 6 : 1);
      operands += k == 0 ? "" : " ";
      operands += i - back < 0 ? "i" : std::to_string(i - back);
    }
    m.add(layers[which], operands);
    if (one_of(12) == 0) m.g.nodes.back().layer = no_layer;
  }
  return m.g;
}
} // namespace

TEST_CASE("windows end where a node reads what was made before them, and no earlier") {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    const graph g = random_graph(random);
    const line all = lines_of(g, cut::window).at(0);
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      std::size_t end = i + 1;
      while (end < g.nodes.size() && g.nodes[i].layer != no_layer &&
             benanza::model::detail::reads_back_to(g, end) >= static_cast<int>(i))
        ++end;
      CHECK(all.reach.at(i) == end - i);
    }
  }
}

TEST_CASE("long paths take time in proportion") {
  CHECK(benanza::test::growth(4000, [](int n) {
          maker m;
          m.add("Relu/1x8", "i");
          for (int i = 1; i < n; ++i)
            m.add("Relu/1x8", std::to_string(i - 1));
          return [g = std::move(m.g)] { split(g, {.length = 50, .by = cut::window}); };
        }) < benanza::test::near_proportion);
}

TEST_CASE("a path is cut into windows, the last one shorter") {
  maker m;
  m.add("Relu/1x8", "i").add("Tanh/1x8", "0").add("Relu/1x8", "1").add("Tanh/1x8", "2");
  m.add("Relu/1x8", "3");
  for (const cut by : {cut::chain, cut::window}) {
    CHECK(split(m.g, {.length = 2, .by = by}) == cuts{{0, 1}, {2, 3}, {4}});
    CHECK(split(m.g, {.length = 5, .by = by}) == cuts{{0, 1, 2, 3, 4}});
    CHECK(split(m.g, {.length = whole_model, .by = by}) == cuts{{0, 1, 2, 3, 4}});
    // The second reads what another part makes, the first what the caller gives.
    CHECK(unique_of(m.g, {.length = 2, .by = by}).size() == 3);
  }
}

TEST_CASE("a residual block is cut at its fork and its join") {
  maker m;
  m.add("Conv/1x8x6x6-8x3x3-s1-p1", "i c").add("Relu/1x8x6x6", "0");
  m.add("Conv/1x8x6x6-8x3x3-s1-p1", "1 c").add("Relu/1x8x6x6", "2");
  m.add("Add/1x8x6x6", "3 1").add("Relu/1x8x6x6", "4");
  CHECK(split(m.g, {.length = 9}) == cuts{{0, 1}, {2, 3}, {4, 5}});
  CHECK(unique_of(m.g, {.length = 9}).size() == 3);
  // A window may hold the fork and the join. One that lacks what a node reads ends before it.
  CHECK(split(m.g, {.length = 9, .by = cut::window}) == cuts{{0, 1, 2, 3, 4, 5}});
  CHECK(split(m.g, {.length = 4, .by = cut::window}) == cuts{{0, 1, 2, 3}, {4, 5}});
  CHECK(split(m.g, {.length = 2, .by = cut::window}) == cuts{{0, 1}, {2, 3}, {4, 5}});
  const graph block = sequence_of(m.g, {2, 3, 4});
  REQUIRE(read_operands("i.1 c", 0));
  CHECK(*read_operands("i.1 c", 0) == block.nodes[0].operands);
  CHECK(write_operands(block.nodes[0].operands) == "i.1 c");
  CHECK_FALSE(read_operands("i.2", 0));
  CHECK(text_of(block) == "Conv/1x8x6x6-8x3x3-s1-p1 i.1 c;Relu/1x8x6x6 0;Add/1x8x6x6 1 i.1;");
}

TEST_CASE("branches in turns are windows of one layer, and paths of their own") {
  maker m;
  m.add("Relu/1x8", "i").add("Tanh/1x8", "0").add("Relu/1x8", "0").add("Tanh/1x8", "1");
  m.add("Relu/1x8", "2").add("Add/1x8", "3 4");
  CHECK(split(m.g, {.length = 4}) == cuts{{0}, {1, 3}, {2, 4}, {5}});
  CHECK(split(m.g, {.length = 3, .by = cut::window}) == cuts{{0, 1, 2}, {3}, {4}, {5}});
}

TEST_CASE("the text of a sequence holds no names, and distinguishes edges and types") {
  maker m;
  m.add("Relu/1x8", "i").add("Tanh/1x8", "0").add("Add/1x8", "0 1").add("Add/1x8", "1 0");
  const graph first = sequence_of(m.g, {0, 1, 2}), second = sequence_of(m.g, {0, 1, 3});
  CHECK(first.name != second.name);
  m.g.nodes[0].name = "another";
  m.g.name = m.g.model = "other";
  CHECK(sequence_of(m.g, {0, 1, 2}).name == first.name);
  CHECK(first.name.starts_with("sequence/3-"));
  CHECK(is_sequence(first));
  CHECK_FALSE(is_sequence(m.g));
  CHECK(first.nodes[0].name == "0");
  CHECK(fingerprint(sequence_of(first, {0, 1, 2})) == fingerprint(first));
  m.g.type = numeric::f16;
  CHECK(sequence_of(m.g, {0, 1, 2}).name != first.name);
}

TEST_CASE("what is not resolved is alone, and a sequence of views runs nothing") {
  maker m;
  m.add("Relu/1x8", "i").add("Tanh/1x8", "0").add("Relu/1x8", "1");
  m.add("Flatten/1x8-1x8", "2").add("Flatten/1x8-1x8", "3");
  m.g.nodes[1].layer = no_layer;
  for (const cut by : {cut::chain, cut::window})
    CHECK(split(m.g, {.length = 8, .by = by}) == cuts{{0}, {1}, {2, 3, 4}});
  CHECK_FALSE(resolved(sequence_of(m.g, {1})));
  CHECK(only_views(sequence_of(m.g, {3, 4})));
  CHECK_FALSE(only_views(sequence_of(m.g, {2, 3, 4})));
}

TEST_CASE("VGG-16 has as many unique sequences as one counts by hand") {
  // 13 convolutions with ReLU, five pools, three products with two ReLUs and two Dropouts between.
  maker m;
  int size = 224, channels = 3, at = -1;
  const auto add = [&](const std::string& layer, const std::string& constants = "") {
    m.add(layer, (at < 0 ? "i" : std::to_string(at)) + constants);
    ++at;
  };
  const auto dims = [&] {
    return "1x" + std::to_string(channels) + 'x' + std::to_string(size) + 'x' +
           std::to_string(size);
  };
  for (const std::vector<int>& block :
       {std::vector{64, 64}, std::vector{128, 128}, std::vector{256, 256, 256},
        std::vector{512, 512, 512}, std::vector{512, 512, 512}}) {
    for (const int outputs : block) {
      add("Conv/" + dims() + '-' + std::to_string(outputs) + "x3x3-s1-p1-b", " c c");
      channels = outputs;
      add("Relu/" + dims());
    }
    add("MaxPool/" + dims() + "-2x2-s2");
    size /= 2;
  }
  add("Flatten/1x512x7x7-1x25088");
  add("Gemm/1x4096x25088-tb-c1x4096-w", " c c");
  add("Relu/1x4096");
  add("Dropout/1x4096");
  add("Gemm/1x4096x4096-tb-c1x4096-w", " c c");
  add("Relu/1x4096");
  add("Dropout/1x4096");
  add("Gemm/1x1000x4096-tb-c1x1000-w", " c c");
  REQUIRE(m.g.nodes.size() == 39);
  // Convolutions: 2 + 2 + 2 + 2 + 1, the second and the third of a block are one. ReLU: five of
  // maps and one of a vector. Five pools, three products, two views.
  for (const cut by : {cut::chain, cut::window}) {
    const granularity one{.length = 1, .by = by}, two{.length = 2, .by = by};
    CHECK(split(m.g, one).size() == 39);
    CHECK(unique_of(m.g, one).size() == 9 + 6 + 5 + 3 + 2);
    // In pairs a pool takes the convolution behind it with it, so blocks two and four begin with a
    // ReLU. By block: CR CR | PC RC RP | CR CR CR | PC RC RC RP | CR CR CR | PF G R ...
    CHECK(split(m.g, two).size() == 20);
    CHECK(unique_of(m.g, two).size() == 2 + 3 + 2 + 3 + 1 + 1 + 4);
    CHECK(unique_of(m.g, {.length = whole_model, .by = by}).size() == 1);
  }
}

TEST_CASE("of random graphs every node is in exactly one sequence, and edges go forward") {
  std::mt19937 random(7);
  int forms = 0;
  for (int round = 0; round < 300; ++round) {
    const graph made = random_graph(random);
    const std::optional<graph> fused = fuse(made, default_patterns());
    forms += round % 2 == 1 && fused;
    const graph& g = round % 2 == 1 && fused ? *fused : made;
    for (const cut by : {cut::chain, cut::window})
      for (const std::int64_t length : {1, 2, 3, 7, 100}) {
        CAPTURE(round);
        CAPTURE(length);
        const cuts all = split(g, {.length = length, .by = by});
        std::vector<int> of(g.nodes.size(), -1);
        std::size_t nodes = 0;
        for (std::size_t s = 0; s < all.size(); ++s) {
          REQUIRE(!all[s].empty());
          CHECK(all[s].size() <= static_cast<std::size_t>(length));
          CHECK(std::is_sorted(all[s].begin(), all[s].end()));
          for (const int i : all[s])
            of[static_cast<std::size_t>(i)] = static_cast<int>(s);
          nodes += all[s].size();
        }
        CHECK(nodes == g.nodes.size());
        CHECK(std::count(of.begin(), of.end(), -1) == 0);
        for (std::size_t i = 0; i < g.nodes.size(); ++i)
          for (const operand& o : g.nodes[i].operands)
            if (o.node >= 0) CHECK(of[static_cast<std::size_t>(o.node)] <= of[i]);
        // All but the first node of a sequence read its own results only.
        for (const auto& nodes_of_it : all)
          for (std::size_t k = 1; k < nodes_of_it.size(); ++k)
            for (const operand& o : g.nodes[static_cast<std::size_t>(nodes_of_it[k])].operands)
              CHECK(std::count(nodes_of_it.begin(), nodes_of_it.end(), o.node) == 1);
      }
  }
  CHECK(forms > 50);
}

TEST_CASE("each model once, in its first fused form where that is asked for and there is one") {
  const auto named = [](const char* name, const char* unfused = "") {
    graph g;
    g.name = name;
    g.unfused = unfused;
    return g;
  };
  const std::vector<graph> all{named("a"), named("a,fused", "a"), named("a,fused-norms", "a"),
                               named("b"), named("sequence/1-0")};
  const auto names = [&all](form wanted) {
    std::vector<std::string> out;
    for (const graph* g : one_form_each(all, wanted))
      out.push_back(g->name);
    return out;
  };
  CHECK(names(form::unfused) == std::vector<std::string>{"a", "b"});
  CHECK(names(form::fused) == std::vector<std::string>{"a,fused", "b"});
}
