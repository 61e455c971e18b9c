// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/move.hpp>

#include "checks.hpp"

#include <limits>

using namespace benanza;
using namespace benanza::op;

namespace {
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
} // namespace

TEST_CASE("concat and split") {
  constexpr concat c{.whole = {1, 256, 28, 28}, .axis = 1, .parts = 4};
  CHECK_TWICE(c.output() == shape{1, 256, 28, 28});
  CHECK_TWICE(c.cost().flops() == 0);
  CHECK_TWICE(c.cost().bytes(numeric::f32) == 2 * 802816);
  CHECK_TWICE(c.cost().bytes(numeric::u8s8u8) == 2 * 200704);
  CHECK_TWICE(write_key(c) == "1x256x28x28-a1-n4");
  constexpr split s{.whole = {6, 5}, .axis = 0, .parts = 2, .element = dtype::s64};
  CHECK_TWICE(s.cost().bytes(numeric::f32) == 480);
  CHECK_TWICE(write_key(s) == "6x5-a0-n2-s64");
}

TEST_CASE("parts are as equal as they can be") {
  CHECK_TWICE(part_of({1, 10, 4}, 1, 4, 0) == shape{1, 3, 4});
  CHECK_TWICE(part_of({1, 10, 4}, 1, 4, 1) == shape{1, 3, 4});
  CHECK_TWICE(part_of({1, 10, 4}, 1, 4, 2) == shape{1, 2, 4});
  CHECK_TWICE(part_of({1, 10, 4}, 1, 4, 3) == shape{1, 2, 4});
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < 7; ++i)
    sum += part_of({1000}, 0, 7, i)[0];
  CHECK(sum == 1000);
}

TEST_CASE("concat and split: what is refused") {
  const auto check = [](shape whole, int axis, std::int64_t parts, const char* part) {
    const concat c{.whole = whole, .axis = axis, .parts = parts};
    const split s{.whole = whole, .axis = axis, .parts = parts};
    CHECK_REFUSED(c.validate(), part);
    CHECK_REFUSED(s.validate(), part);
  };
  check({4, 4}, 2, 2, "axis");
  check({4, 4}, -1, 2, "axis");
  check({}, 0, 1, "axis");
  check({4, 4}, 1, 0, "parts");
  check({4, 4}, 1, -1, "parts");
  check({4, 4}, 1, 5, "parts");
  check({0, 4}, 0, 2, "parts"); // of nothing there is one
  check({-4, 4}, 1, 2, "negative");
  check({dim_limit, dim_limit}, 1, 2, "2^56");
}

TEST_CASE("transpose") {
  constexpr transpose t{.input = {1, 2, 58, 28}, .order = {0, 2, 1, 3}};
  CHECK_TWICE(t.output() == shape{1, 58, 2, 28});
  CHECK_TWICE(t.cost().bytes(numeric::f32) == 2 * 3248 * 4);
  CHECK_TWICE(write_key(t) == "1x2x58x28-o0x2x1x3");
  constexpr transpose around{.input = {2, 3, 5}, .order = {2, 0, 1}};
  CHECK_TWICE(around.output() == shape{5, 2, 3}); // dim i of the output is dim order[i]
  constexpr transpose scalar{};
  CHECK_TWICE(write_key(scalar) == "scalar");
  scalar.validate();
}

TEST_CASE("transpose: what is refused") {
  const auto of = [](shape input, shape order) {
    return transpose{.input = input, .order = order};
  };
  CHECK_REFUSED(of({2, 3}, {0}).validate(), "another number of dims");
  CHECK_REFUSED(of({2, 3}, {}).validate(), "another number of dims");
  CHECK_REFUSED(of({2, 3}, {0, 0}).validate(), "order");
  CHECK_REFUSED(of({2, 3}, {1, 2}).validate(), "order");
  CHECK_REFUSED(of({2, 3}, {-1, 0}).validate(), "order");
  CHECK_REFUSED(of({2, 3}, {0, dim_limit}).validate(), "order");
  CHECK_REFUSED(of({2, -3}, {0, 1}).validate(), "negative");
  CHECK_REFUSED(of({dim_limit, dim_limit}, {1, 0}).validate(), "2^56");
}

