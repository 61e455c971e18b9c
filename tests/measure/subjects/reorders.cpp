// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/subjects/reorders.hpp>
#include <benanza/op/kinds.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
model::graph two_layers() {
  model::graph g;
  g.layers = {op::parse("Conv/1x3x8x8-32x3x3-s1-p1"), op::parse("MaxPool/1x32x8x8-2x2-s2")};
  g.nodes.push_back(
      {.name = "a", .layer = 0, .operands = {{model::model_input}, {model::constant}}});
  g.nodes.push_back({.name = "b", .layer = 1, .inputs = {0}, .operands = {{0}}});
  return g;
}

std::vector<std::string> names(const layout_table& t) {
  std::vector<std::string> out;
  for (const auto& [name, r] : reorders({two_layers()}, t))
    out.push_back(name);
  return out;
}
} // namespace

TEST_CASE("every change between layouts in which a tensor is made or read, and no other") {
  layout_table t;
  const auto algorithm = [](const char* operands, const char* result) {
    return backend::algorithm{.id = "x", .operand_layouts = operands, .result_layout = result};
  };
  t.add("Conv/1x3x8x8-32x3x3-s1-p1", algorithm("plain", "blocked16"));
  t.add("MaxPool/1x32x8x8-2x2-s2", algorithm("channels_last", "channels_last"));
  t.add("MaxPool/1x32x8x8-2x2-s2", algorithm("any", "any"));
  t.add("MaxPool/1x32x8x8-2x2-s2", algorithm("", ""));
  CHECK(names(t) ==
        std::vector<std::string>{
            "reorder/1x32x4x4-channels_last-plain", "reorder/1x32x4x4-plain-channels_last",
            "reorder/1x32x8x8-blocked16-channels_last", "reorder/1x32x8x8-blocked16-plain",
            "reorder/1x32x8x8-channels_last-blocked16", "reorder/1x32x8x8-channels_last-plain",
            "reorder/1x32x8x8-plain-blocked16", "reorder/1x32x8x8-plain-channels_last"});
}

TEST_CASE("nothing is reordered where all is plain, or where two layouts are one") {
  CHECK(names({}).empty());
  layout_table t;
  t.add("Conv/1x3x8x8-32x3x3-s1-p1",
        {.id = "x", .operand_layouts = "channels_last", .result_layout = "plain"});
  CHECK(names(t) == std::vector<std::string>{"reorder/1x3x8x8-channels_last-plain",
                                             "reorder/1x3x8x8-plain-channels_last"});
}

TEST_CASE("what is read of several results, or given by the caller, has dims of its own") {
  model::graph g;
  g.layers = {op::parse("Split/1x48x8x8-a1-n2"), op::parse("Conv/1x24x8x8-32x1x1-s1"),
              op::parse("Add/1x32x8x8")};
  g.nodes.push_back({.name = "a", .layer = 0, .operands = {{model::model_input}}});
  g.nodes.push_back(
      {.name = "b", .layer = 1, .inputs = {0}, .operands = {{0, 1}, {model::constant}}});
  g.nodes.push_back(
      {.name = "c", .layer = 2, .inputs = {1}, .operands = {{1}, {model::model_input}}});
  layout_table t;
  t.add("Split/1x48x8x8-a1-n2", {.id = "x", .operand_layouts = "plain", .result_layout = "plain"});
  t.add("Conv/1x24x8x8-32x1x1-s1",
        {.id = "x", .operand_layouts = "channels_last", .result_layout = "plain"});
  t.add("Add/1x32x8x8", {.id = "x", .operand_layouts = "plain,blocked8", .result_layout = "plain"});
  std::vector<std::string> names;
  for (const auto& [name, r] : reorders({g}, t))
    names.push_back(name);
  CHECK(names == std::vector<std::string>{
                     "reorder/1x24x8x8-channels_last-plain", "reorder/1x24x8x8-plain-channels_last",
                     "reorder/1x32x8x8-blocked8-plain", "reorder/1x32x8x8-plain-blocked8"});
}
