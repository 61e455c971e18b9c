// SPDX-License-Identifier: Apache-2.0
#include "graph_maker.hpp"

#include <benanza/model/codes.hpp>

#include <sstream>

using namespace benanza;
using namespace benanza::model;

using graphs::fused;
using graphs::maker;
using graphs::name_of;

TEST_CASE("a residual block: normalizations go into the weights, the later branch takes the sum") {
  maker m;
  m.add("Conv/1x16x8x8-32x1x1-s1", "i c").add("BatchNormalization/1x32x8x8", "0 c c c c");
  m.add("Conv/1x16x8x8-32x3x3-s1-p1-b", "i c c").add("BatchNormalization/1x32x8x8", "2 c c c c");
  m.add("Add/1x32x8x8", "1 3").add("Relu/1x32x8x8", "4");
  m.g.name = "block";
  const graph f = fused(m.g);
  CHECK(f.name == "block,fused");
  CHECK(f.unfused == "block");
  REQUIRE(f.nodes.size() == 2);
  CHECK(name_of(f, 0) == "Conv/1x16x8x8-32x1x1-s1-b");
  CHECK(name_of(f, 1) == "Conv+Add+Relu/1x16x8x8-32x3x3-s1-p1-b");
  CHECK(f.nodes[1].parts == std::vector{2, 3, 4, 5});
  // The residual is the first branch, the constants are weights and bias.
  CHECK(write_operands(f.nodes[1].operands) == "i c c 0");
  CHECK(f.nodes[1].inputs == std::vector{0});
}

namespace {
/// Two parts of a transformer: each adds to the residual stream, which is normalized.
maker stream() {
  maker m;
  m.add("MatMul/4x8-8x8-w", "i c").add("Add/4x8", "0 i");                 // 0 1
  m.add("RMSNormalization/4x8-a1", "1 c").add("MatMul/4x8-8x8-w", "2 c"); // 2 3
  m.add("Add/4x8", "1 3").add("RMSNormalization/4x8-a1", "4 c");          // 4 5
  m.add("MatMul/4x8-8x8-w", "5 c");                                       // 6
  m.g.name = "stream";
  return m;
}
} // namespace

TEST_CASE("a sum goes to the product before it, or to the normalization behind it: two forms") {
  const graph g = stream().g;
  const std::vector<graph> forms = fused_forms(g, default_patterns());
  REQUIRE(forms.size() == 2);
  CHECK(forms[0].name == "stream,fused");
  CHECK(name_of(forms[0], 0) == "MatMul+Add/4x8-8x8-w");
  const graph& f = forms[1];
  CHECK(f.name == "stream,fused-norms");
  CHECK(f.unfused == "stream");
  REQUIRE(f.nodes.size() == 5);
  // The first sum has another reader, who gets it as the second result.
  CHECK(name_of(f, 1) == "Add+RMSNormalization/4x8-a1-sum");
  CHECK(f.nodes[1].parts == std::vector{1, 2});
  CHECK(write_operands(f.nodes[1].operands) == "0 c i");
  CHECK(name_of(f, 3) == "Add+RMSNormalization/4x8-a1");
  CHECK(write_operands(f.nodes[3].operands) == "1.1 c 2");
  CHECK(write_operands(f.nodes[2].operands) == "1 c");
  // Where nothing else wants the sum there is one form.
  maker alone;
  alone.add("Add/4x8", "i i").add("LayerNormalization/4x8-a1-b", "0 c c");
  const std::vector<graph> one = fused_forms(alone.g, default_patterns());
  REQUIRE(one.size() == 1);
  CHECK(name_of(one[0], 0) == "Add+LayerNormalization/4x8-a1-b");
  CHECK(write_operands(one[0].nodes[0].operands) == "i c c i");
  alone.g.nodes[0].given = true; // the caller gets the sum
  CHECK(name_of(fused(alone.g), 0) == "Add+LayerNormalization/4x8-a1-b-sum");
}

