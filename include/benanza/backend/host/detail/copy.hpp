// SPDX-License-Identifier: Apache-2.0
// How does a tensor reach its result when each output dim walks the input at a fixed stride (Slice,
// Transpose, DepthToSpace)? By rows where the last dim stays last, by tiles where two dims change
// places, by single elements where neither is dense (steps, negative steps).
//
//   strided_copy copy(loops, offset, 4);   copy.run(threads, from, to);   copy.way() == "tiled"
#pragma once

#include "loops.hpp"
#include "share.hpp"
#include "tile.hpp"

#include <cstddef>
#include <string>

namespace benanza::backend::host::detail {

/// Copies as many bytes as a `Unit` has, in one load and one store.
template <class Unit>
[[gnu::always_inline]] inline void copy_unit(std::byte* __restrict to,
                                             const std::byte* __restrict from) {
  Unit unit;
  std::memcpy(&unit, from, sizeof unit);
  std::memcpy(to, &unit, sizeof unit);
}

/// memcpy whose short cases are inlined: rows of some dozen bytes would spend their time in the
/// call. What is left of a row is covered by a last unit that overlaps the one before.
[[gnu::always_inline]] inline void copy_bytes(std::byte* __restrict to,
                                              const std::byte* __restrict from, std::int64_t n) {
  typedef std::uint64_t half __attribute__((vector_size(16)));
  typedef std::uint64_t line __attribute__((vector_size(32)));
  if (n > 512) {
    std::memcpy(to, from, static_cast<std::size_t>(n));
  } else if (n >= 32) {
    for (std::int64_t i = 0; i + 32 < n; i += 32)
      copy_unit<line>(to + i, from + i);
    copy_unit<line>(to + n - 32, from + n - 32);
  } else if (n >= 16) {
    copy_unit<half>(to, from);
    copy_unit<half>(to + n - 16, from + n - 16);
  } else if (n >= 8) {
    copy_unit<std::uint64_t>(to, from);
    copy_unit<std::uint64_t>(to + n - 8, from + n - 8);
  } else if (n >= 4) {
    copy_unit<std::uint32_t>(to, from);
    copy_unit<std::uint32_t>(to + n - 4, from + n - 4);
  } else if (n >= 2) {
    copy_unit<std::uint16_t>(to, from);
    copy_unit<std::uint16_t>(to + n - 2, from + n - 2);
  } else if (n == 1) {
    *to = *from;
  }
}

/// Calls `f` with an unsigned type of `width` bytes: data movers care for nothing else.
template <class F>
void with_width(std::int64_t width, F&& f) {
  switch (width) {
  case 1: return f(std::uint8_t{});
  case 2: return f(std::uint16_t{});
  case 4: return f(std::uint32_t{});
  default: return f(std::uint64_t{});
  }
}

/// A row of one element again and again, in units of 32 bytes; the last overlaps the one before.
template <class E>
void fill_row(E* to, E value, std::int64_t n) {
  typedef E line __attribute__((vector_size(32)));
  constexpr auto lanes = static_cast<std::int64_t>(32 / sizeof(E));
  if (n < lanes) {
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = value;
    return;
  }
  const line unit = line{} + value;
  for (std::int64_t i = 0; i + lanes < n; i += lanes)
    std::memcpy(to + i, &unit, sizeof unit);
  std::memcpy(to + n - lanes, &unit, sizeof unit);
}

/// A row of elements taken at a stride; the common ones are constants, which the compiler
/// vectorises.
template <class E>
void copy_strided_row(E* __restrict to, const E* __restrict from, std::int64_t stride,
                      std::int64_t n) {
  if (stride == 0)
    fill_row(to, *from, n);
  else if (stride == -1)
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = from[-i];
  else if (stride == 2)
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = from[2 * i];
  else
    for (std::int64_t i = 0; i < n; ++i)
      to[i] = from[i * stride];
}

/// A copy into a dense result whose dims each walk the input at a stride.
class strided_copy {
public:
  /// Operand 0 of the loops is the dense result, operand 1 the input; `offset` and strides count
  /// elements of `width` bytes.
  strided_copy(loops<2> l, std::int64_t offset, std::int64_t width)
      : loops_(l)
      , offset_(offset)
      , width_(width) {
    loops_.simplify();
    fuse_short_rows();
    const int last = loops_.rank - 1;
    // One element again and again fills a row; short rows of it are a transposition.
    const bool filled = last >= 0 && loops_.stride[last][1] == 0 && loops_.size[last] * width_ > 64;
    const bool dense = last < 0 || loops_.stride[last][1] == 1 || filled;
    for (int i = 0; !dense && i < last; ++i)
      if (loops_.stride[i][1] == 1) exchanged_ = i;
    if (exchanged_ >= 0) bring_exchanged_inward();
    loops_.widen(2);
  }

