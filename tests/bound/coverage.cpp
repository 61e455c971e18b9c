// SPDX-License-Identifier: Apache-2.0
// Is what a bound rests on said: layers without a time, in another type, by slow kernels?
#include "analysed.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace test_of_coverage {
using namespace analysed;

TEST_CASE("layers without a time make the bound partial and are named with their command") {
  run r = synthetic::small_run();
  const double whole = analyse(r).bound.sequential.ns;
  drop(r, "Conv");
  r.graphs[0].nodes[5].layer = benanza::model::no_layer;
  r.graphs[0].nodes[5].op = "NonZero";
  r.graphs[0].nodes[5].problem = "its output depends on values";
  const model_bound b = analyse(r);
  CHECK(b.partial());
  CHECK(b.bound.sequential.ns < whole);
  CHECK(b.covered.missing_nodes == 5);
  REQUIRE(b.covered.holes.size() == 4);
  CHECK(b.covered.holes[2].name == synthetic::conv);
  CHECK(b.covered.holes[2].nodes == 2);
  CHECK(b.covered.holes[2].command == benanza::bound::measuring_command(synthetic::conv));
  CHECK(b.covered.holes[3].name == "NonZero");
  CHECK(b.covered.holes[3].reason == "its output depends on values");
  CHECK(b.covered.holes[3].command.empty());

  r.measurements.clear();
  CHECK(analyse(r).bound.sequential.ns == 0);
  CHECK(analyse(r).covered.native == 0);
}

TEST_CASE("a type that some layers lack takes them from the model's own type, and says so") {
  run r = synthetic::small_run();
  for (const std::string& layer : {synthetic::conv, synthetic::wide, synthetic::deep})
    synthetic::add(r, layer, "brgconv:avx512_core_vnni", 0, 100e3, 1.1, "u8s8u8");
  const model_bound part = analyse(r, numeric::u8s8u8);
  CHECK(part.partial()); // nothing says that the others were tried in that type
  CHECK(part.missing == std::vector<std::string>{synthetic::relu, synthetic::softmax});
  CHECK(part.missing_command == "benanza_bench --model tiny@batch=1 --types u8s8u8 "
                                "--benchmark_filter='^(Relu|Softmax)/' "
                                "--benchmark_out=missing.json");
  for (const std::string& layer : {synthetic::relu, synthetic::softmax}) {
    measurement none = synthetic::timed(layer, "none", 0, "none", {1}, "u8s8u8");
    none.backend = "none";
    none.error = "no backend has an algorithm for it in u8s8u8";
    r.measurements.push_back(none);
  }
  const model_bound b = analyse(r, numeric::u8s8u8);
  CHECK_FALSE(b.partial());
  CHECK(b.missing.empty());
  CHECK(b.bound.sequential.ns == 4 * 100e3 + 9e3 + 1.5e3);
  CHECK(b.covered.other_type == doctest::Approx(10.5e3 / b.bound.sequential.ns));
  CHECK(b.covered.native + b.covered.other_type == doctest::Approx(1));
  const benanza::bound::case_table cases(r);
  CHECK(cases.settings(r.graphs[0]) ==
        std::vector<benanza::bound::setting>{{numeric::f32, 1}, {numeric::u8s8u8, 1}});
}

TEST_CASE("shares by kind of kernel add up") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements) {
    if (m.family == "Relu") m.fallback = "ref";
    if (m.key == "1x512x7x7-2048x1x1-s1-b") m.fallback = "old-isa";
  }
  const auto c = analyse(r).covered;
  CHECK(c.reference > 0);
  CHECK(c.old_isa > 0);
  CHECK(c.host > 0);
  CHECK(c.native + c.reference + c.old_isa + c.host + c.other_type == doctest::Approx(1));
}

TEST_CASE("a layer without a time takes its roofline where the machine's ceilings are known") {
  run r = synthetic::small_run();
  drop(r, "Relu");
  for (measurement& m : r.measurements)
    m.fallback.clear();
  const benanza::bound::limits tenth{[](const auto& l, numeric, int, std::int64_t) {
    return std::optional(
        benanza::bound::roof{static_cast<double>(benanza::elements(op::output(l))) / 100});
  }};
  const model_bound b =
      benanza::bound::analyse(benanza::bound::source(r, tenth), r.graphs[0], {numeric::f32, 1});
  CHECK(b.partial()); // a roofline is no measurement
  CHECK(b.covered.modelled_nodes == 1);
  CHECK(b.covered.modelled == doctest::Approx(2007.04 / b.bound.sequential.ns));
  CHECK(b.covered.measured() + b.covered.modelled == doctest::Approx(1));
  REQUIRE(b.covered.rooflines.size() == 1);
  CHECK(b.covered.rooflines[0].name == synthetic::relu);
  CHECK(b.covered.rooflines[0].reason == "not measured");
  CHECK(b.bound.sequential.ns == 2 * 350e3 + 420e3 + 405e3 + 2007.04 + 1.5e3);
  CHECK(b.roofline.sequential.ns > 0);
  CHECK(b.roofline.sequential.ns <= b.bound.sequential.ns);
  CHECK(b.roofline.parallel.ns <= b.roofline.sequential.ns);
  CHECK(b.faults.empty());
  CHECK(analyse(r).partial());
  CHECK(analyse(r).roofline.sequential.ns == 0);
}

TEST_CASE("a layer that only slow plain kernels run is bounded by its roofline") {
  run r = synthetic::small_run();
  double took = 0;
  for (measurement& m : r.measurements)
    if (m.family == "Relu") m.fallback = "host", took = m.min_ns;
  const auto bounded = [&](double times) {
    const benanza::bound::limits l{[=](const auto& layer, numeric, int, std::int64_t) {
      const bool relu = benanza::op::name(layer) == synthetic::relu;
      return relu ? std::optional(benanza::bound::roof{took / times}) : std::nullopt;
    }};
    return benanza::bound::analyse(benanza::bound::source(r, l), r.graphs[0], {numeric::f32, 1});
  };
  const double measured = analyse(r).bound.sequential.ns;
  CHECK(bounded(1.9).bound.sequential.ns == doctest::Approx(measured));
  CHECK(bounded(1.9).covered.modelled == 0);

  const model_bound b = bounded(4);
  CHECK(b.bound.sequential.ns == doctest::Approx(measured - took + took / 4));
  CHECK(b.prediction.sequential.ns == analyse(r).prediction.sequential.ns);
  CHECK(b.covered.modelled == doctest::Approx(took / 4 / b.bound.sequential.ns));
  CHECK(b.covered.slow_nodes == 1);
  CHECK(b.beyond_rooflines_ns() == doctest::Approx(took - took / 4).epsilon(0.05));
  CHECK(bounded(1.9).beyond_rooflines_ns() == 0);
  CHECK(!b.partial()); // nothing is left to measure
  CHECK(b.faults.empty());
  // An optimised kernel of a library is no worse than what frameworks have.
  synthetic::add(r, synthetic::relu, "jit", 7, took);
  CHECK(bounded(4).bound.sequential.ns == doctest::Approx(measured));
}
} // namespace test_of_coverage
