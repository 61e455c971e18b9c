// SPDX-License-Identifier: Apache-2.0
// How do tensor cores add up inside Softmax, LayerNormalization and RMSNormalization? What is to be
// added up, exponentials or differences from a mean, is written to tiles of 16 x 16 in the block's
// own memory, with zeros where a row ends, and multiplied by ones (tile_row.hpp). Squares are added
// up as the diagonal of a tile's product with itself: no square has to be rounded, or to fit into
// f16. `mma16`: a warp has 16 rows, of which it takes 16 columns at a time; `mma256`: a warp has
// one row, of which it takes 256 elements at a time; `mma256x8`: a block has.
//
//   for (const kernel& k : tile_norms_of(*rows_of(op::softmax{...}, dtype::f16, 1), dtype::f16))
//     k.name;   // "mma16"
#pragma once

#include "row.hpp"
#include "tile_row.hpp"

namespace benanza::backend::cuda::source {

/// Layers in which rows are divided by sums of their own.
template <class Layer>
inline constexpr bool sums_inside = false;
template <>
inline constexpr bool sums_inside<op::softmax> = true;
template <>
inline constexpr bool sums_inside<op::layer_norm> = true;
template <>
inline constexpr bool sums_inside<op::rms_norm> = true;
template <class Norm>
inline constexpr bool sums_inside<op::residual<Norm>> = true;

namespace detail {

/// Writes the kernel in which a warp has 16 rows, or `warps` of a block have one.
class tile_norm_writer {
public:
  tile_norm_writer(const rows& r, std::int64_t warps, dtype type)
      : r_(r)
      , c_(r.count_in)
      , type_(*tile_type_of(type))
      , warps_(warps)
      , rows_of_block_(sixteen() ? in_block * tiles::side : in_block / warps) {}

  kernel made() {
    kernel k{.name = sixteen()     ? "mma16"
                     : warps_ == 1 ? "mma256"
                                   : "mma256x" + std::to_string(warps_),
             .blocks = (r_.count + rows_of_block_ - 1) / rows_of_block_,
             .least_architecture = type_.least_architecture};
    write_preamble(c_, out_);
    out_(r_.functions);
    write_tile_functions(type_, out_);
    out_(kernel_head(k.name), r_.parameters, r_.stored, "* __restrict__ y",
         r_.second_result.empty() ? ") {" : ", " + r_.stored + "* __restrict__ second) {");
    begin();
    for (const rows::finding& f : r_.by_tiles) {
      if (f.of_first)
        take_first(f);
      else if (f.term.empty())
        fold(f);
      else
        add_up(f);
      known_.push_back(f.name);
    }
    each_element("if (there) { y[at] = store(" + r_.each_result + ");" +
                 (r_.second_result.empty() ? "" : " second[at] = " + r_.second_result + ';') +
                 " }");
    out_("  }\n}");
    k.text = out_.text();
    return k;
  }

private:
  static constexpr std::int64_t in_block = threads_of_a_block / 32;

  bool sixteen() const { return warps_ == 0; }
  static std::string found(const std::string& name) { return "found_" + name; }

  void begin() {
    out_("  alignas(32) __shared__ float sums[", in_block * tiles::area, "];");
    out_("  alignas(32) __shared__ ", r_.stored, " terms[", in_block * tiles::area, "], turned[",
         in_block * tiles::area, "];");
    for (const rows::finding& f : r_.by_tiles)
      out_("  __shared__ float ", found(f.name), "[", rows_of_block_, "];");
    write_ones("true", type_, out_);
    out_("  load_right(constant, ones, 16u);");
    out_("  const unsigned int warp = threadIdx.x / 32u, lane = threadIdx.x % 32u;");
    out_("  float* const mine = sums + warp * 256u;");
    out_("  ", r_.stored, "* const tile = terms + warp * 256u;");
    out_("  const idx begin = (idx)blockIdx.x * ", c_(rows_of_block_), ";");
  }

  /// Who says what was found of a row: of 16 rows a thread each, of one the first thread.
  std::string speaker() const {
    return sixteen() ? "lane < 16u" : "threadIdx.x % " + std::to_string(32 * warps_) + "u == 0";
  }
  std::string its_row() const {
    return sixteen() ? "warp * 16u + lane" : "warp / " + std::to_string(warps_) + 'u';
  }
  /// What is known of row `own`.
  void recall() {
    for (const std::string& name : known_)
      out_("    const float ", name, " = ", found(name), "[own];");
  }

  /// Begins a loop over all elements, 256 of a warp at a time, eight by each thread: `what` sees
  /// whether its element is `there`, and its `place` in the 256, `v` and `at`. What is written next
  /// stands behind each 256, and closes the loop.
  void each_element(const std::string& what) {
    const std::int64_t step = sixteen() ? tiles::side : tiles::area * warps_;
    out_("  for (idx step = 0; step < ", c_((r_.length + step - 1) / step), "; ++step) {");
    out_("#pragma unroll\n  for (unsigned int k = 0; k < 8u; ++k) {");
    out_("    const unsigned int place = k * 32u + lane;");
    if (sixteen()) {
      out_("    const unsigned int own = warp * 16u + place / 16u;");
      out_("    const idx j = step * ", c_(16), " + place % 16u;");
    } else {
      out_("    const unsigned int own = ", its_row(), ";");
      out_("    const idx j = (step * ", c_(warps_), " + warp % ", warps_, "u) * ", c_(256),
           " + place;");
    }
    out_("    const bool there = begin + own < ", c_(r_.count), " && j < ", c_(r_.length), ";");
    out_("    const idx at = there ? place_of_row(begin + own) + place_in_row(j) : 0;");
    out_("    const float v = there ? ", r_.element, " : 0.0f;");
    recall();
    out_("    ", what, "\n  }");
  }

