// SPDX-License-Identifier: Apache-2.0
// Instance normalization for oneDNN: that of one image is a batch normalization which computes its
// own statistics. For several images, and for groups of channels, the library has nothing.
//
//   describe(op::instance_norm{.input = {1, 32, 224, 224}}, request, out);
#pragma once

#include "norm.hpp"

#include "../../op/group_norm.hpp"

namespace benanza::backend::onednn {

inline void describe(const op::instance_norm& p, const request& r, recipes& out) {
  if (!r.floating() || p.input[0] != 1) return;
  const dims source = detail::image(p.input);
  const description channel = dense({p.input[1]}, data_type::f32);
  describe_arrangements(source, r, out, [&](arrangement in) {
    recipe made{.result = dense(source, r.types.result)};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source)},
                      {.id = DNNL_ARG_SCALE, .input = 1, .stored = channel, .constant = true},
                      {.id = DNNL_ARG_SHIFT, .input = 2, .stored = channel, .constant = true}};
    made.what = operation::batch_normalization(arranged(source, r.types.source, in),
                                               static_cast<float>(attribute::epsilon), false,
                                               r.attributes());
    return made;
  });
}

} // namespace benanza::backend::onednn
