// SPDX-License-Identifier: Apache-2.0
// Are pieces seen as the layers that they are together, and only where they are?
#include "graph_maker.hpp"

#include <benanza/model/recognise.hpp>

#include <sstream>

using namespace benanza;
using namespace benanza::model;
using graphs::fused;
using graphs::maker;
using graphs::name_of;

namespace {
/// A normalization of rows of 8 with scale and bias, behind node `x`.
maker& layer_norm(maker& m, const std::string& x) {
  const auto n = static_cast<int>(m.g.nodes.size());
  const auto of = [n](int i) { return std::to_string(n + i); };
  m.add("ReduceMean/1x4x8-a2", x).add("Sub/1x4x8-1x4x1", x + ' ' + of(0));
  m.add("Square/1x4x8", of(1) + " c").add("ReduceMean/1x4x8-a2", of(2));
  m.add("Add/1x4x1-1", of(3) + " c").add("Sqrt/1x4x1", of(4));
  m.add("Div/1x4x8-1x4x1", of(1) + ' ' + of(5)).add("Mul/1x4x8-8", of(6) + " c");
  return m.add("Add/1x4x8-8", of(7) + " c");
}

/// Two heads of 4 numbers for each of 3 in a sequence, their scores scaled and masked.
maker& attention(maker& m) {
  for (int i = 0; i < 3; ++i)
    m.add("Reshape/1x3x8-1x3x2x4", "i c");
  m.add("Transpose/1x3x2x4-o0x2x1x3", "0").add("Transpose/1x3x2x4-o0x2x3x1", "1");
  m.add("MatMul/1x2x3x4-1x2x4x3", "3 4").add("Div/1x2x3x3-1", "5 c");
  m.add("Add/1x2x3x3-1x1x1x3", "6 i").add("Softmax/6x3-a1", "7");
  m.add("Transpose/1x3x2x4-o0x2x1x3", "2").add("MatMul/1x2x3x3-1x2x3x4", "8 9");
  m.add("Transpose/1x2x3x4-o0x2x1x3", "10");
  return m.add("Reshape/1x3x2x4-1x3x8", "11 c");
}

std::string only_layer(const maker& m) {
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 1);
  return name_of(f, 0);
}
} // namespace

TEST_CASE("a normalization of rows from its pieces") {
  maker m;
  layer_norm(m, "i");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 1);
  CHECK(name_of(f, 0) == "LayerNormalization/1x4x8-a2-b");
  CHECK(write_operands(f.nodes[0].operands) == "i c c");
  CHECK(f.nodes[0].parts == std::vector{0, 1, 2, 3, 4, 5, 6, 7, 8});

  maker rms;
  rms.add("Square/1x4x8", "i c").add("ReduceMean/1x4x8-a2", "0").add("Add/1x4x1-1", "1 c");
  rms.add("Sqrt/1x4x1", "2").add("Div/1-1x4x1", "c 3").add("Mul/1x4x8-1x4x1", "i 4");
  rms.add("Mul/8-1x4x8", "c 5");
  CHECK(only_layer(rms) == "RMSNormalization/1x4x8-a2");
}

TEST_CASE("a normalization of groups of channels from one of images") {
  maker m;
  m.add("Reshape/2x8x4x4-2x4x32", "i c").add("InstanceNormalization/2x4x32", "0 c c");
  m.add("Reshape/2x4x32-2x8x4x4", "1 c").add("Mul/2x8x4x4-8x1x1", "2 c");
  m.add("Add/2x8x4x4-8x1x1", "3 c").add("Sigmoid/2x8x4x4", "4").add("Mul/2x8x4x4", "4 5");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 2);
  CHECK(name_of(f, 0) == "GroupNormalization/2x8x4x4-g4");
  CHECK(name_of(f, 1) == "Swish/2x8x4x4");
}

