// SPDX-License-Identifier: Apache-2.0
// Which layers are products, and in which layout? What each computes is tried on the fake GPU
// (library.cpp).
#include "tasks_of.hpp"

using namespace benanza;
using namespace benanza::backend::cublas;
using cublas_test::of;
using cublas_test::only;

TEST_CASE("cublas: a Gemm is a product with its transposes") {
  const task t = only("Gemm/2x3x4");
  CHECK(t.what == product{.m = 2, .n = 3, .k = 4});
  CHECK(t.weights == weights_place::none);
  CHECK(t.bare());
  CHECK(t.layouts == "ab,ab,ab");
  CHECK(t.operand_layouts == "plain");
  CHECK(t.result_layout == "plain");
  CHECK(only("Gemm/2x3x4-ta").what.left_turned);
  CHECK(only("Gemm/2x3x4-ta").layouts == "ba,ab,ab");
  CHECK(only("Gemm/2x3x4-tb-w").what.right_turned);
  CHECK(only("Gemm/2x3x4-tb-w").layouts == "ab,ba,ab");
  CHECK(only("Gemm/2x3x4-w").weights == weights_place::right);
}

TEST_CASE("cublas: weights are as in the model's file, and with rows and columns exchanged") {
  const auto both = [](const std::string& layer) {
    CAPTURE(layer);
    const tasks all = of(layer, numeric::f16);
    REQUIRE(all.size() == 2);
    CHECK(all[0].before.empty());
    CHECK(all[1].before == "wt:");
    CHECK(all[0].what.right_turned != all[1].what.right_turned);
    CHECK(all[0].right.is.dims == all[1].right.is.dims);
    CHECK(all[0].right.is.strides == packed(all[0].right.is.dims));
    CHECK(all[0].operand_layouts == all[1].operand_layouts);
    return all[1];
  };
  const task turned = both("Gemm/2x3x4-w");
  CHECK(turned.what == product{.m = 2, .n = 3, .k = 4, .right_turned = true});
  CHECK(turned.right.is.strides == shape{1, 4});
  CHECK(turned.layouts == "ab,ba,ab");
  CHECK(both("Gemm/2x3x4-tb-w").right.is.strides == shape{1, 3});
  CHECK(both("Gemm/2x3x4-ta-tb-w").layouts == "ba,ab,ab");
  CHECK(both("MatMul/6x5x2x4-4x3-w").right.is.strides == shape{1, 4});
  CHECK(both("MatMul/5x2x4-5x4x3-w").right.is.strides == shape{12, 1, 4}); // each of a stack
  const task steps = both("Gemm+Add+Relu/2x3x4-c1x3-w");
  CHECK(steps.bias.has_value());
  CHECK(steps.addend.has_value());
  CHECK(steps.function == op::unary_function::relu);
  // No weights; a vector, which has one layout only; filters, which all libraries store alike.
  for (const char* layer : {"Gemm/2x3x4", "MatMul/5x2x4-5x4x3", "Gemm/2x1x4-w", "Gemm/2x3x1-tb-w"})
    CHECK_MESSAGE(of(layer).size() == 1, layer);
  for (const task& t : of("Conv/2x8x5x7-16x1x1-s1"))
    CHECK(t.before != "wt:");
}

TEST_CASE("cublas: a Gemm's C is a vector for each row, or a matrix that is added") {
  CHECK(only("Gemm/2x3x4-c1x3").bias.has_value());
  CHECK(only("Gemm/2x3x4-c1x3").bias->scaled);
  CHECK(only("Gemm/2x3x4-c2x3").addend.has_value());
  CHECK_FALSE(only("Gemm/2x3x4-c2x3").bias.has_value());
  CHECK(only("Gemm/1x3x4-c1x3").bias.has_value()); // both at once: the vector
  CHECK(of("Gemm/2x3x4-c2x1").empty());            // a number a row
  CHECK(of("Gemm/2x3x4-c1x1").empty());
  CHECK(of("Gemm/2x4x4-tb-c2x4", numeric::s8s8s8).empty()); // in units of the sum, as no s8 is
}

TEST_CASE("cublas: stacks of matrices share one where a step of zero says so") {
  CHECK(only("MatMul/5x2x4-4x3").what == product{.m = 10, .n = 3, .k = 4}); // more rows
  CHECK(only("MatMul/6x5x2x4-1x4x3").what.m == 60);
  CHECK(only("MatMul/5x2x4-5x4x3").what == product{.m = 2, .n = 3, .k = 4, .batches = 5});
  CHECK(only("MatMul/2x4-5x4x3").what ==
        product{.m = 2, .n = 3, .k = 4, .batches = 5, .one_left = true});
  CHECK(only("MatMul/1x1x2x4-6x5x4x3").what.batches == 30);
  CHECK(only("MatMul/6x5x2x4-6x1x4x3").what ==
        product{.m = 10, .n = 3, .k = 4, .batches = 6}); // rows of the outer stack alone
  CHECK(of("MatMul/6x5x2x4-1x5x4x3").empty());
  CHECK(of("MatMul/6x1x2x4-1x5x4x3").empty());
  CHECK(of("MatMul/1x5x2x4-6x5x4x3").empty());
}

