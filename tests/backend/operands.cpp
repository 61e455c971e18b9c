// SPDX-License-Identifier: Apache-2.0
// Are a layer's operands what its operator takes: their order, types, ranges, and the same each
// time?
#include <benanza/backend/make_operands.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <set>

using namespace benanza;
using namespace benanza::backend;

namespace {
std::vector<double> values(const tensor& t) {
  std::vector<double> v;
  load_all(t.type, t.bytes.data(), t.count(), v);
  return v;
}
double mean_square(const std::vector<double>& v) {
  double s = 0;
  for (double x : v)
    s += x * x;
  return s / static_cast<double>(v.size());
}
} // namespace

TEST_CASE("the values of a layer never change") {
  const auto conv = op::parse("Conv/1x4x5x5-6x3x3-s1-p1-b");
  const operands a = make_operands(conv, numeric::f32), b = make_operands(conv, numeric::f32);
  REQUIRE(a.inputs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i)
    CHECK(a.inputs[i].bytes == b.inputs[i].bytes);
  // On any machine: exact multiples of 2^-19.
  CHECK(a.inputs[0].as<float>()[0] ==
        0x1.0p-19f * std::round(a.inputs[0].as<float>()[0] * 0x1p19f));
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const tensor& t : a.inputs)
    for (std::byte x : t.bytes)
      hash = (hash ^ static_cast<std::uint64_t>(x)) * 0x100000001b3u;
  CHECK(hash == 0x76a3290b9a1c8933u);
  const auto other = make_operands(op::parse("Conv/1x4x5x5-6x3x3-s1-p1"), numeric::f32);
  CHECK(other.inputs[0].bytes != a.inputs[0].bytes);
  const auto narrow = make_operands(conv, numeric::bf16);
  for (std::int64_t i = 0; i < 100; ++i)
    CHECK(narrow.inputs[0].as<std::uint16_t>()[static_cast<std::size_t>(i)] ==
          to_bf16(a.inputs[0].as<float>()[static_cast<std::size_t>(i)]));
}

TEST_CASE("parameters of cases of 16 bits lose nothing where a library keeps them in 16 bits") {
  for (const char* layer :
       {"Conv/1x4x5x5-60x3x3-s1-b", "LayerNormalization/3x200-a1-b", "Gemm/2x300x4-c1x300-w"})
    for (const numeric t : {numeric::f16, numeric::bf16}) {
      const operands o = make_operands(op::parse(layer), t);
      std::set<float> distinct;
      for (const tensor& x : o.inputs) {
        if (x.part != role::vector) continue;
        for (const float v : x.as<float>()) {
          std::byte kept[2];
          store(source_of(t), kept, 0, v);
          CHECK(load(source_of(t), kept, 0) == static_cast<double>(v));
          distinct.insert(v);
        }
      }
      CHECK(distinct.size() > 20);
    }
}

