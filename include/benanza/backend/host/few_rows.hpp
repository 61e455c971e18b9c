// SPDX-License-Identifier: Apache-2.0
// How does a product of a few rows with weights run, which is a step of a language model? As fast
// as memory gives the weights: each is read once, in panels of a vector of columns. A processor
// fetches more lines ahead of eight places than of one, so eight panels far apart go side by side,
// and each place goes through its part of all weights from begin to end. Sums stay in registers.
//
//   kernel k = make(op::gemm{.m = 1, .n = 3072, .k = 768, .constant_b = true}, job);
#pragma once

#include "detail/job.hpp"
#include "detail/lanes.hpp"
#include "detail/share.hpp"

#include <algorithm>
#include <cstdint>

namespace benanza::backend::host {

namespace detail {

/// A few rows times weights, plus what broadcasts to the result.
struct row_product {
  static constexpr std::int64_t most_rows = 4;

  std::int64_t rows = 0, columns = 0, depth = 0;
  bool by_rows = false; ///< weights are stored a row of results' columns after the other: n x k
  std::int64_t add_row = 0, add_column = 0; ///< elements from one to the next of what is added
  bool adds = false, fits = false;

  explicit row_product(const op::gemm& p)
      : rows(p.m)
      , columns(p.n)
      , depth(p.k)
      , by_rows(p.transpose_b)
      , adds(!p.c.empty())
      , fits(p.constant_b && (!p.transpose_a || p.m == 1) && p.m <= most_rows) {
    if (!adds) return;
    add_column = p.c[1] > 1;
    add_row = p.c[0] > 1 ? p.c[1] : 0;
  }
  explicit row_product(const op::matmul& p)
      : rows(elements(p.a) / p.k())
      , columns(p.n())
      , depth(p.k())
      , fits(p.constant_b && p.b.size == 2 && rows <= most_rows) {}

  std::int64_t panels() const { return (columns + float_lanes::count - 1) / float_lanes::count; }
  std::int64_t panel_floats() const { return depth * float_lanes::count; }
};

/// The sums of a product, panel by panel.
class row_sums {
public:
  row_sums(const row_product& p, const job& j)
      : p_(p)
      , a_(reinterpret_cast<const float*>(j.inputs[0]))
      , add_(p.adds ? reinterpret_cast<const float*>(j.inputs[2]) : nullptr)
      , y_(reinterpret_cast<float*>(j.output)) {}

  /// Those of the panels in [begin, end).
  void go(const float* weights, std::int64_t begin, std::int64_t end) const {
    p_.rows == 1   ? at_places<1, 8>(weights, begin, end)
    : p_.rows == 2 ? at_places<2, 8>(weights, begin, end)
    : p_.rows == 3 ? at_places<3, 4>(weights, begin, end)
                   : at_places<4, 4>(weights, begin, end);
  }

private:
  template <int Rows, int Places>
  void at_places(const float* weights, std::int64_t begin, std::int64_t end) const {
    const std::int64_t each = (end - begin) / Places;
    for (std::int64_t i = 0; i < each; ++i)
      panels<Rows, Places>(weights, begin + i, each);
    for (std::int64_t at = begin + each * Places; at < end; ++at)
      panels<Rows, 1>(weights, at, 0);
  }

