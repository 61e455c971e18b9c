// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: softmax agrees with the reference along any axis") {
  check_all({"Softmax/3x100-a1", "Softmax/2x10x7x7-a1", "Softmax/2x3x8x9-a3", "Softmax/4x8x9-a0",
             "LogSoftmax/3x100-a1", "LogSoftmax/2x10x7x7-a1"});
}
