// SPDX-License-Identifier: Apache-2.0
// Which layers can take up in their weights and bias what a normalization behind them does? Those
// that multiply with constants and add a row; a normalization itself can take up another one.
//
//   with_folded(op::parse("Conv/1x16x8x8-32x1x1-s1"))   // Conv/1x16x8x8-32x1x1-s1-b
#pragma once

#include "../op/kinds.hpp"

#include <optional>

namespace benanza::model::detail {

/// True where each of the channels (or columns) of `l` has one value in an operand of dims `s`.
inline bool is_row_of(const shape& s, const shape& result, int channel_axis) {
  if (elements(s) != result[channel_axis]) return false;
  const int at = channel_axis - (result.size - s.size);
  return at >= 0 && s[at] == result[channel_axis];
}

/// `l` with a bias that it did not have.
inline std::optional<op::layer> with_bias(const op::layer& l) {
  if (const auto* p = op::as<op::conv>(l); p != nullptr && !p->bias) {
    op::conv out = *p;
    out.bias = true;
    return op::layer(out);
  }
  if (const auto* p = op::as<op::conv_transpose>(l); p != nullptr && !p->bias) {
    op::conv_transpose out = *p;
    out.bias = true;
    return op::layer(out);
  }
  if (const auto* p = op::as<op::gemm>(l); p != nullptr && p->c.empty() && p->constant_b) {
    op::gemm out = *p;
    out.c = {1, out.n};
    return op::layer(out);
  }
  return std::nullopt;
}

/// True for layers whose weights and bias can take up what is multiplied with each channel (or
/// column) of their result.
inline bool scales_by_weights(const op::layer& l) {
  if (const auto* p = op::as<op::gemm>(l))
    return p->constant_b && (p->c.empty() || p->c == shape{1, p->n});
  return op::is<op::conv, op::conv_transpose, op::batch_norm>(l);
}

/// `l` with its weights and bias changed, so that it does what a normalization or a constant row
/// behind it did; nothing if it has none that could be changed.
inline std::optional<op::layer> with_folded(const op::layer& l) {
  if (const auto* p = op::as<op::conv>(l); p != nullptr && p->bias) return l;
  if (const auto* p = op::as<op::conv_transpose>(l); p != nullptr && p->bias) return l;
  if (const auto* p = op::as<op::gemm>(l); p != nullptr && p->constant_b && p->c == shape{1, p->n})
    return l;
  if (op::is<op::batch_norm>(l)) return l;
  return with_bias(l);
}

} // namespace benanza::model::detail