TEST_CASE("SwiGLU: its function and product go to the products before them, or are one layer") {
  maker m; // as of a LLaMA
  m.add("MatMul/4x8-8x16-w", "i c").add("Sigmoid/4x16", "0").add("Mul/4x16", "0 1"); // 0 1 2
  m.add("MatMul/4x8-8x16-w", "i c").add("Mul/4x16", "2 3");                          // 3 4
  m.add("MatMul/4x16-16x8-w", "4 c");                                                // 5
  m.g.name = "gated";
  const std::vector<graph> forms = fused_forms(m.g, default_patterns());
  REQUIRE(forms.size() == 2);
  REQUIRE(forms[0].nodes.size() == 3);
  CHECK(name_of(forms[0], 0) == "MatMul+Swish/4x8-8x16-w");
  CHECK(name_of(forms[0], 1) == "MatMul+Mul/4x8-8x16-w");
  CHECK(write_operands(forms[0].nodes[1].operands) == "i c 0");
  const graph& f = forms[1];
  CHECK(f.name == "gated,fused-gates");
  CHECK(f.unfused == "gated");
  REQUIRE(f.nodes.size() == 4);
  CHECK(name_of(f, 0) == "MatMul/4x8-8x16-w");
  CHECK(name_of(f, 2) == "Swish+Mul/4x16");
  CHECK(f.nodes[2].parts == std::vector{1, 2, 4});
  CHECK(write_operands(f.nodes[2].operands) == "0 1");
  // Where up's product comes first, the gate's takes all: one layer.
  maker up;
  up.add("MatMul/4x8-8x16-w", "i c").add("MatMul/4x8-8x16-w", "i c"); // 0 1
  up.add("Gelu/4x16", "1").add("Mul/4x16", "2 0");                    // 2 3
  const std::vector<graph> other = fused_forms(up.g, default_patterns());
  REQUIRE(other.size() == 2);
  CHECK(name_of(other[0], 1) == "MatMul+Gelu+Mul/4x8-8x16-w");
  CHECK(name_of(other[1], 2) == "Gelu+Mul/4x16");
  // Behind products that take nothing up, such as those of weights of four bits, there is one form.
  maker bits;
  bits.add("MatMulNBits/4x32-n16-q4-k32", "i c c").add("Swish/4x16", "0"); // 0 1
  bits.add("MatMulNBits/4x32-n16-q4-k32", "i c c").add("Mul/4x16", "1 2"); // 2 3
  const std::vector<graph> alone = fused_forms(bits.g, default_patterns());
  REQUIRE(alone.size() == 1);
  REQUIRE(alone[0].nodes.size() == 3);
  CHECK(name_of(alone[0], 2) == "Swish+Mul/4x16");
  CHECK(write_operands(alone[0].nodes[2].operands) == "0 1");
  // Patterns that fuse no elementwise layers with each other leave gates alone too.
  patterns few = default_patterns();
  std::erase_if(few.runs, [](const run& r) { return r[0].op == "Elementwise"; });
  CHECK(fused_forms(m.g, few).size() == 1);
}

TEST_CASE("a sum is not fused where others read it before it is normalized, or of other dims") {
  const auto stays = [](const maker& m) {
    for (const graph& f : fused_forms(m.g, default_patterns()))
      for (const op::layer& l : f.layers)
        CHECK(op::family(l).find("Add+LayerNormalization") == std::string_view::npos);
  };
  maker early;
  early.add("Add/4x8", "i i").add("Softmax/4x8-a1", "0").add("LayerNormalization/4x8-a1", "0 c");
  stays(early);
  maker row;
  row.add("Add/4x8-8", "i c").add("LayerNormalization/4x8-a1", "0 c");
  stays(row);
  maker scale;
  scale.add("Add/8", "i i").add("LayerNormalization/4x8-a1", "i 0");
  stays(scale);
  maker shown;
  shown.add("Add/4x8", "i i").add("LayerNormalization/4x8-a1-stats", "0 c");
  stays(shown);
}

TEST_CASE("what two nodes read is not fused away") {
  maker m;
  m.add("Conv/1x16x8x8-16x1x1-s1-b", "i c c")
      .add("Relu/1x16x8x8", "0")
      .add("Sigmoid/1x16x8x8", "0");
  CHECK(!fuse(m.g, default_patterns()));
  // Also not if one node reads it twice, or the caller gets it.
  maker twice;
  twice.add("Conv/1x16x8x8-16x1x1-s1-b", "i c c").add("Max/1x16x8x8", "0 0");
  CHECK(!fuse(twice.g, default_patterns()));
  maker given;
  given.add("Conv/1x16x8x8-16x1x1-s1-b", "i c c").add("Relu/1x16x8x8", "0");
  CHECK(fuse(given.g, default_patterns()));
  given.g.nodes[0].given = true;
  CHECK(!fuse(given.g, default_patterns()));
}

