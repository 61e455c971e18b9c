// SPDX-License-Identifier: Apache-2.0
// Do the host's kernels compute what the reference does? Every output of many small layers, in
// every storage they take, on one and two threads.
#include "backend/built.hpp"

#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace benanza;
using namespace benanza::backend;

namespace {
std::vector<double> computed(const op::layer& l, numeric t, const operands& o, int threads) {
  const auto owned = test::built("host");
  library& lib = *owned;
  const setting s{.threads = threads};
  const auto offered = lib.enumerate(l, t, s);
  REQUIRE_MESSAGE(offered.size() == 1, op::name(l));
  CHECK(offered[0].fallback == "host");
  const auto prepared = lib.prepare(l, t, offered[0], o, s);
  CHECK(prepared->ran() == offered[0].id);
  prepared->run(2);
  std::vector<double> got;
  prepared->read(got);
  return got;
}

void check(const std::string& name, numeric t = numeric::f32) {
  const op::layer l = op::parse(name);
  const operands o = make_operands(l, t);
  const auto where = reference::positions_to_check(l, 1 << 20);
  std::vector<double> expected(where.size());
  reference::evaluate(l, t, o, where, expected);
  for (int threads : {1, 2}) {
    const auto got = computed(l, t, o, threads);
    const verdict v = compare(l, t, where, expected, got);
    const auto at = static_cast<std::size_t>(v.where);
    CHECK_MESSAGE(v.ok, name << " " << std::string(benanza::name(t)) << " t" << threads << " at "
                             << v.where << ": " << (got.empty() ? 0 : got[at]) << " for "
                             << (expected.empty() ? 0 : expected[at]) << ", " << v.worst);
  }
}

void check_floats(const std::string& name) {
  check(name, numeric::f32);
  check(name, numeric::bf16);
}

void check_all(const std::string& name) {
  check_floats(name);
  check(name, numeric::u8s8u8);
  check(name, numeric::s8s8s8);
}
} // namespace

TEST_CASE("movers copy every element of every width") {
  for (const char* name : {"Concat/1x10x3x4-a1-n3",
                           "Concat/7-a0-n7",
                           "Concat/2x3x5-a2-n2",
                           "Concat/1x64x28x28-a1-n4",
                           "Concat/40x4x100-a2-n3",
                           "Split/1x10x3x4-a1-n3",
                           "Split/9-a0-n2",
                           "Split/3x5x7-a2-n4",
                           "Split/40x96x17-a1-n3",
                           "Transpose/5-o0",
                           "Transpose/3x4-o1x0",
                           "Transpose/17x33-o1x0",
                           "Transpose/64x48-o1x0",
                           "Transpose/2x3x4x5-o0x2x1x3",
                           "Transpose/2x3x4x5-o3x2x1x0",
                           "Transpose/1x3x40x30-o0x2x3x1",
                           "Transpose/1x40x30x3-o0x3x1x2",
                           "Transpose/6x2x50-o2x0x1",
                           "Transpose/30x4x20-o2x1x0",
                           "Transpose/20x30x2-o1x0x2",
                           "Transpose/20x30x4-o1x0x2",
                           "Transpose/1x12x64x36-o0x2x1x3",
                           "Transpose/2x1x3x1x2x2x3x2-o7x5x3x1x0x2x4x6",
                           "Transpose/2x19x23-o0x2x1",
                           "Transpose/130x140-o1x0",
                           "Slice/5x6x7-3x6x7-from1x0x0",
                           "Slice/5x6x7-5x6x2-from0x0x3",
                           "Slice/10x20-5x10-by2x2",
                           "Slice/10x20-10x20-from9x19-bym1xm1",
                           "Slice/10x20-4x7-from9x1-bym2x3",
                           "Slice/8-8-from7-bym1",
                           "Slice/4x4-0x4",
                           "Slice/1x8x64x64-1x4x63x63-from0x2x1x0",
                           "Slice/3x64x64-3x64x32-by1x1x2",
                           "Pad/3x4-b1x2-e2x1",
                           "Pad/3x4-bm1x2-e2xm1",
                           "Pad/1x3x5x6-b0x0x1x1-e0x0x1x1",
                           "Pad/5-b2-e3-reflect",
                           "Pad/4x5-b2x3-e3x2-reflect",
                           "Pad/4x5-b2x3-e3x2-edge",
                           "Pad/4x5-b5x6-e6x7-wrap",
                           "Pad/4x5x6-b1x0x0-e2x0x0-edge",
                           "Pad/4x5x6-bm1xm1xm1-e2x2x2-reflect",
                           "Pad/6x7-bm2xm3-em1xm2",
                           "Pad/2x3x4-b0x0x1-e0x0x0",
                           "Pad/1x64x56x56-b0x0x1x1-e0x0x1x1",
                           "Gather/10x7-3x2",
                           "Gather/10x7-5-a1",
                           "Gather/10x7-scalar",
                           "Gather/1000x768-4x8",
                           "Gather/4x9x5-6-a1-i32",
                           "Gather/3x300-200x100-a1",
                           "Gather/64x3-9000-i32"}) {
    check_all(name);
    for (const char* type : {"s64", "s32", "bool", "f16", "u16", "f64"})
      check(std::string(name) + '-' + type);
  }
  for (const char* name :
       {"DepthToSpace/1x8x3x4-k2", "DepthToSpace/2x18x3x5-k3-crd", "SpaceToDepth/1x2x6x4-k2",
        "SpaceToDepth/2x3x8x12-k4", "SpaceToDepth/2x3x6x4-k2-crd", "DepthToSpace/1x64x20x20-k2",
        "SpaceToDepth/1x16x40x40-k2"})
    check_all(name);
}

