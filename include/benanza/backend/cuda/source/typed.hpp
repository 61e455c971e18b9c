// SPDX-License-Identifier: Apache-2.0
// The programs of layers whose operands and results are of several types: Cast, Where, Expand,
// QuantizeLinear and its inverse, tables, sums and maxima of codes; and of those that see vectors
// of parameters, a window of channels or the other number of a pair beside each element:
// BatchNormalization, LRN, RotaryEmbedding. Each operand is read once an element, the result
// written once.
//
//   program p = *typed_program_of(op::cast{.input = {8, 64}, .to = dtype::s64}, numeric::f16);
#pragma once

#include "../../../op/cast.hpp"
#include "../../../op/expand.hpp"
#include "../../../op/norm.hpp"
#include "../../../op/on_codes.hpp"
#include "../../../op/pool.hpp"
#include "../../../op/quantize.hpp"
#include "../../../op/rotary.hpp"
#include "../../../op/where.hpp"
#include "eltwise.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace benanza::backend::cuda::source {

namespace detail {

/// A type as C has it; empty: kernels do not read it.
inline std::string c_type(dtype t) {
  switch (t) {
  case dtype::f32: return "float";
  case dtype::f64: return "double";
  case dtype::f16:
  case dtype::bf16:
  case dtype::u16: return "unsigned short";
  case dtype::s16: return "short";
  case dtype::s8: return "signed char";
  case dtype::u8:
  case dtype::boolean: return "unsigned char";
  case dtype::s32: return "int";
  case dtype::u32: return "unsigned int";
  case dtype::s64: return "long long";
  case dtype::u64: return "unsigned long long";
  default: return {};
  }
}

/// True for whole numbers, and not for truth values.
inline bool is_whole(dtype t) {
  return !holds_reals(t) && t != dtype::boolean;
}

/// The ends of a whole type as numbers of f64; those of 64 bits are the next ones towards zero.
inline std::pair<std::string, std::string> ends_of(dtype t) {
  const auto bits = static_cast<int>(size_bits(t));
  const bool is_signed = t == dtype::s8 || t == dtype::s16 || t == dtype::s32 || t == dtype::s64;
  const double half = std::ldexp(1.0, bits - (is_signed ? 1 : 0));
  const double most = bits == 64 ? half - std::ldexp(1.0, is_signed ? 10 : 11) : half - 1;
  const arithmetic f64{};
  return {literal(is_signed ? -half : 0, f64), literal(most, f64)};
}

/// The functions of an arithmetic under other names: those of two types are in one text.
inline std::string renamed(std::string functions, std::string_view ending) {
  for (const std::string_view name : {" load(", " store("})
    if (const std::size_t at = functions.find(name); at != std::string::npos)
      functions.insert(at + name.size() - 1, ending);
  return functions;
}

/// A result that is computed where its place is known, of operands `x0`, `x1` ...
class placed : public program_of_operands {
public:
  using program_of_operands::program_of_operands;
  void operand(std::string_view type) { add_parameter(type); }
  void counts_in(const counter& c) { made_.count_in = c; }
  void functions(const std::string& more) { made_.functions += more; }
  program finish(std::string statements) {
    made_.alone = std::move(statements);
    return std::move(made_);
  }
};

/// A result that is made of one element of each operand, `a0`, `a1` ...
class combined : public program_of_operands {
public:
  using program_of_operands::program_of_operands;
  /// `bytes`: of its elements, of which several may be read at once.
  void operand(const shape& dims, const std::string& type, std::int64_t bytes) {
    add_operand(dims, type);
    if (made_.readings.back().together != 1)
      made_.element_bytes = std::max(made_.element_bytes, bytes);
  }
  /// An operand that is not read, behind all others.
  void absent() { add_parameter("float"); }
  void functions(const std::string& more) { made_.functions += more; }
  program finish(std::string statements) {
    made_.combine = std::move(statements);
    return std::move(made_);
  }
};

/// A vector along one dim of a shape.
inline shape along(int axis, std::int64_t length, int rank) {
  shape out;
  for (int d = 0; d < rank; ++d)
    out.push(d == axis ? length : 1);
  return out;
}
} // namespace detail

