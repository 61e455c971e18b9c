// SPDX-License-Identifier: Apache-2.0
// Does shape arithmetic come out exactly? Each case ends in a Reshape or an Expand whose dims are
// what was computed.
#include "text_model.hpp"

using namespace benanza::test;

namespace {
/// The numbers that `nodes` compute as `v`, seen as the dims of an Expand.
std::string numbers(std::string_view nodes, std::string_view tensors = {}, int opset = 13) {
  const std::string all = std::string(nodes) + " y = Expand(x, v)";
  return dims_of_y(opset, "float[N,1,1] x", all, tensors);
}

/// The same for `nodes` that start from the shape of a tensor of 2x3x4.
std::string of_shape(std::string_view nodes, std::string_view tensors = {}, int opset = 13) {
  const std::string all = "s = Shape(a) " + std::string(nodes) + " y = Expand(x, v)";
  return dims_of_y(opset, "float[2,3,4] a, float[1] x", all, tensors, two);
}
} // namespace

TEST_CASE("shapes are taken apart and put together") {
  CHECK(of_shape("v = Identity(s)") == "2x3x4");
  CHECK(of_shape("v = Shape<start = 1>(a)", "", 15) == "3x4");
  CHECK(of_shape("v = Shape<start = -2, end = -1>(a)", "", 15) == "3");
  CHECK(of_shape("v = Gather(s, i)", "int64[2] i = {2, -3}") == "4x2");
  CHECK(of_shape("v = Slice(s, b, e)", "int64[1] b = {1}, int64[1] e = {9223372036854775807}") ==
        "3x4");
  CHECK(of_shape("v = Slice(s, b, e, z, t)",
                 "int64[1] b = {-1}, int64[1] e = {-9223372036854775807}, int64[1] z = {0},"
                 "int64[1] t = {-1}") == "4x3x2");
  CHECK(of_shape("g = Gather(s, i) u = Unsqueeze(g, z) v = Concat<axis = 0>(u, c)",
                 "int64 i = {1}, int64[1] z = {0}, int64[2] c = {7, 1}") == "3x7x1");
  CHECK(of_shape("p, q, r = Split(s) v = Concat<axis = 0>(r, p)") == "4x2");
  CHECK(of_shape("p, v = Split(s, z)", "int64[2] z = {1, 2}") == "3x4");
  CHECK(of_shape("t = Reshape(s, z) w = Transpose(t) v = Reshape(w, f)",
                 "int64[2] z = {3, 1}, int64[1] f = {-1}") == "2x3x4");
  CHECK(of_shape("n = Size(a) v = Reshape(n, f)", "int64[1] f = {1}") == "24");
  CHECK(of_shape("v = ReduceProd<axes = [0]>(s)") == "24");
  CHECK(of_shape("v = ReduceMax(s)") == "4");
  CHECK(of_shape("v = ReduceSum(s)") == "9");
  CHECK(of_shape("v = Tile(s, t)", "int64[1] t = {2}") == "2x3x4x2x3x4");
  CHECK(of_shape("c = Concat<axis = 0>(s, f) v = Squeeze(c)", "int64[1] f = {5}") == "2x3x4x5");
  CHECK(of_shape("v = Clip(s, b)", "int64[2] b = {3, 3}") == "?");
  CHECK(of_shape("v = Trilu(s)", "", 14) == "?");
}

TEST_CASE("bits and remainders") {
  CHECK(numbers("r = Range(a, b, c) v = Cast<to = 7>(r)",
                "float a = {2}, float b = {4}, float c = {0.75}") == "2x2x3");
  CHECK(of_shape("v = BitwiseXor(s, c)", "int64 c = {1}", 18) == "3x2x5");
  CHECK(of_shape("v = BitwiseAnd(s, c)", "int64 c = {6}", 18) == "2x2x4");
  CHECK(of_shape("v = BitShift<direction = \"LEFT\">(s, c)", "int64 c = {2}", 18) == "8x12x16");
  CHECK(of_shape("v = BitShift<direction = \"RIGHT\">(s, c)", "int64 c = {1}", 18) == "1x1x2");
  CHECK(of_shape("n = BitwiseNot(s) v = Neg(n)", "", 18) == "3x4x5");
  CHECK(of_shape("v = Max(s, c, d)", "int64[1] c = {3}, int64 d = {1}", 18) == "3x3x4");
}