TEST_CASE("resize blends and picks as ONNX says") {
  for (const char* sampling : {"", "-asymmetric", "-align_corners", "-pytorch_half_pixel"})
    for (const char* mode : {"", "-linear", "-cubic"})
      for (const char* dims :
           {"1x2x3x4-1x2x6x8", "1x2x5x7-1x2x3x3", "1x2x4x4-1x2x9x5", "1x2x4x4-1x2x4x7",
            "1x6x5x8-1x13x11x8", "1x1x3-1x1x1", "2x3x4x5x6-2x3x8x10x12", "7-20", "1x3x4x4-2x6x4x4"})
        check_all("Resize/" + std::string(dims) + mode + sampling);
  check_floats("Upsample/1x16x14x14-1x16x28x28-asymmetric");
  check("Resize/1x64x40x40-1x64x80x80-linear");
}

TEST_CASE("resize in its rarer forms") {
  for (const char* form :
       {"-floor", "-ceil", "-round_prefer_ceil", "-tf_half_pixel_for_nn", "-asymmetric-ceil",
        "-asymmetric-round_prefer_floor", "-align_corners-floor", "-cubic-exclude",
        "-cubic-align_corners-exclude", "-tf_crop_and_resize", "-linear-tf_crop_and_resize",
        "-cubic-tf_crop_and_resize-exclude", "-tf_crop_and_resize-ceil"})
    for (const char* dims :
         {"1x2x3x4-1x2x6x8", "1x2x5x7-1x2x3x3", "1x2x9-1x2x1", "2x3x4x5-2x3x8x5"})
      check_all("Resize/" + std::string(dims) + form);
  for (const char* form : {"-linear-antialias", "-cubic-antialias", "-linear-antialias-exclude",
                           "-cubic-antialias-exclude", "-linear-asymmetric-antialias",
                           "-cubic-align_corners-antialias"})
    for (const char* dims : {"1x2x9x12-1x2x4x5", "1x2x30x7-1x2x4x9", "3x40-3x7", "2x9x8x7-2x4x3x3"})
      check_all("Resize/" + std::string(dims) + form);
  check_floats("Resize/1x2x9x8-1x2x4x3-linear-tf_crop_and_resize-axes3x2");
  check("Resize/1x3x200x300-1x3x64x64-linear-antialias");
}

TEST_CASE("grids and regions") {
  for (const char* dims : {"1x2x7x9-5x6", "2x3x8x8-20x30", "1x5x4x3x6-3x4x5", "1x1x1x1-2x2"})
    for (const char* mode : {"", "-linear", "-cubic"})
      for (const char* outside : {"", "-border", "-reflection"})
        for (const char* corners : {"", "-align_corners"})
          check_floats("GridSample/" + std::string(dims) + mode + outside + corners);
  for (const char* name :
       {"AffineGrid/2x5x6", "AffineGrid/1x40x300-align_corners", "AffineGrid/2x3x4x5",
        "AffineGrid/1x1x7x1-align_corners", "RoiAlign/2x3x20x24-9x7x7-n2",
        "RoiAlign/1x5x33x17-4x3x5", "RoiAlign/1x2x20x20-5x2x2-half_pixel",
        "RoiAlign/2x2x20x20-5x3x3-n3-max-half_pixel", "RoiAlign/1x8x40x40-20x7x7-n2-half_pixel",
        "MaxRoiPool/2x3x20x24-9x7x7", "MaxRoiPool/1x2x9x9-4x12x12"})
    check_floats(name);
  for (const char* name : {"NonMaxSuppression/1x50x1-most50", "NonMaxSuppression/2x300x4-most20",
                           "NonMaxSuppression/1x64x3-most7-centred",
                           "NonMaxSuppression/1x1x1-most1", "NonMaxSuppression/1x9x2-most0"})
    check_floats(name);
}

TEST_CASE("columns, norms of windows, signals") {
  for (const char* name :
       {"Col2Im/1x2x8x9-2x3-s2x3", "Col2Im/2x3x9x9-3x3-s1-p1", "Col2Im/1x4x30-4-s3-p2x1-d2",
        "Col2Im/1x2x5x6x7-2x2x3-s1x2x1-p1", "Col2Im/1x16x40x40-3x3-s1-p1",
        "DeformConv/1x4x9x11-5x3x3-s1-p1", "DeformConv/2x6x8x7-4x3x2-s2x1-p1-d1x2-g2-og3-b-mask",
        "DeformConv/1x2x5x5-1x1x1-s1-mask", "DeformConv/1x16x30x30-24x3x3-s1-p1-b",
        "LpPool/1x3x9x8-3x3-s2-p1", "LpPool/2x2x30-power1-4-s3-d2-ceil",
        "LpPool/1x2x5x6x7-power3-3x2x3-s1x2x1-p1", "GlobalLpPool/2x3x7x7",
        "GlobalLpPool/1x2x90-power1", "GlobalLpPool/2x3x7x7-power4",
        "AveragePool/1x2x8x9-3x3-s2-p1-ceil-ip", "AveragePool/1x1x32x12-5x5-s3-d2-ceil-ip"})
    check_floats(name);
  for (const char* name : {"DFT/3x1x1-a1-n1",
                           "DFT/2x8x1-a1-n8",
                           "DFT/2x5x2-a1-n5",
                           "DFT/40x16x1-a1-n16-one",
                           "DFT/3x16x4x2-a1-n16",
                           "DFT/2x30x1-a1-n64",
                           "DFT/2x100x2-a1-n60-inverse",
                           "DFT/5x400x1-a1-n400-one",
                           "DFT/2x201x2-a1-n400-inverse-one",
                           "DFT/2x37x2-a1-n37",
                           "DFT/2x4x2-a1-n7-inverse-one",
                           "DFT/3x74x1-a1-n74",
                           "DFT/1x1000x2-a1-n1021-inverse",
                           "DFT/20x512x1-a1-n512",
                           "Det/2x2",
                           "Det/3x4x5x5",
                           "Det/70x3x3",
                           "Det/2x40x40",
                           "Det/4x1x1",
                           "Det/2x0x0"})
    check_floats(name);
  for (const char* name : {"MaxUnpool/1x2x4x4-1x2x8x8", "MaxUnpool/2x3x5-2x3x11-2x3x13",
                           "MaxUnpool/1x30x20x20-1x30x40x40"})
    check_all(name);
}

