// SPDX-License-Identifier: Apache-2.0
// Does a graph of which nothing was measured run, each layer by what a library takes first; and do
// its sequences, one after the other, compute what the whole of it computes?
#include "planned.hpp"

#include <benanza/measure/chain/first_choice.hpp>
#include <benanza/model/fuse.hpp>
#include <benanza/model/sequence.hpp>
#include <benanza/model/split.hpp>

#include <cstring>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

namespace {
const std::vector<std::pair<std::string, std::string>> branches{
    {"Conv/1x16x9x9-32x3x3-s1-p1-b", "i c c"},
    {"Relu/1x32x9x9", "0"},
    {"Conv/1x32x9x9-32x3x3-s1-p1", "1 c"},
    {"Relu/1x32x9x9", "2"},
    {"Add/1x32x9x9", "3 1"},
    {"MaxPool/1x32x9x9-3x3-s2", "4"},
    {"Conv/1x32x4x4-32x1x1-s1-b", "5 c c"},
    {"Sigmoid/1x32x4x4", "6"},
    {"Mul/1x32x4x4", "7 5"},
    {"GlobalAveragePool/1x32x4x4", "8"},
    {"Flatten/1x32x1x1-1x32", "9"},
    {"Gemm/1x10x32-tb-c1x10-w", "10 c c"},
    {"Softmax/1x10-a1", "11"}};

std::vector<double> result_of(chain& c) {
  std::vector<double> out;
  c.run(1);
  c.read(out);
  return out;
}

/// Gives the sequence of those nodes what others have `made`, in the order of its readers.
void give(const chain& c, const model::graph& g, const std::vector<int>& nodes,
          const std::map<int, std::vector<double>>& made) {
  std::vector<int> from; // -1: the model's caller
  for (const int i : nodes)
    for (const model::operand& o : g.nodes[static_cast<std::size_t>(i)].operands)
      if (o.node == model::model_input ||
          (o.node >= 0 && std::find(nodes.begin(), nodes.end(), o.node) == nodes.end()))
        from.push_back(o.node);
  const auto memory = c.operand_memory();
  REQUIRE(memory.size() == from.size());
  for (std::size_t k = 0; k < from.size(); ++k) {
    if (from[k] < 0) continue;
    const std::vector<double>& values = made.at(from[k]);
    REQUIRE(memory[k].size() == 4 * values.size());
    for (std::size_t e = 0; e < values.size(); ++e) {
      const auto v = static_cast<float>(values[e]);
      std::memcpy(memory[k].data() + 4 * e, &v, 4);
    }
  }
}
} // namespace

TEST_CASE("a graph runs by first choices, and computes what the reference computes") {
  const library_list libraries = real_libraries();
  first_choice choice(libraries);
  const model::graph g = graph_of(residual);
  const result::plan p = choice.plan(g, numeric::f32);
  REQUIRE(p.steps.size() == g.nodes.size());
  CHECK(p.steps[8].backend.empty()); // the view
  for (std::size_t i = 0; i < p.steps.size(); ++i)
    if (i != 8) CHECK(p.steps[i].backend == "onednn");
  chain c(p, libraries);
  check_result(c, reference_of(g));
}

TEST_CASE(
    "what no library has runs on plain kernels, and a named choice is taken where it is one") {
  const library_list libraries = real_libraries();
  const op::layer relu = op::parse("Relu/1x32x9x9");
  first_choice usual(libraries);
  CHECK(usual.of(op::parse("Gather/144x4-1x16x3x3"), numeric::f32)->library->name() == "host");
  CHECK(usual.of(relu, numeric::f32)->library->name() == "onednn");
  const std::string host = libraries[0]->enumerate(relu, numeric::f32, {}).at(0).id;
  first_choice named(libraries, {.named = {{{op::name(relu), numeric::f32}, {"host", host}}}});
  CHECK(named.of(relu, numeric::f32)->library->name() == "host");
  first_choice gone(libraries, {.named = {{{op::name(relu), numeric::f32}, {"host", "another"}}}});
  CHECK(gone.of(relu, numeric::f32)->library->name() == "onednn");
}

