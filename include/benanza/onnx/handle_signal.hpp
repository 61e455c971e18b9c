// SPDX-License-Identifier: Apache-2.0
// Signals: ONNX DFT-17..20 and Det-11..22, and what says its elements itself: HannWindow-17,
// HammingWindow-17, BlackmanWindow-17, MelWeightMatrix-17.
//
//   handle_dft(call)   // DFT/8x512x1-a1-n512-one
#pragma once

#include "handle_constant.hpp"

#include <numbers>

namespace benanza::onnx {

/// The axis is an attribute up to opset 19, then an input, which counts the parts of a number too.
inline answer handle_dft(const call& c) {
  const shape& x = c.dims(0);
  if (x.size < 2) throw error("its input " + text(x) + " has no signal");
  op::dft p{.input = x};
  std::int64_t axis = c.opset() < 20 ? c.integer("axis", 1) : -2;
  if (c.opset() >= 20 && c.has(2)) {
    if (c.whole_numbers(2).size() != 1) throw error("its axis is not one number");
    axis = c.whole_numbers(2)[0];
  }
  p.axis = call::axis(axis, x.size);
  p.inverse = c.integer("inverse", 0) != 0;
  p.onesided = c.integer("onesided", 0) != 0;
  p.length = x[p.axis];
  if (p.real_result()) p.length = 2 * (x[p.axis] - 1);
  if (c.has(1)) {
    if (c.whole_numbers(1).size() != 1) throw error("its length is not one number");
    p.length = c.whole_numbers(1)[0];
  }
  p.validate();
  return of_layer(c, p, p.output());
}

inline answer handle_det(const call& c) {
  const op::det p{.input = c.dims(0)};
  p.validate();
  return of_layer(c, p, p.output());
}

namespace detail {
/// A number that a constant operand holds, for what is a constant itself.
inline std::int64_t size_in(const call& c, int i) {
  const std::vector<std::int64_t>& v = c.whole_numbers(i);
  if (v.size() != 1 || v[0] < 0 || v[0] > dim_limit)
    throw error("its input " + std::to_string(i) + " is not one size");
  return v[0];
}
} // namespace detail

/// Cosines of a window of so many numbers; periodic ones are a period, others end as they begin.
inline answer handle_window(const call& c) {
  const std::int64_t size = detail::size_in(c, 0);
  answer a;
  a.outputs.push_back({static_cast<int>(c.integer("output_datatype", proto::FLOAT)), shape{size}});
  if (size > most_elements) return a;
  const bool periodic = c.integer("periodic", 1) != 0;
  const auto turn = 2 * std::numbers::pi / static_cast<double>(periodic ? size : size - 1);
  elements_of e{.real = true};
  for (std::int64_t i = 0; i < size; ++i) {
    const double angle = size == 1 ? 0 : turn * static_cast<double>(i), x = std::cos(angle);
    e.reals.push_back(c.op() == "HannWindow"      ? 0.5 - 0.5 * x
                      : c.op() == "HammingWindow" ? 25. / 46 - 21. / 46 * x
                                                  : 0.42 - 0.5 * x + 0.08 * std::cos(2 * angle));
  }
  a.elements = std::move(e);
  return a;
}

/// Triangles over the frequencies of a transform, evenly spaced as ears hear them.
inline answer handle_mel_weights(const call& c) {
  const std::int64_t bins = detail::size_in(c, 0), length = detail::size_in(c, 1);
  const auto rate = static_cast<double>(detail::size_in(c, 2));
  const std::int64_t rows = length / 2 + 1;
  answer a;
  a.outputs.push_back(
      {static_cast<int>(c.integer("output_datatype", proto::FLOAT)), shape{rows, bins}});
  if (checked_multiply(rows, bins) > most_elements) return a;
  const auto edge = [&](int i) {
    const std::vector<double> v = c.numbers(i);
    if (v.size() != 1 || !(v[0] >= 0)) throw error("its edges are not two frequencies");
    return 2595 * std::log10(1 + v[0] / 700);
  };
  const double low = edge(3), step = (edge(4) - low) / static_cast<double>(bins + 2);
  std::vector<std::int64_t> at;
  for (std::int64_t i = 0; i < bins + 2; ++i) {
    const double hertz = 700 * (std::pow(10, (low + step * static_cast<double>(i)) / 2595) - 1);
    const double row = std::floor(static_cast<double>(length + 1) * hertz / rate);
    if (!(row >= 0 && row < static_cast<double>(rows)))
      throw error("its frequencies lie outside its transform");
    at.push_back(static_cast<std::int64_t>(row));
  }
  std::vector<double> w(static_cast<std::size_t>(rows * bins));
  for (std::size_t i = 0; i + 2 < at.size(); ++i) {
    const auto put = [&](std::int64_t row, double v) {
      w[static_cast<std::size_t>(row * bins) + i] = v;
    };
    const auto rise = static_cast<double>(at[i + 1] - at[i]);
    const auto fall = static_cast<double>(at[i + 2] - at[i + 1]);
    if (rise == 0) put(at[i + 1], 1);
    for (std::int64_t r = at[i]; rise > 0 && r <= at[i + 1]; ++r)
      put(r, static_cast<double>(r - at[i]) / rise);
    for (std::int64_t r = at[i + 1]; fall > 0 && r < at[i + 2]; ++r)
      put(r, static_cast<double>(at[i + 2] - r) / fall);
  }
  a.elements = elements_of{.real = true, .reals = std::move(w)};
  return a;
}

} // namespace benanza::onnx
