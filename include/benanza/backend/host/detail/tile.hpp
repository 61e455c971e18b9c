// SPDX-License-Identifier: Apache-2.0
// How are rows and columns exchanged at the speed of memory? In square tiles held in registers:
// log2 N rounds of interleaving rows i and i + N/2 transpose N x N elements (each round rotates the
// bits of row and column by one). Planes of two to four columns are interleaved directly.
//
//   transpose_plane<std::uint32_t>(to, to_stride, from, from_stride, rows, columns);
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

namespace benanza::backend::host::detail {

#if defined(__AVX512F__)
inline constexpr int tile_bytes = 64;
#else
inline constexpr int tile_bytes = 32;
#endif

/// Side of a tile: a vector of it is at most a register, and 16 of them are at hand.
template <class E>
inline constexpr int tile_side = tile_bytes / static_cast<int>(sizeof(E)) < 16
                                     ? tile_bytes / static_cast<int>(sizeof(E))
                                     : 16;

template <class E, int N>
struct tile {
  typedef E row __attribute__((vector_size(N * sizeof(E))));

  template <int First, std::size_t... I>
  [[gnu::always_inline]] static inline void zip(const row& a, const row& b, row& out,
                                                std::index_sequence<I...>) {
    out = __builtin_shufflevector(
        a, b, (First + static_cast<int>(I) / 2 + static_cast<int>(I) % 2 * N)...);
  }

  [[gnu::always_inline]] static inline void transpose(E* to, std::int64_t to_stride, const E* from,
                                                      std::int64_t from_stride) {
    row rows[N], mixed[N];
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i)
      std::memcpy(&rows[i], from + i * from_stride, sizeof(row));
#pragma GCC unroll 4
    for (int round = 1; round < N; round *= 2) {
#pragma GCC unroll 8
      for (int i = 0; i < N / 2; ++i) {
        zip<0>(rows[i], rows[i + N / 2], mixed[2 * i], std::make_index_sequence<N>{});
        zip<N / 2>(rows[i], rows[i + N / 2], mixed[2 * i + 1], std::make_index_sequence<N>{});
      }
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i)
        rows[i] = mixed[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i)
      std::memcpy(to + i * to_stride, &rows[i], sizeof(row));
  }
};

/// Planes with a short side of `Short`, which the compiler turns into interleaved loads or stores.
template <int Short, class E>
void transpose_short(E* __restrict to, std::int64_t to_stride, const E* __restrict from,
                     std::int64_t from_stride, std::int64_t rows, std::int64_t columns) {
  if (columns == Short && from_stride == Short) {
    for (std::int64_t r = 0; r < rows; ++r)
      for (int c = 0; c < Short; ++c)
        to[c * to_stride + r] = from[r * Short + c];
  } else if (rows == Short && to_stride == Short) {
    for (std::int64_t c = 0; c < columns; ++c)
      for (int r = 0; r < Short; ++r)
        to[c * Short + r] = from[r * from_stride + c];
  } else {
    for (std::int64_t c = 0; c < columns; ++c)
      for (std::int64_t r = 0; r < rows; ++r)
        to[c * to_stride + r] = from[r * from_stride + c];
  }
}

/// to[c * to_stride + r] = from[r * from_stride + c] for all r < rows, c < columns.
template <class E>
void transpose_plane(E* __restrict to, std::int64_t to_stride, const E* __restrict from,
                     std::int64_t from_stride, std::int64_t rows, std::int64_t columns) {
  constexpr int n = tile_side<E>;
  const std::int64_t side = rows < columns ? rows : columns;
  if (side == 2) return transpose_short<2>(to, to_stride, from, from_stride, rows, columns);
  if (side == 3) return transpose_short<3>(to, to_stride, from, from_stride, rows, columns);
  if (side < n) return transpose_short<4>(to, to_stride, from, from_stride, rows, columns);
  // The last tiles are moved back so that they end at the edge: some elements are written twice.
  for (std::int64_t c0 = 0; c0 < columns; c0 += n) {
    const std::int64_t c = c0 + n <= columns ? c0 : columns - n;
    for (std::int64_t r0 = 0; r0 < rows; r0 += n) {
      const std::int64_t r = r0 + n <= rows ? r0 : rows - n;
      tile<E, n>::transpose(to + c * to_stride + r, to_stride, from + r * from_stride + c,
                            from_stride);
    }
  }
}

} // namespace benanza::backend::host::detail
