// SPDX-License-Identifier: Apache-2.0
// Do models come back from their file, with what is known of them?
#include "synthetic.hpp"

#include <benanza/result/graph_file.hpp>

#include <doctest/doctest.h>

using benanza::result::graph_list;
using benanza::result::read_graphs;
using benanza::result::to_text;
using benanza::result::together;

namespace {
graph_list listed(const char* name, std::set<std::string> known) {
  graph_list l{.graphs = {synthetic::small_run().graphs[0]}, .known = std::move(known)};
  l.graphs[0].name = name;
  return l;
}
} // namespace

TEST_CASE("models come back from their file as they were, but for what was repaired") {
  graph_list l = listed("m@batch=1", {"Relu/1x8"});
  l.graphs[0].repairs = {"something was odd"};
  l.graphs[0].original = "m@batch=2";
  l.graphs[0].rewrites = {
      {.rule = "strides moved back", .nodes = {0, 2}, .flops = 17, .bytes = -4}};
  l.graphs[0].streamed_weight_bytes = 4000;
  l.graphs[0].dims = {{"past", 4}, {"sequence", 1}};
  l.graphs[0].cache = {.bytes = 80, .sequences = 1, .past = 4, .added = 1};
  const std::string text = to_text(l);
  const graph_list back = read_graphs(text, "graphs.json");
  REQUIRE(back.graphs.size() == 1);
  CHECK(back.graphs[0].layers == l.graphs[0].layers);
  CHECK(back.graphs[0].nodes.size() == l.graphs[0].nodes.size());
  CHECK(back.graphs[0].repairs.empty());
  CHECK(back.graphs[0].original == "m@batch=2");
  CHECK(back.graphs[0].rewrites == l.graphs[0].rewrites);
  CHECK(back.graphs[0].streamed_weight_bytes == 4000);
  CHECK(back.graphs[0].dims == l.graphs[0].dims);
  CHECK(back.graphs[0].cache == l.graphs[0].cache);
  CHECK(back.known == l.known);
  CHECK(to_text(back) == text);
  l.graphs[0].cache.past = l.graphs[0].cache.bytes = 0; // a prompt
  CHECK(read_graphs(to_text(l), "graphs.json").graphs[0].cache == l.graphs[0].cache);
}

TEST_CASE("what steers a terminal is escaped in the file, and comes back") {
  graph_list l = listed("m\x7f", {});
  l.graphs[0].nodes[0].name = "n\x7f\u009b";
  const std::string text = to_text(l);
  CHECK(text.find('\x7f') == std::string::npos);
  CHECK(text.find('\xc2') == std::string::npos);
  CHECK(read_graphs(text, "graphs.json").graphs[0].nodes[0].name == l.graphs[0].nodes[0].name);
}

TEST_CASE("of several files a layer is known only if all that have it say so") {
  const std::string first = benanza::op::name(synthetic::small_run().graphs[0].layers[0]);
  CHECK(together({listed("a", {first}), listed("b", {first, "Relu/1x2"})}).known ==
        std::set{first});
  CHECK(together({listed("a", {first}), listed("b", {})}).known.empty());
  CHECK_THROWS_AS(together({listed("a", {}), listed("a", {})}), benanza::error);
}
