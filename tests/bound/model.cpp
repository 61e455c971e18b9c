// SPDX-License-Identifier: Apache-2.0
// Are a model's figures what its layers' samples and its graph make them, and is what they rest on
// said? One small model, bent in every direction.
#include "../result/synthetic.hpp"

#include "benanza/bound/model.hpp"
#include "benanza/result/merge.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace {

using benanza::numeric;
namespace op = benanza::op;
using benanza::bound::basis;
using benanza::bound::figure;
using benanza::bound::model_bound;
using benanza::result::measurement;
using benanza::result::run;

model_bound analyse(const run& r, numeric type = numeric::f32, int threads = 1) {
  return benanza::bound::analyse(benanza::bound::source(r), r.graphs[0], {type, threads});
}

bool holds(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

void drop(run& r, const std::string& family) {
  std::erase_if(r.measurements, [&](const measurement& m) { return m.family == family; });
}

} // namespace

TEST_CASE("the figures of a small model") {
  const run r = synthetic::small_run();
  const model_bound b = analyse(r);
  CHECK(b.bound.sequential.ns == 2 * 350e3 + 420e3 + 405e3 + 9e3 + 1.5e3);
  CHECK(b.bound.parallel.ns == 350e3 + 9e3 + 420e3 + 405e3 + 1.5e3);
  CHECK(b.bound.longest.nodes == std::vector<int>{0, 1, 3, 4, 5, 6});
  CHECK(b.workers == 2);
  CHECK(b.bound.reachable.ns == b.bound.parallel.ns);
  CHECK(b.assumption() == "unbounded workers");
  CHECK(b.weights.name() == "coldw");
  CHECK_FALSE(b.partial());
  CHECK(b.notes.empty());
  CHECK(b.faults.empty());
  CHECK(b.gain.ns > 0);
  CHECK(b.covered.view_nodes == 1);
  CHECK(b.covered.native + b.covered.host == doctest::Approx(1));
  CHECK(b.covered.host == doctest::Approx(1.5e3 / b.bound.sequential.ns));
  for (const figure& f : {b.bound.sequential, b.bound.parallel, b.bound.reachable, b.gain,
                          b.prediction.sequential, b.prediction.parallel, b.prediction.reachable}) {
    CHECK(f.low_ns <= f.ns);
    CHECK(f.ns <= f.high_ns);
    CHECK(f.high_ns < 1.2 * f.ns);
  }
  CHECK(b.bound.sequential.ns < b.prediction.sequential.ns);
}

TEST_CASE("the order of entries, and whether they came in one file, mean nothing") {
  const run r = benanza::result::merge({synthetic::small_run()});
  run even = synthetic::small_run(), odd = even;
  even.measurements.clear();
  odd.measurements.clear();
  for (std::size_t i = 0; i < r.measurements.size(); ++i)
    (i % 2 == 0 ? even : odd).measurements.push_back(r.measurements[i]);
  std::reverse(odd.measurements.begin(), odd.measurements.end());
  const run both = benanza::result::merge({odd, even});
  const model_bound a = analyse(r), b = analyse(both);
  CHECK(a.bound.sequential.high_ns == b.bound.sequential.high_ns);
  CHECK(a.prediction.sequential.ns == b.prediction.sequential.ns);
  CHECK(a.prediction.parallel.low_ns == b.prediction.parallel.low_ns);
  CHECK(a.gain.ns == b.gain.ns);
}

TEST_CASE("weights that fit a core's own cache are predicted from hot times") {
  run r = synthetic::small_run();
  const model_bound cold = analyse(r);
  r.provenance["machine"]["l2_bytes"] = std::to_string(cold.prepared_weight_bytes);
  const model_bound hot = analyse(r);
  CHECK(hot.weights.name() == "hot");
  CHECK(hot.prediction.sequential.ns < cold.prediction.sequential.ns);
  CHECK(hot.bound.sequential.ns == cold.bound.sequential.ns);
  CHECK(hot.layers[2].name == synthetic::conv);
  CHECK(hot.layers[2].algorithms.chosen->algorithm == "jit_wino_4x3:avx512_core");
  CHECK(cold.layers[2].algorithms.chosen->algorithm == "jit_wino_4x3:avx512_core");
  r.provenance["machine"]["l2_bytes"] = std::to_string(cold.prepared_weight_bytes - 1);
  CHECK(analyse(r).weights.name() == "coldw");
  r.provenance["machine"].erase("l2_bytes");
  CHECK(analyse(r).weights.name() == "coldw");
  CHECK(holds(analyse(r).notes, "own cache"));
}

