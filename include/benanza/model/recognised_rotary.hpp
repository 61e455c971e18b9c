// SPDX-License-Identifier: Apache-2.0
// When is a product with cosines and a product with sines a rotary embedding? The second is of the
// same numbers in another order, one half of them negative: each is followed back to where it comes
// from, in the first, the second and the last row of a head.
//
//   as_rotary(found)   // RotaryEmbedding/1x32x128x64-wide
#pragma once

#include "../op/kinds.hpp"
#include "match.hpp"

namespace benanza::model::detail {

/// An element of a value, and whether it was made negative.
struct origin {
  std::int64_t flat;
  bool negative = false;
};

/// The element of the input that a Slice takes as its `flat`th.
inline std::int64_t before(const op::slice& s, std::int64_t flat) {
  std::int64_t from = 0, stride = 1;
  for (int i = s.input.size; i-- > 0;) {
    from += (s.start(i) + flat % s.sizes[i] * s.step(i)) * stride;
    flat /= s.sizes[i];
    stride *= s.input[i];
  }
  return from;
}

/// Element `flat` of a tensor whose axis is `length` long, in one where it is `to` long and the
/// former begins at `offset`. After the axis there are `inner` elements.
constexpr std::int64_t at_axis(std::int64_t flat, std::int64_t inner, std::int64_t length,
                               std::int64_t to, std::int64_t offset) {
  const std::int64_t outer = flat / (inner * length), i = flat / inner % length;
  return (outer * to + offset + i) * inner + flat % inner;
}

/// Where an element of what is read at `o` comes from in the value `to`; nothing where it is none
/// of its elements.
inline std::optional<origin> origin_of(const found& f, operand o, const operand& to,
                                       std::int64_t flat) {
  origin at{flat};
  while (!(o == to)) {
    if (o.node < 0 || !f.holds(o.node)) return std::nullopt;
    const pieces::place& p = f.in[o.node];
    std::size_t next = 0;
    const auto* c = p.layer == nullptr ? nullptr : op::as<op::concat>(p.layer);
    const auto* s = p.layer == nullptr ? nullptr : op::as<op::split>(p.layer);
    if (c != nullptr || s != nullptr) {
      const shape& whole = c != nullptr ? c->whole : s->whole;
      const int axis = c != nullptr ? c->axis : s->axis;
      if (whole[axis] % 2 != 0 || (c != nullptr ? c->parts : s->parts) != 2) return std::nullopt;
      const std::int64_t inner = elements(whole, axis + 1, whole.size), half = whole[axis] / 2;
      const std::int64_t part = c != nullptr ? at.flat / inner % whole[axis] / half : o.output;
      at.flat = c != nullptr ? at_axis(at.flat, inner, whole[axis], half, -part * half)
                             : at_axis(at.flat, inner, half, whole[axis], part * half);
      if (c != nullptr) next = static_cast<std::size_t>(part);
    } else if (p.family == "Slice") {
      const auto& taken = op::get<op::slice>(*p.layer);
      if (elements(taken.sizes) == 0) return std::nullopt;
      at.flat = before(taken, at.flat);
    } else if (p.family == "Neg") {
      at.negative = !at.negative;
    } else if (p.family != "Cast" && (p.layer == nullptr || !op::is_view(*p.layer))) {
      return std::nullopt;
    }
    o = p.operands[next];
  }
  return at;
}

/// True if rows of `size` elements are turned in halves, or interleaved.
inline bool turns(const found& f, const operand& from, const operand& to, std::int64_t rows,
                  std::int64_t size, bool interleaved) {
  const std::int64_t apart = interleaved ? 1 : size / 2;
  for (const std::int64_t row : {std::int64_t{0}, std::min<std::int64_t>(1, rows - 1), rows - 1})
    for (std::int64_t i = 0; i < size; ++i) {
      const bool first = interleaved ? i % 2 == 0 : i < apart;
      const std::optional<origin> at = origin_of(f, from, to, row * size + i);
      if (!at || at->negative != first || at->flat != row * size + i + (first ? apart : -apart))
        return false;
    }
  return true;
}

inline std::optional<recognised> as_rotary(const found& f) {
  const bound_value *x = f.value("x"), *cosines = f.value("a"), *sines = f.value("s");
  if (x->from.node == constant || !x->dims || !cosines->dims || cosines->dims != sines->dims)
    return std::nullopt;
  const shape whole = expanded(*x->dims, 4);
  if (x->dims->size > 4 || cosines->dims->size > x->dims->size ||
      op::output(f.layer(f.root)) != *x->dims || elements(whole) == 0 || whole[3] % 2 != 0)
    return std::nullopt;
  const shape angles = expanded(*cosines->dims, 4);
  const bool heads_first = angles[1] == 1 && angles[2] == whole[2];
  const bool places_first = angles[1] == whole[1] && angles[2] == 1;
  if (angles[3] != whole[3] || (angles[0] != 1 && angles[0] != whole[0]) ||
      (!heads_first && !places_first))
    return std::nullopt;
  op::rotary p{.sizes = whole, .own_places = angles[0] != 1, .wide = true};
  if (!heads_first) {
    std::swap(p.sizes[1], p.sizes[2]);
    p.sequence_major = true;
  }
  const auto turned = std::find_if(f.nodes.begin(), f.nodes.end(),
                                   [&](int n) { return f.in[n].family == "Concat"; });
  const std::int64_t rows = elements(whole) / whole[3];
  const auto turns_as = [&](bool interleaved) {
    return turns(f, {*turned}, x->from, rows, whole[3], interleaved);
  };
  p.interleaved = !turns_as(false);
  if (p.interleaved && !turns_as(true)) return std::nullopt;
  return recognised{p, {x->from, cosines->from, sines->from}};
}

} // namespace benanza::model::detail
