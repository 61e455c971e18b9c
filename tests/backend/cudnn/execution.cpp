// SPDX-License-Identifier: Apache-2.0
// Do the graphs of attentions, of gates and of codes compute what ONNX says? On the fake GPU, in
// this process ("cudnn_calls" in tests/CMakeLists.txt); all other kinds: measure/gpu_program.cpp.
#include "exact.hpp"

#include <benanza/backend/cudnn/execution.hpp>

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;

TEST_CASE("on the fake gpu: attentions with a past, a window, lengths, gates, and codes") {
  if (!backend::cuda::no_gpu().empty()) return;
  const auto on = std::make_shared<context>(backend::cuda::gpu::of_this_process());
  lister list(this_gpu(on->get()));
  const auto ways = [&](const std::string& layer, numeric t) {
    CAPTURE(layer);
    const cudnn_test::exact wanted(layer, t);
    std::set<std::string> seen; // engines differ in name only here: one of each recipe will do
    for (const offer& o : list.offers(wanted.layer, t)) {
      if (!seen.insert(o.made_by->before).second) continue;
      CAPTURE(o.what.id);
      auto plan = plan_of_id(wanted.layer, t, o.what.id, list.device());
      REQUIRE(plan);
      execution run(on, std::move(*plan), wanted.values, {});
      CHECK(wanted.is_result_of(run));
    }
    return seen;
  };
  using words = std::set<std::string>;
  for (const numeric t : {numeric::f16, numeric::bf16, numeric::tf32}) {
    for (const char* layer :
         {"Attention/1x4x8x32-k24-causal-p16", "Attention/1x4x8x32-k24-causal-p3",
          "Attention/1x4x16x32-causal-w5", "Attention/1x4x8x32-k24-causal-p10-w6",
          "Attention/2x4x16x32-cap", "Attention/2x4x16x32-cap-mask1x1x16x16",
          "Attention/2x4x8x32-k24-lengths-mask2x1x8x24", "Attention/2x4x8x32-k24-causal-lengths",
          "Attention/2x4x4x32-k24-causal-lengths-bshd"})
      CHECK(ways(layer, t) == words{"chain:"});
    for (const char* layer :
         {"Attention/2x4x1x32-kv2-k24-lengths", "Attention/2x4x10x32-kv2-k16-bshd-cached",
          "Attention/2x4x10x32-kv2-k16-lengths-bshd-cached"})
      CHECK(ways(layer, t) == words{"sdpa:", "chain:"});
    // SwiGLU behind the gate's product, behind up's, and alone.
    CHECK_FALSE(ways("Swish+Mul/1x8x24", t).empty());
    // Weights as the model's file has them, and turned.
    for (const char* layer :
         {"MatMul+Swish+Mul/1x8x16-16x24-w", "MatMul+Mul/1x8x16-16x24-w", "MatMul/3x8x16-3x16x24-w",
          "Gemm/8x24x16-w", "Gemm+Relu/8x24x16-tb-c1x24-w", "Gemm/8x24x16-ta-tb-w"})
      CHECK(ways(layer, t) == words{"", "wt:"});
  }
  for (const numeric t : {numeric::s8s8s8, numeric::e4m3})
    for (const char* layer : {"MatMul/1x16x32-32x48-w", "Gemm/16x48x32-tb-c1x48-w"})
      CHECK(ways(layer, t) == words{"", "wt:"});
  for (const char* layer : {"QLinearConv/1x16x5x5-16x3x3-s1-p1-s8s8s8",
                            "QLinearConv/1x16x5x5-32x3x3-s2-p1-b-s8s8s8-pc-zr-relu",
                            "QLinearConv/2x16x5x5-16x1x1-s1-b-s8s8real-pc"})
    for (const numeric t : {numeric::f32, numeric::bf16})
      CHECK(ways(layer, t).contains("nhwc:"));
  CHECK(
      ways("QLinearConv/1x3x7x7-10x3x3-s1-p1-b-s8s8s8-pc-zr", numeric::f32).contains("nhwc-c16:"));
  for (const char* layer : {"Attention/2x4x16x32", "Attention/2x4x16x32-kv2-bshd",
                            "Attention/2x4x16x32-k24-causal-lengths"}) {
    CHECK(ways(layer, numeric::e4m3) == words{"chain:"});
  }
}
