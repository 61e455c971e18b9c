// SPDX-License-Identifier: Apache-2.0
// What is the work of each kind of layer? The functions of form.hpp. Where BENANZA_COMPILED_TRACE
// is defined, one file of the program includes this for all.
#pragma once

#include "../op/kinds.hpp"
#include "form.hpp"

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>

#ifndef BENANZA_INLINE
#define BENANZA_INLINE inline
#endif

namespace benanza::trace {

namespace detail {
inline std::string joined(std::string_view what, std::initializer_list<std::int64_t> values) {
  std::string out(what);
  for (std::int64_t v : values)
    out.append(" ").append(std::to_string(v));
  return out;
}

/// The spatial dims of a window, those in which nothing moves left out.
template <class Window>
std::string windows(const Window& w, const extents& kernel, const shape& out) {
  std::string text;
  for (int i = 0; i < kernel.size; ++i) {
    const std::int64_t padded =
        w.input[i + 2] + op::entry(w.pads, i, 0) + op::entry(w.pads, i + kernel.size, 0);
    if (padded == 1 && kernel[i] == 1) continue;
    const std::int64_t stride = out[i + 2] == 1 ? 1 : op::entry(w.strides, i, 1);
    const std::int64_t dilation = kernel[i] == 1 ? 1 : op::entry(w.dilations, i, 1);
    text += joined(";", {padded, kernel[i], stride, dilation, out[i + 2]});
  }
  return text;
}

inline form form_of_kind(const op::conv& c) {
  return {.base = joined("conv", {c.input[0], c.input[1], c.outputs, c.groups}) +
                  windows(c, c.kernel, c.output()),
          .bias = c.bias};
}

inline form form_of_kind(const op::conv_transpose& c) {
  std::string text = joined("conv_transpose", {c.input[0], c.input[1], c.outputs, c.groups});
  const shape out = c.output();
  for (int i = 0; i < c.kernel.size; ++i)
    if (c.input[i + 2] != 1 || c.kernel[i] != 1 || out[i + 2] != 1)
      text += joined(";", {c.input[i + 2], c.kernel[i], op::entry(c.strides, i, 1),
                           op::entry(c.dilations, i, 1), out[i + 2]});
  return {.base = text, .bias = c.bias};
}

inline std::string product(std::int64_t batch, std::int64_t m, std::int64_t n, std::int64_t k) {
  return joined("product", {batch, m, n, k});
}

inline form form_of_kind(const op::gemm& g) {
  return {.base = product(1, g.m, g.n, g.k),
          .bias = g.c.empty() ? std::nullopt : std::optional(true)};
}

/// A stack of matrices times one matrix is one product with more rows.
inline form form_of_kind(const op::matmul& m) {
  const std::int64_t stacked_a = elements(m.a, 0, m.a.size - 2);
  if (elements(m.b, 0, m.b.size - 2) == 1)
    return {.base = product(1, checked_multiply(stacked_a, m.m()), m.n(), m.k()), .bias = false};
  const shape out = m.output();
  return {.base = product(elements(out, 0, out.size - 2), m.m(), m.n(), m.k()), .bias = false};
}

inline form form_of_kind(const op::pool& p) {
  const extents kernel = [&] {
    if (!p.global()) return p.kernel;
    extents all;
    for (int i = 2; i < p.input.size; ++i)
      all.push(p.input[i]);
    return all;
  }();
  const bool padded = !p.pads.all(0);
  return {.base = joined(p.norm()                  ? "norm"
                         : p.maximum()             ? "max"
                         : p.include_pad && padded ? "average of pads"
                                                   : "average",
                         {p.input[0], p.input[1]}) +
                  windows(p, kernel, p.output())};
}

inline form form_of_kind(const op::softmax& s) {
  return {.base = joined(s.log ? "log_softmax" : "softmax",
                         {elements(s.input, 0, s.axis), s.input[s.axis],
                          elements(s.input, s.axis + 1, s.input.size)})};
}

inline form form_of_kind(const op::batch_norm& b) {
  return {.base =
              joined("batch_norm", {b.input[0], b.input[1], elements(b.input, 2, b.input.size)})};
}

inline form form_of_kind(const op::unary& u) {
  return {.base = joined(std::string(u.family()) + ' ' + std::string(name(u.element)),
                         {elements(u.input)})};
}

/// Add and Sum of two are the same, and so are operands that are interchanged.
inline form form_of_kind(const op::binary& b) {
  using f = op::binary_function;
  const bool adds = b.function == f::add || (b.function == f::sum && b.operands == 2);
  const bool commutes =
      adds || b.function == f::mul || b.function == f::min || b.function == f::max;
  std::int64_t first = elements(b.a), second = elements(b.b);
  if (commutes && first < second) std::swap(first, second);
  return {.base =
              joined(std::string(adds ? "Add" : b.family()) + ' ' + std::string(name(b.element)),
                     {first, second, b.operands, elements(b.output())})};
}

template <class Kind>
form form_of_kind(const Kind& k) {
  if constexpr (op::is_fused<Kind>) {
    form out = form_of_kind(k.base);
    out.steps.assign(k.steps.begin(), k.steps.end());
    return out;
  } else {
    return {.base = std::string(k.family()) + '/' + std::string(op::write_key(k).view())};
  }
}
} // namespace detail

BENANZA_INLINE form form_of(const op::layer& l) {
  return op::visit([](const auto& k) { return detail::form_of_kind(k); }, l);
}

BENANZA_INLINE form form_of_bias(const shape& result) {
  shape row = shape::filled(result.size, 1);
  row[1] = result[1];
  return form_of(op::binary{.function = op::binary_function::add, .a = result, .b = row});
}

BENANZA_INLINE bool is_step(const op::step& s, const op::layer& l) {
  if (const auto* u = op::as<op::unary>(l)) return same_step(s, op::step(u->function));
  if (const auto* b = op::as<op::binary>(l); b != nullptr && b->operands == 2)
    return same_step(s, op::step(b->function));
  return false;
}

BENANZA_INLINE bool folds_into_weights(const op::layer& l, bool constant_operand) {
  if (op::is<op::batch_norm>(l)) return true;
  const auto* b = op::as<op::binary>(l);
  return b != nullptr && constant_operand && b->function <= op::binary_function::div;
}

namespace detail {
inline op::layer without_unsaid(const op::layer& l) {
  if (const auto* g = op::as<op::gemm>(l)) {
    op::gemm said = *g;
    said.c = {};
    said.constant_b = false;
    return said;
  }
  if (const auto* m = op::as<op::matmul>(l)) {
    op::matmul said = *m;
    said.constant_b = false;
    return said;
  }
  return l;
}
} // namespace detail

BENANZA_INLINE bool same_but_unsaid(const op::layer& a, const op::layer& b) {
  return detail::without_unsaid(a) == detail::without_unsaid(b);
}

} // namespace benanza::trace