TEST_CASE("what others read too, or the caller gets, is no piece") {
  maker m;
  layer_norm(m, "i").add("Relu/1x4x1", "5");
  CHECK(!recognise(m.g, default_patterns().rules));
  maker given;
  layer_norm(given, "i").g.nodes[6].given = true;
  const graph f = fused(given.g); // without scale and bias
  CHECK(name_of(f, 0) == "LayerNormalization/1x4x8-a2");
  CHECK(f.nodes[0].parts == std::vector{0, 1, 2, 3, 4, 5, 6});
  maker column; // the scale is no row
  layer_norm(column, "i").g.layers[7] = op::parse("Mul/1x4x8-1x4x1");
  CHECK(name_of(fused(column.g), 0) == "LayerNormalization/1x4x8-a2");
}

TEST_CASE("functions of one number from their pieces, then steps of what is before them") {
  maker m;
  m.add("MatMul/1x4x8-8x8-w", "i c").add("Add/8-1x4x8", "c 0").add("Div/1x4x8-1", "1 c");
  m.add("Erf/1x4x8", "2").add("Add/1x4x8-1", "3 c").add("Mul/1x4x8", "1 4");
  m.add("Mul/1x4x8-1", "5 c");
  CHECK(only_layer(m) == "MatMul+Add+Gelu/1x4x8-8x8-w-w8");
  maker halves;
  halves.add("Mul/4x8-1", "i c").add("Erf/4x8", "0").add("Add/1-4x8", "c 1");
  halves.add("Mul/1-4x8", "c 2").add("Mul/4x8", "i 3");
  CHECK(only_layer(halves) == "Gelu/4x8");
  maker fast;
  fast.add("Mul/4x8", "i i").add("Mul/4x8", "i 0").add("Mul/1-4x8", "c 1").add("Add/4x8", "i 2");
  fast.add("Mul/1-4x8", "c 3").add("Tanh/4x8", "4").add("Add/1-4x8", "c 5");
  fast.add("Mul/4x8", "i 6").add("Mul/1-4x8", "c 7");
  CHECK(only_layer(fast) == "FastGelu/4x8");
  maker hard;
  hard.add("Add/4x8-1", "i c").add("Clip/4x8", "0 c c").add("Mul/4x8", "i 1");
  hard.add("Div/4x8-1", "2 c");
  CHECK(only_layer(hard) == "HardSwish/4x8");
  maker mish;
  mish.add("Exp/4x8", "i").add("Add/4x8-1", "0 c").add("Log/4x8", "1").add("Tanh/4x8", "2");
  mish.add("Mul/4x8", "i 3");
  CHECK(only_layer(mish) == "Mish/4x8");
  maker softmax;
  softmax.add("ReduceMax/4x8-a1", "i").add("Sub/4x8-4x1", "i 0").add("Exp/4x8", "1");
  softmax.add("ReduceSum/4x8-a1", "2").add("Div/4x8-4x1", "2 3");
  CHECK(only_layer(softmax) == "Softmax/4x8-a1");
}

