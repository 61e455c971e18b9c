// SPDX-License-Identifier: Apache-2.0
// Matrix products for oneDNN. Constant second operands may be packed as an implementation likes and
// then both primitives that multiply matrices compete, `inner_product:` and `matmul:`; and with
// them n x k as it is (`nk:`), which the library's own choice leaves out for few rows, where it is
// fastest. Operands that change stay as ONNX stores them, transposes by strides. A C that is a row
// is a bias; one of another form is added by a binary post-operation.
//
//   describe(op::gemm{.m = 1, .n = 1000, .k = 2048, .transpose_b = true, .constant_b = true},
//   request, out);
#pragma once

#include "broadcast.hpp"
#include "recipe.hpp"

#include "../../op/gemm.hpp"

namespace benanza::backend::onednn {

namespace detail {
/// A matrix of `rows` x `columns`; transposed ones are stored the other way round.
inline description matrix(std::int64_t rows, std::int64_t columns, data_type t, bool transposed) {
  return {dims{rows, columns}, t, transposed ? dims{1, rows} : dims{columns, 1}};
}

/// A stack of matrices whose rows and columns are exchanged in memory.
inline description turned(const description& matrices) {
  anatomy a(matrices);
  const std::size_t columns = a.sizes.size() - 1, rows = columns - 1;
  a.strides[rows] = 1;
  a.strides[columns] = a.sizes[rows];
  return {a.sizes, type_of(matrices), a.strides};
}

/// True where constant weights are also asked for n x k.
constexpr bool asked_turned(bool constant, std::int64_t n, std::int64_t k) {
  return constant && n > 1 && k > 1;
}

/// Adds the operand C of a Gemm to a recipe: gives back the bias, and adds what is none to `a`.
inline description gemm_addend(const op::gemm& g, const request& r, recipe& out,
                               dnnl::primitive_attr& a, bool row_of_one_dim) {
  if (g.c.empty()) return {};
  const dims c = to_dims(g.c);
  if (g.c[0] == 1 && g.c[1] == g.n) {
    const description bias = dense(row_of_one_dim ? dims{g.n} : c, r.bias_type);
    out.arguments.push_back(r.bias(2, bias));
    return bias;
  }
  if (r.after.len() > 0 || r.codes)
    throw dnnl::error(dnnl_unimplemented, "an addend before other steps");
  const description addend = dense(c, data_type::f32);
  dnnl::post_ops after;
  after.append_binary(dnnl::algorithm::binary_add, addend);
  a.set_post_ops(after);
  // The output scale comes before post-operations, and a bias before the output scale.
  out.arguments.push_back({.id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(0) | DNNL_ARG_SRC_1,
                           .input = 2,
                           .stored = addend,
                           .factor = r.scaled() ? r.output_scale : 1});
  return {};
}
} // namespace detail

inline void describe(const op::gemm& g, const request& r, recipes& out) {
  const description a = detail::matrix(g.m, g.k, r.types.source, g.transpose_a);
  const description result = dense({g.m, g.n}, r.types.result);
  const data_type b_type = r.types.weights;
  const auto begin = [&](const description& b, std::string letters) {
    recipe made{.result = result, .letters = "mn", .scales = true, .multiplies = true};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = a, .letters = "mk"},
                      {.id = DNNL_ARG_WEIGHTS,
                       .input = 1,
                       .stored = b,
                       .letters = std::move(letters),
                       .flows = !g.constant_b,
                       .constant = g.constant_b}};
    return made;
  };
  // Inner products take A in rows only, or in a reference loop.
  if (g.constant_b && !g.transpose_a) {
    recipe made = begin(detail::matrix(g.n, g.k, b_type, !g.transpose_b), "nk");
    dnnl::primitive_attr attributes = r.product_attributes(made.given, 1, 1);
    const description bias = detail::gemm_addend(g, r, made, attributes, true);
    made.before = "inner_product:";
    made.what =
        operation::inner_product(a, any_layout({g.n, g.k}, b_type), bias, result, attributes);
    out.push_back(std::move(made));
  }
  const description b = detail::matrix(g.k, g.n, b_type, g.transpose_b);
  const auto add = [&](const description& asked, const char* before) {
    recipe made = begin(b, "kn");
    dnnl::primitive_attr attributes = r.product_attributes(made.given, 1, 2);
    const description bias = detail::gemm_addend(g, r, made, attributes, false);
    made.before = before;
    made.what = operation::matmul(a, asked, bias, result, attributes);
    out.push_back(std::move(made));
  };
  add(g.constant_b ? any_layout({g.k, g.n}, b_type) : b, "matmul:");
  if (detail::asked_turned(g.constant_b, g.n, g.k))
    add(detail::matrix(g.k, g.n, b_type, true), "matmul:nk:");
}

inline void describe(const op::matmul& p, const request& r, recipes& out) {
  const data_type b_type = r.types.weights;
  shape batch_a = p.a, batch_b = p.b;
  batch_a.size -= 2;
  batch_b.size -= 2;
  std::vector<piece> batch = pieces_of(batch_a, batch_b);
  std::int64_t rows = p.m();
  // One matrix B for the whole stack: the stack of A is one tall matrix.
  if (!batch.empty() && batch.back().who == extent::first) {
    rows *= batch.back().size;
    batch.pop_back();
  }
  const broadcast_dims stack(batch);
  const auto of = [&](const dims& outer, std::int64_t height, std::int64_t width) {
    dims d = batch.empty() ? dims{} : outer;
    d.push_back(height);
    d.push_back(width);
    return d;
  };
  const dims a = of(stack.first, rows, p.k()), b = of(stack.second, p.k(), p.n()),
             c = of(stack.result, rows, p.n());
  const std::string outer(batch.empty() ? ""
                                        : std::string("abcdef").substr(0, stack.result.size()));
  const auto begin = [&](const description& stored, std::string letters) {
    recipe made{.result = dense(c, r.types.result),
                .letters = outer + "mn",
                .scales = true,
                .multiplies = true};
    made.arguments = {{.id = DNNL_ARG_SRC,
                       .input = 0,
                       .stored = dense(a, r.types.source),
                       .letters = outer + "mk"},
                      {.id = DNNL_ARG_WEIGHTS,
                       .input = 1,
                       .stored = stored,
                       .letters = std::move(letters),
                       .flows = !p.constant_b,
                       .constant = p.constant_b}};
    return made;
  };
  const bool inner_product = p.constant_b && batch.empty();
  const int last = static_cast<int>(c.size()) - 1;
  const auto add = [&](const description& asked, const std::string& order) {
    recipe made = begin(dense(b, b_type), outer + "kn");
    made.before = (inner_product ? "matmul:" : "") + order;
    made.what = operation::matmul(made.arguments[0].stored, asked, {}, made.result,
                                  r.product_attributes(made.given, last, 1 << last));
    out.push_back(std::move(made));
  };
  add(p.constant_b ? any_layout(b, b_type) : dense(b, b_type), "");
  if (detail::asked_turned(p.constant_b, p.n(), p.k()))
    add(detail::turned(dense(b, b_type)), "nk:");
  if (!inner_product) return;
  recipe other = begin(detail::matrix(p.n(), p.k(), b_type, true), "nk");
  other.before = "inner_product:";
  other.what =
      operation::inner_product(other.arguments[0].stored, any_layout({p.n(), p.k()}, b_type), {},
                               other.result, r.product_attributes(other.given, 1, 1));
  out.push_back(std::move(other));
}

} // namespace benanza::backend::onednn