TEST_CASE("runs of elementwise layers") {
  for (const char* name :
       {"Sigmoid+Mul/3x5x7", "Sigmoid+Mul/1x64x56x56", "Relu+Tanh/1", "Add+Relu/40x1000",
        "Square+Add+Sqrt/1x16x7x7-w1", "Add+Mul+Sub/4x1000-w1x1000-ww4x1", "Sub+Exp/4x1000-4x1",
        "Sub+Exp/1x7-5x7", "Div+Erf+Add+Mul+Mul/1x197x3072-1-ww1-wwww1", "Sum+Relu/4x333-n3",
        "HardSigmoid+Mul/1x72x28x28-w1x72x1x1", "Exp+Add/2x3x4x5-w3x1x5"})
    check_floats(name);
  CHECK(test::built("host")
            ->enumerate(op::parse("Conv+Relu/1x8x9x9-8x3x3-s1"), numeric::f32, {})
            .empty());
}

namespace {
constexpr const char* whole_types[] = {"-s8",  "-u8",  "-s16", "-u16",
                                       "-s32", "-u32", "-s64", "-u64"};
} // namespace

TEST_CASE("casts between all types, on one thread and two") {
  const char* const types[] = {"real", "s8",  "u8",  "s16",  "u16", "s32",
                               "u32",  "s64", "u64", "bool", "f64"};
  for (const std::string from : types)
    for (const std::string to : types) {
      if (from == to) continue;
      check("Cast/1003-" + from + '-' + to);
      if (from == "real" && to != "f64") check("Cast/1003-real-" + to, numeric::bf16);
      if (to == "real" && from != "f64") check("Cast/1003-" + from + "-real", numeric::bf16);
      const bool exact = from != "f64"; // which is not rounded twice
      if (exact && (from == "real" || to == "real"))
        check("Cast/1003-" + from + '-' + to, numeric::f16);
    }
  for (const char* name :
       {"Cast/40x1003-real-s32", "Cast/40x1003-bool-s64", "Cast/1003-f32-f16", "Cast/1003-f16-f32",
        "Cast/1003-bf16-f16", "Cast/70000-f32-bf16", "Cast/9-f16-f64", "Cast/scalar-f64-f32"})
    check(name);
  for (const char* name : {"Cast/1003-s32-real", "Cast/1003-bool-real"}) {
    check(name, numeric::u8s8u8);
    check(name, numeric::s8s8s8);
  }
}

TEST_CASE("casts from and to elements of a byte and less") {
  const std::string narrow[] = {"e4m3", "e5m2", "e4m3z", "e5m2z", "e8m0",
                                "e2m1", "s2",   "u2",    "s4",    "u4"};
  for (const std::string& one : narrow) {
    for (const std::string& other : narrow)
      if (one != other) check("Cast/1003-" + one + '-' + other);
    for (const std::string wide :
         {"real", "f64", "f16", "bf16", "s8", "u16", "s32", "u64", "bool"}) {
      check("Cast/1003-" + one + '-' + wide);
      check("Cast/1003-" + wide + '-' + one);
    }
  }
  for (const char* name :
       {"Cast/70001-f32-s4", "Cast/70003-u2-f32", "Cast/1-s4-real", "Cast/1-f32-e2m1",
        "Cast/0-f32-s2", "Cast/scalar-u2-u4", "Cast/1003-f64-f16", "Cast/1003-f64-bf16"})
    check(name);
}

TEST_CASE("every float becomes the narrow float that the reference gives") {
  for (const char* type : {"e4m3", "e5m2", "e4m3z", "e5m2z", "e8m0", "e2m1", "s4", "u2"}) {
    const op::layer l = op::parse("Cast/65536-f32-" + std::string(type));
    operands o = make_operands(l, numeric::f32);
    for (std::uint32_t low :
         {0u, 1u, 0x8000u, 0xffffu}) { // all first halves of bits, ends and ties
      for (std::uint32_t high = 0; high < 65536; ++high)
        o.inputs[0].as<float>()[high] = std::bit_cast<float>(high << 16 | low);
      const auto got = computed(l, numeric::f32, o, 1);
      int wrong = 0;
      for (std::size_t i = 0; i < got.size(); ++i) {
        const double right = reference::at(l, o, static_cast<std::int64_t>(i));
        wrong += !(got[i] == right || (std::isnan(got[i]) && std::isnan(right)));
      }
      CHECK_MESSAGE(wrong == 0, op::name(l) << ", " << low);
    }
  }
}

TEST_CASE("doubles and whole numbers are rounded once") {
  const op::layer l = op::parse("Cast/4-f64-f16"), w = op::parse("Cast/4-s32-bf16");
  operands o = make_operands(l, numeric::f32), p = make_operands(w, numeric::f32);
  const double doubles[] = {2049 + 0x1p-30, -2049 - 0x1p-30, 1e300, 0x1p-25 + 0x1p-60};
  std::copy_n(doubles, 4, o.inputs[0].as<double>().begin());
  CHECK(computed(l, numeric::f32, o, 1) == std::vector<double>{2050, -2050, HUGE_VAL, 0x1p-24});
  const std::int32_t whole[] = {(257 << 22) + 1, -(257 << 22) - 1, 257 << 22, 3};
  std::copy_n(whole, 4, p.inputs[0].as<std::int32_t>().begin());
  CHECK(computed(w, numeric::f32, p, 1) ==
        std::vector<double>{258. * 0x1p22, -258. * 0x1p22, 256. * 0x1p22, 3});
}

TEST_CASE("reals that whole numbers cannot hold become their ends") {
  const op::layer l = op::parse("Cast/18-real-s32");
  operands o = make_operands(l, numeric::f32);
  const float given[] = {3e9f, -3e9f, 2147483520.f, -2147483648.f, 1e30f, -0.99f};
  for (std::size_t i = 0; i < 18; ++i)
    o.inputs[0].as<float>()[i] = given[i % 6];
  const std::vector<double> right{2147483647,   -2147483648., 2147483520,
                                  -2147483648., 2147483647,   0};
  const auto got = computed(l, numeric::f32, o, 1);
  for (std::size_t i = 0; i < 18; ++i)
    CHECK(got[i] == right[i % 6]);
}

