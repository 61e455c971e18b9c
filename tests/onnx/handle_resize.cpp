// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

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
  CHECK_SAYS(last_layer(18, in, "y = Resize<keep_aspect_ratio_policy = \"not_smaller\">(x, , , z)",
                        "int64[4] z = {1,3,9223372036854775807,7}"),
             "out of range");
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
