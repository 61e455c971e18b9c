// SPDX-License-Identifier: Apache-2.0
// Does each layer get its call and the fastest that was measured? A residual block, unfused and
// fused, against logs of several iterations.
#include "result/synthetic.hpp"
#include "trace/log_text.hpp"

#include <benanza/advice/framework.hpp>
#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace {
using namespace log_text;
using benanza::numeric;
using benanza::advice::framework_choice;
using benanza::advice::framework_choices;
using benanza::advice::framework_choices_of;
using benanza::result::run;
using benanza::trace::call_log;
using benanza::trace::likeness;

const dims image{1, 64, 56, 56};

std::string plain(const std::string& algorithm) {
  return conv_call(image, {64, 64, 3, 3}, image, 1, 1, algorithm);
}
std::string narrow(const std::string& algorithm) {
  return conv_call(image, {64, 64, 1, 1}, image, 0, 1, algorithm);
}
/// Convolution and rectifier as one.
std::string conv_relu() {
  return execute(operation("CONVOLUTION_FORWARD", graph_tensor("xDesc", image, 1) +
                                                      graph_tensor("wDesc", {64, 64, 3, 3}, 2) +
                                                      graph_window({1, 1}, {1, 1}, {1, 1}) +
                                                      graph_tensor("yDesc", image, 3)) +
                     pointwise("RELU_FWD", graph_tensor("xDesc", image, 3), "",
                               graph_tensor("yDesc", image, 4)),
                 "41", value("CUDNN_KNOB_TYPE_TILE_SIZE", "int", "4"));
}

framework_choices choose(const run& r, const std::vector<call_log>& logs,
                         const benanza::advice::framework_options& o = {}) {
  const benanza::bound::source s(r);
  return framework_choices_of(s, r.graphs[0], logs, o);
}
/// The row of a layer; an empty one if there is none.
framework_choice row(const framework_choices& c, const std::string& layer) {
  for (const framework_choice& r : c.rows)
    if (r.layer == layer) return r;
  return {};
}
} // namespace

TEST_CASE("layers with their calls, and the fastest for each") {
  const run r = synthetic::on_gpu(synthetic::fused_run());
  const std::vector<call_log> logs{read(plain("IMPLICIT_GEMM") + narrow("GEMM"))};
  const framework_choices c = choose(r, logs);
  REQUIRE(c.rows.size() == 2);
  const framework_choice conv = row(c, synthetic::conv);
  CHECK(conv.called->algorithm == "CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM");
  CHECK(conv.how == likeness::exact);
  CHECK(conv.uses == 1);
  CHECK(conv.nodes == std::vector<int>{0});
  CHECK(conv.measured_in == numeric::f32);
  CHECK(conv.algorithms.chosen->algorithm == "jit:avx512_core");
  CHECK_FALSE(conv.called_ns);
  // Its bias is not in the call.
  CHECK(row(c, synthetic::narrow).how == likeness::shape);
  CHECK(c.calls == 2);
  CHECK(c.covered == 2);
  CHECK(c.nodes == 6);
  REQUIRE(c.uncalled.size() == 3);
  CHECK(c.uncalled[0].layer == synthetic::relu);
  CHECK(c.uncalled[0].count == 2);
  // The one that takes most time goes first.
  CHECK(c.rows[0].layer == synthetic::conv);
}

TEST_CASE("a fused call is compared with the fused layer of the result") {
  const run r = synthetic::on_gpu(synthetic::fused_run());
  const std::vector<call_log> logs{read(conv_relu())};
  const framework_choices c = choose(r, logs);
  REQUIRE(c.rows.size() == 1);
  CHECK(c.rows[0].layer == "Conv+Relu/1x64x56x56-64x3x3-s1-p1");
  CHECK(c.rows[0].nodes == std::vector<int>{0, 1});
  CHECK(c.rows[0].algorithms.chosen->algorithm == "jit:avx512_core");
  CHECK(c.rows[0].called->algorithm == "eng41_k2=4");
}

TEST_CASE("the called algorithm's own time, where it was measured") {
  run r = synthetic::on_gpu(synthetic::fused_run());
  synthetic::add(r, synthetic::conv, "eng41_k2=4_k17=-1", 0, 30e3);
  for (auto& m : r.measurements)
    if (m.algorithm.starts_with("eng")) m.backend = "cudnn";
  std::string plan = conv_relu();
  plan =
      execute(operation("CONVOLUTION_FORWARD",
                        graph_tensor("xDesc", image, 1) + graph_tensor("wDesc", {64, 64, 3, 3}, 2) +
                            graph_window({1, 1}, {1, 1}, {1, 1}) + graph_tensor("yDesc", image, 3)),
              "41", value("CUDNN_KNOB_TYPE_TILE_SIZE", "int", "4"));
  const std::vector<call_log> logs{read(plan)};
  const framework_choices c = choose(r, logs);
  REQUIRE(c.rows.size() == 1);
  REQUIRE(c.rows[0].called_ns);
  CHECK(*c.rows[0].called_ns > 30e3);
  CHECK(*c.rows[0].called_ns < 40e3);
  CHECK(c.rows[0].algorithms.chosen->backend == "cudnn");
}

TEST_CASE("knobs that are left to the engine do not make another algorithm") {
  using benanza::advice::same_algorithm;
  CHECK(same_algorithm("eng41_k2=4", "eng41_k2=4_k17=-1"));
  CHECK(same_algorithm("eng7_k17=-1_k24=21", "eng7_k24=21"));
  CHECK_FALSE(same_algorithm("eng41_k2=4", "eng41_k2=8"));
  CHECK_FALSE(same_algorithm("eng4_k2=1", "eng41_k2=1"));
  CHECK_FALSE(same_algorithm("eng41_k2=-1", "eng41_k2=-12"));
  CHECK(same_algorithm("", ""));
}

