// SPDX-License-Identifier: Apache-2.0
// Is the list of implementations complete, and are they distinct? The library's list must not stop
// early, names, layouts and speeds must differ, and what a bound should not rest on must be marked.
#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/onednn/library.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

using namespace benanza;
using backend::algorithm;
namespace onednn = backend::onednn;

namespace {
const char* const layer_name = "Conv/1x64x56x56-64x3x3-s1-p1";

std::vector<algorithm> listed(const char* layer, numeric t) {
  onednn::library lib;
  return lib.enumerate(op::parse(layer), t, {.threads = 1});
}

const algorithm* find(const std::vector<algorithm>& all, std::string_view part) {
  for (const algorithm& a : all)
    if (a.id.find(part) != std::string::npos) return &a;
  return nullptr;
}

bool machine_has(int flag) {
  return (static_cast<int>(dnnl_get_effective_cpu_isa()) & flag) == flag;
}

double fastest(const algorithm& a) {
  onednn::library lib;
  const op::layer l = op::parse(layer_name);
  const auto p =
      lib.prepare(l, numeric::f32, a, backend::make_operands(l, numeric::f32), {.threads = 1});
  p->run(1);
  double best = p->time(1);
  for (int i = 0; i < 8; ++i)
    best = std::min(best, p->time(1));
  return best;
}
} // namespace

TEST_CASE("onednn: constant weights are also stored n x k, as frameworks keep them") {
  for (const char* layer : {"MatMul/1x2x64-64x48-w", "Gemm/2x48x64-w", "Gemm/2x48x64-tb-c1x48-w",
                            "MatMul+Relu/1x2x64-64x48-w"}) {
    CAPTURE(std::string(layer));
    const std::vector<algorithm> all = listed(layer, numeric::f32);
    const algorithm* const turned = find(all, "matmul:nk:");
    REQUIRE(turned != nullptr);
    CHECK(turned->layouts == "mk,nk,mn");
    CHECK(turned->result_layout == "plain");
    CHECK(turned->index > find(all, "matmul:")->index);
  }
  const std::vector<algorithm> stack = listed("MatMul/4x10x16-4x16x8-w", numeric::f32);
  REQUIRE(find(stack, "nk:") != nullptr);
  CHECK(find(stack, "nk:")->layouts == "amk,ank,amn");
  // No weights, or a vector, which has one layout only.
  for (const char* layer : {"MatMul/2x64-64x48", "MatMul/4x10x16-4x16x8", "Gemm/2x48x64-tb",
                            "Gemm/2x1x64-w", "Gemm/2x48x1-tb-w"})
    CHECK_MESSAGE(find(listed(layer, numeric::f32), "nk:") == nullptr, layer);
}

TEST_CASE(
    "onednn: as many implementations are listed as a loop over the library's own list finds") {
  using tag = dnnl::memory::format_tag;
  using type = dnnl::memory::data_type;
  onednn::use_threads(1);
  dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  std::vector<std::string> names;
  for (const auto how :
       {dnnl::algorithm::convolution_direct, dnnl::algorithm::convolution_winograd}) {
    const dnnl::memory::desc image({1, 64, 56, 56}, type::f32, tag::any),
        weights({64, 64, 3, 3}, type::f32, tag::any);
    constexpr auto inference = dnnl::prop_kind::forward_inference;
    const dnnl::memory::dims one{1, 1};
#if DNNL_VERSION_MAJOR == 2
    const dnnl::convolution_forward::desc d(inference, how, image, weights, image, one, one, one);
    dnnl::convolution_forward::primitive_desc i(d, attributes, engine, true);
#else
    dnnl::convolution_forward::primitive_desc i(engine, inference, how, image, weights, image, one,
                                                one, one, attributes, true);
#endif
    if (!i) continue;
    do
      names.push_back(i.impl_info_str());
    while (i.next_impl());
  }
  const auto found = listed(layer_name, numeric::f32);
  REQUIRE(found.size() == names.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].id == onednn::plain_name(names[i]));
    CHECK(found[i].index == static_cast<int>(i));
  }
}

TEST_CASE("onednn: making primitives does not change what is listed later") {
  const auto before = listed(layer_name, numeric::f32);
  for (const algorithm& a : before)
    fastest(a);
  const auto after = listed(layer_name, numeric::f32);
  REQUIRE(before.size() == after.size());
  for (std::size_t i = 0; i < before.size(); ++i)
    CHECK(before[i].id == after[i].id);
}