TEST_CASE("a normalization that is written out goes into weights and bias like any other") {
  maker m;
  m.add("Conv/1x16x8x8-32x3x3-s1-p1", "i c").add("Mul/1x32x8x8-1x32x1x1", "0 c");
  m.add("Add/1x32x8x8-32x1x1", "1 c").add("Add/1x32x8x8", "2 i").add("Relu/1x32x8x8", "3");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 1);
  CHECK(name_of(f, 0) == "Conv+Add+Relu/1x16x8x8-32x3x3-s1-p1-b");
  CHECK(write_operands(f.nodes[0].operands) == "i c c i");
  CHECK(f.nodes[0].parts == std::vector{0, 1, 2, 3, 4});

  maker scaled; // subtracted, divided; the constant first; behind a normalization
  scaled.add("Conv/1x16x8x8-32x1x1-s1-b", "i c c").add("Sub/1x32x8x8-1x32x1x1", "0 c");
  scaled.add("Div/1x32x8x8-32x1x1", "1 c").add("Mul/32x1x1-1x32x8x8", "c 2");
  CHECK(name_of(fused(scaled.g), 0) == "Conv/1x16x8x8-32x1x1-s1-b");
  maker norm;
  norm.add("BatchNormalization/1x32x8x8", "i c c c c").add("Mul/1x32x8x8-32x1x1", "0 c");
  norm.add("Add/1x32x8x8-32x1x1", "1 c").add("Relu/1x32x8x8", "2");
  const graph n = fused(norm.g);
  REQUIRE(n.nodes.size() == 1);
  CHECK(name_of(n, 0) == "BatchNormalization+Relu/1x32x8x8");
  CHECK(write_operands(n.nodes[0].operands) == "i c c c c");
  maker both; // as Caffe's BatchNorm and Scale become
  both.add("Conv/1x16x8x8-32x3x3-s1-p1", "i c").add("BatchNormalization/1x32x8x8", "0 c c c c");
  both.add("Mul/1x32x8x8-32x1x1", "1 c").add("Add/1x32x8x8-32x1x1", "2 c");
  both.add("Relu/1x32x8x8", "3");
  CHECK(name_of(fused(both.g), 0) == "Conv+Relu/1x16x8x8-32x3x3-s1-p1-b");
  std::istringstream required("Conv+BatchNormalization+Relu");
  const auto mine = read_patterns(required, "mine.txt");
  CHECK(fuse(both.g, mine)->nodes.size() == 1);
  maker none;
  none.add("Conv/1x16x8x8-32x3x3-s1-p1", "i c").add("Relu/1x32x8x8", "0");
  CHECK(!fuse(none.g, mine));
  maker gemm;
  gemm.add("Gemm/4x10x16-w", "i c").add("Mul/4x10-10", "0 c").add("Add/4x10-10", "1 c");
  CHECK(name_of(fused(gemm.g), 0) == "Gemm/4x10x16-c1x10-w");
}

TEST_CASE("what is no normalization of constants for each channel does not go into weights") {
  const auto left_alone = [](const std::string& conv, const std::string& operands,
                             const std::string& layer, const std::string& its) {
    maker m;
    m.add(conv, operands).add(layer, its);
    CHECK(!fuse(m.g, default_patterns()));
  };
  const std::string conv = "Conv/1x16x8x8-32x1x1-s1";
  left_alone(conv, "i c", "Mul/1x32x8x8-1x32x1x1", "0 i");
  left_alone(conv, "i i", "Mul/1x32x8x8-1x32x1x1", "0 c");
  left_alone(conv, "i c", "Mul/1x32x8x8-8", "0 c");
  left_alone(conv, "i c", "Mul/1x32x8x8", "0 c");
  left_alone(conv, "i c", "Div/1x32x1x1-1x32x8x8", "c 0");
  left_alone(conv, "i c", "Sub/1x32x1x1-1x32x8x8", "c 0");
  left_alone(conv, "i c", "Pow/1x32x8x8-1x32x1x1", "0 c");
  left_alone("Conv/1x16x1x1-32x1x1-s1", "i c", "Mul/1x32x1x1-4x32x1x1", "0 c");
}

