// SPDX-License-Identifier: Apache-2.0
// Does a chain compute the model? Plans of small models over the real backends, in every layout
// that their algorithms have; the result is held against the reference through the whole model,
// and a chain with a wrong algorithm is caught at its node.
#include "backend/built.hpp"

#include <benanza/measure/chain/plan_subject.hpp>
#include <benanza/model/fuse.hpp>
#include <doctest/doctest.h>

#include <thread>
#include <utility>

using namespace benanza;
using namespace benanza::measure;

namespace {
library_list real_libraries() {
  library_list out;
  out.push_back(test::built("host"));
  out.push_back(test::built("onednn"));
  return out;
}

model::graph graph_of(const std::vector<std::pair<std::string, std::string>>& rows) {
  model::graph g;
  g.name = "test";
  for (const auto& [layer, operands] : rows) {
    const int number = static_cast<int>(g.nodes.size());
    model::node n;
    n.name = "n" + std::to_string(number);
    n.layer = number;
    g.layers.push_back(op::parse(layer));
    n.op = op::family(g.layers.back());
    n.operands = *model::read_operands(operands, number);
    n.inputs = model::inputs_of(n.operands);
    g.nodes.push_back(n);
  }
  return g;
}

/// What may stand in a plan for a layer.
std::vector<result::plan_step> offers(const op::layer& l, const library_list& libraries,
                                      numeric type) {
  std::vector<result::plan_step> out;
  for (const auto& library : libraries)
    for (const backend::algorithm& a : library->enumerate(l, type, {.threads = 1}))
      if (!a.result_layout.empty() && a.fallback != "ref" && a.equivalence == name(type)) {
        const bool any = a.result_layout == any_layout_name;
        out.push_back({std::string(library->name()), a.id, any ? "plain" : a.operand_layouts,
                       any ? "plain" : a.result_layout});
      }
  return out;
}

bool offers_all(const model::graph& g, const library_list& libraries, numeric type) {
  return std::all_of(g.layers.begin(), g.layers.end(), [&](const op::layer& l) {
    return op::is_view(l) || !offers(l, libraries, type).empty();
  });
}

/// A plan that takes, of each layer's algorithms, number `pick` (counted round).
result::plan plan_of(const model::graph& g, const library_list& libraries, std::size_t pick,
                     numeric type = numeric::f32) {
  result::plan p;
  p.graph = g;
  p.type = type;
  for (const model::node& n : g.nodes) {
    const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
    const std::vector<result::plan_step> all = offers(l, libraries, type);
    if (all.empty()) REQUIRE(op::is_view(l));
    p.steps.push_back(all.empty() ? result::plan_step{} : all[pick % all.size()]);
  }
  return p;
}

/// The model's result by the reference alone, layer by layer in f32 storage.
std::vector<double> reference_of(const model::graph& g) {
  std::map<std::pair<int, int>, backend::tensor> made;
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const model::node& n = g.nodes[static_cast<std::size_t>(i)];
    const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
    backend::operands values;
    if (const auto* v = std::get_if<op::view>(&l)) {
      backend::tensor t = made.at({n.operands[0].node, n.operands[0].output});
      t.dims = v->result;
      made[{i, 0}] = t;
      continue;
    }
    values = backend::make_operands(l, numeric::f32);
    const std::size_t behind = n.operands.size() - values.inputs.size();
    REQUIRE(behind == 0);
    for (std::size_t k = 0; k < n.operands.size(); ++k)
      if (n.operands[k].node >= 0)
        values.inputs[k] = made.at({n.operands[k].node, n.operands[k].output});
    backend::tensor out{.dims = op::output(l)};
    out.bytes.resize(static_cast<std::size_t>(out.count() * 4));
    std::vector<std::int64_t> all(static_cast<std::size_t>(out.count()));
    std::iota(all.begin(), all.end(), 0);
    std::vector<double> exact(all.size());
    backend::reference::evaluate(l, numeric::f32, values, all, exact);
    for (std::size_t k = 0; k < exact.size(); ++k)
      out.as<float>()[k] = static_cast<float>(exact[k]);
    made[{i, 0}] = out;
  }
  const backend::tensor& last = made.at({static_cast<int>(g.nodes.size()) - 1, 0});
  std::vector<double> out;
  for (float v : last.as<float>())
    out.push_back(static_cast<double>(v));
  return out;
}

