// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: normalizations agree with the reference") {
  check_all({"BatchNormalization/2x32x7x7", "BatchNormalization/1x17x5x5",
             "BatchNormalization/4x32", "BatchNormalization/1x16x4x5x6",
             "BatchNormalization/1x16x30", "BatchNormalization/2x8x2x3x2x3", "LRN/1x32x7x7-n5",
             "LRN/1x17x7x7-n3", "LRN/1x16x7-n5"});
}