TEST_CASE("pad") {
  constexpr pad p{.input = {1, 3, 10, 10}, .begins = {0, 0, 1, 2}, .ends = {0, 0, 3, 0}};
  CHECK_TWICE(p.output() == shape{1, 3, 14, 12});
  CHECK_TWICE(p.cost().sources == 300);
  CHECK_TWICE(p.cost().results == 504);
  CHECK_TWICE(write_key(p) == "1x3x10x10-b0x0x1x2-e0x0x3x0");
}

TEST_CASE("pad: negative pads cut off, and what is cut off is not read") {
  constexpr pad p{.input = {1, 3, 10, 10},
                  .begins = {0, 0, -2, 3},
                  .ends = {0, 0, 1, -4},
                  .mode = pad_mode::reflect};
  CHECK_TWICE(p.output() == shape{1, 3, 9, 9});
  CHECK_TWICE(p.kept() == shape{1, 3, 8, 6});
  CHECK_TWICE(p.cost().sources == 144);
  CHECK_TWICE(p.cost().results == 243);
  CHECK_TWICE(write_key(p) == "1x3x10x10-b0x0xm2x3-e0x0x1xm4-reflect");
  constexpr pad all{.input = {4}, .begins = {-4}, .ends = {0}, .element = dtype::e4m3};
  all.validate();
  CHECK_TWICE(all.output() == shape{0});
  CHECK_TWICE(write_key(all) == "4-bm4-e0-e4m3");
}

TEST_CASE("pad: a scalar of an element type that looks like ends") {
  constexpr pad p{.element = dtype::e4m3};
  CHECK_TWICE(write_key(p) == "scalar-e4m3");
  CHECK_TWICE(read_key(pad{}, "scalar-e4m3") == p);
}

TEST_CASE("pad: what is refused") {
  const auto of = [](shape input, shape begins, shape ends, pad_mode mode = pad_mode::constant) {
    return pad{.input = input, .begins = begins, .ends = ends, .mode = mode};
  };
  of({0}, {1}, {1}).validate();
  CHECK_REFUSED(of({2, 3}, {1}, {1, 1}).validate(), "another number of dims");
  CHECK_REFUSED(of({2, 3}, {1, 1}, {}).validate(), "another number of dims");
  CHECK_REFUSED(of({2}, {-3}, {0}).validate(), "cuts off more");
  CHECK_REFUSED(of({2}, {-2}, {-1}).validate(), "cuts off more");
  CHECK_REFUSED(of({2}, {-3}, {9}).validate(), "cuts off more"); // though seven would be left
  CHECK_REFUSED(of({0}, {1}, {0}, pad_mode::edge).validate(), "nothing to fill");
  CHECK_REFUSED(of({2}, {-2}, {1}, pad_mode::reflect).validate(), "nothing to fill");
  CHECK_REFUSED(of({2}, {largest}, {largest}).validate(), "2^40");
  CHECK_REFUSED(of({2}, {smallest}, {0}).validate(), "2^40");
  CHECK_REFUSED(of({2}, {dim_limit}, {0}).validate(), "2^40");
  CHECK_REFUSED(of({-2}, {4}, {0}).validate(), "negative");
  CHECK_REFUSED(of({1, 1}, {dim_limit / 2, 0}, {0, dim_limit / 2}).validate(), "2^56");
}

TEST_CASE("slice") {
  constexpr slice s{.input = {1, 64, 56}, .sizes = {1, 32, 56}, .starts = {0, 32, 0}};
  CHECK_TWICE(s.output() == shape{1, 32, 56});
  CHECK_TWICE(s.cost().bytes(numeric::f32) == 2 * 1792 * 4); // only what is taken is read
  CHECK_TWICE(write_key(s) == "1x64x56-1x32x56-from0x32x0");
  constexpr slice stepped{.input = {8, 9}, .sizes = {4, 3}, .starts = {1, 2}, .steps = {2, 3}};
  stepped.validate(); // rows 1 3 5 7, columns 2 5 8
  CHECK_TWICE(write_key(stepped) == "8x9-4x3-from1x2-by2x3");
}

