// SPDX-License-Identifier: Apache-2.0
// Is a fused form as fast as the better of its layers and their parts, and are forms refused that
// do not fit their model?
#include "../result/synthetic.hpp"

#include <benanza/bound/fusion.hpp>
#include <doctest/doctest.h>

#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace {

using benanza::bound::fusion;
using benanza::bound::pair_up;
using benanza::model::graph;

constexpr double never = std::numeric_limits<double>::infinity();

/// 0 -> 1 -> 3 -> 4 and 0 -> 2 -> 3; fused: 0, {2}, {1, 3}, 4.
struct forked {
  graph unfused = synthetic::make_graph("g", std::vector<std::string>(5, synthetic::relu),
                                        {{}, {0}, {0}, {1, 2}, {3}});
  graph fused = synthetic::make_graph("g,fused", std::vector<std::string>(4, synthetic::relu),
                                      {{}, {0}, {0, 1}, {2}});
  forked() {
    fused.nodes[0].parts = {0};
    fused.nodes[1].parts = {2};
    fused.nodes[2].parts = {1, 3};
    fused.nodes[3].parts = {4};
  }
};

} // namespace

TEST_CASE("each node takes the less of one and its parts") {
  const forked g;
  const fusion f = pair_up(g.fused, g.unfused);
  CHECK(f.owner == std::vector<int>{0, 2, 1, 2, 3});
  const std::vector<double> parts{1, 10, 20, 3, 5};
  CHECK(f.sequential({never, never, 12, never}, parts) == 1 + 20 + 12 + 5);
  CHECK(f.sequential({never, never, 14, never}, parts) == 1 + 20 + 13 + 5);
  CHECK(f.times(2, {never, never, 12, never}, parts) == std::pair(12.0, 13.0));
}

TEST_CASE("a node of one part may be another layer: what moves nothing is a view") {
  const std::string moved = "Transpose/1x4x8-o1x0x2", view = "Reshape/1x4x8-4x1x8";
  graph unfused = synthetic::make_graph("g", {synthetic::relu, moved}, {{}, {0}});
  graph fused = synthetic::make_graph("g,fused", {synthetic::relu, view}, {{}, {0}});
  fused.nodes[0].parts = {0};
  fused.nodes[1].parts = {1};
  const fusion f = pair_up(fused, unfused);
  CHECK(!f.differs(0));
  CHECK(f.differs(1));
  CHECK(!f.is_view(0));
  CHECK(f.is_view(1));
}

TEST_CASE("a fused node waits for all of its operands, parts only for their own") {
  const forked g;
  const fusion f = pair_up(g.fused, g.unfused);
  const std::vector<double> parts{1, 10, 20, 3, 5};
  // As parts: 0, then 1 and 2 at once, then 3, 4.
  CHECK(f.longest({never, never, never, never}, parts).ns == 1 + 20 + 3 + 5);
  CHECK(f.longest({never, never, 12, never}, parts).ns == 1 + 20 + 3 + 5);
  CHECK(f.longest({never, never, 2, never}, parts).ns == 1 + 20 + 2 + 5);
  CHECK(f.longest({never, never, 2, never}, parts).nodes == std::vector<int>{0, 1, 2, 3});
  // The slow branch is within the fused node: the path does not lead through node 1.
  CHECK(f.longest({never, never, never, never}, {1, 30, 20, 3, 5}).nodes ==
        std::vector<int>{0, 2, 3});
}

TEST_CASE("who reads a sum that is a second result need not wait for the normalization") {
  const std::string norm = "RMSNormalization/4x8-a1", add = "Add/4x8";
  // 0: the sum; 1: its normalization; 2: reads the sum.
  const graph unfused = synthetic::make_graph("g", {add, norm, "Relu/4x8"}, {{}, {0}, {0}});
  graph fused =
      synthetic::make_graph("g,fused", {"Add+RMSNormalization/4x8-a1-sum", "Relu/4x8"}, {{}, {0}});
  fused.nodes[0].parts = {0, 1};
  fused.nodes[1].parts = {2};
  fused.nodes[1].operands = {{0, 1}};
  const fusion f = pair_up(fused, unfused);
  CHECK(f.unfused_result({0, 1}) == benanza::model::operand{0, 0});
  CHECK(f.unfused_result({0, 0}) == benanza::model::operand{1, 0});
  CHECK(f.longest({never, never}, {1, 10, 3}).ns == 1 + 10); // the last node is not the last to end
  CHECK(f.longest({never, never}, {1, 10, 30}).ns == 1 + 30);
  CHECK(f.longest({2, never}, {1, 10, 30}).ns == 1 + 30);
  CHECK(f.longest({2, never}, {3, 10, 30}).ns == 2 + 30);
}

TEST_CASE("forms that do not fit their model are refused by name") {
  const auto refused = [](const std::function<void(forked&)>& change, const std::string& part) {
    forked g;
    change(g);
    std::string said;
    try {
      (void)pair_up(g.fused, g.unfused);
    } catch (const benanza::error& e) {
      said = e.what();
    }
    CAPTURE(said);
    CHECK(said.find(part) != std::string::npos);
    CHECK(said.find("g,fused") != std::string::npos);
  };
  refused([](forked& g) { g.fused.nodes[2].parts = {}; }, "has no parts");
  refused([](forked& g) { g.fused.nodes[2].parts = {3, 1}; }, "not in their order");
  refused([](forked& g) { g.fused.nodes[2].parts = {1, 2, 3}; }, "two fused nodes");
  refused([](forked& g) { g.fused.nodes[2].parts = {1, 9}; }, "not there");
  refused([](forked& g) { g.fused.nodes[2].parts = {3}; }, "part of no fused one");
  refused([](forked& g) { std::swap(g.fused.nodes[1].parts, g.fused.nodes[3].parts); },
          "comes before");
}
