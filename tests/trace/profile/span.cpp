// SPDX-License-Identifier: Apache-2.0
#include <benanza/trace/profile/span.hpp>
#include <doctest/doctest.h>

#include <vector>

using namespace benanza::trace;

namespace test_of_span {
span at(int level, double begin, double end, const char* track = "") {
  return {.level = level, .name = "x", .begin_ns = begin, .ns = end - begin, .track = track};
}

TEST_CASE("a span belongs to the one above within whose time it is") {
  std::vector<span> s{at(1, 0, 100),  at(2, 0, 40),  at(2, 40, 100), at(3, 5, 30),
                      at(3, 40, 100), at(3, 30, 50), at(3, 100, 110)};
  const containment found = find_parents(s);
  CHECK(s[1].parent == 0);
  CHECK(s[2].parent == 0);
  CHECK(s[3].parent == 1);
  CHECK(s[4].parent == 2);  // as long as its parent
  CHECK(s[5].parent == -1); // half in each
  CHECK(s[6].parent == -1); // touches
  CHECK(found.contained == 4);
  CHECK(found.outside == 2);
  CHECK(found.ambiguous == 0);
}

TEST_CASE("a span without length belongs to what begins there") {
  std::vector<span> s{at(1, 0, 10), at(1, 10, 20), at(2, 10, 10)};
  find_parents(s);
  CHECK(s[2].parent == 1);
}

TEST_CASE("of those that are within each other the innermost is the parent") {
  std::vector<span> s{at(1, 0, 100), at(2, 0, 90), at(2, 10, 80), at(2, 20, 30), at(3, 40, 50)};
  find_parents(s);
  CHECK(s[4].parent == 2);
}

TEST_CASE(
    "what two contain of which neither is in the other is ambiguous, unless its track decides") {
  std::vector<span> s{at(1, 0, 100), at(2, 0, 60, "a"), at(2, 10, 70, "b"), at(3, 20, 30, "c"),
                      at(3, 20, 30, "b")};
  const containment found = find_parents(s);
  CHECK(s[3].parent == -1);
  CHECK(s[3].ambiguous);
  CHECK(s[4].parent == 2);
  CHECK(found.ambiguous == 1);
  // The same time twice, on two tracks.
  std::vector<span> twice{at(1, 0, 10, "a"), at(1, 0, 10, "b"), at(2, 1, 2)};
  find_parents(twice);
  CHECK(twice[2].ambiguous);
}

TEST_CASE("times that are cut may be wrong by as much, and given parents stay") {
  std::vector<span> s{at(1, 0, 100), at(2, 0, 100.9), at(2, 0, 102)};
  find_parents(s, 1);
  CHECK(s[1].parent == 0);
  CHECK(s[2].parent == -1);
  std::vector<span> told{at(1, 0, 10), at(2, 50, 60)};
  told[1].parent = 0;
  CHECK(find_parents(told).told == 1);
  CHECK(told[1].parent == 0);
}
} // namespace test_of_span
