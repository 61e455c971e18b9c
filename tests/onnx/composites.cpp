// SPDX-License-Identifier: Apache-2.0
// Operators that are graphs of others: which layers they become, what their pieces are called, and
// that what does not fit is a problem of the node.
#include "text_model.hpp"

using namespace benanza::test;
namespace model = benanza::model;

namespace {
/// The layers of such a model, problems in the place of those that are missing.
std::string layers_of(std::string_view inputs, std::string_view nodes,
                      std::string_view tensors = {}, int opset = 17) {
  onnx::ModelProto m = text_model(opset, inputs, nodes, tensors);
  onnx::OperatorSetIdProto& preview = *m.add_opset_import();
  preview.set_domain("ai.onnx.preview");
  preview.set_version(1);
  benanza::onnx::options o;
  for (const auto& i : m.graph().input()) // the first dim is no batch
    for (const auto& d : i.type().tensor_type().shape().dim())
      o.shapes[i.name()].push(d.dim_value());
  const model::graph g = graph_of(m, o);
  std::string out;
  for (const model::node& n : g.nodes)
    out += (out.empty() ? "" : " ") + layer_name(g, n);
  return out;
}
std::string einsum(std::string_view equation, std::string_view operands, std::string_view inputs) {
  return layers_of(inputs, "y = Einsum<equation = \"" + std::string(equation) + "\">(" +
                               std::string(operands) + ")");
}
} // namespace

TEST_CASE("composites: activations of ONNX Runtime") {
  const char* const x = "float[2,8] x";
  CHECK(layers_of(x, "y = com.microsoft.BiasGelu(x, b)", "float[8] b") == "Add/2x8-8 Gelu/2x8");
  CHECK(layers_of(x, "y = com.microsoft.FastGelu(x, b)", "float[8] b") == "Add/2x8-8 FastGelu/2x8");
  CHECK(layers_of(x, "y = com.microsoft.FastGelu(x)") == "FastGelu/2x8");
  CHECK(layers_of(x, "y = com.microsoft.QuickGelu(x)") == "Mul/2x8-1 Sigmoid/2x8 Mul/2x8");
  CHECK(layers_of(x, "y = com.microsoft.QuickGelu<alpha = 1.0>(x)") == "Sigmoid/2x8 Mul/2x8");
  CHECK(layers_of(x, "y = com.microsoft.BiasSplitGelu(x, b)", "float[8] b") ==
        "Add/2x8-8 Split/2x8-a1-n2 Gelu/2x4 Mul/2x4");
}

TEST_CASE("composites: products and convolutions with something before and behind") {
  const char* const x = "float[2,4,8] x";
  CHECK(layers_of(x, "y = com.microsoft.FusedMatMul<transB = 1, alpha = 0.5>(x, x)") ==
        "Transpose/2x4x8-o0x2x1 MatMul/2x4x8-2x8x4 Mul/2x4x4-1");
  CHECK(layers_of(x, "y = com.microsoft.FusedMatMul<transB = 1>(x, w)", "float[16,8] w") ==
        "MatMul/2x4x8-8x16-w");
  CHECK(layers_of("float[4,8] x", "y = com.microsoft.FusedMatMul<transB = 1>(x, w)",
                  "float[16,8] w") == "Gemm/4x16x8-tb-w");
  CHECK(layers_of("float[4,8] x",
                  "y = com.microsoft.FusedGemm<transB = 1, activation = \"Relu\">(x, w, b)",
                  "float[16,8] w, float[16] b") == "Gemm/4x16x8-tb-c1x16-w Relu/4x16");
  const char* const image = "float[1,3,8,8] x, float[1,4,6,6] z";
  CHECK(layers_of(image, "y = com.microsoft.FusedConv<activation = \"Relu\">(x, w, b, z)",
                  "float[4,3,3,3] w, float[4] b") ==
        "Conv/1x3x8x8-4x3x3-s1-b Add/1x4x6x6 Relu/1x4x6x6");
  CHECK_SAYS(layers_of(image, "y = com.microsoft.FusedConv<activation = \"Magic\">(x, w)",
                       "float[4,3,3,3] w"),
             "'Magic'");
}

