// SPDX-License-Identifier: Apache-2.0
// Products with weights of few bits by rows: an element of the result is a row, whose threads take
// a word of codes each, with the numbers that these meet, and add up. Weights are read once for
// each row of the other operand: good for a token or two.
//
//   rows r = *rows_of(op::matmul_nbits{.a = {1, 2048}, .n = 5632, .block = 32}, dtype::f16, 1);
#pragma once

#include "../../../op/matmul_nbits.hpp"
#include "row.hpp"

#include <algorithm>

namespace benanza::backend::cuda::source {

namespace detail {
/// Where a row of a product's elements is, and which column of the weights it meets.
inline std::string places_of_products(std::int64_t n, std::int64_t experts, std::int64_t its_rows,
                                      const counter& c) {
  const std::string head = "static __device__ __forceinline__ ";
  lines out;
  out(head, "idx place_of_row(idx) { return 0; }");
  out(head, "idx place_in_row(idx j) { return j; }");
  out(head, "idx column_of(idx row) {");
  if (experts > 1)
    out("  const idx expert = (idx)((unsigned long long)(row / ", c(n), ") * ", experts, "ull / ",
        its_rows, "ull);\n  return expert * ", c(n), " + row % ", c(n), ";\n}");
  else
    out("  return row % ", c(n), ";\n}");
  return out.text();
}
} // namespace detail

inline std::optional<rows> rows_of(const op::matmul_nbits& l, dtype type, double) {
  const auto a = arithmetic_of(type);
  if (!a || a->whole || type == dtype::s8 || type == dtype::u8) return std::nullopt;
  const std::int64_t bits = l.bits, block_bytes = l.block * bits / 8, blocks = l.blocks();
  // Words of four bytes, where the sum's length is a whole number of them.
  const std::int64_t in_word = 32 / bits, at_once = l.length() % in_word == 0 ? in_word : 1;
  rows r = detail::begun(l.a, *a);
  r.count_in = counter::of(std::max({elements(l.a), elements(l.codes()), elements(l.output())}));
  r.count = elements(l.output());
  r.length = l.length() / at_once;
  r.contiguous = true;
  const counter& c = r.count_in;
  const auto add = [&r](std::string_view element, std::string_view name) {
    r.parameters.append("const ").append(element).append("* __restrict__ ").append(name) += ", ";
  };
  add("unsigned char", "codes");
  add(a->stored, "scales");
  if (l.zero_points || l.bias) add("unsigned char", "zeros");
  if (l.bias) add("unsigned char", "none"), add(a->stored, "bias");

  lines out;
  const std::string head = "static __device__ __forceinline__ ";
  out(detail::places_of_products(l.n, l.experts, l.rows(), c));
  out(head, "float product(const ", a->stored, "* x, const unsigned char* codes, const ", a->stored,
      "* scales, ", l.zero_points ? "const unsigned char* zeros, " : "", "idx row, idx j) {");
  out("  const idx column = column_of(row), k = j * ", c(at_once), ", block = k / ", c(l.block),
      ";");
  out("  const unsigned char* at = codes + (column * ", c(blocks), " + block) * ", c(block_bytes),
      " + k % ", c(l.block), " * ", c(bits), " / ", c(8), ";");
  if (l.zero_points)
    out("  const int zero = zeros[column * ", c(l.packed_zero_points()[1]), " + block * ", c(bits),
        " / ", c(8), "] >> (block * ", c(bits), " % ", c(8), ") & ", (1 << bits) - 1, ";");
  else
    out("  const int zero = ", std::int64_t{1} << (bits - 1), ";");
  if (at_once > 1) {
    out("  const unsigned int word = *(const unsigned int*)at;\n  float sum = 0.0f;");
    out("#pragma unroll");
    out("  for (int i = 0; i < ", at_once, "; ++i)");
    out("    sum += load(x[row / ", c(l.n), " * ", c(l.length()),
        " + k + i]) * (float)((int)(word >> ", bits, " * i & ", (1 << bits) - 1, ") - zero);");
  } else {
    out("  const int code = *at >> (k * ", c(bits), " % ", c(8), ") & ", (1 << bits) - 1, ";");
    out("  const float sum = load(x[row / ", c(l.n), " * ", c(l.length()),
        " + k]) * (float)(code - zero);");
  }
  out("  return sum * load(scales[column * ", c(blocks), " + block]);\n}");
  r.functions += out.text();
  r.element =
      std::string("product(x0, codes, scales, ") + (l.zero_points ? "zeros, " : "") + "row, j)";
  r.findings.push_back(detail::sum_of("sum", "v"));
  r.result = l.bias ? "sum + load(bias[column_of(row)])" : "sum";
  return r;
}

} // namespace benanza::backend::cuda::source
