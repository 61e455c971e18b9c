// SPDX-License-Identifier: Apache-2.0
// Are layers numbered by name, each once, whatever form they come in?
#include <benanza/model/layer_table.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::model;

TEST_CASE("layer_table: different layers, sorted by name") {
  const op::layer relu = op::parse("Relu/1x8"), add = op::parse("Add/1x8");
  layer_table table(std::vector{relu, add, relu});
  CHECK(table.number_of(add) == 0);
  CHECK(table.number_of(relu) == 1);
  CHECK(std::move(table).layers() == std::vector{add, relu});
  CHECK(layer_table(std::vector<op::layer>{}).layers().empty());
}

TEST_CASE("layer_table: a layer and its canonical form are one") {
  const op::layer loose = op::slice{.input = {4}, .sizes = {4}, .starts = {0}, .steps = {1}};
  const op::layer strict = op::parse("Slice/4-4");
  layer_table table(std::vector{loose, strict});
  CHECK(table.number_of(loose) == 0);
  CHECK(std::move(table).layers() == std::vector{strict});
}

TEST_CASE("number_layers: nodes keep their layers") {
  const std::vector<op::layer> of_nodes{op::parse("Relu/1x8"), op::parse("Add/1x8"),
                                        op::parse("Relu/1x8")};
  graph g;
  for (int i : {0, no_layer, 1, 2})
    g.nodes.push_back({.layer = i});
  number_layers(g, of_nodes);
  REQUIRE(g.layers.size() == 2);
  CHECK(g.nodes[0].layer == 1);
  CHECK(g.nodes[1].layer == no_layer);
  CHECK(g.nodes[2].layer == 0);
  CHECK(g.nodes[3].layer == 1);
}
