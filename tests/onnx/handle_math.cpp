// SPDX-License-Identifier: Apache-2.0
// Matrix products, elementwise functions, normalizations, softmax and reductions, in the versions
// that differ.
#include "text_model.hpp"

using namespace benanza::test;
namespace op = benanza::op;

namespace {
/// The layers of such a model at opset 20 and batch 2, in order.
std::string layers_of(std::string_view inputs, std::string_view nodes) {
  const auto g = graph_of(text_model(20, inputs, nodes, ""), {.batch = 2});
  std::string out;
  for (const auto& n : g.nodes)
    out += (out.empty() ? "" : " ") + layer_name(g, n);
  return out;
}
} // namespace

TEST_CASE("Gemm: transposes, C, and whether B is constant") {
  CHECK(last_layer(13, "float[N,8] x", "y = Gemm(x, w)", "float[8,5] w") == "Gemm/1x5x8-w");
  CHECK(last_layer(13, "float[N,8] x", "y = Gemm<transB = 1>(x, w, c)",
                   "float[5,8] w, float[5] c") == "Gemm/1x5x8-tb-c1x5-w");
  CHECK(last_layer(13, "float[2,8] x, float[2,5] b", "y = Gemm<transA = 1>(x, b, c)", "float c",
                   {.batch = 2}) == "Gemm/8x5x2-ta-c1x1");
  CHECK(last_layer(13, "float[2,8] x", "y = Gemm(x, w, c)", "float[8,5] w, float[2,1] c",
                   {.batch = 2}) == "Gemm/2x5x8-c2x1-w");
  CHECK_SAYS(last_layer(13, "float[N,8] x", "y = Gemm(x, w)", "float[7,5] w"), "do not multiply");
  CHECK_SAYS(last_layer(13, "float[N,8,1] x", "y = Gemm(x, w)", "float[8,5] w"), "not matrices");
  CHECK_SAYS(last_layer(13, "float[N,8] x", "y = Gemm(x, w, c)", "float[8,5] w, float[4] c"),
             "does not broadcast");
  CHECK_SAYS(
      last_layer(13, "float[N,0] x", "y = Gemm(x, w)", "float[0,5] w", {.shapes = {{"x", {1, 0}}}}),
      "m, n and k");
}

TEST_CASE("MatMul: stacks, vectors, constants") {
  CHECK(last_layer(13, "float[2,4,8] x", "y = MatMul(x, w)", "float[8,5] w", {.batch = 2}) ==
        "MatMul/2x4x8-8x5-w");
  CHECK(last_layer(13, "float[2,1,4,8] x, float[3,8,5] b", "y = MatMul(x, b)", "", {.batch = 2}) ==
        "MatMul/2x1x4x8-3x8x5");
  CHECK(dims_of_y(13, "float[8] x, float[3,8,5] b", "y = MatMul(x, b)", "", {.batch = 3}) == "3x5");
  CHECK(dims_of_y(13, "float[3,4,8] x, float[8] b", "y = MatMul(x, b)", "", {.batch = 3}) == "3x4");
  CHECK(dims_of_y(13, "float[8] x, float[8] b", "y = MatMul(x, b)") == "scalar");
  CHECK_SAYS(last_layer(13, "float[2,4] x, float[5,2] b", "y = MatMul(x, b)", "", {.batch = 2}),
             "do not multiply");
  CHECK_SAYS(last_layer(13, "float x, float[2,4] b", "y = MatMul(x, b)"), "scalar");
}

TEST_CASE("a product follows constants through folded nodes") {
  CHECK(last_layer(13, "float[N,8] x", "t = Transpose(w) y = MatMul(x, t)", "float[5,8] w") ==
        "MatMul/1x8-8x5-w");
  CHECK(last_layer(13, "float[N,8] x, float[5,8] w", "t = Transpose(w) y = MatMul(x, t)") ==
        "MatMul/1x8-8x5");
}

