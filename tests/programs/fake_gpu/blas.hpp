// SPDX-License-Identifier: Apache-2.0
// Products of matrices as BLAS counts them, column by column, over the fake GPU's memory, in f64.
// What cuBLAS's documentation asks of them is asked here too: leading dims, types that go together.
//
//   blas_product p{...};   if (p.valid()) launch(stream, "blas gemm", "", p);
#pragma once

#include "product.hpp"
#include "runtime.hpp"

#include <benanza/backend/number.hpp>

#include <cublas_v2.h>

#include <bit>
#include <cmath>
#include <numbers>

namespace fake {

/// A stack of matrices in the device's memory. Counts are elements.
struct blas_matrix {
  const void* at = nullptr;
  benanza::dtype type = benanza::dtype::f32;
  std::int64_t rows = 0, columns = 0, ld = 0, step = 0;
  bool transposed = false;

  std::int64_t taken_rows() const { return transposed ? columns : rows; }
  std::int64_t taken_columns() const { return transposed ? rows : columns; }
  std::int64_t place(std::int64_t batch, std::int64_t row, std::int64_t column) const {
    return batch * step + (transposed ? row * ld + column : column * ld + row);
  }
  std::int64_t count(std::int64_t batches) const {
    return (batches - 1) * step + (columns - 1) * ld + rows;
  }
  std::int64_t bytes(std::int64_t batches) const {
    return count(batches) * benanza::size_bytes(type);
  }
  bool valid(std::int64_t batches) const {
    return rows > 0 && columns > 0 && ld >= rows && (batches == 1 || step >= 0);
  }
};

enum class blas_function { none, relu, gelu };

/// result = function(alpha * first * second + beta * addend + bias), one number of the bias a row.
struct blas_product {
  blas_matrix first{}, second{}, addend{}, result{};
  std::int64_t batches = 1;
  double alpha = 1, beta = 0;
  const void* bias = nullptr;
  benanza::dtype bias_type = benanza::dtype::f32;
  blas_function function = blas_function::none;
  bool tf32 = false;
  const void *first_scale = nullptr, *second_scale = nullptr, *result_scale = nullptr; ///< of FP8