TEST_CASE("operands come in the order and the types of the operator") {
  const auto roles = [](const char* name, numeric t) {
    std::string s;
    for (const tensor& x : make_operands(op::parse(name), t).inputs) {
      s += std::string("swvi").substr(static_cast<std::size_t>(x.part), 1);
      s += std::string(benanza::name(x.type)) + ' ';
    }
    return s;
  };
  CHECK(roles("Conv/1x4x5x5-6x3x3-s1-b", numeric::u8s8u8) == "su8 ws8 vf32 ");
  CHECK(roles("ConvTranspose/1x4x5x5-6x3x3-s1", numeric::f32) == "sf32 wf32 ");
  CHECK(roles("Gemm/2x3x4-c1x3-w", numeric::bf16) == "sbf16 wbf16 vf32 ");
  CHECK(roles("Gemm/2x3x4", numeric::s8s8s8) == "ss8 ss8 ");
  CHECK(roles("MatMul/2x3-3x4-w", numeric::f16) == "sf16 wf16 ");
  CHECK(roles("BatchNormalization/1x4x5", numeric::bf16) == "sbf16 vf32 vf32 vf32 vf32 ");
  CHECK(roles("LayerNormalization/3x4-a1-b", numeric::bf16) == "sbf16 vf32 vf32 ");
  CHECK(roles("LayerNormalization/3x4-a1", numeric::f32) == "sf32 vf32 ");
  CHECK(roles("RMSNormalization/3x4-a1", numeric::f16) == "sf16 vf32 ");
  CHECK(roles("GroupNormalization/1x4x3-g2", numeric::f32) == "sf32 vf32 vf32 ");
  CHECK(roles("InstanceNormalization/1x4x3", numeric::f32) == "sf32 vf32 vf32 ");
  CHECK(roles("Attention/1x2x3x4", numeric::bf16) == "sbf16 sbf16 sbf16 ");
  CHECK(roles("Attention/1x2x3x4-mask3x3", numeric::f32) == "sf32 sf32 sf32 sf32 ");
  CHECK(roles("Attention/1x2x3x4-lengths-mask3x3-bool", numeric::bf16) ==
        "sbf16 sbf16 sbf16 sbool is64 ");
  CHECK(roles("RotaryEmbedding/1x2x3x4-t9", numeric::f32) == "sf32 sf32 sf32 is64 ");
  CHECK(roles("LinearAttention/1x2x3x4", numeric::bf16) == "sbf16 sbf16 sbf16 ");
  CHECK(roles("LinearAttention/1x2x3x4-delta-past-f32", numeric::bf16) ==
        "sbf16 sbf16 sbf16 sf32 sf32 sbf16 "); // the fifth is not there
  CHECK(roles("TfIdfVectorizer/9-o4-pool4-idf-s32", numeric::f32) == "ss32 vs64 vs64 vf32 ");
  CHECK(roles("Sum/4-n3", numeric::f32) == "sf32 sf32 sf32 ");
  CHECK(roles("Concat/7x3-a0-n2", numeric::f32) == "sf32 sf32 ");
  CHECK(roles("Concat/7x3-a0-n2-s64", numeric::bf16) == "ss64 ss64 ");
  CHECK(roles("Gather/7x3-2", numeric::e4m3) == "se4m3 is64 ");
  CHECK(roles("Gather/7x3-2-i32-bool", numeric::f32) == "sbool is32 ");
  CHECK(roles("ScatterND/4x5-2x1-i32", numeric::bf16) == "sbf16 is32 sbf16 ");
  CHECK(roles("GatherElements/4x5-2x5-bool", numeric::f32) == "sbool is64 ");
  CHECK(roles("TopK/4x5-a1-k2", numeric::f32) == "sf32 ");
  CHECK(roles("Compress/9-n9-k2", numeric::f32) == "sf32 ibool ");
  CHECK(roles("OneHot/4-k3-a1-i32", numeric::f32) == "ss32 is64 sf32 ");
  CHECK(roles("And/4-bool", numeric::f32) == "sbool sbool ");
  const auto row = make_operands(op::parse("LayerNormalization/2x3x4-a1-b"), numeric::f32);
  CHECK(row.inputs[1].dims == shape{3, 4});
  const auto heads = make_operands(op::parse("Attention/2x4x3x8-kv2-k5-v6-bshd"), numeric::f32);
  CHECK(heads.inputs[0].dims == shape{2, 3, 32});
  CHECK(heads.inputs[1].dims == shape{2, 5, 16});
  CHECK(heads.inputs[2].dims == shape{2, 5, 12});
  const auto parts = make_operands(op::parse("Concat/7x3-a0-n2"), numeric::f32);
  CHECK(parts.inputs[0].dims == shape{4, 3});
  CHECK(parts.inputs[1].dims == shape{3, 3});
}

TEST_CASE("values are in the function's domain and differ from each other") {
  for (const char* name :
       {"Conv/1x4x5x5-6x3x3-s1-b", "Gemm/2x3x4", "Relu/10x10", "Add/4x5", "Softmax/3x4-a1",
        "Gather/100x3-20", "Equal/4x4", "And/4-bool", "Sub/3x4-s64", "ReduceProd/3x4-a0-s32",
        "Div/2x2", "Log/9", "Concat/7x3-a0-n2-u16", "Slice/9-4-f64", "Pad/4-b1-e1-bool"})
    for (numeric t : {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::u8s8u8,
                      numeric::s8s8s8, numeric::e4m3})
      for (const tensor& x : make_operands(op::parse(name), t).inputs) {
        const auto v = values(x);
        CHECK_MESSAGE(std::set<double>(v.begin(), v.end()).size() > 1, name);
        for (double d : v)
          CHECK(std::isfinite(d));
      }
  for (double v : values(make_operands(op::parse("Log/1000"), numeric::f32).inputs[0]))
    CHECK(v > 0);
  for (double v : values(make_operands(op::parse("Div/1000-s64"), numeric::f32).inputs[1]))
    CHECK(v > 0);
  const auto norm = make_operands(op::parse("BatchNormalization/1x400x2"), numeric::f32);
  for (double v : values(norm.inputs[4]))
    CHECK(v > 0);
  double most = 0;
  for (double v : values(make_operands(op::parse("Gather/50x3-2000"), numeric::f32).inputs[1])) {
    CHECK(v >= 0);
    CHECK(v < 50);
    most = std::max(most, v);
  }
  CHECK(most == 49);
}

