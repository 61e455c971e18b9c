// SPDX-License-Identifier: Apache-2.0
// Matrix products for cuDNN: stacks of matrices, transposes by strides, weights also with rows and
// columns exchanged (`wt:`), a third operand added, steps behind them. Its engines for these are
// compiled at run time.
//
//   recipes out;   describe(op::gemm{...}, {}, {numeric::bf16}, out);   out[0].layouts ==
//   "ab,ba,ab"
#pragma once

#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// Operands of a product as stacks of matrices with one outer dim.
struct stacks {
  std::int64_t a = 1, b = 1, c = 1;
};

/// The outer dims of a MatMul merged into one; nothing where they broadcast in part.
inline std::optional<stacks> merged(const op::matmul& p) {
  shape oa = p.a, ob = p.b, oc = p.output();
  oa.size -= 2, ob.size -= 2, oc.size -= 2;
  const stacks s{elements(oa), elements(ob), elements(oc)};
  const bool fits = (s.a == s.c || s.a == 1) && (s.b == s.c || s.b == 1);
  return fits ? std::optional(s) : std::nullopt;
}

struct product {
  std::int64_t m, n, k;
  stacks outer{};
  bool transpose_a = false, transpose_b = false, constant_b = false;
};

/// How a matrix comes: `transposed` as ONNX stores it, `turned` once before anything is timed.
struct matrix_way {
  bool transposed = false, turned = false, constant = false;
};

/// A stack of matrices; the graph takes transposed ones by their strides.
inline int matrix_operand(writer& to, int input, const shape& dims, const matrix_way& how,
                          dtype type) {
  const bool transposed = how.transposed != how.turned;
  const int t = to.operand(input, dims, cuda::matrix_strides(dims, transposed), type, how.constant);
  placed& there = to.made.tensors.back();
  if (how.transposed) {
    std::swap(there.dims[1], there.dims[2]);
    std::swap(there.strides[1], there.strides[2]);
  }
  return t;
}

inline frame product_frame(const product& p, const shape& output, const request& r, bool turned) {
  frame f{.output = output, .dims = {p.outer.c, p.m, p.n}};
  const shape a{p.outer.a, p.m, p.k}, b{p.outer.b, p.k, p.n};
  f.core = [=](writer& to, int y) {
    const int left = matrix_operand(to, 0, a, {p.transpose_a}, to.source_type());
    const int right = matrix_operand(to, 1, b, {p.transpose_b, turned, p.constant_b},
                                     weights_of(to.asked().type));
    to.graph.matmul(left, right, y, to.asked().accumulator());
  };
  f.operands = 2;
  if (quantised(r.type)) f.core_type = CUDNN_DATA_INT32;
  if (turned) f.before = cuda::turned_weights_prefix;
  f.layouts =
      std::string(p.transpose_a ? "ba" : "ab") + (p.transpose_b != turned ? ",ba,ab" : ",ab,ab");
  f.operand_layouts = f.result_layout = name(layout::plain);
  return f;
}

/// Adds the recipe of a product with what comes behind it, and the one with its weights turned.
inline void write_product(const product& p, const shape& output, const std::vector<stage>& after,
                          const op::step_list& steps, const request& r, recipes& out) {
  const bool two_ways = p.constant_b && cuda::lies_two_ways(p.k, p.n);
  for (const bool turned : {false, true}) {
    if (turned && !two_ways) return;
    frame f = product_frame(p, output, r, turned);
    f.operands += static_cast<int>(after.size());
    f.after = after;
    if (quantised(r.type)) f.after.push_back(scaled());
    write(f, steps, r, out);
  }
}
} // namespace detail

inline void describe(const op::gemm& g, const op::step_list& steps, const request& r,
                     recipes& out) {
  std::vector<stage> addend; // an operand each
  if (!g.c.empty())
    addend.push_back([g](writer& w, int x, int y) {
      const shape c{1, g.c[0], g.c[1]};
      const int its = w.operand(2, c, packed(c), w.vector_type());
      w.graph.pointwise(CUDNN_POINTWISE_ADD, x, its, y);
      return true;
    });
  detail::write_product({.m = g.m,
                         .n = g.n,
                         .k = g.k,
                         .transpose_a = g.transpose_a,
                         .transpose_b = g.transpose_b,
                         .constant_b = g.constant_b},
                        g.output(), addend, steps, r, out);
}

inline void describe(const op::matmul& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const auto outer = detail::merged(p);
  if (!outer) return;
  detail::write_product(
      {.m = p.m(), .n = p.n(), .k = p.k(), .outer = *outer, .constant_b = p.constant_b}, p.output(),
      {}, steps, r, out);
}

} // namespace benanza::backend::cudnn
