// SPDX-License-Identifier: Apache-2.0
// Matrix products: ONNX Gemm-13 (two matrices, transposes, a third operand added) and MatMul-13
// (stacks of matrices that broadcast as NumPy says). `constant_b` says that the second operand is
// part of the trained model: it may then be prepared before timing, and is cold in a real run.
//
//   gemm{.m = 1, .n = 1000, .k = 2048, .transpose_b = true, .c = {1, 1000}, .constant_b = true}
//   key: 1x1000x2048-tb-c1x1000-w
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

/// ONNX Gemm: an m x k matrix times a k x n one, plus C.
struct gemm {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false; ///< A is stored k x m
  bool transpose_b = false; ///< B is stored n x k
  shape c{};                ///< two dims that broadcast to m x n; empty: no C
  bool constant_b = false;

  static constexpr std::optional<gemm> of(std::string_view family) {
    return family == "Gemm" ? std::optional(gemm{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Gemm"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    list<3> sizes{m, n, k};
    a.dims("", sizes);
    if (sizes.size == 3) m = sizes[0], n = sizes[1], k = sizes[2];
    a.flag("transpose_a", "ta", transpose_a);
    a.flag("transpose_b", "tb", transpose_b);
    a.tagged_list("c", "c", c);
    a.flag("constant_b", "w", constant_b);
  }

  constexpr void validate() const {
    if (m < 1 || n < 1 || k < 1 || m > dim_limit || n > dim_limit || k > dim_limit)
      throw error("a Gemm takes m, n and k of 1 to 2^40");
    if (!c.empty() && (c.size != 2 || (c[0] != 1 && c[0] != m) || (c[1] != 1 && c[1] != n)))
      throw error("a Gemm's C does not broadcast to m x n");
    (void)cost();
  }

  constexpr shape a_shape() const { return transpose_a ? shape{k, m} : shape{m, k}; }
  constexpr shape b_shape() const { return transpose_b ? shape{n, k} : shape{k, n}; }
  constexpr shape output() const { return {m, n}; }

  constexpr work cost() const {
    work w;
    const std::int64_t b = checked_multiply(n, k);
    w.results = checked_multiply(m, n);
    w.macs = checked_multiply(w.results, k);
    w.sources = checked_multiply(m, k) + (constant_b ? 0 : b);
    w.weights = constant_b ? b : 0;
    w.vectors = c.empty() ? 0 : elements(c);
    w.other = c.empty() ? 0 : w.results;
    return w;
  }
  constexpr gemm canonical_form() const { return *this; }
  constexpr bool operator==(const gemm&) const = default;
};

/// ONNX MatMul: the last two dims multiply, those before them broadcast; both have two dims or
/// more.
struct matmul {
  shape a{};
  shape b{};
  bool constant_b = false;

  static constexpr std::optional<matmul> of(std::string_view family) {
    return family == "MatMul" ? std::optional(matmul{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "MatMul"; }

  template <class Archive>
  constexpr void fields(Archive& archive) {
    archive.dims("a", a);
    archive.dims("b", b);
    archive.flag("constant_b", "w", constant_b);
  }

  constexpr std::int64_t m() const { return a[a.size - 2]; }
  constexpr std::int64_t k() const { return a[a.size - 1]; }
  constexpr std::int64_t n() const { return b[b.size - 1]; }

  constexpr void validate() const {
    check_ranks();
    check_dims(a);
    check_dims(b);
    if (k() != b[b.size - 2]) throw error("a MatMul's inner dims differ");
    (void)cost();
  }

  constexpr void check_ranks() const {
    if (a.size < 2 || b.size < 2) throw error("a MatMul takes operands of two dims or more");
  }

  constexpr shape output() const {
    check_ranks();
    shape sa = a, sb = b;
    sa.size -= 2;
    sb.size -= 2;
    shape out = broadcast(sa, sb);
    out.push(m());
    out.push(n());
    return out;
  }

  constexpr work cost() const {
    work w;
    w.results = elements(output());
    w.macs = checked_multiply(w.results, k());
    w.sources = elements(a) + (constant_b ? 0 : elements(b));
    w.weights = constant_b ? elements(b) : 0;
    return w;
  }
  constexpr matmul canonical_form() const { return *this; }
  constexpr bool operator==(const matmul&) const = default;
};

} // namespace benanza::op