const std::vector<std::pair<std::string, std::string>> residual{
    {"Conv/1x16x9x9-32x3x3-s1-p1-b", "i c c"},
    {"Relu/1x32x9x9", "0"},
    {"Conv/1x32x9x9-32x1x1-s1", "1 c"},
    {"Conv+Add+Relu/1x32x9x9-32x3x3-s1-p1-b", "2 c c 1"},
    {"Conv+Add/1x32x9x9-32x1x1-s1-b", "3 c c 1"},
    {"MaxPool/1x32x9x9-3x3-s2", "4"},
    {"Concat/1x64x4x4-a1-n2", "5 5"},
    {"GlobalAveragePool/1x64x4x4", "6"},
    {"Flatten/1x64x1x1-1x64", "7"},
    {"Gemm/1x10x64-tb-c1x10-w", "8 c c"},
    {"Softmax/1x10-a1", "9"}};
} // namespace

TEST_CASE("a chain of any algorithms in any layouts computes what the reference computes") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of(residual);
  const std::vector<double> expected = reference_of(g);
  std::int64_t reorders = 0;
  for (std::size_t pick = 0; pick < 7; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
    std::vector<double> got;
    c.run(3); // what runs twice gives the same: nothing is left from the last time
    c.read(got);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-3));
    reorders += c.reorders();
    CHECK(c.weight_bytes() > 4 * (16 * 32 * 9 + 32 * 32 * 11));
  }
  CHECK(reorders > 0);
}

TEST_CASE("between the parts of a chain the machine may be probed, outside of its time") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of(residual);
  chain c(plan_of(g, libraries, 0), libraries);
  c.time(3);
  int probes = 0;
  const auto wait = [&](bool) {
    ++probes;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  };
  c.between_parts(wait);
  const auto start = std::chrono::steady_clock::now();
  const double ns = c.time(1);
  const std::chrono::duration<double, std::nano> all = std::chrono::steady_clock::now() - start;
  CHECK(probes >= 10); // 11 nodes, of which one is a view; there may be reorders
  CHECK(ns > 0);
  CHECK(ns <= all.count() - probes * 20e6);
  c.between_parts({});
  const int before = probes;
  c.time(1);
  CHECK(probes == before);
}

TEST_CASE("a chain tells how long its parts took, in the executions that are asked for") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of(residual);
  for (std::size_t pick = 0; pick < 3; ++pick) {
    const result::plan p = plan_of(g, libraries, pick);
    chain c(p, libraries);
    CHECK(c.parts_of({1}).empty());
    std::vector<double> took;
    for (int i = 0; i < 5; ++i)
      took.push_back(c.time(1));
    c.time(2); // of several at once nothing is known
    const auto one = c.parts_of({took[2]}), all = c.parts_of(took);
    double sum = 0;
    for (const backend::part_time& part : one)
      sum += part.ns;
    CHECK(sum == doctest::Approx(took[2]));
    REQUIRE(all.size() == 10 + (c.reorders() > 0)); // 11 nodes, of which one is a view
    CHECK(all[0].name == p.steps[0].backend + '/' + p.steps[0].algorithm + " n0");
    CHECK((all.back().name == "reorders") == (c.reorders() > 0));
    CHECK(c.parts_of({took[0] + 0.5}).empty());
  }
}

TEST_CASE("the machine is probed between the parts of a chain, and must be at its end") {
  const library_list libraries = real_libraries();
  chain c(plan_of(graph_of(residual), libraries, 0), libraries);
  const auto parts = static_cast<int>(10 + c.reorders());
  int probes = 0;
  c.between_parts([&](bool must) { CHECK(must == (probes++ == parts)); });
  c.time(1);
  CHECK(probes == parts + 1); // the first one comes before the first part
  c.between_parts({});
  c.time(1);
  CHECK(probes == parts + 1);
}

