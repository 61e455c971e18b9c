// SPDX-License-Identifier: Apache-2.0
// Matrix products for cuDNN: stacks of matrices, transposes by strides, a third operand added,
// steps behind them. Its engines for these are compiled at run time.
//
//   recipes out;   describe(op::gemm{...}, {}, {numeric::bf16}, out);   out[0].layouts ==
//   "ab,ba,ab"
#pragma once

#include "frame.hpp"

namespace benanza::backend::cudnn {

namespace detail {
/// Strides of a stack of matrices, each stored the other way round if `transposed`.
inline shape matrix_strides(const shape& dims, bool transposed) {
  shape s = packed(dims);
  if (transposed) {
    s[dims.size - 1] = dims[dims.size - 2];
    s[dims.size - 2] = 1;
  }
  return s;
}

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

/// A stack of matrices as ONNX stores it; the graph takes transposed ones by their strides.
inline int matrix_operand(writer& to, int input, const shape& dims, bool transposed, dtype type,
                          bool constant = false) {
  const int t = to.operand(input, dims, matrix_strides(dims, transposed), type, constant);
  placed& there = to.made.tensors.back();
  if (transposed) {
    there.dims = {dims[0], dims[2], dims[1]};
    there.strides = packed(there.dims);
  }
  return t;
}

inline frame product_frame(const product& p, const shape& output, const request& r) {
  frame f{.output = output, .dims = {p.outer.c, p.m, p.n}};
  const shape a{p.outer.a, p.m, p.k}, b{p.outer.b, p.k, p.n};
  f.core = [=](writer& to, int y) {
    const int left = matrix_operand(to, 0, a, p.transpose_a, to.source_type());
    const int right =
        matrix_operand(to, 1, b, p.transpose_b, weights_of(to.asked().type), p.constant_b);
    to.graph.matmul(left, right, y, to.asked().accumulator());
  };
  f.operands = 2;
  if (quantised(r.type)) f.core_type = CUDNN_DATA_INT32;
  f.layouts = std::string(p.transpose_a ? "ba" : "ab") + (p.transpose_b ? ",ba,ab" : ",ab,ab");
  f.operand_layouts = f.result_layout = name(layout::plain);
  return f;
}
} // namespace detail

inline void describe(const op::gemm& g, const op::step_list& steps, const request& r,
                     recipes& out) {
  frame f = detail::product_frame({.m = g.m,
                                   .n = g.n,
                                   .k = g.k,
                                   .transpose_a = g.transpose_a,
                                   .transpose_b = g.transpose_b,
                                   .constant_b = g.constant_b},
                                  g.output(), r);
  if (!g.c.empty()) {
    f.operands = 3;
    f.after.push_back([g](writer& w, int x, int y) {
      const shape c{1, g.c[0], g.c[1]};
      const int addend = w.operand(2, c, packed(c), w.vector_type());
      w.graph.pointwise(CUDNN_POINTWISE_ADD, x, addend, y);
      return true;
    });
  }
  if (quantised(r.type)) f.after.push_back(scaled());
  write(f, steps, r, out);
}

inline void describe(const op::matmul& p, const op::step_list& steps, const request& r,
                     recipes& out) {
  const auto outer = detail::merged(p);
  if (!outer) return;
  frame f = detail::product_frame(
      {.m = p.m(), .n = p.n(), .k = p.k(), .outer = *outer, .constant_b = p.constant_b}, p.output(),
      r);
  if (quantised(r.type)) f.after.push_back(scaled());
  write(f, steps, r, out);
}

} // namespace benanza::backend::cudnn
