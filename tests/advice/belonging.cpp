// SPDX-License-Identifier: Apache-2.0
// Which framework's run belongs to which figures? One of another model, setting or dims is refused
// or named.
#include "framework_runs.hpp"
#include "model/graph_maker.hpp"

namespace test_of_belonging {
using namespace framework_runs;

TEST_CASE("the profile of a large model is not that of a small one, though they share a layer") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1400);
  p.model = "other";
  CHECK_NOTHROW(advise_all(s, all, {p})); // the same nodes by another file's name
  for (int i = 0; i < 40; ++i) {
    p.operators.push_back({.name = "foreign" + std::to_string(i), .type = "Conv"});
    p.operators.back().ns = {1e5};
  }
  CHECK_THROWS_WITH_AS(advise_all(s, all, {p}), doctest::Contains("of its"), benanza::error);
}

TEST_CASE("a run of another precision, on other threads or of another model is refused") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const auto said = [&](const profile& p) -> std::string {
    try {
      advise_all(s, all, {p});
    } catch (const benanza::error& e) {
      return e.what();
    }
    return {};
  };
  CHECK(said(unfused(1400)).empty());
  profile p = unfused(1400);
  p.precision = "bf16"; // OpenVINO's own choice: no bound of f32 may be beaten by that
  CHECK(said(p).find("computes in bf16, the figures are of f32") != std::string::npos);
  CHECK(said(p).find("INFERENCE_PRECISION_HINT") == std::string::npos);
  p.framework = "openvino";
  CHECK(said(p).find("INFERENCE_PRECISION_HINT to f32") != std::string::npos);
  p = unfused(1400);
  p.threads = 2;
  CHECK(said(p).find("2 threads") != std::string::npos);
  p = unfused(1400);
  p.batch = 8;
  CHECK(said(p).find("batch is 8") != std::string::npos);
  p = unfused(1400);
  p.model = "other";
  for (profiled_operator& o : p.operators)
    o.name = "n" + o.name;
  CHECK(said(p).find("belongs to no model") != std::string::npos);
}

TEST_CASE(
    "a run at other dims than the figures is refused, whether its operators tell them or not") {
  benanza::model::graph g = graphs::maker().add("Relu/1x8", "i").g;
  g.dims = {{"sequence", 1}, {"past", 512}};
  model_bound b;
  b.graph = &g;
  b.threads = 1;
  profile p{.dims = {{"past", 512}, {"other", 3}}};
  CHECK(benanza::advice::detail::differs(p, b).empty());
  p.dims["past"] = 0;
  CHECK(benanza::advice::detail::differs(p, b) == "it ran at past=0, the figures are of past=512");
}

TEST_CASE("int8 is the type of a model that says its codes, and of no other") {
  const auto differs = [](const char* layer) {
    const benanza::model::graph g = graphs::maker().add(layer, "i").g;
    model_bound b;
    b.graph = &g;
    b.threads = 1;
    profile p;
    p.precision = "s8";
    return benanza::advice::detail::differs(p, b);
  };
  CHECK(differs("DequantizeLinear/1x8-u8").empty());
  CHECK(differs("Relu/1x8") == "it computes in s8, the figures are of f32");
}

TEST_CASE("a run of a setting without figures is named and left out; all of them are refused") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  std::vector<profile> both{unfused(1400), unfused(1400)};
  both[1].threads = 2;
  both[1].source = "two.json";
  std::vector<std::string> left_out;
  const advised a = advise_all(s, all, both, {.left_out = &left_out}).front();
  CHECK(a.frameworks.size() == 1);
  REQUIRE(left_out.size() == 1);
  CHECK(left_out[0] == "two.json: it ran on 2 threads, the figures are of 1");
  both[0].batch = 8;
  CHECK_THROWS_WITH_AS(advise_all(s, all, both, {.left_out = &left_out}),
                       doctest::Contains("batch is 8"), benanza::error);
}

TEST_CASE("a run at other dims is refused: its times are of other work") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1400);
  for (profiled_operator& o : p.operators)
    o.results = {{.type = "f32", .dims = benanza::shape{1, 64, 56, 56}}};
  CHECK_NOTHROW(advise_all(s, all, {p}));
  for (profiled_operator& o : p.operators)
    o.results[0].dims = benanza::shape{1, 64, 224, 224};
  CHECK_THROWS_AS(advise_all(s, all, {p}), benanza::error);
}

TEST_CASE("a latency alone of another model is not taken for this one's") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1400);
  p.operators.clear();
  CHECK_NOTHROW(advise_all(s, all, {p}));
  p.model = "other";
  CHECK_THROWS_AS(advise_all(s, all, {p}), benanza::error);
}

TEST_CASE(
    "a run belongs to a model by the file's structure, else by its nodes, whatever its name") {
  run r = synthetic::fused_run();
  for (auto& g : r.graphs)
    g.structure = "a1";
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const auto said = [&](const profile& p) -> std::string {
    try {
      advise_all(s, all, {p});
    } catch (const benanza::error& e) {
      return e.what();
    }
    return {};
  };
  profile p = unfused(1400);
  p.structure = "b2"; // the same names, and another file
  CHECK(said(p).find("block as it ran there has other nodes or tensors") != std::string::npos);
  p.structure = "a1";
  p.model = "renamed";
  for (profiled_operator& o : p.operators)
    o.name = "n" + o.name; // and nothing that a node is called by
  CHECK(said(p).empty());
  p.operators.clear();
  CHECK(said(p).empty());
  // Without a structure a name is no proof.
  p = unfused(1400);
  for (profiled_operator& o : p.operators)
    o.name = "n" + o.name, o.type = "Foreign";
  CHECK(said(p).find("0 of its 6 operators") != std::string::npos);
}
} // namespace test_of_belonging