TEST_CASE("a layer that nothing runs in the type is refused by name") {
  const library_list libraries = real_libraries();
  first_choice choice(libraries);
  const model::graph g = graph_of({{"Relu/1x8", "i"}, {"Gather/144x4-1x16x3x3", "i 0"}});
  try {
    choice.plan(g, numeric::e4m3);
    CHECK(false);
  } catch (const error& e) {
    CHECK(std::string(e.what()).find("Relu/1x8") != std::string::npos);
  }
}

namespace {
/// Runs the sequences of `g` one after the other, of many lengths, and the whole.
void check_sequences(const model::graph& g) {
  const library_list libraries = real_libraries();
  first_choice choice(libraries);
  chain whole(choice.plan(g, numeric::f32), libraries);
  whole.verify();
  const std::vector<double> expected = result_of(whole);
  for (const auto by : {model::cut::chain, model::cut::window})
    for (const std::int64_t length : {1, 2, 3, 6, 0}) {
      CAPTURE(length);
      std::map<int, std::vector<double>> made;
      for (const std::vector<int>& all : model::split(g, {.length = length, .by = by}))
        // Of a window more results than the last may be read: its beginnings make those.
        for (auto end = all.begin() + 1; end <= all.end(); ++end) {
          const std::vector<int> nodes(all.begin(), end);
          chain c(choice.plan(model::sequence_of(g, nodes), numeric::f32), libraries);
          give(c, g, nodes, made);
          made[nodes.back()] = result_of(c);
        }
      const std::vector<double>& got = made.at(static_cast<int>(g.nodes.size()) - 1);
      REQUIRE(got.size() == expected.size());
      for (std::size_t e = 0; e < got.size(); ++e)
        CHECK(got[e] == doctest::Approx(expected[e]).epsilon(1e-5));
    }
}
} // namespace

TEST_CASE("the sequences of a model, one after the other, compute what the whole of it does") {
  const model::graph g = graph_of(branches);
  check_sequences(g);
  const auto fused = model::fuse(g, model::default_patterns());
  REQUIRE(fused);
  CHECK(fused->nodes.size() < g.nodes.size());
  check_sequences(*fused);
}

TEST_CASE("cold weights of a chain come from a pool, and its own are there again behind it") {
  const library_list libraries = real_libraries();
  chain c(first_choice(libraries).plan(graph_of(residual), numeric::f32), libraries);
  const std::vector<double> own = result_of(c);
  CHECK(c.weight_bytes() % 64 == 0);
  machine::page_memory pool(static_cast<std::size_t>(2 * c.weight_bytes()));
  std::memset(pool.data(), 0, pool.size());
  c.rotate_weights(pool.data(), c.weight_bytes(), 2);
  CHECK(result_of(c) != own);
  c.rotate_weights(nullptr, 0, 0);
  CHECK(result_of(c) == own);
  CHECK(c.activations() != nullptr);
  CHECK(c.scratch_memory().size() >= c.result_memory().size());
}

TEST_CASE(
    "a pooling takes the layout in which its operand comes, and a part of a model gets it so") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv/1x16x32x32-64x3x3-s1-p1", "i c"},
                                   {"Relu/1x64x32x32", "0"},
                                   {"MaxPool/1x64x32x32-2x2-s2", "1"}});
  first_choice choice(libraries);
  const result::plan whole = choice.plan(g, numeric::f32);
  CHECK(whole.steps[2].operand_layouts == whole.steps[0].result_layout);
  const model::graph part = model::sequence_of(g, {1, 2});
  CHECK(choice.plan(part, numeric::f32).steps[0].given_layout == "plain"); // nothing is known
  choice.learn(g, numeric::f32);
  CHECK(choice.read_in_order(g.layers[0])); // by the ReLU
  CHECK_FALSE(choice.read_in_order(g.layers[1]));
  const result::plan taught = choice.plan(part, numeric::f32);
  CHECK(taught.steps[0].given_layout == whole.steps[0].result_layout);
  CHECK(taught.steps[1] == whole.steps[2]);
  chain c(taught, libraries);
  c.verify();
  CHECK(c.reorders() == 0);
}
