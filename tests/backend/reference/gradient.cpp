// SPDX-License-Identifier: Apache-2.0
// Are the gradients of a product those of its function? A product is linear in each operand, so
// that <dY, f(x, w)> == <gradient by x, x> == <gradient by w, w> for any dY.
#include "by_hand.hpp"
#include "op/random_layers.hpp"

#include <benanza/model/training.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

namespace test_of_gradients {
using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

using values = std::vector<double>;

values drawn(std::int64_t count, unsigned seed) {
  values out;
  for (std::int64_t i = 0; i < count; ++i)
    out.push_back(static_cast<double>((static_cast<unsigned>(i) * 37 + seed * 11) % 17) - 8);
  return out;
}

double product(const values& a, const values& b) {
  REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    sum += a[i] * b[i];
  return sum;
}

/// Each matrix of a stack transposed.
values transposed(const values& v, std::int64_t rows, std::int64_t columns) {
  values out(v.size());
  const auto r = static_cast<std::size_t>(rows), c = static_cast<std::size_t>(columns);
  for (std::size_t i = 0; i < v.size(); ++i) {
    const std::size_t in = i % (r * c);
    out[i - in + in % c * r + in / c] = v[i];
  }
  return out;
}

void check_gradients(const op::layer& l, std::int64_t count_a, std::int64_t count_b) {
  const std::string name = op::name(l);
  const values forward[2] = {drawn(count_a, 1), drawn(count_b, 2)},
               d = drawn(elements(op::output(l)), 3);
  const double expected = product(d, computed(name, {forward[0], forward[1]}));
  const auto all = model::gradients_of(l);
  REQUIRE(all.size() == 2);
  const auto* stack = op::as<op::matmul>(l);
  for (const model::gradient& g : all) {
    values in[2];
    for (int k = 0; k < 2; ++k) {
      const int r = g.reads[k];
      in[k] = r == model::by_result ? d : forward[r];
      if (stack != nullptr && r != model::by_result && op::is<op::matmul>(g.layer))
        in[k] = r == 0 ? transposed(in[k], stack->m(), stack->k())
                       : transposed(in[k], stack->k(), stack->n());
    }
    CHECK_MESSAGE(product(computed(op::name(g.layer), {in[0], in[1]}), forward[g.of]) ==
                      doctest::Approx(expected),
                  name, " by ", g.of, ": ", op::name(g.layer));
    CHECK_MESSAGE(op::cost(g.layer).macs == op::cost(l).macs, name, ", ", op::name(g.layer));
  }
}

TEST_CASE("gradients of convolutions") {
  benanza::test::layer_source next(7);
  int tried = 0;
  while (tried < 200) {
    const bool back = tried % 2 == 1;
    op::layer l = next.next(back ? 1 : 0);
    const auto small = [&tried](auto c) {
      c.bias = false;
      if (op::cost(op::layer(c)).macs > 20'000 || model::gradients_of(c).empty()) return;
      ++tried;
      check_gradients(c, elements(c.input), elements(c.weights()));
    };
    if (back)
      small(op::get<op::conv_transpose>(l));
    else
      small(op::get<op::conv>(l));
  }
}

TEST_CASE("gradients of matrix products") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true})
      for (const bool constant : {false, true}) {
        const op::gemm g{
            .m = 3, .n = 5, .k = 4, .transpose_a = ta, .transpose_b = tb, .constant_b = constant};
        check_gradients(g, 12, 20);
      }
  for (const char* name : {"MatMul/3x4-4x5", "MatMul/3x4-4x5-w", "MatMul/2x6x3x4-4x5-w",
                           "MatMul/2x6x3x4-2x6x4x5", "MatMul/7x1x4-7x4x5-w"}) {
    const op::layer l = op::parse(name);
    const auto& m = op::get<op::matmul>(l);
    check_gradients(l, elements(m.a), elements(m.b));
  }
  // Weights are prepared before timing, and so are they in the gradient by the source.
  CHECK(op::name(model::gradients_of(op::parse("MatMul/2x3x4-4x5-w"))[0].layer) ==
        "Gemm/6x4x5-tb-w");
}

TEST_CASE("other layers have none that is known") {
  for (const char* name : {"Relu/4x5", "Softmax/4x5", "ConvTranspose/1x4x5-4x3-s2-d3-op2"})
    CHECK(model::gradients_of(op::parse(name)).empty());
}
} // namespace test_of_gradients
