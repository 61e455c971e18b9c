// SPDX-License-Identifier: Apache-2.0
// Functions, reductions, softmax, normalizations.
#include "checked.hpp"

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::test;

namespace {
constexpr const char* whole_types[] = {"-s8",  "-u8",  "-s16", "-u16",
                                       "-s32", "-u32", "-s64", "-u64"};
} // namespace

TEST_CASE("runs of elementwise layers") {
  for (const char* name :
       {"Swish+Mul/3x5x7", "Sigmoid+Mul/1x64x56x56", "Relu+Tanh/1", "Add+Relu/40x1000",
        "Square+Add+Sqrt/1x16x7x7-w1", "Add+Mul+Sub/4x1000-w1x1000-ww4x1", "Sub+Exp/4x1000-4x1",
        "Sub+Exp/1x7-5x7", "Div+Erf+Add+Mul+Mul/1x197x3072-1-ww1-wwww1", "Sum+Relu/4x333-n3",
        "HardSigmoid+Mul/1x72x28x28-w1x72x1x1", "Exp+Add/2x3x4x5-w3x1x5"})
    check_floats(name);
  CHECK(test::built("host")
            ->enumerate(op::parse("Conv+Relu/1x8x9x9-8x3x3-s1"), numeric::f32, {})
            .empty());
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
                             "/784x3x1-1x3x2", // small planes
                             "/5x333x2-5x333x1",
                             "/1x3x2-700x1x2",
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
    for (const char* key : {"/5-a0",
                            "/3x4-a0",
                            "/3x4-a1",
                            "/3x4-a0x1",
                            "/3x4",
                            "/2x64x7x7-a2x3",
                            "/2x5x30x40-a1",
                            "/2x3x4x5x6-a1x3",
                            "/2x3x4x5x6-a0x2x4",
                            "/50000-a0",
                            "/3x20000-a1",
                            "/20000x3-a0",
                            "/2x3x5000-a0x2",
                            "/1x1-a1",
                            "/100x1500-a0",
                            "/2x1x4x1x3-a1x2",
                            "/16x197x32-a2",
                            "/333x2-a1",
                            "/7x71x3-a2",
                            "/5000x4-a1"}) {
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
  // Rows that one part holds, whose sums stay, and longer ones.
  for (const char* name :
       {"Add+LayerNormalization/3x40-a1-b", "Add+LayerNormalization/197x768-a1-b-sum",
        "Add+LayerNormalization/2x4096-a1-sum", "Add+LayerNormalization/2x5000-a1-b-sum",
        "Add+LayerNormalization/2x5000-a1", "Add+LayerNormalization/2x3x7x11-a2-b",
        "Add+RMSNormalization/3x40-a1-sum", "Add+RMSNormalization/2x3000-a1",
        "Add+RMSNormalization/2x9000-a1-sum", "Add+RMSNormalization/5x1-a1-sum"})
    check_floats(name);
  for (const char* name :
       {"MaxPool/1x3x9x8-3x3-s2-p1-indices", "MaxPool/2x3x40x33-2x2-s1-indices",
        "MaxPool/1x2x30-4-s3-p3x2-d2-ceil-indices", "MaxPool/1x2x5x6x7-3x2x3-s1x2x1-p1-cindices",
        "MaxPool/1x1x20x20-5x5-s1-p2-cindices"})
    check_floats(name);
  for (const char* name :
       {"LRN/1x96x13x15-n5", "LRN/2x7x9-n4", "LRN/1x3x50x50-n1", "LRN/1x600x4-n5"})
    check_floats(name);
}

TEST_CASE("running sums and products along any axis") {
  for (const char* family : {"CumSum", "CumProd"})
    for (const char* key : {"/5-a0", "/3x40-a1", "/3x40-a0", "/2x9x700-a1", "/3x2500-a1", "/1-a0",
                            "/3x9x1-a1", "/37x16-a1"})
      for (const char* way : {"", "-exclusive", "-reverse", "-exclusive-reverse"}) {
        check_floats(std::string(family) + key + way);
        for (const char* type : {"-s32", "-s64"})
          check(std::string(family) + key + way + type);
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
