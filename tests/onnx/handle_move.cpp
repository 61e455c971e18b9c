// SPDX-License-Identifier: Apache-2.0
// Layers that move data, in the versions that differ, at the edges of their arguments.
#include "text_model.hpp"

using namespace benanza::test;

namespace {
std::string slice(std::string_view starts, std::string_view ends, std::string_view more = {},
                  std::string_view rest = {}) {
  const std::string tensors = "int64[1] s = {" + std::string(starts) + "}, int64[1] e = {" +
                              std::string(ends) + "}" + std::string(rest);
  return last_layer(13, "float[2,9] x", "y = Slice(x, s, e" + std::string(more) + ")", tensors,
                    two);
}
} // namespace

TEST_CASE("Concat") {
  const char* const in = "float[2,3,4] x, float[2,5,4] b";
  CHECK(last_layer(13, in, "y = Concat<axis = 1>(x, b)", "", two) == "Concat/2x8x4-a1-n2");
  CHECK(last_layer(13, in, "y = Concat<axis = -2>(x, b, x)", "", two) == "Concat/2x11x4-a1-n3");
  CHECK(last_layer(1, in, "y = Concat(x, b)", "", two) == "Concat/2x8x4-a1-n2");
  CHECK(last_layer(13, "int64[2] x", "y = Concat<axis = 0>(x, x)") == "Concat/4-a0-n2-s64");
  CHECK_SAYS(last_layer(13, in, "y = Concat(x, b)", "", two), "axis is missing");
  CHECK_SAYS(
      last_layer(13, in, "y = Concat<axis = 2>(w, w, x)", "float[0,5,9223372036854775807] w", two),
      "over 2^40");
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 0>(x, b)", "", two),
             "2x3x4 and 2x5x4 do not fit together");
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 3>(x, b)", "", two), "axis 3");
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 0>()", "", two), "it has 0 inputs");
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 1>(x, , b)", "", two), "input 1 is missing");
  // An empty part is no part.
  CHECK(last_layer(13, "float[2,3] x, float[2,0] b", "y = Concat<axis = 1>(x, b)", "",
                   {.batch = 2, .shapes = {{"b", {2, 0}}}}) == "Concat/2x3-a1-n1");
  const auto g =
      graph_of(text_model(13, "float[2,3] x, float[2,0] b", "y = Concat<axis = 1>(b, x)"),
               {.batch = 2, .shapes = {{"b", {2, 0}}}});
  CHECK(g.nodes.at(0).operands.size() == 1);
}

TEST_CASE("Split: equal, by sizes, by number") {
  const char* const in = "float[2,10] x";
  CHECK(last_layer(11, in, "y, z = Split<axis = 1>(x)", "", two) == "Split/2x10-a1-n2");
  CHECK(dims_of_y(11, in, "a, y = Split<axis = 1, split = [3, 7]>(x)", "", two) == "2x7");
  CHECK(dims_of_y(13, in, "a, y = Split<axis = -1>(x, s)", "int64[2] s = {4, 6}", two) == "2x6");
  CHECK(dims_of_y(18, in, "a, b, y = Split<axis = 1, num_outputs = 3>(x)", "", two) == "2x2");
  CHECK_SAYS(last_layer(13, in, "a, b, y = Split<axis = 1>(x)", "", two), "into 3 equal parts");
  CHECK_SAYS(last_layer(11, in, "a, y = Split<axis = 1, split = [3, 8]>(x)", "", two), "add up");
  CHECK_SAYS(last_layer(11, in, "a, y = Split<axis = 1, split = [-7, 17]>(x)", "", two), "add up");
  CHECK_SAYS(last_layer(18, in, "a, y = Split<axis = 1, num_outputs = 3>(x)", "", two),
             "num_outputs");
}

TEST_CASE("Transpose and the space-depth pair") {
  CHECK(last_layer(13, "float[2,3,4] x", "y = Transpose(x)", "", two) == "Transpose/2x3x4-o2x1x0");
  CHECK(last_layer(13, "float[2,3,4] x", "y = Transpose<perm = [0,2,1]>(x)", "", two) ==
        "Transpose/2x3x4-o0x2x1");
  CHECK_SAYS(last_layer(13, "float[2,3,4] x", "y = Transpose<perm = [0,1]>(x)", "", two),
             "another number of dims");
  CHECK_SAYS(last_layer(13, "float[2,3] x", "y = Transpose<perm = [1,1]>(x)", "", two), "order");
  CHECK(last_layer(13, "float[1,8,2,3] x", "y = DepthToSpace<blocksize = 2>(x)") ==
        "DepthToSpace/1x8x2x3-k2");
  CHECK(last_layer(13, "float[1,8,2,3] x", "y = DepthToSpace<blocksize = 2, mode = \"CRD\">(x)") ==
        "DepthToSpace/1x8x2x3-k2-crd");
  CHECK(dims_of_y(13, "float[1,2,4,6] x", "y = SpaceToDepth<blocksize = 2>(x)") == "1x8x2x3");
  CHECK_SAYS(last_layer(13, "float[1,8,2,3] x", "y = DepthToSpace<blocksize = 3>(x)"), "divide");
  CHECK_SAYS(last_layer(13, "float[1,8,2,3] x", "y = DepthToSpace<blocksize = 1099511627776>(x)"),
             "divide");
  CHECK_SAYS(last_layer(13, "float[1,8,2,3] x", "y = DepthToSpace<blocksize = 0>(x)"), "block");
}

