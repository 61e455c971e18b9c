// SPDX-License-Identifier: Apache-2.0
// Are exactly those layers missing that have no success in the settings asked for?
#include "../synthetic.hpp"
#include "places.hpp"

#include <benanza/result/store/missing.hpp>

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

using namespace benanza::result::store;
using benanza::numeric;
using benanza::result::run;
using mode = benanza::result::store::access; // POSIX has a function of that name
using names = std::set<std::string>;

namespace {

names ask(const store& s, const std::vector<benanza::model::graph>& graphs,
          const wanted_settings& wanted = {}, std::int64_t system = 1) {
  const auto all = benanza::model::unique_layers(graphs);
  return missing(s, system, all.layers, graphs, wanted).names;
}

/// The layers without a time that are not to be tried again, with their reasons.
std::map<std::string, std::string> failures(const store& s,
                                            const std::vector<benanza::model::graph>& graphs,
                                            const wanted_settings& wanted = {}) {
  const auto all = benanza::model::unique_layers(graphs);
  return missing(s, 1, all.layers, graphs, wanted).failed;
}

/// The row of a layer that nothing runs.
benanza::result::measurement nothing(const std::string& layer, const std::string& type) {
  auto m = synthetic::timed(layer, "none", 0, "none", {1.0}, type);
  m.backend = "none";
  m.error = "nothing runs it in " + type;
  return m;
}

} // namespace

TEST_CASE(
    "a layer is missing unless it was measured on that system, in that type, on those threads") {
  const benanza::test::store_places f("missing");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  synthetic::add(r, synthetic::conv, "a", 0, 1e3);
  synthetic::add(r, synthetic::relu, "a", 0, 1e3);
  synthetic::add(r, synthetic::relu, "a", 0, 1e3, 1.1, "bf16");
  synthetic::add(r, synthetic::relu, "a", 0, 1e3, 1.1, "f32", 2);
  s.add(s.begin_run(r), r.measurements);

  const std::vector<benanza::model::graph> graphs = {synthetic::make_graph(
      "tiny@batch=1", {synthetic::conv, synthetic::relu, synthetic::softmax, synthetic::flatten},
      {{}, {0}, {1}, {2}})};
  CHECK(ask(s, graphs) == names{synthetic::softmax});
  CHECK(ask(s, graphs, {.types = {numeric::bf16}}) == names{synthetic::conv, synthetic::softmax});
  CHECK(ask(s, graphs, {.types = {numeric::f32, numeric::bf16}}) ==
        names{synthetic::conv, synthetic::softmax});
  CHECK(ask(s, graphs, {.threads = {1, 2}}) == names{synthetic::conv, synthetic::softmax});
  CHECK(ask(s, graphs, {.threads = {2}}) == names{synthetic::conv, synthetic::softmax});
  CHECK(ask(s, graphs, {}, 2) == names{synthetic::conv, synthetic::relu, synthetic::softmax});
}

TEST_CASE("without types, those of all models that use a layer count") {
  const benanza::test::store_places f("missing");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  synthetic::add(r, synthetic::conv, "a", 0, 1e3);
  synthetic::add(r, synthetic::relu, "a", 0, 1e3, 1.1, "u8s8u8");
  s.add(s.begin_run(r), r.measurements);
  std::vector<benanza::model::graph> graphs = {synthetic::make_graph("a", {synthetic::conv}, {{}}),
                                               synthetic::make_graph("b", {synthetic::relu}, {{}})};
  graphs[1].type = numeric::u8s8u8;
  CHECK(ask(s, graphs).empty());
  graphs.push_back(synthetic::make_graph("c", {synthetic::relu, synthetic::conv}, {{}, {0}}));
  CHECK(ask(s, graphs) == names{synthetic::relu});
}

TEST_CASE("what only failed is not missing, and named with its newest reason") {
  const benanza::test::store_places f("missing");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  synthetic::add(r, synthetic::softmax, "a", 0, 1e3);
  r.measurements.back().error = "wrong result";
  synthetic::add(r, synthetic::conv, "a", 0, 1e3);
  r.measurements.back().error = "crashed"; // with cold weights only
  s.add(s.begin_run(r), r.measurements);
  const std::vector<benanza::model::graph> graphs = {synthetic::make_graph(
      "g", {synthetic::conv, synthetic::relu, synthetic::softmax}, {{}, {0}, {1}})};
  CHECK(ask(s, graphs) == names{synthetic::relu});
  using reasons = std::map<std::string, std::string>;
  CHECK(failures(s, graphs) == reasons{{synthetic::softmax, "wrong result"}});
  for (auto& m : r.measurements)
    m.error = "crashed again";
  s.add(s.begin_run(r), r.measurements);
  CHECK(failures(s, graphs) == reasons{{synthetic::softmax, "crashed again"}});
  CHECK(ask(s, graphs, {.threads = {2}}) ==
        names{synthetic::conv, synthetic::relu, synthetic::softmax});
  CHECK(failures(s, graphs, {.threads = {2}}).empty());
}

TEST_CASE("what was measured with less effort is missing") {
  using benanza::result::effort;
  const benanza::test::store_places f("missing");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  synthetic::add(r, synthetic::relu, "a", 0, 1e3);
  const std::vector<benanza::model::graph> graphs = {
      synthetic::make_graph("g", {synthetic::relu}, {{}})};
  r.provenance["measuring"]["effort"] = "quick";
  s.add(s.begin_run(r), r.measurements);
  CHECK(ask(s, graphs) == names{synthetic::relu});
  CHECK(ask(s, graphs, {.least = effort::quick}).empty());
  r.provenance["measuring"]["effort"] = "normal";
  s.add(s.begin_run(r), r.measurements);
  CHECK(ask(s, graphs).empty());
  CHECK(ask(s, graphs, {.least = effort::thorough}) == names{synthetic::relu});
}

TEST_CASE("what nothing runs in a type is missing until it was tried in the model's own") {
  const benanza::test::store_places f("missing");
  store s(f / "a.db", mode::write);
  run r = synthetic::empty_run();
  const std::vector<benanza::model::graph> graphs = {
      synthetic::make_graph("g", {synthetic::relu}, {{}})};
  const auto add = [&](const benanza::result::measurement& m) {
    s.add(s.begin_run(r), std::vector{m});
  };
  const wanted_settings bf16{.types = {numeric::bf16}};
  add(nothing(synthetic::relu, "bf16"));
  CHECK(ask(s, graphs, bf16) == names{synthetic::relu});
  CHECK(failures(s, graphs, bf16).empty());
  add(nothing(synthetic::relu, "f32"));
  CHECK(ask(s, graphs, bf16).empty());
  CHECK(ask(s, graphs).empty());
  CHECK(failures(s, graphs, bf16).at(synthetic::relu) == "nothing runs it in bf16");
  add(synthetic::timed(synthetic::relu, "a", 0, "hot", {1e3}));
  CHECK(ask(s, graphs, bf16).empty());
  CHECK(failures(s, graphs, bf16).empty());
  CHECK(failures(s, graphs).empty());
}
