// SPDX-License-Identifier: Apache-2.0
// Which layer is a matrix product of cuBLAS? It computes C (m x n) = op(A) op(B), all three stored
// by columns. Frameworks store by rows, so they pass their second operand as A: what cuBLAS calls
// C is their result transposed, an n x m matrix, and a transpose of A is one of their B.
//
//   product_layer({.m = 1000, .n = 1, .k = 2048, .transpose_a = true})   // Gemm/1x1000x2048-tb
#pragma once

#include "../op/kinds.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace benanza::trace {

/// The arguments of a product, as cuBLAS has them.
struct product {
  std::int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;
  std::int64_t batch = 1;
  bool one_a = false, one_b = false; ///< all products of the batch share the operand
};

/// What `make` returns; nothing where it refuses.
template <class Make>
std::optional<op::layer> attempted(Make&& make) {
  try {
    return make();
  } catch (const error&) {
    return std::nullopt;
  }
}

/// `p` where it can be: checked and written in its one way.
template <class Parameters>
std::optional<op::layer> checked_layer(const Parameters& p) {
  return attempted([&]() -> std::optional<op::layer> {
    p.validate();
    return op::layer(p.canonical_form());
  });
}

/// The layer that a product is, in the order of rows: a Gemm, or a MatMul for a batch of them.
inline std::optional<op::layer> product_layer(const product& p) {
  if (p.batch < 1 || p.m < 1 || p.n < 1 || p.k < 1) return std::nullopt;
  if (p.batch == 1)
    return checked_layer(op::gemm{
        .m = p.n, .n = p.m, .k = p.k, .transpose_a = p.transpose_b, .transpose_b = p.transpose_a});
  return checked_layer(op::matmul{.a = p.one_b ? shape{p.n, p.k} : shape{p.batch, p.n, p.k},
                                  .b = p.one_a ? shape{p.k, p.m} : shape{p.batch, p.k, p.m}});
}

/// Which operands are transposed, as a call's layout says it.
inline std::string transposes(const product& p) {
  if (p.transpose_b) return p.transpose_a ? "ta tb" : "ta";
  return p.transpose_a ? "tb" : "";
}

namespace detail {
/// `text` without what it begins with, if it begins so.
inline std::string_view without(std::string_view text, std::string_view front) {
  return text.starts_with(front) ? text.substr(front.size()) : text;
}
} // namespace detail

/// The class of a product of operands of type `a` and `b` (`R_16F`), computed as `math` says (all
/// that the log says: COMPUTE_32F_FAST_TF32, TF32_TENSOR_OP_MATH ...); nothing: there is none.
inline std::optional<numeric> product_type(std::string_view a, std::string_view b,
                                           std::string_view math) {
  if (a != b) return std::nullopt;
  const auto says = [&](std::string_view part) {
    return math.find(part) != std::string_view::npos;
  };
  if (a == "R_32F") {
    if (says("TF32")) return numeric::tf32;
    const bool less = says("FAST_16") || says("EMULATED") || says("TENSOR_OP_MATH");
    return less ? std::nullopt : std::optional(numeric::f32);
  }
  if (a == "R_16F") return numeric::f16;
  if (a == "R_16BF") return numeric::bf16;
  if (a == "R_8I") return numeric::s8s8s8;
  if (a == "R_8F_E4M3") return numeric::e4m3;
  return std::nullopt;
}

} // namespace benanza::trace
