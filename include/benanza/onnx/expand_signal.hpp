// SPDX-License-Identifier: Apache-2.0
// Operators on signals and images that are small graphs: STFT-17 (frames, a window, a transform),
// CenterCropPad-18 (Slice, Pad).
//
//   expand_stft(p)   // Gather, Mul, DFT
#pragma once

#include "pieces.hpp"

namespace benanza::onnx {

/// Operands: signal, step, window, length of a frame. Frames are named by the places of their
/// samples, which are constants.
inline void expand_stft(pieces& p) {
  const call& c = p.of;
  shape x = c.dims(0);
  const auto only = [&](int i) {
    const std::vector<std::int64_t>& v = c.whole_numbers(i);
    if (v.size() != 1 || v[0] < 1 || v[0] > dim_limit)
      throw error("its input " + std::to_string(i) + " is not one size");
    return v[0];
  };
  if (x.size != 2 && x.size != 3) throw error("its signal " + text(x) + " is not batch x length");
  pieces::name signal = p.in(0);
  if (x.size == 2) {
    x.push(1);
    signal = p.reshaped(signal, x);
  }
  const std::int64_t step = only(1);
  const std::int64_t frame = c.has(3) ? only(3) : c.has(2) ? c.dims(2).at[0] : x[1];
  if (c.has(2) && !(c.dims(2) == shape{frame}))
    throw error("its window is " + text(c.dims(2)) + ", not " + std::to_string(frame));
  if (frame < 1 || frame > x[1])
    throw error("its frames of " + std::to_string(frame) + " do not fit into " + text(x));
  const std::int64_t frames = (x[1] - frame) / step + 1;
  const auto range = [&](std::int64_t end, std::int64_t by) {
    return p("Range", {p.scalar(0), p.scalar(end), p.scalar(by)});
  };
  const pieces::name starts = p.reshaped(range(frames * step, step), {frames, 1});
  const pieces::name places = p("Add", {starts, range(frame, 1)});
  pieces::name cut = p("Gather", {signal, places}, {{"axis", 1}});
  if (c.has(2)) cut = p("Mul", {cut, p.reshaped(p.in(2), {frame, 1})});
  p.give(0, p("DFT", {cut, p.scalar(frame), p.scalar(2)},
              {{"onesided", c.integer("onesided", x[2] == 1 ? 1 : 0) != 0 ? 1 : 0}}));
}

/// Odd differences leave one element more behind than before.
inline void expand_center_crop_pad(pieces& p) {
  const call& c = p.of;
  const shape& x = c.dims(0);
  const std::vector<std::int64_t>& wanted = c.whole_numbers(1);
  std::vector<int> axes;
  for (std::int64_t a : c.integers("axes"))
    axes.push_back(call::axis(a, x.size));
  for (int i = 0; !c.has_attribute("axes") && i < x.size; ++i)
    axes.push_back(i);
  if (wanted.size() != axes.size()) throw error("its shape does not match its axes");
  const auto n = static_cast<std::size_t>(x.size);
  pieces::whole_numbers starts, ends, cut, pads(2 * n, 0);
  bool fills = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const std::int64_t have = x[axes[i]], want = wanted[i];
    if (want < 0 || want > dim_limit) throw error("its shape holds a dim out of range");
    if (want < have) {
      starts.push_back((have - want) / 2);
      ends.push_back((have - want) / 2 + want);
      cut.push_back(axes[i]);
    } else if (want > have) {
      const auto at = static_cast<std::size_t>(axes[i]);
      pads[at] = (want - have) / 2;
      pads[at + n] = want - have - pads[at];
      fills = true;
    }
  }
  pieces::name y = p.in(0);
  if (!cut.empty()) y = p("Slice", {y, p.whole(starts), p.whole(ends), p.whole(cut)});
  if (fills) y = p("Pad", {y, p.whole(pads)});
  p.give(0, cut.empty() && !fills ? p("Identity", {y}) : y);
}

} // namespace benanza::onnx