TEST_CASE("a constant row behind a convolution or a Gemm is its bias") {
  maker m;
  m.add("Conv/1x16x8x8-32x1x1-s1", "i c")
      .add("Add/1x32x8x8-1x32x1x1", "0 c")
      .add("Relu/1x32x8x8", "1");
  CHECK(name_of(fused(m.g), 0) == "Conv+Relu/1x16x8x8-32x1x1-s1-b");
  maker gemm;
  gemm.add("Gemm/4x10x16-w", "i c").add("Add/4x10-10", "0 c");
  const graph f = fused(gemm.g);
  CHECK(name_of(f, 0) == "Gemm/4x10x16-c1x10-w");
  CHECK(write_operands(f.nodes[0].operands) == "i c c");
  // A row that is computed is joined.
  maker computed;
  computed.add("Sigmoid/1x32x1x1", "i").add("Conv/1x16x8x8-32x1x1-s1", "i c");
  computed.add("Add/1x32x8x8-1x32x1x1", "1 0");
  CHECK(name_of(fused(computed.g), 1) == "Conv+Add/1x16x8x8-32x1x1-s1-w1x32x1x1");
}

TEST_CASE("a normalization is folded only where weights can take it") {
  maker after_join;
  after_join.add("Relu/1x16x8x8", "i").add("Conv/1x16x8x8-16x1x1-s1", "i c");
  after_join.add("Add/1x16x8x8", "1 0").add("BatchNormalization/1x16x8x8", "2 c c c c");
  const graph f = fused(after_join.g);
  REQUIRE(f.nodes.size() == 3);
  CHECK(name_of(f, 1) == "Conv+Add/1x16x8x8-16x1x1-s1");
  maker alone;
  alone.add("BatchNormalization/1x16x8x8", "i c c c c").add("Relu/1x16x8x8", "0");
  CHECK(name_of(fused(alone.g), 0) == "BatchNormalization+Relu/1x16x8x8");
}

TEST_CASE("operands keep their side: only what commutes is turned round") {
  maker sub;
  sub.add("Sigmoid/4x5", "i").add("Sub/4x5", "i 0");
  CHECK(!fuse(sub.g, default_patterns()));
  maker mul;
  mul.add("Tanh/4x5", "i").add("Mul/4x5", "i 0");
  const graph f = fused(mul.g);
  CHECK(name_of(f, 0) == "Tanh+Mul/4x5");
  CHECK(write_operands(f.nodes[0].operands) == "i i");
}

TEST_CASE("every node is part of exactly one fused node, and producers stay in front") {
  maker m;
  m.add("Conv/1x16x8x8-16x1x1-s1", "i c").add("Relu/1x16x8x8", "0");
  m.add("MaxPool/1x16x8x8-2x2-s2", "1").add("Flatten/1x16x4x4-1x256", "2 c");
  m.add("Gemm/1x10x256-w", "3 c").add("Softmax/1x10-a1", "4");
  const graph f = fused(m.g);
  std::vector<int> parts;
  for (std::size_t i = 0; i < f.nodes.size(); ++i) {
    parts.insert(parts.end(), f.nodes[i].parts.begin(), f.nodes[i].parts.end());
    for (int input : f.nodes[i].inputs)
      CHECK(input < static_cast<int>(i));
  }
  std::sort(parts.begin(), parts.end());
  CHECK(parts == std::vector{0, 1, 2, 3, 4, 5});
  CHECK(std::is_sorted(f.layers.begin(), f.layers.end(),
                       [](const auto& a, const auto& b) { return op::name(a) < op::name(b); }));
}

TEST_CASE("patterns of one's own, and files that are none") {
  std::istringstream file("# mine\nConv + Relu   # nothing else\n\n");
  const auto mine = read_patterns(file, "mine.txt");
  REQUIRE(mine.runs.size() == 1);
  CHECK(mine.rules.empty());
  maker m;
  m.add("Conv/1x16x8x8-16x1x1-s1", "i c").add("Sigmoid/1x16x8x8", "0");
  CHECK(!fuse(m.g, mine));
  for (const char* bad : {"", "Conv", "Conv?+Relu", "Relu+Conv", "Conv+LSTM", "Conv++Relu", "+"}) {
    std::istringstream in(bad);
    CHECK_THROWS_AS_MESSAGE(read_patterns(in, "bad.txt"), error, bad);
  }
}

TEST_CASE("operands as words") {
  const auto o = read_operands("17 c i 3.1", 20);
  REQUIRE(o);
  CHECK(write_operands(*o) == "17 c i 3.1");
  CHECK(inputs_of(*o) == std::vector{3, 17});
  for (const char* bad : {"20", "-1", "x", "3.", "3.-1", "3.x", "99999999999"})
    CHECK(!read_operands(bad, 20));
  CHECK(read_operands("", 0)->empty());
}

