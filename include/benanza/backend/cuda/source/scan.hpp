// SPDX-License-Identifier: Apache-2.0
// Kernels of running sums and products. `line1`: a thread goes along a line, whichever its axis.
// Sums of f16 and bf16 along rows of whole tiles also by tensor cores (backend/tile_sums.hpp):
// `mma16`, whose tiles have 16 rows of 16, and `mma256`, in which a warp has a row. The sum before
// a row of a tile is added in f32: two more products would round it to the type.
//
//   for (const kernel& k : scans_of(op::cumulate{.input = {8, 512}, .axis = 1}, dtype::f16))
//   k.name;
#pragma once

#include "tile_row.hpp"

#include "../../../op/cumulate.hpp"

namespace benanza::backend::cuda::source {

namespace detail {
/// A thread for each line.
inline kernel written_by_lines(const op::cumulate& l, const arithmetic& a) {
  const std::int64_t size = l.input[l.axis], inner = elements(l.input, l.axis + 1, l.input.size);
  const std::int64_t lines_of = elements(l.input) / size;
  const counter c = counter::of(elements(l.input));
  kernel k{.name = "line1", .blocks = (lines_of + threads_of_a_block - 1) / threads_of_a_block};
  lines out;
  write_preamble(c, out);
  out(a.functions);
  out(kernel_head(k.name), "const ", a.stored, "* __restrict__ x0, ", a.stored,
      "* __restrict__ y) {");
  out("  const idx line = (idx)blockIdx.x * ", c(threads_of_a_block), " + threadIdx.x;");
  out("  if (line >= ", c(lines_of), ") return;");
  out("  const idx first = line / ", c(inner), " * ", c(inner * size), " + line % ", c(inner), ";");
  out("  ", a.computed, " all = ", l.product ? "1" : "0", ";");
  out("  for (idx k = 0; k < ", c(size), "; ++k) {");
  out("    const idx at = first + ", l.reverse ? "(" + c(size - 1) + " - k)" : std::string("k"),
      " * ", c(inner), ";");
  out("    const ", a.computed, " v = load(x0[at]);");
  if (l.exclusive) out("    y[at] = store(all);");
  out("    all = all ", l.product ? "*" : "+", " v;");
  if (!l.exclusive) out("    y[at] = store(all);");
  out("  }\n}");
  k.text = out.text();
  return k;
}

/// Tiles of 256 elements: of 16 rows each, or of one row of `length`, one after the other.
inline kernel written_by_tiles(std::int64_t count, std::int64_t length, dtype type) {
  const arithmetic a = *arithmetic_of(type);
  const tile_type t = *tile_type_of(type);
  const counter c = counter::of(count * length);
  constexpr std::int64_t warps = threads_of_a_block / 32;
  const bool short_rows = length == tiles::side;
  const std::int64_t parts = short_rows ? count / tiles::side : count; // a warp's
  kernel k{.name = short_rows ? "mma16" : "mma256",
           .blocks = (parts + warps - 1) / warps,
           .least_architecture = t.least_architecture};
  lines out;
  write_preamble(c, out);
  out(a.functions);
  write_tile_functions(t, out);
  out(kernel_head(k.name),
      "const unsigned short* __restrict__ x0, unsigned short* __restrict__ y) {");
  out("  alignas(32) __shared__ float sums[", warps * 256, "];");
  out("  __shared__ float earlier[", warps * 16, "];");
  write_ones("i / 16u <= i % 16u", t, out);
  out("  load_right(constant, ones, 16u);");
  out("  const unsigned int warp = threadIdx.x / 32u, lane = threadIdx.x % 32u;");
  out("  const idx part = (idx)blockIdx.x * ", c(warps), " + warp;");
  out("  const bool works = part < ", c(parts), ";");
  out("  idx at = part * ", c(short_rows ? tiles::area : length), ";");
  out("  float* const mine = sums + warp * 256u;\n  float* const before = earlier + warp * 16u;");
  out("  float carried = 0.0f;");
  out("  for (unsigned int k = 0; k < ", short_rows ? 1 : length / tiles::area,
      "u; ++k, at += 256u) {");
  out("    if (works) {\n      ", t.name, " some;\n      float_tile sum;\n      clear_tile(sum);");
  out("      load_left(some, x0 + at, 16u);\n      add_product(sum, some, constant);");
  out("      keep_tile(mine, sum);\n    }\n    __syncthreads();");
  out("    if (works && lane < 16u) {\n      float all = carried;");
  if (!short_rows) out("      for (unsigned int i = 0; i < lane; ++i) all += mine[i * 16u + 15u];");
  out("      before[lane] = all;\n    }\n    __syncthreads();");
  out("    if (works) {");
  out("      for (unsigned int i = lane; i < 256u; i += 32u)");
  out("        y[at + i] = store(mine[i] + before[i / 16u]);");
  if (!short_rows) out("      carried = before[15] + mine[255];");
  out("    }\n    __syncthreads();\n  }\n}");
  k.text = out.text();
  return k;
}
} // namespace detail

/// All kernels of a running sum or product; none for types that kernels cannot compute with.
inline std::vector<kernel> scans_of(const op::cumulate& l, dtype type) {
  const auto a = arithmetic_of(type);
  if (!a) return {};
  std::vector<kernel> out{detail::written_by_lines(l, *a)};
  const std::int64_t length = l.input[l.axis], count = elements(l.input) / length;
  const bool rows = elements(l.input, l.axis + 1, l.input.size) == 1;
  if (!detail::tile_type_of(type) || l.product || l.exclusive || l.reverse || !rows) return out;
  if ((length == tiles::side && count % tiles::side == 0) || length % tiles::area == 0)
    out.push_back(detail::written_by_tiles(count, length, type));
  return out;
}

} // namespace benanza::backend::cuda::source
