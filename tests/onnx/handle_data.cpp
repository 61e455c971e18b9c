// SPDX-License-Identifier: Apache-2.0
// Layers that move data or nothing, and operators that are no layers but whose dims are known: in
// the versions that differ, at the edges of their arguments.
#include "text_model.hpp"

using namespace benanza::test;
using benanza::onnx::options;

namespace {
const options two{.batch = 2};

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
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 0>(x, b)", "", two),
             "2x3x4 and 2x5x4 do not fit together");
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 3>(x, b)", "", two), "axis 3");
  CHECK_SAYS(last_layer(13, in, "y = Concat<axis = 0>()", "", two), "it has 0 inputs");
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

TEST_CASE("Resize and Upsample: scales, sizes, ways to place samples") {
  const char* const in = "float[1,3,4,6] x";
  const char* const scales = "float[4] s = {1, 1, 2, 2.5}, float[8] r = {0,0,0,0,1,1,1,1}";
  CHECK(last_layer(10, in, "y = Resize(x, s)", scales) == "Resize/1x3x4x6-1x3x8x15-asymmetric");
  CHECK(last_layer(11, in, "y = Resize(x, r, s)", scales) == "Resize/1x3x4x6-1x3x8x15");
  CHECK(last_layer(13, in,
                   "y = Resize<mode = \"linear\", coordinate_transformation_mode = "
                   "\"align_corners\">(x, , s)",
                   scales) == "Resize/1x3x4x6-1x3x8x15-linear-align_corners");
  CHECK(last_layer(13, in, "y = Resize<mode = \"cubic\">(x, , , z)", "int64[4] z = {1,3,5,7}") ==
        "Resize/1x3x4x6-1x3x5x7-cubic");
  CHECK(last_layer(18, in, "y = Resize<axes = [2, 3]>(x, , , z)", "int64[2] z = {5,7}") ==
        "Resize/1x3x4x6-1x3x5x7");
  CHECK(dims_of_y(18, in,
                  "y = Resize<axes = [2, 3], keep_aspect_ratio_policy = \"not_larger\">(x, , , z)",
                  "int64[2] z = {8,8}") == "1x3x5x8");
  CHECK(dims_of_y(18, in,
                  "y = Resize<axes = [2, 3], keep_aspect_ratio_policy = \"not_smaller\">(x, , , z)",
                  "int64[2] z = {8,8}") == "1x3x8x12");
  CHECK(last_layer(9, in, "y = Upsample(x, s)", scales) == "Upsample/1x3x4x6-1x3x8x15-asymmetric");
  CHECK(last_layer(7, in, "y = Upsample<mode = \"linear\", scales = [1.0, 1.0, 2.0, 2.0]>(x)") ==
        "Upsample/1x3x4x6-1x3x8x12-linear-asymmetric");
  CHECK_SAYS(last_layer(13, in, "y = Resize(x, , s)", "float[4] s = {1, 1, 1e30, 1}"),
             "out of range");
  CHECK_SAYS(last_layer(13, in, "y = Resize(x, , s)", "float[4] s = {1, 1, -1, 1}"),
             "out of range");
  CHECK_SAYS(last_layer(13, in, "y = Resize(x, , s)", "float[2] s = {1, 1}"), "do not match");
  CHECK_SAYS(last_layer(13, in, "y = Resize(x)"), "do not match");
  CHECK_SAYS(last_layer(13, in, "y = Resize(x, , , z)", "int64[4] z = {1,3,-5,7}"), "negative");
  const auto resize = [&](std::string_view attributes, std::string_view more = {}) {
    return last_layer(19, in, "y = Resize<" + std::string(attributes) + ">(x, r, s)",
                      std::string(scales) + std::string(more));
  };
  CHECK(resize("nearest_mode = \"ceil\"") == "Resize/1x3x4x6-1x3x8x15-ceil");
  CHECK(resize("coordinate_transformation_mode = \"asymmetric\", nearest_mode = \"floor\"") ==
        "Resize/1x3x4x6-1x3x8x15-asymmetric");
  CHECK(resize("coordinate_transformation_mode = \"asymmetric\"") ==
        "Resize/1x3x4x6-1x3x8x15-asymmetric-round_prefer_floor");
  CHECK(resize("coordinate_transformation_mode = \"half_pixel_symmetric\", mode = \"linear\"") ==
        "Resize/1x3x4x6-1x3x8x15-linear");
  CHECK(resize("coordinate_transformation_mode = \"tf_half_pixel_for_nn\"") ==
        "Resize/1x3x4x6-1x3x8x15-tf_half_pixel_for_nn");
  CHECK(resize("mode = \"cubic\", exclude_outside = 1, antialias = 1") ==
        "Resize/1x3x4x6-1x3x8x15-cubic-exclude");
  CHECK(resize("coordinate_transformation_mode = \"tf_crop_and_resize\"") ==
        "Resize/1x3x4x6-1x3x8x15-tf_crop_and_resize");
  CHECK(last_layer(18, in, "y = Resize<mode = \"linear\", antialias = 1, axes = [3, 2]>(x, , , z)",
                   "int64[2] z = {3,7}") == "Resize/1x3x4x6-1x3x7x3-linear-antialias");
  CHECK(last_layer(18, in,
                   "y = Resize<coordinate_transformation_mode = \"tf_crop_and_resize\", axes = [3, "
                   "2]>(x, r, , z)",
                   "float[4] r, int64[2] z = {3,7}") ==
        "Resize/1x3x4x6-1x3x7x3-tf_crop_and_resize-axes3x2");
  CHECK_SAYS(resize("nearest_mode = \"best\""), "nearest_mode");
  CHECK_SAYS(resize("coordinate_transformation_mode = \"best\""), "does not know");
  CHECK_SAYS(
      last_layer(18, in,
                 "y = Resize<coordinate_transformation_mode = \"tf_crop_and_resize\", axes = "
                 "[3, 3]>(x, r, , z)",
                 "float[4] r, int64[2] z = {3,7}"),
      "an axis twice");
  CHECK_SAYS(
      last_layer(11, in,
                 "y = Resize<coordinate_transformation_mode = \"tf_crop_and_resize\">(x, t, , "
                 "z)",
                 "float[3] t, int64[4] z = {1,3,7,7}"),
      "its roi is not 8 bounds");
}