  /// The speaker's last word: `name`, of the partial finding that `value` is.
  void tell(const rows::finding& f, const std::string& value) {
    out_("    const unsigned int own = ", its_row(), ";");
    recall();
    out_("    float ", f.name, " = ", value, ";");
    if (!f.end.empty()) out_("    ", f.name, " = ", f.end, ";");
    out_("    ", found(f.name), "[own] = ", f.name, ";\n  }\n  __syncthreads();");
  }

  void take_first(const rows::finding& f) {
    out_("  if (", speaker(), " && begin + ", its_row(), " < ", c_(r_.count), ") {");
    out_("    const idx at = place_of_row(begin + ", its_row(), ") + place_in_row(0);");
    tell(f, r_.element);
  }

  /// `both` of `count` partial findings of a warp, `stride` apart; and of its warps.
  void join(const rows::finding& f, std::int64_t count, std::int64_t stride) {
    out_("  if (lane == 0) {\n    float all = mine[0];");
    out_("    for (unsigned int i = 1; i < ", count, "u; ++i) { const float a = all, b = mine[i * ",
         stride, "u]; all = ", f.both, "; }");
    out_("    mine[0] = all;\n  }\n  __syncthreads();");
    out_("  if (", speaker(), ") {\n    float all = mine[0];");
    out_("    for (unsigned int w = 1; w < ", warps_,
         "u; ++w) { const float a = all, b = mine[w * 256u]; all = ", f.both, "; }");
    tell(f, "all");
  }

  void fold(const rows::finding& f) {
    out_("  {\n  float some[8];\n#pragma unroll");
    out_("  for (unsigned int k = 0; k < 8u; ++k) some[k] = ", f.begin, ";");
    each_element("if (there) { const float so_far = some[k]; some[k] = " + f.each + "; }");
    out_("  }");
    if (sixteen()) {
      out_("#pragma unroll\n  for (unsigned int k = 0; k < 8u; ++k) mine[k * 32u + lane] = "
           "some[k];");
      out_("  __syncwarp();\n  if (lane < 16u) {\n    float all = mine[lane * 16u];");
      out_(
          "    for (unsigned int i = 1; i < 16u; ++i) { const float a = all, b = mine[lane * 16u + "
          "i]; all = ",
          f.both, "; }");
      tell(f, "all");
    } else {
      out_("  float one = some[0];\n#pragma unroll");
      out_("  for (unsigned int k = 1; k < 8u; ++k) { const float a = one, b = some[k]; one = ",
           f.both, "; }");
      out_("  mine[lane] = one;\n  __syncwarp();");
      join(f, 32, 1);
    }
    out_("  }");
  }

  void add_up(const rows::finding& f) {
    out_("  {\n  float_tile sum;\n  clear_tile(sum);");
    const bool two = f.squared || f.in_two; // tiles, of which the second lies in `turned`
    std::string keep =
        "const float term = there ? " + f.term + " : 0.0f; tile[place] = store(term);";
    if (f.squared) keep += " turned[warp * 256u + place % 16u * 16u + place / 16u] = tile[place];";
    if (f.in_two) keep += " turned[warp * 256u + place] = store(term - load(tile[place]));";
    each_element(keep);
    out_("  __syncwarp();\n  ", type_.name, " part", two ? ", other;" : ";");
    out_("  load_left(part, tile, 16u);");
    if (two) out_("  load_", f.squared ? "right" : "left", "(other, turned + warp * 256u, 16u);");
    out_("  add_product(sum, part, ", f.squared ? "other" : "constant", ");");
    if (f.in_two) out_("  add_product(sum, other, constant);");
    out_("  __syncwarp();\n  }");
    out_("  keep_tile(mine, sum);\n  __syncwarp();");
    // Row i of the products' first column, or of their diagonal.
    const std::int64_t stride = f.squared ? tiles::side + 1 : tiles::side;
    if (sixteen()) {
      out_("  if (lane < 16u) {");
      tell(f, "mine[lane * " + std::to_string(stride) + "u]");
    } else {
      join(f, tiles::side, stride);
    }
    out_("  }");
  }

  const rows& r_;
  const counter& c_;
  tile_type type_;
  std::int64_t warps_, rows_of_block_;
  std::vector<std::string> known_{};
  lines out_{};
};
} // namespace detail

/// The kernels by tiles of a layer's rows; none where these do not lie in one piece, or tensor
/// cores do not have the type.
inline std::vector<kernel> tile_norms_of(const rows& r, dtype type) {
  if (!detail::tile_type_of(type) || r.by_tiles.empty() || !r.contiguous) return {};
  // An exponential below 2^-25 is lost in f16: more of them would be missed in a sum.
  if (type == dtype::f16 && r.length > 0x8000) return {};
  std::vector<kernel> out;
  const auto add = [&](std::int64_t warps) {
    out.push_back(detail::tile_norm_writer(r, warps, type).made());
  };
  if (r.length >= tiles::side / 2 && r.count >= tiles::side) add(0);
  if (r.length >= tiles::area / 2) add(1);
  if (r.length >= 8 * tiles::area) add(8);
  return out;
}

} // namespace benanza::backend::cuda::source
