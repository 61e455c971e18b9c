// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's QMoE: which layers it is, and what it stores and reads.
#include "text_model.hpp"

using namespace benanza::test;

namespace test_of_experts {
struct asked {
  std::string more{}, operands = ", c1, s1, , c2, s2", x = "2,64", scores = "2,8", k = "2";
  std::string tensors = "uint8[8,96,32] c1, float[8,96,2] s1, uint8[8,64,24] c2, float[8,64,2] s2";
};
benanza::model::graph graph(const asked& a) {
  return graph_of(text_model(23, "float[" + a.x + "] x, float[" + a.scores + "] r",
                             "y = com.microsoft.QMoE<expert_weight_bits = 4, k = " + a.k + a.more +
                                 ">(x, r" + a.operands + ")",
                             a.tensors));
}
std::string products(const benanza::model::graph& g) {
  std::string out;
  for (const auto& n : g.nodes) {
    const std::string name = layer_name(g, n);
    if (name.starts_with("MatMulNBits")) out += (out.empty() ? "" : ", ") + name;
    if (!n.problem.empty()) return n.problem;
  }
  return out;
}
const std::string blocks = ", block_size = 32";

TEST_CASE("QMoE: a product, an activation, a product back, of the experts that tokens choose") {
  const auto g = graph({.more = ", activation_type = \"silu\", block_size = 32",
                        .tensors = "uint8[8,96,32] c1, float[8,96,2] s1, uint8[8,64,48] c2, "
                                   "float[8,64,3] s2"});
  CHECK(products(g) == "MatMulNBits/1x4x64-n96-k32-e4, MatMulNBits/1x4x96-n64-k32-e4");
  CHECK(g.parameters == 2 * 8 * 96 * 64 + 8 * (96 * 2 + 64 * 3));
  // Four of eight experts: codes of half a byte, scales of four.
  CHECK(g.streamed_weight_bytes == 4 * (2 * 96 * 64 / 2 + 4 * (96 * 2 + 64 * 3)));
  REQUIRE(g.assumptions.size() == 1);
  CHECK(g.assumptions[0].starts_with("4 of 8 experts are read in a layer"));
}

TEST_CASE("QMoE: halves of one operand, and two operands") {
  const std::string swiglu = ", activation_type = \"swiglu\"" + blocks;
  const std::string back = ", uint8[8,64,48] c2, float[8,64,3] s2";
  const auto one = graph({.more = swiglu + ", swiglu_fusion = 1",
                          .tensors = "uint8[8,192,32] c1, float[8,192,2] s1" + back});
  CHECK(products(one) == "MatMulNBits/1x4x64-n96-k32-e4, MatMulNBits/1x4x64-n96-k32-e4, "
                         "MatMulNBits/1x4x96-n64-k32-e4");
  const auto two = graph({.more = swiglu,
                          .operands = ", c1, s1, , c2, s2, , c3, s3",
                          .tensors = "uint8[8,96,32] c1, float[8,96,2] s1, uint8[8,96,32] c3, "
                                     "float[8,96,2] s3" +
                                     back});
  CHECK(products(two) == products(one));
  CHECK(one.parameters == two.parameters);
  CHECK(one.streamed_weight_bytes == two.streamed_weight_bytes);
  const auto counted = [](const benanza::model::graph& g, std::string_view family) {
    return std::count_if(g.nodes.begin(), g.nodes.end(), [&](const auto& n) {
      return layer_name(g, n).starts_with(std::string(family) + '/');
    });
  };
  CHECK(counted(one, "Clip") == 0);
  const auto held = graph({.more = swiglu + ", swiglu_fusion = 1, swiglu_limit = 7.0, "
                                            "activation_alpha = 1.702, activation_beta = 1.0",
                           .operands = ", c1, s1, b1, c2, s2, b2, , , , z1, z2",
                           .tensors = "uint8[8,192,32] c1, float[8,192,2] s1, float[8,192] b1, "
                                      "float[8,64] b2, uint8[8,192,1] z1, uint8[8,64,2] z2" +
                                      back});
  CHECK(products(held) == "MatMulNBits/1x4x64-n96-k32-z-b-e4, MatMulNBits/1x4x64-n96-k32-z-b-e4, "
                          "MatMulNBits/1x4x96-n64-k32-z-b-e4");
  CHECK(counted(held, "Clip") == 1);
}

TEST_CASE("QMoE: what is none is said") {
  const std::string right =
      "uint8[8,96,32] c1, float[8,96,2] s1, uint8[8,64,48] c2, float[8,64,3] s2";
  CHECK_SAYS(products(graph({.more = blocks, .k = "9", .tensors = right})),
             "chooses 9 of 8 experts");
  CHECK_SAYS(products(graph({.more = blocks, .operands = ", c1, s1, , c2", .tensors = right})),
             "input 5 or the next one is missing");
  CHECK_SAYS(products(graph({.more = blocks + ", activation_type = \"tanh\"", .tensors = right})),
             "its activation is 'tanh'");
  CHECK_SAYS(products(graph({.more = blocks + ", activation_type = \"swiglu\"", .tensors = right})),
             "no weights of what its activation opens");
  CHECK_SAYS(products(graph({.more = blocks, .scores = "3,8", .tensors = right})), "do not fit");
  CHECK_SAYS(products(graph({.more = blocks, .scores = "2,7", .tensors = right})),
             "not of its experts");
  CHECK_SAYS(products(graph({.tensors = right})), "its scales are 8x96x2, not 768x1");
  const std::string a_scale_a_row =
      "uint8[8,96,32] c1, float[8,96] s1, uint8[8,64,48] c2, float[8,64] s2"; // rows of 64, of 96
  CHECK_SAYS(products(graph({.tensors = a_scale_a_row})), "power of two");
  const auto goes_on = graph_of(text_model(
      23, "float[2,64] x, float[2,8] r",
      "h = com.microsoft.QMoE<k = 2>(x, r, c1, s1, , c2, s2) y = Relu(h)", a_scale_a_row));
  CHECK(layer_name(goes_on, goes_on.nodes.back()) == "Relu/2x64");
}
} // namespace test_of_experts