TEST_CASE("choices and repetitions of every width") {
  for (const char* name : {"Where/5-5-5",
                           "Where/3x4-4-3x1",
                           "Where/1-3x4-4",
                           "Where/4-1-1",
                           "Where/3x1-3x400-1",
                           "Where/2x3x400-1-400",
                           "Where/1x1x30x30-2x4x30x30-1",
                           "Where/40000-40000-1",
                           "Where/2x1x3x1-1x5x1x7-2x5x3x7",
                           "Expand/5-3x5",
                           "Expand/3x1-3x4",
                           "Expand/3x1-3x700",
                           "Expand/1-40000",
                           "Expand/1x8x1x64-2x8x4x64",
                           "Expand/2x1x3x1x2-2x4x3x5x2",
                           "Expand/7x5-7x5",
                           "Tile/5-15",
                           "Tile/3x4-6x12",
                           "Tile/2x3x2-4x3x6",
                           "Tile/70x30-140x90",
                           "Tile/1x64-100x64",
                           "Tile/3-0"}) {
    check_all(name);
    for (const char* type : {"s64", "s32", "bool", "f16", "u16", "f64"})
      check(std::string(name) + '-' + type);
  }
}

TEST_CASE("reductions of nothing, and a large maximum under a logarithm") {
  for (const char* name : {"ReduceSum/2x0x4-a1", "ReduceProd/2x0x4-a1", "ReduceL1/2x0-a1",
                           "ReduceL2/2x0x4-a1", "ReduceMax/2x0x4-a1", "ReduceMin/0x3-a0",
                           "ReduceLogSum/2x0x4-a1", "ReduceLogSumExp/2x0x4-a1"})
    check_floats(name);
  for (const char* name : {"ReduceMax/2x0x4-a1-s32", "ReduceMin/2x0-a1-s64", "ReduceSum/0-a0-s32"})
    check(name);
  for (const char* name : {"LogSoftmax/2x4-a1", "LogSoftmax/2x40-a1", "LogSoftmax/4x32-a0"}) {
    const op::layer l = op::parse(name);
    operands o = make_operands(l, numeric::f32);
    for (float& v : o.inputs[0].as<float>())
      v += 16384; // exact
    const auto where = reference::positions_to_check(l, 1000);
    std::vector<double> expected(where.size());
    reference::evaluate(l, numeric::f32, o, where, expected);
    const auto got = computed(l, numeric::f32, o, 1);
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-5));
  }
}

TEST_CASE("functions stay within their stated errors") {
  for (const auto family : op::unary_families) {
    const auto f = op::unary::of(family)->function;
    if (f == op::unary_function::logical_not || f == op::unary_function::bitwise_not) continue;
    for (const char* dims : {"/1", "/3x5x7", "/4x1000", "/40000"})
      if (f < op::unary_function::tan)
        check_all(std::string(family) + dims);
      else
        check_floats(std::string(family) + dims);
  }
  for (const char* family : {"Abs", "Neg", "Sign", "Relu", "Clip", "BitwiseNot"})
    for (const char* type : whole_types)
      check(std::string(family) + "/5x77" + type);
  check("Not/5x77-bool");
  check("Not/scalar-bool");
}

TEST_CASE("operands broadcast on either side") {
  for (const auto family : op::binary_families) {
    const std::string f(family);
    const op::binary its = *op::binary::of(family);
    const bool logical = its.truth() && !its.comparison();
    const bool rest =
        its.function == op::binary_function::mod || its.function == op::binary_function::fmod;
    if (its.function > op::binary_function::logical_xor && !rest) continue;
    for (const char* dims : {"/5",
                             "/1",
                             "/3x4-4",
                             "/4-3x4",
                             "/3x4-3x1",
                             "/3x1-3x4",
                             "/3x1-1x4",
                             "/1x4-3x1",
                             "/1-3x4",
                             "/3x4-1",
                             "/2x3x4x5-3x1x1",
                             "/2x3x1x5-1x3x4x1",
                             "/1x64x14x14-64x1x1",
                             "/64x1x1-1x64x14x14",
                             "/2x1x3x1x2x1x3x1-1x2x1x2x1x3x1x2",
                             "/40000",
                             "/3x9000-3x1",
                             "/3x9000-9000",
                             "/2000x3-3",
                             "/300x700-700",
                             "/1x300-200x1"}) {
      if (rest)
        check_floats(f + dims);
      else if (!logical)
        check_all(f + dims);
      if (!logical && !rest && f != "Mean")
        for (const char* type : {"-s64", "-s32"})
          check(f + dims + type);
      if (logical || f == "Equal") check(f + dims + "-bool");
    }
  }
  for (const auto family : op::binary_families) {
    const op::binary its = *op::binary::of(family);
    if ((its.truth() && !its.comparison()) || family == "Mean") continue;
    for (const char* dims : {"/300", "/3x70-70", "/1-40"})
      for (const char* type : whole_types)
        check(std::string(family) + dims + type);
  }
  for (const char* name : {"Sum/3x4x5-n3", "Max/40x1000-n4", "Min/3x4-4-n3", "Mean/2x3x400-n5",
                           "Mean/3x4-n1", "Sum/5x1-5x3000-n3", "Max/7-n1"})
    check_all(name);
}

TEST_CASE("softmax runs along any axis") {
  for (const char* family : {"Softmax/", "LogSoftmax/"})
    for (const char* key :
         {"1x1000-a1", "5-a0", "1-a0", "3x4-a0", "3x4-a1", "2x21x16x20-a1", "200x10-a1",
          "4x100x3-a1", "4x3x100-a1", "2x8x30x30-a3", "2x3x4x5x2-a2", "1x19x100x100-a1",
          "3000x3-a1", "17x5000-a0", "2x3000x17-a1", "6x7x1-a2"})
      check_all(std::string(family) + key);
}

