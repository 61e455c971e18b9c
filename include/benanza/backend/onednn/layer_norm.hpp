// SPDX-License-Identifier: Apache-2.0
// Layer normalization for oneDNN: the dims before the axis are one, and so are those from it on.
// The library computes the statistics and takes no quantised types. It has no RMS normalization.
//
//   describe(op::layer_norm{.input = {1, 197, 768}, .axis = 2, .bias = true}, request, out);
#pragma once

#include "recipe.hpp"

#include "../../op/layer_norm.hpp"

namespace benanza::backend::onednn {

inline void describe(const op::layer_norm& p, const request& r, recipes& out) {
  if (!r.floating()) return;
  const dims sizes{elements(p.input, 0, p.axis), p.row()};
  const description source = dense(sizes, r.types.source), row = dense({p.row()}, data_type::f32);
  recipe made{.result = dense(sizes, r.types.result), .letters = "ab"};
  made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = source, .letters = "ab"},
                    {.id = DNNL_ARG_SCALE, .input = 1, .stored = row, .constant = true}};
  if (p.bias)
    made.arguments.push_back({.id = DNNL_ARG_SHIFT, .input = 2, .stored = row, .constant = true});
  made.what = operation::layer_normalization(source, static_cast<float>(attribute::epsilon), p.bias,
                                             r.attributes());
  out.push_back(std::move(made));
}

} // namespace benanza::backend::onednn
