// SPDX-License-Identifier: Apache-2.0
// Are functions, broadcasting, softmax, reductions and normalizations what they are by hand?
#include "by_hand.hpp"

#include <doctest/doctest.h>

#include <numbers>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

TEST_CASE("functions, by hand") {
  CHECK(computed("Round/4", {{0.5, 1.5, -0.5, 2.6}}) == std::vector<double>{0, 2, 0, 3});
  CHECK(computed("Clip/3", {{-2, 0.25, 2}}) == std::vector<double>{-0.5, 0.25, 0.5});
  CHECK(computed("ThresholdedRelu/2", {{0.25, 0.5}}) == std::vector<double>{0, 0.5});
  CHECK(computed("HardSwish/3", {{-3, 3, 1}})[1] == 3);
  CHECK(computed("Mish/1", {{0}})[0] == 0);
  CHECK(computed("Gelu/1", {{1}})[0] == doctest::Approx(0.8413447460685429));
  CHECK(computed("FastGelu/3", {{0, 1, -12}})[0] == 0);
  CHECK(computed("FastGelu/3", {{0, 1, -12}})[1] == doctest::Approx(0.8411919906082768));
  CHECK(computed("FastGelu/3", {{0, 1, -12}})[2] == doctest::Approx(0).epsilon(1e-9));
  CHECK(computed("Softplus/1", {{0}})[0] == doctest::Approx(std::numbers::ln2));
  CHECK(computed("Softplus/1", {{800}})[0] == 800);
  CHECK(computed("Celu/2", {{-1, 2}})[0] == doctest::Approx(std::expm1(-1)));
  CHECK(computed("Sign/3", {{-7, 0, 7}}) == std::vector<double>{-1, 0, 1});
  CHECK(computed("Square/2", {{-3, 0.5}}) == std::vector<double>{9, 0.25});
  CHECK(computed("Cube/2", {{-3, 0.5}}) == std::vector<double>{-27, 0.125});
  CHECK(computed("Not/2-bool", {{0, 1}}) == std::vector<double>{1, 0});
  CHECK(computed("Shrink/3", {{-2, 0.25, 2}}) == std::vector<double>{-1.75, 0, 1.75});
  CHECK(computed("Atanh/1", {{0.5}})[0] == doctest::Approx(std::log(3.) / 2));
  CHECK(computed("Acosh/1", {{1}})[0] == 0);
  const double rare[] = {NAN, INFINITY, -INFINITY};
  CHECK(computed("IsNaN/3", {{rare[0], rare[1], 1}}) == std::vector<double>{1, 0, 0});
  CHECK(computed("IsInf/3", {{rare[0], rare[1], rare[2]}}) == std::vector<double>{0, 1, 1});
}

TEST_CASE("no function gets a number for which it is not defined, behind another layer neither") {
  std::vector<std::string> names;
  for (const auto family : op::unary_families)
    if (family != "Not" && family != "BitwiseNot") names.push_back(std::string(family) + "/999");
  for (const auto family : op::binary_families)
    if (!op::of_bits(op::binary::of(family)->function) && family != "And" && family != "Or" &&
        family != "Xor")
      names.push_back(std::string(family) + "/999");
  for (const char* base : {"Add", "Sub", "Mul", "Div", "Conv", "Relu", "Tanh", "Square",
                           "BatchNormalization", "MatMul+Add", "Add+Sub+Sub+Mul"})
    for (const char* last : {"Sqrt", "Log", "Reciprocal"}) {
      const std::string family(base);
      names.push_back(family + '+' + last + '/' +
                      (family == "Conv"         ? "1x8x5x5-16x3x3-s1-p1-b"
                       : family == "MatMul+Add" ? "9x8-8x7-w"
                                                : "1x8x9x9"));
    }
  for (const std::string& name : names)
    for (const numeric t : {numeric::f32, numeric::bf16, numeric::f16}) {
      const op::layer l = op::parse(name);
      const auto where = positions_to_check(l, 1000);
      std::vector<double> out(where.size());
      evaluate(l, t, make_operands(l, t), where, out);
      for (const double v : out)
        CHECK_MESSAGE(std::isfinite(v), name);
    }
}