  bool valid() const {
    return batches > 0 && first.valid(batches) && second.valid(batches) && result.valid(batches) &&
           first.taken_rows() == result.rows && first.taken_columns() == second.taken_rows() &&
           second.taken_columns() == result.columns && !result.transposed &&
           (batches == 1 || result.step >= result.columns * result.ld);
  }
};

inline std::optional<benanza::dtype> dtype_of(cudaDataType_t t) {
  using benanza::dtype;
  switch (t) {
  case CUDA_R_32F: return dtype::f32;
  case CUDA_R_16F: return dtype::f16;
  case CUDA_R_16BF: return dtype::bf16;
  case CUDA_R_8I: return dtype::s8;
  case CUDA_R_8F_E4M3: return dtype::e4m3;
  default: return std::nullopt;
  }
}

namespace detail {
/// What tensor cores make of an f32.
inline double to_tf32(double v) {
  const auto bits = std::bit_cast<std::uint32_t>(static_cast<float>(v));
  return static_cast<double>(std::bit_cast<float>(bits & 0xffffe000u));
}
inline double apply(blas_function f, double x) {
  if (f == blas_function::relu) return x > 0 ? x : 0;
  if (f == blas_function::none) return x;
  return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}
/// The numbers of a stack of matrices as they are taken, column by column.
inline std::vector<double> load_matrix(memory& m, const blas_matrix& x, std::int64_t batches,
                                       bool tf32 = false) {
  constexpr std::int64_t part = 64; // of a column: what is row by row is read by lines of a cache
  const std::int64_t rows = x.taken_rows(), columns = x.taken_columns();
  std::vector<double> out(static_cast<std::size_t>(batches * rows * columns));
  const std::byte* const bytes = m.contents(x.at, x.bytes(batches));
  with_numbers(x.type, bytes, [&](auto number) {
    for (std::int64_t batch = 0; batch < batches; ++batch)
      for (std::int64_t first = 0; first < rows; first += part)
        for (std::int64_t j = 0; j < columns; ++j)
          for (std::int64_t i = first; i < std::min(first + part, rows); ++i)
            out[static_cast<std::size_t>((batch * columns + j) * rows + i)] =
                number(x.place(batch, i, j));
  });
  if (tf32)
    for (double& v : out)
      v = to_tf32(v);
  return out;
}

/// All that a product without what is added to it depends on, but for the operands' bytes.
inline std::vector<std::int64_t> settings_of(const blas_product& p) {
  std::vector<std::int64_t> out{p.batches, p.tf32};
  for (const blas_matrix* x : {&p.first, &p.second})
    out.insert(out.end(), {static_cast<std::int64_t>(x->type), x->rows, x->columns, x->ld, x->step,
                           x->transposed});
  return out;
}

/// What becomes of a sum of products: factors, what is added, and the function.
class blas_ending {
public:
  blas_ending(memory& m, const blas_product& p, bool wrong)
      : p_(p)
      , alpha_(p.alpha * scale(m, p.first_scale) * scale(m, p.second_scale))
      , result_scale_(scale(m, p.result_scale))
      , wrong_(wrong) {
    if (p.bias != nullptr)
      benanza::backend::load_all(
          p.bias_type, m.contents(p.bias, p.result.rows * benanza::size_bytes(p.bias_type)),
          p.result.rows, bias_);
  }
  double operator()(double sum, double addend, std::int64_t batch, std::int64_t i,
                    std::int64_t j) const {
    double v = alpha_ * sum;
    if (p_.beta != 0) v += p_.beta * addend;
    if (p_.bias != nullptr) v += bias_[static_cast<std::size_t>(i)];
    v = result_scale_ * apply(p_.function, v);
    if (wrong_ && batch == 0 && i == 0 && j == 0) v += 2 + 2 * std::fabs(v);
    return v;
  }

private:
  static double scale(memory& m, const void* where) {
    float v = 1;
    if (where != nullptr) std::memcpy(&v, m.contents(where, sizeof v), sizeof v);
    return static_cast<double>(v);
  }

