// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/pool.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("pool: ResNet-50's") {
  constexpr pool p{.function = pooling::max,
                   .input = {1, 64, 112, 112},
                   .kernel = {3, 3},
                   .strides = {2, 2},
                   .pads = {1, 1, 1, 1}};
  CHECK_TWICE(p.output() == shape{1, 64, 56, 56});
  CHECK_TWICE(p.cost().macs == 0);
  CHECK_TWICE(p.cost().other == 1806336); // 200704 outputs, 9 taps
  CHECK_TWICE(p.cost().bytes(numeric::f32) == 4014080);
  CHECK_TWICE(p.cost().bytes(numeric::bf16) == 2007040);
  CHECK_TWICE(p.cost().bytes(numeric::u8s8u8) == 1003520);
  CHECK_TWICE(p.family() == "MaxPool");
  CHECK_TWICE(write_key(p) == "1x64x112x112-3x3-s2-p1");
}

TEST_CASE("pool: ceil") {
  constexpr pool p{.input = {1, 64, 112, 112}, .kernel = {3, 3}, .strides = {2, 2}, .ceil = true};
  CHECK_TWICE(p.output() == shape{1, 64, 56, 56});
  CHECK_TWICE(write_key(p.canonical_form()) == "1x64x112x112-3x3-s2-ceil");
  // Where nothing is left over, ceil says nothing.
  constexpr pool q{.input = {1, 64, 111, 111}, .kernel = {3, 3}, .strides = {2, 2}, .ceil = true};
  CHECK_TWICE(q.output() == shape{1, 64, 55, 55});
  CHECK_TWICE(write_key(q.canonical_form()) == "1x64x111x111-3x3-s2");
  // It may along one dim alone.
  constexpr pool r{.input = {1, 64, 111, 112}, .kernel = {3, 3}, .strides = {2, 2}, .ceil = true};
  CHECK_TWICE(r.output() == shape{1, 64, 55, 56});
  CHECK_TWICE(r.canonical_form().ceil);
  // The last window would start in the padding: as without ceil.
  constexpr pool s{.input = {1, 1, 4}, .kernel = {2}, .strides = {3}, .pads = {1, 1}, .ceil = true};
  CHECK_TWICE(s.output() == shape{1, 1, 2});
  CHECK_TWICE(!s.canonical_form().ceil);
}

TEST_CASE("pool: averages with and without the padding") {
  constexpr pool p{.function = pooling::average,
                   .input = {1, 288, 35, 35},
                   .kernel = {3, 3},
                   .pads = {1, 1, 1, 1},
                   .include_pad = true};
  CHECK_TWICE(p.output() == shape{1, 288, 35, 35});
  CHECK_TWICE(write_key(p.canonical_form()) == "1x288x35x35-3x3-s1-p1-ip");
  CHECK_TWICE(p.family() == "AveragePool");
  // No padding, no ceil: the two averages are one.
  constexpr pool q{.function = pooling::average,
                   .input = {1, 8, 14, 14},
                   .kernel = {7, 7},
                   .strides = {7, 7},
                   .pads = {0, 0, 0, 0},
                   .include_pad = true};
  CHECK_TWICE(write_key(q.canonical_form()) == "1x8x14x14-7x7-s7");
  // A window cut short by ceil makes them two, one that fits does not.
  constexpr pool r{.function = pooling::average,
                   .input = {1, 8, 6},
                   .kernel = {3},
                   .strides = {2},
                   .ceil = true,
                   .include_pad = true};
  CHECK_TWICE(write_key(r.canonical_form()) == "1x8x6-3-s2-ceil-ip");
  constexpr pool s{.function = pooling::average,
                   .input = {1, 8, 7},
                   .kernel = {3},
                   .strides = {2},
                   .ceil = true,
                   .include_pad = true};
  CHECK_TWICE(write_key(s.canonical_form()) == "1x8x7-3-s2");
  // A maximum never counts the padding.
  constexpr pool t{.input = {1, 8, 6}, .kernel = {3}, .pads = {1, 1}, .include_pad = true};
  CHECK_TWICE(write_key(t.canonical_form()) == "1x8x6-3-s1-p1");
}

TEST_CASE("pool: one and three dims, dilation, uneven pads") {
  constexpr pool line{
      .input = {2, 4, 10}, .kernel = {3}, .strides = {2}, .pads = {0, 1}, .dilations = {2}};
  CHECK_TWICE(line.output() == shape{2, 4, 4}); // (11 - 5) / 2 + 1
  CHECK_TWICE(line.cost().other == 32 * 3);
  CHECK_TWICE(write_key(line) == "2x4x10-3-s2-p0x1-d2");
  constexpr pool cube{.input = {1, 2, 8, 9, 10}, .kernel = {2, 3, 2}, .strides = {2, 3, 1}};
  CHECK_TWICE(cube.output() == shape{1, 2, 4, 3, 9});
  CHECK_TWICE(cube.cost().other == 216 * 12);
  CHECK_TWICE(write_key(cube) == "1x2x8x9x10-2x3x2-s2x3x1");
}