TEST_CASE("a constant that is added in place is there again in the next run") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv+Add/1x16x9x9-32x3x3-s1-p1-b", "i c c c"},
                                   {"Flatten/1x32x9x9-1x2592", "0"},
                                   {"MatMul+Add/1x2592-2592x10-w", "1 c c"}});
  const std::vector<double> expected = reference_of(g);
  for (std::size_t pick = 0; pick < 5; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
    c.run(2);
    std::vector<double> got;
    c.read(got);
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-3));
  }
}

TEST_CASE("parts of a Concat may differ, and a Split's parts go to different readers") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv/1x16x6x6-48x1x1-s1-b", "i c c"},
                                   {"Conv/1x16x6x6-16x1x1-s1-b", "i c c"},
                                   {"Concat/1x64x6x6-a1-n2", "0 1"},
                                   {"Split/1x64x6x6-a1-n2", "2"},
                                   {"Relu/1x32x6x6", "3.1"},
                                   {"Sub/1x32x6x6", "4 3"}});
  for (std::size_t pick = 0; pick < 4; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
  }
}

TEST_CASE("a tensor that was cast to other reals is read in those that the chain runs in") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Relu/1x16x6x6", "i"},
                                   {"Cast/1x16x6x6-f32-f16", "0"},
                                   {"Conv/1x16x6x6-16x1x1-s1", "1 c"},
                                   {"Add/1x16x6x6", "2 1"},
                                   {"Cast/1x16x6x6-f16-f32", "3"},
                                   {"Sigmoid/1x16x6x6", "4"}});
  for (std::size_t pick = 0; pick < 3; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
  }
}

TEST_CASE("several results of a layer go to different readers") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv/1x16x6x6-16x1x1-s1", "i c"},
                                   {"LayerNormalization/1x16x6x6-a2-stats", "0 c"},
                                   {"Mul/1x16x6x6-1x16x1x1", "1 1.2"},
                                   {"MaxPool/1x16x6x6-2x2-s2-indices", "2"},
                                   {"Mul/1x16x3x3-1x16x1x1", "3 1.1"},
                                   {"Gather/144x4-1x16x3x3", "i 3.1"}});
  // The places reach over the whole input, as many rows as there are to gather.
  CHECK_THROWS_AS(chain(plan_of(g, libraries, 0), libraries).verify(), error);
  chain c(plan_of(graph_of({{"Conv/1x16x6x6-16x1x1-s1", "i c"},
                            {"LayerNormalization/1x16x6x6-a2-stats", "0 c"},
                            {"Mul/1x16x6x6-1x16x1x1", "1 1.2"},
                            {"MaxPool/1x16x6x6-2x2-s2-indices", "2"},
                            {"Mul/1x16x3x3-1x16x1x1", "3 1.1"},
                            {"Gather/576x4-1x16x3x3", "i 3.1"}}),
                  libraries, 0),
          libraries);
  c.verify();
}

TEST_CASE("a view reads the plain elements, however its operand lies, under dims of its own") {
  const library_list libraries = real_libraries();
  // One room read in blocks under two dims, and views of views.
  const model::graph g = graph_of({{"Relu/1x64x8x8", "i"},
                                   {"Reshape/1x64x8x8-1x16x16x16", "0"},
                                   {"Conv/1x16x16x16-16x3x3-s1-p1", "1 c"},
                                   {"Conv/1x64x8x8-64x1x1-s1", "0 c"},
                                   {"Reshape/1x64x8x8-64x64", "3"},
                                   {"Unsqueeze/64x64-64x64x1", "4"},
                                   {"Reshape/64x64x1-1x16x16x16", "5"},
                                   {"Conv/1x16x16x16-16x3x3-s1-p1-b", "6 c c"},
                                   {"Add/1x16x16x16", "2 7"}});
  const std::vector<double> expected = reference_of(g);
  for (std::size_t pick = 0; pick < 7; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
    c.run(2);
    std::vector<double> got;
    c.read(got);
    REQUIRE(got.size() == expected.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-3));
  }
}