TEST_CASE("every function of one operand is its own layer") {
  for (std::string_view f : op::unary_families) {
    if (f == "FastGelu" || f == "Square" || f == "Cube") continue; // other nodes become these
    const std::string node = "y = " + std::string(f) + "(x)", type = f == "Not" ? "bool" : "float";
    if (f == "BitwiseNot" || f == "Swish") continue; // of bits; several layers
    const std::string expected = std::string(f) + "/2x3" + (f == "Not" ? "-bool" : "");
    CHECK(last_layer(20, type + "[2,3] x", node, "", {.batch = 2}) == expected);
    CHECK_SAYS(last_layer(13, type + "[2,3] x", "y = " + std::string(f) + "(x, x, x, x)"),
               "it has 4 inputs");
  }
  CHECK(last_layer(13, "float16[2] x", "y = Relu(x)") == "Relu/2");
  CHECK(last_layer(13, "int32[2] x", "y = Abs(x)") == "Abs/2-s32");
  CHECK(last_layer(6, "float[2] x", "y = Clip<min = 0.0, max = 6.0>(x)") == "Clip/2");
  CHECK(last_layer(11, "float[2] x", "y = Clip(x, a, b)", "float a = {0}, float b = {6}") ==
        "Clip/2");
  CHECK(last_layer(11, "float[2] x", "y = Clip(x, , b)", "float b = {6}") == "Clip/2");
  CHECK(last_layer(13, "float[2] x", "y = com.microsoft.Gelu(x)") == "Gelu/2");
  CHECK(last_layer(20, "float[2] x", "y = Gelu(x)") == "Gelu/2");
  CHECK(last_layer(20, "float[2] x", "y = Gelu<approximate = \"none\">(x)") == "Gelu/2");
  CHECK(last_layer(20, "float[2] x", "y = Gelu<approximate = \"tanh\">(x)") == "FastGelu/2");
  CHECK_SAYS(last_layer(20, "float[2] x", "y = Gelu<approximate = \"sigmoid\">(x)"),
             "its approximate is \"sigmoid\", neither none nor tanh");
  CHECK(last_layer(13, "float[2] x", "y = com.microsoft.FastGelu(x)") == "FastGelu/2");
  CHECK_SAYS(last_layer(20, "float[2] x", "y = FastGelu(x)"), "no rule says");
  CHECK_SAYS(last_layer(13, "string[2] x", "y = Identity(x)"), "its elements are string");
  const auto power = [](const std::string& exponent) {
    return last_layer(13, "float[1,3] x", "y = Pow(x, e)", exponent);
  };
  CHECK(power("float e = {2}") == "Square/1x3");
  CHECK(power("float[1,1,1] e = {3}") == "Cube/1x1x3");
  CHECK(power("int64 e = {2}") == "Square/1x3");
  CHECK(power("float e = {0.5}") == "Sqrt/1x3");
  CHECK(power("float[1] e = {-1}") == "Reciprocal/1x3");
  CHECK(power("float e = {1.7}") == "Pow/1x3-1");
  CHECK(power("float[3] e = {2, 2, 2}") == "Pow/1x3-3");
  CHECK(last_layer(13, "float[1,3] x, float e", "y = Pow(x, e)") == "Pow/1x3-1");
  CHECK(last_layer(13, "int32[1] x", "y = Pow(x, e)", "int32 e = {2}") == "Pow/1-s32");
  CHECK_SAYS(last_layer(13, "float[2] x", "y = Square(x)"), "no rule says");
}

TEST_CASE("every function of two operands broadcasts") {
  for (std::string_view f : op::binary_families) {
    if (f == "PRelu" || f == "FMod" || f == "BitShiftLeft" || f == "BitShiftRight") continue;
    const bool logical = f == "And" || f == "Or" || f == "Xor";
    const std::string type = logical ? "bool" : "float", suffix = logical ? "-bool" : "";
    CHECK(last_layer(13, type + "[2,3,4] x, " + type + "[3,1] b",
                     "y = " + std::string(f) + "(x, b)", "",
                     {.batch = 2}) == std::string(f) + "/2x3x4-3x1" + suffix);
  }
  CHECK(last_layer(13, "float[3] x, float b", "y = Mul(b, x)") == "Mul/1-3");
  CHECK(last_layer(13, "int64[3] x", "y = Add(x, x)") == "Add/3-s64");
  CHECK_SAYS(last_layer(13, "float[2,3] x, float[2] b", "y = Add(x, b)", "", {.batch = 2}),
             "its operands 2x3 and 2 do not broadcast");
}

TEST_CASE("before opset 7 the second operand was placed by attributes") {
  const char* const in = "float[2,3,4,5] x, float[3] b";
  CHECK(last_layer(6, in, "y = Add<broadcast = 1, axis = 1>(x, b)", "", {.batch = 2}) ==
        "Add/2x3x4x5-3x1x1");
  CHECK(last_layer(6, "float[2,3] x, float[3] b", "y = Add<broadcast = 1>(x, b)", "",
                   {.batch = 2}) == "Add/2x3-3");
  CHECK_SAYS(last_layer(6, in, "y = Add<broadcast = 1, axis = 9>(x, b)", "", {.batch = 2}),
             "axis 9");
}

TEST_CASE("Sum, Max, Min and Mean take any number of operands") {
  const char* const in = "float[2,3] x, float[2,3] a, float[3] b, float[1] c";
  const benanza::onnx::options two{.batch = 2};
  CHECK(last_layer(13, in, "y = Sum(x)", "", two) == "Sum/2x3-n1");
  CHECK(last_layer(13, in, "y = Sum(x, a, x, a)", "", two) == "Sum/2x3-n4");
  CHECK(last_layer(13, in, "y = Max(x, a, b)", "", two) == "Max/3-2x3-n3");
  CHECK(last_layer(13, in, "y = Max(b, x, a)", "", two) == "Max/3-2x3-n3");
  CHECK(last_layer(13, in, "y = Max(x, b, a)", "", two) == "Max/3-2x3-n3");
  CHECK(last_layer(13, in, "y = Mean(b, x)", "", two) == "Mean/3-2x3");
  CHECK(layers_of(in, "y = Min(x, b, c)") == "Min/2x3-3 Min/2x3-1");
  CHECK(layers_of(in, "y = Sum(c, b, x)") == "Add/1-3 Add/3-2x3");
  CHECK(layers_of(in, "y = Mean(x, b, c)") == "Add/2x3-3 Add/2x3-1 Mul/2x3-1");
  CHECK(dims_of_y(13, in, "y = Min(x, b, c)", "", two) == "2x3");
  CHECK_SAYS(last_layer(13, "float[2,3] x, float[2] b, float[1] c", "y = Min(x, b, c)", "", two),
             "do not broadcast");
}