TEST_CASE("reductions run over any axes") {
  for (const auto family : op::reduction_families)
    for (const char* key :
         {"/5-a0", "/3x4-a0", "/3x4-a1", "/3x4-a0x1", "/3x4", "/2x64x7x7-a2x3", "/2x5x30x40-a1",
          "/2x3x4x5x6-a1x3", "/2x3x4x5x6-a0x2x4", "/50000-a0", "/3x20000-a1", "/20000x3-a0",
          "/2x3x5000-a0x2", "/1x1-a1", "/100x1500-a0", "/2x1x4x1x3-a1x2", "/16x197x32-a2"}) {
      const std::string name = std::string(family) + key;
      check_floats(name);
      if (family == "ReduceMean" || family == "ReduceMax" || family == "ReduceSum") check_all(name);
      if (family != "ReduceL2" && family.substr(0, 9) != "ReduceLog")
        for (const char* type : {"-s64", "-s32"})
          check(name + type);
    }
}

TEST_CASE("reductions of whole numbers of every width") {
  for (const char* key : {"/3x4-a0", "/3x700-a1", "/2x5x30x40-a1", "/9000-a0", "/2x0-a1"}) {
    for (const char* family : {"ReduceSum", "ReduceMean", "ReduceProd", "ReduceL1", "ReduceMin"})
      for (const char* type : {"-u32", "-u64"})
        if (std::string(key) != "/2x0-a1" || std::string(family) != "ReduceMean")
          check(std::string(family) + key + type);
    for (const char* type : {"-s16", "-u16", "-bool", "-u64"})
      check(std::string("ReduceMax") + key + type), check(std::string("ReduceMin") + key + type);
  }
  const op::layer l = op::parse("ReduceMax/2x3-a1-u64");
  operands o = make_operands(l, numeric::f32);
  o.inputs[0].as<std::uint64_t>()[1] = std::uint64_t{3} << 62; // no less for its first bit
  CHECK(computed(l, numeric::f32, o, 1)[0] == 3 * 0x1p62);
}

TEST_CASE("normalizations and global pooling") {
  check("ReduceMax/3x40-a0-u8");
  check("ReduceMin/3x40-a1-s8");
  for (const char* name :
       {"BatchNormalization/2x5x7x9", "BatchNormalization/3x40", "BatchNormalization/1x8x3000",
        "BatchNormalization/1x1", "GlobalAveragePool/2x30x7x7", "GlobalMaxPool/2x30x7x7",
        "GlobalAveragePool/1x3x80x90", "GlobalMaxPool/1x2x3", "GlobalAveragePool/1x4x3x3x3"})
    check_all(name);
  for (const char* name :
       {"LayerNormalization/3x40-a1-b", "LayerNormalization/2x3x7x11-a2",
        "LayerNormalization/197x768-a1-b", "LayerNormalization/2x5000-a1-b",
        "LayerNormalization/4x6x9-a0", "LayerNormalization/3x1-a1-b", "RMSNormalization/3x40-a1",
        "RMSNormalization/2x3000-a1", "RMSNormalization/128x256-a1", "RMSNormalization/2x3x5-a0",
        "GroupNormalization/2x6x5x7-g2", "GroupNormalization/1x8x40x50-g4",
        "GroupNormalization/3x12-g3", "GroupNormalization/1x4x3000",
        "InstanceNormalization/2x5x7x9", "InstanceNormalization/1x3x60x70",
        "InstanceNormalization/1x2x3", "InstanceNormalization/1x40x2x2"})
    check_all(name);
  check_floats("LayerNormalization/3x40-a1-b-stats");
  check_floats("LayerNormalization/2x3x5000-a2-stats");
  for (const char* name :
       {"MaxPool/1x3x9x8-3x3-s2-p1-indices", "MaxPool/2x3x40x33-2x2-s1-indices",
        "MaxPool/1x2x30-4-s3-p3x2-d2-ceil-indices", "MaxPool/1x2x5x6x7-3x2x3-s1x2x1-p1-cindices",
        "MaxPool/1x1x20x20-5x5-s1-p2-cindices"})
    check_floats(name);
  for (const char* name :
       {"LRN/1x96x13x15-n5", "LRN/2x7x9-n4", "LRN/1x3x50x50-n1", "LRN/1x600x4-n5"})
    check_floats(name);
}

TEST_CASE("attention of every form, in whole blocks and parts of them") {
  for (const char* name : {"Attention/1x2x3x4",
                           "Attention/1x1x1x1",
                           "Attention/2x3x197x64",
                           "Attention/1x2x130x32-k70",
                           "Attention/1x4x96x64-kv2-k128-v96",
                           "Attention/2x8x1x64-kv2-k300",
                           "Attention/1x8x1x80-k65-v40",
                           "Attention/1x12x6x64-kv3-k64",
                           "Attention/1x2x200x16-causal",
                           "Attention/1x2x30x16-k200-causal",
                           "Attention/1x2x200x16-k30-causal",
                           "Attention/1x4x150x20-kv2-causal-bshd",
                           "Attention/2x4x33x64-kv2-k65-v48-bshd",
                           "Attention/1x6x1x64-kv2-k130-bshd",
                           "Attention/2x3x100x24-k90-mask2x3x100x90",
                           "Attention/2x3x100x24-k90-mask90",
                           "Attention/2x3x70x24-k90-mask70x1",
                           "Attention/2x4x70x17-kv2-k70-causal-bshd-mask1x4x70x70",
                           "Attention/1x2x70x16-k200-causal-p130",
                           "Attention/1x2x70x16-k300-causal-p100-w33",
                           "Attention/2x2x70x16-k90-causal-p3-w9-lengths",
                           "Attention/2x4x70x16-kv2-k90-cap",
                           "Attention/2x4x70x16-kv2-k90-lengths",
                           "Attention/3x2x4x16-k2-causal-lengths",
                           "Attention/2x2x99x16-k130-causal-w70-lengths",
                           "Attention/2x8x3x64-kv2-k300-causal-p200-bshd-cached",
                           "Attention/2x3x100x24-k90-mask2x3x100x90-bool",
                           "Attention/2x3x70x24-k3-mask70x1-bool",
                           "Attention/2x3x100x24-k90-causal-cap-lengths-bshd-mask1x1x100x90-bool"})
    check_floats(name);
}

