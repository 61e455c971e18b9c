// SPDX-License-Identifier: Apache-2.0
// When is a call the same work as a layer, although both are not written alike? Frameworks pad
// beforehand, add a bias afterwards, run one-dimensional layers as two-dimensional ones, flatten
// batches into rows, and the log of a matrix product names no third operand. `form_of` is a text
// that is equal where dims and arithmetic are; what is done on the result is apart, in `steps`.
//
//   form_of(op::parse("Conv/1x64x56x56-64x3x3-s1-p1-b")).base
//     == form_of(op::parse("Conv/1x64x58x58-64x3x3-s1")).base
#pragma once

#include "../op/layer.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace benanza::trace {

/// The work of a layer.
struct form {
  std::string base;              ///< equal for equal work, bias and steps left out
  std::optional<bool> bias{};    ///< whether a row is added to the products; nothing: not known
  std::vector<op::step> steps{}; ///< what is done on the result
  bool operator==(const form&) const = default;
};

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

/// The work that a layer is.
inline form form_of(const op::layer& l) {
  return op::visit([](const auto& k) { return detail::form_of_kind(k); }, l);
}

/// True if the two steps do the same, whatever the dims of what they join.
inline bool same_step(const op::step& a, const op::step& b) {
  if (a.joins != b.joins) return false;
  if (!a.joins) return a.function == b.function;
  const auto plain = [](op::binary_function f) {
    return f == op::binary_function::sum ? op::binary_function::add : f;
  };
  return plain(a.join) == plain(b.join);
}

} // namespace benanza::trace