TEST_CASE("functions of whole numbers and of bits") {
  CHECK(last_layer(18, "int32[2] x", "y = BitwiseNot(x)") == "BitwiseNot/2-s32");
  CHECK(last_layer(18, "uint8[2] x", "y = BitwiseAnd(x, x)") == "BitwiseAnd/2-u8");
  CHECK(last_layer(13, "int64[2] x", "y = Mod(x, x)") == "Mod/2-s64");
  CHECK(last_layer(13, "float[2] x", "y = Mod<fmod = 1>(x, x)") == "FMod/2");
  CHECK(last_layer(11, "uint16[2,3] x, uint16[3] b", "y = BitShift<direction = \"LEFT\">(x, b)", "",
                   {.batch = 2}) == "BitShiftLeft/2x3-3-u16");
  CHECK(last_layer(11, "uint8[2] x", "y = BitShift<direction = \"RIGHT\">(x, x)") ==
        "BitShiftRight/2-u8");
  CHECK_SAYS(last_layer(11, "uint8[2] x", "y = BitShift(x, x)"), "neither LEFT nor RIGHT");
  CHECK_SAYS(last_layer(11, "float[2] x", "y = BitShiftLeft(x, x)"), "no rule says");
  CHECK(last_layer(12, "uint8[2] x", "y = Max(x, x)") == "Max/2-u8");
  // A base and an exponent of two types.
  CHECK(layers_of("float[2] x, int64[2] e", "y = Pow(x, e)") == "Cast/2-s64-real Pow/2");
  CHECK(layers_of("int32[2] x, float[2] e", "y = Pow(x, e)") ==
        "Cast/2-s32-real Pow/2 Cast/2-real-s32");
  CHECK(layers_of("int32[2] x, int64[2] e", "y = Pow(x, e)") == "Cast/2-s64-s32 Pow/2-s32");
  CHECK(layers_of("float[2] x, float16[2] e", "y = Pow(x, e)") == "Pow/2");
}

TEST_CASE("LpNormalization is a norm and a division") {
  CHECK(layers_of("float[2,3] x", "y = LpNormalization(x)") ==
        "ReduceL2/2x3-a1 Max/2x1-1 Div/2x3-2x1");
  CHECK(layers_of("float[2,3] x", "y = LpNormalization<axis = 0, p = 1>(x)") ==
        "ReduceL1/2x3-a0 Max/1x3-1 Div/2x3-1x3");
  CHECK_SAYS(layers_of("float[2,3] x", "y = LpNormalization<p = 3>(x)"), "neither 1 nor 2");
}

TEST_CASE("comparisons give truth values") {
  CHECK(last_layer(13, "float[3] x", "a = IsNaN(x) y = Not(a)") == "Not/3-bool");
  CHECK(last_layer(13, "float[3] x", "a = Less(x, x) y = Not(a)") == "Not/3-bool");
}

TEST_CASE("PRelu: one slope a channel, in old and new versions") {
  const benanza::onnx::options two{.batch = 2};
  CHECK(last_layer(9, "float[2,3,4,4] x", "y = PRelu(x, s)", "float[3,1,1] s", two) ==
        "PRelu/2x3x4x4-3x1x1");
  CHECK(last_layer(6, "float[2,3,4,4] x", "y = PRelu(x, s)", "float[3] s", two) ==
        "PRelu/2x3x4x4-3x1x1");
  CHECK(last_layer(6, "float[2,3,4,4] x", "y = PRelu(x, s)", "float[1] s", two) ==
        "PRelu/2x3x4x4-1");
  CHECK_SAYS(last_layer(9, "float[2,3] x", "y = PRelu(x, s)", "float[4,2,3] s", two), "slope");
}

TEST_CASE("BatchNormalization and LRN") {
  const char* const four = "float[8] a, float[8] b, float[8] c, float[8] d";
  const auto norm = [&](int opset, std::string_view node) {
    return last_layer(opset, "float[1,8,4,4] x", node, four);
  };
  CHECK(norm(13, "y = BatchNormalization(x, a, b, c, d)") == "BatchNormalization/1x8x4x4");
  CHECK(norm(6, "y = BatchNormalization<is_test = 1>(x, a, b, c, d)") ==
        "BatchNormalization/1x8x4x4");
  CHECK_SAYS(norm(9, "y, m, v, s, t = BatchNormalization(x, a, b, c, d)"), "it trains");
  CHECK_SAYS(norm(7, "y = BatchNormalization<spatial = 0>(x, a, b, c, d)"), "each activation");
  CHECK_SAYS(norm(13, "y = BatchNormalization(x, a, b, c)"), "it has 4 inputs");
  CHECK_SAYS(last_layer(13, "float[1,7,4,4] x", "y = BatchNormalization(x, a, b, c, d)", four),
             "its input 1 is 8, not 7");
  CHECK(norm(13, "y = LRN<size = 5>(x)") == "LRN/1x8x4x4-n5");
  CHECK_SAYS(norm(13, "y = LRN(x)"), "size");
}