TEST_CASE("pool: global") {
  constexpr pool p{.function = pooling::global_average, .input = {1, 2048, 7, 7}};
  CHECK_TWICE(p.output() == shape{1, 2048, 1, 1});
  CHECK_TWICE(p.cost().other == 100352);
  CHECK_TWICE(p.cost().bytes(numeric::f32) == (100352 + 2048) * 4);
  CHECK_TWICE(write_key(p) == "1x2048x7x7");
  CHECK_TWICE(p.family() == "GlobalAveragePool");
  constexpr pool q{.function = pooling::global_max, .input = {3, 4, 5, 6, 7}};
  CHECK_TWICE(q.output() == shape{3, 4, 1, 1, 1});
  CHECK_TWICE(q.family() == "GlobalMaxPool");
  // Leftovers of a window mean nothing to it.
  constexpr pool r{.function = pooling::global_max,
                   .input = {1, 4, 7, 7},
                   .kernel = {7, 7},
                   .strides = {2, 2},
                   .pads = {1, 1, 1, 1},
                   .ceil = true,
                   .include_pad = true};
  CHECK_TWICE(r.canonical_form() == pool{.function = pooling::global_max, .input = {1, 4, 7, 7}});
}

TEST_CASE("pool: families") {
  for (std::string_view family : pooling_families) {
    REQUIRE(pool::of(family));
    CHECK(pool::of(family)->family() == family);
  }
  CHECK(!pool::of("MinPool"));
  CHECK(pool{.function = pooling::global_lp}.global());
  CHECK(pool{.function = pooling::lp}.norm());
  CHECK(pool{.function = pooling::global_max}.maximum());
  CHECK(pool{.function = pooling::max}.maximum());
  CHECK(!pool{.function = pooling::average}.maximum());
  CHECK(pool{.function = pooling::global_average}.global());
  CHECK(!pool{.function = pooling::average}.global());
}

TEST_CASE("pool: what is refused") {
  const pool good{.input = {1, 64, 112, 112}, .kernel = {3, 3}, .pads = {1, 1, 1, 1}};
  good.validate();
  const auto refuses = [&](auto change, const char* part) {
    pool p = good;
    change(p);
    CHECK_REFUSED(p.validate(), part);
  };
  refuses([](pool& p) { p = {}; }, "one to three spatial dims");
  refuses([](pool& p) { p.input = {1, 64}; }, "one to three spatial dims");
  refuses([](pool& p) { p.input = {1, 2, 3, 4, 5, 6}; }, "one to three spatial dims");
  refuses([](pool& p) { p.kernel = {3}; }, "one to three spatial dims");
  refuses([](pool& p) { p.kernel = {}; }, "one to three spatial dims");
  refuses([](pool& p) { p.input[0] = -1; }, "negative");
  refuses([](pool& p) { p.kernel = {0, 3}; }, "kernel");
  refuses([](pool& p) { p.kernel = {115, 3}; }, "larger than its padded input");
  refuses([](pool& p) { p.strides = {0, 1}; }, "stride");
  refuses([](pool& p) { p.strides = {1}; }, "match the spatial dims");
  refuses([](pool& p) { p.dilations = {1, 0}; }, "dilation");
  refuses([](pool& p) { p.pads = {1, 1}; }, "match the spatial dims");
  refuses([](pool& p) { p.pads = {0, 0, 0, -1}; }, "pad");
  refuses([](pool& p) { p.pads = {3, 0, 0, 0}; }, "padding alone");
  refuses([](pool& p) { p.pads = {0, 0, 0, 3}; }, "padding alone");
  refuses([](pool& p) { p.input = {dim_limit, 64, dim_limit, 9}; }, "2^56");
  // The same numbers with a wider window are fine.
  pool wide = good;
  wide.pads = {2, 2, 2, 2}, wide.dilations = {2, 2};
  wide.validate();

  pool global{.function = pooling::global_average, .input = {1, 8, -7, 7}};
  CHECK_REFUSED(global.validate(), "negative");
  global.input = {1, 8};
  CHECK_REFUSED(global.validate(), "one to three spatial dims");
  global.input = {1, 1, 2, 2, 2, 2};
  CHECK_REFUSED(global.validate(), "one to three spatial dims");
}

TEST_CASE("pool: the canonical form of an invalid one is harmless") {
  const pool p{.input = {1, 2, 3, 4, 5, 6, 7, 8}, .kernel = {2, 2}, .ceil = true};
  CHECK(p.canonical_form().ceil);
}

TEST_CASE("pool: norms") {
  constexpr pool p{.function = pooling::lp, .input = {1, 2, 6, 6}, .power = 3, .kernel = {3, 3}};
  CHECK_TWICE(write_key(p) == "1x2x6x6-power3-3x3-s1");
  CHECK_TWICE(read_key(pool{.function = pooling::lp}, "1x2x6x6-power3-3x3-s1") == p);
  CHECK(op::key(parse("LpPool/1x2x6x6-3x3-s1")) == "1x2x6x6-3x3-s1");
  CHECK(op::key(parse("GlobalLpPool/1x2x6x6-power1")) == "1x2x6x6-power1");
  CHECK_REFUSED(parse("LpPool/1x2x6x6-power0-3x3-s1"), "1 to 1024");
  CHECK_REFUSED(parse("MaxPool/1x2x6x6-power3-3x3-s1"), "is not a number");
}
