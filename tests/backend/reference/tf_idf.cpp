// SPDX-License-Identifier: Apache-2.0
// Are n-grams of the pool counted, with skips, and weighed?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza::backend::reference;

TEST_CASE("n-grams, by hand") {
  using numbers = std::vector<double>;
  const numbers text{1, 1, 3, 3, 3, 7, 8, 6, 7, 5, 6, 8}, pool{2, 3, 5, 4, 5, 6, 7, 8, 6, 7};
  const numbers places{0, 1, 2, 3, 4, 5, 6}, weights = counted(7);
  const auto of = [&](const std::string& key) {
    const bool weighed = key.find("idf") != std::string::npos;
    return computed("TfIdfVectorizer/" + key, weighed ? std::vector{text, pool, places, weights}
                                                      : std::vector{text, pool, places});
  };
  CHECK(of("12-o7-min2-max2-pool4x3") == numbers{0, 0, 0, 0, 1, 1, 1});
  CHECK(of("12-o7-min2-max2-skip5-pool4x3") == numbers{0, 0, 0, 0, 1, 3, 1});
  CHECK(of("12-o7-max2-skip5-pool4x3") == numbers{0, 3, 1, 0, 1, 3, 1});
  CHECK(of("12-o7-max2-skip5-pool4x3-idf") == numbers{0, 2, 3, 0, 5, 6, 7});
  CHECK(of("12-o7-max2-skip5-pool4x3-tfidf-s32") == numbers{0, 6, 3, 0, 5, 18, 7});
  CHECK(of("2x6-o7-max2-pool4x3") == numbers{0, 3, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 1});
  // Two n-grams at one place of the result.
  CHECK(computed("TfIdfVectorizer/4-o2-max2-pool1x1", {{1, 2, 1, 2}, {1, 1, 2}, {1, 1}}) ==
        numbers{0, 4});
}