TEST_CASE("LayerNormalization: its axis, its bias, and what no layer says") {
  const char* const in = "float[1,3,8] x";
  const auto norm = [&](std::string_view node,
                        std::string_view tensors = "float[8] s, float[8] b") {
    return last_layer(17, in, node, tensors);
  };
  CHECK(norm("y = LayerNormalization(x, s, b)") == "LayerNormalization/1x3x8-a2-b");
  CHECK(norm("y = LayerNormalization(x, s)") == "LayerNormalization/1x3x8-a2");
  CHECK(norm("y = LayerNormalization<axis = 1, epsilon = 0.1>(x, s)", "float[3,8] s") ==
        "LayerNormalization/1x3x8-a1");
  CHECK(norm("y = LayerNormalization<axis = -3>(x, s)", "float[1,3,8] s") ==
        "LayerNormalization/1x3x8-a0");
  CHECK(norm("y = com.microsoft.LayerNormalization(x, s, b)") == "LayerNormalization/1x3x8-a2-b");
  CHECK_SAYS(norm("y = LayerNormalization(x, s)", "float[1] s"),
             "its input 1 is 1, not a row of 8");
  CHECK_SAYS(norm("y = LayerNormalization<axis = 3>(x, s)"), "axis 3 lies outside");
  CHECK(norm("y, m, d = LayerNormalization(x, s)") == "LayerNormalization/1x3x8-a2-stats");
  CHECK(norm("y, , d = LayerNormalization(x, s)") == "LayerNormalization/1x3x8-a2-stats");
  CHECK(last_layer(17, in, "a, m, d = LayerNormalization(x, s) y = Relu(d)", "float[8] s") ==
        "Relu/1x3x1");
}

TEST_CASE("RMSNormalization, of opsets that libonnx may not know") {
  const char* const in = "float[1,3,8] x";
  CHECK(last_layer(23, in, "y = RMSNormalization(x, s)", "float[8] s") ==
        "RMSNormalization/1x3x8-a2");
  CHECK(last_layer(23, in, "y = RMSNormalization<axis = 1>(x, s)", "float[3,8] s") ==
        "RMSNormalization/1x3x8-a1");
  CHECK(last_layer(14, in, "y = SimplifiedLayerNormalization<axis = -1>(x, s)", "float[8] s") ==
        "RMSNormalization/1x3x8-a2");
  CHECK(last_layer(14, in, "y = com.microsoft.SimplifiedLayerNormalization(x, s)", "float[8] s") ==
        "RMSNormalization/1x3x8-a2");
  CHECK_SAYS(last_layer(14, in, "y, d = SimplifiedLayerNormalization(x, s)", "float[8] s"),
             "its statistics");
  CHECK_SAYS(last_layer(23, in, "y = RMSNormalization(x, s)", "float[3] s"), "not a row of 8");
}

TEST_CASE("GroupNormalization and InstanceNormalization") {
  const char* const in = "float[1,8,4,4] x";
  const char* const groups = "float[2] s, float[2] b";
  const char* const channels = "float[8] s, float[8] b";
  const char* const node = "y = GroupNormalization<num_groups = 2>(x, s, b)";
  CHECK(last_layer(18, in, node, groups) == "GroupNormalization/1x8x4x4-g2");
  CHECK(last_layer(21, in, node, channels) == "GroupNormalization/1x8x4x4-g2");
  CHECK_SAYS(last_layer(21, in, node, "float[4] s, float[4] b"), "its input 1 is 4, not 8");
  CHECK_SAYS(last_layer(21, in, "y = GroupNormalization(x, s, b)", channels), "divide");
  CHECK_SAYS(last_layer(21, in, "y = GroupNormalization<num_groups = 3>(x, s, b)", channels),
             "divide");
  CHECK_SAYS(last_layer(21, "float[8] x", node, channels), "has no channels");
  CHECK(last_layer(6, in, "y = InstanceNormalization(x, s, b)", channels) ==
        "InstanceNormalization/1x8x4x4");
  CHECK_SAYS(last_layer(6, in, "y = InstanceNormalization(x, s, b)", groups), "not 8");
  CHECK_SAYS(last_layer(6, "float[1,8] x", "y = InstanceNormalization(x, s, b)", channels),
             "three dims");
}

