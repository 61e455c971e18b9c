// SPDX-License-Identifier: Apache-2.0
// Does a stack of products run through tables of pointers, wherever its weights are? On the fake
// GPU, which reads the tables when it runs.
#include "../cuda/on_fake.hpp"

#include <benanza/backend/cublas/library.hpp>
#include <benanza/backend/make_operands.hpp>

#include <doctest/doctest.h>

#include <algorithm>

using namespace benanza;
using namespace benanza::backend;
using cuda_test::on_fake;

TEST_CASE("cublas: a group's tables follow the weights, and those of before stay" *
          doctest::skip(!on_fake())) {
  cublas::library lib;
  const op::layer l = op::parse("MatMul/3x5x8-3x8x16-w");
  const operands values = make_operands(l, numeric::bf16);
  const auto grouped = lib.prepare(l, numeric::bf16, {.id = "gemm_grouped"}, values, {}),
             stacked = lib.prepare(l, numeric::bf16, {.id = "gemm"}, values, {});
  CHECK(grouped->ran() == "gemm_grouped");
  std::vector<double> wanted, own, pooled, mixed;
  stacked->run(1);
  stacked->read(wanted);
  grouped->run(1);
  grouped->read(own);
  CHECK(own == wanted);

  // Copies of zeros in two places: hot, cold, and both again, which replays what was recorded.
  const std::int64_t bytes = grouped->weight_bytes();
  REQUIRE(bytes == 3 * 8 * 16 * 2);
  cuda::memory pool(3 * bytes);
  pool.upload(std::vector<std::byte>(static_cast<std::size_t>(3 * bytes)));
  for (int turn = 0; turn < 2; ++turn) {
    grouped->rotate_weights(nullptr, 0, 0);
    CHECK(grouped->time(4) > 0);
    grouped->read(own);
    CHECK(own == wanted);
    grouped->rotate_weights(pool.data(), bytes, 3);
    CHECK(grouped->time(4) > 0);
    grouped->read(pooled);
    CHECK(std::all_of(pooled.begin(), pooled.end(), [](double v) { return v == 0; }));
  }
  CHECK(grouped->remark().empty()); // captured
}

TEST_CASE("cublas: one matrix may be in all products of a group" * doctest::skip(!on_fake())) {
  cublas::library lib;
  for (const char* name : {"MatMul/5x8-3x8x16", "Conv/3x8x2x4-16x1x1-s1", "MatMul/3x1x8-3x8x16"}) {
    CAPTURE(std::string(name));
    const op::layer l = op::parse(name);
    const operands values = make_operands(l, numeric::f16);
    std::vector<double> wanted, got;
    for (const auto& [id, to] : {std::pair{"gemm", &wanted}, {"gemm_grouped", &got}}) {
      const auto made = lib.prepare(l, numeric::f16, {.id = id}, values, {});
      made->run(1);
      made->read(*to);
    }
    CHECK(got == wanted);
  }
}
