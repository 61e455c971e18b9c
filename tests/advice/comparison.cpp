// SPDX-License-Identifier: Apache-2.0
// Where does a framework's time go against the best kernels, and what is advised? The findings of
// the paper, each on a run that is made up: a pad before every convolution, stalls between calls,
// branches one after the other, an algorithm that the heuristic misses, tensor cores unused.
#include "model/graph_maker.hpp"
#include "result/synthetic.hpp"

#include <benanza/advice/advised.hpp>
#include <benanza/advice/steps.hpp>
#include <benanza/core/error.hpp>
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace test_of_comparison {
using namespace benanza::advice;
using benanza::numeric;
using benanza::bound::model_bound;
using benanza::bound::source;
using benanza::result::run;
using benanza::trace::profile;
using benanza::trace::profiled_operator;

model_bound figures(const source& s, numeric type = numeric::f32, int workers = 0) {
  return benanza::bound::analyse(s, s.run.graphs[0], {type, 1}, {.workers = workers});
}

profiled_operator ran(const std::string& name, const std::string& type, double us) {
  profiled_operator o;
  o.name = name;
  o.type = type;
  o.kernel = "kernel";
  o.ns = {us * 1000, us * 1000, us * 1010};
  return o;
}

/// A framework that runs the residual block's six nodes by themselves.
profile unfused(double total_us) {
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = "block";
  p.threads = 1;
  p.batch = 1;
  p.latency_ns = {total_us * 1000, total_us * 1000, total_us * 1020};
  p.operators = {ran("node0", "Conv", 800), ran("node1", "Relu", 9.2),
                 ran("node2", "Conv", 110), ran("node3", "Add", 15.2),
                 ran("node4", "Relu", 9.2), ran("node5", "Softmax", 410)};
  return p;
}

double taken(const comparison& c, std::string_view id) {
  const auto found =
      std::find_if(c.bars.begin(), c.bars.end(), [&](const bar& b) { return b.id == id; });
  REQUIRE(found != c.bars.end());
  return found->takes.ns;
}

const item* of_id(const advice_list& l, std::string_view beginning) {
  const auto found = std::find_if(l.items.begin(), l.items.end(),
                                  [&](const item& i) { return i.id.starts_with(beginning); });
  return found == l.items.end() ? nullptr : &*found;
}

advised advise_one(const source& s, const std::vector<model_bound>& all, const profile& p) {
  return advise_all(s, all, {p}).front();
}

TEST_CASE("the bars add up to the framework's run") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const profile p = unfused(1400);
  const comparison c = compare(p, all[0]);
  REQUIRE(c.bars.size() > 4);
  double left = c.latency.ns;
  for (const bar& b : c.bars) {
    CAPTURE(b.id);
    CHECK(b.left_ns == doctest::Approx(left - b.takes.ns));
    CHECK(b.takes.low_ns <= b.takes.ns);
    CHECK(b.takes.ns <= b.takes.high_ns);
    left = b.left_ns;
  }
  CHECK(taken(c, "between_operators") == doctest::Approx(1400e3 - 1353.6e3));
  CHECK(taken(c, "added_operators") == 0);
  CHECK(c.matched_nodes == 6);
  CHECK(c.unexplained_ns == taken(c, "between_operators"));
  // The first convolution by the algorithm of channels last: 800 in place of about 710 us.
  REQUIRE(c.slower.size() == 1);
  CHECK(c.slower[0].layer == synthetic::conv);
  CHECK(c.slower[0].lost_ns() == doctest::Approx(90e3).epsilon(0.2));
  CHECK(c.faster.empty());
}