TEST_CASE("Pad: by attribute, by input, on some axes, negative") {
  const char* const in = "float[2,9] x";
  CHECK(last_layer(2, in, "y = Pad<pads = [0,1,0,2]>(x)", "", two) == "Pad/2x9-b0x1-e0x2");
  CHECK(last_layer(1, in, "y = Pad<paddings = [0,1,0,2]>(x)", "", two) == "Pad/2x9-b0x1-e0x2");
  CHECK(last_layer(11, in, "y = Pad<mode = \"reflect\">(x, p)", "int64[4] p = {0,1,0,-2}", two) ==
        "Pad/2x9-b0x1-e0xm2-reflect");
  CHECK(last_layer(18, in, "y = Pad(x, p, , a)", "int64[2] p = {3,4}, int64[1] a = {-1}", two) ==
        "Pad/2x9-b0x3-e0x4");
  CHECK_SAYS(last_layer(11, in, "y = Pad(x, p)", "int64[2] p = {3,4}", two), "do not match");
  CHECK_SAYS(last_layer(11, in, "y = Pad(x, p)", "int64[4] p = {0,-9,0,-1}", two), "cuts off");
  CHECK_SAYS(last_layer(11, in, "y = Pad<mode = \"odd\">(x, p)", "int64[4] p = {0,0,0,1}", two),
             "mode");
  CHECK_SAYS(last_layer(11, "float[2] x, int64[2] p", "y = Pad(x, p)"),
             "computed when the model runs");
}

TEST_CASE("Slice: clamps, negative indices and steps, axes") {
  CHECK(slice("0", "1") == "Slice/2x9-1x9");
  CHECK(slice("2", "9223372036854775807", ", a", ", int64[1] a = {1}") == "Slice/2x9-2x7-from0x2");
  CHECK(slice("-3", "-1", ", a", ", int64[1] a = {-1}") == "Slice/2x9-2x2-from0x6");
  CHECK(slice("1", "8", ", a, t", ", int64[1] a = {1}, int64[1] t = {3}") ==
        "Slice/2x9-2x3-from0x1-by1x3");
  CHECK(slice("-1", "-9223372036854775807", ", a, t", ", int64[1] a = {1}, int64[1] t = {-1}") ==
        "Slice/2x9-2x9-from0x8-by1xm1");
  CHECK(slice("100", "0", ", a, t", ", int64[1] a = {1}, int64[1] t = {-4}") ==
        "Slice/2x9-2x2-from0x8-by1xm4");
  CHECK(slice("5", "2", ", a", ", int64[1] a = {1}") == "Slice/2x9-2x0");
  CHECK(slice("100", "200", ", a", ", int64[1] a = {1}") == "Slice/2x9-2x0");
  CHECK(slice("-100", "200", ", a", ", int64[1] a = {1}") == "Slice/2x9-2x9");
  CHECK(slice("1", "8", ", , t", ", int64[1] t = {1}") == "Slice/2x9-1x9-from1x0");
  CHECK(last_layer(9, "float[2,9] x", "y = Slice<starts = [1], ends = [-1], axes = [1]>(x)", "",
                   two) == "Slice/2x9-2x7-from0x1");
  CHECK_SAYS(slice("0", "1", ", a, t", ", int64[1] a = {1}, int64[1] t = {0}"), "step of 0");
  CHECK_SAYS(slice("0", "1", ", a", ", int64[1] a = {2}"), "axis 2");
  CHECK_SAYS(slice("0", "1", ", a", ", int64[2] a = {0, 1}"), "differ in number");
}

TEST_CASE("Gather") {
  const char* const in = "float[2,9,4] x";
  CHECK(last_layer(13, in, "y = Gather<axis = 1>(x, i)", "int64[3,2] i = {0,1,2,3,4,5}", two) ==
        "Gather/2x9x4-3x2-a1");
  CHECK(dims_of_y(13, in, "y = Gather<axis = 1>(x, i)", "int64[3,2] i = {0,1,2,3,4,5}", two) ==
        "2x3x2x4");
  CHECK(last_layer(13, in, "y = Gather<axis = -1>(x, i)", "int32 i = {0}", two) ==
        "Gather/2x9x4-scalar-a2-i32");
  CHECK(last_layer(13, "int64[1,7] x", "y = Gather(w, x)", "float[100,16] w") ==
        "Gather/100x16-1x7");
  CHECK_SAYS(last_layer(13, in, "y = Gather<axis = 3>(x, i)", "int64 i = {0}", two), "axis 3");
}