TEST_CASE("pairs around layers make them layers on codes, and can be left out") {
  maker m;
  m.add("QuantizeLinear/1x16x8x8-u8", "i c c").add("DequantizeLinear/1x16x8x8-u8", "0 c c");
  m.add("Conv/1x16x8x8-16x1x1-s1-b", "1 c c").add("Relu/1x16x8x8", "2");
  m.add("QuantizeLinear/1x16x8x8-u8", "3 c c").add("DequantizeLinear/1x16x8x8-u8", "4 c c");
  m.add("Add/1x16x8x8", "5 1").add("QuantizeLinear/1x16x8x8-u8-z", "6 c c");
  m.add("DequantizeLinear/1x16x8x8-u8-z", "7 c c").add("GlobalAveragePool/1x16x8x8", "8");
  m.g.name = "quantised";
  m.g.nodes[2].operands[1].codes = dtype::s8;
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 5);
  CHECK(name_of(f, 0) == "QuantizeLinear/1x16x8x8-u8");
  CHECK(name_of(f, 1) == "QLinearConv/1x16x8x8-16x1x1-s1-b-u8s8u8-pc");
  CHECK(write_operands(f.nodes[1].operands) == "0 c c c c c c c c");
  CHECK(f.nodes[1].parts == std::vector{1, 2, 3, 4}); // the first one that read node 1
  CHECK(name_of(f, 2) == "QLinearAdd/1x16x8x8-u8u8u8-zr");
  CHECK(write_operands(f.nodes[2].operands) == "1 c c 0 c c c c");
  CHECK(f.nodes[2].parts == std::vector{5, 6, 7});
  CHECK(name_of(f, 3) == "DequantizeLinear/1x16x8x8-u8-z");

  const auto real = unquantised(m.g);
  REQUIRE(real);
  CHECK(real->name == "quantised,unquantised");
  REQUIRE(real->nodes.size() == 4);
  CHECK(name_of(*real, 2) == "Add/1x16x8x8");
  CHECK(write_operands(real->nodes[2].operands) == "1 i");
  CHECK_FALSE(unquantised(*real));

  // Weights that are no codes, and a result that two nodes read.
  m.g.nodes[2].operands[1].codes = dtype::real;
  CHECK(name_of(fused(m.g), 2) == "Conv+Relu/1x16x8x8-16x1x1-s1-b");
  maker two;
  two.add("QuantizeLinear/4x8-u8", "i c c").add("DequantizeLinear/4x8-u8", "0 c c");
  two.add("MatMul/4x8-8x4-w", "1 c").add("Relu/4x4", "2").add("Tanh/4x4", "2");
  two.g.nodes[2].operands[1].codes = dtype::s8;
  CHECK(name_of(fused(two.g), 1) == "QLinearMatMul/4x8-8x4-w-u8s8real-pc");
}

TEST_CASE("a function of one number between codes is a table, and so is another scale") {
  maker m;
  m.add("QuantizeLinear/1x16x8x8-u8", "i c c").add("DequantizeLinear/1x16x8x8-u8", "0 c c");
  m.add("Sigmoid/1x16x8x8", "1").add("QuantizeLinear/1x16x8x8-s8", "2 c c");
  m.add("DequantizeLinear/1x16x8x8-s8", "3 c c").add("QuantizeLinear/1x16x8x8-u8-z", "4 c c");
  m.add("DequantizeLinear/1x16x8x8-u8-z", "5 c c");
  const graph f = fused(m.g);
  REQUIRE(f.nodes.size() == 4);
  CHECK(name_of(f, 1) == "LookupTable/1x16x8x8-u8-s8");
  CHECK(write_operands(f.nodes[1].operands) == "0 c");
  CHECK(f.nodes[1].parts == std::vector{1, 2, 3});
  CHECK(name_of(f, 2) == "LookupTable/1x16x8x8-s8-u8");
  CHECK(write_operands(f.nodes[2].operands) == "1 c");
  CHECK(f.nodes[2].parts == std::vector{4, 5});
  m.g.nodes[2].given = true; // the caller wants the real numbers
  CHECK(name_of(fused(m.g), 1) == "DequantizeLinear/1x16x8x8-u8");
}