  std::string way() const {
    if (exchanged_ >= 0) return "tiled";
    return loops_.stride[loops_.rank - 1][1] == 1 ? "copy" : "strided";
  }

  void run(int threads, const std::byte* from, std::byte* to) const {
    if (exchanged_ >= 0)
      return with_width(width_, [&](auto e) {
        tiles(threads, reinterpret_cast<const decltype(e)*>(from),
              reinterpret_cast<decltype(e)*>(to));
      });
    const std::int64_t rows = loops_.count(0, loops_.rank - 1), n = loops_.size[loops_.rank - 1];
    if (rows < 2 * threads)
      share(threads, n, 4096 / width_, [&](std::int64_t begin, std::int64_t end) {
        copy_rows(from, to, 0, rows, begin, end);
      });
    else
      share(threads, rows, 1,
            [&](std::int64_t begin, std::int64_t end) { copy_rows(from, to, begin, end, 0, n); });
  }

private:
  /// Rows of two to eight bytes that move as one become elements of that width.
  void fuse_short_rows() {
    const int last = loops_.rank - 1;
    if (last < 1 || loops_.stride[last][1] != 1) return;
    const std::int64_t n = loops_.size[last];
    if (n * width_ > 8 || !std::has_single_bit(static_cast<std::uint64_t>(n))) return;
    bool fits = offset_ % n == 0;
    for (int i = 0; i < last; ++i)
      fits = fits && loops_.stride[i][1] % n == 0;
    if (!fits) return;
    for (int i = 0; i < last; ++i)
      loops_.stride[i] = {loops_.stride[i][0] / n, loops_.stride[i][1] / n};
    --loops_.rank;
    offset_ /= n;
    width_ *= n;
  }

  /// The dims that change places become the last two; the walk over the others stays in order.
  void bring_exchanged_inward() {
    const int to = loops_.rank - 2;
    for (; exchanged_ < to; ++exchanged_) {
      std::swap(loops_.size[exchanged_], loops_.size[exchanged_ + 1]);
      std::swap(loops_.stride[exchanged_], loops_.stride[exchanged_ + 1]);
    }
  }

  void copy_rows(const std::byte* from, std::byte* to, std::int64_t row, std::int64_t row_end,
                 std::int64_t begin, std::int64_t end) const {
    const int outer = loops_.rank - 2;
    const std::int64_t inner = loops_.size[outer], n = loops_.size[outer + 1];
    const std::int64_t step = loops_.stride[outer][1], stride = loops_.stride[outer + 1][1];
    walker<2> at(loops_, outer, row / inner);
    for (std::int64_t first = row % inner; row < row_end; first = 0, at.next()) {
      const std::int64_t count = std::min(inner - first, row_end - row);
      const std::byte* source =
          from + (offset_ + at.at[1] + first * step + begin * stride) * width_;
      std::byte* target = to + (row * n + begin) * width_;
      if (stride == 1) {
        const std::int64_t bytes = (end - begin) * width_;
        for (std::int64_t r = 0; r < count; ++r)
          copy_bytes(target + r * n * width_, source + r * step * width_, bytes);
      } else {
        with_width(width_, [&](auto e) {
          using element = decltype(e);
          for (std::int64_t r = 0; r < count; ++r)
            copy_strided_row(reinterpret_cast<element*>(target) + r * n,
                             reinterpret_cast<const element*>(source) + r * step, stride,
                             end - begin);
        });
      }
      row += count;
    }
  }

  template <class E>
  void tiles(int threads, const E* from, E* to) const {
    const int outer = loops_.rank - 2;
    const std::int64_t columns = loops_.size[outer], rows = loops_.size[outer + 1];
    const std::int64_t to_stride = loops_.stride[outer][0],
                       from_stride = loops_.stride[outer + 1][1];
    const std::int64_t planes = loops_.count(0, outer);
    const auto part = [&](std::int64_t plane, std::int64_t plane_end, std::int64_t begin,
                          std::int64_t end) {
      walker<2> at(loops_, outer, plane);
      for (; plane < plane_end; ++plane, at.next())
        transpose_plane(to + at.at[0] + begin * to_stride, to_stride,
                        from + offset_ + at.at[1] + begin, from_stride, rows, end - begin);
    };
    if (planes < 2 * threads)
      share(threads, columns, 2 * tile_side<E>,
            [&](std::int64_t begin, std::int64_t end) { part(0, planes, begin, end); });
    else
      share(threads, planes, 1,
            [&](std::int64_t begin, std::int64_t end) { part(begin, end, 0, columns); });
  }

  loops<2> loops_;
  std::int64_t offset_, width_;
  int exchanged_ = -1;
};

} // namespace benanza::backend::host::detail