TEST_CASE("one element is read under any dims") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Reshape/1x1-1", "i"},
                                   {"Cast/1-real-bool", "0"},
                                   {"Identity/scalar-bool", "1"},
                                   {"Cast/scalar-bool-real", "2"}});
  chain c(plan_of(g, libraries, 0), libraries);
  c.run(1);
}

TEST_CASE("layers that take their operands as matrices run behind tensors of more dims") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv/1x16x4x4-16x3x3-s1-p1", "i c"},
                                   {"Softmax/16x16-a1", "0"}, // of 1x16x4x4, axis 2
                                   {"Conv/1x16x4x4-32x1x1-s1", "1 c"},
                                   {"GlobalAveragePool/1x32x4x4", "2"},
                                   {"Softmax/1x32-a1", "3"},
                                   {"Reshape/1x32x1x1-32", "4"},
                                   {"MatMul/1x32-32x10-w", "5 c"}, // of a vector
                                   {"ReduceMean/1x10-a0", "6"},    // that keeps no dim
                                   {"Sigmoid/10", "7"}});
  for (std::size_t pick = 0; pick < 5; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
  }
}

TEST_CASE("a block of a transformer runs as the layers that its pieces are") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Relu/5x1x8", "i"},
                                   {"ReduceMean/5x1x8-a2", "0"},
                                   {"Sub/5x1x8-5x1x1", "0 1"},
                                   {"Square/5x1x8", "2 c"},
                                   {"ReduceMean/5x1x8-a2", "3"},
                                   {"Add/5x1x1-1", "4 c"},
                                   {"Sqrt/5x1x1", "5"},
                                   {"Div/5x1x8-5x1x1", "2 6"},
                                   {"Mul/5x1x8-8", "7 c"},
                                   {"Add/5x1x8-8", "8 c"},
                                   {"MatMul/5x1x8-8x8-w", "9 c"},
                                   {"MatMul/5x1x8-8x8-w", "9 c"},
                                   {"MatMul/5x1x8-8x8-w", "9 c"},
                                   {"Reshape/5x1x8-5x2x4", "10 c"},
                                   {"Reshape/5x1x8-5x2x4", "11 c"},
                                   {"Reshape/5x1x8-5x2x4", "12 c"},
                                   {"Transpose/5x2x4-o1x0x2", "13"},
                                   {"Div/2x5x4-1", "16 c"},
                                   {"Transpose/5x2x4-o1x2x0", "14"},
                                   {"MatMul/2x5x4-2x4x5", "17 18"},
                                   {"Softmax/2x5x5-a2", "19"},
                                   {"Transpose/5x2x4-o1x0x2", "15"},
                                   {"MatMul/2x5x5-2x5x4", "20 21"},
                                   {"Transpose/2x5x4-o1x0x2", "22"},
                                   {"Reshape/5x2x4-5x8", "23 c"},
                                   {"Gemm/5x8x8-tb-c1x8-w", "24 c c"},
                                   {"Reshape/5x8-5x1x8", "25 c"},
                                   {"Add/5x1x8", "0 26"},
                                   {"MatMul/5x1x8-8x16-w", "27 c"},
                                   {"Add/16-5x1x16", "c 28"},
                                   {"Mul/5x1x16-1", "29 c"},
                                   {"Erf/5x1x16", "30"},
                                   {"Add/5x1x16-1", "31 c"},
                                   {"Mul/5x1x16", "29 32"},
                                   {"Mul/5x1x16-1", "33 c"}});
  const auto fused = model::fuse(g, model::default_patterns());
  REQUIRE(fused);
  std::vector<std::string> names;
  for (const model::node& n : fused->nodes)
    if (!op::is_view(fused->layers[static_cast<std::size_t>(n.layer)])) names.push_back(n.op);
  CHECK(names == std::vector<std::string>{"Relu", "LayerNormalization", "MatMul", "MatMul",
                                          "MatMul", "Attention", "Gemm+Add", "MatMul+Add+Gelu"});
  for (std::size_t pick = 0; pick < 2; ++pick) {
    chain c(plan_of(*fused, libraries, pick), libraries);
    c.verify();
  }
}