TEST_CASE("slice: negative steps") {
  constexpr slice s{.input = {10}, .sizes = {3}, .starts = {9}, .steps = {-4}};
  s.validate(); // 9 5 1
  CHECK_TWICE(write_key(s) == "10-3-from9-bym4");
  CHECK_TWICE(read_key(slice{}, "10-3-from9-bym4") == s);
  CHECK_REFUSED((slice{.input = {10}, .sizes = {4}, .starts = {9}, .steps = {-4}}.validate()),
                "outside");
  slice{.input = {10}, .sizes = {10}, .starts = {9}, .steps = {-1}}.validate();
  CHECK_REFUSED((slice{.input = {10}, .sizes = {11}, .starts = {9}, .steps = {-1}}.validate()),
                "outside");
}

TEST_CASE("slice: an element type is not a step") {
  // "s64" once read as steps of 64 and "f32" as a start of 32.
  constexpr slice s{.input = {4}, .sizes = {1}, .element = dtype::s64};
  CHECK_TWICE(write_key(s) == "4-1-s64");
  CHECK_TWICE(read_key(slice{}, "4-1-s64") == s);
  constexpr slice f{.input = {64}, .sizes = {1}, .element = dtype::f32};
  CHECK_TWICE(read_key(slice{}, write_key(f).view()) == f);
  constexpr slice t{.input = {64}, .sizes = {2}, .steps = {8}, .element = dtype::s8};
  CHECK_TWICE(write_key(t) == "64-2-by8-s8");
  CHECK_TWICE(read_key(slice{}, "64-2-by8-s8") == t);
}

TEST_CASE("slice: the canonical form") {
  // A step matters only where two elements are taken, a start where one is.
  constexpr slice s{
      .input = {8, 8, 8}, .sizes = {1, 0, 2}, .starts = {3, 5, 0}, .steps = {7, -9, 1}};
  s.validate();
  CHECK_TWICE(write_key(s.canonical_form()) == "8x8x8-1x0x2-from3x0x0");
  constexpr slice whole{.input = {8}, .sizes = {8}, .starts = {0}, .steps = {1}};
  CHECK_TWICE(write_key(whole.canonical_form()) == "8-8");
}

TEST_CASE("slice: what is refused") {
  const auto of = [](shape input, shape sizes, shape starts, shape steps) {
    return slice{.input = input, .sizes = sizes, .starts = starts, .steps = steps};
  };
  CHECK_REFUSED(of({4, 4}, {4}, {}, {}).validate(), "another number of dims");
  CHECK_REFUSED(of({4, 4}, {4, 4}, {0}, {}).validate(), "another number of dims");
  CHECK_REFUSED(of({4, 4}, {4, 4}, {}, {1}).validate(), "another number of dims");
  CHECK_REFUSED(of({4}, {5}, {}, {}).validate(), "outside");
  CHECK_REFUSED(of({4}, {4}, {1}, {}).validate(), "outside");
  CHECK_REFUSED(of({4}, {1}, {4}, {}).validate(), "outside");
  CHECK_REFUSED(of({4}, {1}, {-1}, {}).validate(), "starts before");
  CHECK_REFUSED(of({4}, {2}, {0}, {-1}).validate(), "outside");
  CHECK_REFUSED(of({4}, {1}, {0}, {0}).validate(), "steps by 0");
  CHECK_REFUSED(of({4}, {-1}, {2}, {}).validate(),
                "negative"); // its last element would be the first
  CHECK_REFUSED(of({4}, {2}, {0}, {smallest}).validate(), "2^40");
  CHECK_REFUSED(of({4}, {2}, {0}, {largest}).validate(), "2^40");
  CHECK_REFUSED(of({4}, {2}, {largest}, {1}).validate(), "starts before");
  CHECK_REFUSED(of({dim_limit}, {dim_limit}, {0}, {dim_limit}).validate(), "outside");
  CHECK_REFUSED(of({dim_limit, dim_limit}, {dim_limit, dim_limit}, {}, {}).validate(), "2^56");
}