inline std::optional<program> typed_program_of(const op::where& l, numeric t) {
  const std::int64_t bytes = size_bytes(storage_of(l.element, t));
  const std::string word = word_of(bytes);
  detail::combined out(l.output(), word, bytes);
  out.operand(l.condition, "unsigned char", 1);
  out.operand(l.x, word, bytes);
  out.operand(l.y, word, bytes);
  return out.finish("  return a0 ? a1 : a2;");
}

/// A dim that is repeated, and is not one, is two of the program's.
inline std::optional<program> typed_program_of(const op::expand& l, numeric t) {
  const std::int64_t bytes = size_bytes(storage_of(l.element, t));
  const shape input = expanded(l.input, l.sizes.size);
  shape dims, read;
  for (int d = 0; d < l.sizes.size; ++d) {
    const bool repeats = input[d] != 1 && input[d] != l.sizes[d];
    if (dims.size + (repeats ? 2 : 1) > 8) return std::nullopt;
    if (repeats) dims.push(l.sizes[d] / input[d]), read.push(1);
    dims.push(repeats ? input[d] : l.sizes[d]);
    read.push(input[d]);
  }
  detail::combined out(dims, word_of(bytes), bytes);
  out.operand(read, word_of(bytes), bytes);
  return out.finish("");
}

/// Reals lose what is behind the point and end at a whole type's range; whole numbers wrap around.
inline std::optional<program> typed_program_of(const op::cast& l, numeric t) {
  const dtype from = storage_of(l.from, t), to = storage_of(l.to, t);
  const std::string read = detail::c_type(from), written = detail::c_type(to);
  const bool of_codes = quantised(t) && (l.from == dtype::real || l.to == dtype::real);
  if (read.empty() || written.empty() || of_codes) return std::nullopt;
  detail::combined out(l.output(), written, size_bytes(to));
  out.operand(l.input, read, size_bytes(from));
  std::string v = "a0";
  if (holds_reals(from)) {
    out.functions(detail::renamed(arithmetic_of(from)->functions, "_from"));
    v = "load_from(a0)";
  }
  if (to == dtype::boolean) return out.finish("  return " + v + " != 0;");
  if (holds_reals(to)) {
    const auto a = arithmetic_of(to);
    if (from != to) out.functions(detail::renamed(a->functions, "_to"));
    return out.finish("  return store" + std::string(from == to ? "_from" : "_to") + "((" +
                      a->computed + ')' + v + ");");
  }
  if (!holds_reals(from)) return out.finish("  return (" + written + ')' + v + ';');
  const auto [low, high] = detail::ends_of(to);
  return out.finish("  const double v = trunc((double)" + v + ");\n  return (" + written +
                    ")fmin(fmax(v, " + low + "), " + high + ");");
}

/// Codes of whole numbers of 8 and 16 bits, in blocks where these divide the axis.
inline std::optional<program> typed_program_of(const op::quantize& l, numeric t) {
  const dtype real = source_of(t);
  const std::string code = detail::c_type(l.code);
  const bool read_alone = l.inverse && l.code == dtype::s32;
  if (code.empty() || quantised(t) || !detail::is_whole(l.code) ||
      (size_bytes(l.code) > 2 && !read_alone))
    return std::nullopt;
  const auto a = arithmetic_of(real);
  shape dims, scales;
  for (int d = 0; d < l.input.size; ++d) {
    const bool here = d == l.axis, blocks = here && l.block > 0;
    if (blocks && l.input[d] % l.block != 0) return std::nullopt;
    if (blocks && l.input.size == 8) return std::nullopt;
    dims.push(blocks ? l.input[d] / l.block : l.input[d]);
    scales.push(here ? dims.back() : l.axis >= 0 && l.block > 0 ? l.input[d] : 1);
    if (blocks) dims.push(l.block), scales.push(1);
  }
  const std::int64_t real_bytes = size_bytes(real), code_bytes = size_bytes(l.code);
  detail::combined out(dims, l.inverse ? a->stored : code, l.inverse ? real_bytes : code_bytes);
  out.operand(dims, l.inverse ? code : a->stored, l.inverse ? code_bytes : real_bytes);
  out.operand(scales, "float", 4);
  if (l.zero_point) out.operand(scales, code, code_bytes);
  out.functions(a->functions);
  if (l.inverse)
    return out.finish("  return store(" +
                      std::string(l.zero_point ? "((float)a0 - (float)a2)" : "(float)a0") +
                      " * a1);");
  const auto [low, high] = detail::ends_of(l.code);
  return out.finish("  const float v = rintf(load(a0) / a1)" +
                    std::string(l.zero_point ? " + (float)a2" : "") + ";\n  return (" + code +
                    ")fminf(fmaxf(v, " + low + "f), " + high + "f);");
}