TEST_CASE("the last iteration is shown, or the one that is asked for") {
  const run r = synthetic::on_gpu(synthetic::fused_run());
  std::string text;
  for (const char* a : {"IMPLICIT_GEMM", "WINOGRAD", "FFT"})
    text += plain(a) + narrow(a);
  const std::vector<call_log> logs{read(text)};
  const auto algorithm = [&](std::optional<std::size_t> iteration) {
    return row(choose(r, logs, {.iteration = iteration}), synthetic::conv).called->algorithm;
  };
  CHECK(choose(r, logs).logs[0].all.count == 3);
  CHECK(algorithm({}) == "CUDNN_CONVOLUTION_FWD_ALGO_FFT");
  CHECK(algorithm(2) == "CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD");
  CHECK(choose(r, logs).surplus.empty());
  CHECK_THROWS_AS(choose(r, logs, {.iteration = 4}), benanza::error);
  CHECK_THROWS_AS(choose(r, logs, {.iteration = 0}), benanza::error);
}

TEST_CASE("equal blocks inside one run are no iterations") {
  run r = synthetic::on_gpu(synthetic::empty_run());
  r.graphs.push_back(synthetic::make_graph(
      "net@batch=1", {synthetic::conv, synthetic::conv, synthetic::conv}, {{}, {0}, {1}}));
  const std::vector<call_log> logs{read(plain("A") + plain("A") + plain("A"))};
  const framework_choices c = choose(r, logs);
  CHECK(c.logs[0].all.count == 1);
  CHECK(c.covered == 3);
  CHECK(c.surplus.empty());
  const std::vector<call_log> twice{read(plain("A") + plain("A") + plain("A") + plain("A"))};
  CHECK(choose(r, twice).surplus.size() == 1);
}

TEST_CASE("what a CPU takes says nothing about calls on a GPU") {
  const run r = synthetic::fused_run();
  const std::vector<call_log> logs{read(plain("IMPLICIT_GEMM"))};
  const framework_choices c = choose(r, logs);
  CHECK(c.of_cpu);
  REQUIRE(c.rows.size() == 1);
  CHECK_FALSE(c.rows[0].measured_in);
  CHECK(c.rows[0].algorithms.chosen == nullptr);
  CHECK_FALSE(choose(synthetic::on_gpu(r), logs).of_cpu);
}

TEST_CASE("another type than the call's, or one that was not measured") {
  run r = synthetic::on_gpu(synthetic::fused_run());
  synthetic::add(r, synthetic::conv, "half", 0, 40e3, 1.1, "f16");
  const std::vector<call_log> logs{read(plain("X"))};
  CHECK(choose(r, logs).rows[0].measured_in == numeric::f32);
  CHECK(choose(r, logs, {.type = numeric::f16}).rows[0].algorithms.chosen->algorithm == "half");
  CHECK_FALSE(choose(r, logs, {.type = numeric::bf16}).rows[0].measured_in);
  // What the benchmark lacks in the call's type is shown in the model's own.
  const std::string half =
      cudnn_call("cudnnConvolutionForward",
                 tensor("xDesc", image, "BFLOAT16") + filter("wDesc", {64, 64, 3, 3}) +
                     convolution({1, 1}, {1, 1}, {1, 1}) + tensor("yDesc", image));
  const std::vector<call_log> other{read(half)};
  CHECK(choose(r, other).rows[0].called->type == numeric::bf16);
  CHECK(choose(r, other).rows[0].measured_in == numeric::f32);
}

TEST_CASE("calls of another batch match nothing, and that is said") {
  const run r = synthetic::on_gpu(synthetic::fused_run());
  const dims eight{8, 64, 56, 56};
  const std::vector<call_log> logs{read(conv_call(eight, {64, 64, 3, 3}, eight, 1, 1, "X"))};
  const framework_choices c = choose(r, logs);
  CHECK(c.rows.empty());
  CHECK(c.strangers.size() == 1);
  CHECK(c.other_batch == 8);
  const std::vector<call_log> own{read(plain("X"))};
  CHECK_FALSE(choose(r, own).other_batch);
}

TEST_CASE("layers in place of a model match any number of calls") {
  run r = synthetic::on_gpu(synthetic::fused_run());
  r.graphs[0].name = "mine@layers";
  const std::vector<call_log> logs{read(plain("A") + plain("A") + narrow("A") + plain("B"))};
  const framework_choices c = choose(r, logs);
  CHECK(c.surplus.empty());
  CHECK(c.rows[0].uses + c.rows[1].uses + c.rows[2].uses == 4);
  CHECK(c.calls == 4);
}

TEST_CASE("of several models the one that the calls are of") {
  run r = synthetic::on_gpu(synthetic::small_run());
  const run block = synthetic::fused_run();
  r.graphs.push_back(block.graphs[0]);
  const std::vector<const benanza::model::graph*> models{&r.graphs[0], &r.graphs[1]};
  const std::vector<call_log> one{read(plain("X") + narrow("X"))},
      two{read(plain("X") + plain("X"))};
  CHECK(benanza::advice::best_model(models, one) == &r.graphs[1]);
  CHECK(benanza::advice::best_model(models, two) == &r.graphs[0]);
}
