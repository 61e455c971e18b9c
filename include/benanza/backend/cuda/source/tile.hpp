// SPDX-License-Identifier: Apache-2.0
// How does a transposition read and write whole lines of memory? Through tiles of 32 x 32 elements
// in the block's own memory: a warp reads along the operand's innermost dim and writes along the
// result's. One column more than there are threads keeps the reads of columns off each other's
// banks.
//
//   if (auto k = tiled(block, operand_elements, 4)) k->name == "tile32";
#pragma once

#include "number.hpp"
#include "place.hpp"

#include <optional>

namespace benanza::backend::cuda::source {

inline constexpr std::int64_t tile_edge = 32;
/// Dims that are shorter leave too much of a tile empty.
inline constexpr std::int64_t shortest_tiled = 8;

/// The tiled kernel of a block; nothing where its innermost dims are the same one, or short.
inline std::optional<kernel> tiled(const block& b, std::int64_t operand_count,
                                   std::int64_t element_bytes) {
  const loop *columns = nullptr, *rows = nullptr; // of the tile as it is read
  for (const loop& l : b.loops) {
    if (l.from == 1) columns = &l;
    if (l.to == 1) rows = &l;
  }
  if (columns == nullptr || rows == nullptr || columns == rows) return std::nullopt;
  if (columns->count < shortest_tiled || rows->count < shortest_tiled) return std::nullopt;
  const counter c = counter::of(std::max(b.count(), operand_count));
  const auto tiles = [](const loop& l) { return (l.count + tile_edge - 1) / tile_edge; };
  const std::int64_t across = tiles(*columns), down = tiles(*rows);
  const std::string word = word_of(element_bytes);
  kernel k{.name = "tile32", .blocks = across * down};
  lines out;
  write_preamble(c, out);
  out(kernel_head(k.name), "const ", word, "* __restrict__ x0, ", word, "* __restrict__ y) {");
  out("  __shared__ ", word, " tile[", tile_edge, "][", tile_edge + 1, "];");
  out("  const idx x = threadIdx.x % ", c(tile_edge), ", line = threadIdx.x / ", c(tile_edge), ";");
  out("  idx rest = blockIdx.x, to = 0, from = ", c(b.from), ";");
  out("  const idx column = rest % ", c(across), " * ", c(tile_edge), ";\n  rest /= ", c(across),
      ";");
  out("  const idx row = rest % ", c(down), " * ", c(tile_edge), ";\n  rest /= ", c(down), ";");
  for (std::size_t i = b.loops.size(); i-- > 0;) {
    const loop& l = b.loops[i];
    if (&l == columns || &l == rows) continue;
    k.blocks *= l.count;
    out("  { const idx n = rest % ", c(l.count), ";");
    write_step(c, "to", "n", l.to, out);
    write_step(c, "from", "n", l.from, out);
    out("  rest /= ", c(l.count), "; }");
  }
  const auto each_line = [&](const std::string& what) {
    out("#pragma unroll");
    out("  for (idx n = line; n < ", c(tile_edge), "; n += ", c(threads_of_a_block / tile_edge),
        ")");
    out("    ", what);
  };
  const auto with_sign = [&c](std::int64_t stride) {
    return stride < 0 ? "(0u - " + c(-stride) + ')' : c(stride);
  };
  each_line("if (row + n < " + c(rows->count) + " && column + x < " + c(columns->count) +
            ") tile[n][x] = x0[from + (row + n) * " + with_sign(rows->from) + " + column + x];");
  out("  __syncthreads();");
  each_line("if (column + n < " + c(columns->count) + " && row + x < " + c(rows->count) +
            ") y[to + (column + n) * " + c(columns->to) + " + row + x] = tile[x][n];");
  out("}");
  k.text = out.text();
  return k;
}

} // namespace benanza::backend::cuda::source
