// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check_all;

TEST_CASE("onednn: reductions agree with the reference") {
  check_all({"ReduceMean/2x16x7x7-a2x3", "ReduceMean/2x16x7x7-a1", "ReduceSum/2x16x7x7-a0x2",
             "ReduceMax/2x16x7x7-a3", "ReduceMin/2x16x7x7-a1x2x3", "ReduceProd/2x16x7x7-a2",
             "ReduceL1/2x16x7x7-a2x3", "ReduceL2/2x16x7x7-a1", "ReduceSumSquare/2x16x7x7-a3",
             "ReduceMean/1x1x9-a2"});
}