TEST_CASE("an attention takes the Transposes of heads with it") {
  maker m;
  attention(m);
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 5);
  CHECK(name_of(f, 3) == "Attention/1x2x3x4-bshd-mask1x1x1x3");
  CHECK(write_operands(f.nodes[3].operands) == "0 1 2 i");
  CHECK(f.nodes[3].parts == std::vector{3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_CASE("an attention leaves out Transposes that do not fit together") {
  maker m; // keys come with heads first, and the caller gets the result so
  attention(m).g.layers[4] = op::parse("Transpose/1x2x3x4-o0x1x3x2");
  m.g.nodes[4].operands[0] = {model_input};
  m.g.nodes[4].inputs = {};
  m.g.nodes[10].given = true;
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 8);
  CHECK(name_of(f, 5) == "Attention/1x2x3x4-mask1x1x1x3");
  CHECK(write_operands(f.nodes[5].operands) == "3 i 4 i");
  maker other;
  attention(other).g.layers[8] = op::parse("Softmax/1x2x3x3-a2"); // along the queries
  CHECK(!recognise(other.g, default_patterns().rules));
}

TEST_CASE("an attention whose rows may be empty, as exporters guard it") {
  maker m;
  m.add("Transpose/1x2x3x4-o0x1x3x2", "i").add("MatMul/1x2x3x4-1x2x4x3", "i 0");
  m.add("Add/1x2x3x3-1x1x1x3", "1 i").add("Softmax/1x2x3x3-a3", "2").add("IsNaN/1x2x3x3", "3");
  m.add("Where/1x2x3x3-1-1x2x3x3", "4 c 3").add("MatMul/1x2x3x3-1x2x3x4", "5 i");
  CHECK(only_layer(m) == "Attention/1x2x3x4-mask1x1x1x3");
  m.g.nodes[3].given = true; // the caller reads the weights themselves
  CHECK(!recognise(m.g, default_patterns().rules));
}

TEST_CASE("scores that are kept in a range, and scales of heads") {
  maker m;
  m.add("Transpose/1x2x5x4-o0x1x3x2", "i").add("MatMul/1x2x3x4-1x2x4x5", "i 0");
  m.add("Mul/1x2x3x5-1", "1 c").add("Div/1x2x3x5-1", "2 c").add("Tanh/1x2x3x5", "3");
  m.add("Mul/1x2x3x5-1", "4 c").add("Add/1x2x3x5-3x5", "5 i").add("Softmax/1x2x3x5-a3", "6");
  m.add("MatMul/1x2x3x5-1x2x5x4", "7 i");
  CHECK(only_layer(m) == "Attention/1x2x3x4-k5-cap-mask1x1x3x5");
  maker heads;
  heads.add("Transpose/1x2x5x4-o0x1x3x2", "i").add("MatMul/1x2x3x4-1x2x4x5", "i 0");
  heads.add("Mul/1x2x3x5-2x1x1", "1 c").add("Softmax/1x2x3x5-a3", "2");
  heads.add("MatMul/1x2x3x5-1x2x5x4", "3 i");
  CHECK(only_layer(heads) == "Attention/1x2x3x4-k5");
  heads.g.layers[2] = op::parse("Mul/1x2x3x5-3x1"); // one for each query
  CHECK(!recognise(heads.g, default_patterns().rules));
}

TEST_CASE("several masks that are computed become one before the attention") {
  maker m;
  m.add("Transpose/1x2x5x4-o0x1x3x2", "i").add("MatMul/1x2x3x4-1x2x4x5", "i 0");
  m.add("Add/1x2x3x5-1x2x3x5", "1 i").add("Add/1x2x3x5-1x1x1x5", "2 i");
  m.add("Softmax/1x2x3x5-a3", "3").add("MatMul/1x2x3x5-1x2x5x4", "4 i");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 2);
  CHECK(name_of(f, 0) == "Add/1x2x3x5-1x1x1x5");
  CHECK(write_operands(f.nodes[0].operands) == "i i");
  CHECK(name_of(f, 1) == "Attention/1x2x3x4-k5-mask1x2x3x5");
  CHECK(write_operands(f.nodes[1].operands) == "i i i 0");
  CHECK(f.nodes[1].parts == std::vector{0, 1, 2, 4, 5});

  maker hidden;
  hidden.add("Transpose/1x2x5x4-o0x1x3x2", "i").add("MatMul/1x2x3x4-1x2x4x5", "i 0");
  hidden.add("Add/1x2x3x5-1x2x3x5", "1 i").add("Where/1x1x1x5-1x2x3x5-1", "i 2 c");
  hidden.add("Softmax/1x2x3x5-a3", "3").add("MatMul/1x2x3x5-1x2x5x4", "4 i");
  const graph g = fused(hidden.g);
  REQUIRE(g.nodes.size() == 2);
  CHECK(name_of(g, 0) == "Where/1x1x1x5-1x2x3x5-1");
  CHECK(write_operands(g.nodes[0].operands) == "i i c");
  CHECK(name_of(g, 1) == "Attention/1x2x3x4-k5-mask1x2x3x5");

  maker viewed; // products of heads alone, as DeBERTa's, whose mask has a batch
  viewed.add("Transpose/2x5x4-o0x2x1", "i").add("MatMul/2x3x4-2x4x5", "i 0");
  viewed.add("Add/2x3x5", "1 i").add("Reshape/2x3x5-1x2x3x5", "2 c");
  viewed.add("Where/1x1x1x5-1x2x3x5-1", "i 3 c").add("Softmax/1x2x3x5-a3", "4");
  viewed.add("Reshape/1x2x3x5-2x3x5", "5 c").add("MatMul/2x3x5-2x5x4", "6 i");
  const graph v = fused(viewed.g);
  REQUIRE(v.nodes.size() == 2);
  CHECK(name_of(v, 0) == "Where/1x1x1x5-2x3x5-1");
  CHECK(name_of(v, 1) == "Attention/1x2x3x4-k5-mask1x2x3x5");
}

