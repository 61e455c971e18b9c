// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/window.hpp>

#include "checks.hpp"

#include <benanza/op/kinds.hpp>

#include <limits>
#include <set>

using namespace benanza;
using namespace benanza::op;

TEST_CASE("outputs of a window, floor") {
  CHECK_TWICE(window_output(224, 7, 2, 1, 3, 3, false) == 112);
  CHECK_TWICE(window_output(56, 3, 1, 1, 1, 1, false) == 56);
  CHECK_TWICE(window_output(56, 1, 2, 1, 0, 0, false) == 28);
  CHECK_TWICE(window_output(3, 3, 1, 1, 0, 0, false) == 1);
  CHECK_TWICE(window_output(32, 3, 1, 2, 2, 2, false) == 32); // spans 5
  CHECK_TWICE(window_output(10, 3, 1, 4, 0, 0, false) == 2);  // spans 9
  CHECK_TWICE(window_output(5, 2, 2, 1, 0, 1, false) == 3);   // pads on one side only
  CHECK_TWICE(window_output(1, 1, 1000, 1, 0, 0, false) == 1);
  CHECK_TWICE(window_output(0, 1, 1, 1, 1, 0, false) == 1);
}

TEST_CASE("outputs of a window, ceil") {
  CHECK_TWICE(window_output(112, 3, 2, 1, 0, 0, false) == 55);
  CHECK_TWICE(window_output(112, 3, 2, 1, 0, 0, true) == 56); // starts at 110, inside
  CHECK_TWICE(window_output(111, 3, 2, 1, 0, 0, true) == 55); // nothing left over
  CHECK_TWICE(window_output(13, 3, 2, 1, 0, 0, true) == 6);
  CHECK_TWICE(window_output(14, 3, 2, 1, 0, 0, true) == 7);
  CHECK_TWICE(window_output(6, 3, 2, 1, 1, 1, true) == 4);  // padded 8: starts 0 2 4 6, 6 < 7
  CHECK_TWICE(window_output(10, 3, 2, 2, 0, 0, true) == 4); // spans 5: starts 0 2 4 6
}

TEST_CASE("a last window that would start in the end padding does not count") {
  // 4 elements, one pad at each end: starts 0 3 and 6; 6 is not below 4 + 1.
  CHECK_TWICE(window_output(4, 2, 3, 1, 1, 1, true) == 2);
  // 2 elements, kernel 1, stride 2, one pad at each end: starts 0 2 and 4; 2 is inside, 4 is not.
  CHECK_TWICE(window_output(2, 1, 2, 1, 1, 1, true) == 2);
  // The same start one element earlier is inside.
  CHECK_TWICE(window_output(5, 2, 3, 1, 1, 1, true) == 2);
  CHECK_TWICE(window_output(6, 2, 3, 1, 1, 1, true) == 3);
  // The begin padding counts as inside.
  CHECK_TWICE(window_output(3, 2, 3, 1, 1, 1, true) == 2);
  // A stride longer than the input.
  CHECK_TWICE(window_output(3, 2, 7, 1, 0, 0, true) == 1);
}

TEST_CASE("what no window can be is refused") {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();
  CHECK_REFUSED(window_output(2, 3, 1, 1, 0, 0, false), "larger than its padded input");
  CHECK_REFUSED(window_output(2, 2, 1, 2, 0, 0, true), "larger than its padded input");
  CHECK_REFUSED(window_output(8, 0, 1, 1, 0, 0, false), "1 or more");
  CHECK_REFUSED(window_output(8, 3, 0, 1, 0, 0, false), "1 or more");
  CHECK_REFUSED(window_output(8, 3, 1, 0, 0, 0, false), "1 or more");
  CHECK_REFUSED(window_output(8, 3, -1, 1, 0, 0, false), "1 or more");
  CHECK_REFUSED(window_output(-1, 3, 1, 1, 4, 4, false), "negative");
  CHECK_REFUSED(window_output(8, 3, 1, 1, -1, 0, false), "negative");
  CHECK_REFUSED(window_output(8, 3, 1, 1, 0, -1, false), "negative");
  CHECK_REFUSED(window_output(largest, 3, 1, 1, 1, 1, false), "2^40");
  CHECK_REFUSED(window_output(8, 3, 1, 1, largest, largest, true), "2^40");
  CHECK_REFUSED(window_output(8, 3, largest, 1, 0, 0, true), "2^40");
  CHECK_REFUSED(window_output(8, largest, 1, largest, 0, 0, true), "2^56");
  CHECK_REFUSED(window_output(8, smallest, 1, 1, 0, 0, true), "1 or more");
}

