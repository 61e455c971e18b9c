// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: instance normalization of one image agrees with the reference") {
  check_all({"InstanceNormalization/1x32x7x7", "InstanceNormalization/1x17x5x5",
             "InstanceNormalization/1x16x30", "InstanceNormalization/1x16x4x5x6"});
}

TEST_CASE("onednn: normalizations of groups, and of several images, agree with the reference" *
          doctest::skip(DNNL_VERSION_MAJOR < 3 || DNNL_VERSION_MINOR < 3)) {
  check_all({"GroupNormalization/2x32x7x7-g8", "GroupNormalization/1x16x30-g4",
             "InstanceNormalization/2x16x5x5"});
}
