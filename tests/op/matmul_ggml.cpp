// SPDX-License-Identifier: Apache-2.0
#include <benanza/op/gather_ggml.hpp>

#include "checks.hpp"

using namespace benanza;
using namespace benanza::op;

TEST_CASE("matmul_ggml: key, dims and cost") {
  constexpr matmul_ggml up{.a = {1, 1, 2048}, .n = 5632, .format = ggml_format::q4_k};
  CHECK_TWICE(write_key(up) == "1x1x2048-n5632-q4_k");
  CHECK_TWICE(read_key(matmul_ggml{}, "1x1x2048-n5632-q4_k") == up);
  CHECK_TWICE(up.output() == shape{1, 1, 5632});
  CHECK_TWICE(up.weights() == shape{5632, 8 * 144});
  CHECK_TWICE(up.cost().macs == 2048 * 5632);
  CHECK_TWICE(up.cost().constant_fixed_bytes == 5632 * 8 * 144);
}

TEST_CASE("matmul_ggml: experts share the rows") {
  constexpr matmul_ggml up{.a = {1, 10, 256}, .n = 96, .format = ggml_format::q4_k, .experts = 4};
  CHECK_TWICE(write_key(up) == "1x10x256-n96-q4_k-e4");
  CHECK_TWICE(read_key(matmul_ggml{}, "1x10x256-n96-q4_k-e4") == up);
  CHECK_TWICE(up.weights() == shape{4 * 96, 144});
  CHECK_TWICE(up.cost().macs == 10 * 96 * 256);
  CHECK_TWICE(up.cost().constant_fixed_bytes == 4 * 96 * 144);
  for (std::int64_t row = 0; row < 10; ++row) {
    const std::int64_t e = expert_of_row(row, up.shares());
    CHECK(first_row_of(e, up.shares()) <= row);
    CHECK(row < first_row_of(e + 1, up.shares()));
  }
  CHECK(first_row_of(4, up.shares()) == 10);
  CHECK_REFUSED(
      (matmul_ggml{.a = {3, 32}, .n = 4, .format = ggml_format::q8_0, .experts = 4}.validate()),
      "fewer than the experts");
}

TEST_CASE("gather_ggml: key, dims and cost") {
  constexpr gather_ggml rows{.data = {1000, 512}, .indices = {1, 2}, .format = ggml_format::q6_k};
  CHECK_TWICE(write_key(rows) == "1000x512-1x2-q6_k");
  CHECK_TWICE(read_key(gather_ggml{}, "1000x512-1x2-q6_k") == rows);
  CHECK_TWICE(rows.output() == shape{1, 2, 512});
  CHECK_TWICE(rows.table() == shape{1000, 420});
  CHECK_TWICE(rows.cost().fixed_bytes == 2 * 420 + 16);
  CHECK_TWICE(rows.cost().results == 1024);
}

TEST_CASE("ggml: what makes no sense is refused") {
  CHECK_REFUSED((matmul_ggml{.a = {2, 128}, .n = 4, .format = ggml_format::q4_k}.validate()),
                "whole blocks");
  CHECK_REFUSED((matmul_ggml{.a = {2, 32}, .n = 0, .format = ggml_format::q8_0}.validate()),
                "empty");
  CHECK_REFUSED((matmul_ggml{.n = 4}.validate()), "scalar");
  CHECK_REFUSED((gather_ggml{.data = {2, 33}, .format = ggml_format::q8_0}.validate()),
                "whole blocks");
  CHECK_REFUSED((gather_ggml{.data = {2}}.validate()), "matrix");
}