TEST_CASE("constant parts of a Concat are what is left of it") {
  const library_list libraries = real_libraries();
  const auto run = [&](const char* concat, const char* operands) {
    const model::graph g =
        graph_of({{"Conv/1x16x6x6-16x1x1-s1", "i c"}, {"Relu/1x16x6x6", "0"}, {concat, operands}});
    for (std::size_t pick = 0; pick < 4; ++pick) {
      chain c(plan_of(g, libraries, pick), libraries);
      c.verify();
    }
  };
  run("Concat/1x24x6x6-a1-n2", "c 1");     // 8 channels before
  run("Concat/1x53x6x6-a1-n4", "1 c 1 c"); // 11 and 10
  run("Concat/1x49x6x6-a1-n4", "1 i 1 c"); // of the caller and constant
  run("Concat/2x16x6x6-a0-n2", "1 1");
  CHECK_THROWS_WITH_AS(run("Concat/1x17x6x6-a1-n3", "c 1 c"),
                       doctest::Contains("do not add up to the whole (test, n2, Concat/"), error);
  CHECK_THROWS_WITH_AS(run("Concat/1x30x6x6-a1-n2", "1 1"), doctest::Contains("do not add up"),
                       error);
}

TEST_CASE("views pick the parts of a Split by their number") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv/1x16x6x6-96x1x1-s1-b", "i c c"},
                                   {"Split/1x96x6x6-a1-n3", "0"},
                                   {"Reshape/1x32x6x6-32x36", "1.2"},
                                   {"Squeeze/1x32x6x6-32x6x6", "1"},
                                   {"Flatten/1x32x6x6-1x1152", "1.1"},
                                   {"Reshape/32x6x6-32x36", "3"},
                                   {"Sub/32x36", "2 5"},
                                   {"Reshape/32x36-1x1152", "6"},
                                   {"Mul/1x1152", "4 7"}});
  for (std::size_t pick = 0; pick < 4; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
  }
}

TEST_CASE("the parts of a Split are as long as their readers want them") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Conv/1x16x6x6-84x1x1-s1-b", "i c c"},
                                   {"Split/1x84x6x6-a1-n3", "0"},
                                   {"Reshape/1x64x6x6-1x4x16x36", "1"},
                                   {"Softmax/1x4x16x36-a2", "2"},
                                   {"Sub/1-1x16x6x6", "c 1.1"},
                                   {"Concat/1x20x6x6-a1-n2", "4 1.2"},
                                   {"Relu/1x20x6x6", "5"}});
  for (std::size_t pick = 0; pick < 3; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
  }
}

TEST_CASE("a result is not written over what its layer, or a view's reader, still reads") {
  const library_list libraries = real_libraries();
  // The convolution reads what it joins; the view outlives the first copy of what it shows.
  const model::graph g = graph_of({{"Relu/1x16x8x8", "i"},
                                   {"Conv/1x16x8x8-16x3x3-s1-p1", "0 c"},
                                   {"Identity/1x16x8x8", "0"},
                                   {"Conv+Add/1x16x8x8-16x3x3-s1-p1", "1 c 1"},
                                   {"Conv/1x16x8x8-16x1x1-s1", "3 c"},
                                   {"Conv+Add/1x16x8x8-16x3x3-s1-p1-b", "2 c c 4"}});
  const std::vector<double> expected = reference_of(g);
  for (std::size_t pick = 0; pick < 7; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
    c.run(2);
    std::vector<double> got;
    c.read(got);
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-3));
  }
}

TEST_CASE("operands of the caller are as many as a node takes") {
  const library_list libraries = real_libraries();
  chain c(plan_of(graph_of({{"Add/1x16x6x6-1x16x1x1", "i i"}}), libraries, 0), libraries);
  c.verify();
}

TEST_CASE("a square and what is added to a variance stay numbers with constants of our own") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"ReduceMean/8x64-a1", "i"},
                                   {"Sub/8x64-8x1", "i 0"},
                                   {"Pow/8x64-1", "1 c"},
                                   {"ReduceMean/8x64-a1", "2"},
                                   {"Add/8x1-1", "3 c"},
                                   {"Sqrt/8x1", "4"},
                                   {"Div/8x64-8x1", "1 5"}});
  chain c(plan_of(g, libraries, 0), libraries);
  c.verify();
}

