// SPDX-License-Identifier: Apache-2.0
// Normalizations for oneDNN at inference: batch normalization with given statistics, scale and
// shift, and LRN across channels, in the arrangements of activations that a network may have.
//
//   describe(op::batch_norm{.input = {1, 64, 56, 56}}, request, out);
#pragma once

#include "pool.hpp"

#include "../../op/norm.hpp"

namespace benanza::backend::onednn {

namespace detail {
/// Dims for which the library has kernels: one spatial dim, or more than three, become a row.
inline dims image(const shape& s) {
  if (s.size == 2 || s.size == 4 || s.size == 5) return to_dims(s);
  return {s[0], s[1], 1, elements(s, 2, s.size)};
}
} // namespace detail

inline void describe(const op::batch_norm& b, const request& r, recipes& out) {
  const dims source = detail::image(b.input);
  const description channel = dense({b.input[1]}, data_type::f32);
  const double factor = r.scaled() ? r.output_scale : 1;
  describe_arrangements(source, r, out, [&](arrangement in) {
    recipe made{.result = dense(source, r.types.result), .scales = true};
    made.arguments = {
        {.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source)},
        {.id = DNNL_ARG_SCALE, .input = 1, .stored = channel, .constant = true, .factor = factor},
        {.id = DNNL_ARG_SHIFT, .input = 2, .stored = channel, .constant = true, .factor = factor},
        {.id = DNNL_ARG_MEAN, .input = 3, .stored = channel, .constant = true},
        {.id = DNNL_ARG_VARIANCE, .input = 4, .stored = channel, .constant = true}};
    made.what = operation::batch_normalization(arranged(source, r.types.source, in),
                                               static_cast<float>(attribute::epsilon), true,
                                               r.attributes());
    return made;
  });
}

inline void describe(const op::lrn& l, const request& r, recipes& out) {
  // The library's window is symmetric: ONNX's even ones are not.
  if (l.size % 2 == 0) return;
  const dims source = detail::image(l.input);
  describe_arrangements(source, r, out, [&](arrangement in) {
    recipe made{.result = dense(source, r.types.result)};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source)}};
    made.what = operation::lrn(arranged(source, r.types.source, in), l.size,
                               static_cast<float>(attribute::lrn_alpha),
                               static_cast<float>(attribute::lrn_beta),
                               static_cast<float>(attribute::lrn_bias), r.attributes());
    return made;
  });
}

} // namespace benanza::backend::onednn
