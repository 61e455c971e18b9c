// SPDX-License-Identifier: Apache-2.0
#include <benanza/measure/subjects/memory_need.hpp>
#include <doctest/doctest.h>

#include <cmath>

using namespace benanza;
using namespace benanza::measure;

TEST_CASE("memory is that of the operands and results in their types, and of what layouts pad") {
  const op::layer l =
      op::parse("Conv/1x3x8x8-4x3x3-s1-p1"); // 192 elements, 108 weights, 256 results
  CHECK(bytes_of_operands(l, numeric::f32) == 4 * (192 + 108));
  CHECK(bytes_of_operands(l, numeric::f16) == 2 * (192 + 108));
  CHECK(checked_bytes(l, numeric::f32) == (4 + 8) * 256);
  CHECK(prepared_bytes(l, numeric::f32) == 4 * (192 + 108 + 256));
  backend::algorithm a;
  a.workspace_bytes = 1000;
  a.operand_layouts = name(layout::blocked8); // 3 channels are 8, and 4 are 16
  a.result_layout = name(layout::blocked16);
  CHECK(prepared_bytes(l, numeric::f32, a) ==
        doctest::Approx(1000 + 4 * (192 * 8 / 3. + 108 + 256 * 4)));
}

TEST_CASE("a layer that no memory holds is no overflow") {
  const op::layer l = op::parse("Relu/1099511627776x65536");
  CHECK(bytes_of_operands(l, numeric::f32) == doctest::Approx(std::pow(2., 58)));
  CHECK(prepared_bytes(l, numeric::f32) == doctest::Approx(std::pow(2., 59)));
}