TEST_CASE("composites: normalizations with a residual, embeddings") {
  const char* const x = "float[2,4,8] x, float[2,4,8] r";
  CHECK(layers_of(x, "y = com.microsoft.SkipLayerNormalization(x, r, s, b)",
                  "float[8] s, float[8] b") == "Add/2x4x8 LayerNormalization/2x4x8-a2-b");
  CHECK(layers_of(x,
                  "y, , , t = com.microsoft.SkipSimplifiedLayerNormalization(x, r, s, b) "
                  "z = Relu(t)",
                  "float[8] s, float[8] b") ==
        "Add/2x4x8 Add/2x4x8-8 RMSNormalization/2x4x8-a2 Relu/2x4x8");
  CHECK_SAYS(layers_of(x, "y, m = com.microsoft.SkipLayerNormalization(x, r, s)", "float[8] s"),
             "statistics");
  const char* const words = "int32[2,4] x, int32[2,4] t, int32[2,4] m";
  const std::string embed =
      layers_of(words, "y, n = com.microsoft.EmbedLayerNormalization(x, t, w, p, s, g, b, m)",
                "float[99,8] w, float[16,8] p, float[2,8] s, float[8] g, float[8] b");
  CHECK(embed == "Gather/99x8-2x4-i32 Add/2x4x8-4x8 Gather/2x8-2x4-i32 Add/2x4x8 "
                 "LayerNormalization/2x4x8-a2-b ReduceSum/2x4-a1-s32");
}

TEST_CASE("composites: embeddings without segments, codes with real results") {
  CHECK(layers_of("int32[2,4] x", "y = com.microsoft.EmbedLayerNormalization(x, , w, p, , g, b)",
                  "float[99,8] w, float[16,8] p, float[8] g, float[8] b") ==
        "Gather/99x8-2x4-i32 Add/2x4x8-4x8 LayerNormalization/2x4x8-a2-b");
  CHECK_SAYS(layers_of("int32[2,4] x", "y = com.microsoft.EmbedLayerNormalization(x, , w)",
                       "float[99,8] w"),
             "input 3 is missing");
  CHECK(layers_of("float[2,8] x", "y = com.microsoft.DynamicQuantizeMatMul(x, w, s, z, b)",
                  "uint8[8,5] w, float s, uint8 z, float[5] b") ==
        "DynamicQuantizeLinear/2x8 MatMulInteger/2x8-8x5-w-u8u8s32-za-zb Cast/2x5-s32-real "
        "Mul/1 Mul/2x5-1 Add/2x5-5");
  CHECK(layers_of("uint8[2,4,8] x",
                  "y = com.microsoft.QAttention<num_heads = 2>(x, w, b, s, t, , z, u)",
                  "int8[8,24] w, float[24] b, float s, float t, uint8 z, int8 u") ==
        "MatMulInteger/2x4x8-8x24-w-u8s8s32-za-zb Cast/2x4x24-s32-real Mul/2x4x24-1 "
        "Split/2x4x24-a2-n3 Add/2x4x8-8 Add/2x4x8-8 Add/2x4x8-8 Attention/2x2x4x4-bshd");
}