TEST_CASE("gather") {
  constexpr gather g{.data = {30522, 768}, .indices = {1, 384}};
  CHECK_TWICE(g.output() == shape{1, 384, 768});
  CHECK_TWICE(g.cost().sources == 294912); // not the whole table
  CHECK_TWICE(g.cost().results == 294912);
  CHECK_TWICE(g.cost().fixed_bytes == 3072);
  CHECK_TWICE(g.cost().bytes(numeric::f32) == 2 * 1179648 + 3072);
  CHECK_TWICE(write_key(g) == "30522x768-1x384");
}

TEST_CASE("gather: other axes, scalar and narrow indices, other elements") {
  constexpr gather one{.data = {1, 5, 7}, .indices = {}, .axis = 1};
  CHECK_TWICE(one.output() == shape{1, 7});
  CHECK_TWICE(write_key(one) == "1x5x7-scalar-a1");
  constexpr gather narrow{
      .data = {8}, .indices = {2, 3}, .element = dtype::s64, .index = dtype::s32};
  CHECK_TWICE(narrow.output() == shape{2, 3});
  CHECK_TWICE(narrow.cost().bytes(numeric::f32) == (6 + 6) * 8 + 24);
  CHECK_TWICE(write_key(narrow) == "8-2x3-i32-s64");
  CHECK_TWICE(read_key(gather{}, "8-2x3-i32-s64") == narrow);
  constexpr gather last{.data = {4, 6}, .indices = {3}, .axis = 1};
  CHECK_TWICE(last.output() == shape{4, 3});
}

TEST_CASE("gather: a small table is read once however often its rows are taken") {
  constexpr gather types{.data = {2, 768}, .indices = {1, 384}};
  CHECK_TWICE(types.cost().sources == 1536);
  CHECK_TWICE(types.cost().results == 294912);
}