TEST_CASE("Reshape keeps the number of elements, or is refused") {
  const auto reshape = [](std::string_view target, std::string_view attributes = {}) {
    const auto n = std::count(target.begin(), target.end(), ',') + 1;
    return last_layer(14, "float[2,3,4] x", "y = Reshape" + std::string(attributes) + "(x, t)",
                      "int64[" + std::to_string(n) + "] t = {" + std::string(target) + "}", two);
  };
  CHECK(reshape("6,4") == "Reshape/2x3x4-6x4");
  CHECK(reshape("0,-1") == "Reshape/2x3x4-2x12");
  CHECK(reshape("-1") == "Reshape/2x3x4-24");
  CHECK(reshape("0,0,2,2") == "Reshape/2x3x4-2x3x2x2");
  CHECK_SAYS(reshape("5,5"), "it makes 5x5 of 2x3x4");
  CHECK_SAYS(reshape("5,-1"), "it makes 5x-1");
  CHECK_SAYS(reshape("-1,-1"), "it makes");
  CHECK_SAYS(reshape("-2,12"), "it makes");
  CHECK_SAYS(reshape("0,0,0,0"), "it makes");
  CHECK_SAYS(reshape("0,-1", "<allowzero = 1>"), "it makes");
  CHECK_SAYS(reshape("4611686018427387904,-1"), "it makes");
  CHECK_SAYS(reshape("1,1,1,1,1,1,1,1,24"), "more than 8 dims");
  CHECK(last_layer(1, "float[2,3,4] x", "y = Reshape<shape = [0, -1]>(x)", "", two) ==
        "Reshape/2x3x4-2x12");
  CHECK(last_layer(14, "float[0,3] x", "y = Reshape<allowzero = 1>(x, t)", "int64[2] t = {3, 0}",
                   {.shapes = {{"x", {0, 3}}}}) == "Reshape/0x3-3x0");
  CHECK_SAYS(last_layer(13, "float[2] x, int64[1] t", "y = Reshape(x, t)"),
             "computed when the model runs");
  CHECK_SAYS(last_layer(13, "float[2] x", "y = Reshape(x, t)", "int64[1] t"),
             "are not in the file");
  CHECK_SAYS(last_layer(13, "float[2] x", "y = Reshape(x, t)", "float[1] t = {2}"),
             "must hold whole numbers");
}