TEST_CASE("composites: what ONNX Runtime makes of quantised models") {
  const char* const q = "float s, uint8 z, float t, uint8 u";
  CHECK(layers_of("uint8[2,8] x", "y = com.microsoft.QLinearSigmoid(x, s, z, t, u)", q) ==
        "DequantizeLinear/2x8-u8-z Sigmoid/2x8 QuantizeLinear/2x8-u8-z");
  CHECK(layers_of("uint8[2,8] x", "y = com.microsoft.QLinearLeakyRelu<alpha = 0.1>(x, s, z, t, u)",
                  q) == "DequantizeLinear/2x8-u8-z LeakyRelu/2x8 QuantizeLinear/2x8-u8-z");
  CHECK(layers_of("uint8[2,4,8] x",
                  "y = com.microsoft.QLinearSoftmax<axis = 1, opset = 11>(x, s, z, t, u)", q) ==
        "DequantizeLinear/2x4x8-u8-z Reshape/2x4x8-2x32 Softmax/2x32-a1 Reshape/2x32-2x4x8 "
        "QuantizeLinear/2x4x8-u8-z");
  CHECK(layers_of("uint8[2,4] x, uint8[2,3] v",
                  "y = com.microsoft.QLinearConcat<axis = 1>(s, z, x, t, u, v, t, u)", q) ==
        "DequantizeLinear/2x4-u8-z QuantizeLinear/2x4-u8-z DequantizeLinear/2x3-u8-z "
        "QuantizeLinear/2x3-u8-z Concat/2x7-a1-n2-u8");
  CHECK_SAYS(
      layers_of("uint8[2,4] x", "y = com.microsoft.QLinearConcat<axis = 1>(s, z, x, t, u, x)", q),
      "codes, a scale and a zero point");
  CHECK(layers_of("uint8[1,8,4,4] x", "y = com.microsoft.QLinearGlobalAveragePool(x, s, z, t, u)",
                  q) ==
        "DequantizeLinear/1x8x4x4-u8-z GlobalAveragePool/1x8x4x4 QuantizeLinear/1x8x1x1-u8-z");
  CHECK(layers_of("uint8[1,4,4,8] x",
                  "y = com.microsoft.QLinearAveragePool<kernel_shape = [2, 2], channels_last = 1>"
                  "(x, s, z, t, u)",
                  q) ==
        "DequantizeLinear/1x4x4x8-u8-z Transpose/1x4x4x8-o0x3x1x2 AveragePool/1x8x4x4-2x2-s1 "
        "Transpose/1x8x3x3-o0x2x3x1 QuantizeLinear/1x3x3x8-u8-z");
  CHECK(layers_of("uint8[2,8] x", "y = com.microsoft.QLinearReduceMean<axes = [1]>(x, s, z, t, u)",
                  q) == "DequantizeLinear/2x8-u8-z ReduceMean/2x8-a1 QuantizeLinear/2x1-u8-z");
  CHECK(layers_of("bool[2,8] x, uint8[2,8] v",
                  "y = com.microsoft.QLinearWhere(x, v, s, z, w, s, z, t, u)",
                  "float s, uint8 z, float t, uint8 u, uint8 w") ==
        "DequantizeLinear/2x8-u8-z QuantizeLinear/2x8-u8-z Where/2x8-2x8-1-u8");
  CHECK(layers_of("uint8[2,8] x", "y = com.microsoft.MatMulIntegerToFloat(x, w, s, t, z, u, b)",
                  "uint8[8,5] w, float s, float t, uint8 z, uint8 u, float[5] b") ==
        "MatMulInteger/2x8-8x5-w-u8u8s32-za-zb Cast/2x5-s32-real Mul/2x5-1 Add/2x5-5");
}

TEST_CASE("composites: operators without a layer do not stop what follows") {
  const auto last = [](std::string_view inputs, std::string_view node, std::string_view tensors) {
    const std::string all = layers_of(inputs, node, tensors);
    return all.substr(all.rfind(' ') + 1);
  };
  CHECK(last("float[4,1,8] x",
             "t = com.microsoft.DynamicQuantizeLSTM<hidden_size = 5>(x, w, r) "
             "y = Relu(t)",
             "int8[2,8,20] w, int8[2,5,20] r") == "Relu/4x2x1x5");
  CHECK(last("float[6,8] x, float[6,4] r", "t = com.microsoft.MoE<k = 2>(x, r, w, , v) y = Relu(t)",
             "float[4,16,8] w, float[4,8,16] v") == "Relu/6x8");
  CHECK(last("int64[1,3] x", "t = com.microsoft.GatherBlockQuantized(w, x, s) y = Relu(t)",
             "uint8[99,16] w, float[99,1] s") == "Relu/1x3x32");
  CHECK(last("float[1,4,4,8] x", "t = com.microsoft.GroupNorm<groups = 2>(x, s, b) y = Relu(t)",
             "float[8] s, float[8] b") == "Relu/1x4x4x8");
}