  /// Panel `first`, and others that many panels further each.
  template <int Rows, int Places>
  void panels(const float* weights, std::int64_t first, std::int64_t apart) const {
    using lanes = float_lanes;
    // Sums of a single panel would wait for each other: every so many steps there are others.
    constexpr int chains = Rows * Places >= 8 ? 1 : 8 / (Rows * Places);
    lanes::vector sums[chains][Rows][Places]{};
    const float* from = weights + first * p_.panel_floats();
    const std::int64_t step = apart * p_.panel_floats();
    const auto add = [&](std::int64_t k, int chain) __attribute__((always_inline)) {
#pragma GCC unroll 8
      for (int i = 0; i < Places; ++i) {
        const lanes::vector w = lanes::load(from + i * step + k * lanes::count);
#pragma GCC unroll 4
        for (int r = 0; r < Rows; ++r)
          sums[chain][r][i] =
              lanes::multiply_add(lanes::all(a_[r * p_.depth + k]), w, sums[chain][r][i]);
      }
    };
    std::int64_t k = 0;
    for (; k + chains <= p_.depth; k += chains)
#pragma GCC unroll 8
      for (int c = 0; c < chains; ++c)
        add(k + c, c);
    for (; k < p_.depth; ++k)
      add(k, 0);
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < Places; ++i) {
        lanes::vector sum = sums[0][r][i];
        for (int c = 1; c < chains; ++c)
          sum += sums[c][r][i];
        store(sum, r, (first + i * apart) * lanes::count);
      }
  }

  void store(float_lanes::vector sum, std::int64_t row, std::int64_t column) const {
    using lanes = float_lanes;
    const std::int64_t n = std::min(lanes::count, p_.columns - column);
    if (add_ != nullptr) {
      const float* from = add_ + row * p_.add_row + column * p_.add_column;
      sum += p_.add_column == 0 ? lanes::all(*from)
             : n < lanes::count ? lanes::load(from, n, 0)
                                : lanes::load(from);
    }
    float* to = y_ + row * p_.columns + column;
    n < lanes::count ? lanes::store(sum, to, n) : lanes::store(sum, to);
  }

  row_product p_;
  const float *a_, *add_;
  float* y_;
};

template <class Product>
kernel make_row_product(const Product& layer, const job& j) {
  const row_product p(layer);
  if (j.output == nullptr) return {"streams", [] {}};
  const row_sums sums(p, j);
  const int threads = team_for(j.threads, p.panels() * p.panel_floats() * 4);
  return {"streams", [=, weights = j.weights] {
            share(threads, p.panels(), 1, [&](std::int64_t begin, std::int64_t end) {
              sums.go(reinterpret_cast<const float*>(*weights), begin, end);
            });
          }};
}

template <class Product>
void fold_rows(const Product& layer, const operands& o, float* to) {
  const row_product p(layer);
  constexpr std::int64_t lanes = float_lanes::count;
  const auto from = o.inputs[1].as<float>();
  for (std::int64_t panel = 0; panel < p.panels(); ++panel)
    for (std::int64_t k = 0; k < p.depth; ++k)
      for (std::int64_t i = 0; i < lanes; ++i) {
        const std::int64_t column = panel * lanes + i;
        const std::int64_t at = p.by_rows ? column * p.depth + k : k * p.columns + column;
        *to++ = column < p.columns ? from[static_cast<std::size_t>(at)] : 0;
      }
}
} // namespace detail

/// True where there is a kernel: f32, weights, and few rows.
inline bool runs(const op::gemm& p, dtype element) {
  return element == dtype::f32 && detail::row_product(p).fits;
}
inline bool runs(const op::matmul& p, dtype element) {
  return element == dtype::f32 && detail::row_product(p).fits;
}

/// Bytes of the weights as the kernel reads them.
inline std::int64_t weight_bytes(const op::gemm& p, dtype) {
  const detail::row_product its(p);
  return its.fits ? its.panels() * its.panel_floats() * 4 : 0;
}
inline std::int64_t weight_bytes(const op::matmul& p, dtype) {
  const detail::row_product its(p);
  return its.fits ? its.panels() * its.panel_floats() * 4 : 0;
}

/// Brings weights into panels.
inline void fold_weights(const op::gemm& p, const operands& o, float* to) {
  detail::fold_rows(p, o, to);
}
inline void fold_weights(const op::matmul& p, const operands& o, float* to) {
  detail::fold_rows(p, o, to);
}

inline detail::kernel make(const op::gemm& p, const detail::job& j) {
  return detail::make_row_product(p, j);
}
inline detail::kernel make(const op::matmul& p, const detail::job& j) {
  return detail::make_row_product(p, j);
}

} // namespace benanza::backend::host