inline std::optional<program> typed_program_of(const op::lookup_table& l, numeric) {
  detail::placed out(l.output(), detail::c_type(l.to), 1);
  out.operand(detail::c_type(l.element));
  out.operand(detail::c_type(l.to));
  return out.finish("  return x1[(unsigned char)x0[i]];");
}

/// Sums and products of codes of 8 bits.
inline std::optional<program> typed_program_of(const op::on_codes<op::binary>& l, numeric t) {
  const std::string a = detail::c_type(l.a_type()), b = detail::c_type(l.b_type());
  const bool real = l.result_type() == dtype::real;
  if (real && quantised(t)) return std::nullopt;
  const dtype stored = storage_of(l.result_type(), t);
  detail::combined out(l.output(), detail::c_type(stored), size_bytes(stored));
  out.operand(l.base.a, a, 1);
  out.operand({}, "float", 4);
  out.operand({}, a, 1);
  out.operand(l.base.b, b, 1);
  out.operand({}, "float", 4);
  out.operand({}, b, 1);
  std::string text = "  float v = ((float)a0 - (float)a2) * a1 " +
                     std::string(l.base.function == op::binary_function::mul ? "*" : "+") +
                     " ((float)a3 - (float)a5) * a4;\n";
  if (l.rectified) text += "  v = fmaxf(v, 0.0f);\n";
  if (real) {
    out.absent();
    out.absent();
    out.functions(arithmetic_of(stored)->functions);
    return out.finish(text + "  return store(v);");
  }
  out.operand({}, "float", 4);
  out.operand({}, detail::c_type(stored), 1);
  const auto [low, high] = detail::ends_of(stored);
  return out.finish(text + "  return (" + detail::c_type(stored) +
                    ")fminf(fmaxf(rintf(v / a6) + (float)a7, " + low + "f), " + high + "f);");
}

/// Maxima of codes, whose window leaves out what is outside.
inline std::optional<program> maxima_of_codes(const op::pool& l) {
  const shape made = l.output();
  const std::string code = detail::c_type(l.element);
  const int n = l.kernel.size;
  detail::placed out(made, code, 1);
  out.operand(code);
  const counter c = out.count_in();
  lines text;
  text("  idx left = i;");
  for (int d = n; d-- > 0;) {
    const auto at = static_cast<std::int64_t>(d);
    text("  const int from", at, " = (int)(left % ", c(made[d + 2]), ") * ",
         op::entry(l.strides, d, 1), " - ", op::entry(l.pads, d, 0), ";");
    text("  left /= ", c(made[d + 2]), ";");
  }
  text("  const ", code, "* plane = x0 + left * ", c(elements(l.input, 2, l.input.size)), ";");
  text("  int most = -256;");
  std::string place = "0";
  for (int d = 0; d < n; ++d) {
    const std::string k = "k" + std::to_string(d), p = "p" + std::to_string(d);
    text("  for (int ", k, " = 0; ", k, " < ", l.kernel[d], "; ++", k, ") {");
    text("  const int ", p, " = from", static_cast<std::int64_t>(d), " + ", k, " * ",
         op::entry(l.dilations, d, 1), ";");
    text("  if (", p, " < 0 || ", p, " >= ", l.input[d + 2], ") continue;");
    place = '(' + place + ") * " + c(l.input[d + 2]) + " + (idx)" + p;
  }
  text("  const int v = plane[", place, "];\n  if (v > most) most = v;");
  text("  ", std::string(static_cast<std::size_t>(n), '}'));
  text("  return (", code, ")most;");
  return out.finish(text.text());
}