TEST_CASE("vectors of parameters lose nothing in the type of the case") {
  for (const char* name : {"Conv/1x4x5x5-60x3x3-s1-b", "Gemm/2x300x4-c1x300-w",
                           "BatchNormalization/1x400x2", "LayerNormalization/3x400-a1-b"})
    for (const auto& [type, kept] : {std::pair{numeric::f16, dtype::f16},
                                     {numeric::bf16, dtype::bf16},
                                     {numeric::e4m3, dtype::bf16}})
      for (const tensor& x : make_operands(op::parse(name), type).inputs) {
        if (x.part != role::vector) continue;
        const auto v = values(x);
        CHECK(std::set<double>(v.begin(), v.end()).size() > 30);
        std::byte narrow[2];
        for (const double d : v) {
          store(kept, narrow, 0, d);
          CHECK(load(kept, narrow, 0) == d);
        }
      }
}

TEST_CASE("weights keep the magnitude of what they multiply") {
  const auto o = make_operands(op::parse("Gemm/64x256x1024-w"), numeric::f32);
  CHECK(mean_square(values(o.inputs[0])) == doctest::Approx(1 / 3.).epsilon(0.02));
  CHECK(mean_square(values(o.inputs[1])) * 1024 == doctest::Approx(1.).epsilon(0.02));
}

TEST_CASE("quantised layers scale their results into the range") {
  CHECK(make_operands(op::parse("Conv/1x64x8x8-64x3x3-s1-p1"), numeric::f32).output_scale == 1);
  const double s =
      make_operands(op::parse("Conv/1x64x8x8-64x3x3-s1-p1"), numeric::u8s8u8).output_scale;
  CHECK(s < 1e-3);
  CHECK(std::log2(s) == std::round(std::log2(s)));
  CHECK(make_operands(op::parse("Add/4"), numeric::u8s8u8).output_scale == 0.5);
  CHECK(make_operands(op::parse("Add/4-s64"), numeric::u8s8u8).output_scale == 1);
  CHECK(make_operands(op::parse("MaxPool/1x3x8x8-2x2-s2"), numeric::s8s8s8).output_scale == 1);
}

TEST_CASE("storage of results") {
  CHECK(result_type(op::parse("Equal/4x5"), numeric::bf16) == dtype::boolean);
  CHECK(result_type(op::parse("And/4-bool"), numeric::f32) == dtype::boolean);
  CHECK(result_type(op::parse("Add/4-s64"), numeric::f32) == dtype::s64);
  CHECK(result_type(op::parse("Softmax/4-a0"), numeric::f16) == dtype::f16);
  CHECK(reduction_length(op::parse("Conv/1x64x8x8-64x3x3-s1-p1")) == 576);
  CHECK(reduction_length(op::parse("MaxPool/1x3x8x8-2x2-s2")) == 4);
  CHECK(reduction_length(op::parse("GlobalAveragePool/1x3x8x8")) == 64);
  CHECK(reduction_length(op::parse("ReduceSum/3x4x5-a0x2")) == 15);
  CHECK(reduction_length(op::parse("Relu/3")) == 1);
  CHECK(reduction_length(op::parse("LayerNormalization/2x3x4-a1")) == 12);
  CHECK(reduction_length(op::parse("GroupNormalization/1x8x3x3-g2")) == 36);
  CHECK(reduction_length(op::parse("InstanceNormalization/1x8x3x3")) == 9);
  CHECK(reduction_length(op::parse("Attention/1x2x3x4-k9-causal")) == 3 + 4);
}

TEST_CASE("a hundred million weights take a moment") {
  const auto start = std::chrono::steady_clock::now();
  const auto o = make_operands(op::parse("Gemm/1x4096x25088-tb-w"), numeric::f32);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  CHECK(o.inputs[1].bytes.size() == 411041792);
  // A quarter of a second on a quiet machine; memory that swaps or sanitizers may take longer.
  WARN(took.count() < 1);
}
