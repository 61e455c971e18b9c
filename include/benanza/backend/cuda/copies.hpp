// SPDX-License-Identifier: Apache-2.0
// Can the CUDA runtime's own copies do a layer? A plan of copies of one to three dims
// (cudaMemcpyAsync, cudaMemcpy2DAsync, cudaMemcpy3DAsync), with zeros written first where Pad wants
// them; as few copies as there can be, and none where it would take more than `most_copies` or runs
// of single elements. All in bytes. No GPU is needed for the plan.
//
//   copy_plan p = *copies_for(op::parse("Concat/1x256x28x28-a1-n4"), 4);   p.copies.size() == 4
#pragma once

#include "strided.hpp"

namespace benanza::backend::cuda {

/// More copies than this are no algorithm.
inline constexpr std::int64_t most_copies_of_a_layer = 64;
/// No pitch may be larger.
inline constexpr std::int64_t largest_pitch_bytes = 0x7fffffff;

/// `planes` of `rows` of runs of `width`; pitches are from row to row and from plane to plane.
struct copy {
  int operand = 0;
  std::int64_t to = 0, from = 0; ///< where the first run begins
  std::int64_t width = 0, rows = 1, planes = 1;
  std::int64_t to_pitch = 0, from_pitch = 0;
  std::int64_t to_plane = 0, from_plane = 0;
  bool operator==(const copy&) const = default;
};

/// Copies that do a layer together, in any order.
struct copy_plan {
  bool zeros_first = false; ///< the whole result is set to zero before
  std::vector<copy> copies{};
};

namespace detail {

/// True where the runtime takes the loop as rows of `width` bytes.
inline bool are_rows(const loop& l, std::int64_t width) {
  return l.to >= width && l.from >= width && l.to <= largest_pitch_bytes &&
         l.from <= largest_pitch_bytes;
}

/// True where the runtime takes `outer` as planes of rows `inner`: it counts in whole pitches.
inline bool are_planes(const loop& outer, const loop& inner) {
  const auto whole = [&inner](std::int64_t plane, std::int64_t pitch) {
    return plane > 0 && plane % pitch == 0 && plane / pitch >= inner.count;
  };
  return whole(outer.to, inner.to) && whole(outer.from, inner.from);
}

/// `c` again for every combination of the counts of `left`.
inline void repeat(copy c, const std::vector<loop>& left, std::size_t at, std::vector<copy>& out) {
  if (at == left.size()) {
    out.push_back(c);
    return;
  }
  for (std::int64_t i = 0; i < left[at].count; ++i) {
    repeat(c, left, at + 1, out);
    c.to += left[at].to;
    c.from += left[at].from;
  }
}

/// Adds the copies of a block; false where there are none, or too many.
inline bool add_copies(const block& b, std::int64_t element_bytes, std::vector<copy>& out) {
  std::vector<loop> loops = b.loops;
  for (loop& l : loops) {
    l.to *= element_bytes;
    l.from *= element_bytes;
    if (l.from <= 0) return false;
  }
  copy c{.operand = b.operand,
         .to = b.to * element_bytes,
         .from = b.from * element_bytes,
         .width = element_bytes};
  if (!b.loops.empty()) {
    if (b.loops.back().to != 1 || b.loops.back().from != 1) return false;
    c.width *= b.loops.back().count;
    loops.pop_back();
  }
  // Which loop is the rows and which the planes: those that leave the fewest copies.
  std::size_t none = loops.size(), rows = none, planes = none;
  std::int64_t best = 1;
  for (std::size_t r = 0; r < loops.size(); ++r) {
    if (!are_rows(loops[r], c.width)) continue;
    if (loops[r].count > best) rows = r, planes = none, best = loops[r].count;
    for (std::size_t p = 0; p < loops.size(); ++p)
      if (p != r && are_planes(loops[p], loops[r]) && loops[r].count * loops[p].count > best)
        rows = r, planes = p, best = loops[r].count * loops[p].count;
  }
  if (b.count() * element_bytes / c.width / best > most_copies_of_a_layer) return false;
  std::vector<loop> left;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    if (i == rows) c.rows = loops[i].count, c.to_pitch = loops[i].to, c.from_pitch = loops[i].from;
    if (i == planes)
      c.planes = loops[i].count, c.to_plane = loops[i].to, c.from_plane = loops[i].from;
    if (i != rows && i != planes) left.push_back(loops[i]);
  }
  repeat(c, left, 0, out);
  return static_cast<std::int64_t>(out.size()) <= most_copies_of_a_layer;
}
} // namespace detail

/// The copies that do a layer of elements of so many bytes; nothing where none can.
inline std::optional<copy_plan> copies_for(const op::layer& l, std::int64_t element_bytes) {
  if (is_empty(l)) return std::nullopt;
  const auto what = blocks_of(l);
  if (!what) return std::nullopt;
  copy_plan plan{.zeros_first = what->zeros_first};
  for (const block& b : what->moved)
    if (!detail::add_copies(b, element_bytes, plan.copies)) return std::nullopt;
  return plan;
}

} // namespace benanza::backend::cuda
