// SPDX-License-Identifier: Apache-2.0
// Does a chain compute the model? Plans of small models over the real backends, in every layout
// that their algorithms have; the result is compared with the reference through the whole model,
// and a chain with a wrong algorithm is caught at its node.
#include "planned.hpp"

#include <benanza/model/fuse.hpp>

#include <thread>

using namespace benanza;
using namespace benanza::measure;
using namespace benanza::test;

TEST_CASE("a chain of any algorithms in any layouts computes what the reference computes") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of(residual);
  const std::vector<double> expected = reference_of(g);
  std::int64_t reorders = 0;
  for (std::size_t pick = 0; pick < 7; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    check_result(c, expected);
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

TEST_CASE("a chain says how long its parts took, in the executions that are asked for") {
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
    for (const timed_part& part : one)
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
    check_result(c, expected);
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

TEST_CASE("a view reads the plain elements, whatever its operand's layout, under dims of its own") {
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
    check_result(c, expected);
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

TEST_CASE("a softmax of logits far apart is right in a chain though most of it is zero") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"MatMul/1x64-64x1000-w", "i c"},
                                   {"Cube/1x1000", "0"},
                                   {"Cube/1x1000", "1"},
                                   {"Softmax/1x1000-a1", "2"}});
  for (std::size_t pick = 0; pick < 3; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
    std::vector<double> out;
    c.read(out);
    CHECK(std::count_if(out.begin(), out.end(), [](double v) { return v < 1e-37; }) > 100);
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

TEST_CASE("sums that are normalized run in a chain, and give the sum on to others") {
  const library_list libraries = real_libraries();
  const model::graph g = graph_of({{"MatMul/1x16x32-32x32-w", "i c"},
                                   {"Add+RMSNormalization/1x16x32-a2-sum", "0 c i"},
                                   {"MatMul/1x16x32-32x32-w", "1 c"},
                                   {"Add+LayerNormalization/1x16x32-a2-b", "2 c c 1.1"},
                                   {"MatMul/1x16x32-32x32-w", "3 c"}});
  for (std::size_t pick = 0; pick < 3; ++pick) {
    chain c(plan_of(g, libraries, pick), libraries);
    c.verify();
    CHECK(c.time(1) > 0);
  }
}
