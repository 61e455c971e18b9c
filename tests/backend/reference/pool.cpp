// SPDX-License-Identifier: Apache-2.0
// Does a window count what ONNX counts: inside the input, inside the padding, beyond it?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend::reference;

TEST_CASE("windows, by hand") {
  CHECK(computed("MaxPool/1x1x5-2-s2", {{-1, -2, -3, 4, 5}}) == std::vector<double>{-1, 4});
  CHECK(computed("MaxPool/1x1x5-2-s2-ceil", {{-1, -2, -3, 4, 5}}) == std::vector<double>{-1, 4, 5});
  CHECK(computed("MaxPool/1x1x3-2-s1-p1", {{-1, -2, -3}}) == std::vector<double>{-1, -1, -2, -3});
  CHECK(computed("MaxPool/1x1x5-2-s1-d3", {counted(5)}) == std::vector<double>{4, 5});
  CHECK(computed("AveragePool/1x1x3-2-s1-p1", {{2, 4, 6}}) == std::vector<double>{2, 3, 5, 6});
  CHECK(computed("AveragePool/1x1x3-2-s1-p1-ip", {{2, 4, 6}}) == std::vector<double>{1, 3, 5, 3});
  CHECK(computed("GlobalAveragePool/1x2x2x2", {counted(8)}) == std::vector<double>{2.5, 6.5});
  CHECK(computed("MaxPool/1x2x3-2-s1-indices", {{1, 3, 3, 9, 8, 7}}) ==
        std::vector<double>{3, 3, 9, 8, 1, 1, 3, 4});
  CHECK(computed("MaxPool/1x1x2x3-2x2-s1-cindices", {{1, 2, 3, 4, 5, 0}}) ==
        std::vector<double>{5, 5, 3, 3});
  CHECK(computed("GlobalMaxPool/1x2x2x2", {counted(8)}) == std::vector<double>{4, 8});
}

TEST_CASE("what ceil lets hang over the padding never counts") {
  // Four elements and one of end padding; the last window starts at 3 and spans 3, 4 and beyond.
  CHECK(computed("AveragePool/1x1x4-3-s3-p0x1-ceil-ip", {{3, 3, 3, 8}}) ==
        std::vector<double>{3, 4});
  CHECK(computed("AveragePool/1x1x4-3-s3-p0x1-ceil", {{3, 3, 3, 8}}) == std::vector<double>{3, 8});
}