TEST_CASE("composites: trees are no layers") {
  onnx::ModelProto m = text_model(17, "float[2,8] x", "y = ai.onnx.ml.Normalizer(x)");
  onnx::OperatorSetIdProto& opset = *m.add_opset_import();
  opset.set_domain("ai.onnx.ml");
  opset.set_version(3);
  const model::graph g = graph_of(m);
  REQUIRE(g.nodes.size() == 1);
  CHECK_SAYS(layer_name(g, g.nodes[0]), "no layer of a neural network");
}

TEST_CASE("composites: experimental operators of old files") {
  const char* const x = "float[1,3,8,8] x";
  CHECK(layers_of(x, "y = ImageScaler<scale = 0.5, bias = [1.0, 2.0, 3.0]>(x)") ==
        "Mul/1x3x8x8-1 Add/1x3x8x8-3x1x1");
  CHECK_SAYS(layers_of(x, "y = ImageScaler<scale = 0.5, bias = [1.0]>(x)"), "its bias");
  CHECK(layers_of(x, "y = Crop<border = [1, 1, 2, 3]>(x)") ==
        "Slice/1x3x8x8-1x3x4x8-from0x0x1x0 Slice/1x3x4x8-1x3x4x5-from0x0x0x1");
  CHECK(layers_of(x, "y = Affine<alpha = 2.0, beta = 1.0>(x)") == "Mul/1x3x8x8-1 Add/1x3x8x8-1");
  CHECK(layers_of(x, "y = ScaledTanh<alpha = 2.0, beta = 1.0>(x)") ==
        "Mul/1x3x8x8-1 Tanh/1x3x8x8 Mul/1x3x8x8-1");
}

TEST_CASE("composites: QONNX's Quant, and channels in blocks") {
  onnx::ModelProto m =
      text_model(17, "float[2,8] x", "y = qonnx.custom_op.general.Quant<signed = 1>(x, s, z, b)",
                 "float s, float z = {0}, float b = {4}");
  onnx::OperatorSetIdProto& opset = *m.add_opset_import();
  opset.set_domain("qonnx.custom_op.general");
  opset.set_version(1);
  const model::graph g = graph_of(m);
  REQUIRE(g.nodes.size() == 4);
  CHECK(layer_name(g, g.nodes[0]) == "Div/2x8-1");
  CHECK(layer_name(g, g.nodes[1]) == "Round/2x8");
  CHECK(layer_name(g, g.nodes[2]) == "Clip/2x8");
  CHECK(layer_name(g, g.nodes[3]) == "Mul/2x8-1");

  onnx::ModelProto blocked = text_model(
      17, "float[1,3,8,8] x",
      "a = com.microsoft.nchwc.ReorderInput(x) "
      "b = com.microsoft.nchwc.Conv<activation = \"Relu\", pads = [1, 1, 1, 1]>(a, w, c) "
      "d = com.microsoft.nchwc.MaxPool<kernel_shape = [2, 2]>(b) "
      "y = com.microsoft.nchwc.ReorderOutput<channels = 10>(d)",
      "float[16,16,3,3] w, float[16] c");
  onnx::OperatorSetIdProto& its = *blocked.add_opset_import();
  its.set_domain("com.microsoft.nchwc");
  its.set_version(1);
  std::string all;
  const model::graph h = graph_of(blocked);
  for (const model::node& n : h.nodes)
    all += layer_name(h, n) + ' ';
  CHECK(all == "Identity/1x3x8x8 Conv/1x3x8x8-16x3x3-s1-p1-b Relu/1x16x8x8 "
               "MaxPool/1x16x8x8-2x2-s1 Slice/1x16x7x7-1x10x7x7 Identity/1x10x7x7 ");
}

