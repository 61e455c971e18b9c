// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/grid_sample.hpp>
#include <benanza/op/regions.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("grid sample: key, dims and cost") {
  constexpr grid_sample g{.input = {2, 3, 8, 9}, .points = {5, 6}, .mode = interpolation::linear};
  CHECK_TWICE(write_key(g) == "2x3x8x9-5x6-linear");
  CHECK_TWICE(read_key(grid_sample{}, "2x3x8x9-5x6-linear") == g);
  CHECK_TWICE(g.output() == shape{2, 3, 5, 6});
  CHECK_TWICE(g.grid() == shape{2, 5, 6, 2});
  CHECK_TWICE(g.cost().sources == 2 * 3 * 8 * 9 + 2 * 5 * 6 * 2);
  CHECK_TWICE(g.cost().other == 8 * 2 * 3 * 5 * 6);
  CHECK(op::name(parse("GridSample/1x2x3x4x5-2x2x2-cubic-border-align_corners")) ==
        "GridSample/1x2x3x4x5-2x2x2-cubic-border-align_corners");
  CHECK_TWICE(
      grid_sample{.input = {1, 1, 2, 2, 2}, .points = {1, 1, 1}, .mode = interpolation::cubic}
          .taps() == 64);
  CHECK_REFUSED(parse("GridSample/1x2x3-4"), "two or three spatial dims");
  CHECK_REFUSED(parse("GridSample/1x2x3x4-4"), "two or three spatial dims");
  CHECK_REFUSED(parse("GridSample/1x2x0x4-4x4"), "1 or more");
}

TEST_CASE("affine grid: key and dims") {
  constexpr affine_grid g{.batch = 2, .points = {5, 6}};
  CHECK_TWICE(write_key(g) == "2x5x6");
  CHECK_TWICE(g.output() == shape{2, 5, 6, 2});
  CHECK_TWICE(g.theta() == shape{2, 2, 3});
  CHECK(op::name(parse("AffineGrid/1x4x5x6-align_corners")) == "AffineGrid/1x4x5x6-align_corners");
  CHECK_REFUSED(parse("AffineGrid/2x5"), "two or three spatial dims");
  CHECK_REFUSED(parse("AffineGrid/0x5x6"), "a batch");
}

TEST_CASE("regions: keys, dims and cost") {
  constexpr roi_align r{.input = {1, 4, 50, 60}, .regions = 10, .pooled = {7, 5}, .samples = 2};
  CHECK_TWICE(write_key(r) == "1x4x50x60-10x7x5-n2");
  CHECK_TWICE(read_key(roi_align{}, "1x4x50x60-10x7x5-n2") == r);
  CHECK_TWICE(r.output() == shape{10, 4, 7, 5});
  CHECK_TWICE(r.cost().other == 10 * 4 * 35 * 4 * 4 * 2);
  CHECK_TWICE(r.cost().fixed_bytes == 80);
  CHECK_TWICE(roi_align{.input = {1, 4, 50, 60}, .pooled = {7, 5}}.samples_along(0) == 4);
  CHECK(op::name(parse("RoiAlign/1x4x50x60-10x7x5-max-half_pixel")) ==
        "RoiAlign/1x4x50x60-10x7x5-max-half_pixel");
  CHECK(op::name(parse("MaxRoiPool/1x4x50x60-10x7x5")) == "MaxRoiPool/1x4x50x60-10x7x5");
  CHECK_REFUSED(parse("RoiAlign/1x4x50-10x7x5"), "takes images");
  CHECK_REFUSED(parse("RoiAlign/1x4x50x60-10x7x0"), "1 or more");
  CHECK_REFUSED(parse("RoiAlign/0x4x50x60-10x7x5"), "no image");
  CHECK_REFUSED(parse("MaxRoiPool/1x4x50x60-10x7"), "takes images");
}

TEST_CASE("non max suppression: key, dims and cost") {
  constexpr non_max_suppression n{.batch = 2, .boxes = 100, .classes = 3, .most = 10};
  CHECK_TWICE(write_key(n) == "2x100x3-most10");
  CHECK_TWICE(read_key(non_max_suppression{}, "2x100x3-most10") == n);
  CHECK_TWICE(n.output() == shape{60, 3});
  CHECK_TWICE(n.results()[0].element == dtype::s64);
  CHECK_TWICE(n.cost().sources == 2 * 100 * 4 + 2 * 3 * 100);
  CHECK(op::name(parse("NonMaxSuppression/1x9x1-most0-centred")) ==
        "NonMaxSuppression/1x9x1-most0-centred");
  CHECK_REFUSED(parse("NonMaxSuppression/1x9x1-most10"), "0 to all");
  CHECK_REFUSED(parse("NonMaxSuppression/1x9-most1"), "1 to 2^40");
}