TEST_CASE("gather: what is refused") {
  const auto of = [](shape data, shape indices, int axis) {
    return gather{.data = data, .indices = indices, .axis = axis};
  };
  of({0, 4}, {0}, 0).validate();
  CHECK_REFUSED(of({}, {1}, 0).validate(), "axis");
  CHECK_REFUSED(of({2}, {1}, 1).validate(), "axis");
  CHECK_REFUSED(of({2}, {1}, -1).validate(), "axis");
  CHECK_REFUSED(of({0, 4}, {1}, 0).validate(), "empty axis");
  CHECK_REFUSED(of({2}, {-1}, 0).validate(), "negative");
  CHECK_REFUSED(of({2, -1}, {1}, 0).validate(), "negative");
  CHECK_REFUSED(of({2, dim_limit}, {dim_limit}, 0).validate(), "2^56");
  CHECK_REFUSED(of({2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 0).validate(), "at most 8");
  gather odd{.data = {2}, .indices = {1}, .index = dtype::u8};
  CHECK_REFUSED(odd.validate(), "s32 or s64");
}

TEST_CASE("resize") {
  constexpr resize nearest{
      .input = {1, 256, 26, 26}, .sizes = {1, 256, 52, 52}, .coordinates = sampling::asymmetric};
  CHECK_TWICE(nearest.output() == shape{1, 256, 52, 52});
  CHECK_TWICE(nearest.cost().other == 0);
  CHECK_TWICE(nearest.cost().bytes(numeric::f32) == (173056 + 692224) * 4);
  CHECK_TWICE(write_key(nearest) == "1x256x26x26-1x256x52x52-asymmetric");
  constexpr resize linear{.input = {1, 3, 8, 8},
                          .sizes = {1, 3, 16, 4},
                          .mode = interpolation::linear,
                          .coordinates = sampling::align_corners};
  CHECK_TWICE(linear.cost().other == 192 * 8); // 4 taps, each a multiply and an add
  CHECK_TWICE(write_key(linear) == "1x3x8x8-1x3x16x4-linear-align_corners");
  constexpr resize row{
      .input = {1, 3, 8, 8}, .sizes = {1, 3, 8, 16}, .mode = interpolation::linear};
  CHECK_TWICE(row.cost().other == 384 * 4); // one resized dim: 2 taps
  constexpr resize cubic{
      .input = {1, 3, 8, 8}, .sizes = {1, 3, 16, 16}, .mode = interpolation::cubic};
  CHECK_TWICE(cubic.cost().other == 768 * 32);
  CHECK_TWICE(write_key(cubic) == "1x3x8x8-1x3x16x16-cubic");
  constexpr resize old{.input = {1, 1}, .sizes = {2, 2}, .upsample = true};
  CHECK_TWICE(old.family() == "Upsample");
  CHECK_TWICE(resize::of("Upsample")->upsample);
  CHECK_TWICE(!resize::of("Resize")->upsample);
}

TEST_CASE("resize: what is refused") {
  const auto of = [](shape input, shape sizes) { return resize{.input = input, .sizes = sizes}; };
  CHECK_REFUSED(of({1, 2}, {1}).validate(), "another number of dims");
  CHECK_REFUSED(of({1, 2}, {1, 0}).validate(), "1 or more");
  CHECK_REFUSED(of({1, 0}, {1, 2}).validate(), "1 or more");
  CHECK_REFUSED(of({1, -2}, {1, 2}).validate(), "1 or more");
  CHECK_REFUSED(of({1, 2}, {1, largest}).validate(), "2^40");
  CHECK_REFUSED(of({1, 2}, {dim_limit, dim_limit}).validate(), "2^56");
}

TEST_CASE("depth_to_space and back") {
  constexpr depth_to_space d{.input = {1, 12, 2, 3}, .block = 2};
  CHECK_TWICE(d.output() == shape{1, 3, 4, 6});
  CHECK_TWICE(d.family() == "DepthToSpace");
  CHECK_TWICE(d.cost().bytes(numeric::f32) == 2 * 72 * 4);
  CHECK_TWICE(write_key(d) == "1x12x2x3-k2");
  constexpr depth_to_space crd{.input = {1, 12, 2, 3}, .block = 2, .column_row_depth = true};
  CHECK_TWICE(write_key(crd) == "1x12x2x3-k2-crd");
  constexpr depth_to_space s{.input = {1, 3, 4, 6}, .block = 2, .inverse = true};
  CHECK_TWICE(s.output() == shape{1, 12, 2, 3});
  CHECK_TWICE(s.family() == "SpaceToDepth");
  CHECK_TWICE(write_key(s) == "1x3x4x6-k2");
  constexpr depth_to_space columns{
      .input = {1, 3, 4, 6}, .block = 2, .column_row_depth = true, .inverse = true};
  CHECK_TWICE(write_key(columns) == "1x3x4x6-k2-crd");
}

TEST_CASE("depth_to_space: what is refused") {
  const auto of = [](shape input, std::int64_t block, bool inverse) {
    return depth_to_space{.input = input, .block = block, .inverse = inverse};
  };
  CHECK_REFUSED(of({1, 12, 2}, 2, false).validate(), "four dims");
  CHECK_REFUSED(of({1, 12, 2, 3}, 0, false).validate(), "block of 1");
  CHECK_REFUSED(of({1, 12, 2, 3}, -2, false).validate(), "block of 1");
  CHECK_REFUSED(of({1, 12, 2, 3}, largest, false).validate(), "block of 1");
  CHECK_REFUSED(of({1, 6, 2, 3}, 2, false).validate(), "divide");
  CHECK_REFUSED(of({1, 13, 2, 3}, 2, false).validate(), "divide");
  CHECK_REFUSED(of({1, 3, 4, 5}, 2, true).validate(), "divide");
  CHECK_REFUSED(of({1, 3, 5, 4}, 2, true).validate(), "divide");
  CHECK_REFUSED(of({1, -4, 2, 2}, 2, false).validate(), "negative");
  // block * block is 2^80: once a division by zero.
  CHECK_REFUSED(of({1, 0, dim_limit, 2}, dim_limit, false).validate(), "2^56");
  CHECK_REFUSED(of({1, dim_limit, 0, 0}, dim_limit, true).validate(), "2^56");
  of({1, 0, 0, 2}, 1 << 20, false).validate();
}
