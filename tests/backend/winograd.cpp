// SPDX-License-Identifier: Apache-2.0
// How far off is a Winograd whose transforms are rounded to the case's type? One is computed here
// by its matrices, made of interpolation points (Toom and Cook), on the operands of a layer, and
// compared with a plain convolution in f64: which types and tiles are apart, and what they may be
// off, is what core/winograd.hpp says.
#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/tolerance.hpp>
#include <benanza/core/winograd.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

namespace test_of_winograd {
using namespace benanza;
using matrix = std::vector<std::vector<double>>;

/// F(outputs x outputs, kernel x kernel).
struct transforms {
  std::size_t outputs, kernel, tile;
  matrix result, weights, source; ///< outputs x tile, tile x kernel, tile x tile

  transforms(std::size_t m, std::size_t r, const std::vector<double>& points)
      : outputs(m)
      , kernel(r)
      , tile(m + r - 1)
      , result(m, std::vector<double>(tile))
      , weights(tile, std::vector<double>(r))
      , source(tile, std::vector<double>(tile)) {
    REQUIRE(points.size() == tile - 1); // and infinity
    for (std::size_t j = 0; j < tile; ++j) {
      std::vector<double> product{1}; // of x - p for all other points, its lowest power first
      double scale = 1;
      for (std::size_t l = 0; l + 1 < tile; ++l) {
        if (l == j) continue;
        if (j + 1 < tile) scale *= points[j] - points[l];
        product.insert(product.begin(), 0);
        for (std::size_t i = 0; i + 1 < product.size(); ++i)
          product[i] -= points[l] * product[i + 1];
      }
      std::copy(product.begin(), product.end(), source[j].begin());
      if (j + 1 == tile) {
        result[m - 1][j] = weights[j][r - 1] = 1;
        continue;
      }
      for (std::size_t i = 0; i < m; ++i)
        result[i][j] = std::pow(points[j], i);
      for (std::size_t i = 0; i < r; ++i)
        weights[j][i] = std::pow(points[j], i) / scale;
    }
  }
};

/// To so many significant bits.
double rounded(double v, int bits) {
  int exponent = 0;
  const double part = std::frexp(v, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(part, bits)), exponent - bits);
}

/// t x t^T in f32, each element rounded to `bits`.
std::vector<double> transformed(const matrix& t, const std::vector<double>& x, int bits) {
  const std::size_t rows = t.size(), n = t[0].size();
  std::vector<float> half(rows * n);
  std::vector<double> out(rows * rows);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t k = 0; k < n; ++k)
        half[i * n + j] += static_cast<float>(t[i][k]) * static_cast<float>(x[k * n + j]);
  for (std::size_t i = 0; i < rows; ++i)
    for (std::size_t j = 0; j < rows; ++j) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k)
        sum += half[i * n + k] * static_cast<float>(t[j][k]);
      out[i * rows + j] = rounded(sum, bits);
    }
  return out;
}

struct measured {
  bool as_exact = false; ///< by the tolerance of the type
  double error = 0;      ///< as a share of the root mean square
};

/// A convolution without pads in that type. Its products are added in f32.
measured off(numeric t, const transforms& w, int stored_bits) {
  constexpr std::size_t channels = 32, outputs = 4, tiles = 4;
  const std::size_t side = w.outputs * tiles, in = side + w.kernel - 1, k = w.kernel;
  const auto text = [](std::size_t n) { return std::to_string(n); };
  const op::layer layer = op::parse("Conv/1x" + text(channels) + 'x' + text(in) + 'x' + text(in) +
                                    '-' + text(outputs) + 'x' + text(k) + 'x' + text(k) + "-s1");
  const backend::operands o = backend::make_operands(layer, t);
  std::vector<double> x, f;
  for (auto [to, from] : {std::pair{&x, &o.inputs[0]}, {&f, &o.inputs[1]}})
    for (std::int64_t i = 0; i < from->count(); ++i)
      to->push_back(backend::load(from->type, from->bytes.data(), i));
  std::vector<double> exact(outputs * side * side), got(exact.size());
  for (std::size_t out = 0; out < outputs; ++out)
    for (std::size_t top = 0; top < side; top += w.outputs)
      for (std::size_t left = 0; left < side; left += w.outputs) {
        std::vector<float> sums(w.tile * w.tile);
        for (std::size_t c = 0; c < channels; ++c) {
          std::vector<double> part(w.tile * w.tile);
          for (std::size_t i = 0; i < part.size(); ++i)
            part[i] = x[(c * in + top + i / w.tile) * in + left + i % w.tile];
          const auto begin = f.begin() + static_cast<std::ptrdiff_t>((out * channels + c) * k * k);
          const std::vector<double> kernel(begin, begin + static_cast<std::ptrdiff_t>(k * k));
          const auto v = transformed(w.source, part, stored_bits),
                     u = transformed(w.weights, kernel, stored_bits);
          for (std::size_t i = 0; i < sums.size(); ++i)
            sums[i] += static_cast<float>(u[i]) * static_cast<float>(v[i]);
          for (std::size_t i = 0; i < w.outputs * w.outputs; ++i)
            for (std::size_t j = 0; j < k * k; ++j)
              exact[(out * side + top + i / w.outputs) * side + left + i % w.outputs] +=
                  part[(i / w.outputs + j / k) * w.tile + i % w.outputs + j % k] * kernel[j];
        }
        const std::vector<double> y = transformed(w.result, {sums.begin(), sums.end()},
                                                  source_of(t) == dtype::f32 ? 24
                                                  : t == numeric::bf16       ? 8
                                                                             : 11);
        for (std::size_t i = 0; i < y.size(); ++i)
          got[(out * side + top + i / w.outputs) * side + left + i % w.outputs] = y[i];
      }
  double errors = 0, squares = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    errors += (got[i] - exact[i]) * (got[i] - exact[i]);
    squares += exact[i] * exact[i];
  }
  return {backend::compare(layer, t, exact, got).ok, std::sqrt(errors / squares)};
}

