// SPDX-License-Identifier: Apache-2.0
// Do layers on images, regions and signals compute what a person computes?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

namespace {
using numbers_by_hand = std::vector<double>;
}

TEST_CASE("resize in its rarer forms, by hand") {
  const numbers_by_hand x{0, 1, 2, 3};
  CHECK(computed("Resize/4-8-ceil", {x}) == numbers_by_hand{0, 1, 1, 2, 2, 3, 3, 3});
  CHECK(computed("Resize/4-8-floor", {x}) == numbers_by_hand{0, 0, 0, 1, 1, 2, 2, 3});
  CHECK(computed("Resize/4-2-tf_half_pixel_for_nn", {x}) == numbers_by_hand{1, 3});
  // The middle of the input, and a place behind its end.
  CHECK(computed("Resize/4-1-linear-tf_crop_and_resize", {x, {0.25, 0.75}}) ==
        numbers_by_hand{1.5});
  CHECK(computed("Resize/4-2-linear-tf_crop_and_resize", {x, {0, 2}}) == numbers_by_hand{0, 0});
  CHECK(computed("Resize/2x2-2x1-tf_crop_and_resize-axes1", {{1, 2, 3, 4}, {1, 1}}) ==
        numbers_by_hand{2, 4});
  // A triangle over four elements, each 1/8 3/8 3/8 1/8; at the edges what is outside has none.
  CHECK(computed("Resize/4-2-linear-antialias-exclude", {{0, 0, 7, 0}}) == numbers_by_hand{1, 3});
}

TEST_CASE("a pad takes its constant") {
  operands o = make_operands(op::parse("Pad/1-b1-e1"), numeric::f32);
  o.attributes.pad_constant = 5;
  store(dtype::f32, o.inputs[0].bytes.data(), 0, 2);
  CHECK(outputs(op::parse("Pad/1-b1-e1"), o) == numbers_by_hand{5, 2, 5});
}

TEST_CASE("grids, by hand") {
  const numbers_by_hand image{1, 2, 3, 4};
  CHECK(computed("GridSample/1x1x2x2-1x1-linear", {image, {0, 0}}) == numbers_by_hand{2.5});
  CHECK(computed("GridSample/1x1x2x2-1x2-align_corners", {image, {1, -1, -1, 1}}) ==
        numbers_by_hand{2, 3});
  CHECK(computed("GridSample/1x1x2x2-1x2-linear-border", {image, {9, -9, -9, 9}}) ==
        numbers_by_hand{2, 3});
  CHECK(computed("GridSample/1x1x2x2-1x1", {image, {9, -9}}) == numbers_by_hand{0});
  CHECK(computed("AffineGrid/1x2x2", {{2, 0, 1, 0, 1, 0}}) ==
        numbers_by_hand{0, -0.5, 2, -0.5, 0, 0.5, 2, 0.5});
  CHECK(computed("AffineGrid/1x1x2-align_corners", {{1, 0, 0, 0, 1, 0}}) ==
        numbers_by_hand{-1, -1, 1, -1});
}

TEST_CASE("regions, by hand") {
  const numbers_by_hand image = counted(16); // 4 x 4; boxes count quarters of elements
  CHECK(computed("RoiAlign/1x1x4x4-1x1x1-n1", {image, {4, 4, 12, 12}, {0}}) ==
        numbers_by_hand{11}); // the sample is at 2, 2
  CHECK(computed("MaxRoiPool/1x1x4x4-1x1x2", {image, {0, 0, 0, 12, 4}}) == numbers_by_hand{6, 8});
  // Of three boxes the second overlaps the first by half and more, the third does not.
  CHECK(computed("NonMaxSuppression/1x3x1-most3",
                 {{0, 0, 4, 4, 0, 1, 4, 4, 0, 8, 4, 9}, {0.5, 0.75, 0.375}}) ==
        numbers_by_hand{0, 0, 1, 0, 0, 2, -1, -1, -1});
}

TEST_CASE("columns, by hand") {
  CHECK(computed("Col2Im/1x1x3-2-s1", {{1, 2, 10, 20}}) == numbers_by_hand{1, 12, 20});
  // A tap that is moved half an element to the right.
  CHECK(computed("DeformConv/1x1x1x2-1x1x1-s1", {{4, 8}, {3}, {0, 0, 0.5, 0.5}}) ==
        numbers_by_hand{18, 12});
  CHECK(computed("MaxUnpool/1x1x2-1x1x4-1x1x5", {{7, 8}, {1, 2}}) ==
        numbers_by_hand{0, 7, 8, 0, 0});
  CHECK(computed("LpPool/1x1x4-power1-2-s2", {{1, -2, 3, -4}}) == numbers_by_hand{3, 7});
  CHECK(computed("GlobalLpPool/1x1x2", {{3, -4}}) == numbers_by_hand{5});
}

TEST_CASE("transforms and determinants, by hand") {
  const auto near = [](const numbers_by_hand& got, const numbers_by_hand& want) {
    REQUIRE(got.size() == want.size());
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(want[i]).epsilon(1e-9));
  };
  near(computed("DFT/4x1-a0-n4", {{1, 2, 3, 4}}), {10, 0, -2, 2, -2, 0, -2, -2});
  near(computed("DFT/3x2-a0-n4-inverse-one", {{10, 0, -2, 2, -2, 0}}), {1, 2, 3, 4});
  near(computed("Det/3x3", {{0, 2, 1, 1, 0, 3, 2, 1, 0}}), {13});
}
