// SPDX-License-Identifier: Apache-2.0
#include "agreement.hpp"

#include <doctest/doctest.h>

using onednn_test::check, onednn_test::check_all;

TEST_CASE("onednn: functions of one operand agree with the reference") {
  for (const std::string family :
       {"Relu",     "LeakyRelu", "Elu",  "Celu",       "Sigmoid", "HardSwish", "Tanh",
        "Softplus", "Mish",      "Gelu", "FastGelu",   "Clip",    "Exp",       "Log",
        "Sqrt",     "Abs",       "Neg",  "Reciprocal", "Round",   "Square",    "Cube"}) {
    CAPTURE(family);
    CHECK(check(family + "/1x17x5x5") > 0);
  }
}

TEST_CASE("onednn: functions of two operands agree with the reference in every form of broadcast") {
  check_all({"Add/2x16x7x7",
             "Add/2x16x7x7-16x1x1",
             "Add/16x1x1-2x16x7x7",
             "Add/2x16x7x7-1",
             "Add/1-2x16x7x7",
             "Add/2x16x7x7-7",
             "Add/2x16x7x7-2x1x1x7",
             "Add/2x16x7x7-2x16x1x1",
             "Add/2x16x7x7-7x7",
             "Sub/2x16x7x7-16x1x1",
             "Sub/2x16x7x7",
             "Mul/2x16x7x7-2x16x1x1",
             "Mul/1x16x1x1-1x16x7x7",
             "Div/2x16x7x7-1",
             "Div/2x16x7x7",
             "Min/2x16x7x7",
             "Max/2x16x7x7-16x1x1",
             "Equal/2x16x7x7",
             "Greater/16x1x1-2x16x7x7",
             "GreaterOrEqual/2x16x7x7-7",
             "Less/2x16x7x7",
             "LessOrEqual/1-2x16x7x7",
             "PRelu/2x16x7x7-16x1x1",
             "PRelu/2x16x7x7-1",
             "PRelu/2x16x7x7",
             "Sum/2x16x7x7",
             "Sum/2x16x7x7-n4",
             "Sum/2x16x7x7-16x1x1",
             "Mean/2x16x7x7-n3"});
}