TEST_CASE("workers: the cores that a layer leaves free") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements)
    m.threads = 2;
  const model_bound b = analyse(r, numeric::f32, 2);
  CHECK(b.workers == 1);
  CHECK(b.bound.reachable.ns == b.bound.sequential.ns);
  CHECK(b.assumption() == "each layer has the whole device to itself");
  r.provenance["machine"]["cores"] = "many";
  CHECK(analyse(r, numeric::f32, 2).workers == 1);
  CHECK(holds(analyse(r, numeric::f32, 2).notes, "how many cores"));
}

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

TEST_CASE("results in one state only are used and marked") {
  run hot = synthetic::small_run(), cold = hot;
  std::erase_if(hot.measurements, [](const auto& m) { return m.state == "coldw"; });
  std::erase_if(cold.measurements, [](const auto& m) { return m.state == "hot"; });
  CHECK(holds(analyse(hot).notes, "no times with cold weights for 4 nodes"));
  CHECK(holds(analyse(cold).notes, "no hot times for 4 nodes"));
  CHECK(analyse(cold).partial());
}

TEST_CASE("a first choice that was not measured is not taken for the best one in silence") {
  run r = synthetic::small_run();
  std::erase_if(r.measurements, [](const auto& m) { return m.algorithm.starts_with("brgconv"); });
  CHECK(holds(analyse(r).notes, "first choice was not measured for 3 nodes"));
}

TEST_CASE("a prediction below its bound is a measuring fault, by name") {
  run r = synthetic::small_run();
  for (measurement& m : r.measurements)
    if (m.key == "1x64x56x56-256x1x1-s1-b" && m.state == "coldw") {
      for (double& s : m.samples_ns)
        s /= 2;
      m.min_ns /= 2;
    }
  using benanza::bound::fault;
  CHECK(analyse(r).faults ==
        std::vector<fault>{{"the prediction lies below the bound", synthetic::wide}});
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

TEST_CASE("a layer that slow plain kernels alone run is bounded by its roofline") {
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
  CHECK(!b.partial()); // nothing is left to measure
  CHECK(b.faults.empty());
  // An optimised kernel of a library is no worse than what frameworks have.
  synthetic::add(r, synthetic::relu, "jit", 7, took);
  CHECK(bounded(4).bound.sequential.ns == doctest::Approx(measured));
}

TEST_CASE("a bound below its roofline is a measuring fault, by name") {
  const run r = synthetic::small_run();
  const benanza::bound::limits high{[](const auto& l, numeric, int, std::int64_t least_flops) {
    const bool named = benanza::op::name(l) == synthetic::conv;
    // What Winograd needs, a quarter, is what the layer is held to.
    CHECK((!named || least_flops < benanza::op::direct_flops(l) / 2));
    return named ? std::optional(benanza::bound::roof{360e3, false, 1000}) : std::nullopt;
  }};
  const auto faults = [&](double clock_ns) {
    run at_clock = r;
    for (measurement& m : at_clock.measurements)
      m.min_clock_ns = clock_ns;
    return benanza::bound::analyse(benanza::bound::source(at_clock, high), r.graphs[0],
                                   {numeric::f32, 1})
        .faults;
  };
  const std::vector<benanza::bound::fault> named{
      {"the bound lies below the roofline", synthetic::conv}};
  CHECK(faults(0) == named); // is not told
  CHECK(faults(1000) == named);
  CHECK(faults(1100) == named);
  CHECK(faults(995) == named); // by more than its higher clock
  CHECK(faults(970).empty());  // 350 us against 360 at 3 % less
}

TEST_CASE("real runs of the model are found, and are a fault if they beat the bound") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.algorithm = "plan";
  m.name = "model/block@batch=1/f32";
  const auto took = [&](const std::string& key, double ns, int threads = 1) {
    m.key = key;
    m.threads = threads;
    m.samples_ns = {ns, ns * 1.01};
    m.min_ns = 0;
    benanza::result::recompute(m);
    r.measurements.push_back(m);
  };
  took("block@batch=1,fused", 1.5e6);
  took("block@batch=1", 1e6);
  took("another", 1);
  took("block@batch=1", 1, 2);
  m.error = "a reason";
  took("block@batch=1", 1);
  const model_bound b = analyse(r);
  REQUIRE(b.runs.size() == 2);
  CHECK(b.runs[0].fused);
  CHECK_FALSE(b.runs[1].fused);
  CHECK(b.runs[1].run->min_ns == 1e6);
  REQUIRE(b.failed_runs.size() == 1);
  CHECK(b.failed_runs[0]->error == "a reason");
  CHECK(b.failed() == 1);
  CHECK(b.partial());
  CHECK(b.faults == std::vector<benanza::bound::fault>{
                        {"a run is faster than the bound", "model/block@batch=1/f32"}});
}

