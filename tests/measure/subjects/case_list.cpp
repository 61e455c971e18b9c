// SPDX-License-Identifier: Apache-2.0
#include "../fake_library.hpp"

#include <benanza/core/text.hpp>
#include <benanza/measure/subjects/case_list.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::measure;

namespace {
std::vector<std::unique_ptr<backend::library>> one(std::vector<test::script> scripts) {
  std::vector<std::unique_ptr<backend::library>> libraries;
  libraries.push_back(std::make_unique<test::fake_library>(std::move(scripts)));
  return libraries;
}

op::registered_layer registered(int id, const char* name) {
  const op::layer l = op::parse(name);
  return {id, l, op::cost(l)};
}

std::vector<std::string> names(const std::vector<group>& groups) {
  std::vector<std::string> out;
  for (const group& g : groups)
    for (const bench_case& c : g.cases)
      out.push_back(c.name);
  return out;
}

const char* conv = "Conv/1x4x5x5-4x3x3-s1-p1";
} // namespace

TEST_CASE("every layer is measured hot, and as other layers leave the caches") {
  const auto libraries = one({{.algorithm = {.id = "a"}}});
  const auto groups =
      list_cases({registered(0, conv), registered(1, "Relu/1x4x5x5")}, {}, libraries, {});
  CHECK(names(groups) == std::vector<std::string>{"Conv/1x4x5x5-4x3x3-s1-p1/f32/fake/a/hot/t1",
                                                  "Conv/1x4x5x5-4x3x3-s1-p1/f32/fake/a/coldw/t1",
                                                  "Relu/1x4x5x5/f32/fake/a/hot/t1",
                                                  "Relu/1x4x5x5/f32/fake/a/coldw/t1"});
}

TEST_CASE("weights come from the last cache only where a model fits it, and from memory always") {
  const auto named = [](const char* name, std::vector<const char*> layers) {
    model::graph g;
    g.name = name;
    for (const char* l : layers) {
      model::node n;
      n.layer = static_cast<int>(g.layers.size());
      g.layers.push_back(op::parse(l));
      g.nodes.push_back(n);
    }
    return g;
  };
  const char *shared = conv, *large = "Conv/1x256x5x5-256x3x3-s1-p1", *relu = "Relu/1x4x5x5",
             *own = "Conv/1x4x5x5-5x3x3-s1-p1", *lonely = "Relu/1x4x7x7";
  const std::vector<model::graph> graphs{named("small", {shared, own, relu}),
                                         named("large", {shared, large})};
  selection o;
  const auto states = [&](const char* layer, bool on_device = false) {
    return join(state_choice(graphs, o).states(op::parse(layer), numeric::f32, on_device), " ");
  };
  CHECK(states(own) == "hot coldw"); // there is no last cache behind a core's own
  o.llc_bytes = model::footprint_bytes(graphs[0], numeric::f32);
  CHECK(states(own) == "hot llcw coldw");
  CHECK(states(large) == "hot coldw");
  CHECK(states(shared) == "hot llcw coldw");
  CHECK(states(relu) == "hot llcw coldw"); // no weights, but memory for its result
  CHECK(states(lonely) == "hot coldw");    // of no model
  CHECK(states("reorder/1x4x5x5-plain-blocked8") == "hot llcw coldw"); // of any model
  CHECK(states(own, true) == "hot coldw");
  const auto listed = names(list_cases({registered(0, own), registered(1, large)}, graphs,
                                       one({{.algorithm = {.id = "a"}}}), o));
  CHECK(listed == std::vector<std::string>{"Conv/1x256x5x5-256x3x3-s1-p1/f32/fake/a/hot/t1",
                                           "Conv/1x256x5x5-256x3x3-s1-p1/f32/fake/a/coldw/t1",
                                           "Conv/1x4x5x5-5x3x3-s1-p1/f32/fake/a/hot/t1",
                                           "Conv/1x4x5x5-5x3x3-s1-p1/f32/fake/a/llcw/t1",
                                           "Conv/1x4x5x5-5x3x3-s1-p1/f32/fake/a/coldw/t1"});
  --o.llc_bytes;
  CHECK(states(own) == "hot coldw");
  o.states_given = true; // the states asked for, and no others
  o.states = {"llcw"};
  CHECK(states(large) == "llcw");
  CHECK(states(large, true).empty());
}

TEST_CASE("cold caches are for every layer, if asked for") {
  selection o;
  o.states = {"cold"};
  const auto groups = list_cases({registered(0, conv), registered(1, "Relu/1x4x5x5")}, {},
                                 one({{.algorithm = {.id = "a"}}}), o);
  CHECK(names(groups) == std::vector<std::string>{"Conv/1x4x5x5-4x3x3-s1-p1/f32/fake/a/cold/t1",
                                                  "Relu/1x4x5x5/f32/fake/a/cold/t1"});
}

