// SPDX-License-Identifier: Apache-2.0
// A convolution that goes on from step to step: CausalConvWithState-27, one kernel for each channel
// over past and present, of which the last places are kept for the next step. Without a past there
// are zeros before.
//
//   expand_causal_conv(p)   // Concat, Conv/1x64x7-64x4-g64, Slice
#pragma once

#include "expand_attention.hpp"

namespace benanza::onnx {

inline void expand_causal_conv(pieces& p) {
  const call& c = p.of;
  const shape &x = c.dims(0), &w = c.dims(1);
  if (x.size != 3 || w.size != 3 || w[0] != x[1] || w[1] != 1 || w[2] < 1)
    throw error("its weights " + text(w) + " do not fit its input " + text(x));
  const std::int64_t kept = w[2] - 1;
  if (c.has(3) && !(c.dims(3) == shape{x[0], x[1], kept}))
    throw error("its past " + text(c.dims(3)) + " does not fit");
  const std::string_view activation = c.word("activation", "none");
  if (activation != "none" && activation != "silu" && activation != "swish")
    throw error("its activation is " + detail::in_quotes(activation) +
                ", neither none, silu nor swish");
  const bool past = c.has(3) && kept > 0;
  const pieces::name all = past ? p("Concat", {p.in(3), p.in(0)}, {{"axis", 2}}) : p.in(0);
  const pieces::name sums =
      p("Conv", {all, p.in(1), p.in(2)},
        {{"group", x[1]}, {"pads", pieces::whole_numbers{past ? 0 : kept, 0}}});
  p.give(0, activation == "none" ? sums : p("Swish", {sums}));
  if (!detail::asked(c, 1)) return;
  const std::int64_t length = x[2] + (past ? kept : 0);
  p.give(1, length >= kept ? p.part(all, 2, length - kept, length)
                           : p("Pad", {all, p.whole({0, 0, kept - length, 0, 0, 0})}));
}

} // namespace benanza::onnx