TEST_CASE("cublas: only convolutions that mix channels alone, in both layouts") {
  const tasks two = of("Conv/2x8x5x7-16x1x1-s1");
  REQUIRE(two.size() == 2);
  CHECK(two[0].before.empty());
  CHECK(two[0].what == product{.m = 16, .n = 35, .k = 8, .batches = 2, .one_left = true});
  CHECK(two[0].weights == weights_place::left);
  CHECK(two[0].layouts == "nchw,oihw,nchw");
  CHECK(two[0].result_layout == "plain");
  CHECK(two[1].before == "nhwc:");
  CHECK(two[1].what == product{.m = 70, .n = 16, .k = 8, .right_turned = true});
  CHECK(two[1].weights == weights_place::right);
  CHECK(two[1].layouts == "nhwc,ohwi,nhwc");
  CHECK(two[1].operand_layouts == "channels_last");
  CHECK(two[1].result.strides == shape{16 * 35, 1, 7 * 16, 16});
  CHECK(of("Conv/2x8x9-16x1-s1").size() == 2);
  CHECK(of("Conv/2x8x3x5x7-16x1x1x1-s1").size() == 2);
  CHECK(only("Conv/2x8x5x7-16x1x1-s1-b").before == "nhwc:"); // no vector down the columns
  for (const char* layer : {"Conv/2x8x5x7-16x3x3-s1-p1", "Conv/2x8x5x7-16x1x1-s2",
                            "Conv/2x8x5x7-16x1x1-s1-p1", "Conv/2x8x5x7-16x1x1-s1-g2",
                            "ConvTranspose/2x8x5x7-16x1x1-s1", "Softmax/4x8-a1", "Relu/4x8"})
    CHECK_MESSAGE(of(layer).empty(), layer);
}

TEST_CASE("cublas: integers and FP8 get their weights turned, and nothing that is no weight") {
  for (const numeric t : {numeric::s8s8s8, numeric::e4m3}) {
    REQUIRE(of("Gemm/16x32x48-w", t).size() == 1);
    const task turned = of("Gemm/16x32x48-w", t)[0];
    CHECK(turned.before == "wt:");
    CHECK(of("Gemm/16x32x48-tb-w", t).size() == 1);
    CHECK(of("Gemm/16x32x48-tb-w", t)[0].before.empty());
    CHECK(of("Gemm/16x1x48-w", t).size() == 1);
    CHECK(turned.what.right_turned);
    CHECK(turned.right.is.dims == shape{48, 32});
    CHECK(turned.right.is.strides == shape{1, 48});
    CHECK(turned.layouts == "ab,ba,ab");
    CHECK(only("Gemm/16x32x48-tb", t).what.right_turned);
    CHECK(of("Gemm/16x32x48", t).empty());
    CHECK(of("Gemm/16x32x48-ta-tb", t).empty());
    CHECK(of("MatMul/2x16x48-48x32-w", t).at(0).right.is.strides == shape{1, 48});
    CHECK(of("MatMul/2x16x48-2x48x32-w", t).at(0).right.is.strides == shape{48 * 32, 1, 48});
    CHECK(of("MatMul/2x16x48-2x48x32", t).empty());
    CHECK(only("Conv/2x16x5x7-16x1x1-s1", t).before == "nhwc:");
  }
  CHECK(only("Gemm/16x32x48-tb-c1x32-w", numeric::s8s8s8).bias->is.type == dtype::f32);
  CHECK(only("Gemm/16x32x48-tb-c1x32-w", numeric::e4m3).bias->is.type == dtype::bf16);
  CHECK(only("Gemm/16x32x48-tb-c1x32-w", numeric::f16).bias->is.type == dtype::f16);
  // What is added to FP8 is no FP8: another layer could not hand it on.
  CHECK(of("Gemm+Add/16x32x48-tb-w", numeric::e4m3).empty());
  CHECK(only("Gemm+Add/16x32x48-tb-w", numeric::s8s8s8).addend->is.type == dtype::s8);
}

TEST_CASE("cublas: nothing is offered for views, empty tensors, and counts beyond 32 bits") {
  for (const numeric t : {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::u8s8u8,
                          numeric::s8s8s8, numeric::e4m3}) {
    CHECK(tasks_for(
              op::view{.function = op::view_function::reshape, .input = {1, 4}, .result = {4}}, t)
              .empty());
    CHECK(tasks_for(op::matmul{.a = {0, 4}, .b = {4, 3}}, t).empty());
    CHECK(tasks_for(op::matmul{.a = {2, 0}, .b = {0, 3}}, t).empty());
  }
  CHECK(of("Gemm/2x3x4", numeric::u8s8u8).empty());
  CHECK(of("Gemm/2147483647x1x1").size() == 1);
  CHECK(of("Gemm/2147483648x1x1").empty());
  CHECK(of("MatMul/65536x65536x1-1x1").empty());
}
