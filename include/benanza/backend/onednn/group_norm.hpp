// SPDX-License-Identifier: Apache-2.0
// Group and instance normalization for oneDNN: its own primitive from 3.3 on. Before that, the
// instance normalization of one image is a batch normalization which computes its own statistics,
// and for the others there is nothing.
//
//   describe(op::instance_norm{.input = {1, 32, 224, 224}}, request, out);
#pragma once

#include "norm.hpp"

#include "../../op/group_norm.hpp"

namespace benanza::backend::onednn {

namespace detail {
/// A normalization with a scale and a shift for each channel; `make` gives the operation on data of
/// that description.
template <class Make>
void describe_channel_norm(const shape& input, const request& r, recipes& out, std::string before,
                           Make make) {
  if (!r.floating()) return;
  const dims source = image(input);
  const description channel = dense({input[1]}, data_type::f32);
  describe_arrangements(source, r, out, [&](arrangement in) {
    recipe made{.result = dense(source, r.types.result), .before = before};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source)},
                      {.id = DNNL_ARG_SCALE, .input = 1, .stored = channel, .constant = true},
                      {.id = DNNL_ARG_SHIFT, .input = 2, .stored = channel, .constant = true}};
    made.what = make(arranged(source, r.types.source, in));
    return made;
  });
}
} // namespace detail

inline void describe(const op::group_norm& p, const request& r, recipes& out) {
  detail::describe_channel_norm(p.input, r, out, "", [&](const description& data) {
    return operation::group_normalization(data, p.groups, static_cast<float>(attribute::epsilon),
                                          r.attributes());
  });
}

inline void describe(const op::instance_norm& p, const request& r, recipes& out) {
  const auto epsilon = static_cast<float>(attribute::epsilon);
  if (p.input[0] == 1)
    detail::describe_channel_norm(p.input, r, out, "", [&](const description& data) {
      return operation::batch_normalization(data, epsilon, false, r.attributes());
    });
  detail::describe_channel_norm(p.input, r, out, "group:", [&](const description& data) {
    return operation::group_normalization(data, p.input[1], epsilon, r.attributes());
  });
}

} // namespace benanza::backend::onednn
