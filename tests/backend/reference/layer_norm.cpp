// SPDX-License-Identifier: Apache-2.0
// Are normalizations by their own statistics what their definitions say? By hand, and in another
// form: the variance as the mean square less the square of the mean.
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

namespace {
/// The normal form of elements `places` of operand 0.
std::vector<double> normal(const operands& o, const std::vector<std::int64_t>& places,
                           bool centred) {
  double sum = 0, squares = 0;
  for (std::int64_t i : places) {
    const double v = element(o, 0, i);
    sum += v;
    squares += v * v;
  }
  const auto n = static_cast<double>(places.size());
  const double mean = centred ? sum / n : 0;
  const double deviation = std::sqrt(squares / n - mean * mean + attribute::epsilon);
  std::vector<double> out;
  for (std::int64_t i : places)
    out.push_back((element(o, 0, i) - mean) / deviation);
  return out;
}

std::vector<std::int64_t> places_from(std::int64_t first, std::int64_t count) {
  std::vector<std::int64_t> out;
  for (std::int64_t i = first; i < first + count; ++i)
    out.push_back(i);
  return out;
}

void check_rows(const std::string& name, std::int64_t rows, std::int64_t n, bool centred) {
  CAPTURE(name);
  const op::layer l = op::parse(name);
  const operands o = make_operands(l, numeric::f32);
  const auto out = outputs(l, o);
  REQUIRE(static_cast<std::int64_t>(out.size()) == rows * n);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto right = normal(o, places_from(r * n, n), centred);
    for (std::int64_t i = 0; i < n; ++i) {
      const double shift = o.inputs.size() > 2 ? element(o, 2, i) : 0;
      CHECK(out[static_cast<std::size_t>(r * n + i)] ==
            doctest::Approx(element(o, 1, i) * right[static_cast<std::size_t>(i)] + shift)
                .epsilon(1e-9));
    }
  }
}
} // namespace

TEST_CASE("layer normalization, by hand") {
  // Mean 3, and a deviation that epsilon makes exact.
  const double apart = std::sqrt(1 - attribute::epsilon);
  const auto out =
      computed("LayerNormalization/2x2-a1-b", {{3 - apart, 3 + apart, 5, 5}, {10, 100}, {1, 2}});
  const double near = 1e-6; // operands are floats
  CHECK(out[0] == doctest::Approx(1 - 10 * apart).epsilon(near));
  CHECK(out[1] == doctest::Approx(2 + 100 * apart).epsilon(near));
  CHECK(out[2] == 1);
  CHECK(out[3] == 2);
}

TEST_CASE("RMS normalization, by hand: the mean stays") {
  const double v = std::sqrt(1 - attribute::epsilon);
  const auto out = computed("RMSNormalization/1x2-a1", {{v, v}, {10, 100}});
  CHECK(out[0] == doctest::Approx(10 * v).epsilon(1e-6));
  CHECK(out[1] == doctest::Approx(100 * v).epsilon(1e-6));
}

TEST_CASE("the rows of a sum, by hand, and the sum behind them") {
  const double apart = std::sqrt(1 - attribute::epsilon);
  const auto out = computed("Add+LayerNormalization/1x2-a1-b-sum",
                            {{2 - apart, 4 + apart}, {10, 100}, {1, 2}, {1, -1}});
  REQUIRE(out.size() == 4);
  CHECK(out[0] == doctest::Approx(1 - 10 * apart).epsilon(1e-6));
  CHECK(out[1] == doctest::Approx(2 + 100 * apart).epsilon(1e-6));
  CHECK(out[2] == doctest::Approx(3 - apart).epsilon(1e-6));
  CHECK(out[3] == doctest::Approx(3 + apart).epsilon(1e-6));
  const auto root = computed("Add+RMSNormalization/1x2-a1", {{1, 1}, {10, 100}, {2, 2}});
  REQUIRE(root.size() == 2);
  CHECK(root[1] == doctest::Approx(300 / std::sqrt(9 + attribute::epsilon)).epsilon(1e-6));
}

TEST_CASE("rows are normalized by their own statistics, whatever the axis") {
  check_rows("LayerNormalization/4x6-a1-b", 4, 6, true);
  check_rows("LayerNormalization/2x3x4x5-a1-b", 2, 60, true);
  check_rows("LayerNormalization/2x3x4-a0", 1, 24, true);
  check_rows("RMSNormalization/2x3x8-a2", 6, 8, false);
  check_rows("RMSNormalization/5-a0", 1, 5, false);
}
