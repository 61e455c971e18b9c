// SPDX-License-Identifier: Apache-2.0
// Softmax and LogSoftmax for oneDNN. The dims before and behind the axis become one each. Where the
// axis is not the last dim there is a second form, `@axis-last`, for a network that keeps the
// axis innermost in memory, as channels-last activations do.
//
//   describe(op::softmax{.input = {1, 1000}, .axis = 1}, request, out);
#pragma once

#include "recipe.hpp"

#include "../../op/softmax.hpp"

namespace benanza::backend::onednn {

inline void describe(const op::softmax& s, const request& r, recipes& out) {
  const std::int64_t outer = elements(s.input, 0, s.axis), axis = s.input[s.axis],
                     inner = elements(s.input, s.axis + 1, s.input.size);
  const auto offer = [&](const description& stored, const description& computed,
                         const description& result, int at, std::string letters,
                         std::string after) {
    recipe made{.result = result, .letters = letters, .after = std::move(after), .scales = true};
    made.arguments = {
        {.id = DNNL_ARG_SRC, .input = 0, .stored = stored, .letters = std::move(letters)}};
    const dims sizes = anatomy(computed).sizes;
    dnnl::primitive_attr attributes = r.attributes();
    if (r.scaled())
      version::scale_result(attributes, static_cast<float>(r.output_scale), made.given);
    made.what = operation::softmax(s.log, computed, dense(sizes, r.types.result), at, attributes);
    out.push_back(std::move(made));
  };
  if (inner == 1) {
    const dims sizes{outer, axis};
    return offer(dense(sizes, r.types.source), dense(sizes, r.types.source),
                 dense(sizes, r.types.result), 1, "ab", "");
  }
  const dims sizes{outer, axis, inner};
  offer(dense(sizes, r.types.source), dense(sizes, r.types.source), dense(sizes, r.types.result), 1,
        "abc", "");
  const dims turned{outer, inner, axis}, strides{axis * inner, 1, inner};
  offer({turned, r.types.source, strides}, dense(turned, r.types.source),
        {turned, r.types.result, strides}, 2, "acb", "@axis-last");
}

} // namespace benanza::backend::onednn
