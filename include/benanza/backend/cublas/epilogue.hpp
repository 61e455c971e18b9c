// SPDX-License-Identifier: Apache-2.0
// Which steps of a fused layer are an epilogue of cublasLt? Additions of a vector and of a matrix
// of the result's dims, then Relu, or Gelu by tanh (FastGelu); the other Gelu only where the two
// cannot be distinguished. So SwiGLU (Swish, and a product with another result) is none.
//
//   if (!add_steps(task, steps, 2, channels, layer, numeric::f16)) ...   // there is no way
#pragma once

#include "../../op/kinds.hpp"
#include "../tolerance.hpp"
#include "task.hpp"

namespace benanza::backend::cublas {

/// How far cublasLt's Gelu, x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, is from ONNX's with
/// the error function, at most.
inline constexpr double gelu_difference = 4.8e-4;

namespace detail {
/// True for a step that is an epilogue somewhere.
inline bool may_be_epilogue(const op::step& s) {
  using enum op::unary_function;
  return s.joins ? s.join == op::binary_function::add
                 : s.function == relu || s.function == gelu || s.function == fast_gelu;
}

/// True if `operand` is one number for each index of the result's dim `channels`, and of no other.
inline bool is_vector(const shape& operand, const shape& result, int channels) {
  if (operand.size > result.size) return false;
  const shape full = expanded(operand, result.size);
  return full[channels] == result[channels] && elements(full) == full[channels];
}

/// True where the library's Gelu is ONNX's within the tolerance of this class.
inline bool gelu_is_exact_enough(const op::layer& l, numeric t) {
  return !quantised(t) && tolerance_of(l, t).absolute >= gelu_difference;
}

/// Makes steps part of a task; false where cublasLt has no way. `channels` is the dim of the result
/// that is the products' columns; -1: none is.
inline bool add_steps(task& to, const op::step_list& steps, int input, int channels,
                      const op::layer& whole, numeric t) {
  for (const op::step& s : steps) {
    if (to.function || !may_be_epilogue(s)) return false;
    if (!s.joins) {
      using enum op::unary_function;
      if (s.function == gelu && !gelu_is_exact_enough(whole, t)) return false;
      if (s.function == fast_gelu && quantised(t)) return false;
      to.function = s.function;
      continue;
    }
    const shape operand = s.operand.empty() ? to.result.dims : s.operand;
    const bool plain = !to.operand_layouts.starts_with(name(layout::channels_last));
    if (channels >= 0 && !to.bias && is_vector(operand, to.result.dims, channels)) {
      to.bias = {input, dense(operand, packed(operand), bias_type(t))};
      to.operand_layouts.append(",").append(name(layout::plain));
    } else if (!to.addend && operand == to.result.dims && addend_type(t) == source_of(t)) {
      to.addend = {input, to.result};
      to.operand_layouts.append(",").append(name(plain ? layout::plain : layout::channels_last));
    } else {
      return false;
    }
    ++input;
  }
  return true;
}
} // namespace detail

/// The step of a fused product that is never an epilogue; empty: there is none.
inline std::string_view step_without_epilogue(const op::layer& l) {
  return op::visit(
      [](const auto& p) -> std::string_view {
        using kind = std::decay_t<decltype(p)>;
        if constexpr (std::is_same_v<kind, op::fused<op::gemm>> ||
                      std::is_same_v<kind, op::fused<op::matmul>>)
          for (const op::step& s : p.steps)
            if (!detail::may_be_epilogue(s)) return s.family();
        return {};
      },
      l);
}

} // namespace benanza::backend::cublas
