// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("Cast, CastLike and Where: types and dims") {
  const auto cast = [](const std::string& from, int to) {
    return last_layer(21, from + "[2,3] x", "y = Cast<to = " + std::to_string(to) + ">(x)", "",
                      two);
  };
  CHECK(cast("float", 7) == "Cast/2x3-real-s64");
  CHECK(cast("int64", 1) == "Cast/2x3-s64-real");
  CHECK(cast("int32", 7) == "Cast/2x3-s32-s64");
  CHECK(cast("bool", 11) == "Cast/2x3-bool-real");
  CHECK(cast("float", 10) == "Cast/2x3-f32-f16");
  CHECK(cast("double", 9) == "Cast/2x3-real-bool");
  CHECK(cast("float", 17) == "Cast/2x3-f32-e4m3");
  CHECK(cast("float", 1) == "Identity/2x3");
  CHECK(cast("float", 18) == "Cast/2x3-f32-e4m3z");
  CHECK(cast("float", 20) == "Cast/2x3-f32-e5m2z");
  CHECK(cast("float", 23) == "Cast/2x3-f32-e2m1");
  CHECK(cast("float16", 24) == "Cast/2x3-f16-e8m0");
  CHECK(cast("float", 22) == "Cast/2x3-real-s4");
  CHECK(cast("float", 21) == "Cast/2x3-real-u4");
  CHECK(cast("int8", 26) == "Cast/2x3-s8-s2");
  CHECK(cast("uint16", 25) == "Cast/2x3-u16-u2");
  CHECK_SAYS(cast("float", 27), "no memory holds its elements, float6e2m3");
  CHECK_SAYS(cast("float", 8), "no memory holds its elements, string");
  CHECK_SAYS(cast("float", 99), "not one that ONNX knows");
  CHECK(last_layer(19, "float[2,3] x, int8[1] t", "y = CastLike(x, t)", "", two) ==
        "Cast/2x3-real-s8");
  // From such types, by way of a first Cast.
  const auto again = [](int between, int to) {
    return last_layer(21, "float[2,3] x",
                      "z = Cast<to = " + std::to_string(between) +
                          ">(x) y = Cast<to = " + std::to_string(to) + ">(z)",
                      "", two);
  };
  CHECK(again(22, 1) == "Cast/2x3-s4-real");
  CHECK(again(25, 3) == "Cast/2x3-u2-s8");
  CHECK(again(18, 10) == "Cast/2x3-e4m3z-f16");
  CHECK(again(23, 22) == "Cast/2x3-e2m1-s4");
  CHECK(again(26, 26) == "Identity/2x3-s2");
  CHECK(last_layer(21, "float[2,3] x", "z = Cast<to = 22>(x) y = Transpose(z)", "", two) ==
        "Transpose/2x3-o1x0-s4");
  CHECK(last_layer(21, "float[2,3] x",
                   "z = Cast<to = 22>(w) t = Transpose(z) d = DequantizeLinear(t, s) "
                   "y = MatMul(x, d)",
                   "float[4,3] w, float s", two) == "MatMul/2x3-3x4-w");
  const auto bits = [](const std::string& from, int to) {
    return last_layer(26, from + "[2,3] x", "y = BitCast<to = " + std::to_string(to) + ">(x)", "",
                      two);
  };
  CHECK(bits("float", 6) == "BitCast/2x3-f32-s32");
  CHECK(bits("bool", 2) == "BitCast/2x3-bool-u8");
  CHECK(bits("double", 7) == "BitCast/2x3-f64-s64");
  CHECK_SAYS(bits("float", 7), "another width");
  CHECK_SAYS(bits("float", 8), "no memory holds its elements, string");
  CHECK_SAYS(bits("float", 99), "not one that ONNX knows");
  const char* const in = "bool[2,1] c, float[2,3] x, float z, int64[3] w";
  CHECK(last_layer(16, in, "y = Where(c, x, z)", "", two) == "Where/2x1-2x3-1");
  CHECK(last_layer(16, in, "y = Where(c, w, w)", "", two) == "Where/2x1-3-s64");
  CHECK_SAYS(last_layer(16, "bool[2] c, float[2,3] x", "y = Where(c, x, x)", "", two),
             "do not broadcast");
}