TEST_CASE("rotary embeddings of every form, in whole vectors and parts of them") {
  for (const char* name :
       {"RotaryEmbedding/1x2x3x64", "RotaryEmbedding/2x3x5x20-bshd", "RotaryEmbedding/1x1x1x2",
        "RotaryEmbedding/1x2x3x64-interleaved", "RotaryEmbedding/2x3x5x70-r38-interleaved-own",
        "RotaryEmbedding/2x3x5x70-r38-t9-bshd", "RotaryEmbedding/1x2x3x2100-own"})
    check_floats(name);
}

TEST_CASE("linear attention by every rule, in whole vectors and parts of them") {
  for (const char* key :
       {"1x2x3x64", "2x6x5x20-kv2-v33", "1x5x4x7-kv1-v100-gated",
        "1x4x9x16-v16-gated-per_head-past", "2x3x7x33-kv3-v5-delta",
        "1x6x6x8-kv2-v40-delta-one_rate-past-f32", "1x1x1x1-gated_delta",
        "2x4x300x24-kv2-v70-gated_delta-per_head-past", "1x8x6x128-kv4-v128-gated_delta-past-f32"})
    check_floats(std::string("LinearAttention/") + key);
}

TEST_CASE("n-grams are counted and weighed") {
  for (const char* key :
       {"12-o7-min2-max2-pool4x3", "30x200-o40-max3-skip2-pool8x30x20-tfidf", "1-o1-pool1",
        "5x90-o9-min2-max4-skip90-pool3x9x9x9-s32", "3x100-o20-max2-pool5x50-idf-s32"})
    check(std::string("TfIdfVectorizer/") + key);
}

TEST_CASE("what indices name is read and written, in every width") {
  for (const char* name :
       {"GatherElements/5x9x4-5x3x2-a1", "GatherElements/70x300-70x90-a1",
        "GatherElements/300x70-9x70", "GatherElements/90000-70000-i32", "GatherND/7x5x3-20x2",
        "GatherND/4x5x300-4x60x1-b1-i32", "GatherND/30x400-40x1", "ScatterElements/5x9x4-5x3x2-a1",
        "ScatterElements/70x300-70x100-a1", "ScatterElements/90x170-9x170-i32",
        "ScatterElements/7-20", "ScatterND/7x5x3-20x2", "ScatterND/90x400-30x1-i32",
        "ScatterND/90000-500x1", "ScatterND/6x2-9x1", "TensorScatter/2x3x40x64-a2-n1-at",
        "TensorScatter/3x50x40-a1-n20-at-circular", "TensorScatter/2x5x3-a2-n3"}) {
    check_all(name);
    for (const char* type : {"s64", "bool"})
      check(std::string(name) + '-' + type);
  }
  for (const char* key : {"ScatterElements/5x9x4-5x30x2-a1-", "ScatterElements/90x170-9x170-",
                          "ScatterND/90x400-30x1-", "ScatterND/7x5x3-90x2-"}) {
    for (const char* reduction : {"add", "mul", "max", "min"})
      for (const char* type : {"", "-i32-s64", "-s32"})
        check(std::string(key) + reduction + type);
    for (const char* reduction : {"add", "mul", "max", "min"})
      for (const numeric narrow : {numeric::f16, numeric::bf16})
        check(std::string(key) + reduction, narrow);
    check(std::string(key) + "max", numeric::u8s8u8);
    check(std::string(key) + "min-s8");
  }
}

TEST_CASE("running sums and products along any axis") {
  for (const char* family : {"CumSum", "CumProd"})
    for (const char* key :
         {"/5-a0", "/3x40-a1", "/3x40-a0", "/2x9x700-a1", "/3x2500-a1", "/1-a0", "/3x9x1-a1"})
      for (const char* way : {"", "-exclusive", "-reverse", "-exclusive-reverse"}) {
        check_floats(std::string(family) + key + way);
        for (const char* type : {"-s32", "-s64"})
          check(std::string(family) + key + way + type);
      }
}

TEST_CASE("elements are found along any axis and in every type") {
  for (const char* family : {"ArgMax", "ArgMin"})
    for (const char* key : {"/5-a0", "/30x1500-a1", "/3x40-a0", "/2x9x700-a1", "/1x1-a1"})
      for (const char* last : {"", "-last"}) {
        check_all(std::string(family) + key + last);
        check(std::string(family) + key + last, numeric::f16);
        for (const char* type : {"-s16", "-u16", "-s32", "-u32", "-s64", "-u64", "-f64"})
          check(std::string(family) + key + last + type);
      }
  for (const char* key :
       {"/5-a0-k5", "/4x900-a1-k7", "/3x40-a0-k1", "/2x30x7-a1-k30", "/4x5-a1-k0"})
    for (const char* way : {"", "-smallest-unsorted"}) {
      check_all(std::string("TopK") + key + way);
      check(std::string("TopK") + key + way, numeric::f16);
      for (const char* type : {"-s32", "-u64", "-f64", "-bool", "-s16"})
        check(std::string("TopK") + key + way + type);
    }
  check("TopK/2x9000-a1-k400");
  for (const char* name :
       {"NonZero/7", "NonZero/3x5x40", "NonZero/2x60x300", "Compress/50x7-n40-k13-a0",
        "Compress/3x40x70-n40-k40-a1", "Compress/400-n300-k0", "Compress/30x40x50-n50-k20-a2",
        "Unique/300-n4", "Unique/40x3-a0-n4-unsorted", "Unique/3x40-n2-unsorted",
        "Unique/2x30x2-a1-n3"}) {
    check_all(name);
    for (const char* type : {"-s64", "-bool", "-f16"})
      check(std::string(name) + type);
  }
}

