// SPDX-License-Identifier: Apache-2.0
// Does a token change the state by the rule, and do queries read it then?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

namespace {
using numbers = std::vector<double>;
/// What `computed` gives behind so many outputs.
numbers last_of(std::size_t outputs, const numbers& all) {
  return {all.begin() + static_cast<std::ptrdiff_t>(outputs), all.end()};
}
} // namespace

TEST_CASE("linear attention, by hand") {
  const numbers q{1, 2, 3}, k{1, 2, 1}, v{5, 7, 1};
  CHECK(computed("LinearAttention/1x1x3x1", {q, k, v}) == numbers{5, 38, 60, 20});
  CHECK(computed("LinearAttention/1x1x3x1-delta", {q, k, v, {}, {}, {1, 0.5, 1}}) ==
        numbers{5, 4, 3, 1});
  // The scale is a half where keys are of four.
  CHECK(computed("LinearAttention/1x1x1x4-v1", {{1, 2, 3, 4}, {1, 1, 1, 1}, {2}}) ==
        numbers{10, 2, 2, 2, 2});
  // Two queries share a state of two columns, which has a past.
  CHECK(computed("LinearAttention/1x2x1x1-kv1-v2-past", {{1, 2}, {3}, {1, 10}, {100, 200}}) ==
        numbers{103, 230, 206, 460, 103, 230});
  // Batches and heads have states of their own.
  CHECK(computed("LinearAttention/2x2x1x1", {{1, 1, 1, 1}, {1, 2, 3, 4}, {1, 1, 1, 1}}) ==
        numbers{1, 2, 3, 4, 1, 2, 3, 4});
}

TEST_CASE("linear attention: decays and rates, by hand") {
  const numbers ones{1, 1, 1, 1}, eights{8, 8, 8, 8};
  CHECK(last_of(1, computed("LinearAttention/1x1x1x2-v1-gated-past",
                            {{1, 1}, {1, 1}, {3}, {8, 8}, {0, -1000}})) == numbers{11, 3});
  CHECK(last_of(2, computed("LinearAttention/1x2x1x2-v1-gated-per_head-past",
                            {ones, ones, {3, 4}, eights, {0, -1000}})) == numbers{11, 11, 4, 4});
  // What a state gives is asked once it has decayed.
  CHECK(computed("LinearAttention/1x1x1x1-gated_delta-past",
                 {{1}, {2}, {6}, {9}, {-1000}, {0.5}}) == numbers{6, 6});
  CHECK(computed("LinearAttention/1x1x1x1-gated_delta-past", {{1}, {2}, {6}, {9}, {0}, {0.5}}) ==
        numbers{-3, -3});
  CHECK(computed("LinearAttention/1x2x1x1-delta-one_rate",
                 {{1, 1}, {1, 1}, {4, 6}, {}, {}, {0.5}}) == numbers{2, 3, 2, 3});
}
