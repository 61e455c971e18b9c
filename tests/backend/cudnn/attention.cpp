// SPDX-License-Identifier: Apache-2.0
// Are attentions listed, by the ways that compute each of them? What they compute is tried on the
// fake GPU (measure/gpu_program.cpp).
#include "listed.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;
using cudnn_test::gpu;
using cudnn_test::listed;
using cudnn_test::remade;

namespace {
using words = std::set<std::string>;

words ways(const std::string& layer, numeric t, const std::string& gpu) {
  words out;
  for (const offer& o : listed(layer, t, gpu)) {
    CHECK(remade(o, gpu));
    out.insert(o.made_by->before);
  }
  return out;
}
} // namespace

TEST_CASE("cudnn: attentions have engines from the A100 on, as one operation and as a chain") {
  for (const char* gpu : {"a100", "h200", "b200"})
    for (const numeric t : {numeric::f16, numeric::bf16}) {
      CAPTURE(std::string(gpu));
      CHECK(ways("Attention/2x8x128x64", t, gpu) == words{"sdpa:", "chain:"});
      CHECK(ways("Attention/1x12x197x64-bshd", t, gpu) == words{"sdpa:", "chain:"});
      CHECK(ways("Attention/1x8x128x64-kv2-k512", t, gpu) == words{"sdpa:", "chain:"});
      CHECK(ways("Attention/1x8x1x64-k256", t, gpu) == words{"sdpa:", "chain:"});
      CHECK(ways("Attention/2x8x128x64-causal", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/2x8x128x64-mask1x1x128x128", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/2x8x128x64-causal-mask2x8x128x128", t, gpu) == words{"chain:"});
      // With a past, a window, lengths and a cap.
      CHECK(ways("Attention/1x8x64x64-k128-causal-p64", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/2x8x64x64-k128-causal-lengths", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/2x8x4x64-kv2-k256-causal-lengths-bshd", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/2x8x128x64-causal-w32", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/2x8x1x64-kv2-k256-lengths", t, gpu) == words{"sdpa:", "chain:"});
      CHECK(ways("Attention/2x8x128x64-cap", t, gpu) == words{"chain:"});
      CHECK(ways("Attention/1x12x16x64-k64-bshd-cached", t, gpu) == words{"sdpa:", "chain:"});
    }
}

TEST_CASE("cudnn: attentions in FP8 have engines from Hopper on") {
  for (const char* gpu : {"h200", "b200"})
    for (const char* layer :
         {"Attention/2x8x128x64", "Attention/2x8x128x64-causal", "Attention/2x8x128x64-bshd",
          "Attention/2x8x128x64-k256-causal-lengths"}) {
      CAPTURE(std::string(layer));
      CHECK(ways(layer, numeric::e4m3, gpu) == words{"chain:"});
    }
  CHECK(listed("Attention/2x8x128x64", numeric::e4m3, "a100").empty());
  for (const offer& o : listed("Attention/2x8x128x64", numeric::e4m3, "h200"))
    CHECK(o.what.equivalence == "e4m3");
}

TEST_CASE("cudnn: where the library throws in place of an answer, it has no engine") {
  const std::string masked = "Attention/2x8x128x64-mask1x1x128x128";
  CHECK_FALSE(recipes_for(op::parse(masked), numeric::e4m3).empty());
  CHECK(listed(masked, numeric::e4m3, "h200").empty());
  const auto refused = lister(gpu("h200")).refused(op::parse(masked), numeric::e4m3);
  CHECK(refused.size() > 3);
  for (const backend::refused_algorithm& r : refused)
    CHECK(r.why.find("cuDNN: ") == 0);
}

TEST_CASE("cudnn: attentions of f32 run on tensor cores, and so are TF32") {
  CHECK(listed("Attention/2x8x128x64", numeric::f32, "h200").empty());
  const auto narrow = listed("Attention/2x8x128x64", numeric::tf32, "h200");
  CHECK_FALSE(narrow.empty());
  for (const offer& o : narrow)
    CHECK(o.what.equivalence == "tf32");
}

TEST_CASE("cudnn: attentions that it has no engine for are not offered") {
  CHECK(listed("Attention/2x8x128x60", numeric::f16, "h200").empty()); // heads come in eights
  CHECK(listed("Attention/2x8x128x64", numeric::f16, "t4").empty());
  CHECK(recipes_for(op::parse("Attention/2x8x128x64"), numeric::s8s8s8).empty());
}

TEST_CASE("cudnn: attentions in which a query sees nothing are not offered, nor truth values") {
  for (const char* layer :
       {"Attention/1x8x16x64-k20-causal-p30-w8", "Attention/2x8x16x64-mask1x1x16x16-bool",
        "Attention/2x8x16x64-k18-causal-lengths", "Attention/2x8x16x64-k32-causal-p2-lengths"}) {
    CAPTURE(std::string(layer));
    CHECK(recipes_for(op::parse(layer), numeric::f16).empty());
  }
}

TEST_CASE("cudnn: operands of an attention are described by strides, and placed as ONNX has them") {
  const auto made = recipes_for(op::parse("Attention/2x8x128x64-kv2-bshd"), numeric::f16);
  REQUIRE(made.size() == 2);
  for (const recipe& r : made) {
    std::set<int> inputs;
    for (const placed& t : r.tensors) {
      if (t.input != placed::unread) CHECK(t.dims == shape{t.elements});
      if (t.input != placed::unread) CHECK(t.strides == shape{1});
      CHECK(t.elements == (t.input == placed::unread      ? 2 * 8 * 128
                           : t.input == 1 || t.input == 2 ? 2 * 2 * 128 * 64
                                                          : 2 * 8 * 128 * 64));
      CHECK(inputs.insert(t.input).second);
    }
    CHECK(inputs.contains(placed::result));
    CHECK(inputs.contains(placed::unread) == (r.before == "chain:"));
    CHECK(r.layouts == "bshd,bshd,bshd,bshd");
  }
}
