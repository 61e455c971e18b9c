// SPDX-License-Identifier: Apache-2.0
// How do units that multiply 16 x 16 matrices add up? Sums and running sums of 16, of 256, and of
// any number of 256 elements as products with matrices of zeros and ones (Dakkak et al., ICS 2019).
// With P, whose first row is ones, U and L, which are ones on and above, and below the diagonal,
// and E, all ones:
//
//   16 sums of 16:          P A           the columns of A are segments
//   a sum of 256:           (P A) P'
//   a sum of 256 N:         V = P A + V for each tile, then V P'
//   16 running sums of 16:  A U           the rows of A are segments
//   one of 256:             A U + (L A) E
//   one of 256 N:           the same, with what comes before added
//
//   tiles::tile y = tiles::scan256(x);   // y.at[15][15]: the sum of all of x
#pragma once

#include <cstdint>

namespace benanza::backend::tiles {

inline constexpr int side = 16;
inline constexpr int area = side * side;

/// 16 rows of 16 numbers.
struct tile {
  alignas(64) float at[side][side] = {};
};

/// A tile of ones where `f(row, column)` says so.
template <class F>
constexpr tile ones_where(F f) {
  tile t;
  for (int i = 0; i < side; ++i)
    for (int j = 0; j < side; ++j)
      t.at[i][j] = f(i, j) ? 1.f : 0.f;
  return t;
}

inline constexpr tile first_row = ones_where([](int i, int) { return i == 0; });
inline constexpr tile first_column = ones_where([](int, int j) { return j == 0; });
inline constexpr tile upper = ones_where([](int i, int j) { return i <= j; });
inline constexpr tile above = ones_where([](int i, int j) { return i < j; });
inline constexpr tile lower = ones_where([](int i, int j) { return i >= j; });
inline constexpr tile below = ones_where([](int i, int j) { return i > j; });
inline constexpr tile all_ones = ones_where([](int, int) { return true; });

/// Products as the definition has them.
struct plain_products {
  /// c += a b
  static void add(const tile& a, const tile& b, tile& c) {
    for (int i = 0; i < side; ++i)
      for (int j = 0; j < side; ++j)
        for (int k = 0; k < side; ++k)
          c.at[i][j] += a.at[i][k] * b.at[k][j];
  }
};

/// The first row holds the sums of the columns.
template <class Products = plain_products>
tile reduce16(const tile& a) {
  tile v;
  Products::add(first_row, a, v);
  return v;
}

/// Sums of 256 elements, tile after tile; the columns' sums are added up at the end alone.
template <class Products = plain_products>
class reduce256n {
public:
  void add(const tile& a) { Products::add(first_row, a, sums_); }
  float sum() const {
    tile all;
    Products::add(sums_, first_column, all);
    return all.at[0][0];
  }

private:
  tile sums_{};
};

template <class Products = plain_products>
float reduce256(const tile& a) {
  reduce256n<Products> r;
  r.add(a);
  return r.sum();
}

/// Running sums of each row.
template <class Products = plain_products>
tile scan16(const tile& a, const tile& along = upper) {
  tile y;
  Products::add(a, along, y);
  return y;
}

/// Running sums of 256 elements, row after row, begun with `before`. `along` and `rows` say which
/// elements of its row, and which rows, an element adds up: `above` leaves it out itself, `lower`
/// and `above` begin at the end.
template <class Products = plain_products>
tile scan256(const tile& a, float before = 0, const tile& along = upper, const tile& rows = below) {
  tile earlier, y;
  for (auto& row : y.at)
    for (float& v : row)
      v = before;
  Products::add(rows, a, earlier);
  Products::add(earlier, all_ones, y);
  Products::add(a, along, y);
  return y;
}

} // namespace benanza::backend::tiles