TEST_CASE("the steps down have one for the rewritten graph, with a framework and without") {
  const run r = synthetic::rewritten_run(60e3);
  const source s{r};
  const std::vector<model_bound> all{figures(s)};
  REQUIRE(all[0].rewritten);
  profile p{.source = "ort.json", .framework = "onnxruntime", .version = "1.32.0"};
  p.model = "net";
  p.threads = 1;
  p.batch = 1;
  p.latency_ns = {150e3, 150e3, 151e3};
  const advised a = advise_one(s, all, p);
  REQUIRE(a.frameworks.size() == 1);
  const auto ends = [&](const std::vector<bar>& bars) {
    const auto at =
        std::find_if(bars.begin(), bars.end(), [](const bar& b) { return b.id == "rewriting"; });
    REQUIRE(at != bars.end());
    CHECK(at->left_ns == doctest::Approx(60e3));
    CHECK(at->takes.ns == doctest::Approx(40e3));
  };
  ends(a.frameworks[0].bars);
  ends(descent_of(a).bars);
}

TEST_CASE("a framework that fuses is compared with fused layers") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1400);
  p.operators = {ran("node1", "Conv", 720), ran("node4", "Conv", 133),
                 ran("node5", "Softmax", 410)};
  const comparison c = compare(p, b);
  REQUIRE(c.operators.size() == 3);
  CHECK(c.operators[0].nodes == std::vector{0, 1});
  CHECK(c.operators[0].layer.starts_with("Conv"));
  CHECK(c.operators[0].best_ns == doctest::Approx(712e3).epsilon(0.02));
  CHECK(c.operators[1].nodes == std::vector{2, 3, 4});
  CHECK(c.slower.empty());
  CHECK(std::abs(taken(c, "fusion")) < 5e3); // there is nothing left to fuse
}

TEST_CASE("where the framework is faster, that is said first: it is a fault of ours") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1000);
  p.operators[0].ns = {400e3, 400e3};
  const advised a = advise_one(s, all, p);
  REQUIRE(a.frameworks.size() == 1);
  REQUIRE(a.frameworks[0].faster.size() == 1);
  CHECK(a.frameworks[0].faster[0].layer == synthetic::conv);
  CHECK(of_id(a.list, "algorithm/") == nullptr);
}

TEST_CASE("a framework that cuts layers elsewhere is faster only where all of them are together") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  // Ours are the convolution with its Relu, and all between that and the Softmax.
  profile p = unfused(1400);
  p.operators = {ran("node0", "Conv", 850), ran("node2", "Conv", 60), ran("node4", "Add", 60),
                 ran("node5", "Softmax", 410)};
  p.operators[1].stands_for = {"node1", "node2"};
  p.operators[2].stands_for = {"node3", "node4"};
  const comparison c = compare(p, b);
  REQUIRE(c.operators.size() == 4);
  CHECK(c.operators[1].nodes == std::vector{1, 2});
  for (const compared_operator& o : c.operators)
    CHECK(o.verdict() >= 0);
  CHECK(c.faster.empty());
  REQUIRE(c.groups.size() == 2);
  CHECK(c.groups[0].nodes == std::vector{0, 1, 2, 3, 4});
  CHECK(c.groups[0].ns == 970e3);
  p.operators[0].ns = {600e3, 600e3, 600e3};
  CHECK(compare(p, b).faster.size() == 1);
}

TEST_CASE("what is faster than predicted but not than the bound is no fault of ours") {
  run r = synthetic::fused_run();
  for (auto& m : r.measurements) // with cold weights it takes twice as long here
    if (m.family == "Conv" && m.state == "coldw")
      for (double& ns : m.samples_ns)
        ns *= 2;
  for (auto& m : r.measurements)
    benanza::result::recompute(m);
  r.provenance["machine"]["l2_bytes"] = "1024";
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(2500);
  p.operators[0].ns = {1000e3, 1000e3};
  const comparison c = compare(p, b);
  CHECK(c.operators[0].best_ns > 1300e3);
  CHECK(c.operators[0].least_ns == doctest::Approx(700e3));
  CHECK(c.faster.empty());
}

TEST_CASE("noise is no verdict") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1400);
  p.operators[0].ns = {600e3, 745e3, 900e3}; // five per cent over the best, and scattered
  CHECK(compare(p, b).slower.empty());
}

