// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/columns.hpp>
#include <benanza/op/signal.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("col2im: key, dims and cost") {
  constexpr col2im c{.image = {2, 3, 8, 9}, .kernel = {2, 3}, .strides = {2, 3}};
  CHECK_TWICE(write_key(c) == "2x3x8x9-2x3-s2x3");
  CHECK_TWICE(read_key(col2im{}, "2x3x8x9-2x3-s2x3") == c);
  CHECK_TWICE(c.input() == shape{2, 18, 12});
  CHECK_TWICE(c.cost().other == 2 * 18 * 12);
  CHECK(op::name(parse("Col2Im/1x1x9-3-s1-p1-d2")) == "Col2Im/1x1x9-3-s1-p1-d2");
  CHECK_REFUSED(parse("Col2Im/1x1x9-12-s1"), "larger than its padded input");
}

TEST_CASE("deform conv: key, dims and cost") {
  constexpr deform_conv d{.input = {1, 8, 9, 9},
                          .outputs = 4,
                          .kernel = {3, 3},
                          .groups = 2,
                          .offset_groups = 4,
                          .mask = true};
  CHECK_TWICE(write_key(d) == "1x8x9x9-4x3x3-s1-g2-og4-mask");
  CHECK_TWICE(read_key(deform_conv{}, "1x8x9x9-4x3x3-s1-g2-og4-mask") == d.canonical_form());
  CHECK_TWICE(d.output() == shape{1, 4, 7, 7});
  CHECK_TWICE(d.offsets() == shape{1, 72, 7, 7});
  CHECK_TWICE(d.masks() == shape{1, 36, 7, 7});
  CHECK_TWICE(d.cost().macs == 4 * 49 * 4 * 9);
  CHECK_REFUSED(parse("DeformConv/1x8x9-4x3-s1"), "two spatial dims");
  CHECK_REFUSED(parse("DeformConv/1x8x9x9-4x3x3-s1-og3"), "groups of offsets");
}

TEST_CASE("max unpool: key and dims") {
  constexpr max_unpool m{.input = {1, 1, 2, 2}, .unpooled = {1, 1, 4, 4}, .result = {1, 1, 4, 4}};
  CHECK_TWICE(write_key(m) == "1x1x2x2-1x1x4x4");
  CHECK_TWICE(read_key(max_unpool{}, "1x1x2x2-1x1x4x4") == m);
  CHECK_TWICE(m.index_bounds() == shape{16});
  CHECK_TWICE(m.cost().fixed_bytes == 32);
  CHECK(op::output(parse("MaxUnpool/1x1x2x2-1x1x4x4-1x1x5x5")) == shape{1, 1, 5, 5});
  CHECK_REFUSED(parse("MaxUnpool/1x1x2x2-1x1x4x4-1x1x3x5"), "less than it puts back");
  CHECK_REFUSED(parse("MaxUnpool/1x1x4x4-1x1x2x2"), "more than there are places");
  CHECK_REFUSED(parse("MaxUnpool/2x2-4x4"), "numbers of dims");
}

TEST_CASE("dft: key, dims and cost") {
  constexpr dft d{.input = {8, 16, 1}, .axis = 1, .length = 32, .onesided = true};
  CHECK_TWICE(write_key(d) == "8x16x1-a1-n32-one");
  CHECK_TWICE(read_key(dft{}, "8x16x1-a1-n32-one") == d);
  CHECK_TWICE(d.output() == shape{8, 17, 2});
  CHECK_TWICE(d.cost().other == 8 * 5 * 5 * 32 / 2);
  constexpr dft back{
      .input = {8, 17, 2}, .axis = 1, .length = 32, .inverse = true, .onesided = true};
  CHECK_TWICE(back.output() == shape{8, 32, 1});
  CHECK_TWICE(back.wanted() == 17);
  CHECK_REFUSED(parse("DFT/8x16x3-a1-n32"), "one or two parts");
  CHECK_REFUSED(parse("DFT/8x16x2-a2-n32"), "axis");
  CHECK_REFUSED(parse("DFT/8x16x2-a1-n0"), "length");
  CHECK_REFUSED(parse("DFT/8x16x2-a1-n16-one"), "two sides");
}

TEST_CASE("det: key, dims and cost") {
  constexpr det d{.input = {5, 6, 3, 3}};
  CHECK_TWICE(write_key(d) == "5x6x3x3");
  CHECK_TWICE(d.output() == shape{5, 6});
  CHECK_TWICE(d.cost().macs == 30 * 9);
  CHECK(op::output(parse("Det/2x2")) == shape{});
  CHECK_REFUSED(parse("Det/2x3"), "square");
}
