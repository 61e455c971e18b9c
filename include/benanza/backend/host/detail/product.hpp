// SPDX-License-Identifier: Apache-2.0
// How are small matrices in the cache multiplied? In tiles of up to six rows by two vectors, whose
// sums stay in registers: a step reads two vectors of B, in f32 or bf16, and one number of each row
// of A.
//
//   add_product(scores, weights_row, values, value_row, sums, sum_row, rows, columns, depth);
#pragma once

#include "lanes.hpp"

namespace benanza::backend::host::detail {

/// Columns of a tile: those of B and C come in multiples of them.
inline constexpr std::int64_t tile_columns = 2 * float_lanes::count;

/// Most rows of a tile: with twelve sums and what they are made of, registers are used up.
inline constexpr int tile_rows = 6;

/// Where column `j` of a tile is in a row of B: bf16 in pairs, one of each vector.
template <class Stored>
constexpr std::int64_t place_in_tile(std::int64_t j) {
  if constexpr (std::is_same_v<Stored, float>) return j;
  return j < float_lanes::count ? 2 * j : 2 * (j - float_lanes::count) + 1;
}

/// The two vectors of a tile's row of B.
[[gnu::always_inline]] inline void load_row(const float* b, float_vector& left,
                                            float_vector& right) {
  left = float_lanes::load(b);
  right = float_lanes::load(b + float_lanes::count);
}
[[gnu::always_inline]] inline void load_row(const std::uint16_t* b, float_vector& left,
                                            float_vector& right) {
  float_lanes::whole pairs;
  std::memcpy(&pairs, b, sizeof pairs);
  left = std::bit_cast<float_vector>(pairs << 16);
  right = std::bit_cast<float_vector>(pairs & static_cast<std::int32_t>(0xffff0000));
}

/// The sums begin with what is in C; if `Fresh`, with zero.
template <int Rows, bool Fresh, class Stored>
void add_tile(const float* a, std::int64_t a_row, const Stored* b, std::int64_t b_row, float* c,
              std::int64_t c_row, std::int64_t depth) {
  using lanes = float_lanes;
  // Sums of few rows would wait for each other: every so many steps there are others.
  constexpr int chains = Rows == 1 ? 4 : Rows == 2 ? 2 : 1;
  lanes::vector low[chains][Rows]{}, high[chains][Rows]{};
#pragma GCC unroll 6
  for (int r = 0; r < Rows && !Fresh; ++r) {
    low[0][r] = lanes::load(c + r * c_row);
    high[0][r] = lanes::load(c + r * c_row + lanes::count);
  }
  const auto add = [&](std::int64_t k, int chain) __attribute__((always_inline)) {
    lanes::vector left, right;
    load_row(b + k * b_row, left, right);
#pragma GCC unroll 6
    for (int r = 0; r < Rows; ++r) {
      const lanes::vector x = lanes::all(a[r * a_row + k]);
      low[chain][r] = lanes::multiply_add(x, left, low[chain][r]);
      high[chain][r] = lanes::multiply_add(x, right, high[chain][r]);
    }
  };
  std::int64_t k = 0;
  for (; k + chains <= depth; k += chains)
#pragma GCC unroll 4
    for (int i = 0; i < chains; ++i)
      add(k + i, i);
  for (; k < depth; ++k)
    add(k, 0);
#pragma GCC unroll 6
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 4
    for (int i = 1; i < chains; ++i) {
      low[0][r] += low[i][r];
      high[0][r] += high[i][r];
    }
    lanes::store(low[0][r], c + r * c_row);
    lanes::store(high[0][r], c + r * c_row + lanes::count);
  }
}

/// The products of row `a` with `rows` rows of B, four at a time.
inline void multiply_rows(const float* a, const float* b, std::int64_t b_row, float* to,
                          std::int64_t rows, std::int64_t depth) {
  using lanes = float_lanes;
  for (; rows > 0; rows -= 4, b += 4 * b_row, to += 4) {
    // Where fewer are left, the last one is read again.
    const float* of[4];
    for (int r = 0; r < 4; ++r)
      of[r] = b + (r < rows ? r : rows - 1) * b_row;
    lanes::vector sums[4]{};
    std::int64_t k = 0;
    for (; k + lanes::count <= depth; k += lanes::count) {
      const lanes::vector x = lanes::load(a + k);
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r)
        sums[r] = lanes::multiply_add(x, lanes::load(of[r] + k), sums[r]);
    }
    for (int r = 0; r < 4 && r < rows; ++r) {
      float sum = lanes::sum(sums[r]);
      for (std::int64_t rest = k; rest < depth; ++rest)
        sum += a[rest] * of[r][rest];
      to[r] = sum;
    }
  }
}

/// C += A B for `Rows` rows at a time, then for what is left; if `Fresh`, C = A B.
template <bool Fresh = false, int Rows = tile_rows, class Stored>
void add_product(const float* a, std::int64_t a_row, const Stored* b, std::int64_t b_row, float* c,
                 std::int64_t c_row, std::int64_t rows, std::int64_t columns, std::int64_t depth) {
  if constexpr (Rows > 0) {
    for (; rows >= Rows; rows -= Rows, a += Rows * a_row, c += Rows * c_row)
      for (std::int64_t at = 0; at < columns; at += tile_columns)
        add_tile<Rows, Fresh>(a, a_row, b + at, b_row, c + at, c_row, depth);
    if (rows > 0) add_product<Fresh, Rows - 1>(a, a_row, b, b_row, c, c_row, rows, columns, depth);
  }
}

} // namespace benanza::backend::host::detail
