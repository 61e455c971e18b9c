// SPDX-License-Identifier: Apache-2.0
// The programs of layers that move elements: Slice, Transpose, DepthToSpace and SpaceToDepth as
// strided reads, Concat and Split through the part that an element belongs to, Pad in all modes,
// Gather through its indices.
//
//   const op::gather embedding{.data = {30522, 768}, .indices = {1, 128}};
//   program p = program_of(embedding, 2);   written(p, 8).text
#pragma once

#include "number.hpp"
#include "place.hpp"

namespace benanza::backend::cuda::source {

/// Operands that a Concat's kernel takes at most: their addresses are arguments.
inline constexpr std::int64_t most_parts = 256;

namespace detail {

/// A program of words that come from the operand `x0`.
inline program moving(std::int64_t element_bytes, std::int64_t count, std::int64_t operand_count) {
  program p;
  p.count_in = counter::of(std::max(count, operand_count));
  p.count = count;
  p.result = word_of(element_bytes);
  p.element_bytes = element_bytes;
  p.parameters = "const " + p.result + "* __restrict__ x0, ";
  p.arguments = "x0, ";
  p.readings.push_back({.element = p.result});
  return p;
}

/// Parts as equal as they can be: `large` ones of one more, then the others; in runs of `inner`
/// elements a row.
struct equal_parts {
  std::int64_t large = 0, large_run = 0, small_run = 0, row = 0, rows = 0;
  equal_parts(const shape& whole, int axis, std::int64_t parts)
      : large(whole[axis] % parts) {
    const std::int64_t inner = elements(whole, axis + 1, whole.size);
    small_run = whole[axis] / parts * inner;
    large_run = small_run + inner;
    row = whole[axis] * inner;
    rows = elements(whole, 0, axis);
  }
  std::int64_t together() const {
    return large == 0 ? small_run : common_divisor(large_run, small_run);
  }
};

/// One element of one dim of a Pad: what comes of coordinate `c`, of `kept` elements behind `cut`.
inline void write_padded(const op::pad& p, std::int64_t begin, std::int64_t kept,
                         std::int64_t stride, const counter& c, lines& out) {
  const std::int64_t before = std::max<std::int64_t>(begin, 0),
                     cut = std::max<std::int64_t>(-begin, 0);
  out("  s = (sig)c - ", before, ";");
  switch (p.mode) {
  case op::pad_mode::constant: out("  if (s < 0 || s >= ", kept, ") return nullptr;"); break;
  case op::pad_mode::edge: out("  s = s < 0 ? 0 : s >= ", kept, " ? ", kept - 1, " : s;"); break;
  case op::pad_mode::wrap: out("  s = (s % ", kept, " + ", kept, ") % ", kept, ";"); break;
  case op::pad_mode::reflect:
    if (kept == 1) {
      out("  s = 0;");
      break;
    }
    out("  s = (s % ", 2 * kept - 2, " + ", 2 * kept - 2, ") % ", 2 * kept - 2, ";");
    out("  s = s < ", kept, " ? s : ", 2 * kept - 2, " - s;");
    break;
  }
  out("  at += (idx)(s + ", cut, ") * ", c(stride), ";");
}
} // namespace detail

/// Slice, Transpose, DepthToSpace, SpaceToDepth: one block.
inline program program_of(const block& b, std::int64_t operand_count, std::int64_t element_bytes) {
  program p = detail::moving(element_bytes, b.count(), operand_count);
  lines place;
  write_place(b.loops, p.count_in, b.from, place);
  place("  return x0 + at;");
  p.readings[0].place = place.text();
  p.readings[0].together = together_in(b.loops, b.from);
  return p;
}

inline program program_of(const op::concat& l, std::int64_t element_bytes) {
  const detail::equal_parts parts(l.whole, l.axis, l.parts);
  program p = detail::moving(element_bytes, elements(l.whole), elements(l.whole));
  const counter& c = p.count_in;
  lines table, place;
  table("struct table { const ", p.result, "* at[", l.parts, "]; };");
  p.functions = table.text();
  p.parameters = "const table& x, ";
  p.arguments = "x, ";
  p.table = true;
  place("  idx c = i % ", c(parts.row), ";\n  const idx r = i / ", c(parts.row), ";");
  if (parts.large > 0) {
    place("  if (c < ", c(parts.large * parts.large_run), ")");
    place("    return x.at[c / ", c(parts.large_run), "] + r * ", c(parts.large_run), " + c % ",
          c(parts.large_run), ";");
    place("  c -= ", c(parts.large * parts.large_run), ";");
  }
  place("  return x.at[", c(parts.large), " + c / ", c(parts.small_run), "] + r * ",
        c(parts.small_run), " + c % ", c(parts.small_run), ";");
  p.readings[0].place = place.text();
  p.readings[0].together = parts.together();
  return p;
}

/// The parts follow each other in the result.
inline program program_of(const op::split& l, std::int64_t element_bytes) {
  const detail::equal_parts parts(l.whole, l.axis, l.parts);
  program p = detail::moving(element_bytes, elements(l.whole), elements(l.whole));
  const counter& c = p.count_in;
  const std::int64_t first = parts.large * parts.large_run;
  lines place;
  const auto within = [&](std::int64_t run, std::int64_t before) {
    place("    const idx part = i / ", c(run * parts.rows), ", j = i % ", c(run * parts.rows), ";");
    place("    return x0 + j / ", c(run), " * ", c(parts.row), " + part * ", c(run), " + j % ",
          c(run), " + ", c(before), ";");
  };
  if (parts.large > 0) {
    place("  if (i < ", c(first * parts.rows), ") {");
    within(parts.large_run, 0);
    place("  }\n  i -= ", c(first * parts.rows), ";");
  }
  place("  {");
  within(parts.small_run, first);
  place("  }");
  p.readings[0].place = place.text();
  p.readings[0].together = common_divisor(parts.together(), parts.row);
  return p;
}

inline program program_of(const op::pad& l, std::int64_t element_bytes) {
  const shape kept = l.kept(), out = l.output(), strides = packed(l.input);
  program p = detail::moving(element_bytes, elements(out), elements(l.input));
  const counter& c = p.count_in;
  lines place;
  place("  typedef ", c.with_sign(), " sig;");
  place("  sig s;\n  idx at = 0, c;");
  // Dims that stay as they are, from the last one on, are one run.
  int last = out.size - 1;
  std::int64_t run = 1;
  while (last >= 0 && l.begins[last] == 0 && l.ends[last] == 0)
    run *= out[last--];
  if (run > 1) place("  at = i % ", c(run), ";\n  i /= ", c(run), ";");
  for (int d = last; d >= 0; --d) {
    place("  c = ", d > 0 ? "i % " + c(out[d]) : "i", ";");
    if (d > 0) place("  i /= ", c(out[d]), ";");
    if (l.begins[d] == 0 && l.ends[d] == 0)
      place("  at += c * ", c(strides[d]), ";");
    else
      detail::write_padded(l, l.begins[d], kept[d], strides[d], c, place);
  }
  place("  (void)s;\n  (void)c;\n  return x0 + at;");
  p.readings[0].place = place.text();
  p.readings[0].together = run;
  p.readings[0].may_lack = l.mode == op::pad_mode::constant && kept != out;
  return p;
}

inline program program_of(const op::gather& l, std::int64_t element_bytes) {
  const std::int64_t named = elements(l.indices), size = l.data[l.axis],
                     run = elements(l.data, l.axis + 1, l.data.size);
  program p = detail::moving(element_bytes, elements(l.output()), elements(l.data));
  const counter& c = p.count_in;
  const std::string index = l.index == dtype::s32 ? "int" : "long long";
  p.parameters += "const " + index + "* __restrict__ x1, ";
  p.arguments += "x1, ";
  lines place;
  place("  const idx j = i % ", c(run), ";\n  i /= ", c(run), ";");
  place("  ", index, " taken = x1[i % ", c(named), "];");
  place("  if (taken < 0) taken += ", size, ";");
  place("  return x0 + (i / ", c(named), " * ", c(size), " + (idx)taken) * ", c(run), " + j;");
  p.readings[0].place = place.text();
  p.readings[0].together = run;
  return p;
}

} // namespace benanza::backend::cuda::source
