// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/kinds.hpp>
#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::op;

TEST_CASE("a fused layer has its base's key and the families of its steps") {
  const fused<conv> f{.base = {.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {1, 1}},
                      .steps = {binary_function::add, unary_function::relu}};
  CHECK(name(layer(f)) == "Conv+Add+Relu/1x64x56x56-64x1x1-s1");
  CHECK(parse("Conv+Add+Relu/1x64x56x56-64x1x1-s1") == layer(f));
  CHECK(output(layer(f)) == f.base.output());
}

TEST_CASE("joined operands of other dims are part of the key; those of the result's are not") {
  const layer row = parse("MatMul+Add+Gelu/1x8x16-16x4-w-w4");
  const auto& f = op::get<fused<matmul>>(row);
  CHECK(f.steps.at[0].operand == shape{4});
  CHECK(name(row) == "MatMul+Add+Gelu/1x8x16-16x4-w-w4");
  CHECK(name(parse("MatMul+Add/1x8x16-16x4-w1x8x4")) == "MatMul+Add/1x8x16-16x4");
  const layer two = parse("Mul+Add+Add/1x4x5x5-w1x4x1x1-ww1");
  CHECK(op::get<fused<binary>>(two).steps.at[1].operand == shape{1});
  CHECK(parse(name(two)) == two);
}

TEST_CASE("every step costs an operation an element, and a join reads its operand") {
  const auto base = parse("Conv/1x8x9x9-16x3x3-s1-p1");
  const auto f = parse("Conv+Add+Relu/1x8x9x9-16x3x3-s1-p1");
  const std::int64_t n = elements(output(base));
  CHECK(cost(f).macs == cost(base).macs);
  CHECK(cost(f).other == cost(base).other + 2 * n);
  CHECK(cost(f).sources == cost(base).sources + n);
  CHECK(direct_flops(f) == direct_flops(base) + 2 * n);
}

TEST_CASE("what cannot be fused is refused") {
  for (const char* bad :
       {"Conv+/1x8x9x9-16x3x3-s1", "Conv+Conv/1x8x9x9-16x3x3-s1", "Conv+Not/1x8x9x9-16x3x3-s1",
        "Conv+Pow/1x8x9x9-16x3x3-s1", "Conv+Add/1x8x9x9-16x3x3-s1-w1x5x1x1", "Equal+Add/4x5",
        "Concat+Relu/1x8x9x9-a1-n2", "Add+Relu/4x5-s64",
        "Relu+Relu+Relu+Relu+Relu+Relu+Relu+Relu/4"})
    CHECK_THROWS_AS_MESSAGE(parse(bad), error, bad);
}

TEST_CASE("a reorder names both layouts, and counts the padding of its blocks") {
  const layer l = parse("reorder/1x24x5x5-plain-blocked16");
  CHECK(name(l) == "reorder/1x24x5x5-plain-blocked16");
  CHECK(cost(l).sources == 24 * 25);
  CHECK(cost(l).results == 32 * 25);
  CHECK(cost(l).flops() == 0);
  CHECK_THROWS_AS(parse("reorder/1x24x5x5-plain-plain"), error);
  CHECK_THROWS_AS(parse("reorder/1x24x5x5-plain"), error);
  CHECK_THROWS_AS(parse("reorder/24x5-plain-blocked16"), error);
}
