// SPDX-License-Identifier: Apache-2.0
// Does cuDNN list what it should for GPUs that are only described, and can each algorithm be made
// again from its id? No counts: they change with the library.
#include "listed.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>

using namespace benanza;
using namespace benanza::backend::cudnn;
using cudnn_test::gpu;
using cudnn_test::listed;
using cudnn_test::remade;

namespace {
const std::string conv = "Conv/16x64x56x56-64x3x3-s1-p1";
const std::string fused = "Conv+Relu/16x64x56x56-64x3x3-s1-p1-b";
const std::string product = "MatMul/4096x4096-4096x4096-w";

bool noted(const std::vector<offer>& all, std::string_view word) {
  return std::any_of(all.begin(), all.end(), [word](const offer& o) {
    return o.what.notes.find(word) != std::string::npos;
  });
}
bool with_channels_last(const std::vector<offer>& all) {
  return std::any_of(all.begin(), all.end(),
                     [](const offer& o) { return o.what.id.starts_with("nhwc:"); });
}
} // namespace

TEST_CASE("cudnn: an engine that wants its weights in an order of its own is not offered") {
  found_engine e;
  e.behaviour = {CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION};
  CHECK_FALSE(e.wants_reordered_weights());
  for (const auto note : {CUDNN_BEHAVIOR_NOTE_REQUIRES_FILTER_INT8x32_REORDER,
                          CUDNN_BEHAVIOR_NOTE_REQUIRES_BIAS_INT8x32_REORDER}) {
    e.behaviour = {note};
    CHECK(e.wants_reordered_weights());
  }
}

TEST_CASE("cudnn: each GPU has the engines of its generation") {
  // What the library says itself: FP8 from sm_89 on, BF16 in fused graphs from sm_80 on.
  const struct {
    const char* name;
    bool bf16, fp8;
  } gpus[] = {{"v100", false, false}, {"t4", false, false}, {"a100", true, false},
              {"l40s", true, true},   {"h200", true, true}, {"b200", true, true}};
  for (const auto& g : gpus) {
    CAPTURE(std::string(g.name));
    const auto f32 = listed(conv, numeric::f32, g.name), f16 = listed(conv, numeric::f16, g.name);
    CHECK_FALSE(f32.empty());
    CHECK_FALSE(f16.empty());
    CHECK(with_channels_last(f16));
    CHECK(noted(f32, "heuristic"));
    CHECK(noted(f16, "tensor-cores"));
    CHECK_FALSE(noted(f32, "tensor-cores"));
    CHECK_FALSE(noted(f32, "fft"));
    CHECK_FALSE(noted(f16, "fft"));
    if (g.bf16) CHECK_FALSE(listed(conv, numeric::tf32, g.name).empty());
    CHECK(listed(fused, numeric::bf16, g.name).empty() == !g.bf16);
    if (std::string_view(g.name) != "l40s")
      CHECK(listed(conv, numeric::e4m3, g.name).empty() == !g.fp8);
    if (std::string_view(g.name) != "v100") // its integers come with channels in fours
      CHECK_FALSE(listed(conv, numeric::s8s8s8, g.name).empty());
    CHECK_FALSE(listed(product, numeric::f16, g.name).empty());
    const int generation = find_device(g.name)->compute_capability;
    CHECK((noted(f32, "winograd") || noted(f16, "winograd")) == (generation < 900));
  }
}

TEST_CASE("cudnn: tensor cores are noted where there are products") {
  for (const char* plain :
       {"Relu/16x64x56x56", "Add/16x64x56x56", "BatchNormalization/16x64x56x56"}) {
    CAPTURE(std::string(plain));
    const auto all = listed(plain, numeric::f16, "h200");
    CHECK_FALSE(all.empty());
    CHECK_FALSE(noted(all, "tensor-cores"));
  }
  CHECK(noted(listed(product, numeric::f16, "h200"), "tensor-cores"));
  CHECK(noted(listed(product, numeric::s8s8s8, "h200"), "tensor-cores"));
}

TEST_CASE("cudnn: ids are unique, and the plan of an id is the one that was listed") {
  for (const auto& [layer, type] :
       {std::pair{conv, numeric::f32}, {conv, numeric::f16}, {fused, numeric::f16}}) {
    std::set<std::string> ids;
    for (const offer& o : listed(layer, type, "h200")) {
      CAPTURE(o.what.id);
      CHECK(ids.insert(o.what.id).second);
      CHECK(o.what.index == static_cast<int>(ids.size()) - 1);
      CHECK(remade(o, "h200"));
    }
    CHECK(ids.size() > 10);
  }
}

TEST_CASE("cudnn: every layout is offered, and what pads channels keeps to itself") {
  std::set<std::string> prefixes;
  for (const offer& o : listed("Conv/1x3x32x32-10x3x3-s1-p1", numeric::f16, "h200")) {
    prefixes.insert(o.made_by->before);
    const bool padded = o.made_by->before == "nhwc-c8:";
    CHECK(o.what.operand_layouts.empty() == padded);
    CHECK(o.what.result_layout.empty() == padded);
  }
  CHECK(prefixes.contains("nhwc-c8:"));
  for (const offer& o : listed(conv, numeric::f16, "h200"))
    CHECK(o.made_by->before.find("-c") == std::string::npos);
  for (const offer& o : listed("Conv/1x3x32x32-16x3x3-s1-p1", numeric::s8s8s8, "h200"))
    if (o.made_by->before.starts_with("nhwc-c")) CHECK(o.made_by->before == "nhwc-c16:");
}

