// SPDX-License-Identifier: Apache-2.0
// Is a product by columns the same as its layer by rows? Computed both ways for small matrices.
#include <benanza/op/kinds.hpp>
#include <benanza/trace/product.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace test_of_product {
using benanza::op::gemm;
using benanza::trace::product;
using matrix = std::vector<double>;

/// C of cuBLAS: column-major, op(A) op(B).
matrix by_columns(const product& p, const matrix& a, const matrix& b) {
  matrix c(static_cast<std::size_t>(p.m * p.n));
  for (std::int64_t i = 0; i < p.m; ++i)
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t k = 0; k < p.k; ++k) {
        const auto at = static_cast<std::size_t>(p.transpose_a ? k + i * p.k : i + k * p.m);
        const auto bt = static_cast<std::size_t>(p.transpose_b ? j + k * p.n : k + j * p.k);
        c[static_cast<std::size_t>(i + j * p.m)] += a[at] * b[bt];
      }
  return c;
}

/// The result of a Gemm: row-major.
matrix by_rows(const gemm& g, const matrix& a, const matrix& b) {
  matrix c(static_cast<std::size_t>(g.m * g.n));
  for (std::int64_t i = 0; i < g.m; ++i)
    for (std::int64_t j = 0; j < g.n; ++j)
      for (std::int64_t k = 0; k < g.k; ++k) {
        const auto at = static_cast<std::size_t>(g.transpose_a ? k * g.m + i : i * g.k + k);
        const auto bt = static_cast<std::size_t>(g.transpose_b ? j * g.k + k : k * g.n + j);
        c[static_cast<std::size_t>(i * g.n + j)] += a[at] * b[bt];
      }
  return c;
}

matrix filled(std::int64_t n, int seed) {
  matrix out;
  for (std::int64_t i = 0; i < n; ++i)
    out.push_back(static_cast<double>((i * 7 + seed) % 11));
  return out;
}

TEST_CASE("the same bytes in, the same bytes out") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const product p{.m = 3, .n = 4, .k = 5, .transpose_a = ta, .transpose_b = tb};
      const matrix a = filled(p.m * p.k, 1), b = filled(p.k * p.n, 2);
      const auto layer = benanza::trace::product_layer(p);
      REQUIRE(layer);
      const gemm& g = op::get<gemm>(*layer);
      CHECK(by_columns(p, a, b) == by_rows(g, b, a)); // the operands change places
    }
}

TEST_CASE("sizes that are no product give none") {
  CHECK_FALSE(benanza::trace::product_layer({.m = 0, .n = 1, .k = 1}));
  CHECK_FALSE(benanza::trace::product_layer({.m = 1, .n = 1, .k = 1, .batch = 0}));
  CHECK_FALSE(benanza::trace::product_layer({.m = std::int64_t{1} << 50, .n = 1, .k = 1}));
  CHECK(benanza::trace::transposes({.transpose_a = true, .transpose_b = true}) == "ta tb");
}

} // namespace test_of_product