TEST_CASE("the other views") {
  const char* const in = "float[2,3,1,4] x";
  CHECK(last_layer(13, in, "y = Flatten(x)", "", two) == "Flatten/2x3x1x4-2x12");
  CHECK(last_layer(13, in, "y = Flatten<axis = 0>(x)", "", two) == "Flatten/2x3x1x4-1x24");
  CHECK(last_layer(13, in, "y = Flatten<axis = 4>(x)", "", two) == "Flatten/2x3x1x4-24x1");
  CHECK(last_layer(13, in, "y = Flatten<axis = -1>(x)", "", two) == "Flatten/2x3x1x4-6x4");
  CHECK(last_layer(11, in, "y = Squeeze(x)", "", two) == "Squeeze/2x3x1x4-2x3x4");
  CHECK(last_layer(11, in, "y = Squeeze<axes = [2]>(x)", "", two) == "Squeeze/2x3x1x4-2x3x4");
  CHECK(last_layer(13, in, "y = Squeeze(x, a)", "int64[1] a = {-2}", two) ==
        "Squeeze/2x3x1x4-2x3x4");
  CHECK(last_layer(11, in, "y = Unsqueeze<axes = [0, -1]>(x)", "", two) ==
        "Unsqueeze/2x3x1x4-1x2x3x1x4x1");
  CHECK(last_layer(13, in, "y = Unsqueeze(x, a)", "int64[1] a = {1}", two) ==
        "Unsqueeze/2x3x1x4-2x1x3x1x4");
  CHECK(last_layer(13, in, "y = Identity(x)", "", two) == "Identity/2x3x1x4");
  CHECK_SAYS(last_layer(11, in, "y = Squeeze<axes = [1]>(x)", "", two), "which is not 1");
  CHECK_SAYS(last_layer(11, in, "y = Squeeze<axes = [99]>(x)", "", two), "axis 99");
  CHECK_SAYS(last_layer(13, in, "y = Unsqueeze(x, a)", "int64[2] a = {1, 1}", two), "twice");
  CHECK_SAYS(last_layer(13, in, "y = Unsqueeze(x, a)", "int64[5] a = {0,1,2,3,4}", two),
             "at most 8");
}

TEST_CASE("Dropout at inference is a view; its mask has its dims") {
  const char* const in = "float[2,3] x";
  CHECK(last_layer(7, in, "y = Dropout(x)", "", two) == "Dropout/2x3");
  CHECK(last_layer(6, in, "y = Dropout<is_test = 1>(x)", "", two) == "Dropout/2x3");
  CHECK(last_layer(12, in, "y = Dropout(x, r, t)", "float r = {0.5}, bool t = {0}", two) ==
        "Dropout/2x3");
  CHECK(last_layer(12, in, "y = Dropout(x, r, t)", "float r = {0}, bool t = {1}", two) ==
        "Dropout/2x3");
  CHECK_SAYS(last_layer(12, in, "y = Dropout(x, r, t)", "float r = {0.5}, bool t = {1}", two),
             "it trains");
  CHECK(last_layer(12, in, "a, m = Dropout(x) y = Not(m)", "", two) == "Not/2x3-bool");
  CHECK(last_layer(7, in, "a, m = Dropout(x) y = Relu(m)", "", two) == "Relu/2x3");
}

TEST_CASE("a node with two results is one node, and its readers read it once") {
  const auto g = graph_of(
      text_model(13, "float[N,8] x", "a, b = Split<axis = 1>(x) c = Relu(b) y = Add(a, c)"));
  REQUIRE(g.nodes.size() == 3);
  CHECK(g.nodes[1].inputs == std::vector<int>{0});
  CHECK(g.nodes[2].inputs == std::vector<int>{0, 1});
}

TEST_CASE("what indices name: in all versions, and what does not fit") {
  const auto layer = [](std::string_view node, std::string_view more, int opset = 16) {
    return last_layer(opset, std::string("float[4,9] x, ").append(more), node, {}, {.batch = 4});
  };
  CHECK(layer("y = GatherElements<axis = -1>(x, i)", "int64[4,3] i") ==
        "GatherElements/4x9-4x3-a1");
  CHECK(layer("y = GatherND<batch_dims = 1>(x, i)", "int64[4,1] i") == "GatherND/4x9-4x1-b1");
  CHECK(layer("y = ScatterElements<axis = 1>(x, i, u)", "int32[4,3] i, float[4,3] u") ==
        "ScatterElements/4x9-4x3-a1-i32");
  CHECK(layer("y = Scatter(x, i, u)", "int64[2,9] i, float[2,9] u", 10) ==
        "ScatterElements/4x9-2x9");
  CHECK(layer("y = ScatterND<reduction = \"add\">(x, i, u)", "int64[3,1] i, float[3,9] u") ==
        "ScatterND/4x9-3x1-add");
  CHECK(layer("y = TensorScatter<axis = 1, mode = \"circular\">(x, u, w)",
              "float[4,2] u, int64[4] w", 24) == "TensorScatter/4x9-a1-n2-at-circular");
  CHECK_SAYS(layer("y = ScatterND(x, i, u)", "int64[3,1] i, float[3,8] u"), "not 3x9");
  CHECK_SAYS(layer("y = ScatterND<reduction = \"or\">(x, i, u)", "int64[3,1] i, float[3,9] u"),
             "reduction is");
  CHECK_SAYS(layer("y = GatherND<batch_dims = 7>(x, i)", "int64[4,1] i"), "batch_dims");
  CHECK_SAYS(layer("y = GatherND(x, i)", "int64[4,3] i"), "more numbers");
  CHECK_SAYS(layer("y = GatherElements(x, i)", "int64[4] i"), "lack dims");
  CHECK_SAYS(layer("y = TensorScatter<axis = 1>(x, u)", "float[4] u", 24), "does not fit");
}

