// SPDX-License-Identifier: Apache-2.0
#include <benanza/core/layout.hpp>
#include <doctest/doctest.h>

#include <map>
#include <vector>

using namespace benanza;

namespace {
/// Where each element of `s` is in layout `l`, by the layout's definition.
std::vector<std::int64_t> places(layout l, const shape& s) {
  const std::int64_t block = l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : 1;
  const std::int64_t channels = s[1], plane = elements(s, 2, s.size);
  const std::int64_t blocks = (channels + block - 1) / block;
  std::vector<std::int64_t> out;
  for (std::int64_t n = 0; n < s[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < plane; ++p)
        out.push_back(l == layout::channels_last
                          ? (n * plane + p) * channels + c
                          : ((n * blocks + c / block) * plane + p) * block + c % block);
  return out;
}
} // namespace

TEST_CASE("layout tokens round-trip, and ranks have their letters") {
  for (layout l : all_layouts)
    CHECK(parse_layout(name(l)) == l);
  CHECK(!parse_layout("any"));
  CHECK(letters(layout::channels_last, 4) == "nhwc");
  CHECK(letters(layout::blocked16, 5) == "nCdhw16c");
  CHECK(letters(layout::plain, 2).empty());
}

TEST_CASE("two layouts are the same memory exactly if every element has the same place") {
  for (const shape& s : {shape{1, 1, 5, 5},
                         {2, 16, 3, 3},
                         {1, 8, 4, 4},
                         {2, 32, 1, 1},
                         {1, 24, 1, 1},
                         {3, 24, 2, 2},
                         {1, 16, 1},
                         {2, 64, 7},
                         {1, 3, 4, 4},
                         {2, 8, 2, 2, 2}})
    for (layout a : all_layouts)
      for (layout b : all_layouts) {
        CAPTURE(name(a));
        CAPTURE(name(b));
        if (!dense(a, s) || !dense(b, s)) continue; // padding takes room of its own
        CHECK(same_memory(a, b, s) == (places(a, s) == places(b, s)));
      }
  CHECK(!same_memory(layout::plain, layout::blocked16, {1, 24, 1, 1}));
  CHECK(same_memory(layout::plain, layout::blocked16, {7, 24}));
}