TEST_CASE("span of a dilated kernel") {
  CHECK_TWICE(window_span(3, 1) == 3);
  CHECK_TWICE(window_span(3, 2) == 5);
  CHECK_TWICE(window_span(1, 9) == 1);
  CHECK_REFUSED(window_span(dim_limit, dim_limit), "2^56");
}

TEST_CASE("auto_pad: what each mode means, along one dim") {
  struct row {
    std::int64_t input, kernel, stride, dilation, less, more;
  };
  // total = max(0, (ceil(input / stride) - 1) * stride + span - input), halved by hand
  constexpr row table[] = {
      {224, 7, 2, 1, 2, 3}, // 111 * 2 + 7 - 224 = 5
      {56, 3, 1, 1, 1, 1},  // 55 + 3 - 56 = 2
      {5, 2, 1, 1, 0, 1},   // 4 + 2 - 5 = 1
      {8, 1, 2, 1, 0, 0},   // 6 + 1 - 8 < 0
      {7, 3, 3, 1, 1, 1},   // 6 + 3 - 7 = 2
      {10, 3, 1, 2, 2, 2},  // 9 + 5 - 10 = 4
      {9, 4, 1, 3, 4, 5},   // 8 + 10 - 9 = 9
      {10, 3, 2, 1, 0, 1},  // 8 + 3 - 10 = 1
      {1, 5, 3, 1, 2, 2},   // 0 + 5 - 1 = 4
      {3, 2, 5, 1, 0, 0},   // 0 + 2 - 3 < 0
  };
  for (const row& r : table) {
    CAPTURE(r.input);
    CAPTURE(r.kernel);
    CAPTURE(r.stride);
    const shape in{1, 1, r.input};
    const extents k{r.kernel}, s{r.stride}, d{r.dilation};
    const paddings upper = resolve_auto_pad(auto_pad::same_upper, in, k, s, d, {});
    const paddings lower = resolve_auto_pad(auto_pad::same_lower, in, k, s, d, {});
    CHECK(upper == paddings{r.less, r.more});
    CHECK(lower == paddings{r.more, r.less});
    CHECK(resolve_auto_pad(auto_pad::valid, in, k, s, d, {5, 5}) == paddings{0, 0});
    CHECK(resolve_auto_pad(auto_pad::notset, in, k, s, d, {5, 6}) == paddings{5, 6});
    // The purpose of SAME: as many outputs as strides in the input.
    CHECK(window_output(r.input, r.kernel, r.stride, r.dilation, upper[0], upper[1], false) ==
          (r.input + r.stride - 1) / r.stride);
  }
}

TEST_CASE("auto_pad: begins come before ends") {
  constexpr shape in{1, 3, 10, 5};
  CHECK_TWICE(resolve_auto_pad(auto_pad::same_upper, in, {3, 2}, {2, 1}, {}, {}) ==
              paddings{0, 0, 1, 1});
  CHECK_TWICE(resolve_auto_pad(auto_pad::same_lower, in, {3, 2}, {2, 1}, {}, {}) ==
              paddings{1, 1, 0, 0});
  constexpr shape cube{1, 3, 10, 5, 9};
  CHECK_TWICE(resolve_auto_pad(auto_pad::same_upper, cube, {3, 2, 4}, {2, 1, 1}, {1, 1, 3}, {}) ==
              paddings{0, 0, 4, 1, 1, 5});
  CHECK_TWICE(resolve_auto_pad(auto_pad::valid, cube, {3, 2, 4}, {}, {}, {}) ==
              paddings{0, 0, 0, 0, 0, 0});
}