TEST_CASE("elements that are found, counted and placed: in all versions, and what does not fit") {
  const auto layer = [](std::string_view node, std::string_view tensors = {}, int opset = 13,
                        std::string_view x = "float[2,3,4] x") {
    return last_layer(opset, x, node, tensors, two);
  };
  const auto dims = [](std::string_view node, std::string_view tensors = {}, int opset = 13) {
    return dims_of_y(opset, "float[2,3,4] x", node, tensors, two);
  };
  CHECK(layer("y = ArgMax<axis = -1, keepdims = 0, select_last_index = 1>(x)") ==
        "ArgMax/2x3x4-a2-last");
  CHECK(dims("y = ArgMin<axis = -1, keepdims = 0>(x)") == "2x3");
  CHECK(dims("y = ArgMin(x)") == "1x3x4");
  CHECK(layer("y, i = TopK<k = 2, axis = 1>(x)", "", 9) == "TopK/2x3x4-a1-k2");
  CHECK(layer("y, i = TopK<largest = 0, sorted = 0>(x, k)", "int64[1] k = {3}") ==
        "TopK/2x3x4-a2-k3-smallest-unsorted");
  CHECK(dims("v, y = TopK(x, k)", "int64[1] k = {3}") == "2x3x3");
  CHECK_SAYS(layer("y, i = TopK(x, k)", "int64[1] k = {5}"), "more than its axis");
  CHECK(layer("y = CumSum<reverse = 1>(x, a)", "int64 a = {-2}") == "CumSum/2x3x4-a1-reverse");
  CHECK_SAYS(layer("y = CumSum(x, a)", "int64 a = {3}"), "axis 3");
  CHECK(layer("y = Compress<axis = 2>(x, c)", "bool[4] c = {1, 0, 1, 0}") ==
        "Compress/2x3x4-n4-k2-a2");
  CHECK(layer("y = Compress(x, c)", "bool[4] c = {1, 0, 1, 0}") == "Compress/2x3x4-n4-k2");
  CHECK_SAYS(layer("y = Compress<axis = 1>(x, c)", "bool[4] c = {1, 0, 1, 1}"), "longer");
  CHECK(layer("y = Trilu<upper = 0>(x, k)", "int64 k = {-1}", 14) == "Trilu/2x3x4-lower-km1");
  CHECK(layer("y = ReverseSequence<time_axis = 1, batch_axis = 0>(x, n)", "int64[2] n") ==
        "ReverseSequence/2x3x4-bt");
  CHECK_SAYS(layer("y = ReverseSequence<time_axis = 2>(x, n)", "int64[2] n"), "first two");
  CHECK_SAYS(layer("y = ReverseSequence(x, n)", "int64[2] n"), "not one for each batch");
  CHECK(layer("y = OneHot<axis = 1>(x, d, v)", "int64 d = {7}, float[2] v", 13, "int32[2,3] x") ==
        "OneHot/2x3-k7-a1-i32");
  CHECK_SAYS(layer("y = OneHot(x, d, v)", "int64 d = {7}, float[3] v", 13, "int64[2,3] x"),
             "not two");
  // Hardmax: an ArgMax and a OneHot, before opset 13 of a matrix.
  CHECK(layer("y = Hardmax(x)") == "OneHot/2x3-k4-a2");
  CHECK(dims("y = Hardmax(x)", "", 12) == "2x3x4");
  CHECK(layer("a = Hardmax(x) y = Relu(a)", "", 12) == "Relu/2x3x4");
}

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

