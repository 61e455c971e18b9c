// SPDX-License-Identifier: Apache-2.0
#include <benanza/model/dims.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::model;

TEST_CASE("each result of a Split has its own dims, any other layer has one result") {
  graph g;
  g.layers = {op::parse("Split/1x49x8x8-a1-n2"), op::parse("Relu/1x24x8x8")};
  g.nodes.push_back({.name = "a", .layer = 0, .operands = {{model_input}}});
  g.nodes.push_back({.name = "b", .layer = 1, .inputs = {0}, .operands = {{0, 1}}});
  g.nodes.push_back({.name = "c", .layer = no_layer});
  CHECK(result_dims(g, {0, 0}) == shape{1, 25, 8, 8});
  CHECK(result_dims(g, {0, 1}) == shape{1, 24, 8, 8});
  CHECK_FALSE(result_dims(g, {0, 2}));
  CHECK(result_dims(g, {1, 0}) == shape{1, 24, 8, 8});
  CHECK_FALSE(result_dims(g, {2, 0}));
}

TEST_CASE("dims of operands are known as far as the layer's parameters give them") {
  CHECK(op::operand_dims(op::parse("Conv/1x3x8x8-32x3x3-s1-p1"), 0) == shape{1, 3, 8, 8});
  CHECK_FALSE(op::operand_dims(op::parse("Conv/1x3x8x8-32x3x3-s1-p1"), 1));
  CHECK(op::operand_dims(op::parse("Conv+Relu/1x3x8x8-32x3x3-s1-p1"), 0) == shape{1, 3, 8, 8});
  CHECK(op::operand_dims(op::parse("Add/1x800x14x14-800x1x1"), 0) == shape{1, 800, 14, 14});
  CHECK(op::operand_dims(op::parse("Add/1x800x14x14-800x1x1"), 1) == shape{800, 1, 1});
}