TEST_CASE("Attention: four dims, three dims, grouped queries, masks") {
  const char* const four = "float[1,8,16,32] q, float[1,2,20,32] k, float[1,2,20,24] v";
  CHECK(last_layer(23, four, "y = Attention(q, k, v)") == "Attention/1x8x16x32-kv2-k20-v24");
  CHECK(last_layer(23, four, "y = Attention<is_causal = 1, scale = 0.5>(q, k, v)") ==
        "Attention/1x8x16x32-kv2-k20-v24-causal");
  CHECK(last_layer(23, four, "y = Attention(q, k, v, m)", "float[16,20] m") ==
        "Attention/1x8x16x32-kv2-k20-v24-mask1x1x16x20");
  CHECK(dims_of_y(23, four, "y = Attention(q, k, v)") == "1x8x16x24");
  const char* const three = "float[1,16,256] q, float[1,20,64] k, float[1,20,48] v";
  const char* const node = "y = Attention<q_num_heads = 8, kv_num_heads = 2>(q, k, v)";
  CHECK(last_layer(23, three, node) == "Attention/1x8x16x32-kv2-k20-v24-bshd");
  CHECK(dims_of_y(23, three, node) == "1x16x192");
}

TEST_CASE("Attention: what does not fit") {
  const char* const four = "float[1,8,16,32] q, float[1,8,16,32] k, float[1,8,16,32] v, "
                           "float[1,8,4,32] p, bool[16,16] b, float[3,16] m";
  const auto attention = [&](std::string_view node) { return last_layer(23, four, node); };
  CHECK(attention("y = Attention<softcap = 50.0>(q, k, v)") == "Attention/1x8x16x32-cap");
  CHECK(attention("y = Attention(q, k, v, b)") == "Attention/1x8x16x32-mask1x1x16x16-bool");
  CHECK(attention("y = Attention<is_causal = 1, left_window_size = 3>(q, k, v)") ==
        "Attention/1x8x16x32-causal-w4");
  CHECK(attention("y = Attention<right_window_size = 0>(q, k, v)") == "Attention/1x8x16x32-causal");
  CHECK(attention("y = Attention<left_window_size = 2, right_window_size = 1>(q, k, v)") ==
        "Attention/1x8x16x32-causal-p1-w4");
  CHECK(attention("y = Attention<left_window_size = 3>(q, k, v)") ==
        "Attention/1x8x16x32-causal-p15-w19");
  CHECK(attention("y = Attention<right_window_size = 99>(q, k, v)") == "Attention/1x8x16x32");
  CHECK_SAYS(attention("y = Attention<left_window_size = -2>(q, k, v)"), "out of range");
  CHECK_SAYS(attention("y = Attention(q, k, v, , p)"), "input 5 is missing");
  CHECK_SAYS(attention("y, a, c = Attention(q, k, v, , p, q)"), "do not fit");
  CHECK_SAYS(attention("y = Attention(q, k, v, m)"), "does not broadcast");
  CHECK_SAYS(attention("y = Attention(q, k, p)"), "do not fit");
  CHECK_SAYS(attention("y = Attention(q, k, m)"), "do not fit");
  const char* const three = "float[1,16,256] q, float[1,20,64] k, float[1,20,48] v";
  CHECK_SAYS(last_layer(23, three, "y = Attention(q, k, v)"), "q_num_heads");
  CHECK_SAYS(last_layer(23, three, "y = Attention<q_num_heads = 7, kv_num_heads = 2>(q, k, v)"),
             "do not fit");
  CHECK_SAYS(last_layer(23, "float[1,6,2,4] q, float[1,4,2,4] k", "y = Attention(q, k, k)"),
             "no multiple");
  // What follows can be resolved all the same.
  CHECK(last_layer(23, four, "a, c, d = Attention(q, k, v, , p, p) y = Relu(c)") ==
        "Relu/1x8x20x32");
}

TEST_CASE("RotaryEmbedding: three dims, four dims, places") {
  const char* const in = "float[2,4,6,8] x, float[2,6,32] z, int64[2,6] p, int64[1] o";
  const char* const own = "float[2,6,4] c, float[9,4] t, float[9,2] h";
  const auto rotary = [&](std::string_view node) {
    return last_layer(23, in, node, own, {.batch = 2});
  };
  CHECK(rotary("y = RotaryEmbedding(x, c, c)") == "RotaryEmbedding/2x4x6x8-own");
  CHECK(rotary("y = RotaryEmbedding(x, t, t, p)") == "RotaryEmbedding/2x4x6x8-t9");
  CHECK(rotary("y = RotaryEmbedding<rotary_embedding_dim = 4>(x, h, h, p)") ==
        "RotaryEmbedding/2x4x6x8-r4-t9");
  CHECK(rotary("y = RotaryEmbedding<num_heads = 4, interleaved = 1>(z, t, t, p)") ==
        "RotaryEmbedding/2x4x6x8-interleaved-t9-bshd");
  CHECK(rotary("y = com.microsoft.RotaryEmbedding(z, o, t, t)") ==
        "RotaryEmbedding/2x4x6x8-t9-bshd");
  CHECK_SAYS(rotary("y = RotaryEmbedding(x, t, t)"), "not 2x6x4");
  CHECK_SAYS(rotary("y = RotaryEmbedding(x, h, h, p)"), "not 9x4");
  CHECK_SAYS(rotary("y = RotaryEmbedding(x, t, h, p)"), "do not fit");
  CHECK_SAYS(rotary("y = RotaryEmbedding<num_heads = 5>(z, t, t, p)"), "num_heads");
  CHECK_SAYS(rotary("y = RotaryEmbedding(p, t, t, p)"), "three or four dims");
}

