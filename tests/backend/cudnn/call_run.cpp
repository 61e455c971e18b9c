// SPDX-License-Identifier: Apache-2.0
// Do cuDNN's calls outside the graph API compute what ONNX says? On the fake GPU, in this process:
// it must have been loaded before the program (tests/CMakeLists.txt, "cudnn_calls").
#include "exact.hpp"

#include <benanza/backend/cudnn/call_run.hpp>
#include <benanza/backend/cudnn/legacy.hpp>
#include <benanza/backend/cudnn/recurrent.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;

namespace {
using words = std::set<std::string>;

/// Runs those calls that the GPU has, and compares each result with the reference; their ids.
words computed(const std::shared_ptr<context>& on, const std::string& layer, numeric t,
               const std::vector<call>& all) {
  const cudnn_test::exact wanted(layer, t);
  words ids;
  for (const call& c : all) {
    if (c.workspace) {
      try {
        c.workspace(on->get());
      } catch (const refusal&) {
        continue;
      }
    }
    const std::string id = layer + '/' + std::string(name(t)) + '/' + c.what.id;
    CAPTURE(id);
    call_run run(on, c, wanted.values, {});
    CHECK(wanted.is_result_of(run));
    CHECK(run.ran() == c.what.id);
    ids.insert(c.what.id);
  }
  return ids;
}
bool has(const words& ids, const std::string& begin, const std::string& end = "") {
  return std::any_of(ids.begin(), ids.end(), [&](const std::string& id) {
    return id.starts_with(begin + ':') && id.ends_with(end);
  });
}
} // namespace

TEST_CASE("on the fake gpu: legacy convolutions compute what ONNX says") {
  if (!backend::cuda::no_gpu().empty()) return;
  const auto on = std::make_shared<context>(backend::cuda::gpu::of_this_process());
  const auto forms = [&](const char* layer, numeric t) {
    return computed(on, layer, t, legacy::calls_for(op::parse(layer), t));
  };
  using enum numeric;
  for (const numeric t : {f32, tf32, f16, bf16, s8s8s8}) {
    const auto check = [&](const char* layer, const std::string& kind) {
      const words ids = forms(layer, t);
      CHECK(has(ids, kind + "-nhwc"));
      CHECK(has(ids, kind) == (t != s8s8s8));
      CHECK(has(ids, kind, ":half") == (t == f16));
      CHECK(has(ids, kind + "-nhwc", ":half") == (t == f16));
    };
    for (const char* layer :
         {"Conv/1x8x7x7-16x3x3-s1-p1", "Conv/1x8x7x7-8x3x3-s1-p1-g2", "Conv/1x8x20-8x3-s2-p1"})
      check(layer, "legacy");
    if (t != s8s8s8) check("Conv/2x8x8x9-8x3x3-s2-p1-d2", "legacy");
    for (const char* layer : {"Conv/1x8x7x7-16x3x3-s1-p1-b", "Conv+Relu/1x8x7x7-16x3x3-s1-p1",
                              "Conv+Add/1x8x7x7-16x1x1-s1", "Conv+Add+Relu/1x8x7x7-8x3x3-s1-p1-b"})
      check(layer, "legacy-fused");
    if (t == s8s8s8) continue;
    for (const char* layer :
         {"ConvTranspose/1x8x5x5-8x4x4-s2-p1", "ConvTranspose/1x8x5x6-16x3x3-s2-p1-op1",
          "ConvTranspose/1x8x5x5-8x4x4-s2-p1-g2"})
      check(layer, "legacy-data");
    for (const char* layer :
         {"ConvWeightGradient/2x8x7x7-16x3x3-s1-p1", "ConvWeightGradient/2x8x8x9-8x3x2-s2-p1-d2",
          "ConvWeightGradient/1x8x7x7-8x3x3-s1-p1-g2", "ConvWeightGradient/2x8x20-8x3-s2-p1"})
      check(layer, "legacy-filter");
  }
  // Integers in vectors of channels; those of QLinearConv with scales of their own.
  const auto in_vectors = [&](const char* layer, numeric t, const std::string& kind, bool wide) {
    const words ids = forms(layer, t);
    CHECK(has(ids, kind + "-nhwc"));
    CHECK(has(ids, kind + "-x4"));
    CHECK(has(ids, kind + "-x32") == wide);
  };
  in_vectors("Conv/2x8x6x7-12x3x2-s2-p1", s8s8s8, "legacy", false);
  in_vectors("Conv/1x64x5x5-64x3x3-s1-p1-g2", s8s8s8, "legacy", true);
  in_vectors("Conv+Add+Relu/1x32x4x4-64x1x1-s1-b", s8s8s8, "legacy-fused", true);
  in_vectors("QLinearConv/1x32x5x5-32x3x3-s1-p1-s8s8s8", f32, "legacy", true);
  in_vectors("QLinearConv/1x32x5x5-32x3x3-s1-p1-b-s8s8s8-relu", bf16, "legacy-fused", true);
  in_vectors("QLinearConv/1x8x5x5-16x3x3-s1-p1-b-u8s8s8", f32, "legacy-fused", false);
  for (const char* layer : {"QLinearConv/1x8x5x5-6x3x3-s1-p1-s8s8real",
                            "QLinearConv/1x8x5x5-16x3x3-s1-p1-b-u8s8real-relu"})
    CHECK(has(forms(layer, f32), std::string(layer).find("-b-") == std::string::npos
                                     ? "legacy-nhwc"
                                     : "legacy-fused-nhwc"));
  CHECK(forms("Conv/1x6x5x5-16x3x3-s1", s8s8s8).empty()); // no fours of channels
  // Without a ReLU the fused call has one algorithm.
  for (const std::string& id : forms("Conv/1x8x7x7-16x3x3-s1-p1-b", f32))
    CHECK(id.find(":implicit_precomp_gemm:") != std::string::npos);
}

TEST_CASE("on the fake gpu: recurrent layers compute what ONNX says") {
  if (!backend::cuda::no_gpu().empty()) return;
  const auto on = std::make_shared<context>(backend::cuda::gpu::of_this_process());
  using enum numeric;
  for (const numeric t : {f32, tf32, f16, bf16})
    for (const char* layer :
         {"LSTM/5x3x7-h6", "LSTM/5x3x7-h6-b-h0-c0-n3", "LSTM/4x2x3-h5-bidirectional-b-n3",
          "LSTM/5x3x7-h6-b-h0-nt-n3", "LSTM/4x2x3-h5-bidirectional-b-h0-c0-nt-n3",
          "GRU/5x3x7-h6-b-after", "GRU/4x2x3-h5-bidirectional-h0-after-n2", "RNN/5x3x7-h6-b-n2",
          "RNN/5x3x7-h6-b-f0"}) {
      const words ids = computed(on, layer, t, recurrent_calls(op::parse(layer), t));
      CHECK(has(ids, "rnn:standard"));
      CHECK(has(ids, "rnn:persist_static"));
      CHECK_FALSE(has(ids, "rnn:persist_dynamic")); // the fake has none
      CHECK(has(ids, "rnn:standard", ":half") == (t == f16));
    }
}
