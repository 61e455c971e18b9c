// SPDX-License-Identifier: Apache-2.0
// Which sums are products with ones? What these compute is tried on the fake GPU (library.cpp).
#include "tasks_of.hpp"

#include <benanza/backend/cublas/enumerate.hpp>

using namespace benanza;
using namespace benanza::backend::cublas;
using cublas_test::of;
using cublas_test::only;

TEST_CASE("cublas: sums over one run of dims are products with ones") {
  const task rows = only("ReduceSum/64x256-a1");
  CHECK(rows.what == product{.m = 64, .n = 1, .k = 256});
  CHECK(rows.right.ones);
  CHECK(rows.factor == 1);
  CHECK(only("ReduceMean/2x16x4x4-a2x3").factor == 1.f / 16);
  CHECK(only("GlobalAveragePool/2x16x4x4").what == product{.m = 32, .n = 1, .k = 16});
  const task columns = only("ReduceSum/3x48x20-a1");
  CHECK(columns.what == product{.m = 1, .n = 20, .k = 48, .batches = 3, .one_left = true});
  CHECK(columns.left.ones);
  for (const char* layer :
       {"ReduceMax/64x256-a1", "ReduceSum/4x5x6-a0x2", "GlobalMaxPool/2x16x4x4", "ReduceSum/4x5",
        "AveragePool/2x16x4x4-4x4", "ReduceSum/64x256-a1-s32"}) {
    CAPTURE(layer);
    CHECK(of(layer).empty());
  }
  for (const numeric t : {numeric::tf32, numeric::s8s8s8, numeric::e4m3})
    CHECK(of("ReduceSum/64x256-a1", t).empty());
}

TEST_CASE("cublas: sums are offered by its functions, with the arithmetic of the product") {
  std::vector<std::string> ids;
  for (const auto& a : plain_functions(op::parse("ReduceSum/3x48x20-a1"), numeric::f16)) {
    ids.push_back(a.id);
    CHECK(a.flops == 2 * 3 * 48 * 20);
  }
  CHECK(ids == std::vector<std::string>{"ones:gemm", "ones:gemv"});
}