TEST_CASE("LinearAttention: rules, what they need, and what does not fit") {
  const char* const in = "float[2,5,24] q, float[2,5,12] k, float[2,5,6] v, float[2,3,4,2] p, "
                         "float[2,5,3] h, float[2,5,1] o, float16[2,5,24] g";
  const auto linear = [&](std::string_view rule, std::string_view operands) {
    return last_layer(27, in,
                      "y, z = LinearAttention<q_num_heads = 6, kv_num_heads = 3, update_rule = \"" +
                          std::string(rule) + "\">(" + std::string(operands) + ")",
                      {}, {.batch = 2});
  };
  CHECK(linear("linear", "q, k, v") == "LinearAttention/2x6x5x4-kv3-v2");
  CHECK(linear("gated", "q, k, v, p, k") == "LinearAttention/2x6x5x4-kv3-v2-gated-past");
  CHECK(linear("gated", "q, k, v, , h") == "LinearAttention/2x6x5x4-kv3-v2-gated-per_head");
  CHECK(linear("delta", "q, k, v, p, , o") == "LinearAttention/2x6x5x4-kv3-v2-delta-one_rate-past");
  CHECK(linear("gated_delta", "q, k, v, , k, h") == "LinearAttention/2x6x5x4-kv3-v2-gated_delta");
  // States are kept in f32 where the others are not.
  CHECK(linear("linear", "g, k, v, p") == "LinearAttention/2x6x5x4-kv3-v2-past-f32");
  CHECK_SAYS(linear("gated", "q, k, v"), "input 4 is missing");
  CHECK_SAYS(linear("delta", "q, k, v"), "input 5 is missing");
  CHECK_SAYS(linear("gated", "q, k, v, , o"), "its decay 2x5x1 does not fit");
  CHECK_SAYS(linear("delta", "q, k, v, , , k"), "its rates 2x5x12 do not fit");
  CHECK_SAYS(linear("linear", "q, k, v, h"), "its past 2x5x3 is not 2x3x4x2");
  CHECK_SAYS(linear("linear", "q, q, v"), "do not fit its heads");
  CHECK_SAYS(linear("most", "q, k, v"), "'most'");
  CHECK_SAYS(last_layer(27, in, "y, z = LinearAttention<q_num_heads = 6>(q, k, v)"), "no heads");
}

TEST_CASE("TfIdfVectorizer: pools of numbers") {
  const auto counts = [](std::string_view attributes, std::string_view x = "x") {
    return last_layer(9, "int32[2,6] x, float[6] f",
                      "y = TfIdfVectorizer<max_skip_count = 5, " + std::string(attributes) + ">(" +
                          std::string(x) + ")",
                      {}, {.batch = 2});
  };
  const std::string pairs = "min_gram_length = 2, max_gram_length = 2, ngram_counts = [0, 4], ";
  const std::string pool = "pool_int64s = [2, 3, 5, 4, 5, 6, 7, 8, 6, 7], ";
  const std::string at = "ngram_indexes = [0, 1, 2, 3, 4, 5, 9], mode = ";
  CHECK(counts(pairs + pool + at + "\"TF\"") ==
        "TfIdfVectorizer/2x6-o10-min2-max2-skip5-pool4x3-s32");
  CHECK(counts(pairs + pool + at + "\"TFIDF\"") ==
        "TfIdfVectorizer/2x6-o10-min2-max2-skip5-pool4x3-s32"); // all weights are one
  CHECK(counts(pairs + pool + at + "\"TFIDF\", weights = [1.0,1.0,1.0,1.0,1.0,1.0,2.0]") ==
        "TfIdfVectorizer/2x6-o10-min2-max2-skip5-pool4x3-tfidf-s32");
  CHECK_SAYS(counts(pairs + pool + at + "\"TF\", weights = [1.0]"), "one of each n-gram");
  CHECK_SAYS(counts(pairs + pool + at + "\"DF\""), "'DF'");
  CHECK_SAYS(counts(pairs + pool + at + "\"TF\"", "f"), "whole numbers");
  CHECK_SAYS(counts(pairs + "pool_int64s = [2, 3, 5, 4, 5], " + at + "\"TF\""),
             "do not fit its pool");
  CHECK_SAYS(counts(pairs + "pool_strings = [\"a\"], " + at + "\"TF\""), "strings");
  CHECK_SAYS(counts(pool + at + "\"TF\", ngram_counts = [0, 4]"), "out of range");
}

