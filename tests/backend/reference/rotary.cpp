// SPDX-License-Identifier: Apache-2.0
// Does a rotary embedding turn the right pairs by the right angles?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

TEST_CASE("rotary, by hand") {
  // One head of four numbers: the pairs (1, 3) and (2, 4), or (1, 2) and (3, 4).
  CHECK(computed("RotaryEmbedding/1x1x1x4", {{1, 2, 3, 4}, {10, 100}, {1, 2}}) ==
        std::vector<double>{10 - 3, 200 - 8, 1 + 30, 4 + 400});
  CHECK(computed("RotaryEmbedding/1x1x1x4-interleaved", {{1, 2, 3, 4}, {10, 100}, {1, 2}}) ==
        std::vector<double>{10 - 2, 1 + 20, 300 - 8, 6 + 400});
  // Both numbers of a pair have a cosine and a sine.
  CHECK(computed("RotaryEmbedding/1x1x1x4-wide", {{1, 2, 3, 4}, {10, 100, 5, 6}, {1, 2, 7, 8}}) ==
        std::vector<double>{10 - 3, 200 - 8, 7 + 15, 16 + 24});
  CHECK(computed("RotaryEmbedding/1x1x1x4-interleaved-wide",
                 {{1, 2, 3, 4}, {10, 100, 5, 6}, {1, 2, 7, 8}}) ==
        std::vector<double>{10 - 2, 2 + 200, 15 - 28, 24 + 24});
  // What is not turned stays.
  CHECK(computed("RotaryEmbedding/1x1x1x4-r2", {{1, 2, 3, 4}, {10}, {1}}) ==
        std::vector<double>{10 - 2, 1 + 20, 3, 4});
  // Two heads at two places: heads first, then places first.
  const std::vector<double> x = counted(8), cosines{1, 2}, sines{0, 0};
  CHECK(computed("RotaryEmbedding/1x2x2x2", {x, cosines, sines}) ==
        std::vector<double>{1, 2, 6, 8, 5, 6, 14, 16});
  CHECK(computed("RotaryEmbedding/1x2x2x2-bshd", {x, cosines, sines}) ==
        std::vector<double>{1, 2, 3, 4, 10, 12, 14, 16});
  // Places that name rows of a table, and batches with angles of their own.
  CHECK(computed("RotaryEmbedding/2x1x2x2-t3", {x, {1, 2, 3}, {0, 0, 0}, {2, 0, 1, 1}}) ==
        std::vector<double>{3, 6, 3, 4, 10, 12, 14, 16});
  CHECK(computed("RotaryEmbedding/2x1x2x2-own", {x, {1, 2, 3, 4}, {0, 0, 0, 0}}) ==
        std::vector<double>{1, 2, 6, 8, 15, 18, 28, 32});
}