TEST_CASE("operands broadcast as NumPy says") {
  CHECK(computed("Sub/2x1-1x3", {{10, 20}, {1, 2, 3}}) == std::vector<double>{9, 8, 7, 19, 18, 17});
  CHECK(computed("Sub/3-2x3", {{1, 2, 3}, {0, 0, 0, 1, 1, 1}}) ==
        std::vector<double>{1, 2, 3, 0, 1, 2});
  CHECK(computed("PRelu/1x2x2-2x1", {{-1, 1, -2, 2}, {10, 100}}) ==
        std::vector<double>{-10, 1, -200, 2});
  CHECK(computed("Mean/2-n3", {{1, 2}, {2, 2}, {6, 5}}) == std::vector<double>{3, 3});
  CHECK(computed("Div/2-s64", {{-7, 7}, {2, 2}}) == std::vector<double>{-3, 3});
  CHECK(computed("Xor/2-bool", {{0, 1}, {1, 1}}) == std::vector<double>{1, 0});
  CHECK(computed("LessOrEqual/3", {{1, 2, 3}, {2, 2, 2}}) == std::vector<double>{1, 1, 0});
}

TEST_CASE("reductions, by hand") {
  CHECK(computed("ReduceSum/2x3-a0", {counted(6)}) == std::vector<double>{5, 7, 9});
  CHECK(computed("ReduceMean/2x3-a1", {counted(6)}) == std::vector<double>{2, 5});
  CHECK(computed("ReduceProd/2x2x2-a0x2", {counted(8)}) == std::vector<double>{60, 672});
  CHECK(computed("ReduceL2/2-a0", {{3, -4}}) == std::vector<double>{5});
  CHECK(computed("ReduceL1/2-a0", {{3, -4}}) == std::vector<double>{7});
  CHECK(computed("ReduceMin/3", {{3, -4, 5}}) == std::vector<double>{3, -4, 5});
  CHECK(computed("ReduceLogSumExp/2-a0", {{1000, 1000}})[0] ==
        doctest::Approx(1000 + std::numbers::ln2));
  CHECK(computed("ReduceMean/2-a0-s64", {{3, 4}}) == std::vector<double>{3});
}

TEST_CASE("softmax lines sum to one, and do not overflow") {
  const auto l = op::parse("Softmax/3x7x5-a1");
  const operands o = make_operands(l, numeric::f32);
  const auto out = outputs(l, o);
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 5; ++j) {
      double sum = 0;
      for (std::size_t k = 0; k < 7; ++k)
        sum += out[(i * 7 + k) * 5 + j];
      CHECK(sum == doctest::Approx(1));
    }
  CHECK(computed("Softmax/2-a0", {{1000, 1000}}) == std::vector<double>{0.5, 0.5});
  CHECK(computed("LogSoftmax/2-a0", {{0, 0}})[0] == doctest::Approx(-std::numbers::ln2));
}

TEST_CASE("normalizations, by hand") {
  const auto bn =
      computed("BatchNormalization/1x1x2", {{3, 5}, {2}, {7}, {3}, {1 - attribute::epsilon}});
  CHECK(bn[0] == doctest::Approx(7));
  CHECK(bn[1] == doctest::Approx(11));
  // Windows of two reach one channel further up than down.
  const auto lrn = computed("LRN/1x2x1-n2", {{3, 100}});
  CHECK(lrn[0] == doctest::Approx(3 / std::pow(1 + 1e-4 / 2 * (9 + 10000), 0.75)));
  CHECK(lrn[1] == doctest::Approx(100 / std::pow(1 + 1e-4 / 2 * 10000, 0.75)));
}