TEST_CASE("Softmax: a matrix before opset 13, an axis from then on") {
  const char* const in = "float[1,3,4,5] x";
  CHECK(last_layer(12, in, "y = Softmax(x)") == "Softmax/1x60-a1");
  CHECK(last_layer(12, in, "y = Softmax<axis = 2>(x)") == "Softmax/3x20-a1");
  CHECK(last_layer(12, in, "y = Softmax<axis = -1>(x)") == "Softmax/12x5-a1");
  CHECK(last_layer(12, in, "y = LogSoftmax<axis = 0>(x)") == "LogSoftmax/1x60-a1");
  CHECK(last_layer(13, in, "y = Softmax(x)") == "Softmax/1x3x4x5-a3");
  CHECK(last_layer(13, in, "y = Softmax<axis = 1>(x)") == "Softmax/1x3x4x5-a1");
  CHECK_SAYS(last_layer(13, in, "y = Softmax<axis = 4>(x)"), "axis 4 lies outside");
  CHECK(dims_of_y(12, in, "y = Softmax(x)") == "1x3x4x5");
}

TEST_CASE("reductions: axes by attribute and by input, kept or dropped") {
  const char* const in = "float[2,3,4] x";
  const benanza::onnx::options two{.batch = 2};
  for (std::string_view f : op::reduction_families) {
    const std::string name(f);
    CHECK(last_layer(11, in, "y = " + name + "<axes = [-1, 1]>(x)", "", two) ==
          name + "/2x3x4-a1x2");
    CHECK(last_layer(18, in, "y = " + name + "(x, axes)", "int64[1] axes = {2}", two) ==
          name + "/2x3x4-a2");
    CHECK(last_layer(11, in, "y = " + name + "(x)", "", two) == name + "/2x3x4-a0x1x2");
  }
  CHECK(last_layer(13, in, "y = ReduceSum(x, axes)", "int64[1] axes = {1}", two) ==
        "ReduceSum/2x3x4-a1");
  CHECK(last_layer(18, in, "y = ReduceMean<noop_with_empty_axes = 1>(x)", "", two) ==
        "ReduceMean/2x3x4");
  CHECK(dims_of_y(11, in, "y = ReduceMax<axes = [1], keepdims = 0>(x)", "", two) == "2x4");
  CHECK(dims_of_y(11, in, "y = ReduceMax<axes = [1]>(x)", "", two) == "2x1x4");
  CHECK(dims_of_y(11, in, "y = ReduceMax<keepdims = 0>(x)", "", two) == "scalar");
  CHECK_SAYS(last_layer(11, in, "y = ReduceMax<axes = [1, -2]>(x)", "", two), "named twice");
  CHECK_SAYS(last_layer(11, in, "y = ReduceMax<axes = [3]>(x)", "", two), "axis 3");
  CHECK_SAYS(last_layer(18, "float[2,3,4] x, int64[1] a", "y = ReduceMax(x, a)", "", two),
             "computed when the model runs");
}

TEST_CASE("QuantizeLinear and DequantizeLinear: types, axes, blocks, zero points") {
  const char* const in = "float[1,8,4,4] x";
  CHECK(last_layer(13, in, "y = QuantizeLinear(x, s, z)", "float s, uint8 z = {0}") ==
        "QuantizeLinear/1x8x4x4-u8");
  CHECK(last_layer(13, in, "y = QuantizeLinear(x, s, z)", "float s, uint8 z = {128}") ==
        "QuantizeLinear/1x8x4x4-u8-z");
  CHECK(last_layer(13, in, "y = QuantizeLinear(x, s, z)", "float[8] s, int8[8] z") ==
        "QuantizeLinear/1x8x4x4-s8-a1-z");
  CHECK(last_layer(10, in, "y = QuantizeLinear(x, s)", "float s") == "QuantizeLinear/1x8x4x4-u8");
  CHECK(last_layer(21, in, "y = QuantizeLinear<output_dtype = 5>(x, s)", "float[1] s") ==
        "QuantizeLinear/1x8x4x4-s16");
  CHECK(last_layer(21, "float[3,8] x", "y = QuantizeLinear<block_size = 4>(x, s)", "float[3,2] s",
                   {.batch = 3}) == "QuantizeLinear/3x8-u8-a1-k4");
  CHECK(last_layer(13, "uint8[1,8] x", "y = DequantizeLinear<axis = -1>(x, s)", "float[8] s") ==
        "DequantizeLinear/1x8-u8-a1");
  CHECK_SAYS(last_layer(13, in, "y = QuantizeLinear(x, s)", "float[7] s"), "not 8");
  const auto codes = [&](int type) {
    return last_layer(
        25, in, "y = QuantizeLinear<output_dtype = " + std::to_string(type) + ">(x, s)", "float s");
  };
  CHECK(codes(22) == "QuantizeLinear/1x8x4x4-s4");
  CHECK(codes(23) == "QuantizeLinear/1x8x4x4-e2m1");
  CHECK(codes(25) == "QuantizeLinear/1x8x4x4-u2");
  CHECK(codes(20) == "QuantizeLinear/1x8x4x4-e5m2z");
  CHECK_SAYS(codes(24), "whole numbers or floats of 8");
  CHECK_SAYS(codes(27), "float6e2m3, which no layer holds");
  CHECK(last_layer(11, in, "q, s, z = DynamicQuantizeLinear(x) y = Relu(s)") == "Relu/scalar");
}