TEST_CASE("whole numbers are exact and know their limits") {
  CHECK(of_shape("v = Add(s, s)") == "4x6x8");
  CHECK(of_shape("d = Div(s, c) v = Add(d, c)", "int64 c = {2}") == "3x3x4");
  CHECK(of_shape("v = Mod(s, c)", "int64 c = {3}") == "2x0x1");
  CHECK(of_shape("m = Mod(n, c) v = Add(m, s)", "int64 c = {-3}, int64 n = {4}") == "0x1x2");
  CHECK(of_shape("m = Mod<fmod = 1>(n, c) v = Add(m, s)", "int64 c = {-3}, int64 n = {4}") ==
        "3x4x5");
  CHECK(of_shape("v = Min(s, c)", "int64 c = {3}") == "2x3x3");
  CHECK(of_shape("v = Max(s, c)", "int64 c = {3}") == "3x3x4");
  CHECK(of_shape("n = Neg(s) v = Abs(n)") == "2x3x4");
  CHECK(of_shape("v = Pow(s, c)", "int64 c = {2}") == "4x9x16");
  CHECK(of_shape("v = Clip(s, c)", "int64 c = {3}") == "3x3x4");
  // 2^53 + 1 is no double: what passes through one comes out wrong.
  CHECK(numbers("d = Sub(big, less) v = Reshape(d, f)",
                "int64 big = {9007199254740993}, int64 less = {9007199254740990},"
                "int64[1] f = {1}") == "1x1x3");
  CHECK(numbers("v = Mul(big, big)", "int64[1] big = {9223372036854775807}") == "?");
  CHECK(numbers("v = Div(one, zero)", "int64[1] one = {1}, int64[1] zero = {0}") == "?");
  CHECK(numbers("v = Mod(one, zero)", "int64[1] one = {1}, int64[1] zero = {0}") == "?");
}

TEST_CASE("before opset 7 an operand is placed where an attribute says, which is not computed") {
  const auto sum = [](std::string_view attributes, std::string_view b) {
    const std::string nodes =
        "s = Add<" + std::string(attributes) + ">(a, b) f = Reshape(s, k) y = Reshape(x, f)";
    return dims_of_y(6, "float[24] x", nodes,
                     "int64[3,1] a = {1, 2, 3}, int64[1] k = {3}, " + std::string(b));
  };
  CHECK(sum("broadcast = 1", "int64[1] b = {1}") == "2x3x4");
  CHECK(sum("broadcast = 1, axis = 0", "int64[3] b = {1, 1, 1}") == "?");
}

TEST_CASE("conditions choose") {
  CHECK(of_shape("e = Equal(s, c) v = Where(e, c, s)", "int64[3] c = {2, 9, 9}") == "2x3x4");
  CHECK(of_shape("e = Greater(s, c) n = Not(e) v = Where(n, d, s)",
                 "int64 c = {3}, int64 d = {5}") == "5x5x4");
  CHECK(of_shape("l = LessOrEqual(s, c) g = GreaterOrEqual(s, c) b = And(l, g) v = Where(b, d, s)",
                 "int64 c = {3}, int64 d = {7}") == "2x7x4");
  CHECK(of_shape("e = Equal(s, c) o = Or(e, e) x1 = Xor(o, e) v = Where(x1, c, s)",
                 "int64 c = {3}") == "2x3x4");
}