TEST_CASE("an algorithm that the framework does not take: how much, where, why, and the command") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const profile p = unfused(1400);
  const advised a = advise_one(s, all, p);
  const item* i = of_id(a.list, "algorithm/onednn/jit/Conv");
  REQUIRE(i != nullptr);
  CHECK(i->kind == "algorithm");
  CHECK(i->nodes == std::vector{0});
  CHECK(i->saves.ns == doctest::Approx(90e3).epsilon(0.2));
  CHECK(i->evidence.at(0).find("the framework's kernel") != std::string::npos);
  CHECK(i->check ==
        "benanza_bench --model block@batch=1 --benchmark_filter='^Conv/1x64x56x56-64x3x3-s1-p1/'");
  CHECK(std::is_sorted(a.list.items.begin(), a.list.items.end(), [](const item& x, const item& y) {
    return std::pair(x.how.by, -x.saves.ns) < std::pair(y.how.by, -y.saves.ns);
  }));
  CHECK(i->how.by == doer::makers);
  CHECK(
      i->how.letter.find("ONNX Runtime 1.32.0: Conv by jit of onednn, 1 node. Measured in f32 on 1 "
                         "thread of Test CPU 9000") == 0);
}

TEST_CASE("what a framework runs one by one and could run as one saves all but the longest") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1600);
  p.operators[1].ns = {100e3, 100e3}; // a Relu behind a convolution
  const advised a = advise_one(s, all, p);
  const item* i = of_id(a.list, "fusion/Conv+Relu");
  REQUIRE(i != nullptr);
  CHECK(i->nodes == std::vector{0, 1});
  CHECK(i->saves.ns == doctest::Approx(100e3).epsilon(0.01));
}

TEST_CASE("what the profiler adds to operators is taken off, and is no time between them") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1200); // its operators: 1353.6
  CHECK(compare(unfused(1400), b).profiler == profiler_cost{});
  p.profiled_ns = {1400e3, 1400e3};
  const comparison c = compare(p, b);
  const double added = 6 * c.profiler.least_ns; // of each of 6 operators
  CHECK(c.profiler.most_ns < 10e3);             // the shortest takes no more
  CHECK(c.profiler.pace == doctest::Approx(1200e3 / (1400e3 - added)));
  CHECK(c.operators[0].ns == doctest::Approx(c.profiler.taken(800e3)));
  p.empty_operator = benanza::trace::empty_operator_times{.profiled_ns = 30e3, .ns = 0};
  const comparison measured = compare(p, b); // that much is 180 us: more than was too much
  CHECK(measured.profiler.pace == 1);
  CHECK(measured.profiler.least_ns == 30e3);
  CHECK(measured.operators[0].ns == doctest::Approx(770e3));
}

TEST_CASE("a pad before every convolution is found (MXNet)") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(1500);
  p.operators.insert(p.operators.begin(), ran("pad0", "Pad", 60));
  p.operators.insert(p.operators.begin() + 3, ran("pad1", "Pad", 60));
  const advised a = advise_one(s, all, p);
  const item* i = of_id(a.list, "framework/added/Pad");
  REQUIRE(i != nullptr);
  CHECK(i->saves.ns == doctest::Approx(120e3));
  CHECK(i->what.find("2 Pad") != std::string::npos);
  CHECK(taken(a.frameworks[0], "added_operators") == doctest::Approx(120e3));
}

TEST_CASE("stalls between calls are found (PyTorch)") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const profile p = unfused(3100);
  const advised a = advise_one(s, all, p);
  const item* i = of_id(a.list, "framework/between_operators");
  REQUIRE(i != nullptr);
  CHECK(i->saves.ns == doctest::Approx(3100e3 - 1353.6e3)); // the most that there is to win,
  CHECK(i == &a.list.items.back());                         // and nothing that anybody can do
  CHECK(i->how.by == doer::nobody);
}

