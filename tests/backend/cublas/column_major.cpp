// SPDX-License-Identifier: Apache-2.0
// Is a product of rows given to cuBLAS so that it computes that product? Each mapping is followed
// here as the documentation of BLAS says, over numbers, for all transposes, stacks and sizes.
#include <benanza/backend/cublas/column_major.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace benanza::backend::cublas;

namespace {
using numbers = std::vector<double>;

double at(const numbers& v, std::int64_t i) {
  return v.at(static_cast<std::size_t>(i));
}
/// Numbers that no two sums of products share by chance.
numbers some(std::int64_t count, double start) {
  numbers v;
  for (std::int64_t i = 0; i < count; ++i)
    v.push_back(start + static_cast<double>(i * i % 97) + static_cast<double>(i) / 8);
  return v;
}

/// The product as ONNX means it.
numbers by_rows(const product& p, const numbers& left, const numbers& right) {
  numbers out;
  for (std::int64_t b = 0; b < p.batches; ++b)
    for (std::int64_t i = 0; i < p.m; ++i)
      for (std::int64_t j = 0; j < p.n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          const std::int64_t of_left = p.left_turned ? l * p.m + i : i * p.k + l;
          const std::int64_t of_right = p.right_turned ? j * p.k + l : l * p.n + j;
          sum += at(left, (p.one_left ? 0 : b) * p.m * p.k + of_left) *
                 at(right, (p.one_right ? 0 : b) * p.k * p.n + of_right);
        }
        out.push_back(sum);
      }
  return out;
}

/// Element (row, column) of op(m).
double taken(const column_matrix& m, const numbers& v, std::int64_t batch, std::int64_t row,
             std::int64_t column) {
  const std::int64_t r = m.transposed ? column : row, c = m.transposed ? row : column;
  CHECK(r < m.rows);
  CHECK(c < m.columns);
  return at(v, batch * m.step + c * m.ld + r);
}

numbers by_columns(const product& p, const numbers& left, const numbers& right) {
  const column_product t = told(p);
  numbers out(static_cast<std::size_t>(p.batches * p.m * p.n), -1);
  for (std::int64_t b = 0; b < t.batches; ++b)
    for (std::int64_t j = 0; j < t.n; ++j)
      for (std::int64_t i = 0; i < t.m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < t.k; ++l)
          sum += taken(t.first, right, b, i, l) * taken(t.second, left, b, l, j);
        out.at(static_cast<std::size_t>(b * t.result.step + j * t.result.ld + i)) = sum;
      }
  return out;
}

numbers with_vector(const product& p, const numbers& left, const numbers& right) {
  const column_vector_product t = told_with_vector(p).value();
  const column_matrix& m = t.matrix;
  const numbers &of_matrix = t.matrix_is_right ? right : left,
                &vector = t.matrix_is_right ? left : right;
  numbers out(static_cast<std::size_t>(p.batches * p.m * p.n), -1);
  for (std::int64_t b = 0; b < p.batches; ++b)
    for (std::int64_t i = 0; i < (m.transposed ? m.columns : m.rows); ++i) {
      double sum = 0;
      for (std::int64_t l = 0; l < (m.transposed ? m.rows : m.columns); ++l)
        sum += taken(m, of_matrix, b, i, l) * at(vector, b * t.vector_step + l);
      out.at(static_cast<std::size_t>(b * t.result_step + i)) = sum;
    }
  return out;
}

/// Calls `f` with every kind of product of these sizes.
template <class F>
void each_product(F&& f) {
  const std::int64_t sizes[] = {1, 2, 3, 5};
  for (const std::int64_t m : sizes)
    for (const std::int64_t n : sizes)
      for (const std::int64_t k : sizes)
        for (const std::int64_t batches : {1, 3})
          for (int kind = 0; kind < 16; ++kind) {
            const bool one_left = (kind & 4) != 0 && batches > 1,
                       one_right = (kind & 8) != 0 && batches > 1;
            f(product{m, n, k, (kind & 1) != 0, (kind & 2) != 0, batches, one_left, one_right});
          }
}
} // namespace

TEST_CASE("cublas: a product described by columns is the product by rows") {
  int tried = 0;
  each_product([&](const product& p) {
    const numbers left = some(p.batches * p.m * p.k, 1), right = some(p.batches * p.k * p.n, -3);
    CHECK(by_columns(p, left, right) == by_rows(p, left, right));
    ++tried;
  });
  CHECK(tried == 4 * 4 * 4 * 2 * 16);
}

TEST_CASE("cublas: leading dims are the distances between columns, and nothing overlaps") {
  each_product([](const product& p) {
    const column_product t = told(p);
    for (const column_matrix& m : {t.first, t.second, t.result}) {
      CHECK(m.ld == m.rows); // ONNX's matrices have no gaps
      CHECK((m.step == 0 || m.step == m.rows * m.columns));
    }
    CHECK((t.first.step == 0) == (p.one_right || p.batches == 1));
    CHECK((t.second.step == 0) == (p.one_left || p.batches == 1));
    CHECK(t.m == p.n);
    CHECK(t.n == p.m);
    CHECK_FALSE(t.result.transposed);
  });
}

TEST_CASE("cublas: a matrix and a vector are the same product, wherever the vector is") {
  each_product([](const product& p) {
    CHECK(told_with_vector(p).has_value() == (p.m == 1 || p.n == 1));
    if (p.m != 1 && p.n != 1) return;
    const numbers left = some(p.batches * p.m * p.k, 1), right = some(p.batches * p.k * p.n, -3);
    CHECK(with_vector(p, left, right) == by_rows(p, left, right));
  });
}

TEST_CASE("cublas: the form that integers and FP8 want is that of weights stored n x k") {
  const column_product t = told({.m = 2, .n = 3, .k = 4, .right_turned = true});
  CHECK(t.first == column_matrix{4, 3, 4, 0, true});
  CHECK(t.second == column_matrix{4, 2, 4, 0, false});
}
