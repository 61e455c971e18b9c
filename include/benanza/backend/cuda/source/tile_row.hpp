// SPDX-License-Identifier: Apache-2.0
// How do tensor cores add up rows? By products of 16 x 16 tiles of f16 or bf16 with tiles of ones,
// added in f32 (backend/tile_sums.hpp). `mma16`: a warp has 16 rows, of which it takes 16 columns
// at a time. `mma256`: a warp has one row, of which it takes 256 elements at a time; `mma256x8`: a
// block has. The last 16 sums are added one by one: a product would round them to the type. f16
// from sm_70 on, bf16 from sm_80 on; in PTX, because NVRTC has no <mma.h>.
//
//   for (const kernel& k : tile_rows_of(op::reduce{...}, dtype::f16)) k.name;   // "mma16"
#pragma once

#include "../../row_sums.hpp"
#include "../../tile_sums.hpp"
#include "number.hpp"
#include "text.hpp"

namespace benanza::backend::cuda::source {

namespace detail {
/// What tiles of a type are in PTX and in the text.
struct tile_type {
  std::string name{};        ///< in the text
  std::string ptx{}, sums{}; ///< its suffix, and that of sums of products
  int registers = 8;         ///< of a thread, for a tile
  std::string one{};
  int least_architecture = 0;
};
/// Nothing where a type has no tiles.
inline std::optional<tile_type> tile_type_of(dtype type) {
  if (type == dtype::f16) return tile_type{"half_tile", "f16", "f32.f32", 8, "0x3c00", 70};
  if (type == dtype::bf16)
    return tile_type{"brain_tile", "bf16", "f32.bf16.bf16.f32", 4, "0x3f80", 80};
  return std::nullopt;
}

/// `%0, %1, ... ` and `"=r"(t.at[0]), ...` of so many registers.
inline std::string registers(int from, int count = 8) {
  std::string out = "{";
  for (int i = 0; i < count; ++i)
    out += (i == 0 ? "%" : ", %") + std::to_string(from + i);
  return out + '}';
}
inline std::string bound_registers(const std::string& kind, const std::string& of, int count = 8) {
  std::string out;
  for (int i = 0; i < count; ++i)
    out += (i == 0 ? "\"" : ", \"") + kind + "\"(" + of + ".at[" + std::to_string(i) + "])";
  return out;
}

/// Functions of tiles that all threads of a warp call together. Where there are no tensor cores
/// others of these names come before the text.
inline void write_tile_functions(const tile_type& t, lines& out) {
  const std::string head = "static __device__ __forceinline__ void ";
  const int n = t.registers;
  out("#ifdef __CUDACC__\nstruct ", t.name, " { unsigned int at[", n, "]; };");
  out("struct float_tile { float at[8]; };");
  const auto load = [&](const char* name, const char* which) {
    out(head, name, "(", t.name, "& t, const unsigned short* from, unsigned int row) {");
    out("  asm volatile(\"wmma.load.", which, ".sync.aligned.row.m16n16k16.", t.ptx, " ",
        registers(0, n), ", [%", n, "], %", n + 1, ";\"\n      : ", bound_registers("=r", "t", n),
        "\n      : \"l\"(from), \"r\"(row) : \"memory\");\n}");
  };
  load("load_left", "a");
  load("load_right", "b");
  out(head, "clear_tile(float_tile& t) {\n#pragma unroll\n  for (int i = 0; i < 8; ++i) t.at[i] = "
            "0.0f;\n}");
  out(head, "add_product(float_tile& c, const ", t.name, "& a, const ", t.name, "& b) {");
  out("  asm volatile(\"wmma.mma.sync.aligned.row.row.m16n16k16.", t.sums, " ", registers(0), ", ",
      registers(8, n), ", ", registers(8 + n, n), ", ", registers(0),
      ";\"\n      : ", bound_registers("+f", "c"), "\n      : ", bound_registers("r", "a", n), ", ",
      bound_registers("r", "b", n), ");\n}");
  out(head, "keep_tile(float* to, const float_tile& t) {");
  out("  asm volatile(\"wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%1, %2, %3, %4, %5, %6, "
      "%7, %8}, %9;\"\n      : : \"l\"(to), ",
      bound_registers("f", "t"), ", \"r\"(16u) : \"memory\");\n}\n#endif");
}

/// What a kernel of tiles begins with: the tile of ones where `where` says so (of `i`).
inline void write_ones(const std::string& where, const tile_type& t, lines& out) {
  out("  alignas(32) __shared__ unsigned short ones[256];");
  out("  { const unsigned int i = threadIdx.x; ones[i] = ", where, " ? ", t.one, " : 0; }");
  out("  __syncthreads();\n  ", t.name, " constant;");
}
} // namespace detail

/// The kernel in which a warp adds up 16 rows.
inline kernel written_by_sixteens(const row_sums& r, dtype type) {
  const arithmetic a = *arithmetic_of(type);
  const detail::tile_type t = *detail::tile_type_of(type);
  const counter c = counter::of(r.outer * r.reduced);
  constexpr std::int64_t warps = threads_of_a_block / 32;
  kernel k{.name = "mma16", .least_architecture = t.least_architecture};
  const std::int64_t tiles = (r.outer + 15) / 16;
  k.blocks = (tiles + warps - 1) / warps;
  lines out;
  write_preamble(c, out);
  out(a.functions);
  detail::write_tile_functions(t, out);
  out(kernel_head(k.name),
      "const unsigned short* __restrict__ x0, unsigned short* __restrict__ y) {");
  out("  alignas(32) __shared__ float sums[", warps * 256, "];");
  detail::write_ones("true", t, out);
  out("  const unsigned int warp = threadIdx.x / 32u, lane = threadIdx.x % 32u;");
  out("  idx row = ((idx)blockIdx.x * ", c(warps), " + warp) * ", c(16), ";");
  // Where fewer than 16 rows are left, the last warp repeats rows of another one.
  out("  if (row + ", c(16), " > ", c(r.outer), ") row = ", c(r.outer - 16), ";");
  out("  ", t.name, " part;\n  float_tile sum;\n  clear_tile(sum);");
  out("  load_right(constant, ones, 16u);");
  out("  const unsigned short* from = x0 + row * ", c(r.reduced), ";");
  out("  for (unsigned int k = 0; k < ", r.reduced / 16, "u; ++k, from += 16) {");
  out("    load_left(part, from, ", r.reduced, "u);\n    add_product(sum, part, constant);\n  }");
  out("  float* const mine = sums + warp * 256u;\n  keep_tile(mine, sum);\n  __syncthreads();");
  out("  if (lane < 16u) y[row + lane] = store(mine[lane * 16u] * ", literal(r.factor, a), ");\n}");
  k.text = out.text();
  return k;
}

/// The kernel in which `warps` warps, 1 or all of a block, add up a row.
inline kernel written_by_areas(const row_sums& r, std::int64_t warps, dtype type) {
  const arithmetic a = *arithmetic_of(type);
  const detail::tile_type t = *detail::tile_type_of(type);
  const counter c = counter::of(r.outer * r.reduced);
  constexpr std::int64_t in_block = threads_of_a_block / 32;
  const std::int64_t at_once = in_block / warps, tiles = r.reduced / tiles::area;
  kernel k{.name = warps == 1 ? "mma256" : "mma256x" + std::to_string(warps),
           .least_architecture = t.least_architecture};
  k.blocks = (r.outer + at_once - 1) / at_once;
  lines out;
  write_preamble(c, out);
  out(a.functions);
  detail::write_tile_functions(t, out);
  out(kernel_head(k.name),
      "const unsigned short* __restrict__ x0, unsigned short* __restrict__ y) {");
  out("  alignas(32) __shared__ float sums[", in_block * 256, "];");
  detail::write_ones("i < 16u", t, out);
  out("  const unsigned int warp = threadIdx.x / 32u;");
  out("  const idx row = (idx)blockIdx.x * ", c(at_once), " + warp / ", warps, "u;");
  out("  ", t.name, " part;\n  float_tile sum;\n  clear_tile(sum);");
  out("  load_left(constant, ones, 16u);");
  out("  if (row < ", c(r.outer), ") {");
  out("    const unsigned short* const from = x0 + row * ", c(r.reduced), ";");
  out("    for (unsigned int k = warp % ", warps, "u; k < ", tiles, "u; k += ", warps, "u) {");
  out("      load_right(part, from + k * 256u, 16u);");
  out("      add_product(sum, constant, part);\n    }\n  }");
  out("  keep_tile(sums + warp * 256u, sum);\n  __syncthreads();");
  out("  if (row < ", c(r.outer), " && threadIdx.x % ", 32 * warps, "u == 0) {");
  out("    float total = 0.0f;");
  out("    for (unsigned int w = 0; w < ", warps, "u; ++w)");
  out("      for (unsigned int i = 0; i < 16u; ++i) total += sums[(warp + w) * 256u + i];");
  out("    y[row] = store(total * ", literal(r.factor, a), ");\n  }\n}");
  k.text = out.text();
  return k;
}

/// The kernels by tiles of a sum or mean along the last dims, or of a global average; none where
/// rows are not made of tiles, or tensor cores do not have the type.
template <class Layer>
requires requires(const Layer& l) {
  row_sums_of(l);
}
std::vector<kernel> tile_rows_of(const Layer& l, dtype type) {
  const auto sums = row_sums_of(l);
  if (!detail::tile_type_of(type) || !sums || sums->inner != 1) return {};
  const row_sums& r = *sums;
  std::vector<kernel> out;
  if (r.reduced % tiles::side == 0 && r.reduced < 0x10000 && r.outer >= tiles::side)
    out.push_back(written_by_sixteens(r, type));
  if (r.reduced % tiles::area != 0) return out;
  out.push_back(written_by_areas(r, 1, type));
  if (r.reduced >= 8 * tiles::area) out.push_back(written_by_areas(r, 8, type));
  return out;
}

} // namespace benanza::backend::cuda::source
