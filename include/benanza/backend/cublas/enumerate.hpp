// SPDX-License-Identifier: Apache-2.0
// What does cuBLAS offer for a layer without being asked? Its plain functions, which choose an
// algorithm themselves: `gemm`, `gemv` where an operand is a vector, and for stacks `gemm_grouped`,
// which takes a pointer to each matrix, as mixtures of experts do. They add nothing to the result,
// apply no function, and do not say whether they use tensor cores. No GPU is needed; cublasLt's own
// algorithms are known on one only.
//
//   for (const algorithm& a : plain_functions(layer, numeric::f32)) a.id;   // "gemm", "nhwc:gemm"
#pragma once

#include "../concept.hpp"
#include "describe.hpp"

namespace benanza::backend::cublas {

inline constexpr std::string_view gemm_id = "gemm", gemv_id = "gemv", grouped_id = "gemm_grouped";

/// True where cublasGemmEx computes a task: it takes no FP8, and of integers it gives the sums.
inline bool has_gemm(const task& of, numeric t) {
  return of.bare() && !quantised(t) && t != numeric::e4m3;
}
/// True where a function for a matrix and a vector computes a task; these know no TF32.
inline bool has_gemv(const task& of, numeric t) {
  return has_gemm(of, t) && t != numeric::tf32 && told_with_vector(of.what).has_value();
}

/// True where the function for groups of stacks computes a task. On tensor cores it reads units of
/// 16 or 4 bytes where rows are made of such, and each matrix must begin with one.
inline bool has_grouped(const task& of, numeric t) {
  const column_product p = told(of.what);
  if (!has_gemm(of, t) || p.batches == 1 || of.with_ones()) return false;
  if (t == numeric::f32) return true;
  const std::int64_t element = size_bytes(source_of(t)), row = p.k * element;
  const std::int64_t unit = row % 16 == 0 ? 16 : row % 4 == 0 ? 4 : 1;
  return p.first.step * element % unit == 0 && p.second.step * element % unit == 0 &&
         p.result.step * element % unit == 0;
}

/// What one way to compute a layer is as an algorithm.
inline algorithm algorithm_of(const task& of, const op::layer& l, numeric t, std::string_view id,
                              int index) {
  return {.id = of.before + std::string(id),
          .index = index,
          .equivalence = std::string(name(t)),
          .layouts = of.layouts,
          .operand_layouts = of.operand_layouts,
          .result_layout = of.result_layout,
          .flops = of.with_ones() ? 2 * of.what.m * of.what.n * of.what.k * of.what.batches
                                  : op::direct_flops(l)};
}

/// The plain functions that compute a task.
inline void add_plain_functions(const task& of, const op::layer& l, numeric t,
                                std::vector<algorithm>& out) {
  const auto add = [&](std::string_view id) {
    out.push_back(algorithm_of(of, l, t, id, static_cast<int>(out.size())));
    out.back().notes = "call,tensor-cores=unknown";
  };
  if (has_gemm(of, t)) add(gemm_id);
  if (has_gemv(of, t)) add(gemv_id);
  if (has_grouped(of, t)) add(grouped_id);
}

/// The plain functions that compute a layer.
inline std::vector<algorithm> plain_functions(const op::layer& l, numeric t) {
  std::vector<algorithm> out;
  for (const task& of : tasks_for(l, t))
    add_plain_functions(of, l, t, out);
  return out;
}

} // namespace benanza::backend::cublas
