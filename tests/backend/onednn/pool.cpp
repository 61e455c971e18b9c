// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: pooling agrees with the reference") {
  check_all({"MaxPool/1x16x13x13-3x3-s2-p1",
             "MaxPool/1x16x13x13-3x3-s2-ceil",
             "MaxPool/1x16x14x14-3x3-s2-ceil",
             "MaxPool/1x16x13x13-2x2-s2-p0x0x1x1",
             "MaxPool/1x8x14x14-3x3-s1-p2-d2",
             "MaxPool/1x8x13-3-s2-p1",
             "MaxPool/1x16x6x7x8-2x2x2-s2",
             "MaxPool/1x16x9x9-3x3-s1-p1x0x0x1",
             "AveragePool/1x16x13x13-3x3-s2-p1",
             "AveragePool/1x16x13x13-3x3-s2-p1-ip",
             "AveragePool/1x16x14x14-3x3-s2-p1-ceil",
             "AveragePool/1x16x13x13-3x3-s2-p1-ceil-ip",
             "AveragePool/1x8x13-3-s2-p1",
             "AveragePool/1x16x13x13-3x3-s1-p1x0x0x1",
             "AveragePool/1x8x14x14-3x3-s1-p1-d2",
             "AveragePool/1x16x4x5x6-2x3x2-s1x2x1-p0x1x0",
             "GlobalAveragePool/1x32x7x7",
             "GlobalMaxPool/2x32x7x7",
             "GlobalAveragePool/2x33x7",
             "GlobalMaxPool/1x5x3x4x5"});
}