TEST_CASE("branches side by side are advised only where a run of them has won") {
  run r = synthetic::small_run();
  const auto said = [&](double beside_ns) {
    run with = r;
    const auto chain = [&](std::string_view algorithm, double ns) {
      benanza::result::measurement m;
      m.family = "model";
      m.key = with.graphs[0].name;
      m.type = "f32";
      m.threads = 1;
      m.algorithm = algorithm;
      m.samples_ns = {ns, ns, ns};
      benanza::result::recompute(m);
      with.measurements.push_back(m);
    };
    if (beside_ns > 0) {
      chain(benanza::result::in_order, 2.2e6);
      chain(benanza::result::side_by_side, beside_ns);
    }
    const source s(with);
    const std::vector<model_bound> all{figures(s, numeric::f32, 2)};
    return advise_all(s, all, {}).front().list;
  };
  const auto about = [](const auto& list) {
    return std::count_if(list.begin(), list.end(),
                         [](const auto& x) { return x.kind == "parallel"; });
  };
  const advice_list promised = said(0), won = said(2.1e6), lost = said(2.3e6);
  CHECK(of_id(promised, "parallel/") == nullptr);
  CHECK(about(promised.not_measured) == 1);
  const item* i = of_id(won, "parallel/branches");
  REQUIRE(i != nullptr);
  CHECK(i->saves.ns == doctest::Approx(0.1e6));
  CHECK(i->how.by == doer::makers);
  CHECK(of_id(lost, "parallel/") == nullptr);
  CHECK(about(lost.not_worth) == 1);
}

TEST_CASE("an algorithm that the heuristic misses is found without a framework; phantoms are not") {
  const run r = synthetic::small_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const advised a = advise_all(s, all, {}).front();
  const item* i = of_id(a.list, "algorithm/onednn/jit_wino_4x3/Conv");
  REQUIRE(i != nullptr);
  CHECK(i->nodes == std::vector{0, 2});
  // Its share is of the run by first choices: no change saves all of a run.
  const double best = benanza::bound::expected(all[0].fastest_form())->ns;
  CHECK(benanza::advice::changed_run_ns(a) >= best + i->saves.ns);
  // A plain loop of ours that beats a library's reference loop is no advice.
  run loops = synthetic::empty_run();
  loops.graphs.push_back(synthetic::make_graph("m@batch=1", {synthetic::relu}, {{}}));
  synthetic::add(loops, synthetic::relu, "ref:any", 0, 90e3);
  synthetic::add(loops, synthetic::relu, "plain", 1, 9e3);
  loops.measurements[0].fallback = "ref";
  loops.measurements[1].fallback = loops.measurements[1].backend = "host";
  const source of_loops(loops);
  const std::vector<model_bound> only{figures(of_loops)};
  CHECK(advise_all(of_loops, only, {}).front().list.items.empty());
}

TEST_CASE(
    "advice without a framework is about the form that runs: parts of fused layers are phantoms") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  const advised a = advise_all(s, all, {}).front();
  const item* fused = of_id(a.list, "algorithm/onednn/jit/Conv+Relu");
  REQUIRE(fused != nullptr);
  CHECK(fused->nodes == std::vector{0, 1});
  for (const item& i : a.list.items) // the convolution alone would save as much once more
    if (i.id == "algorithm/onednn/jit/Conv") CHECK(i.nodes == std::vector{2});
}

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