TEST_CASE("onednn: two implementations of one convolution differ in name and layouts") {
  const auto all = listed(layer_name, numeric::f32);
  REQUIRE(all.size() >= 3);
  std::set<std::string> ids, layouts;
  for (const algorithm& a : all) {
    ids.insert(a.id);
    layouts.insert(a.layouts);
    CHECK(std::count(a.layouts.begin(), a.layouts.end(), ',') == 2);
  }
  CHECK(ids.size() == all.size());
  CHECK(layouts.size() >= 3);
}

TEST_CASE("speed: onednn: an implementation for an older instruction set takes longer") {
  const auto all = listed(layer_name, numeric::f32);
  const algorithm* oldest = nullptr;
  for (const algorithm& a : all)
    if (a.fallback == "old-isa") oldest = &a;
  if (!oldest) {
    MESSAGE("the machine has one level of instruction set: times are not compared");
    return;
  }
  // Least times, by turns: interference lasts longer than one of them.
  double newest_ns = fastest(all[0]), oldest_ns = fastest(*oldest);
  for (int turn = 0; turn < 4; ++turn) {
    newest_ns = std::min(newest_ns, fastest(all[0]));
    oldest_ns = std::min(oldest_ns, fastest(*oldest));
  }
  CHECK(oldest_ns > 1.15 * newest_ns);
}

TEST_CASE("onednn: reference loops and old instruction sets are marked, others are not") {
  const auto all = listed(layer_name, numeric::f32);
  REQUIRE(find(all, "ref:any"));
  CHECK(find(all, "ref:any")->fallback == "ref");
  CHECK(all[0].fallback.empty());
  CHECK(onednn::fallback_of("simple_nchw:any", true, false, numeric::f32) == "ref");
  CHECK(onednn::fallback_of("simple:any", false, false, numeric::f32).empty());
  CHECK(listed("Concat/1x64x28x28-a1-n2", numeric::f32)[0].fallback.empty());
}

TEST_CASE("onednn: with AVX-512 older instruction sets are fallbacks" *
          doctest::skip(!machine_has(dnnl_cpu_isa_avx512_core))) {
  const auto all = listed(layer_name, numeric::f32);
  REQUIRE(find(all, "jit:sse41"));
  CHECK(find(all, "jit:sse41")->fallback == "old-isa");
  CHECK(find(all, "jit:avx2")->fallback == "old-isa");
  CHECK(find(all, "jit:avx512_core")->fallback.empty());
  CHECK(find(all, "jit:avx512_core")->layouts == "nChw16c,OIhw16i16o,nChw16c");
}

TEST_CASE("onednn: direct algorithms are held to the arithmetic of a direct one") {
  const auto all = listed(layer_name, numeric::f32);
  REQUIRE(find(all, "ref:any"));
  for (const algorithm& a : all)
    if (a.id.find("wino") == std::string::npos)
      CHECK(a.flops == op::direct_flops(op::parse(layer_name)));
}

TEST_CASE("onednn: Winograd is listed, or refused with a reason") {
  onednn::library lib;
  const auto refused = lib.refused(op::parse(layer_name), numeric::f32, {.threads = 1});
  const bool told = std::any_of(refused.begin(), refused.end(),
                                [](const auto& r) { return r.id == "winograd" && !r.why.empty(); });
  CHECK(told != (find(listed(layer_name, numeric::f32), "wino") != nullptr));
  CHECK(lib.refused(op::parse("Relu/1x64x56x56"), numeric::f32, {.threads = 1}).empty());
}

TEST_CASE("onednn: why implementations are passed over is read from what the library prints") {
  const std::string head = "onednn_verbose,v1,primitive,create:dispatch,convolution,";
  const std::string rest = ",forward_inference,src:f32:a:any:any::f0 dst:f32:a:any:any::f0,"
                           "attr-scratchpad:user,alg:convolution_direct,mb1_ic64oc64,";
  const auto all = onednn::refusals_of(
      "onednn_verbose,v1,info,oneDNN v3.7.2 (commit N/A)\n" + head +
      "bad flags,./src/cpu/x64/utils.cpp:2423\n" + head + "cpu,convolution,jit_dw:avx2" + rest +
      "unsupported alg,src/a.cpp:1\nsomething else\n" + head + "cpu,convolution,jit_dw:avx2" +
      rest + "another reason,src/a.cpp:2\n" + head + "cpu,convolution,ip:any+" + rest +
      "bad kernel,src/b.cpp:3");
  REQUIRE(all.size() == 2);
  CHECK(all[0].id == "jit_dw:avx2");
  CHECK(all[0].why == "unsupported alg");
  CHECK(all[1].id == "ip:any+");
  CHECK(all[1].why == "bad kernel");
  CHECK(onednn::refusals_of("").empty());
}