TEST_CASE("a run that beats the bound by its higher clock is no fault") {
  run r = synthetic::fused_run();
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.samples_ns = {1.1e6, 1.2e6};
  m.min_ns = 0;
  benanza::result::recompute(m);
  for (measurement& layer : r.measurements)
    layer.min_clock_ns = 1000;
  const auto faults = [&](double run_clock_ns) {
    m.min_clock_ns = run_clock_ns;
    run with_run = r;
    with_run.measurements.push_back(m);
    return analyse(with_run).faults.size();
  };
  REQUIRE(analyse(r).bound.sequential.ns > 1.2e6);
  CHECK(faults(0) == 1); // is not told
  CHECK(faults(1000) == 1);
  CHECK(faults(1100) == 1);
  CHECK(faults(850) == 0);
  CHECK(faults(950) == 1); // by more than that
}

TEST_CASE("what a run at another clock is held against") {
  run r = synthetic::fused_run();
  const model_bound still = analyse(r);
  REQUIRE(still.layouts);
  const double predicted = still.layouts->prediction->total.ns;
  measurement m = r.measurements.front();
  m.family = "model";
  m.key = "block@batch=1";
  m.min_ns = 2 * m.min_ns;
  CHECK_FALSE(benanza::bound::expected_at_clock(still, m)); // neither tells its clock
  m.clock_ns = 1200;
  CHECK_FALSE(benanza::bound::expected_at_clock(still, m));
  for (measurement& layer : r.measurements)
    layer.clock_ns = 1000;
  const model_bound b = analyse(r);
  CHECK(b.layouts->prediction->total.ns == predicted);
  const auto at = [&](double clock_ns) {
    m.clock_ns = clock_ns;
    return *benanza::bound::expected_at_clock(b, m);
  };
  CHECK(at(1000) == doctest::Approx(predicted));
  // All of it is slower, but for what waits for memory.
  CHECK(at(1200) > 1.1 * predicted);
  CHECK(at(1200) < 1.2 * predicted);
  CHECK(at(900) < predicted);
  m.clock_ns = 0;
  CHECK_FALSE(benanza::bound::expected_at_clock(b, m));
}

TEST_CASE("the fused form: faster where its layers are, and counted") {
  const model_bound b = analyse(synthetic::fused_run());
  REQUIRE(b.fused);
  CHECK(b.bound.sequential.ns == 700e3 + 9e3 + 105e3 + 15e3 + 9e3 + 400e3);
  CHECK(b.fused->bound.sequential.ns == 704e3 + 105e3 + 15e3 + 9e3 + 400e3);
  CHECK(b.fused->fused_nodes == 2);
  CHECK(b.fused->faster_fused == 1);
  CHECK(b.fused->not_measured == 0);
  CHECK(b.fused->as_one == std::vector<char>{1, 0, 0});
  CHECK(b.fused->prediction.sequential.ns <= b.prediction.sequential.ns);
  CHECK(b.layers.size() == 7);
  CHECK(b.layers.back().uses == 0);
  CHECK(b.layers.back().fused_uses == 1);
  CHECK(&b.fastest_form() == &*b.fused);

  run holed = synthetic::fused_run();
  drop(holed, "Add");
  drop(holed, "Conv+Relu");
  const model_bound h = analyse(holed);
  CHECK(h.partial());
  // The join as one has a time, its parts have not.
  CHECK(h.fused->bound.sequential.ns == 700e3 + 9e3 + 140e3 + 400e3);
  CHECK(h.fused->not_measured == 1);
}

