// SPDX-License-Identifier: Apache-2.0
// Fused layers for oneDNN: the base's recipes with post-operations. A residual of the result's dims
// is added by the library's `sum`, in place: it is where the result goes (ids end in `+sum`). Other
// operands are joined by binary post-operations, as far as their dims can be said in those of the
// base's operation.
//
//   describe(op::fused<op::conv>{.base = ..., .steps = {add, relu}}, request, out);
#pragma once

#include "conv.hpp"
#include "eltwise.hpp"
#include "gemm.hpp"
#include "norm.hpp"

namespace benanza::backend::onednn {

namespace detail {
/// Post-operations for the steps of a fused layer, and the operands that they join.
struct post_chain {
  dnnl::post_ops operations{};
  std::vector<argument> arguments{};
  bool in_place = false;
};

/// Dims in which an operand of shape `s` meets a result of `dims`; nothing if they do not say it.
inline std::optional<dims> joined_dims(const shape& s, const shape& whole, const dims& result) {
  const auto rank = static_cast<int>(result.size());
  if (s == whole) return result;
  if (elements(s) == 1) return dims(result.size(), 1);
  if (rank == whole.size) {
    dims out(static_cast<std::size_t>(rank - s.size), 1);
    out.insert(out.end(), s.begin(), s.end());
    return out;
  }
  // Outer dims were merged: a row along the last one is still a row.
  if (s.back() != elements(s) || result.back() != s.back()) return std::nullopt;
  dims out(result.size(), 1);
  out.back() = s.back();
  return out;
}

/// The steps of `f` on a result of `result`'s dims; the first joined operand is `first_input`.
/// `fixed`: the result is in memory as ONNX stores it, so that operands of its dims can be joined
/// by binary post-operations.
template <class Base>
std::optional<post_chain> chain_of(const op::fused<Base>& f, const request& r,
                                   const description& result, int first_input, bool fixed,
                                   bool in_place) {
  post_chain out;
  int input = first_input;
  for (const op::step& s : f.steps) {
    if (!s.joins) {
      if (!append_function(s.function, out.operations)) return std::nullopt;
      continue;
    }
    const shape operand = f.operand_of(s);
    const bool whole = operand == f.output();
    if (in_place && whole && s.join == op::binary_function::add && !out.in_place) {
      out.in_place = true;
      out.operations.append_sum(1.0f);
      out.arguments.push_back(
          {.id = DNNL_ARG_DST, .input = input++, .stored = result, .flows = true});
      continue;
    }
    const auto kind = binary_of(s.join);
    const auto sizes = joined_dims(operand, f.output(), anatomy(result).sizes);
    if (!kind || !sizes || (whole && !fixed)) return std::nullopt;
    const description d = dense(*sizes, r.types.source);
    out.arguments.push_back(
        {.id = DNNL_ARG_ATTR_MULTIPLE_POST_OP(out.operations.len()) | DNNL_ARG_SRC_1,
         .input = input++,
         .stored = d,
         .flows = true});
    out.operations.append_binary(kind->how, d);
  }
  return out;
}

/// Operands that the base itself has.
inline int operand_count(const op::conv& p) {
  return p.bias ? 3 : 2;
}
inline int operand_count(const op::conv_transpose& p) {
  return p.bias ? 3 : 2;
}
inline int operand_count(const op::gemm& p) {
  return p.c.empty() ? 2 : 3;
}
inline int operand_count(const op::matmul&) {
  return 2;
}
inline int operand_count(const op::batch_norm&) {
  return 5;
}
inline int operand_count(const op::unary&) {
  return 1;
}
inline int operand_count(const op::binary& p) {
  return static_cast<int>(p.operands);
}

/// True where the base's result is in memory as ONNX stores it.
template <class Base>
inline constexpr bool fixed_result =
    !std::is_same_v<Base, op::conv> && !std::is_same_v<Base, op::conv_transpose> &&
    !std::is_same_v<Base, op::batch_norm>;
} // namespace detail

template <class Base>
void describe(const op::fused<Base>& f, const request& r, recipes& out) {
  // Behind a function of one operand, post-operations are done by a reference loop alone, wrongly.
  if constexpr (std::is_same_v<Base, op::unary>) return;
  recipes bases;
  describe(f.base, r, bases);
  if (bases.empty()) return;
  for (const bool in_place : {true, false}) {
    const auto chain = detail::chain_of(f, r, bases.front().result, detail::operand_count(f.base),
                                        detail::fixed_result<Base>, in_place);
    if (!chain || chain->in_place != in_place) continue;
    request with_steps = r;
    with_steps.after = chain->operations;
    recipes made;
    describe(f.base, with_steps, made);
    for (recipe& m : made) {
      if (!chain->arguments.empty() && m.result != bases.front().result)
        continue; // the operands would not fit
      const bool whole = std::all_of(f.steps.begin(), f.steps.end(), [&](const op::step& s) {
        return !s.joins || f.operand_of(s) == f.output();
      });
      m.flat = m.flat && whole;
      for (const argument& a : chain->arguments)
        m.arguments.push_back(a);
      if (in_place) m.after += "+sum";
      out.push_back(std::move(m));
    }
  }
}

} // namespace benanza::backend::onednn