  const blas_product& p_;
  double alpha_, result_scale_;
  std::vector<double> bias_{};
  bool wrong_;
};

inline void compute(memory& m, const blas_product& p, bool wrong) {
  const blas_ending ending(m, p, wrong);
  std::vector<double> c;
  if (p.beta != 0) c = load_matrix(m, p.addend, p.batches);
  const std::int64_t rows = p.result.rows, columns = p.result.columns,
                     terms = p.first.taken_columns();
  // Column by column is row by row of what is transposed: c^T = b^T a^T.
  const auto bytes_of = [&](const blas_matrix& x) {
    const std::int64_t count = x.bytes(p.batches);
    return std::span<const std::byte>(m.contents(x.at, count), static_cast<std::size_t>(count));
  };
  // The same bytes are the same numbers, and so may be others that are in another order.
  const dense sums = cached().result({bytes_of(p.first), bytes_of(p.second)}, settings_of(p), [&] {
    const auto first = load_matrix(m, p.first, p.batches, p.tf32),
               second = load_matrix(m, p.second, p.batches, p.tf32);
    const std::vector<std::int64_t> sizes{p.batches, rows, columns, terms};
    return cached().result({bytes(first), bytes(second)}, sizes, [&] {
      dense made({p.batches, columns, rows});
      for (std::int64_t batch = 0; batch < p.batches; ++batch)
        multiply(second.data() + batch * columns * terms, first.data() + batch * terms * rows,
                 made.at.data() + batch * columns * rows, columns, rows, terms);
      return made;
    });
  });
  std::byte* const result = m.contents(p.result.at, p.result.bytes(p.batches));
  benanza::backend::with_element(p.result.type, [&](auto e) {
    auto* const to = reinterpret_cast<typename decltype(e)::storage*>(result);
    for (std::int64_t batch = 0; batch < p.batches; ++batch)
      for (std::int64_t j = 0; j < columns; ++j)
        for (std::int64_t i = 0; i < rows; ++i) {
          const auto at = static_cast<std::size_t>((batch * columns + j) * rows + i);
          to[p.result.place(batch, i, j)] =
              e.store(ending(sums.at[at], c.empty() ? 0 : c[at], batch, i, j));
        }
  });
}

/// A row of a matrix as it is taken, or a column.
inline blas_matrix line(const blas_matrix& x, std::int64_t batch, bool row, std::int64_t number) {
  blas_matrix out = x;
  const std::int64_t from = row ? x.place(batch, number, 0) : x.place(batch, 0, number);
  out.at = static_cast<const std::byte*>(x.at) + from * benanza::size_bytes(x.type);
  (row != x.transposed ? out.rows : out.columns) = 1;
  return out;
}
/// The one element of the result that is at `where`: of a large product few are read.
inline void compute_element(memory& m, const blas_product& p, bool wrong, const void* where) {
  const std::int64_t index =
      (static_cast<const std::byte*>(where) - static_cast<const std::byte*>(p.result.at)) /
      benanza::size_bytes(p.result.type);
  const std::int64_t batch = p.batches > 1 ? index / p.result.step : 0;
  const std::int64_t within = index - batch * p.result.step * (p.batches > 1);
  const std::int64_t i = within % p.result.ld, j = within / p.result.ld;
  if (i >= p.result.rows || j >= p.result.columns) return; // a gap
  const auto first = load_matrix(m, line(p.first, batch, true, i), 1, p.tf32),
             second = load_matrix(m, line(p.second, batch, false, j), 1, p.tf32);
  double sum = 0, addend = 0;
  for (std::size_t l = 0; l < first.size(); ++l)
    sum += first[l] * second[l];
  if (p.beta != 0) addend = load_matrix(m, line(line(p.addend, batch, true, i), 0, false, j), 1)[0];
  const double v = blas_ending(m, p, wrong)(sum, addend, batch, i, j);
  benanza::backend::with_element(p.result.type, [&](auto e) {
    using storage = typename decltype(e)::storage;
    *reinterpret_cast<storage*>(m.contents(where, sizeof(storage))) = e.store(v);
  });
}
} // namespace detail

/// Puts a product on a stream. `name` and `id` are for the script.
inline cublasStatus_t launch(cudaStream_t on, const std::string& name, const std::string& id,
                             const blas_product& p) {
  device& d = device::it();
  if (d.lost() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (d.rules.fails(name, "refuses-to-run", id)) return CUBLAS_STATUS_EXECUTION_FAILED;
  auto e = std::make_shared<execution>();
  e->name = name;
  e->id = id;
  e->turned = p.first.transposed;
  e->reads = {{p.first.at, p.first.bytes(p.batches)}, {p.second.at, p.second.bytes(p.batches)}};
  if (p.beta != 0) e->reads.push_back({p.addend.at, p.addend.bytes(p.batches)});
  if (p.bias != nullptr)
    e->reads.push_back({p.bias, p.result.rows * benanza::size_bytes(p.bias_type)});
  e->writes = {p.result.at, p.result.bytes(p.batches)};
  e->compute = [p, wrong = d.rules.fails(name, "wrong", id)](memory& m) {
    detail::compute(m, p, wrong);
  };
  e->compute_element = [p, wrong = d.rules.fails(name, "wrong", id)](memory& m, const void* where) {
    detail::compute_element(m, p, wrong, where);
  };
  e->element_bytes = benanza::size_bytes(p.result.type);
  const cudaError_t put = d.put(on, [&d, e = std::shared_ptr<const execution>(std::move(e))](
                                        const stream& s) { d.run(e, s); });
  return put == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

} // namespace fake
