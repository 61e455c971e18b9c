// SPDX-License-Identifier: Apache-2.0
// ONNX Runtime's products of codes with real results: DynamicQuantizeMatMul quantises its first
// operand as it comes, QAttention is its Attention (expand_attention.hpp) on codes.
//
//   expand_dynamic_quantize_matmul(p)   // DynamicQuantizeLinear, MatMulInteger, Cast, Mul, Mul
#pragma once

#include "pieces.hpp"

namespace benanza::onnx {

/// Inputs: a real matrix, codes, their scale, their zero point, and a bias.
inline void expand_dynamic_quantize_matmul(pieces& p) {
  const auto codes = p.several("DynamicQuantizeLinear", {p.in(0)}, 3);
  const pieces::name sums = p("MatMulInteger", {codes[0], p.in(1), codes[2], p.in(3)});
  const pieces::name reals = p("Cast", {sums}, {{"to", std::int64_t{proto::FLOAT}}});
  const pieces::name scale = p("Mul", {codes[1], p.in(2)});
  p.give(0, p.plus(p("Mul", {reals, scale}), p.in(4)));
}

} // namespace benanza::onnx