inline std::optional<program> typed_program_of(const op::batch_norm& l, numeric t) {
  const auto a = arithmetic_of(source_of(t));
  if (!a || quantised(t)) return std::nullopt;
  const std::int64_t bytes = size_bytes(source_of(t));
  detail::combined out(l.output(), a->stored, bytes);
  out.operand(l.input, a->stored, bytes);
  for (int k = 0; k < 4; ++k)
    out.operand(detail::along(1, l.input[1], l.input.size), "float", 4);
  out.functions(a->functions);
  return out.finish("  return store(a1 / sqrtf(a4 + " + literal(attribute::epsilon, *a) +
                    ") * (load(a0) - a3) + a2);");
}

inline std::optional<program> typed_program_of(const op::lrn& l, numeric t) {
  const auto a = arithmetic_of(source_of(t));
  if (!a || quantised(t)) return std::nullopt;
  detail::placed out(l.output(), a->stored, size_bytes(source_of(t)));
  out.operand(a->stored);
  out.functions(a->functions);
  const counter c = out.count_in();
  const std::int64_t inner = elements(l.input, 2, l.input.size);
  lines text;
  text("  const int c = i / ", c(inner), " % ", c(l.input[1]), ";");
  text("  const int low = c - ", (l.size - 1) / 2, ", high = c + ", l.size / 2, ";");
  text("  const int first = low < 0 ? 0 : low, last = high < ", l.input[1],
       " ? high : ", l.input[1] - 1, ";");
  text("  float squares = 0.0f;");
  text("  for (int k = first; k <= last; ++k) {");
  text("    const float v = load(x0[i + (idx)(k - c) * ", c(inner), "]);");
  text("    squares += v * v;\n  }");
  text("  return store(load(x0[i]) / powf(", literal(attribute::lrn_bias, *a), " + ",
       literal(attribute::lrn_alpha / static_cast<double>(l.size), *a), " * squares, ",
       literal(attribute::lrn_beta, *a), "));");
  return out.finish(text.text());
}

/// Each element reads itself and the other of its pair.
inline std::optional<program> typed_program_of(const op::rotary& l, numeric t) {
  const auto a = arithmetic_of(source_of(t));
  if (!a || quantised(t)) return std::nullopt;
  detail::placed out(l.output(), a->stored, size_bytes(source_of(t)));
  for (int k = 0; k < 3; ++k)
    out.operand(a->stored);
  if (l.table > 0) out.operand("long long");
  out.functions(a->functions);
  const counter c = out.count_in();
  const std::int64_t half = l.turned() / 2;
  lines text;
  text("  const idx k = i % ", c(l.size()), ", row = i / ", c(l.size()), ";");
  if (l.turned() < l.size()) text("  if (k >= ", c(l.turned()), ") return x0[i];");
  text("  const idx batch = row / ", c(l.heads() * l.length()), ";");
  if (l.sequence_major)
    text("  const idx place = row / ", c(l.heads()), " % ", c(l.length()), ";");
  else
    text("  const idx place = row % ", c(l.length()), ";");
  if (l.interleaved)
    text("  const idx pair = k / 2; const bool first = k % 2 == 0;");
  else
    text("  const idx pair = k % ", c(half), "; const bool first = k < ", c(half), ";");
  const std::string at = "batch * " + c(l.length()) + " + place";
  text("  const idx angles = ",
       l.table > 0    ? "(idx)x3[" + at + ']'
       : l.own_places ? at
                      : "place",
       ";");
  text("  const idx angle = angles * ", c(l.angle_size()), " + ", l.wide ? "k" : "pair", ";");
  const std::string apart = c(l.interleaved ? 1 : half);
  text("  const float cosine = load(x1[angle]), sine = load(x2[angle]);");
  text("  const float x = load(x0[i]), other = load(x0[first ? i + ", apart, " : i - ", apart,
       "]);");
  text("  return store(first ? cosine * x - sine * other : sine * other + cosine * x);");
  return out.finish(text.text());
}

} // namespace benanza::backend::cuda::source
