// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/gemm.hpp>

#include "checks.hpp"

#include <limits>

using namespace benanza;
using namespace benanza::op;

TEST_CASE("gemm: ResNet-50's classifier") {
  constexpr gemm g{
      .m = 1, .n = 1000, .k = 2048, .transpose_b = true, .c = {1, 1000}, .constant_b = true};
  constexpr work w = g.cost();
  CHECK_TWICE(g.output() == shape{1, 1000});
  CHECK_TWICE(g.a_shape() == shape{1, 2048});
  CHECK_TWICE(g.b_shape() == shape{1000, 2048});
  CHECK_TWICE(w.macs == 2048000);
  CHECK_TWICE(w.other == 1000);
  CHECK_TWICE(w.flops() == 4097000);
  CHECK_TWICE(w.sources == 2048);
  CHECK_TWICE(w.weights == 2048000);
  CHECK_TWICE(w.vectors == 1000);
  CHECK_TWICE(w.bytes(numeric::f32) == 8208192);
  CHECK_TWICE(w.bytes(numeric::bf16) == 4106096);
  CHECK_TWICE(w.bytes(numeric::u8s8u8) == 2055048);
  CHECK_TWICE(write_key(g) == "1x1000x2048-tb-c1x1000-w");
}

TEST_CASE("gemm: transposes change the operands' dims, not the work") {
  constexpr gemm nn{.m = 3, .n = 5, .k = 7}, ta{.m = 3, .n = 5, .k = 7, .transpose_a = true};
  constexpr gemm tt{.m = 3, .n = 5, .k = 7, .transpose_a = true, .transpose_b = true};
  CHECK_TWICE(nn.a_shape() == shape{3, 7});
  CHECK_TWICE(nn.b_shape() == shape{7, 5});
  CHECK_TWICE(ta.a_shape() == shape{7, 3});
  CHECK_TWICE(tt.b_shape() == shape{5, 7});
  CHECK_TWICE(nn.cost() == tt.cost());
  CHECK_TWICE(nn.cost().macs == 105);
  CHECK_TWICE(nn.cost().sources == 21 + 35); // neither operand is constant
  CHECK_TWICE(nn.cost().weights == 0);
  CHECK_TWICE(nn.cost().bytes(numeric::f32) == (21 + 35 + 15) * 4);
  CHECK_TWICE(write_key(nn) == "3x5x7");
  CHECK_TWICE(write_key(ta) == "3x5x7-ta");
  CHECK_TWICE(write_key(tt) == "3x5x7-ta-tb");
}

TEST_CASE("gemm: the forms of C") {
  const auto with = [](shape c) { return gemm{.m = 3, .n = 5, .k = 7, .c = c}; };
  for (const shape& c : {shape{1, 5}, shape{3, 1}, shape{1, 1}, shape{3, 5}}) {
    CAPTURE(c);
    with(c).validate();
    CHECK(with(c).cost().vectors == elements(c));
    CHECK(with(c).cost().other == 15);
    CHECK(with(c).cost().macs == 105);
  }
  CHECK(write_key(with({1, 5})) == "3x5x7-c1x5");
  CHECK(write_key(with({3, 1})) == "3x5x7-c3x1");
  CHECK_REFUSED(with({5}).validate(), "does not broadcast");
  CHECK_REFUSED(with({5, 3}).validate(), "does not broadcast");
  CHECK_REFUSED(with({1, 3}).validate(), "does not broadcast");
  CHECK_REFUSED(with({0, 5}).validate(), "does not broadcast");
  CHECK_REFUSED(with({1, 1, 5}).validate(), "does not broadcast");
}