TEST_CASE("layers on codes: types, zero points that are not zero, scales of channels") {
  const char* const conv = "y = QLinearConv<pads = [1, 1, 1, 1]>(x, s, z, w, ws, wz, s, z, b)";
  CHECK(last_layer(10, "uint8[1,3,8,8] x", conv,
                   "float s, uint8 z = {0}, int8[4,3,3,3] w, float[4] ws, int8 wz = {0}, "
                   "int32[4] b") == "QLinearConv/1x3x8x8-4x3x3-s1-p1-b-u8s8u8-pc");
  CHECK(last_layer(10, "uint8[1,3,8,8] x", conv,
                   "float s, uint8 z = {128}, uint8[4,3,3,3] w, float ws, uint8 wz = {3}, "
                   "int32[4] b") == "QLinearConv/1x3x8x8-4x3x3-s1-p1-b-u8u8u8-za-zb-zr");
  CHECK(last_layer(10, "uint8[1,3,8,8] x", "y = ConvInteger(x, w)", "int8[4,3,1,1] w") ==
        "ConvInteger/1x3x8x8-4x1x1-s1-u8s8s32");
  CHECK(last_layer(10, "uint8[1,8] x", "y = MatMulInteger(x, w)", "int8[8,4] w") ==
        "MatMulInteger/1x8-8x4-w-u8s8s32");
  CHECK(last_layer(10, "int8[1,8] x", "y = QLinearMatMul(x, s, z, w, s, z, s, z)",
                   "int8[8,4] w, float s, int8 z = {0}") == "QLinearMatMul/1x8-8x4-w-s8s8s8");
  CHECK_SAYS(last_layer(10, "uint8[2,8] x", "y = QLinearMatMul(x, s, u, w, t, z, t, u)",
                        "int8[8,4] w, float[2] s, float t, int8 z, uint8 u", {.batch = 2}),
             "not one number");
}

TEST_CASE("products with weights of a few bits") {
  const auto layer = [](std::string_view more, std::string_view operands,
                        std::string_view tensors) {
    return last_layer(17, "float[1,3,64] x",
                      "y = com.microsoft.MatMulNBits<K = 64, N = 2, block_size = 32" +
                          std::string(more) + ">(x" + std::string(operands) + ")",
                      tensors);
  };
  std::string codes = "uint8[2,2,16] b = {1";
  for (int i = 1; i < 64; ++i)
    codes += ", 1";
  codes += "}, float[4] s = {1, 1, 1, 1}";
  CHECK(layer("", ", b, s", codes) == "MatMulNBits/1x3x64-n2-k32");
  CHECK(layer("", ", b, s, z", codes + ", uint8[2] z = {8, 8}") == "MatMulNBits/1x3x64-n2-k32-z");
  CHECK(layer("", ", b, s, , , c", codes + ", float[2] c = {0, 0}") ==
        "MatMulNBits/1x3x64-n2-k32-b");
  CHECK_SAYS(layer(", bits = 8", ", b, s", codes), "2x2x16, not 2x2x32");
  CHECK_SAYS(layer(", bits = 2", ", b, s", codes), "4 or 8 bits");
  CHECK_SAYS(layer("", ", b, s, z", codes + ", float[4] z = {8, 8, 8, 8}"), "not packed codes");
  CHECK_SAYS(layer("", ", b, s, , g", codes + ", int32[1] g = {0}"), "g_idx");
}

TEST_CASE("recurrent layers: what is optional, and what does not fit") {
  const char* const in = "float[5,2,3] x";
  const char* const weights = "float[2,16,3] w, float[2,16,4] r, float[2,32] b, float[2,2,4] h";
  const benanza::onnx::options o{.batch = 5};
  CHECK(last_layer(14, in, "y, l, c = LSTM<direction = \"bidirectional\">(x, w, r, b, , h, h)",
                   weights, o) == "LSTM/5x2x3-h4-bidirectional-b-h0-c0-n3");
  CHECK(last_layer(14, in, "a, l = LSTM<direction = \"bidirectional\">(x, w, r) y = Relu(l)",
                   weights, o) == "Relu/2x2x4");
  CHECK(last_layer(14, in,
                   "y = GRU<linear_before_reset = 1, clip = 2.0, activations = [\"Sigmoid\", "
                   "\"Tanh\"]>(x, w, r)",
                   "float[1,12,3] w, float[1,12,4] r", o) == "GRU/5x2x3-h4-after-clip");
  CHECK(last_layer(14, in, "y = RNN<layout = 1, activations = [\"Relu\"]>(x, w, r)",
                   "float[1,4,3] w, float[1,4,4] r", o) == "RNN/2x5x3-h4-nt-f0");
  CHECK(dims_of_y(14, in, "y = RNN<layout = 1>(x, w, r)", "float[1,4,3] w, float[1,4,4] r", o) ==
        "5x2x1x4");
  CHECK_SAYS(last_layer(14, in, "y = GRU(x, w, r)", weights, o), "not 1x12x3");
  CHECK_SAYS(last_layer(14, in, "y = RNN<activations = [\"Affine\"]>(x, w, r)",
                        "float[1,4,3] w, float[1,4,4] r", o),
             "none that layers have");
}