TEST_CASE("constants are made and spread") {
  CHECK(numbers("v = ConstantOfShape<value = int64[1] {3}>(n)", "int64[1] n = {4}") == "3x3x3x3");
  CHECK(numbers("v = Range(a, b, c)", "int64 a = {2}, int64 b = {7}, int64 c = {2}") == "2x4x6");
  CHECK(numbers("v = Range(a, b, c)", "int64 a = {4}, int64 b = {1}, int64 c = {-1}") == "4x3x2");
  CHECK(numbers("v = Expand(a, b)", "int64[1] a = {3}, int64[1] b = {3}") == "3x3x3");
  CHECK(numbers("n = NonZero(a) r = Reshape(n, f) v = Add(r, one)",
                "int64[4] a = {0, 5, 0, 1}, int64[1] f = {-1}, int64 one = {1}") == "1x2x4");
  CHECK(numbers("v = Constant<value_ints = [3, 2]>()") == "1x3x2");
  const char* const four = "int64[4] a = {4, 2, 2, 3}, int64[2] i = {-1, 1}, int64[2] u = {5, 6},"
                           "int64[2,1] j = {2, 0}, int64 z = {0}, int64[1] two = {2},"
                           "bool[4] h = {0, 1, 0, 1}";
  CHECK(numbers("v = GatherElements(a, i)", four) == "1x3x2");
  CHECK(numbers("v = GatherND(a, j)", four) == "1x2x4");
  CHECK(numbers("v = ScatterElements(a, i, u)", four) == "4x6x2x5");
  CHECK(numbers("v = ScatterND<reduction = \"add\">(a, j, u)", four, 16) == "10x2x7x3");
  CHECK(numbers("v = CumSum<exclusive = 1>(a, z)", four) == "0x4x6x8");
  CHECK(numbers("v, p = TopK(a, two)", four) == "1x4x3");
  CHECK(numbers("p, v = TopK<largest = 0>(a, two)", four) == "1x1x2");
  CHECK(numbers("v = ArgMax(a)", four) == "1x1x0");
  CHECK(numbers("v = Compress(a, h)", four) == "1x2x3");
  CHECK(dims_of_y(13, "float[1,1] x", "v = Compress(a, h) y = Expand(x, v)",
                  "int64[2] a = {2, 3}, bool[3] h = {0, 1, 1}",
                  {.sizes = benanza::onnx::data_dependent::largest}) == "?");
  CHECK(numbers("v = Unique(a)", four) == "2x3x4");
  CHECK(numbers("p, q, r, v = Unique<sorted = 0>(a)", four) == "1x2x1");
  CHECK(numbers("v = OneHot(z, two, u)", four) == "1x6x5");
  CHECK(numbers("v = GatherElements(a, u)", four) == "?");
  CHECK(numbers("c = Constant<value_int = 3>() v = Reshape(c, f)", "int64[1] f = {1}") == "1x1x3");
  CHECK(numbers("v = Range(a, b, c)", "int64 a = {2}, int64 b = {7}, int64 c = {0}") == "?");
  CHECK(numbers("v = Range(a, b, c)",
                "int64 a = {0}, int64 b = {4611686018427387904}, int64 c = {1}") == "?");
}