TEST_CASE("gemm: what is refused") {
  CHECK_REFUSED((gemm{}.validate()), "1 to 2^40");
  CHECK_REFUSED((gemm{.m = 0, .n = 1, .k = 1}.validate()), "1 to 2^40");
  CHECK_REFUSED((gemm{.m = 1, .n = -1, .k = 1}.validate()), "1 to 2^40");
  CHECK_REFUSED((gemm{.m = 1, .n = 1, .k = 0}.validate()), "1 to 2^40");
  CHECK_REFUSED((gemm{.m = dim_limit, .n = dim_limit, .k = 1}.validate()), "2^56");
  CHECK_REFUSED((gemm{.m = 1 << 20, .n = 1 << 20, .k = 1 << 20}.validate()), "2^56");
  CHECK_REFUSED((gemm{.m = std::numeric_limits<std::int64_t>::max(), .n = 1, .k = 1}.validate()),
                "1 to 2^40");
}

TEST_CASE("matmul: batches broadcast") {
  constexpr matmul m{.a = {2, 1, 3, 4}, .b = {5, 4, 6}};
  CHECK_TWICE(m.output() == shape{2, 5, 3, 6});
  CHECK_TWICE(m.cost().macs == 720);
  CHECK_TWICE(m.cost().sources == 24 + 120);
  CHECK_TWICE(m.cost().weights == 0);
  CHECK_TWICE(m.cost().results == 180);
  CHECK_TWICE(m.cost().bytes(numeric::f32) == (144 + 180) * 4);
  CHECK_TWICE(write_key(m) == "2x1x3x4-5x4x6");
}

TEST_CASE("matmul: constant weights") {
  constexpr matmul m{.a = {1, 384, 768}, .b = {768, 3072}, .constant_b = true};
  CHECK_TWICE(m.output() == shape{1, 384, 3072});
  CHECK_TWICE(m.cost().macs == 905969664);
  CHECK_TWICE(m.cost().sources == 294912);
  CHECK_TWICE(m.cost().weights == 2359296);
  CHECK_TWICE(m.cost().bytes(numeric::u8s8u8) == 294912 + 2359296 + 1179648);
  CHECK_TWICE(write_key(m) == "1x384x768-768x3072-w");
}

TEST_CASE("matmul: two plain matrices, and eight dims") {
  constexpr matmul plain{.a = {3, 4}, .b = {4, 6}};
  CHECK_TWICE(plain.output() == shape{3, 6});
  CHECK_TWICE(plain.cost().macs == 72);
  constexpr matmul deep{.a = {1, 2, 1, 2, 1, 2, 3, 4}, .b = {2, 1, 2, 1, 2, 1, 4, 5}};
  CHECK_TWICE(deep.output() == shape{2, 2, 2, 2, 2, 2, 3, 5});
  // Equal operands are still both written: only b's dims could be left out, and they never are.
  constexpr matmul square{.a = {4, 4}, .b = {4, 4}};
  CHECK_TWICE(write_key(square) == "4x4-4x4");
}

TEST_CASE("matmul: what is refused") {
  CHECK_REFUSED((matmul{}.validate()), "two dims or more");
  CHECK_REFUSED((matmul{.a = {4}, .b = {4, 5}}.validate()), "two dims or more");
  CHECK_REFUSED((matmul{.a = {4, 5}, .b = {5}}.validate()), "two dims or more");
  CHECK_REFUSED((matmul{.a = {4}, .b = {4, 5}}.output()), "two dims or more");
  CHECK_REFUSED((matmul{.a = {4, 5}, .b = {4, 5}}.validate()), "inner dims differ");
  CHECK_REFUSED((matmul{.a = {2, 4, 5}, .b = {3, 5, 4}}.validate()), "broadcast");
  CHECK_REFUSED((matmul{.a = {-2, 5}, .b = {5, 4}}.validate()), "negative");
  CHECK_REFUSED((matmul{.a = {2, -5}, .b = {-5, 4}}.validate()), "negative");
  CHECK_REFUSED((matmul{.a = {dim_limit, 5}, .b = {5, dim_limit}}.validate()), "2^56");
  CHECK_REFUSED((matmul{.a = {1 << 20, 1 << 20}, .b = {1 << 20, 1 << 20}}.validate()), "2^56");
}
