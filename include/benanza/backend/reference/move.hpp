// SPDX-License-Identifier: Apache-2.0
// One output of a layer that moves data: which element of which operand it is (ONNX Concat, Split,
// Transpose, Pad, Slice, Gather, DepthToSpace, SpaceToDepth). Split's outputs follow each other.
//
//   value(transpose{.input = {2, 3}, .order = {1, 0}}, operands, 1)
#pragma once

#include "position.hpp"

#include <algorithm>

namespace benanza::backend::reference {

inline double value(const op::concat& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.whole, flat);
  for (std::int64_t part = 0;; ++part) {
    const shape& dims = o.inputs[static_cast<std::size_t>(part)].dims;
    if (place[p.axis] < dims[p.axis])
      return element(o, static_cast<std::size_t>(part), index_of(dims, place));
    place[p.axis] -= dims[p.axis];
  }
}

inline double value(const op::split& p, const operands& o, std::int64_t flat) {
  std::int64_t first = 0;
  for (std::int64_t part = 0;; ++part) {
    shape dims = op::part_of(p.whole, p.axis, p.parts, part);
    if (!o.parts.empty()) dims[p.axis] = o.parts[static_cast<std::size_t>(part)];
    if (flat < elements(dims)) {
      shape place = place_of(dims, flat);
      place[p.axis] += first;
      return element(o, 0, index_of(p.whole, place));
    }
    flat -= elements(dims);
    first += dims[p.axis];
  }
}

inline double value(const op::transpose& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  shape from = place;
  for (int i = 0; i < p.order.size; ++i)
    from[static_cast<int>(p.order[i])] = place[i];
  return element(o, 0, index_of(p.input, from));
}

/// The position that Pad takes for position `i` relative to what it keeps; -1: its constant.
inline std::int64_t padded_from(op::pad_mode mode, std::int64_t i, std::int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
  case op::pad_mode::constant: return -1;
  case op::pad_mode::edge: return std::clamp<std::int64_t>(i, 0, size - 1);
  case op::pad_mode::wrap: return ((i % size) + size) % size;
  case op::pad_mode::reflect: {
    if (size == 1) return 0;
    const std::int64_t period = 2 * (size - 1), at = ((i % period) + period) % period;
    return at < size ? at : period - at;
  }
  }
  return -1;
}

/// Negative pads cut elements off first; what is left is then filled around.
inline double value(const op::pad& p, const operands& o, std::int64_t flat) {
  const shape kept = p.kept();
  shape place = place_of(p.output(), flat);
  for (int i = 0; i < place.size; ++i) {
    const std::int64_t cut = std::max<std::int64_t>(-p.begins[i], 0);
    const std::int64_t at = place[i] - std::max<std::int64_t>(p.begins[i], 0);
    const std::int64_t from = kept[i] == 0 ? -1 : padded_from(p.mode, at, kept[i]);
    if (from < 0) return o.attributes.pad_constant;
    place[i] = from + cut;
  }
  return element(o, 0, index_of(p.input, place));
}

inline double value(const op::slice& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.sizes, flat);
  for (int i = 0; i < place.size; ++i)
    place[i] = p.start(i) + place[i] * p.step(i);
  return element(o, 0, index_of(p.input, place));
}

inline double value(const op::gather& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  shape where, from;
  for (int i = 0; i < p.indices.size; ++i)
    where.push(place[p.axis + i]);
  auto taken = static_cast<std::int64_t>(element(o, 1, index_of(p.indices, where)));
  if (taken < 0) taken += p.data[p.axis];
  for (int i = 0; i < p.data.size; ++i)
    from.push(i < p.axis ? place[i] : i == p.axis ? taken : place[i + p.indices.size - 1]);
  return element(o, 0, index_of(p.data, from));
}

inline double value(const op::depth_to_space& p, const operands& o, std::int64_t flat) {
  const shape out = p.output(), place = place_of(out, flat);
  const std::int64_t b = p.block;
  // Small and large: the tensors of few and of many channels.
  const std::int64_t small = p.inverse ? p.input[1] : out[1];
  const auto folded = [&](std::int64_t c, std::int64_t row, std::int64_t column) {
    return p.column_row_depth ? (c * b + row) * b + column : (row * b + column) * small + c;
  };
  if (!p.inverse)
    return element(o, 0,
                   index_of(p.input, {place[0], folded(place[1], place[2] % b, place[3] % b),
                                      place[2] / b, place[3] / b}));
  const std::int64_t c = p.column_row_depth ? place[1] / (b * b) : place[1] % small;
  const std::int64_t inner = p.column_row_depth ? place[1] % (b * b) : place[1] / small;
  return element(
      o, 0, index_of(p.input, {place[0], c, place[2] * b + inner / b, place[3] * b + inner % b}));
}

inline double value(const op::view& p, const operands& o, std::int64_t flat) {
  if (p.casts()) return load(p.to, o.inputs[0].bytes.data(), flat); // of the same width
  return element(o, 0, flat);
}

} // namespace benanza::backend::reference