TEST_CASE("tensors are filled by place, in every width") {
  for (const char* name :
       {"Trilu/5x7", "Trilu/3x40x30-lower-k2", "Trilu/2x200x300-km50", "Trilu/4x5-k9",
        "Trilu/4x5-lower-km9", "ReverseSequence/9x4", "ReverseSequence/4x9-bt",
        "ReverseSequence/30x4x70", "ReverseSequence/4x300x33-bt", "OneHot/7-k20-a1",
        "OneHot/30x40-k50-a2", "OneHot/30x40-k50-a1-i32", "OneHot/5x6-k3-a0-ireal",
        "OneHot/scalar-k9-a0", "OneHot/4x1-k5-a1"}) {
    check_all(name);
    for (const char* type : {"-s64", "-u16"})
      check(std::string(name) + type);
  }
}

TEST_CASE("quantization, whole and in runs") {
  for (const char* name : {"QuantizeLinear/2x30x9x9-u8-z",
                           "QuantizeLinear/2x30x9x9-s8-a1-z",
                           "QuantizeLinear/40x70-u8",
                           "QuantizeLinear/40x70-u8-a1-z",
                           "QuantizeLinear/3x64x48-s8-a1-k16-z",
                           "QuantizeLinear/3x64x48-s16-a2-k16",
                           "QuantizeLinear/7x5-u16-a0-z",
                           "QuantizeLinear/1-u8",
                           "DequantizeLinear/2x30x9x9-u8-z",
                           "DequantizeLinear/40x70-s8-a1-z",
                           "DequantizeLinear/40x70-s8-a1",
                           "DequantizeLinear/3x64x48-s8-a1-k16-z",
                           "DequantizeLinear/400-s32",
                           "DequantizeLinear/4x5-s16-z",
                           "QuantizeLinear/40x70-e4m3-a1",
                           "QuantizeLinear/4001-e5m2z",
                           "DequantizeLinear/40x71-e4m3z-a0-z",
                           "QuantizeLinear/1x3x2x2-e2m1-a1",
                           "QuantizeLinear/5-s2",
                           "DequantizeLinear/3x2x7-e2m1-z",
                           "QuantizeLinear/3x5x7-s4-a1-z",
                           "QuantizeLinear/7x5-u4-a0-z",
                           "QuantizeLinear/3x4099-u2-a1-z",
                           "QuantizeLinear/4x4098-s4-a1-k6-z",
                           "QuantizeLinear/1-u4",
                           "DequantizeLinear/3x5x7-s2-a1-z",
                           "DequantizeLinear/40x71-u4-a0-z",
                           "DequantizeLinear/256x512-u4-a1-k32-z",
                           "DequantizeLinear/6x9x5-s4-a1-k3",
                           "DequantizeLinear/7-u2",
                           "DequantizeLinear/0x3-s4"})
    check_floats(name);
  for (const char* name :
       {"DynamicQuantizeLinear/3x70000", "DynamicQuantizeLinear/7", "QLinearAdd/2x30x9x9-u8u8u8",
        "QLinearAdd/2x30x9x9-s8s8s8-za-zb-zr-relu", "QLinearMul/2x30x9x9-1x30x1x1-u8u8u8-za",
        "QLinearAdd/5-8x5-s8s8s8-zb", "QLinearMul/1-9x9-u8u8u8-zr"})
    check(name);
}

TEST_CASE("products of codes whose second operand has a zero point") {
  for (const char* name :
       {"MatMulInteger/4x3-3x2-u8u8s32-za-zb", "MatMulInteger/2x7x33-33x50-w-s8s8s32-zb",
        "MatMulInteger/1x300-300x200-w-u8u8s32", "MatMulInteger/3x1x100x40-5x40x150-u8u8s32-za-zb",
        "QLinearMatMul/130x65-65x90-u8u8u8-pc-za-zb-zr", "QLinearMatMul/2x9x8-8x5-w-s8s8s8-zb-relu",
        "QLinearMatMul/9x8-8x40-w-u8u8real-pc-za-zb", "QGemm/7x40x33-tb-c1x40-w-u8u8u8-pc-zb-zr",
        "QGemm/7x40x33-ta-c7x1-u8u8s8-zb-relu", "ConvInteger/1x1x3x3-2x2x2-s1-p1-u8u8s32-pc-za-zb",
        "QLinearConv/2x6x9x11-8x3x3-s2-p1-d2-g2-b-u8u8u8-pc-za-zb-zr",
        "QLinearConv/1x16x20x20-40x3x3-s1-p1-s8s8s8-zb-relu", "QLinearConv/2x5x9-3x4-s3-p2-u8u8s8",
        "ConvInteger/1x3x4x5x6-4x2x3x2-s1-p1-s8u8s32-za-zb"})
    check(name);
}

TEST_CASE("products with weights of a few bits") {
  for (const char* name : {"MatMulNBits/1x64-n32-k32", "MatMulNBits/1x1x100-n70-k16-z",
                           "MatMulNBits/6x2x33-n17-k32-b", "MatMulNBits/19x96-n100-q8-k32-z-b",
                           "MatMulNBits/3x256-n8-q8-k128", "MatMulNBits/1x2048-n300-k128-z"})
    check(name);
}

TEST_CASE("recurrent layers of every form") {
  for (const char* name :
       {"LSTM/7x1x10-h40-b", "LSTM/300x3x60-h33-b-n3", "LSTM/7x2x5-h33-reverse-b-h0-c0-peep-n3",
        "LSTM/9x3x5-h20-bidirectional-b-len-h0-nt-n3", "LSTM/7x2x5-h8-coupled-clip-n2",
        "LSTM/5x2x3-h4-f8x0x6", "GRU/12x2x30-h40-b-n2",
        "GRU/7x3x10-h20-bidirectional-b-h0-after-n2", "GRU/7x3x10-h20-reverse-len-clip-nt-n2",
        "RNN/7x3x10-h20-b-len-h0-n2", "RNN/7x3x10-h20-bidirectional-n2-f0x2"})
    check(name);
}

