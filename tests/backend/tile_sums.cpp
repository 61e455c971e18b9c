// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/tile_sums.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <vector>

using namespace benanza::backend;

namespace {
/// Multiples of 1/256 whose sums a float holds.
std::vector<float> exact(int count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i)
    out[static_cast<std::size_t>(i)] = static_cast<float>(i * 37 % 33 - 16) / 256;
  return out;
}
float sum(const std::vector<float>& x, int from, int count) {
  return std::accumulate(x.begin() + from, x.begin() + from + count, 0.f);
}
tiles::tile rows(const std::vector<float>& x, int from = 0) {
  tiles::tile t;
  std::copy_n(x.begin() + from, tiles::area, t.at[0]);
  return t;
}
tiles::tile columns(const std::vector<float>& x) {
  tiles::tile t;
  for (int i = 0; i < tiles::area; ++i)
    t.at[i % tiles::side][i / tiles::side] = x[static_cast<std::size_t>(i)];
  return t;
}

void check_formulas() {
  using Products = tiles::plain_products;
  constexpr int n = 5;
  const std::vector<float> x = exact(n * tiles::area);
  const tiles::tile sums = tiles::reduce16<Products>(columns(x));
  const tiles::tile short_scans = tiles::scan16<Products>(rows(x));
  for (int i = 0; i < tiles::side; ++i) {
    CHECK(sums.at[0][i] == sum(x, i * tiles::side, tiles::side));
    for (int j = 0; j < tiles::side; ++j)
      CHECK(short_scans.at[i][j] == sum(x, i * tiles::side, j + 1));
  }
  CHECK(tiles::reduce256<Products>(rows(x)) == sum(x, 0, tiles::area));
  tiles::reduce256n<Products> whole;
  float before = 0;
  for (int k = 0; k < n; ++k) {
    const tiles::tile a = rows(x, k * tiles::area);
    whole.add(a);
    const tiles::tile y = tiles::scan256<Products>(a, before);
    for (int i = 0; i < tiles::area; ++i)
      CHECK(y.at[i / tiles::side][i % tiles::side] == sum(x, 0, k * tiles::area + i + 1));
    before = y.at[tiles::side - 1][tiles::side - 1];
  }
  CHECK(whole.sum() == sum(x, 0, n * tiles::area));
  const tiles::tile first = rows(x);
  const tiles::tile without = tiles::scan256<Products>(first, 1, tiles::above);
  const tiles::tile back = tiles::scan256<Products>(first, 0, tiles::lower, tiles::above);
  for (int i = 0; i < tiles::area; ++i) {
    CHECK(without.at[i / tiles::side][i % tiles::side] == 1 + sum(x, 0, i));
    CHECK(back.at[i / tiles::side][i % tiles::side] == sum(x, i, tiles::area - i));
  }
}
} // namespace

TEST_CASE("sums and running sums as products of tiles") {
  check_formulas();
}
