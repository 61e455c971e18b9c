// SPDX-License-Identifier: Apache-2.0
// How is a sum asked for as a product? A x 1 adds up the rows of a matrix, 1' x A its columns: the
// units that multiply matrices then do what a reduction's loop does. Offered in addition to the
// library's own reductions (`ones:matmul:`, `ones:inner_product:`), in the layer's type; a mean is
// the sum times a factor, which the product's last step does.
//
//   describe_ones({.outer = 4096, .reduced = 256}, request, out);   // a stack of rows
#pragma once

#include "../row_sums.hpp"
#include "gemm.hpp"

namespace benanza::backend::onednn {

namespace detail {
inline dnnl::primitive_attr ones_attributes(const row_sums& s, const request& r,
                                            run_time_values& given, int last) {
  dnnl::primitive_attr a = r.product_attributes(given, last, 1 << last);
  if (s.factor == 1) return a;
  dnnl::post_ops times;
  version::append_eltwise(times, dnnl::algorithm::eltwise_linear, static_cast<float>(s.factor), 0);
  a.set_post_ops(times);
  return a;
}
} // namespace detail

/// Nothing where further steps follow, or where the operands are codes with scales.
inline void describe_ones(const row_sums& s, const request& r, recipes& out) {
  if (r.after.len() > 0 || r.codes) return;
  const auto begin = [&](std::string before, argument operand, argument ones, description result,
                         std::string letters) {
    recipe made{.result = std::move(result),
                .letters = std::move(letters),
                .before = "ones:" + before,
                .scales = true,
                .multiplies = true};
    ones.filled = 1;
    made.arguments = {std::move(operand), std::move(ones)};
    made.own_flops = [n = 2 * s.count()](std::string_view) { return n; };
    return made;
  };
  if (s.inner == 1) {
    const argument rows{.id = DNNL_ARG_SRC,
                        .input = 0,
                        .stored = dense({s.outer, s.reduced}, r.types.source),
                        .letters = "mk"};
    const description result = dense({s.outer, 1}, r.types.result);
    const argument ones{.id = DNNL_ARG_WEIGHTS, .stored = dense({s.reduced, 1}, r.types.weights)};
    recipe product = begin("matmul:", rows, ones, result, "mn");
    product.what = operation::matmul(rows.stored, any_layout({s.reduced, 1}, r.types.weights), {},
                                     result, detail::ones_attributes(s, r, product.given, 1));
    out.push_back(std::move(product));
    const argument row{.id = DNNL_ARG_WEIGHTS, .stored = dense({1, s.reduced}, r.types.weights)};
    recipe inner = begin("inner_product:", rows, row, result, "mn");
    inner.what =
        operation::inner_product(rows.stored, any_layout({1, s.reduced}, r.types.weights), {},
                                 result, detail::ones_attributes(s, r, inner.given, 1));
    out.push_back(std::move(inner));
    return;
  }
  // The operand takes the place of weights, which have a sign in eight bits.
  if (r.types.source != r.types.weights) return;
  const auto stack = [&](std::int64_t outer, std::int64_t rows, std::int64_t columns) {
    return s.outer == 1 ? dims{rows, columns} : dims{outer, rows, columns};
  };
  const std::string outer = s.outer == 1 ? "" : "b";
  const argument ones{.id = DNNL_ARG_SRC, .stored = dense(stack(1, 1, s.reduced), r.types.source)};
  const argument columns{.id = DNNL_ARG_WEIGHTS,
                         .input = 0,
                         .stored = dense(stack(s.outer, s.reduced, s.inner), r.types.weights),
                         .letters = outer + "kn",
                         .flows = true};
  const description result = dense(stack(s.outer, 1, s.inner), r.types.result);
  recipe product = begin("matmul:", columns, ones, result, outer + "mn");
  product.what = operation::matmul(
      ones.stored, columns.stored, {}, result,
      detail::ones_attributes(s, r, product.given, static_cast<int>(stack(1, 1, 1).size()) - 1));
  out.push_back(std::move(product));
}

} // namespace benanza::backend::onednn
