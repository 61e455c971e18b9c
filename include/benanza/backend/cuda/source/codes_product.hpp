// SPDX-License-Identifier: Apache-2.0
// The programs of products and convolutions of codes of 8 bits: a thread adds up the products of an
// element of the result, as whole numbers, and makes the result of the sum. Plain: each operand is
// read again for each element.
//
//   program p = *typed_program_of(op::on_codes<op::matmul>{.base = {.a = {1, 64}, ...}}, type);
#pragma once

#include "typed.hpp"

namespace benanza::backend::cuda::source {

namespace detail {

/// The product of two codes without their zero points.
inline std::string of_codes(const std::string& a, const std::string& b) {
  return "((int)a[" + a + "] - zero_a) * ((int)b[" + b + "] - zero_b)";
}

/// A sum over `length`: where it begins in an operand, by the strides of the result's dims, and how
/// far apart its elements are.
struct walk {
  shape strides{};
  std::int64_t step = 1;
};
inline walk walk_of_a(const op::gemm& l) {
  return l.transpose_a ? walk{{1, 0}, l.m} : walk{{l.k, 0}, 1};
}
inline walk walk_of_b(const op::gemm& l) {
  return l.transpose_b ? walk{{0, l.k}, 1} : walk{{0, 1}, l.n};
}
/// Stacks of matrices that broadcast to `out`, whose last two dims are those of a matrix.
inline shape stack_strides(const shape& operand, const shape& out) {
  shape full = expanded(operand, out.size), strides = packed(full);
  for (int d = 0; d < out.size - 2; ++d)
    if (full[d] == 1) strides[d] = 0;
  return strides;
}
inline walk walk_of_a(const op::matmul& l) {
  walk w{stack_strides(l.a, l.output()), 1};
  w.strides[w.strides.size - 2] = l.k();
  w.strides[w.strides.size - 1] = 0;
  return w;
}
inline walk walk_of_b(const op::matmul& l) {
  walk w{stack_strides(l.b, l.output()), l.n()};
  w.strides[w.strides.size - 2] = 0;
  w.strides[w.strides.size - 1] = 1;
  return w;
}
inline std::int64_t length_of(const op::gemm& l) {
  return l.k;
}
inline std::int64_t length_of(const op::matmul& l) {
  return l.k();
}

/// A function that finds where the walk of an element of the result begins.
inline std::string begin_of(const char* name, const shape& out, const walk& w, const counter& c) {
  const shape to = packed(out);
  block b;
  for (int d = 0; d < out.size; ++d)
    b.push({out[d], to[d], w.strides[d]});
  lines text;
  text("static __device__ __forceinline__ idx ", name, "(idx i) {");
  write_place(b.loops, c, 0, text);
  text("  return at;\n}");
  return text.text();
}

/// Statements that add up `sum`, and say which `channel` of the second operand it is of.
template <class Product>
void write_sum(const Product& l, placed& out, lines& text) {
  const counter c = out.count_in();
  const shape made = l.output();
  const walk a = walk_of_a(l), b = walk_of_b(l);
  out.functions(begin_of("begin_a", made, a, c) + begin_of("begin_b", made, b, c));
  text("  const idx channel = i % ", c(made.back()), ", from_a = begin_a(i), from_b = begin_b(i);");
  text("  const int zero_b = zero_of(channel);");
  text("  for (idx k = 0; k < ", c(length_of(l)), "; ++k)");
  text("    sum += ", of_codes("from_a + k * " + c(a.step), "from_b + k * " + c(b.step)), ";");
}
inline void write_sum(const op::conv& l, placed& out, lines& text) {
  const counter c = out.count_in();
  const shape made = l.output();
  const int n = l.kernel.size;
  const std::int64_t channels = l.input[1] / l.groups, taps = elements(l.weights(), 2, n + 2);
  text("  idx left = i;");
  for (int d = n; d-- > 0;) {
    text("  const int from", std::int64_t{d}, " = (int)(left % ", c(made[d + 2]), ") * ",
         op::entry(l.strides, d, 1), " - ", op::entry(l.pads, d, 0), ";");
    text("  left /= ", c(made[d + 2]), ";");
  }
  text("  const idx channel = left % ", c(l.outputs), ";");
  text("  const int zero_b = zero_of(channel);");
  text("  const idx source = left / ", c(l.outputs), " * ", c(l.input[1]), " + channel / ",
       c(l.outputs / l.groups), " * ", c(channels), ";");
  std::string place = "0", tap = "0";
  for (int d = 0; d < n; ++d) {
    const std::string k = "k" + std::to_string(d), p = "p" + std::to_string(d);
    text("  for (int ", k, " = 0; ", k, " < ", l.kernel[d], "; ++", k, ") {");
    text("  const int ", p, " = from", std::int64_t{d}, " + ", k, " * ",
         op::entry(l.dilations, d, 1), ";");
    text("  if (", p, " < 0 || ", p, " >= ", l.input[d + 2], ") continue;");
    place = '(' + place + ") * " + c(l.input[d + 2]) + " + (idx)" + p;
    tap = '(' + tap + ") * " + c(l.kernel[d]) + " + (idx)" + k;
  }
  const std::int64_t inside = elements(l.input, 2, l.input.size);
  text("  for (idx k = 0; k < ", c(channels), "; ++k)");
  text("    sum += ",
       of_codes("(source + k) * " + c(inside) + " + " + place,
                "(channel * " + c(channels) + " + k) * " + c(taps) + " + " + tap),
       ";");
  text("  ", std::string(static_cast<std::size_t>(n), '}'));
}

/// Which element of the bias an element of the result has.
inline std::string bias_of(const op::conv&, const counter&) {
  return "channel";
}
inline std::string bias_of(const op::matmul&, const counter&) {
  return "channel";
}
inline std::string bias_of(const op::gemm& l, const counter& c) {
  if (l.c.empty()) return "channel";
  const std::string row = l.c[0] == 1 ? "0" : "i / " + c(l.n) + " * " + c(l.c[1]);
  return row + (l.c[1] == 1 ? "" : " + channel");
}
} // namespace detail

template <class Base>
std::optional<program> typed_program_of(const op::on_codes<Base>& l, numeric t) {
  const op::code_places at = l.places();
  const bool real = l.result_type() == dtype::real, scaled = !l.integer && !real;
  if (real && quantised(t)) return std::nullopt;
  const dtype stored = storage_of(l.result_type(), t);
  const std::string code = detail::c_type(stored);
  const std::string a = detail::c_type(l.a_type()), b = detail::c_type(l.b_type());
  detail::placed out(l.output(), code, size_bytes(stored));
  const int places = std::max({at.a_zero, at.b_zero, at.zero, l.biased() ? at.bias : 0}) + 1;
  for (int k = 0; k < places; ++k)
    out.operand(k == at.a || k == at.a_zero   ? a
                : k == at.b || k == at.b_zero ? b
                : k == at.zero && scaled      ? code
                : k == at.bias && l.biased()  ? std::string("int")
                                              : std::string("float"));
  const auto x = [](int k) { return "x" + std::to_string(k); };
  const bool several = l.scales_of_b() > 1;
  const std::string of_b = several ? "[channel]" : "[0]";
  lines text;
  text("  const ", a, "* a = ", x(at.a), "; const ", b, "* b = ", x(at.b), ";");
  text("  const int zero_a = ", x(at.a_zero), "[0];");
  text("  const auto zero_of = [=](idx channel) { return (int)", x(at.b_zero), of_b, "; };");
  text("  int sum = 0;");
  detail::write_sum(l.base, out, text);
  if (l.biased())
    text("  sum += ", x(at.bias), '[' + detail::bias_of(l.base, out.count_in()), "];");
  if (l.integer) {
    text("  return sum;");
    return out.finish(text.text());
  }
  text("  float v = (float)sum * (", x(at.a_scale), "[0] * ", x(at.b_scale), of_b, ");");
  if (l.rectified) text("  v = fmaxf(v, 0.0f);");
  if (real) {
    out.functions(arithmetic_of(stored)->functions);
    text("  return store(v);");
    return out.finish(text.text());
  }
  const auto [low, high] = detail::ends_of(stored);
  text("  return (", code, ")fminf(fmaxf(rintf(v / ", x(at.scale), "[0]) + (float)", x(at.zero),
       "[0], ", low, "f), ", high, "f);");
  return out.finish(text.text());
}

} // namespace benanza::backend::cuda::source
