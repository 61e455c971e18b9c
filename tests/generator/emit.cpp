// SPDX-License-Identifier: Apache-2.0
#include "generator/emit.hpp"

#include <doctest/doctest.h>

using namespace benanza;

namespace {
model::graph hostile() {
  model::graph g;
  g.name = "*/ evil\"); system(\"id\n// ?\?/ @batch=1";
  g.model = "evil";
  g.layers = {op::parse("Relu/1x8")};
  g.nodes = {{.name = "x\\\"); system(\"id", .op = "Relu", .layer = 0},
             {.name = "caf\xc3\xa9\n", .op = "Relu", .layer = 0, .inputs = {0}},
             {.name = "odd", .op = "com.x::\"Odd\"", .inputs = {0, 1}, .problem = "no \"kind\""}};
  return g;
}

std::string graph_text(const model::graph& g) {
  std::vector<model::catalogue_entry> layers{{.layer = g.layers[0], .uses = {{0, 2}}}};
  return generator::emit(layers, {g}).at("graph.cpp");
}
} // namespace

TEST_CASE("nothing from a model file is pasted into code unescaped") {
  const std::string text = graph_text(hostile());
  for (const char c : text)
    CHECK((c == '\n' || (c >= 0x20 && c < 0x7f)));
  CHECK(text.find("{0, \"x\\\\\\\"); system(\\\"id\", \"\"}") != std::string::npos);
  CHECK(text.find("caf\\303\\251\\012") != std::string::npos);
  CHECK(text.find("\n// */ evil\"); system(\"id_// __/ @batch=1\n") != std::string::npos);
  CHECK(text.find("{-1, \"odd\", \"0 1\", \"\", \"com.x::\\\"Odd\\\"\", \"no \\\"kind\\\"\"}") !=
        std::string::npos);
}

TEST_CASE("the same models give the same bytes") {
  CHECK(graph_text(hostile()) == graph_text(hostile()));
}

TEST_CASE("layers are split so that no file is long, each layer exactly once") {
  std::vector<model::catalogue_entry> layers;
  for (int i = 1; i <= 1200; ++i)
    layers.push_back({.layer = op::parse("Relu/" + std::to_string(i)), .uses = {}});
  const auto files = generator::emit(layers, {});
  CHECK(files.contains("layers_2.cpp"));
  CHECK_FALSE(files.contains("layers_3.cpp"));
  std::size_t count = 0;
  for (const auto& [name, text] : files)
    for (std::size_t at = 0; (at = text.find(">::add(", at)) != std::string::npos; ++at)
      ++count;
  CHECK(count == 1200);
  CHECK(generator::emit(layers, {}, {.layer_files = 5}).size() == 5 + 3);
}

TEST_CASE("a layer's comment names three models and counts the others") {
  std::vector<model::graph> graphs(5);
  std::vector<model::catalogue_entry> layers{{.layer = op::parse("Relu/1x8"), .uses = {}}};
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    graphs[i] = hostile();
    graphs[i].name = "m" + std::to_string(i) + "@batch=1";
    layers[0].uses.push_back({i, 2});
  }
  CHECK(generator::emit(layers, graphs)
            .at("layers_0.cpp")
            .find("  // m0@batch=1 x2, m1@batch=1 x2, m2@batch=1 x2, 2 more x4\n") !=
        std::string::npos);
}

TEST_CASE("layers whose times are known are in a file of their own, under the same numbers") {
  std::vector<model::catalogue_entry> layers;
  for (const char* name : {"Relu/1x7", "Relu/1x8", "Relu/1x9"})
    layers.push_back({.layer = op::parse(name), .uses = {}});
  model::graph g = hostile();
  g.layers = {layers[1].layer};
  const auto all = generator::emit(layers, {g});
  const auto part = generator::emit(layers, {g}, {.known = {"Relu/1x8", "Relu/1x9"}});
  CHECK_FALSE(all.contains("known_layers.cpp"));
  CHECK(part.at("graph.cpp") == all.at("graph.cpp"));
  CHECK(part.at("layers_0.cpp").find("{1, 7}}>::add(0);") != std::string::npos);
  CHECK(part.at("layers_0.cpp").find("{1, 8}") == std::string::npos);
  CHECK(part.at("known_layers.cpp").find("{1, 8}}>::known(1);") != std::string::npos);
  CHECK(part.at("known_layers.cpp").find("{1, 9}}>::known(2);") != std::string::npos);
  CHECK(part.at("known_layers.cpp").find("::add(") == std::string::npos);
}
