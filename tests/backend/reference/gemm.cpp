// SPDX-License-Identifier: Apache-2.0
// Is a matrix product what it is by hand, transposed, added to and broadcast?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::reference;

TEST_CASE("small products, by hand") {
  const std::vector<double> right{19, 22, 43, 50};
  CHECK(computed("Gemm/2x2x2", {{1, 2, 3, 4}, {5, 6, 7, 8}}) == right);
  CHECK(computed("Gemm/2x2x2-ta", {{1, 3, 2, 4}, {5, 6, 7, 8}}) == right);
  CHECK(computed("Gemm/2x2x2-tb-w", {{1, 2, 3, 4}, {5, 7, 6, 8}}) == right);
  CHECK(computed("Gemm/2x2x2-c1x2", {{1, 2, 3, 4}, {5, 6, 7, 8}, {100, 200}}) ==
        std::vector<double>{119, 222, 143, 250});
  CHECK(computed("Gemm/2x2x2-c2x1", {{1, 2, 3, 4}, {5, 6, 7, 8}, {100, 200}}) ==
        std::vector<double>{119, 122, 243, 250});
  CHECK(computed("MatMul/2x2-2x2", {{1, 2, 3, 4}, {5, 6, 7, 8}}) == right);
}

TEST_CASE("stacks of matrices broadcast") {
  // Two rows of one stack against two columns of another: all four pairs.
  CHECK(computed("MatMul/2x1x1x2-2x2x1", {{1, 2, 3, 4}, {1, 10, 100, 1000}}) ==
        std::vector<double>{21, 2100, 43, 4300});
  CHECK(computed("MatMul/2x1x2-2x1", {{1, 2, 3, 4}, {1, 10}}) == std::vector<double>{21, 43});
}