TEST_CASE("cudnn: weights of products are stored as in the model's file, and turned") {
  const auto prefixes = [](const std::string& layer, numeric t) {
    std::map<std::string, std::set<std::string>> out; // and layouts
    for (const offer& o : listed(layer, t, "h200")) {
      CAPTURE(o.what.id);
      CHECK(remade(o, "h200"));
      out[o.made_by->before].insert(o.what.layouts);
    }
    return out;
  };
  using seen = std::map<std::string, std::set<std::string>>;
  for (const numeric t : {numeric::f16, numeric::bf16, numeric::s8s8s8, numeric::e4m3}) {
    CAPTURE(std::string(name(t)));
    for (const char* layer : {"MatMul/1x128x768-768x256-w", "Gemm/128x256x768-w",
                              "MatMul+Swish+Mul/1x128x768-768x256-w", "MatMul/8x128x64-8x64x128-w"})
      CHECK(prefixes(layer, t) == seen{{"", {"ab,ab,ab"}}, {"wt:", {"ab,ba,ab"}}});
    CHECK(prefixes("Gemm/128x256x768-tb-w", t) == seen{{"", {"ab,ba,ab"}}, {"wt:", {"ab,ab,ab"}}});
    CHECK(prefixes("MatMul/8x128x64-8x64x128", t) == seen{{"", {"ab,ab,ab"}}});
  }
  CHECK(prefixes("Gemm/128x1x768-w", numeric::f16).size() == 1); // a vector
  // Of TF32 the graphs alone: the library lists none once a GPU without TF32 was asked for.
  const recipes both = recipes_for(op::parse("Gemm/128x256x768-w"), numeric::tf32);
  REQUIRE(both.size() == 2);
  CHECK(both[0].before.empty());
  CHECK(both[1].before == "wt:");
  // Of few the first of each order.
  const op::layer l = op::parse("MatMul/1x128x768-768x256-w");
  lister some(described_target("h200"));
  std::map<std::string, std::string> first, first_of_few;
  for (const offer& o : some.offers(l, numeric::bf16))
    first.emplace(o.made_by->before, o.what.id);
  for (const offer& o : some.offers(l, numeric::bf16, true))
    first_of_few.emplace(o.made_by->before, o.what.id);
  CHECK(first == first_of_few);
}

TEST_CASE("cudnn: Winograd is held to its own arithmetic, and is less than the nominal") {
  const std::int64_t nominal = op::direct_flops(op::parse(conv));
  int seen = 0;
  for (const offer& o : listed(conv, numeric::f32, "v100")) {
    const bool winograd = o.how.winograd();
    CHECK((o.what.flops < nominal) == winograd);
    seen += winograd;
  }
  CHECK(seen > 0);
}

TEST_CASE("cudnn: an engine that is a Winograd of a narrow type has its own class") {
  for (const auto& [type, apart] :
       {std::pair{numeric::f32, false}, {numeric::f16, true}, {numeric::bf16, true}}) {
    int seen = 0;
    for (const offer& o : listed(conv, type, "a100")) {
      const bool winograd = o.how.winograd();
      seen += winograd;
      CHECK((o.what.equivalence == winograd_class(type)) == (winograd && apart));
    }
    CHECK(seen > 0);
  }
  found_engine e;
  CHECK_FALSE(e.winograd());
  e.numerics = {CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13, CUDNN_NUMERICAL_NOTE_TENSOR_CORE};
  CHECK(e.winograd());
  CHECK(benanza::backend::cudnn::detail::equivalence_of(e, numeric::tf32, true) == "tf32-winograd");
  const op::layer five = op::parse("Conv+Relu/1x8x9x9-16x5x5-s1-p2-b");
  CHECK(benanza::backend::cudnn::detail::flops_of(e, five) == op::direct_flops(five) * 169 / 2025);
}

TEST_CASE("cudnn: TF32 and FP32 are distinguished by what the library says") {
  std::set<std::string> exact, narrow;
  for (const offer& o : listed(conv, numeric::f32, "h200"))
    exact.insert(o.what.id);
  for (const offer& o : listed(conv, numeric::tf32, "h200"))
    narrow.insert(o.what.id);
  CHECK_FALSE(narrow.empty());
  for (const std::string& id : narrow)
    CHECK_FALSE(exact.contains(id));
}

TEST_CASE("cudnn: what multiplies nothing is f32, whatever its engine could do") {
  for (const offer& o : listed("Relu/1x64x56x56", numeric::f32, "h200"))
    CHECK(o.what.equivalence == "f32");
  CHECK_FALSE(listed("Relu/1x64x56x56", numeric::f32, "h200").empty());
}

TEST_CASE("cudnn: nothing is listed for views, empty tensors and types that it lacks") {
  CHECK(listed("Conv/1x3x32x32-8x3x3-s1-p1", numeric::u8s8u8, "h200").empty());
  CHECK(offers(op::view{.function = op::view_function::reshape, .input = {1, 4}, .result = {4}},
               numeric::f32, gpu("h200"))
            .empty());
  CHECK(offers(op::unary{.function = op::unary_function::relu, .input = {0, 4}}, numeric::f32,
               gpu("h200"))
            .empty());
  CHECK(listed("Transpose/1x2x3x4-o0x2x1x3", numeric::f32, "h200").empty());
  CHECK(listed("Gather/100x64-5-a1-i32-s64", numeric::f32, "h200").empty());
}