const transforms& of_tile(std::int64_t tile) {
  static const transforms small(2, 3, {0, 1, -1}), middle(4, 3, {0, 1, -1, 2, -2}),
      large(9, 5, {0, 1, -1, 2, -2, 1. / 2, -1. / 2, 3. / 2, -3. / 2, 2. / 3, -2. / 3, 4});
  return tile == 4 ? small : tile == 6 ? middle : large;
}

TEST_CASE("Winograd: a simulated one leaves its type's tolerance where it is said to be apart") {
  const struct {
    numeric type;
    int bits;
    std::int64_t tile;
    double error; ///< in per cent, as core/winograd.hpp has it
  } all[] = {
      {numeric::f16, 11, 4, 0.06}, {numeric::f16, 11, 6, 0.3},   {numeric::bf16, 8, 4, 0.5},
      {numeric::bf16, 8, 6, 2.5},  {numeric::tf32, 11, 4, 0.05}, {numeric::tf32, 11, 6, 0.3},
      {numeric::f32, 24, 4, 7e-5}, {numeric::f32, 24, 6, 5e-4},  {numeric::f32, 24, 13, 0.1}};
  for (const auto& one : all) {
    CAPTURE(std::string(name(one.type)));
    CAPTURE(one.tile);
    const measured m = off(one.type, of_tile(one.tile), one.bits);
    CAPTURE(m.error);
    CHECK(m.as_exact != winograd_apart(one.type, one.tile));
    CHECK(100 * m.error > 0.2 * one.error);
    CHECK(100 * m.error < 2 * one.error);
    CHECK(m.error < winograd_error(one.type) / 2);
  }
}

TEST_CASE("Winograd: of f16 whose transforms stay in f32 the result is as exact as any") {
  for (const std::int64_t tile : {4, 6})
    CHECK(off(numeric::f16, of_tile(tile), 24).as_exact);
}

TEST_CASE("Winograd: classes, arithmetic, and what names of kernels say") {
  CHECK(winograd_class(numeric::bf16) == "bf16-winograd");
  CHECK(is_winograd_class("f16-winograd", numeric::f16));
  CHECK_FALSE(is_winograd_class("f16-winograd", numeric::bf16));
  CHECK_FALSE(is_winograd_class("f16-winograd-reduced-accumulation", numeric::f16));
  CHECK_FALSE(is_winograd_class("u8s8u8-winograd", numeric::u8s8u8));
  CHECK(winograd_products(36000, 4, 3) == 16000);
  CHECK(winograd_products(36000, 6, 3) == 9000);
  CHECK(winograd_products(202500, 13, 5) == 16900);
  CHECK(winograd_products(900, 4, 7) == 900);
  const std::string large = "void cudnn::winograd_nonfused::winogradForwardData9x9_5x5<float>",
                    middle = "void cudnn::winograd_nonfused::winogradForwardData4x4<__half>";
  CHECK(names_winograd_apart(middle, numeric::f16));
  CHECK_FALSE(names_winograd_apart(middle, numeric::f32));
  CHECK(names_winograd_apart(large, numeric::f32));
  CHECK_FALSE(names_winograd_apart("ampere_fp16_s16816gemm", numeric::f16));
}
} // namespace test_of_winograd
