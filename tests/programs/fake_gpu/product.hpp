// SPDX-License-Identifier: Apache-2.0
// Sums of products in f64, at a speed at which whole networks can be tried. All algorithms of a
// layer compute the same from the same numbers, each with operands of its own in memory, which are
// read each time; where they hold what others held before, what came of it is remembered.
//
//   multiply(a, b, c, m, n, k);   // c += a b, row by row
//   dense y = cached().result({bytes(x.at), bytes(w.at)}, numbers, [&] { return convolve(...); });
#pragma once

#include "tensor.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <deque>
#include <span>
#include <vector>

namespace fake {

namespace detail {
inline constexpr std::int64_t lane = 4;
using lanes = double __attribute__((vector_size(8 * lane)));

/// Rows and columns of what is summed up in registers, of which most processors have 16.
inline constexpr std::int64_t tile_rows = 4, tile_lanes = 3, tile_columns = lane * tile_lanes;
inline constexpr std::int64_t tile_terms = 256; ///< a panel of them stays in the L1 cache

/// Adds a tile to c: a few rows of a times a panel of b, whose rows are together.
template <std::int64_t Rows>
void add_tile(const double* a, std::int64_t a_step, const double* panel, double* c,
              std::int64_t c_step, std::int64_t columns, std::int64_t terms) {
  lanes sum[Rows][tile_lanes] = {};
  for (std::int64_t l = 0; l < terms; ++l) {
    lanes row[tile_lanes];
#pragma GCC unroll 3
    for (std::int64_t j = 0; j < tile_lanes; ++j)
      std::memcpy(&row[j], panel + l * tile_columns + j * lane, sizeof(lanes)); // aligned to 8
#pragma GCC unroll 4
    for (std::int64_t r = 0; r < Rows; ++r)
#pragma GCC unroll 3
      for (std::int64_t j = 0; j < tile_lanes; ++j)
        sum[r][j] += a[r * a_step + l] * row[j];
  }
#pragma GCC unroll 4
  for (std::int64_t r = 0; r < Rows; ++r)
#pragma GCC unroll 3
    for (std::int64_t j = 0; j < tile_lanes; ++j)
      for (std::int64_t e = 0; e < std::min(lane, columns - j * lane); ++e)
        c[r * c_step + j * lane + e] += sum[r][j][e];
}
} // namespace detail

/// c += a b; all matrices are stored row by row: m x k, k x n, m x n.
inline void multiply(const double* a, const double* b, double* c, std::int64_t m, std::int64_t n,
                     std::int64_t k) {
  using namespace detail;
  std::vector<double> panel(static_cast<std::size_t>(tile_terms * tile_columns), 0.0);
  for (std::int64_t first = 0; first < k; first += tile_terms)
    for (std::int64_t from = 0; from < n; from += tile_columns) {
      const std::int64_t columns = std::min(tile_columns, n - from);
      const std::int64_t terms = std::min(tile_terms, k - first);
      for (std::int64_t l = 0; l < terms; ++l)
        std::copy_n(b + (first + l) * n + from, columns, panel.data() + l * tile_columns);
      const double* const rows = a + first;
      std::int64_t i = 0;
      for (; i + tile_rows <= m; i += tile_rows)
        add_tile<tile_rows>(rows + i * k, k, panel.data(), c + i * n + from, n, columns, terms);
      for (; i < m; ++i)
        add_tile<1>(rows + i * k, k, panel.data(), c + i * n + from, n, columns, terms);
    }
}

/// What was computed last, by all the numbers that it was computed from.
class remembered {
public:
  using operands = std::initializer_list<std::span<const std::byte>>;

  /// The result of `compute` for these operands and settings.
  template <class Compute>
  dense result(const operands& from, const std::vector<std::int64_t>& settings, Compute&& compute) {
    const key wanted = key_of(from, settings);
    for (const entry& e : known_)
      if (e.of == wanted) return e.made;
    dense made = compute();
    if (made.at.size() > most_elements) return made;
    elements_ += made.at.size();
    for (; elements_ > most_elements; known_.pop_front())
      elements_ -= known_.front().made.at.size();
    known_.push_back({wanted, made});
    return made;
  }

private:
  static constexpr std::size_t most_elements = std::size_t{1} << 27; // of all results

  /// 128 bits of the operands; the settings as they are.
  struct key {
    std::uint64_t first = 0, second = 0;
    std::vector<std::int64_t> settings{};
    bool operator==(const key&) const = default;
  };
  struct entry {
    key of{};
    dense made{};
  };
  static key key_of(const operands& from, const std::vector<std::int64_t>& settings) {
    key k{.settings = settings};
    for (const std::span<const std::byte> bytes : from) {
      k.settings.push_back(std::ssize(bytes));
      for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, bytes.data() + at, std::min(sizeof bits, bytes.size() - at));
        k.first = (std::rotl(k.first, 5) ^ bits) * 0x9e3779b97f4a7c15u;
        k.second = (std::rotl(k.second, 23) + bits) * 0xc2b2ae3d27d4eb4fu;
      }
    }
    return k;
  }

  std::deque<entry> known_{};
  std::size_t elements_ = 0;
};

/// Numbers as an operand of what is remembered.
inline std::span<const std::byte> bytes(const std::vector<double>& numbers) {
  return std::as_bytes(std::span(numbers));
}
/// Of this process; calls come one at a time, under the device's lock.
inline remembered& cached() {
  static remembered all;
  return all;
}

} // namespace fake
