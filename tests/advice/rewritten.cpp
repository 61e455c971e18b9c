// SPDX-License-Identifier: Apache-2.0
// Is rewriting a model advised where it saves something of that run, and by how much?
#include "result/synthetic.hpp"

#include <benanza/advice/advised.hpp>
#include <doctest/doctest.h>

#include <optional>
#include <vector>

namespace test_of_rewriting {
using namespace benanza::advice;
using benanza::numeric;
using benanza::bound::model_bound;
using benanza::bound::source;
using benanza::result::run;
using benanza::trace::profile;

/// A run of `ns`, of which the convolution takes all but 10 us.
profile run_of(double ns) {
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = "net";
  p.threads = 1;
  p.batch = 1;
  p.operators.push_back({.name = "node0", .type = "Conv"});
  p.operators.back().ns = {ns - 10e3, ns - 10e3, ns - 10e3};
  p.latency_ns = {ns, ns, ns};
  return p;
}

std::optional<item> advice_on(const run& r, const std::vector<profile>& given) {
  const source s{r};
  const std::vector<model_bound> all{
      benanza::bound::analyse(s, r.graphs[0], {numeric::f32, 1}, {})};
  const advised a = advise_all(s, all, given).front();
  for (const item& i : a.list.items)
    if (i.id == "rewrite/graph") return i;
  return std::nullopt;
}

TEST_CASE("with a framework a rewriting saves its own time on the work that is left out") {
  // A stride of two leaves a quarter of the points to compute.
  const run faster = synthetic::rewritten_run(60e3);
  const auto slow = advice_on(faster, {run_of(170e3)});
  REQUIRE(slow);
  CHECK(slow->saves.ns == doctest::Approx(110e3)); // not the 120 us of three quarters: the bound
  CHECK(slow->nodes == std::vector{0});
  CHECK(slow->how.command == "benanza_generate rewrite net.onnx -o net_rewritten.onnx");
  const auto quick = advice_on(faster, {run_of(90e3)});
  REQUIRE(quick);
  CHECK(quick->saves.ns == doctest::Approx(30e3));
  // Where the best kernel for the model's own graph computes even less, the framework still gains.
  const run slower = synthetic::rewritten_run(140e3);
  const auto its = advice_on(slower, {run_of(410e3)});
  REQUIRE(its);
  CHECK(its->saves.ns == doctest::Approx(270e3));
  CHECK(!advice_on(slower, {}));
}

TEST_CASE("without a framework a rewriting saves what the best kernels gain") {
  const auto alone = advice_on(synthetic::rewritten_run(60e3), {});
  REQUIRE(alone);
  CHECK(alone->saves.ns == doctest::Approx(40e3).epsilon(0.1));
}

TEST_CASE("a framework that computes fewer points by itself gets no such advice") {
  profile p = run_of(170e3);
  p.operators[0].results = {{.dims = benanza::shape{1, 8, 4, 4}}};
  CHECK(!advice_on(synthetic::rewritten_run(60e3), {p}));
}
} // namespace test_of_rewriting
