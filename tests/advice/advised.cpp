// SPDX-License-Identifier: Apache-2.0
// What is advised? The findings of the paper, each on a run that is made up: a pad before every
// convolution, stalls between calls, branches one after the other, an algorithm that the heuristic
// misses.
#include "framework_runs.hpp"

namespace test_of_advised {
using namespace framework_runs;

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

TEST_CASE("what a file says is one word of a command") {
  const run r = synthetic::fused_run();
  const source s(r);
  const std::vector<model_bound> all{figures(s)};
  profile p = unfused(3100);
  p.model = "a; rm -rf '";
  const advised a = advise_one(s, all, p);
  const item* i = of_id(a.list, "framework/between_operators");
  REQUIRE(i != nullptr);
  CHECK(i->check == R"(benanza_measure_framework onnxruntime 'a; rm -rf '\''.onnx' --threads 1)");
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
} // namespace test_of_advised
