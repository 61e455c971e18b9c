// SPDX-License-Identifier: Apache-2.0
// Weights in ggml's blocks, in the words of C: a function gives the number at a place of a block
// (backend/ggml_blocks.hpp says what it is). A product is rows of an element each, as with codes of
// few bits; rows of a table are looked up.
//
//   rows r = *rows_of(op::matmul_ggml{.a = {1, 2048}, .n = 5632}, dtype::f16, 1);
#pragma once

#include "../../../op/gather_ggml.hpp"
#include "../../../op/matmul_ggml.hpp"
#include "../../ggml_blocks.hpp"
#include "codes_row.hpp"
#include "typed.hpp"

namespace benanza::backend::cuda::source {

namespace detail {

/// `weight(b, i)`: the number at place `i` of the block at `b`.
inline std::string ggml_functions(op::ggml_format f) {
  using enum op::ggml_format;
  const std::string head = "static __device__ __forceinline__ ";
  std::string out = half_functions() + head +
                    "float half_at(const unsigned char* b) {\n"
                    "  return from_half((unsigned short)(b[0] | b[1] << 8));\n}\n" +
                    head +
                    "int nibble(const unsigned char* b, int half, int i) {\n"
                    "  return i < half ? b[i] & 15 : b[i - half] >> 4;\n}\n" +
                    head +
                    "int bit(const unsigned char* b, int i) { return b[i / 8] >> (i % 8) & 1; }\n";
  if (f == q4_k || f == q5_k) // scale and minimum of a part, of six bits each
    out += head +
           "int part_scale(const unsigned char* b, int k) {\n"
           "  return k < 4 ? b[k] & 63 : (b[k + 4] & 15) | b[k - 4] >> 6 << 4;\n}\n" +
           head +
           "int part_least(const unsigned char* b, int k) {\n"
           "  return k < 4 ? b[k + 4] & 63 : b[k + 4] >> 4 | b[k] >> 6 << 4;\n}\n";
  const auto table = [&out](const auto& values) {
    out += "static __device__ const signed char meant[16] = {";
    for (const int v : values)
      out += std::to_string(v) + ", ";
    out += "};\n";
  };
  if (f == iq4_nl || f == iq4_xs) table(iq4_values);
  if (f == mxfp4) table(fp4_values);
  out += head + "float weight(const unsigned char* b, int i) {\n";
  switch (f) {
  case op::ggml_format::f16: out += "  return half_at(b);\n"; break;
  case op::ggml_format::bf16:
    out += "  union { unsigned int word; float value; } v;\n"
           "  v.word = (unsigned int)(b[0] | b[1] << 8) << 16;\n  return v.value;\n";
    break;
  case q4_0: out += "  return (float)(nibble(b + 2, 16, i) - 8) * half_at(b);\n"; break;
  case q4_1: out += "  return (float)nibble(b + 4, 16, i) * half_at(b) + half_at(b + 2);\n"; break;
  case q5_0:
    out += "  return (float)((nibble(b + 6, 16, i) | bit(b + 2, i) << 4) - 16) * half_at(b);\n";
    break;
  case q5_1:
    out += "  return (float)(nibble(b + 8, 16, i) | bit(b + 4, i) << 4) * half_at(b) +\n"
           "         half_at(b + 2);\n";
    break;
  case q8_0: out += "  return (float)(signed char)b[2 + i] * half_at(b);\n"; break;
  case q4_k:
  case q5_k:
    out += std::string("  const int k = i / 32;\n  int code = nibble(b + ") +
           (f == q4_k ? "16" : "48") + " + i / 64 * 32, 32, i % 64);\n" +
           (f == q5_k ? "  code |= (b[16 + i % 32] >> k & 1) << 4;\n" : "") +
           "  return half_at(b) * (float)part_scale(b + 4, k) * (float)code -\n"
           "         half_at(b + 2) * (float)part_least(b + 4, k);\n";
    break;
  case q6_k:
    out += "  const int half = i / 128, k = i % 128, row = k / 32, l = k % 32;\n"
           "  const int low = b[half * 64 + row % 2 * 32 + l] >> (row / 2 * 4) & 15;\n"
           "  const int high = b[128 + half * 32 + l] >> (2 * row) & 3;\n"
           "  return half_at(b + 208) * (float)(signed char)b[192 + i / 16] *\n"
           "         (float)((low | high << 4) - 32);\n";
    break;
  case iq4_nl: out += "  return half_at(b) * (float)meant[nibble(b + 2, 16, i)];\n"; break;
  case iq4_xs:
    out += "  const int k = i / 32, low = b[4 + k / 2] >> (k % 2 * 4) & 15;\n"
           "  const int high = (b[2] | b[3] << 8) >> (2 * k) & 3;\n"
           "  return half_at(b) * (float)((low | high << 4) - 32) *\n"
           "         (float)meant[nibble(b + 8 + k * 16, 16, i % 32)];\n";
    break;
  case mxfp4:
    out += "  return ldexpf((float)meant[nibble(b + 1, 16, i)], (int)b[0] - 128);\n";
    break;
  }
  return out + "}\n";
}
} // namespace detail

inline std::optional<rows> rows_of(const op::matmul_ggml& l, dtype type, double) {
  const auto a = arithmetic_of(type);
  if (!a || a->whole || type == dtype::s8 || type == dtype::u8) return std::nullopt;
  const op::ggml_block block = op::block_of(l.format);
  constexpr std::int64_t at_once = 8; // blocks hold as many, and those of one number are read alone
  const std::int64_t together = block.weights % at_once == 0 ? at_once : 1;
  rows r = detail::begun(l.a, *a);
  r.count_in = counter::of(std::max({elements(l.a), elements(l.weights()), elements(l.output())}));
  r.count = elements(l.output());
  r.length = l.length() / together;
  r.contiguous = true;
  r.parameters += "const unsigned char* __restrict__ blocks, ";
  const counter& c = r.count_in;
  lines out;
  out(detail::ggml_functions(l.format), detail::places_of_products(l.n, l.experts, l.rows(), c));
  out("static __device__ __forceinline__ float product(const ", a->stored,
      "* x, const unsigned char* blocks, idx row, idx j) {");
  out("  const idx k = j * ", c(together), ";");
  out("  const unsigned char* b = blocks + column_of(row) * ", c(l.weights()[1]), " + k / ",
      c(block.weights), " * ", c(block.bytes), ";");
  out("  float sum = 0.0f;\n#pragma unroll");
  out("  for (int i = 0; i < ", together, "; ++i)");
  out("    sum += load(x[row / ", c(l.n), " * ", c(l.length()), " + k + i]) * weight(b, (int)(k % ",
      c(block.weights), ") + i);");
  out("  return sum;\n}");
  r.functions += out.text();
  r.element = "product(x0, blocks, row, j)";
  r.findings.push_back(detail::sum_of("sum", "v"));
  r.result = "sum";
  return r;
}

inline std::optional<program> typed_program_of(const op::gather_ggml& l, numeric t) {
  const auto a = arithmetic_of(source_of(t));
  if (!a || quantised(t)) return std::nullopt;
  const op::ggml_block block = op::block_of(l.format);
  detail::placed out(l.output(), a->stored, size_bytes(source_of(t)));
  out.operand("unsigned char");
  out.operand("long long");
  out.functions(a->functions + detail::ggml_functions(l.format));
  const counter c = counter::of(std::max(elements(l.table()), elements(l.output())));
  out.counts_in(c);
  lines text;
  text("  const long long named = x1[i / ", c(l.data[1]), "];");
  text("  const idx row = (idx)(named < 0 ? named + ", l.data[0], " : named), k = i % ",
       c(l.data[1]), ";");
  text("  return store(weight(x0 + row * ", c(l.row_bytes()), " + k / ", c(block.weights), " * ",
       c(block.bytes), ", (int)(k % ", c(block.weights), ")));");
  return out.finish(text.text());
}

} // namespace benanza::backend::cuda::source