TEST_CASE("a model that no library computes in its own type is measured in f32, unless asked") {
  const auto libraries = one({{.algorithm = {.id = "a"}}}); // knows f32 alone
  model::graph g;
  g.type = numeric::f16;
  g.layers = {op::parse(conv), op::parse("Flatten/1x4x5x5-1x100")};
  selection o;
  o.states = {"hot"};
  CHECK(measured_type(g, libraries, o) == numeric::f32);
  const std::vector<op::registered_layer> layers{registered(0, conv)};
  CHECK(names(list_cases(layers, {g}, libraries, o)) ==
        std::vector<std::string>{"Conv/1x4x5x5-4x3x3-s1-p1/f32/fake/a/hot/t1"});
  o.types = {numeric::f16};
  CHECK(measured_type(g, libraries, o) == numeric::f16);
  g.layers = {op::parse("Flatten/1x4x5x5-1x100")};
  CHECK(measured_type(g, libraries, selection{}) == numeric::f16);
}

TEST_CASE("views are never cases, and a layer named twice is one") {
  const auto libraries = one({{.algorithm = {.id = "a"}}});
  const auto groups =
      list_cases({registered(0, "Flatten/1x4x5x5-1x100"), registered(1, conv), registered(2, conv)},
                 {}, libraries, {});
  CHECK(groups.size() == 1);
}

TEST_CASE("a layer whose times are known is no case, though models use it") {
  const auto libraries = one({{.algorithm = {.id = "a"}}});
  op::registered_layer known = registered(0, conv);
  known.known = true;
  model::graph g;
  g.name = g.model = "m";
  g.layers = {op::parse(conv), op::parse("Relu/1x4x5x5")};
  g.nodes = {{.name = "c", .op = "Conv", .layer = 0},
             {.name = "r", .op = "Relu", .layer = 1, .inputs = {0}}};
  selection o;
  o.states = {"hot"};
  CHECK(names(list_cases({known, registered(1, "Relu/1x4x5x5")}, {g}, libraries, o)) ==
        std::vector<std::string>{"Relu/1x4x5x5/f32/fake/a/hot/t1"});
}

TEST_CASE(
    "reference loops and outdated instruction sets are left out, unless they are all there is") {
  const test::script good{.algorithm = {.id = "good"}},
      old{.algorithm = {.id = "old", .fallback = "old-isa"}},
      ref{.algorithm = {.id = "ref", .fallback = "ref"}},
      host{.algorithm = {.id = "host", .fallback = "host"}},
      inexact{.algorithm = {.id = "inexact", .equivalence = "f32-rough"}},
      winograd{.algorithm = {.id = "winograd", .equivalence = "f32-winograd"}};
  const auto listed = [&](std::vector<test::script> scripts, bool all = false) {
    selection o;
    o.states = {"hot"};
    o.all_algorithms = all;
    std::string out;
    for (const group& g : list_cases({registered(0, conv)}, {}, one(std::move(scripts)), o))
      for (const bench_case& c : g.cases)
        out += c.algorithm.id + ' ';
    return out;
  };
  CHECK(listed({good, old, ref, host}) == "good host ");
  CHECK(listed({old, ref}) == "old ");
  CHECK(listed({ref}) == "ref ");
  CHECK(listed({ref, host}) == "host ");
  CHECK(listed({inexact, ref}) == "ref ");
  CHECK(listed({inexact}) == "inexact ");
  CHECK(listed({good, inexact, winograd, ref}) == "good winograd "); // as frameworks run it
  CHECK(listed({winograd, old, ref}) == "winograd old ");
  CHECK(listed({good, old, ref, inexact}, true) == "good old ref inexact ");
}

TEST_CASE("what no library has in the type asked for runs in the model's own") {
  selection o;
  o.types = {numeric::bf16};
  o.states = {"hot"};
  model::graph g;
  g.name = "m@batch=1";
  g.layers = {op::parse(conv)};
  const auto groups = list_cases({registered(0, conv)}, {g}, one({{.algorithm = {.id = "a"}}}), o);
  REQUIRE(groups.size() == 1);
  CHECK(groups[0].what->type == numeric::f32);
}

TEST_CASE("an algorithm's name is one part of the case's") {
  selection o;
  o.states = {"hot"};
  const auto groups =
      list_cases({registered(0, conv)}, {}, one({{.algorithm = {.id = "a/b c"}}}), o);
  CHECK(names(groups).at(0) == std::string(conv) + "/f32/fake/a_b_c/hot/t1");
}

TEST_CASE("a selected layer without any algorithm is reported, in each type") {
  selection o;
  o.types = {numeric::bf16};
  const auto libraries = one({});
  std::vector<result::measurement> without;
  CHECK(list_cases({registered(0, conv)}, {}, libraries, o, &without).empty());
  REQUIRE(without.size() == 2);
  CHECK(without[0].name == std::string(conv) + "/bf16/none/none/none/t1");
  CHECK(without[0].error == "no backend has an algorithm for it in bf16");
  CHECK(without[1].type == "f32");
  CHECK(result::nothing_runs(without[1]));
  without.clear();
  o.filter = "^Relu/";
  CHECK(list_cases({registered(0, conv)}, {}, libraries, o, &without).empty());
  CHECK(without.empty());
}