TEST_CASE("composites: Einsum") {
  CHECK(einsum("bij, bjk -> bik", "x, z", "float[8,2,3] x, float[8,3,5] z") ==
        "MatMul/8x2x3-8x3x5");
  CHECK(einsum("bhid,bhjd->bhij", "x, z", "float[2,4,3,8] x, float[2,4,5,8] z") ==
        "Transpose/2x4x5x8-o0x1x3x2 MatMul/2x4x3x8-2x4x8x5");
  CHECK(einsum("ij->ji", "x", "float[3,4] x") == "Transpose/3x4-o1x0");
  CHECK(einsum("ij->i", "x", "float[3,4] x") == "ReduceSum/3x4-a1");
  CHECK(einsum("ij", "x", "float[3,4] x") == "Identity/3x4");
  CHECK(einsum("i,i", "x, x", "float[5] x") ==
        "Reshape/5-1x5 Reshape/5-5x1 MatMul/1x5-5x1 Reshape/1x1-scalar");
  CHECK(einsum("i,j->ij", "x, z", "float[5] x, float[3] z") ==
        "Reshape/5-5x1 Reshape/3-1x3 Mul/5x1-1x3");
  CHECK(einsum("...ii->...i", "x", "float[2,3,3] x") == "Reshape/2x3x3-2x9 Slice/2x9-2x3-by1x4");
  CHECK(einsum("...ij,...jk->...ik", "x, z", "float[2,3,4] x, float[4,5] z") ==
        "Reshape/2x3x4-6x4 MatMul/6x4-4x5 Reshape/6x5-2x3x5");
  for (const char* wrong :
       {"ijk->i", "ij->k", "ij->ii", "i,j->i", "i*j->i", "..i.->i", "->", ","}) {
    CAPTURE(wrong);
    CHECK_SAYS(einsum(wrong, "x", "float[3,4] x"), "? its equation");
  }
}

TEST_CASE("composites: pieces are called by their node and their operator") {
  const model::graph g =
      graph_of(text_model(17, "float[2,8] x", "t = com.microsoft.QuickGelu(x) y = Relu(t)"));
  REQUIRE(g.nodes.size() == 4);
  CHECK(g.nodes[0].name == "t/Mul");
  CHECK(g.nodes[1].name == "t/Sigmoid");
  CHECK(g.nodes[2].name == "t/Mul2");
  CHECK(g.nodes[2].op == "Mul");
  CHECK(g.nodes[3].inputs == std::vector{2});
  CHECK_SAYS(layers_of("float[2,8] x", "y = com.microsoft.BiasGelu(x)"), "inputs");
}

TEST_CASE("composites: Attention with a cache") {
  const char* const four = "float[2,8,1,32] q, float[2,2,1,32] k, float[2,2,1,16] v, "
                           "float[2,2,9,32] a, float[2,2,9,16] b, float[1,10] m, float[1,7] n";
  CHECK(layers_of(four, "y, c, d = Attention<is_causal = 1>(q, k, v, , a, b)", "", 23) ==
        "Concat/2x2x10x32-a2-n2 Concat/2x2x10x16-a2-n2 Attention/2x8x1x32-kv2-k10-v16");
  CHECK(layers_of(four, "y, c, d = Attention(q, k, v, m, a, b) z = Relu(d)", "", 23) ==
        "Concat/2x2x10x32-a2-n2 Concat/2x2x10x16-a2-n2 "
        "Attention/2x8x1x32-kv2-k10-v16-mask1x1x1x10 Relu/2x2x10x16");
  CHECK(layers_of(four, "y, c, d = Attention(q, k, v, n, a, b)", "", 23) ==
        "Pad/1x7-b0x0-e0x3 Concat/2x2x10x32-a2-n2 Concat/2x2x10x16-a2-n2 "
        "Attention/2x8x1x32-kv2-k10-v16-mask1x1x1x10");
  const char* const three = "float[1,4,256] q, float[1,4,64] k, float[1,4,64] v, "
                            "float[1,2,9,32] a, float[1,2,9,32] b";
  CHECK(layers_of(three,
                  "y, c, d = Attention<q_num_heads = 8, kv_num_heads = 2, is_causal = 1>"
                  "(q, k, v, , a, b)",
                  "", 23) ==
        "Reshape/1x4x64-1x4x2x32 Transpose/1x4x2x32-o0x2x1x3 Reshape/1x4x64-1x4x2x32 "
        "Transpose/1x4x2x32-o0x2x1x3 Concat/1x2x13x32-a2-n2 Concat/1x2x13x32-a2-n2 "
        "Attention/1x8x4x32-kv2-k13-causal-p9-bshd-cached");
}