TEST_CASE("no figure of the fused form is above that of the unfused one") {
  // Few samples that scatter, as algorithms have that were stopped early: what a way is chosen by
  // and what is reported of it differ.
  const auto of = [](const std::optional<benanza::bound::laid_out>& l) { return l->total.ns; };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    run r = synthetic::fused_run();
    synthetic::random dice{seed};
    for (measurement& m : r.measurements) {
      const double least = m.min_ns;
      m.samples_ns.clear();
      for (int i = 0; i < 4; ++i)
        m.samples_ns.push_back(least * (1 + 0.5 * dice.unit()));
      m.min_ns = 0;
      benanza::result::recompute(m);
    }
    const model_bound b = analyse(r);
    REQUIRE(b.fused);
    REQUIRE(b.fused->layouts->prediction);
    CHECK(of(b.fused->layouts->bound) <= of(b.layouts->bound));
    CHECK(of(b.fused->layouts->prediction) <= of(b.layouts->prediction));
    CHECK(b.fused->layouts->plain_prediction->ns <= b.layouts->plain_prediction->ns);
    for (auto totals :
         {&benanza::bound::form_figures::bound, &benanza::bound::form_figures::prediction})
      for (auto kind : {&benanza::bound::totals::sequential, &benanza::bound::totals::parallel,
                        &benanza::bound::totals::reachable})
        CHECK(((*b.fused).*totals.*kind).ns <= (b.*totals.*kind).ns * (1 + 1e-12));
  }
}

TEST_CASE(
    "one command measures all that is missing, whole families where there is nothing of one") {
  run r = synthetic::fused_run();
  CHECK(analyse(r).missing.empty());
  CHECK(analyse(r).missing_command.empty());
  drop(r, "reorder");
  drop(r, "Conv+Relu");
  drop(r, "Add");
  std::erase_if(r.measurements, [](const measurement& m) {
    return m.key == "1x64x56x56-64x1x1-s1-b" && m.family == "Conv";
  });
  r.provenance["measuring"]["effort"] = "quick";
  r.graphs[0].name = "it's one";
  r.graphs[1].unfused = r.graphs[0].name;
  const model_bound b = analyse(r);
  CHECK(b.partial());
  CHECK(b.missing_command ==
        "benanza_bench --model 'it'\\''s one' --effort quick --benchmark_filter="
        "'^(Add|Conv/1x64x56x56-64x1x1-s1-b|Conv\\+Relu|reorder)/' --benchmark_out=missing.json");
  CHECK_FALSE(b.layouts->prediction);
  CHECK_FALSE(benanza::bound::expected(b));
  r.graphs[0].name = r.graphs[1].unfused = "turns\x1b[2J";
  CHECK(analyse(r).missing_command.find("--model") == std::string::npos);
  // Changes of layout that only missing layers may need are measured with them.
  run unknown = synthetic::fused_run();
  for (const char* family : {"Conv", "Conv+Relu", "Conv+Add+Relu"})
    drop(unknown, family);
  const std::string change = "1x64x56x56-plain-blocked16";
  std::erase_if(unknown.measurements, [&](const measurement& m) { return m.key == change; });
  const model_bound u = analyse(unknown);
  CHECK(u.missing.size() == 4);
  CHECK(u.missing_command.find("(Conv|Conv\\+Add\\+Relu|Conv\\+Relu|reorder/" + change + ")/'") !=
        std::string::npos);
  unknown.measurements.clear();
  CHECK(analyse(unknown).missing_command ==
        "benanza_bench --model block@batch=1 --benchmark_out=missing.json");
  // What nothing runs, or a fused layer that failed, is not asked for again.
  run none = synthetic::fused_run();
  for (measurement& m : none.measurements) {
    if (m.family == "Conv+Relu") m.error = "wrong result";
    if (m.family == "Softmax") m.backend = "none", m.error = "no backend has an algorithm for it";
  }
  CHECK(analyse(none).missing.empty());
  CHECK(analyse(none).partial());
}

