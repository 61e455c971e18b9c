// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/row_sums.hpp>
#include <benanza/op/kinds.hpp>

#include <doctest/doctest.h>

using namespace benanza;
using backend::row_sums_of;

TEST_CASE("sums over one run of dims are rows or columns of a matrix, or of a stack") {
  const auto of = [](const char* layer) {
    return row_sums_of(op::get<op::reduce>(op::parse(layer)));
  };
  const auto rows = of("ReduceMean/2x1x16x7x7-a3x4").value();
  CHECK(rows.outer == 32);
  CHECK(rows.reduced == 49);
  CHECK(rows.inner == 1);
  CHECK(rows.factor == 1.0 / 49);
  const auto columns = of("ReduceSum/3x1x48x20-a1x2").value(); // a dim of one does not matter
  CHECK(columns.outer == 3);
  CHECK(columns.reduced == 48);
  CHECK(columns.inner == 20);
  CHECK(columns.factor == 1);
  CHECK(of("ReduceSum/4096-a0")->count() == 4096);
  for (const char* layer : {"ReduceSum/4x5x6-a0x2", "ReduceMax/4x5-a1", "ReduceSum/4x5",
                            "ReduceSum/4x1x5-a1", "ReduceSum/4x0-a1"}) {
    CAPTURE(layer);
    CHECK_FALSE(of(layer));
  }
  const auto average = row_sums_of(op::get<op::pool>(op::parse("GlobalAveragePool/2x3x4x5")));
  CHECK(average->outer == 6);
  CHECK(average->reduced == 20);
  CHECK_FALSE(row_sums_of(op::get<op::pool>(op::parse("GlobalMaxPool/2x3x4x5"))));
}