TEST_CASE("onednn: Winograd is listed after the direct ones and held to its own arithmetic" *
          doctest::skip(DNNL_VERSION_MAJOR > 2 || !machine_has(dnnl_cpu_isa_avx512_core))) {
  const auto all = listed(layer_name, numeric::f32);
  const op::work nominal = op::cost(op::parse(layer_name));
  const algorithm* four = find(all, "wino_4x3");
  REQUIRE(four);
  CHECK(all.back().id.find("wino") != std::string::npos);
  CHECK(four->flops * 4 == nominal.flops());
  CHECK(four->equivalence == "f32");
  CHECK(four->workspace_bytes > 0);
  const algorithm* two = find(all, "wino_2x3");
  REQUIRE(two);
  CHECK(two->flops * 9 == nominal.flops() * 4);
  const auto quantised = listed(layer_name, numeric::u8s8u8);
  const algorithm* eight = find(quantised, "wino");
  REQUIRE(eight);
  CHECK(eight->equivalence == "u8s8u8-winograd");
  if (machine_has(dnnl_cpu_isa_avx512_core_vnni)) CHECK(quantised[0].equivalence == "u8s8u8");
}

TEST_CASE("onednn: tiles that hang over the edge are counted") {
  const op::conv c{.input = {1, 16, 7, 7}, .outputs = 16, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  CHECK(onednn::winograd_macs(c, 4) == 2 * 2 * 36 * 16 * 16);
  CHECK(onednn::winograd_macs(c, 2) == 4 * 4 * 16 * 16 * 16);
}

TEST_CASE("onednn: VNNI is in the names, and products that saturate are distinguished" *
          doctest::skip(!machine_has(dnnl_cpu_isa_avx512_core_vnni))) {
  CHECK(find(listed(layer_name, numeric::u8s8u8), "vnni"));
  CHECK(find(listed(layer_name, numeric::s8s8s8), "vnni"));
  CHECK(find(listed("Gemm/16x64x64-w", numeric::u8s8u8), "vnni"));
  int older = 0;
  for (const algorithm& a : listed(layer_name, numeric::u8s8u8)) {
    if (a.id.find("jit_uni_int8:") != 0) continue;
    const bool exact = a.id.ends_with("vnni"); // avx2_vnni has products that do not saturate
    CHECK(a.equivalence == (exact ? "u8s8u8" : "u8s8u8-saturating"));
    older += !exact;
  }
  CHECK(older > 0);
}

TEST_CASE("onednn: bf16 instructions are in the names" *
          doctest::skip(!machine_has(dnnl_cpu_isa_avx512_core_bf16))) {
  CHECK(find(listed(layer_name, numeric::bf16), "avx512_core_bf16"));
}

TEST_CASE("onednn: memory-bound layers are listed in the arrangements a network may have") {
  const std::string in_blocks = onednn::channels_in_block() == 16 ? "@nChw16c" : "@nChw8c";
  for (const char* name : {"MaxPool/1x64x28x28-3x3-s2-p1", "BatchNormalization/1x64x28x28",
                           "LRN/1x64x28x28-n5", "Concat/1x64x28x28-a1-n2"}) {
    CAPTURE(name);
    const auto all = listed(name, numeric::f32);
    CHECK(find(all, "@nhwc"));
    CHECK(find(all, in_blocks));
    CHECK(all[0].id.find('@') == std::string::npos);
  }
  CHECK(listed("MaxPool/1x64x28x28-3x3-s2-p1", numeric::u8s8u8)[0].layouts == "nhwc,nhwc");
  CHECK(find(listed("Conv/1x32x28x28-32x3x3-s1-p1-g32", numeric::f32), in_blocks));
  CHECK(find(listed("Softmax/2x10x7x7-a1", numeric::f32), "@axis-last"));
  // Whose memory is not the plain one, though its dims in the library's order are dense.
  for (const char* layer : {"Softmax/2x10x7x7-a1", "ReduceMean/2x10x7x7-a1"})
    for (const algorithm& a : listed(layer, numeric::f32))
      CHECK((a.result_layout == "plain") == (a.id.find("-last") == std::string::npos));
}