TEST_CASE("composites: Attention that gives its scores") {
  const char* const four = "float[2,8,3,32] q, float[2,2,5,32] k";
  CHECK(layers_of(four, "y, , , s = Attention<softcap = 3.0, qk_matmul_output_mode = 3>(q, k, k)",
                  "", 23) ==
        "Mul/2x8x3x32-1 Reshape/2x8x3x32-2x2x12x32 Transpose/2x2x5x32-o0x1x3x2 "
        "MatMul/2x2x12x32-2x2x32x5 Reshape/2x2x12x5-2x8x3x5 Div/2x8x3x5-1 Tanh/2x8x3x5 "
        "Mul/2x8x3x5-1 Softmax/2x8x3x5-a3 Reshape/2x8x3x5-2x2x12x5 MatMul/2x2x12x5-2x2x5x32 "
        "Reshape/2x2x12x32-2x8x3x32");
  // A row of which the mask shows nothing holds no weights.
  const std::string masked =
      layers_of("float[2,8,3,32] q, float[2,8,5,32] k, bool[3,5] m",
                "y, , , s = Attention<qk_matmul_output_mode = 3>(q, k, k, m)", "", 23);
  CHECK_SAYS(masked, "Softmax/2x8x3x5-a3 ReduceMax/2x8x3x5-a3 IsInf/2x8x3x1 "
                     "Where/2x8x3x1-1-2x8x3x5 MatMul");
}

TEST_CASE("composites: ONNX Runtime's attentions") {
  CHECK(layers_of("float[2,4,32] x",
                  "y, z = com.microsoft.Attention<num_heads = 4, unidirectional = 1>(x, w, b, , p)",
                  "float[32,96] w, float[96] b, float[2,2,4,6,8] p") ==
        "MatMul/2x4x32-32x32-w MatMul/2x4x32-32x32-w MatMul/2x4x32-32x32-w Add/2x4x32-32 "
        "Add/2x4x32-32 Add/2x4x32-32 Reshape/2x4x32-2x4x4x8 Transpose/2x4x4x8-o0x2x1x3 "
        "Reshape/2x4x32-2x4x4x8 Transpose/2x4x4x8-o0x2x1x3 Concat/2x4x10x8-a2-n2 "
        "Concat/2x4x10x8-a2-n2 Reshape/2x4x10x8-1x2x4x10x8 Reshape/2x4x10x8-1x2x4x10x8 "
        "Concat/2x2x4x10x8-a0-n2 Attention/2x4x4x8-k10-causal-p6-bshd-cached");
  CHECK(layers_of("float[2,4,32] q, float[2,6,32] k, float[2,6,16] v",
                  "y = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, v, b)",
                  "float[80] b") ==
        "Add/2x4x32-32 Add/2x6x32-32 Add/2x6x16-16 Attention/2x4x4x8-k6-v4-bshd");
  CHECK(layers_of("float[2,1,32] q, float[2,4,6,8] k",
                  "y = com.microsoft.MultiHeadAttention<num_heads = 4>(q, k, k)") ==
        "Attention/2x4x1x8-k6");
  const std::string grouped =
      layers_of("float[1,1,256] q, float[1,1,64] k, float[1,2,9,32] p, int32[1] s, int32[1] t",
                "y, c, d = com.microsoft.GroupQueryAttention<num_heads = 8, kv_num_heads = 2, "
                "local_window_size = 4>(q, k, k, p, p, s, t)");
  CHECK(grouped == "Reshape/1x1x64-1x2x1x32 Reshape/1x1x64-1x2x1x32 Concat/1x2x10x32-a2-n2 "
                   "Concat/1x2x10x32-a2-n2 Attention/1x8x1x32-kv2-k10-causal-p9-w4");
  for (const char* wrong :
       {"com.microsoft.MultiHeadAttention(q, q, q)",
        "com.microsoft.MultiHeadAttention<num_heads = 3>(q, q, q)",
        "com.microsoft.MultiHeadAttention<num_heads = 4>(q, s, s)",
        "com.microsoft.MultiHeadAttention<num_heads = 4>(s)",
        "com.microsoft.MultiHeadAttention<num_heads = 4>(f)",
        "com.microsoft.MultiHeadAttention<num_heads = 4>(q, q, q, , , , s, s)",
        "com.microsoft.GroupQueryAttention<num_heads = 4>(q)",
        "com.microsoft.GroupQueryAttention<num_heads = 4, kv_num_heads = 0>(q)",
        "com.microsoft.Attention<num_heads = 4>(q, q)",
        "com.microsoft.Attention<num_heads = 4, qkv_hidden_sizes = [1,2]>(q, s)",
        "com.microsoft.Attention<num_heads = 4611686018427387904>(q, s)"}) {
    CAPTURE(wrong);
    CHECK_SAYS(layers_of("float[2,4,32] q, float[32,96] s, float[2,4,3,3,8] f",
                         "y = " + std::string(wrong)),
               "? ");
  }
}

