// SPDX-License-Identifier: Apache-2.0
// Elementwise functions, in the versions that differ.
#include "text_model.hpp"

using namespace benanza::test;
namespace op = benanza::op;

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
  CHECK(last_layer(13, in, "y = Sum(x)", "", two) == "Sum/2x3-n1");
  CHECK(last_layer(13, in, "y = Sum(x, a, x, a)", "", two) == "Sum/2x3-n4");
  CHECK(last_layer(13, in, "y = Max(x, a, b)", "", two) == "Max/3-2x3-n3");
  CHECK(last_layer(13, in, "y = Max(b, x, a)", "", two) == "Max/3-2x3-n3");
  CHECK(last_layer(13, in, "y = Max(x, b, a)", "", two) == "Max/3-2x3-n3");
  CHECK(last_layer(13, in, "y = Mean(b, x)", "", two) == "Mean/3-2x3");
  CHECK(all_layers(in, "y = Min(x, b, c)") == "Min/2x3-3 Min/2x3-1");
  CHECK(all_layers(in, "y = Sum(c, b, x)") == "Add/1-3 Add/3-2x3");
  CHECK(all_layers(in, "y = Mean(x, b, c)") == "Add/2x3-3 Add/2x3-1 Mul/2x3-1");
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
  CHECK(all_layers("float[2] x, int64[2] e", "y = Pow(x, e)") == "Cast/2-s64-real Pow/2");
  CHECK(all_layers("int32[2] x, float[2] e", "y = Pow(x, e)") ==
        "Cast/2-s32-real Pow/2 Cast/2-real-s32");
  CHECK(all_layers("int32[2] x, int64[2] e", "y = Pow(x, e)") == "Cast/2-s64-s32 Pow/2-s32");
  CHECK(all_layers("float[2] x, float16[2] e", "y = Pow(x, e)") == "Pow/2");
}

TEST_CASE("comparisons give truth values") {
  CHECK(last_layer(13, "float[3] x", "a = IsNaN(x) y = Not(a)") == "Not/3-bool");
  CHECK(last_layer(13, "float[3] x", "a = Less(x, x) y = Not(a)") == "Not/3-bool");
}

TEST_CASE("PRelu: one slope a channel, in old and new versions") {
  CHECK(last_layer(9, "float[2,3,4,4] x", "y = PRelu(x, s)", "float[3,1,1] s", two) ==
        "PRelu/2x3x4x4-3x1x1");
  CHECK(last_layer(6, "float[2,3,4,4] x", "y = PRelu(x, s)", "float[3] s", two) ==
        "PRelu/2x3x4x4-3x1x1");
  CHECK(last_layer(6, "float[2,3,4,4] x", "y = PRelu(x, s)", "float[1] s", two) ==
        "PRelu/2x3x4x4-1");
  CHECK_SAYS(last_layer(9, "float[2,3] x", "y = PRelu(x, s)", "float[4,2,3] s", two), "slope");
}
