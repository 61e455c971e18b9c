// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: layer normalization agrees with the reference from any axis on") {
  check_all({"LayerNormalization/4x32-a1-b", "LayerNormalization/4x32-a1",
             "LayerNormalization/2x5x768-a2-b", "LayerNormalization/2x3x4x5-a1-b",
             "LayerNormalization/3x7-a0", "LayerNormalization/9x1000-a1-b"});
}