TEST_CASE("a model larger than the memory is refused before any of it is taken") {
  const library_list libraries = real_libraries();
  const auto asked = std::exchange(machine::memory_source(), [] { return std::int64_t{1} << 30; });
  const model::graph g =
      graph_of({{"Relu/1x1x1048576x1048576", "i"}, {"Sigmoid/1x1x1048576x1048576", "0"}});
  result::plan p;
  p.graph = g;
  for (int i = 0; i < 2; ++i)
    p.steps.push_back({"onednn", "jit:avx2", "plain", "plain"});
  CHECK_THROWS_WITH_AS(chain(p, libraries),
                       doctest::Contains("available (test); generate the model with a smaller"),
                       error);
  machine::memory_source() = asked;
}

TEST_CASE("chains in other types are right too") {
  const library_list libraries = real_libraries();
  std::vector<std::pair<std::string, std::string>> rows = residual;
  rows.resize(6);
  const model::graph g = graph_of(rows);
  for (numeric type : {numeric::bf16, numeric::u8s8u8}) {
    if (!offers_all(g, libraries, type)) continue; // older processors have no bf16, or no int8
    chain c(plan_of(g, libraries, 0, type), libraries);
    c.verify();
  }
}

TEST_CASE("activations share memory, and what is still to be read is kept") {
  const library_list libraries = real_libraries();
  std::vector<std::pair<std::string, std::string>> rows{{"Sigmoid/1x16x32x32", "i"}};
  for (int i = 1; i < 20; ++i)
    rows.emplace_back("Tanh/1x16x32x32", std::to_string(i - 1));
  rows.emplace_back("Add/1x16x32x32", "19 0");
  chain c(plan_of(graph_of(rows), libraries, 0), libraries);
  c.verify();
  CHECK(c.activation_bytes() <=
        4 * 16 * 32 * 32 * 4); // the input, the first result, two that alternate
}

TEST_CASE("plans that cannot be run say why") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"Relu/1x16x6x6", "i"}, {"Sigmoid/1x16x6x6", "0"}});
  result::plan p = plan_of(g, libraries, 0);
  p.steps[1].algorithm = "nobody";
  CHECK_THROWS_WITH_AS(chain(p, libraries), doctest::Contains("does not offer \"nobody\""), error);
  p.steps[1].backend = "cudnn";
  CHECK_THROWS_WITH_AS(chain(p, libraries), doctest::Contains("no backend \"cudnn\""), error);
  const model::graph other = graph_of({{"Relu/1x16x6x6", "i"}, {"Sigmoid/1x16x7x6", "0"}});
  CHECK_THROWS_WITH_AS(chain(plan_of(other, libraries, 0), libraries),
                       doctest::Contains("1x16x6x6 f32 for 1x16x7x6 f32 (test, n1, "
                                         "Sigmoid/1x16x7x6); generate the model again"),
                       error);
  // As many elements are not enough.
  for (const char* layer : {"Sigmoid/1x6x16x6", "Softmax/36x16-a1", "Sigmoid/576"}) {
    const model::graph turned = graph_of({{"Relu/1x16x6x6", "i"}, {layer, "0"}});
    CHECK_THROWS_WITH_AS(chain(plan_of(turned, libraries, 0), libraries),
                         doctest::Contains("other dims"), error);
  }
}

TEST_CASE("a plan's group is refused where its times do not come from here") {
  const library_list libraries = real_libraries();
  result::plan p = plan_of(graph_of(residual), libraries, 1);
  p.provenance = {{"machine", {{"cpu", "mine"}}}, {"software", {{"onednn_version", "2.6.3"}}}};
  auto here = p.provenance;
  const group g = plan_group(p, libraries, here);
  REQUIRE(g.cases.size() == 1);
  CHECK(g.cases[0].name == "model/test/f32/chain/plan/run/t1");
  CHECK(g.what->flops > 0);
  here["machine"]["cpu"] = "another";
  CHECK_THROWS_WITH_AS(plan_group(p, libraries, here), doctest::Contains("from elsewhere"), error);
}