TEST_CASE("composites: losses pick the target's class, weigh it, and leave out what is ignored") {
  const char* const in = "float[3,5,6] x, int64[3,6] t, float[5] w, int32[3,6] u";
  const auto loss = [&](std::string_view node) {
    return layers_of(in, "y = " + std::string(node));
  };
  CHECK(loss("NegativeLogLikelihoodLoss<reduction = \"none\">(x, t)") ==
        "Reshape/3x6-3x1x6-s64 GatherElements/3x5x6-3x1x6-a1 Reshape/3x1x6-3x6 Neg/3x6");
  CHECK(loss("NegativeLogLikelihoodLoss<reduction = \"none\">(x, u)") ==
        "Reshape/3x6-3x1x6-s32 GatherElements/3x5x6-3x1x6-a1-i32 Reshape/3x1x6-3x6 Neg/3x6");
  CHECK(loss("NegativeLogLikelihoodLoss(x, t, w)") ==
        "Reshape/3x6-3x1x6-s64 GatherElements/3x5x6-3x1x6-a1 Reshape/3x1x6-3x6 Neg/3x6 "
        "Gather/5-3x6 Mul/3x6 ReduceSum/3x6-a0x1 ReduceSum/3x6-a0x1 Div/1");
  CHECK(loss("SoftmaxCrossEntropyLoss<ignore_index = -1>(x, u)") ==
        "LogSoftmax/3x5x6-a1 Equal/3x6-1-s32 Where/3x6-1-3x6-s32 Reshape/3x6-3x1x6-s32 "
        "GatherElements/3x5x6-3x1x6-a1-i32 Reshape/3x1x6-3x6 Neg/3x6 Where/3x6-1-3x6 "
        "Where/3x6-1 ReduceSum/3x6-a0x1 ReduceSum/3x6-a0x1 Div/1");
  CHECK(layers_of("float[3,5] x, int64[3] t",
                  "y, l = SoftmaxCrossEntropyLoss<reduction = \"sum\">(x, t) z = Exp(l)") ==
        "LogSoftmax/3x5-a1 Reshape/3-3x1-s64 GatherElements/3x5-3x1-a1 Reshape/3x1-3 Neg/3 "
        "ReduceSum/3-a0 Exp/3x5");
  CHECK_SAYS(loss("NegativeLogLikelihoodLoss(x, w)"), "do not fit its scores 3x5x6");
  CHECK_SAYS(loss("NegativeLogLikelihoodLoss(w, w)"), "do not fit its scores 5");
  CHECK_SAYS(loss("NegativeLogLikelihoodLoss(x, t, t)"), "not one of each class");
  CHECK_SAYS(loss("NegativeLogLikelihoodLoss<reduction = \"most\">(x, t)"), "'most'");
  CHECK_SAYS(layers_of("float[3,5] x, float[3] t", "y = SoftmaxCrossEntropyLoss(x, t)"),
             "no whole numbers");
}

TEST_CASE("composites: SwiGLU gates its second operand") {
  CHECK(layers_of("float[2,8] a, float[2,8] b", "y = SwiGLU(a, b)", "", 28) ==
        "Sigmoid/2x8 Mul/2x8 Mul/2x8");
  CHECK(layers_of("float[2,8] a, float[2,8] b", "y = SwiGLU<alpha = 2.0>(a, b)", "", 28) ==
        "Mul/2x8-1 Sigmoid/2x8 Mul/2x8 Mul/2x8");
  CHECK_SAYS(layers_of("float[2,8] a, float[8] b", "y = SwiGLU(a, b)", "", 28), "differ in dims");
}