TEST_CASE("a rotary embedding of halves") {
  maker m;
  m.add("Relu/1x2x3x8", "i").add("Mul/1x2x3x8-1x1x3x8", "0 i");
  m.add("Slice/1x2x3x8-1x2x3x4", "0 c c").add("Slice/1x2x3x8-1x2x3x4-from0x0x0x4", "0 c c");
  m.add("Neg/1x2x3x4", "3").add("Concat/1x2x3x8-a3-n2", "4 2").add("Mul/1x2x3x8-1x1x3x8", "5 i");
  m.add("Add/1x2x3x8", "1 6");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 2);
  CHECK(name_of(f, 1) == "RotaryEmbedding/1x2x3x8-wide");
  CHECK(write_operands(f.nodes[1].operands) == "0 i i");
  maker twice = m;
  twice.g.nodes[5].operands = {{2}, {4}}; // the halves are where they were
  CHECK(!recognise(twice.g, default_patterns().rules));

  maker parts; // Split in place of Slices, places before heads, each batch its own angles
  parts.add("Relu/2x3x4x8", "i").add("Split/2x3x4x8-a3-n2", "0").add("Neg/2x3x4x4", "1.1");
  parts.add("Concat/2x3x4x8-a3-n2", "2 1").add("Mul/2x3x4x8-2x3x1x8", "3 i");
  parts.add("Mul/2x3x4x8-2x3x1x8", "0 i").add("Add/2x3x4x8", "5 4");
  CHECK(name_of(fused(parts.g), 1) == "RotaryEmbedding/2x4x3x8-own-wide-bshd");
}

TEST_CASE("a rotary embedding of interleaved pairs") {
  maker m;
  m.add("Relu/1x2x3x8", "i").add("Mul/1x2x3x8-3x8", "0 i");
  m.add("Slice/1x2x3x8-1x2x3x4-by1x1x1x2", "0 c c");
  m.add("Slice/1x2x3x8-1x2x3x4-from0x0x0x1-by1x1x1x2", "0 c c");
  m.add("Neg/1x2x3x4", "3").add("Reshape/1x2x3x4-1x2x3x4x1", "4 c");
  m.add("Reshape/1x2x3x4-1x2x3x4x1", "2 c").add("Concat/1x2x3x4x2-a4-n2", "5 6");
  m.add("Reshape/1x2x3x4x2-1x2x3x8", "7 c").add("Mul/1x2x3x8-3x8", "8 i");
  m.add("Add/1x2x3x8", "1 9");
  CHECK(name_of(fused(m.g), 1) == "RotaryEmbedding/1x2x3x8-interleaved-wide");
  m.g.layers[3] =
      op::parse("Slice/1x2x3x8-1x2x3x4-from0x0x0x0-by1x1x1x2"); // not the other of its pair
  CHECK(!recognise(m.g, default_patterns().rules));
}

TEST_CASE("keys and values from a cache have their heads first, also where queries have not") {
  maker m;
  m.add("Reshape/1x3x8-1x3x2x4", "i c").add("Transpose/1x3x2x4-o0x2x1x3", "0");
  m.add("Concat/1x2x5x4-a2-n2", "i i").add("Concat/1x2x5x4-a2-n2", "i i");
  m.add("Transpose/1x2x5x4-o0x1x3x2", "2").add("MatMul/1x2x3x4-1x2x4x5", "1 4");
  m.add("Mul/1x2x3x5-1", "5 c").add("Softmax/1x2x3x5-a3", "6");
  m.add("MatMul/1x2x3x5-1x2x5x4", "7 3").add("Transpose/1x2x3x4-o0x2x1x3", "8");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 4);
  CHECK(name_of(f, 3) == "Attention/1x2x3x4-k5-bshd-cached");
  CHECK(write_operands(f.nodes[3].operands) == "0 1 2");
}

