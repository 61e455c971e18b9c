// SPDX-License-Identifier: Apache-2.0
#include "text_model.hpp"

using namespace benanza::test;

TEST_CASE("LpNormalization is a norm and a division") {
  CHECK(all_layers("float[2,3] x", "y = LpNormalization(x)") ==
        "ReduceL2/2x3-a1 Max/2x1-1 Div/2x3-2x1");
  CHECK(all_layers("float[2,3] x", "y = LpNormalization<axis = 0, p = 1>(x)") ==
        "ReduceL1/2x3-a0 Max/1x3-1 Div/2x3-1x3");
  CHECK_SAYS(all_layers("float[2,3] x", "y = LpNormalization<p = 3>(x)"), "neither 1 nor 2");
}