TEST_CASE("what the host cannot run is not offered") {
  const auto owned = test::built("host");
  library& lib = *owned;
  CHECK(lib.name() == "host");
  CHECK_FALSE(lib.facts().empty());
  for (const char* name :
       {"Conv/1x3x8x8-4x3x3-s1", "MatMul/2x3-3x4", "Flatten/1x2x3-1x6", "MaxPool/1x3x8x8-2x2-s2",
        "Exp/5-s64", "And/5", "BitwiseAnd/5", "BitwiseNot/5", "Mean/5-u16"}) {
    const op::layer l = op::parse(name);
    CHECK(lib.enumerate(l, numeric::f32, {}).empty());
    CHECK_THROWS_AS(lib.prepare(l, numeric::f32, {}, {}, {}), error);
  }
  for (const char* name : {"Transpose/2x3-o1x0-s4", "Concat/4-a0-n2-u2", "Gather/4-2-e2m1"})
    CHECK(lib.enumerate(op::parse(name), numeric::f32, {}).empty());
  CHECK(lib.enumerate(op::parse("Relu/5"), numeric::f16, {}).empty());
  CHECK(lib.enumerate(op::parse("Attention/1x2x3x4"), numeric::u8s8u8, {}).empty());
  CHECK(lib.enumerate(op::parse("RMSNormalization/3x4-a1"), numeric::f16, {}).empty());
  CHECK(lib.enumerate(op::parse("Relu/5"), numeric::tf32, {}).empty());
  CHECK(lib.enumerate(op::parse("Asin/5"), numeric::u8s8u8, {}).empty());
  const op::layer gather = op::parse("Gather/10-3");
  operands o = make_operands(gather, numeric::f32);
  o.inputs[1].as<std::int64_t>()[1] = 10;
  CHECK_THROWS_AS(
      lib.prepare(gather, numeric::f32, lib.enumerate(gather, numeric::f32, {})[0], o, {}), error);
  CHECK(lib.enumerate(op::parse("Slice/5-3"), numeric::f16, {}).size() == 1);
}

TEST_CASE("activations are the memory that is read and written") {
  for (const std::string name : {"Relu/1x8x6x6", "Concat/1x8x6x6-a1-n2", "Mul/1x8x6x6-1x8x1x1"}) {
    CAPTURE(name);
    const op::layer l = op::parse(name);
    const auto owned = test::built("host");
    library& lib = *owned;
    const auto a = lib.enumerate(l, numeric::f32, {.threads = 1}).at(0);
    const auto p = lib.prepare(l, numeric::f32, a, make_operands(l, numeric::f32), {.threads = 1});
    const auto all = [&](auto is) {
      std::vector<double> out;
      p->read(out);
      return std::all_of(out.begin(), out.end(), is);
    };
    const auto none = [](double v) { return v == 0; };
    for (const std::span<std::byte> memory : p->operand_memory())
      std::fill(memory.begin(), memory.end(), std::byte{0});
    p->run(1);
    CHECK(all(none));
    CHECK(std::ssize(p->result_memory()) == 4 * elements(op::output(l)));
    std::fill(p->result_memory().begin(), p->result_memory().end(), std::byte{0x40});
    CHECK(all([](double v) { return v > 2; }));
    p->run(1);
    CHECK(all(none));
  }
}

TEST_CASE("a row with a large mean keeps its places") {
  const op::layer l = op::parse("LayerNormalization/1x4096-a1-b");
  operands o = make_operands(l, numeric::f32);
  for (float& v : o.inputs[0].as<float>())
    v = std::nearbyint(64 * v) / 64 + 100; // exact in f32
  const auto where = reference::positions_to_check(l, 1 << 20);
  std::vector<double> expected(where.size());
  reference::evaluate(l, numeric::f32, o, where, expected);
  CHECK(compare(l, numeric::f32, expected, computed(l, numeric::f32, o, 1)).ok);
}

TEST_CASE("scale and bias of a normalization are weights") {
  const op::layer l = op::parse("LayerNormalization/2x4-a1-b");
  const operands o = make_operands(l, numeric::f32);
  const auto owned = test::built("host");
  library& lib = *owned;
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {})[0], o, {});
  REQUIRE(p->weight_bytes() == 2 * 4 * 4);
  std::vector<double> own, pooled;
  p->run(1);
  p->read(own);
  std::vector<float> pool(8, 0.f);
  std::fill(pool.begin() + 4, pool.end(), 3.f); // nothing of the input, a bias of three
  p->rotate_weights(reinterpret_cast<std::byte*>(pool.data()), 32, 1);
  p->run(1);
  p->read(pooled);
  CHECK(pooled == std::vector<double>(8, 3));
  p->rotate_weights(nullptr, 0, 0);
  p->run(1);
  p->read(pooled);
  CHECK(pooled == own);
}

TEST_CASE("batch normalization takes its weights from a pool") {
  const op::layer l = op::parse("BatchNormalization/1x4x10");
  const operands o = make_operands(l, numeric::f32);
  const auto owned = test::built("host");
  library& lib = *owned;
  const auto p = lib.prepare(l, numeric::f32, lib.enumerate(l, numeric::f32, {})[0], o, {});
  REQUIRE(p->weight_bytes() == 4 * 2 * 4);
  std::vector<double> first, pooled, again;
  p->run(1);
  p->read(first);
  std::vector<float> pool(3 * 8, 2.f);
  p->rotate_weights(reinterpret_cast<std::byte*>(pool.data()), 32, 3);
  CHECK(p->time(5) > 0);
  p->read(pooled);
  CHECK(pooled[0] == doctest::Approx(2 * static_cast<double>(o.inputs[0].as<float>()[0]) + 2));
  p->rotate_weights(nullptr, 0, 0);
  p->run(1);
  p->read(again);
  CHECK(again == first);
}
