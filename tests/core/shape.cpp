// SPDX-License-Identifier: Apache-2.0
#include "../op/checks.hpp"

#include <benanza/core/shape.hpp>

#include <limits>

using namespace benanza;

namespace {
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

template <shape S>
struct of_shape {};
} // namespace

TEST_CASE("a list holds what it was given") {
  constexpr shape s{1, 64, 56, 56};
  CHECK_TWICE(s.size == 4);
  CHECK_TWICE(s[1] == 64);
  CHECK_TWICE(s.back() == 56);
  CHECK_TWICE(!s.empty());
  CHECK_TWICE(shape{}.empty());
  CHECK_TWICE(s == shape{1, 64, 56, 56});
  CHECK_TWICE(s != shape{1, 64, 56});
  CHECK_TWICE(s != shape{1, 64, 56, 57});
  CHECK_TWICE(shape{} != shape{0});
  CHECK_TWICE(extents::filled(3, 2) == extents{2, 2, 2});
  CHECK_TWICE(extents::filled(0, 2).empty());
}

TEST_CASE("all() also holds for an empty list") {
  CHECK_TWICE(extents{}.all(1));
  CHECK_TWICE(extents{1, 1}.all(1));
  CHECK_TWICE(!extents{1, 2}.all(1));
}

TEST_CASE("equality looks at the entries in use only") {
  shape a{1, 2, 3};
  a.size = 2;
  CHECK(a == shape{1, 2});
}

TEST_CASE("a list refuses more than it holds, and says how much that is") {
  shape s = shape::filled(8, 1);
  CHECK_REFUSED(s.push(1), "at most 8");
  CHECK(s.size == 8);
  CHECK_REFUSED((extents{1, 2, 3, 4}), "at most 3");
  CHECK_REFUSED(paddings::filled(7, 0), "at most 6");
}

TEST_CASE("a list is a template argument, and equal lists are the same one") {
  static_assert(std::is_same_v<of_shape<shape{1, 2}>, of_shape<shape{1, 2}>>);
  static_assert(!std::is_same_v<of_shape<shape{1, 2}>, of_shape<shape{1, 2, 0}>>);
  static_assert(std::is_same_v<of_shape<shape::filled(2, 3)>, of_shape<shape{3, 3}>>);
}

TEST_CASE("elements") {
  CHECK_TWICE(elements(shape{}) == 1);
  CHECK_TWICE(elements(shape{1, 64, 56, 56}) == 200704);
  CHECK_TWICE(elements(shape{5, 0, 7}) == 0);
  // An empty tensor is empty wherever its zero is.
  CHECK_TWICE(elements(shape{0, dim_limit, dim_limit}) == 0);
  CHECK_TWICE(elements(shape{dim_limit, dim_limit, 0}) == 0);
  CHECK_TWICE(elements(shape{2, 3, 5, 7}, 1, 3) == 15);
  CHECK_TWICE(elements(shape{2, 3, 5, 7}, 2, 2) == 1);
  CHECK_TWICE(elements(shape{dim_limit, 1 << 16}) == count_limit);
}

TEST_CASE("sizes that are too large or negative are errors, never a negative count") {
  CHECK_REFUSED(elements(shape{dim_limit, dim_limit}), "2^56");
  CHECK_REFUSED(elements(shape{dim_limit, (1 << 16) + 1}), "2^56");
  CHECK_REFUSED(elements(shape{largest, largest}), "2^56");
  CHECK_REFUSED(elements(shape{-1, 4}), "negative");
  CHECK_REFUSED(elements(shape{-1, -4}), "negative");
  CHECK_REFUSED(elements(shape{smallest, 1}), "negative");
  CHECK_REFUSED(elements(shape{0, -1}), "negative");
}

TEST_CASE("sums and products of counts stop at what 64 bits hold") {
  CHECK_TWICE(capped_add(2, 3) == 5);
  CHECK_TWICE(capped_add(largest - 1, 1) == largest);
  CHECK_TWICE(capped_add(largest, 1) == largest);
  CHECK_TWICE(capped_multiply(6, 7) == 42);
  CHECK_TWICE(capped_multiply(0, largest) == 0);
  CHECK_TWICE(capped_multiply(3, largest / 2) == largest);
  CHECK_TWICE(packed({0, dim_limit, dim_limit, dim_limit})[0] == largest);
}

TEST_CASE("checked_multiply") {
  CHECK_TWICE(checked_multiply(0, largest) == 0);
  CHECK_TWICE(checked_multiply(6, 7) == 42);
  CHECK_TWICE(checked_multiply(count_limit, 1) == count_limit);
  CHECK_REFUSED(checked_multiply(count_limit + 1, 1), "2^56");
  CHECK_REFUSED(checked_multiply(1, count_limit + 1), "2^56");
  CHECK_REFUSED(checked_multiply(2, largest), "2^56");
  CHECK_REFUSED(checked_multiply(-1, 0), "negative");
  CHECK_REFUSED(checked_multiply(0, smallest), "negative");
}

TEST_CASE("check_dims") {
  check_dims({});
  check_dims({0, 1, dim_limit});
  CHECK_REFUSED(check_dims({1, -1}), "negative");
  CHECK_REFUSED(check_dims({dim_limit + 1}), "over 2^40");
  CHECK_REFUSED(check_dims({smallest}), "negative");
}

TEST_CASE("broadcast follows NumPy") {
  CHECK_TWICE(broadcast({1, 64, 56, 56}, {1, 64, 1, 1}) == shape{1, 64, 56, 56});
  CHECK_TWICE(broadcast({64, 1, 1}, {2, 64, 5, 7}) == shape{2, 64, 5, 7});
  CHECK_TWICE(broadcast({3, 1}, {1, 4}) == shape{3, 4});
  CHECK_TWICE(broadcast({}, {2, 3}) == shape{2, 3});
  CHECK_TWICE(broadcast({2, 3}, {}) == shape{2, 3});
  CHECK_TWICE(broadcast({}, {}).empty());
  CHECK_TWICE(broadcast({0}, {1}) == shape{0});
  CHECK_TWICE(broadcast({1}, {0}) == shape{0});
  CHECK_TWICE(broadcast({8, 1, 6, 1}, {7, 1, 5}) == shape{8, 7, 6, 5});
  CHECK_REFUSED(broadcast({2, 3}, {2, 4}), "broadcast");
  CHECK_REFUSED(broadcast({0}, {2}), "broadcast");
  CHECK_REFUSED(broadcast({2, 1}, {3, 1}), "broadcast");
}

TEST_CASE("packed says how far apart neighbours along a dim are") {
  static_assert(packed({2, 3, 5}) == shape{15, 5, 1});
  CHECK(packed({7}) == shape{1});
  CHECK(packed({4, 1, 3, 0}) == shape{0, 0, 0, 1});
  CHECK(packed({}).empty());
}

TEST_CASE("expanded puts ones in front") {
  CHECK_TWICE(expanded({3, 4}, 4) == shape{1, 1, 3, 4});
  CHECK_TWICE(expanded({3, 4}, 2) == shape{3, 4});
  CHECK_TWICE(expanded({3, 4}, 1) == shape{3, 4});
  CHECK_TWICE(expanded({}, 2) == shape{1, 1});
  CHECK_REFUSED(expanded({1}, 9), "at most 8");
}
