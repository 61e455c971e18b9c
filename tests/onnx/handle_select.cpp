// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

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
  CHECK_SAYS(layer("y = ReverseSequence<time_axis = 1, batch_axis = 9223372036854775807>(x, n)",
                   "int64[2] n"),
             "first two");
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