TEST_CASE("a filter selects the layers that it was made of, and no others") {
  using benanza::bound::filter_of;
  CHECK(filter_of({"Conv/1x3x8x8-4x1x1"}) == "^Conv/1x3x8x8-4x1x1/");
  CHECK(filter_of({"Conv/b", "Conv/a+c", "Relu/d"}) == "^(Conv/(b|a\\+c)|Relu/d)/");
  CHECK(filter_of({"Conv+Relu/a", "Conv+Relu/b"}, {"Conv+Relu"}) == "^Conv\\+Relu/");
}

TEST_CASE("the number of workers can be asked for") {
  const run r = synthetic::small_run();
  const benanza::bound::source source(r);
  const model_bound b =
      benanza::bound::analyse(source, r.graphs[0], {numeric::f32, 1}, {.workers = 1});
  CHECK(b.workers == 1);
  CHECK(b.bound.reachable.ns == b.bound.sequential.ns);
}

TEST_CASE("two branches that are equally long win in turns, and that is said") {
  run r = synthetic::empty_run();
  const std::string other = "Conv/1x64x56x56-64x5x5-s1-p2";
  r.graphs.push_back(synthetic::make_graph(
      "g", {synthetic::relu, synthetic::conv, other, synthetic::sum}, {{}, {0}, {0}, {1, 2}}));
  synthetic::add(r, synthetic::relu, "a", 0, 10);
  synthetic::add(r, synthetic::conv, "a", 0, 1000);
  synthetic::add(r, other, "a", 0, 1000.1);
  synthetic::add(r, synthetic::sum, "a", 0, 10);
  const model_bound b = analyse(r);
  CHECK(b.prediction.paths == 2);
  CHECK(b.prediction.path_share > 0);
  CHECK(b.prediction.path_share < 1);
  CHECK(analyse(synthetic::small_run()).bound.paths == 1);
  CHECK(analyse(synthetic::small_run()).bound.path_share == 1);
}

TEST_CASE("a slower layer never lowers a figure of its model") {
  const run r = synthetic::small_run();
  const model_bound before = analyse(r);
  for (const auto& layer : before.layers) {
    if (!layer.timed()) continue;
    run slower = r;
    for (measurement& m : slower.measurements)
      if (m.family + '/' + m.key == layer.name) {
        for (double& s : m.samples_ns)
          s *= 1.25;
        benanza::result::recompute(m);
        m.min_ns = *std::min_element(m.samples_ns.begin(), m.samples_ns.end());
      }
    const model_bound after = analyse(slower);
    CHECK(after.bound.sequential.ns > before.bound.sequential.ns);
    CHECK(after.bound.parallel.ns >= before.bound.parallel.ns);
    CHECK(after.bound.reachable.ns >= before.bound.reachable.ns);
    CHECK(after.prediction.sequential.ns > before.prediction.sequential.ns);
  }
}

TEST_CASE("on random models: parallel <= reachable <= sequential, as bound and as prediction") {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    run r = synthetic::empty_run();
    r.graphs.push_back(synthetic::random_graph("g", 9, seed, 3));
    synthetic::random dice{seed};
    for (const auto& l : r.graphs[0].layers)
      synthetic::add(r, benanza::op::name(l), "a", 0, 1e3 * (1 + dice.unit()));
    const model_bound b = analyse(r);
    for (const auto& t : {b.bound, b.prediction}) {
      CHECK(t.parallel.ns <= t.reachable.ns);
      CHECK(t.reachable.ns <= t.sequential.ns * (1 + 1e-12));
    }
    CHECK(b.bound.sequential.ns <= b.prediction.sequential.ns);
  }
}

TEST_CASE("analysing takes far less time than a person notices") {
  // Of our own processor time: others may use it too. The least of three.
  const auto seconds = [](int layers) {
    const run r = synthetic::large_run(1, layers, 4, 20);
    double least = 1e30;
    for (int i = 0; i < 3; ++i) {
      const std::clock_t start = std::clock();
      (void)analyse(r);
      least = std::min(least, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return least;
  };
  const double small = seconds(100), large = seconds(1000);
  MESSAGE("a model of 100 layers: " << 1e3 * small << " ms, of 1000: " << 1e3 * large << " ms");
  CHECK(large < 200 * std::max(small, 1e-5));
}