TEST_CASE("composites: a causal convolution keeps its last places") {
  const auto conv = [](std::string_view node, std::string_view tensors) {
    return layers_of("float[2,4,9] x, float[2,4,3] p, float[2,4,2] s",
                     "y, z = " + std::string(node), tensors, 27);
  };
  const char* const four = "float[4,1,4] w, float[4] b";
  CHECK(conv("CausalConvWithState<activation = \"silu\">(x, w, b, p)", four) ==
        "Concat/2x4x12-a2-n2 Conv/2x4x12-4x4-s1-g4-b Sigmoid/2x4x9 Mul/2x4x9 "
        "Slice/2x4x12-2x4x3-from0x0x9");
  CHECK(conv("CausalConvWithState(x, w)", four) ==
        "Conv/2x4x9-4x4-s1-p3x0-g4 Slice/2x4x9-2x4x3-from0x0x6");
  CHECK(conv("CausalConvWithState(s, w)", four) ==
        "Conv/2x4x2-4x4-s1-p3x0-g4 Pad/2x4x2-b0x0x1-e0x0x0");
  CHECK_SAYS(conv("CausalConvWithState(x, w)", "float[4,1,1] w"), "Conv/2x4x9-4x1-s1-g4 ");
  CHECK_SAYS(conv("CausalConvWithState(x, w)", "float[4,2,4] w"), "do not fit its input 2x4x9");
  CHECK_SAYS(conv("CausalConvWithState(x, w, , s)", four), "its past 2x4x2 does not fit");
  CHECK_SAYS(conv("CausalConvWithState<activation = \"relu\">(x, w)", four), "'relu'");
}

TEST_CASE("composites: FlexAttention's graphs are opened in its place") {
  const char* const in = "float[1,4,3,8] q, float[1,2,5,8] k, float[1,2,5,6] v, float[3,5] m";
  const auto flex = [&](std::string_view attributes, std::string_view operands = "q, k, v") {
    return layers_of(in,
                     "s = Neg(m) y = ai.onnx.preview.FlexAttention" + std::string(attributes) +
                         "(" + std::string(operands) + ")",
                     "", 24);
  };
  CHECK(flex("") == "Neg/3x5 Attention/1x4x3x8-kv2-k5-v6");
  const std::string products = "Neg/3x5 Mul/1x4x3x8-1 Reshape/1x4x3x8-1x2x6x8 "
                               "Transpose/1x2x5x8-o0x1x3x2 MatMul/1x2x6x8-1x2x8x5 "
                               "Reshape/1x2x6x5-1x4x3x5 ";
  const std::string weighed =
      "Reshape/1x4x3x5-1x2x6x5 MatMul/1x2x6x5-1x2x5x6 Reshape/1x2x6x6-1x4x3x6";
  // It reads a value around it, and calls its own as the other graph does.
  const std::string score =
      "score_mod = g (float[1,4,3,5] a) => (float[1,4,3,5] b) { t = Add(a, s) b = Tanh(t) }";
  const std::string weight =
      "prob_mod = g (float[1,4,3,5] a) => (float[1,4,3,5] b) { t = Abs(a) b = Mul(t, s) }";
  CHECK(flex("<" + score + ">") ==
        products + "Add/1x4x3x5-3x5 Tanh/1x4x3x5 Softmax/1x4x3x5-a3 " + weighed);
  CHECK(flex("<" + score + ", " + weight + ">") ==
        products +
            "Add/1x4x3x5-3x5 Tanh/1x4x3x5 Softmax/1x4x3x5-a3 Abs/1x4x3x5 "
            "Mul/1x4x3x5-3x5 " +
            weighed);
  CHECK_SAYS(flex("<score_mod = g () => (float[1] b) { b = Neg(s) }>"), "0 inputs and 1 outputs");
  CHECK_SAYS(flex("<score_mod = 3>"), "its score_mod is no graph");
  CHECK_SAYS(flex("", "q, k, q"), "do not fit");
}