TEST_CASE("a lower precision takes the layers that gain by it, with casts at the borders") {
  run r = synthetic::small_run();
  const auto add = [&](const std::string& layer, const char* algorithm, double ns) {
    synthetic::add(r, layer, algorithm, 0, ns, 1.1, "bf16");
  };
  add(synthetic::conv, "brgconv:avx512_core_bf16", 180e3);
  add(synthetic::wide, "brgconv_1x1:avx512_core_bf16", 200e3);
  add(synthetic::deep, "brgconv_1x1:avx512_core_bf16", 190e3);
  add(synthetic::relu, "jit:avx512_core_bf16", 30e3); // slower than in f32
  const source s(r, {[](const auto&, numeric, int, std::int64_t) {
                   return std::optional(benanza::bound::roof{.ns = 2e3, .by_memory = true});
                 }});
  const std::vector<model_bound> all{figures(s), figures(s, numeric::bf16)};
  const mixed_precision m = mix({.of = s, .model = all[0], .others = {&all[1]}}, all[1]);
  CHECK(m.exact);
  CHECK(m.in_type == std::vector<char>{1, 0, 1, 1, 1, 0, 0});
  CHECK(m.casts == 3); // conv to relu, relu to its readers (once), deep to softmax
  const std::vector<model_bound> one{all[0]}, other{all[1]};
  const advised a = advise_all(s, one, {}, {.others = &other}).front();
  const item* i = of_id(a.list, "precision/bf16");
  REQUIRE(i != nullptr);
  CHECK(i->nodes == std::vector{0, 2, 3, 4});
  CHECK(i->saves.ns > 0);
  CHECK(std::any_of(a.list.not_worth.begin(), a.list.not_worth.end(), [](const remark& x) {
    return x.what.find("do not gain in bf16") != std::string::npos &&
           x.what.find("Relu/") != std::string::npos;
  }));
}

TEST_CASE("the batch from which on doubling wins less than 5 %") {
  using points = std::vector<batch_point>;
  CHECK(best_batch(points{{1, 10}, {2, 12}, {4, 20}, {8, 39.5}, {16, 79}})->batch == 4);
  CHECK(best_batch(points{{1, 10}, {2, 12}, {4, 20}})->batch == 4); // it pays to the end
  // From 1 to 8 are three doublings, which have to win 16 % together.
  CHECK(best_batch(points{{1, 10}, {8, 80 / 1.10}})->batch == 1);
  CHECK(best_batch(points{{1, 10}, {8, 80 / 1.20}})->batch == 8);
  CHECK(best_batch(points{{8, 10}, {9, 9 * 10 / 8 / 1.02}})->batch == 9); // a sixth of a doubling
  CHECK_FALSE(best_batch(points{{1, 10}}));
  CHECK_FALSE(best_batch({}));
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

TEST_CASE("what a file says is one word of a command") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(3100);
  p.model = "a; rm -rf '";
  const advised a = advise_one(s, all, p);
  const item* i = of_id(a.list, "framework/between_operators");
  REQUIRE(i != nullptr);
  CHECK(i->check == R"(scripts/measure_framework onnxruntime 'a; rm -rf '\''.onnx' --threads 1)");
}

TEST_CASE("without ceilings nothing is known of casts, which is said") {
  run r = synthetic::small_run();
  for (const std::string& layer : {synthetic::conv, synthetic::wide, synthetic::deep})
    synthetic::add(r, layer, "brgconv:avx512_core_bf16", 0, 180e3, 1.1, "bf16");
  const source s(r);
  const std::vector<model_bound> all{figures(s), figures(s, numeric::bf16)};
  const advised a = advise_all(s, all, {}).front();
  const item* i = of_id(a.list, "precision/bf16");
  REQUIRE(i != nullptr);
  CHECK(i->assumes.find("casts are free") != std::string::npos);
  CHECK(i->saves.low_ns < i->saves.ns);
  CHECK(i->saves.ns < i->saves.high_ns);
}

TEST_CASE("without a profile of its operators, what is lost is not explained, which is said") {
  const run r = synthetic::fused_run();
  const source s(r);
  const model_bound b = figures(s);
  profile p = unfused(1400);
  p.operators.clear();
  const comparison c = compare(p, b);
  CHECK(c.bars.at(0).id == "unexplained");
  CHECK(c.unexplained_ns == doctest::Approx(1400e3 - b.fused->prediction.sequential.ns));
  CHECK_FALSE(c.profiled());
}
} // namespace test_of_comparison
