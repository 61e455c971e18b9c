// SPDX-License-Identifier: Apache-2.0
// Which layer are pieces together? A rule says which operators they are; here their dims and axes
// are looked at: a LayerNormalization's rows are the last dims, what a Transpose moves is not only
// ones. Nothing: they are not that layer after all.
//
//   std::optional<recognised> r = recognise(found);   // r->layer, r->operands
#pragma once

#include "../op/kinds.hpp"
#include "fold.hpp"
#include "match.hpp"
#include "recognised_attention.hpp"
#include "recognised_rotary.hpp"

namespace benanza::model::detail {

/// The dims of a value of the pieces; nothing: not known, or a constant.
inline std::optional<shape> dims_of(const found& f, std::string_view name) {
  const bound_value* v = f.value(name);
  return v == nullptr || v->from.node == constant ? std::nullopt : v->dims;
}

/// A function of one number.
inline std::optional<recognised> as_unary(const found& f) {
  const auto function =
      op::detail::find_family<op::unary_function>(op::unary_families, f.by.family);
  const auto x = dims_of(f, "x");
  if (!function || !x || op::output(f.layer(f.root)) != *x) return std::nullopt;
  return recognised{op::unary{.function = *function, .input = *x}, {f.value("x")->from}};
}

/// The dims along which all reductions of the pieces go; nothing if there are several answers.
inline std::optional<shape> reduced_axes(const found& f) {
  std::optional<shape> axes;
  for (int n : f.nodes)
    if (const auto* r = op::as<op::reduce>(f.layer(n))) {
      if (axes && *axes != r->axes) return std::nullopt;
      axes = r->axes;
    }
  return axes;
}

/// The Softmax among the pieces; null: none.
inline const op::softmax* softmax_in(const found& f) {
  for (int n : f.nodes)
    if (const auto* s = op::as<op::softmax>(f.layer(n))) return s;
  return nullptr;
}

/// True if a constant of dims `s` has one number for each element of the last dims of `whole` from
/// `axis` on.
inline bool is_row(const std::optional<shape>& s, const shape& whole, int axis) {
  if (!s) return false;
  const int rank = whole.size - axis, before = s->size - rank;
  for (int i = 0; i < s->size; ++i)
    if ((*s)[i] != (i < before ? 1 : whole[axis + i - before])) return false;
  return before >= 0;
}

/// LayerNormalization and RMSNormalization: their rows are the last dims.
template <class Norm>
std::optional<recognised> as_row_norm(const found& f) {
  const auto x = dims_of(f, "x");
  const auto axes = reduced_axes(f);
  if (!x || !axes || axes->empty() || op::output(f.layer(f.root)) != *x) return std::nullopt;
  const auto axis = static_cast<int>((*axes)[0]);
  if (axes->size != x->size - axis || axes->back() != x->size - 1) return std::nullopt;
  for (int n : f.nodes)
    if (const auto* v = op::as<op::view>(f.layer(n)); v != nullptr && v->input != v->result)
      return std::nullopt;
  Norm layer;
  layer.input = *x;
  layer.axis = axis;
  recognised out{layer, {f.value("x")->from, {constant}}};
  for (const char* row : {"cs", "cb"})
    if (const bound_value* v = f.value(row); v != nullptr && !is_row(v->dims, *x, axis))
      return std::nullopt;
  if constexpr (requires { layer.bias; })
    if (f.value("cb") != nullptr) {
      layer.bias = true;
      out = {layer, {f.value("x")->from, {constant}, {constant}}};
    }
  return out;
}

/// An InstanceNormalization of groups of channels, without a scale or a bias that matter, and then
/// those of the channels.
inline std::optional<recognised> as_group_norm(const found& f) {
  const auto x = dims_of(f, "x");
  if (!x || x->size < 2 || op::output(f.layer(f.root)) != *x) return std::nullopt;
  for (const char* row : {"cs", "ct"}) {
    const bound_value* v = f.value(row);
    if (!v->dims || elements(*v->dims) != (*x)[1] || !is_row_of(*v->dims, *x, 1))
      return std::nullopt;
  }
  for (int n : f.nodes)
    if (const auto* i = op::as<op::instance_norm>(f.layer(n)))
      if (i->input.size > 1 && i->input[0] == (*x)[0])
        return recognised{op::group_norm{.input = *x, .groups = i->input[1]},
                          {f.value("x")->from, {constant}, {constant}}};
  return std::nullopt;
}

inline std::optional<recognised> as_softmax(const found& f) {
  const auto x = dims_of(f, "x");
  if (const op::softmax* s = softmax_in(f); s != nullptr && !s->log)
    return recognised{*s, {f.value("x")->from}};
  const auto axes = reduced_axes(f);
  if (!x || !axes || axes->size != 1 || op::output(f.layer(f.root)) != *x) return std::nullopt;
  return recognised{op::softmax{.input = *x, .axis = static_cast<int>((*axes)[0])},
                    {f.value("x")->from}};
}

/// What moves nothing: a Transpose of dims of one, a Slice of everything, a Pad of nothing.
inline std::optional<recognised> as_view(const found& f) {
  const op::layer& l = f.layer(f.root);
  const auto x = dims_of(f, "x");
  if (!x || f.nodes.size() != 1) return std::nullopt;
  const shape result = op::output(l);
  if (elements(*x) != elements(result)) return std::nullopt;
  if (const auto* t = op::as<op::transpose>(l)) {
    std::int64_t last = -1;
    for (std::int64_t d : t->order) {
      if (t->input[static_cast<int>(d)] == 1) continue;
      if (d < last) return std::nullopt;
      last = d;
    }
  } else if (const auto* s = op::as<op::slice>(l)) {
    for (int i = 0; i < s->input.size; ++i)
      if (s->input[i] != 1 && s->step(i) != 1) return std::nullopt;
  } else if (const auto* p = op::as<op::pad>(l)) {
    if (!p->begins.all(0) || !p->ends.all(0)) return std::nullopt;
  }
  return recognised{op::view{.function = op::view_function::reshape, .input = *x, .result = result},
                    {f.value("x")->from}};
}

/// How the pieces of a layer kind are looked at.
struct recogniser {
  std::string_view family;
  std::optional<recognised> (*make)(const found&);
};

inline constexpr recogniser recognisers[] = {
    {"Reshape", as_view},
    {"LayerNormalization", as_row_norm<op::layer_norm>},
    {"RMSNormalization", as_row_norm<op::rms_norm>},
    {"GroupNormalization", as_group_norm},
    {"Softmax", as_softmax},
    {"RotaryEmbedding", as_rotary},
    {"Attention", as_attention},
};

/// How pieces are looked at that a rule says are of that family; null: no rule may say so.
inline auto recogniser_of(std::string_view family) -> std::optional<recognised> (*)(const found&) {
  for (const recogniser& r : recognisers)
    if (r.family == family) return r.make;
  const bool unary =
      op::detail::find_family<op::unary_function>(op::unary_families, family) && family != "Not";
  return unary ? as_unary : nullptr;
}

/// The layer that pieces are.
inline std::optional<recognised> recognise(const found& f) {
  std::optional<recognised> out = recogniser_of(f.by.family)(f);
  if (!out) return out;
  try {
    const auto settle = [](op::layer& layer) {
      layer = op::visit(
          [](const auto& l) {
            l.validate();
            return op::layer(l.canonical_form());
          },
          layer);
    };
    settle(out->layer);
    for (recognised::changed& c : out->before)
      settle(c.layer);
  } catch (const error&) {
    return std::nullopt;
  }
  return out;
}

} // namespace benanza::model::detail
