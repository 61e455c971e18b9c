// SPDX-License-Identifier: Apache-2.0
// Pooling for oneDNN: maximum and average, also global, one to three spatial dims, in ONNX's
// layout, channels last (`@nhwc`) and in blocks of channels (`@nChw16c`). An average that counts
// padding and whose last window hangs over it (ceil) has another divisor here than in ONNX: it is
// not offered. A global average is a product with ones too.
//
//   describe(op::pool{...}, request, out);
#pragma once

#include "conv.hpp"
#include "ones.hpp"

#include "../../op/pool.hpp"

namespace benanza::backend::onednn {

/// Adds one recipe for each arrangement of an activation; `make(arrangement)` builds it.
template <class Make>
void describe_arrangements(const dims& sizes, const request& r, recipes& out, Make make) {
  for (const arrangement how : arrangements(sizes, r.floating())) {
    recipe made = make(how);
    made.letters = activation_letters(sizes.size());
    for (argument& a : made.arguments)
      if (a.id == DNNL_ARG_SRC) a.letters = made.letters;
    if (how != arrangement::plain)
      made.after = '@' + layout_name(arranged(sizes, r.types.source, how), made.letters);
    out.push_back(std::move(made));
  }
}

namespace detail {
/// Pooling along one dim as pooling of an image of one line: more implementations know it.
inline op::pool as_image(const op::pool& p) {
  op::pool q = p;
  q.input = {p.input[0], p.input[1], 1, p.input[2]};
  q.kernel = {1, p.kernel[0]};
  q.strides = {1, op::entry(p.strides, 0, 1)};
  q.dilations = {1, op::entry(p.dilations, 0, 1)};
  q.pads = {0, op::entry(p.pads, 0, 0), 0, op::entry(p.pads, 1, 0)};
  return q;
}
} // namespace detail

inline void describe(const op::pool& p, const request& from, recipes& out) {
  if (p.norm()) return;
  request r = from;
  if (p.element != dtype::real) { // codes in and out, whatever the case's class
    r.type = p.element == dtype::u8 ? numeric::u8s8u8 : numeric::s8s8s8;
    r.types.source = r.types.result = *storage(p.element);
  }
  op::pool q = p;
  if (q.global()) {
    if (p.input.size > 5) return;
    for (int i = 2; i < p.input.size; ++i)
      q.kernel.push(p.input[i]);
    q.strides = q.dilations = {};
    q.pads = {};
  }
  if (q.input.size == 3) q = detail::as_image(q);
  window w = detail::window_of(q);
  shape result = p.output();
  if (result.size == 3) result = {result[0], result[1], 1, result[2]};
  bool overhang = false;
  for (int i = 0; i < q.kernel.size; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t span = op::window_span(q.kernel[i], op::entry(q.dilations, i, 1));
    const std::int64_t needed =
        (result[i + 2] - 1) * w.strides[at] + span - q.input[i + 2] - w.pads_begin[at];
    if (needed > w.pads_end[at]) {
      overhang = true;
      w.pads_end[at] = needed;
    }
  }
  if (overhang && q.include_pad && !p.maximum()) return;
  const auto how = p.maximum()     ? dnnl::algorithm::pooling_max
                   : q.include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                   : dnnl::algorithm::pooling_avg_exclude_padding;
  const dims source = to_dims(q.input);
  describe_arrangements(source, r, out, [&](arrangement in) {
    recipe made{.result = dense(to_dims(result), r.types.result)};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = dense(source, r.types.source)}};
    made.what =
        operation::pooling(how, arranged(source, r.types.source, in),
                           arranged(to_dims(result), r.types.result, in), w, r.attributes());
    return made;
  });
  if (const auto sums = row_sums_of(p)) describe_ones(*sums, r, out);
}

} // namespace benanza::backend::onednn