TEST_CASE("reals are rounded as their type is") {
  const char* const scale = "float c = {1.6666666}, float half = {0.5}";
  CHECK(of_shape("r = Cast<to = 1>(s) m = Mul(r, c) f = Floor(m) v = Cast<to = 7>(f)", scale) ==
        "3x5x6");
  CHECK(of_shape("r = Cast<to = 1>(s) m = Mul(r, half) f = Ceil(m) v = Cast<to = 7>(f)", scale) ==
        "1x2x2");
  CHECK(of_shape("r = Cast<to = 1>(s) m = Mul(r, half) f = Round(m) v = Cast<to = 7>(f)", scale) ==
        "1x2x2");
  CHECK(of_shape("r = Cast<to = 1>(s) q = Sqrt(r) m = Mul(q, q) v = Cast<to = 7>(m)", scale) ==
        "1x3x4"); // the root of 2 in single precision, squared, is less than 2
  CHECK(of_shape("r = Cast<to = 11>(s) i = Reciprocal(r) j = Reciprocal(i) v = Cast<to = 7>(j)") ==
        "2x3x4");
  const auto by_way_of = [](int type, const std::string& number) {
    return numbers("r = Cast<to = " + std::to_string(type) + ">(a) v = Cast<to = 7>(r)",
                   "int64[1] a = {" + number + "}");
  };
  CHECK(by_way_of(10, "2049") == "1x1x2048"); // halves go to the even one
  CHECK(by_way_of(10, "2051") == "1x1x2052");
  CHECK(by_way_of(10, "65519") == "1x1x65504");
  CHECK(by_way_of(10, "65520") == "?"); // infinite
  CHECK(by_way_of(16, "257") == "1x1x256");
  CHECK(by_way_of(16, "259") == "1x1x260");
  CHECK(of_shape("r = Cast<to = 1>(s) m = Div(r, z) v = Cast<to = 7>(m)", "float z = {0}") == "?");
}

TEST_CASE("of what a CastLike is like the type is read alone: a constant stays one") {
  const auto g = graph_of(text_model(19, "float16[2,3] x", "z = CastLike(c, x) y = Where(b, z, x)",
                                     "float c = {0}, bool[3] b = {0, 1, 0}", "float16[1] y"));
  CHECK(g.folded == 1);
  REQUIRE(g.nodes.size() == 1);
  CHECK(layer_name(g, g.nodes[0]) == "Where/3-1-2x3");
  CHECK(dims_of_y(19, "float[1,1] x, int64[7] like",
                  "f = CastLike(c, like) v = Mul(f, f) y = Expand(x, v)",
                  "float[2] c = {2.5, 3}") == "4x9");
}

TEST_CASE("what is too large to compute with is not computed, but stays constant") {
  CHECK(dims_of_y(13, "float[2,3] x", "v = Range(a, b, c) w = Cast<to = 1>(v) y = Add(x, w)",
                  "int64 a = {0}, int64 b = {5000}, int64 c = {1}", two) == "?"); // 3 and 5000
  const auto g = graph_of(text_model(13, "float[1,5000] x",
                                     "v = Range(a, b, c) w = Cast<to = 1>(v) y = Add(x, w)",
                                     "int64 a = {0}, int64 b = {5000}, int64 c = {1}"));
  CHECK(g.nodes.size() == 1);
  CHECK(g.folded == 2);
  CHECK(layer_name(g, g.nodes[0]) == "Add/1x5000-5000");
}

TEST_CASE("a value that is not in the file, or from the input, is named") {
  CHECK_SAYS(last_layer(13, "float[6] x", "t = Add(w, w) y = Reshape(x, t)", "int64[1] w"),
             "are not known since Add");
  CHECK_SAYS(last_layer(13, "float[6] x, int64[1] i", "t = Add(i, i) y = Reshape(x, t)"),
             "computed when the model runs");
  CHECK_SAYS(last_layer(13, "float[2,3] x", "s = Shape(x) g = Gather(s, i) y = Expand(x, g)",
                        "int64[1] i = {2}", two),
             "the numbers in its input 1 are not known since Gather (it gathers at 2 of 2)");
}

TEST_CASE("the whole pattern of exporters works in every opset") {
  for (int opset : {9, 11, 13, 14, 18}) {
    const std::string unsqueeze =
        opset < 13 ? "u = Unsqueeze<axes = [0]>(n)" : "u = Unsqueeze(n, z)";
    const std::string nodes = "s = Shape(x) n = Gather(s, i) " + unsqueeze +
                              " t = Concat<axis = 0>(u, r) y = Reshape(x, t)";
    CHECK(last_layer(opset, "float[N,3,4] x", nodes,
                     "int64 i = {0}, int64[1] z = {0}, int64[1] r = {-1}",
                     {.batch = 5}) == "Reshape/5x3x4-5x12");
  }
}
