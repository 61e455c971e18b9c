// SPDX-License-Identifier: Apache-2.0
// Which nodes of a model does each operator of a framework represent?
#include "growth.hpp"
#include "result/synthetic.hpp"

#include <benanza/trace/profile/match.hpp>
#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace test_of_match_nodes {
using benanza::shape;
using benanza::model::graph;
using benanza::trace::attribute;
using benanza::trace::attribution;
using benanza::trace::matched_by;
using benanza::trace::profile;
using benanza::trace::profiled_operator;

const std::string conv = "Conv/1x64x56x56-64x3x3-s1-p1", relu = "Relu/1x64x56x56",
                  sum = "Add/1x64x56x56", norm = "BatchNormalization/1x64x56x56";

/// conv1 -> bn1 -> relu1 -> conv2 -> add (of relu1) -> relu2
graph block() {
  graph g = synthetic::make_graph("block@batch=1", {conv, norm, relu, conv, sum, relu},
                                  {{}, {0}, {1}, {2}, {2, 3}, {4}});
  const std::vector<std::string> names{"conv1", "bn1", "relu1", "conv2", "add", "relu2"};
  for (std::size_t i = 0; i < names.size(); ++i)
    g.nodes[i].name = names[i];
  g.nodes[4].operands = {{3}, {2}};
  return g;
}

profiled_operator made(const std::string& name, const std::string& type) {
  profiled_operator o;
  o.name = name;
  o.type = type;
  o.ns = {1000};
  return o;
}

TEST_CASE("an operator has the nodes that the framework names, and no others") {
  profile p;
  p.operators = {made("fused_7", "Conv"), made("x", "Conv")};
  p.operators[0].stands_for = {"conv1", "bn1", "relu1"};
  p.operators[1].stands_for = {"conv2", "add", "relu2"};
  const attribution a = attribute(p, block());
  CHECK(a.nodes[0] == std::vector{0, 1, 2});
  CHECK(a.nodes[1] == std::vector{3, 4, 5});
  CHECK(a.sureness(0) == matched_by::said);
  CHECK(a.matched() == 6);
}

TEST_CASE("operators of one name before many nodes take time in proportion") {
  CHECK(benanza::test::growth(2000, [](int n) {
          graph g = block();
          g.nodes.clear();
          profile p;
          for (int i = 0; i < n; ++i) {
            auto& node = g.nodes.emplace_back();
            node.name = "a/" + std::to_string(i);
            node.op = "Relu";
            p.operators.push_back(made("a", "Relu"));
          }
          return [g, p] { CHECK(attribute(p, g).nodes[0].size() == g.nodes.size()); };
        }) < benanza::test::near_proportion);
}

TEST_CASE("operators for which the same nodes are named did that work together") {
  profile p; // as OpenVINO runs a normalization by several
  p.operators = {made("reduce", "Reduce"), made("conv1", "Conv"), made("subgraph", "Subgraph"),
                 made("rms", "RMS")};
  p.operators[0].stands_for = {"bn1"};
  p.operators[2].stands_for = {"bn1", "relu1"};
  p.operators[3].stands_for = {"relu1"};
  const attribution a = attribute(p, block());
  CHECK(a.leader == std::vector{0, 1, 0, 0});
  CHECK(a.nodes[0] == std::vector{1, 2});
  CHECK(a.nodes[2].empty());
  CHECK_FALSE(a.added(2));
  CHECK_FALSE(a.added(3));
}

TEST_CASE("a fused operator that is called after its result takes what is before it") {
  profile p;
  p.operators = {made("relu1_nchwc", "Conv"), made("ReorderOutput", "ReorderOutput"),
                 made("relu2_nchwc", "Conv")};
  const attribution a = attribute(p, block());
  CHECK(a.nodes[0] == std::vector{0, 1, 2});
  CHECK(a.nodes[1].empty());
  CHECK(a.nodes[2] == std::vector{3, 4, 5});
  CHECK(a.how[2] == matched_by::name);
  CHECK(a.sureness(2) == matched_by::between);
}

TEST_CASE("a product that keeps its own name takes what follows it") {
  profile p;
  p.operators = {made("conv1", "FusedConv"), made("conv2", "FusedConv")};
  const attribution a = attribute(p, block());
  CHECK(a.nodes[0] == std::vector{0, 1, 2});
  CHECK(a.nodes[1] == std::vector{3, 4, 5});
}

TEST_CASE("what a product made for two readers is not drawn into it") {
  graph g = block();
  g.nodes[2].inputs = {1};
  g.nodes[4].inputs = {0, 3}; // conv1 is read by bn1 and by the sum
  profile p;
  p.operators = {made("conv1", "Conv"), made("relu1", "Relu"), made("conv2", "Conv")};
  const attribution a = attribute(p, g);
  CHECK(a.nodes[0] == std::vector{0});
  CHECK(a.nodes[1] == std::vector{1, 2}); // its only reader takes bn1
}

TEST_CASE("tensors are called after their makers by exporters") {
  profile p;
  p.operators = {made("k1", "Conv"), made("/block/conv2/Conv_output_0_nchwc", "Conv")};
  p.operators[0].makes = {"relu1_output_0"};
  graph g = block();
  g.nodes[3].name = "/block/conv2/Conv";
  const attribution a = attribute(p, g);
  CHECK(a.how[2] == matched_by::tensor);
  CHECK(a.owner[2] == 0);
  CHECK(a.owner[3] == 1);
}

TEST_CASE("without names the kind and the dims decide, in order, and that is said") {
  profile p;
  for (int i = 0; i < 3; ++i) {
    p.operators.push_back(made("op" + std::to_string(i), "Convolution"));
    p.operators.back().results = {{.type = "f32", .dims = shape{1, 64, 56, 56}}};
  }
  p.operators[1].results[0].dims = shape{1, 64, 28, 28};
  const attribution a = attribute(p, block());
  CHECK(a.owner[0] == 0);
  CHECK(a.how[0] == matched_by::likeness);
  CHECK(a.nodes[1].empty()); // of other dims: the framework added it
  CHECK(a.owner[3] == 2);
  CHECK(a.sureness(2) == matched_by::likeness);
}

TEST_CASE("two nodes of one name are two operators'") {
  graph g = block();
  g.nodes[0].name = g.nodes[3].name = "conv";
  profile p;
  p.operators = {made("conv", "Conv"), made("conv", "Conv")};
  const attribution a = attribute(p, g);
  CHECK(a.owner[0] == 0);
  CHECK(a.owner[3] == 1);
}

TEST_CASE("a node that was written as several is all of them") {
  graph g = block();
  g.nodes[3].name = "attention/q";
  g.nodes[4].name = "attention/sum";
  profile p;
  p.operators = {made("attention", "Attention"), made("conv1", "Conv")};
  const attribution a = attribute(p, g);
  CHECK(a.owner[3] == 0);
  CHECK(a.owner[4] == 0);
}

TEST_CASE("a profile of another model matches nothing") {
  profile p;
  p.operators = {made("a", "LSTM"), made("b", "Softmax")};
  const attribution a = attribute(p, block());
  CHECK(a.matched() == 0);
  CHECK(a.sureness(0) == matched_by::nothing);
  CHECK(attribute(profile{}, block()).matched() == 0);
  CHECK(attribute(p, graph{}).nodes.size() == 2);
}
} // namespace test_of_match_nodes
