// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

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
