// SPDX-License-Identifier: Apache-2.0
// Has a step of training what it must compute, and nothing else?
#include "graph_maker.hpp"

#include <benanza/model/training.hpp>

#include <doctest/doctest.h>

namespace test_of_training {
using namespace graphs;

std::vector<std::string> rows(const graph& g) {
  std::vector<std::string> out;
  for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
    const node& n = g.nodes[static_cast<std::size_t>(i)];
    out.push_back(n.name + " = " + name_of(g, i) + " of " + write_operands(n.operands));
  }
  return out;
}

maker named() {
  maker m;
  m.g.name = "net@batch=2";
  m.g.model = "net";
  m.g.structure = "of a file";
  return m;
}

TEST_CASE("a chain: nothing is wanted by the model's input, and all else is left out") {
  maker m = named();
  m.add("Conv/2x3x8x8-4x3x3-s1-p1-b", "i c c").add("Relu/2x4x8x8", "0");
  m.add("Conv/2x4x8x8-5x2x2-s2", "1 c").add("Flatten/2x5x4x4-2x80", "2");
  m.add("Gemm/2x10x80-tb-w", "3 c");
  const graph g = training_step(m.g);
  CHECK(g.name == "net@batch=2,training");
  CHECK(is_training_step(g));
  CHECK_FALSE(is_training_step(m.g));
  CHECK(g.structure.empty());
  CHECK(rows(g) == std::vector<std::string>{
                       "n0 = Conv/2x3x8x8-4x3x3-s1-p1-b of i c c",
                       "n2 = Conv/2x4x8x8-5x2x2-s2 of 0 c", "n4 = Gemm/2x10x80-tb-w of 1 c",
                       "n4/by-source = Gemm/2x80x10-w of 2 c",
                       "n4/by-weights = Gemm/10x80x2-ta of 2 1",
                       "n2/by-source = ConvTranspose/2x5x4x4-4x2x2-s2 of 3 c",
                       "n2/by-weights = ConvWeightGradient/2x4x8x8-5x2x2-s2 of 0 3",
                       "n0/by-weights = ConvWeightGradient/2x3x8x8-4x3x3-s1-p1 of i 5"});
  REQUIRE(g.assumptions.size() == 1);
  CHECK(g.assumptions[0].find("1 other operator") != std::string::npos);
}

TEST_CASE("branches: the gradient waits for all that read a result") {
  maker m = named();
  m.add("MatMul/4x4-4x4-w", "i c").add("MatMul/4x4-4x4", "0 0").add("Add/4x4-4x4", "1 0");
  m.add("MatMul/4x4-4x4-w", "2 c");
  const graph g = training_step(m.g);
  // n0, n1, n3, n3/by-source, n3/by-weights, n1/by-source, n1/by-second, n0/by-weights
  REQUIRE(g.nodes.size() == 8);
  CHECK(g.nodes[2].inputs == std::vector<int>{0, 1}); // of the sum's terms
  CHECK(g.nodes[5].inputs == std::vector<int>{0, 3});
  CHECK(g.nodes[6].name == "n1/by-second");
  CHECK(g.nodes[7].inputs == std::vector<int>{3, 5, 6});
}

TEST_CASE("what has no gradient that is known is named, and what is behind it goes on") {
  maker m = named();
  m.add("MatMul/4x4-4x4-w", "i c");
  m.add("LSTM/2x1x4-h8", "0 c c");
  m.add("MatMul/2x1x1x8-8x3-w", "1 c");
  const graph g = training_step(m.g);
  REQUIRE(g.assumptions.size() == 1);
  CHECK(g.assumptions[0].find("no gradient is known of 1 LSTM") != std::string::npos);
  CHECK(g.nodes.back().name == "n0/by-weights");
}

TEST_CASE("a model without any product has no step") {
  maker m = named();
  m.add("Relu/4x5", "i");
  CHECK_THROWS_WITH_AS(training_step(m.g), doctest::Contains("there is none"), error);
}
} // namespace test_of_training
