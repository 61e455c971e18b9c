// SPDX-License-Identifier: Apache-2.0
// Layers that index, count, find and fill, by hand.
#include <benanza/op/kinds.hpp>

#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

namespace {
using values_of_it = std::vector<double>;
} // namespace

TEST_CASE("gathered and scattered, by hand") {
  const values_of_it x = counted(6);
  CHECK(computed("GatherElements/2x3-2x2-a1", {x, {2, -3, 1, 1}}) == values_of_it{3, 1, 5, 5});
  CHECK(computed("GatherElements/2x3-1x3", {x, {1, 0, -1}}) == values_of_it{4, 2, 6});
  CHECK(computed("GatherND/2x3-2x1", {x, {1, -2}}) == values_of_it{4, 5, 6, 1, 2, 3});
  CHECK(computed("GatherND/2x3-2x1-b1", {x, {2, 0}}) == values_of_it{3, 4});
  CHECK(computed("ScatterElements/2x3-1x3", {x, {1, 0, 1}, {10, 20, 30}}) ==
        values_of_it{1, 20, 3, 10, 5, 30});
  CHECK(computed("ScatterElements/3-3-add", {counted(3), {1, 1, -1}, {10, 20, 30}}) ==
        values_of_it{1, 32, 33});
  CHECK(computed("ScatterElements/3-3-max", {counted(3), {0, 1, 1}, {-5, 1, 7}}) ==
        values_of_it{1, 7, 3});
  // Where updates meet the last one stays.
  CHECK(computed("ScatterND/3x2-2x1", {x, {2, 2}, {7, 8, 9, 10}}) ==
        values_of_it{1, 2, 3, 4, 9, 10});
  CHECK(computed("ScatterND/3x2-2x2-mul", {x, {0, 1, 0, 1}, {5, 6}}) ==
        values_of_it{1, 60, 3, 4, 5, 6});
  CHECK(computed("ScatterND/3x2-1x2-min", {x, {-1, 0}, {2}}) == values_of_it{1, 2, 3, 4, 2, 6});
  CHECK(computed("TensorScatter/2x3-a1-n2", {x, {10, 20, 30, 40}}) ==
        values_of_it{10, 20, 3, 30, 40, 6});
  CHECK(computed("TensorScatter/2x3-a1-n2-at-circular", {x, {10, 20, 30, 40}, {1, 2}}) ==
        values_of_it{1, 10, 20, 40, 5, 30});
}

TEST_CASE("running sums and products, by hand") {
  const values_of_it x = counted(6);
  CHECK(computed("CumSum/2x3-a1", {x}) == values_of_it{1, 3, 6, 4, 9, 15});
  CHECK(computed("CumSum/2x3-a0", {x}) == values_of_it{1, 2, 3, 5, 7, 9});
  CHECK(computed("CumSum/2x3-a1-exclusive", {x}) == values_of_it{0, 1, 3, 0, 4, 9});
  CHECK(computed("CumSum/2x3-a1-exclusive-reverse", {x}) == values_of_it{5, 3, 0, 11, 6, 0});
  CHECK(computed("CumProd/2x3-a1-reverse", {x}) == values_of_it{6, 6, 3, 120, 30, 6});
}

TEST_CASE("found, by hand") {
  const values_of_it x{3, 5, 5, 2, 2, 9};
  CHECK(computed("ArgMax/2x3-a1", {x}) == values_of_it{1, 2});
  CHECK(computed("ArgMax/2x3-a1-last", {x}) == values_of_it{2, 2});
  CHECK(computed("ArgMin/2x3-a1", {x}) == values_of_it{0, 0});
  CHECK(computed("ArgMin/2x3-a1-last", {x}) == values_of_it{0, 1});
  CHECK(computed("ArgMax/2x3-a0", {x}) == values_of_it{0, 0, 1});
  CHECK(computed("TopK/2x3-a1-k2", {x}) == values_of_it{5, 5, 9, 2, 1, 2, 2, 0});
  CHECK(computed("TopK/2x3-a1-k2-smallest", {x}) == values_of_it{3, 5, 2, 2, 0, 1, 0, 1});
  CHECK(computed("TopK/2x3-a0-k1", {x}) == values_of_it{3, 5, 9, 0, 0, 1});
  CHECK(computed("NonZero/2x3", {{0, 7, 0, 1, 1, 0}}) ==
        values_of_it{0, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0});
  CHECK(computed("Compress/2x3-n3-k2-a1", {x, {1, 0, 1}}) == values_of_it{3, 5, 2, 9});
  CHECK(computed("Compress/2x3-n5-k3", {x, {0, 1, 0, 0, 1}}) == values_of_it{5, 2, 0});
  CHECK(computed("Unique/6-n4", {x}) ==
        values_of_it{2, 3, 5, 9, 0, 0, 3, 0, 1, 5, 0, 0, 1, 2, 2, 0, 0, 3, 2, 1, 2, 1, 0, 0});
  CHECK(computed("Unique/6-n3-unsorted", {x}) ==
        values_of_it{3, 5, 2, 9, 0, 0, 0, 1, 3, 5, 0, 0, 0, 1, 1, 2, 2, 3});
  CHECK(computed("Unique/3x2-a0-n2", {{4, 1, 2, 9, 4, 1}}) ==
        values_of_it{2, 9, 4, 1, 0, 0, 1, 0, 0});
}

TEST_CASE("filled by place, by hand") {
  const values_of_it x = counted(6);
  CHECK(computed("Trilu/2x3", {x}) == values_of_it{1, 2, 3, 0, 5, 6});
  CHECK(computed("Trilu/2x3-lower", {x}) == values_of_it{1, 0, 0, 4, 5, 0});
  CHECK(computed("Trilu/2x3-k1", {x}) == values_of_it{0, 2, 3, 0, 0, 6});
  CHECK(computed("ReverseSequence/3x2", {x, {3, 2}}) == values_of_it{5, 4, 3, 2, 1, 6});
  CHECK(computed("ReverseSequence/2x3-bt", {x, {3, 2}}) == values_of_it{3, 2, 1, 5, 4, 6});
  CHECK(computed("OneHot/2-k3-a1", {{2, -3}, {3}, {5, 7}}) == values_of_it{5, 5, 7, 7, 5, 5});
  CHECK(computed("OneHot/2-k3-a0", {{1, 9}, {3}, {0, 1}}) == values_of_it{0, 0, 1, 0, 0, 0});
}

TEST_CASE("updates that replace go to places of their own") {
  for (const char* name : {"ScatterND/7x5x3-20x2", "ScatterND/64-64x1-i32", "ScatterND/9x4-6x1"}) {
    const auto l = op::get<op::indexing>(op::parse(name));
    const operands o = make_operands(l, numeric::f32);
    std::vector<std::int64_t> places;
    const std::int64_t n = l.named();
    for (std::int64_t r = 0; r < o.inputs[1].count() / n; ++r) {
      std::int64_t at = 0;
      for (std::int64_t k = 0; k < n; ++k)
        at = at * l.data[static_cast<int>(k)] + static_cast<std::int64_t>(element(o, 1, r * n + k));
      places.push_back(at);
    }
    std::sort(places.begin(), places.end());
    CHECK(std::adjacent_find(places.begin(), places.end()) == places.end());
  }
  const operands o = make_operands(op::parse("ScatterElements/6x4-6x4"), numeric::f32);
  for (std::int64_t column = 0; column < 4; ++column) {
    double sum = 0;
    for (std::int64_t r = 0; r < 6; ++r)
      sum += std::exp2(element(o, 1, r * 4 + column));
    CHECK(sum == 63);
  }
}