TEST_CASE("Expand and Tile are layers, EyeLike is a constant") {
  const char* const in = "float[2,1,3] x, int64[2] w";
  CHECK(last_layer(13, in, "y = Expand(x, s)", "int64[2] s = {4, 1}", two) == "Expand/2x1x3-2x4x3");
  CHECK(last_layer(13, in, "y = Expand(w, s)", "int64[2] s = {3, 2}", two) == "Expand/2-3x2-s64");
  CHECK(last_layer(13, in, "y = Tile(x, s)", "int64[3] s = {1, 2, 3}", two) == "Tile/2x1x3-2x2x9");
  CHECK_SAYS(last_layer(13, in, "y = Tile(x, s)", "int64[2] s = {1, 2}", two), "do not match");
  CHECK_SAYS(last_layer(13, in, "y = Expand(x, s)", "int64[3] s = {3, 1, 3}", two),
             "do not broadcast");
  CHECK_SAYS(last_layer(13, in, "y = Expand(x, w)", "", two), "computed when the model runs");
  CHECK(last_layer(13, "float[2,3] x", "e = EyeLike<k = 1>(x) y = Add(x, e)", "", two) ==
        "Add/2x3");
  CHECK(dims_of_y(13, "float[2,3] x, float[1] z",
                  "e = EyeLike<dtype = 7>(x) s = ReduceSum<keepdims = 0>(e) "
                  "v = Reshape(s, f) y = Expand(z, v)",
                  "int64[1] f = {1}", two) == "2");
  CHECK_SAYS(last_layer(13, "float[2] x", "e = EyeLike(x) y = Add(x, e)", "", two), "EyeLike");
}

TEST_CASE("operators without a layer kind give their dims to what follows") {
  const auto behind = [](std::string_view node, std::string_view tensors = {}, int opset = 13) {
    return last_layer(opset, "float[2,3,4] x",
                      std::string("a = ").append(node).append(" y = Relu(a)"), tensors, two);
  };
  CHECK(behind("Cast<to = 10>(x)") == "Relu/2x3x4");
  CHECK(behind("Cast<to = 7>(x)") == "Relu/2x3x4-s64");
  CHECK(behind("Cast<to = \"FLOAT16\">(x)", "", 5) == "Relu/2x3x4");
  CHECK(behind("Where(c, x, x)", "bool[5,1,1,1] c") == "Relu/5x2x3x4");
  CHECK(behind("Expand(x, s)", "int64[4] s = {5,1,1,1}") == "Relu/5x2x3x4");
  CHECK(behind("Tile(x, s)", "int64[3] s = {1,2,1}") == "Relu/2x6x4");
  CHECK(behind("Einsum<equation = \"bij,bkj->bik\">(x, x)") == "Relu/2x3x3");
  CHECK(behind("Einsum<equation = \"...j -> j...\">(x)") == "Relu/4x2x3");
  CHECK(behind("Einsum<equation = \"bij,jk\">(x, w)", "float[4,5] w") == "Relu/2x3x5");
  CHECK(last_layer(13, "int64[1,3] x", "a = OneHot(x, d, v) y = Relu(a)",
                   "int64 d = {7}, float[2] v") == "Relu/1x3x7");
  CHECK(behind("MeanVarianceNormalization(x)") == "Relu/2x3x4");
  CHECK(behind("com.microsoft.SkipLayerNormalization(x, x, s)", "float[4] s", 17) == "Relu/2x3x4");
  CHECK(behind("ArgMax<axis = 1>(x)") == "Relu/2x1x4-s64");
  CHECK(behind("com.microsoft.QuickGelu(x)") == "Relu/2x3x4");
  CHECK(last_layer(13, "float[2,3] x", "y = Cast<to = 1>(x)", "", two) == "Identity/2x3");
  CHECK_SAYS(behind("Tile(x, s)", "int64[3] s = {1,4611686018427387904,1}"),
             "an input's dims are not known since Tile");
  CHECK_SAYS(behind("Expand(x, s)", "int64[1] s = {-7}"), "since Expand");
  CHECK_SAYS(behind("Einsum<equation = \"bij->bik\">(x)"), "since Einsum");
  CHECK_SAYS(behind("Einsum<equation = \"bi->b\">(x)"), "since Einsum");
  CHECK_SAYS(behind("NoSuchOperator(x)"), "since NoSuchOperator");
  CHECK_SAYS(behind("NonZero(x)"), "since NonZero");
}