TEST_CASE("sequences first, with one batch") {
  maker m;
  for (int i = 0; i < 3; ++i)
    m.add("Reshape/5x1x6-5x2x3", "i c");
  m.add("Transpose/5x2x3-o1x0x2", "0").add("Div/2x5x3-1", "3 c");
  m.add("Transpose/5x2x3-o1x2x0", "1").add("MatMul/2x5x3-2x3x5", "4 5");
  m.add("Softmax/2x5x5-a2", "6").add("Transpose/5x2x3-o1x0x2", "2");
  m.add("MatMul/2x5x5-2x5x3", "7 8").add("Transpose/2x5x3-o1x0x2", "9");
  m.add("Reshape/5x2x3-5x6", "10 c").add("Gemm/5x6x6-tb-c1x6-w", "11 c c");
  m.add("Reshape/5x6-5x1x6", "12 c").add("Transpose/5x1x6-o1x0x2", "13").add("Add/1x5x6", "14 i");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 6);
  CHECK(name_of(f, 3) == "Attention/1x2x5x3-bshd");
  // A Transpose of dims of one is a view, and an Add behind views joins rows.
  CHECK(name_of(f, 5) == "Gemm+Add/5x6x6-tb-c1x6-w");
  CHECK(f.nodes[5].parts == std::vector{12, 13, 14, 15});
}

TEST_CASE("what moves nothing is a view") {
  maker m;
  m.add("Relu/1x4x8", "i").add("Transpose/1x4x8-o1x0x2", "0").add("Slice/4x1x8-4x1x8", "1 c c");
  m.add("Transpose/4x1x8-o2x1x0", "2").add("Relu/8x1x4", "3");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 5);
  CHECK(name_of(f, 1) == "Reshape/1x4x8-4x1x8");
  CHECK(name_of(f, 2) == "Reshape/4x1x8");
  CHECK(name_of(f, 3) == "Transpose/4x1x8-o2x1x0");
  CHECK(f.nodes[2].parts == std::vector{2});
}

TEST_CASE("rules of one's own, and lines that are none") {
  std::istringstream file("Softsign(x) = Div(x, Add(Abs(x), c)) # mine\nConv+Relu\n");
  const patterns mine = read_patterns(file, "mine.txt");
  REQUIRE(mine.rules.size() == 1);
  REQUIRE(mine.runs.size() == 1);
  maker m;
  m.add("Abs/4x8", "i").add("Add/1-4x8", "c 0").add("Div/4x8", "i 1");
  CHECK(name_of(*fuse(m.g, mine), 0) == "Softsign/4x8");
  maker other; // another value
  other.add("Neg/4x8", "i").add("Abs/4x8", "i").add("Add/1-4x8", "c 1").add("Div/4x8", "0 2");
  CHECK(!fuse(other.g, mine));
  for (const char* bad :
       {"Relu(x) =", "Relu(x) = x", "Relu(y) = Abs(x)", "relu(x) = Abs(x)", "Conv(x) = Abs(x)",
        "Relu(x) = Abs(x", "Relu(x) = Abs(x))", "Relu(x) = abs(x)", "Relu(c) = Abs(c)",
        "Relu(x) = Abs()", "Relu = Abs(x)", "Relu(x) = Abs|x(x)", "Not(x) = Abs(x)"}) {
    std::istringstream in(bad);
    CHECK_THROWS_AS_MESSAGE(read_patterns(in, "bad.txt"), error, bad);
  }
  std::string deep = "Relu(x) = ";
  for (int i = 0; i < 1000; ++i)
    deep += "Abs(";
  CHECK_THROWS_AS(parse_rule(deep), error);
}

TEST_CASE("graphs that fit a rule in very many ways are left before long") {
  maker m; // each product of two is one of two equal ones
  m.add("Square/4x4", "i");
  for (int i = 0; i < 4000; ++i)
    m.add("Mul/4x4-1", std::to_string(i) + " c");
  m.add("MatMul/4x4-4x4", "4000 4000").add("Softmax/4x4-a1", "4001");
  for (int i = 0; i < 4000; ++i)
    m.add("Add/4x4", std::to_string(4002 + i) + ' ' + std::to_string(4002 + i));
  m.add("MatMul/4x4-4x4", "8002 8002");
  CHECK(fuse(m.g, default_patterns()));
}