TEST_CASE("auto_pad refuses what it cannot resolve") {
  CHECK_REFUSED(resolve_auto_pad(auto_pad::same_upper, {1, 3, 8, 8}, {3}, {}, {}, {}), "spatial");
  CHECK_REFUSED(resolve_auto_pad(auto_pad::same_upper, {1, 3, 8}, {3}, {0}, {}, {}), "too small");
  CHECK_REFUSED(resolve_auto_pad(auto_pad::same_upper, {1, 3, 8}, {3}, {1, 1}, {}, {}), "match");
  CHECK_REFUSED(resolve_auto_pad(auto_pad::same_lower, {1, 3, -8}, {3}, {}, {}, {}), "negative");
  CHECK_REFUSED(resolve_auto_pad(auto_pad::same_lower, {1, 3, 8}, {0}, {}, {}, {}), "too small");
}

TEST_CASE("lists that say the default everywhere become empty") {
  CHECK_TWICE(canonical(extents{1, 1}, 1).empty());
  CHECK_TWICE(canonical(extents{1, 2}, 1) == extents{1, 2});
  CHECK_TWICE(canonical(paddings{0, 0, 0, 0}, 0).empty());
  CHECK_TWICE(entry(extents{}, 2, 7) == 7);
  CHECK_TWICE(entry(extents{4, 5}, 1, 7) == 5);
}

TEST_CASE("a dilation of a one-tap kernel means nothing") {
  CHECK_TWICE(used_dilations({1, 1}, {2, 2}).empty());
  CHECK_TWICE(used_dilations({1, 3}, {2, 2}) == extents{1, 2});
  CHECK_TWICE(used_dilations({3, 3}, {}).empty());
}

TEST_CASE("what a window reads along one dim is what it touches, and never more") {
  for (std::int64_t input = 1; input < 14; ++input)
    for (std::int64_t kernel = 1; kernel < 4; ++kernel)
      for (std::int64_t stride = 1; stride < 6; ++stride)
        for (std::int64_t dilation = 1; dilation < 4; ++dilation)
          for (std::int64_t pad = 0; pad < 3; ++pad) {
            if (input + 2 * pad < window_span(kernel, dilation)) continue;
            const std::int64_t outs =
                window_output(input, kernel, stride, dilation, pad, pad, false);
            std::set<std::int64_t> touched;
            for (std::int64_t o = 0; o < outs; ++o)
              for (std::int64_t k = 0; k < kernel; ++k)
                if (const std::int64_t at = o * stride + k * dilation - pad; at >= 0 && at < input)
                  touched.insert(at);
            const std::int64_t reads = window_reads(input, kernel, stride, dilation, pad, outs);
            CHECK(reads <= std::ssize(touched));
            if (dilation == 1 || stride >= window_span(kernel, dilation))
              CHECK(reads == std::ssize(touched));
          }
}

TEST_CASE("bytes that have to move leave out what a stride steps over") {
  const layer picks = parse("MaxPool/1x256x56x56-1x1-s2"),
              conv = parse("Conv/1x64x56x56-8x3x3-s2-p1");
  CHECK(least_bytes(picks, numeric::f32) == 4 * 256 * 28 * 28 * 2);
  CHECK(cost(picks).bytes(numeric::f32) == 4 * 256 * (56 * 56 + 28 * 28));
  CHECK(least_bytes(conv, numeric::f32) == cost(conv).bytes(numeric::f32));
  const layer first = parse("Conv+Relu/1x64x56x56-128x1x1-s2");
  CHECK(cost(first).bytes(numeric::bf16) - least_bytes(first, numeric::bf16) ==
        2 * 64 * (56 * 56 - 28 * 28));
}
