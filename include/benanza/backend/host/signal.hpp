// SPDX-License-Identifier: Apache-2.0
// How do Fourier transforms and determinants run? Lines are brought into lanes, transformed some at
// once, and written as real and imaginary parts. A matrix is eliminated in double, with pivots: a
// determinant is the small difference of large products.
//
//   kernel k = make(op::dft{.input = {8, 512, 1}, .axis = 1, .length = 512}, job);
#pragma once

#include "detail/fourier.hpp"
#include "grid_sample.hpp"

namespace benanza::backend::host {

namespace detail {

template <class T>
struct dft_plan {
  op::dft p{};
  fourier f;
  const T* x;
  T* y;
  std::int64_t lines, inner, given, parts; // `given`: numbers of a line that count

  dft_plan(const op::dft& layer, const job& j)
      : p(layer)
      , f(layer.length)
      , x(reinterpret_cast<const T*>(j.inputs[0]))
      , y(reinterpret_cast<T*>(j.output))
      , lines(layer.lines())
      , inner(elements(layer.input, layer.axis + 1, layer.input.size - 1))
      , given(std::min(layer.input[layer.axis], layer.wanted()))
      , parts(layer.input.back()) {}

  std::int64_t groups() const { return (lines + fourier_lanes - 1) / fourier_lanes; }
  std::int64_t floats() const { return 4 * f.room() * fourier_lanes; }

  void run(std::int64_t group, float* room) const {
    const std::int64_t size = f.room() * fourier_lanes;
    float *re = room, *im = room + size, *work = room + 2 * size;
    read(group, re, im);
    if (p.inverse)
      f.run(im, re, work); // with parts exchanged it is the inverse
    else
      f.run(re, im, work);
    write(group, re, im);
  }

private:
  /// Where number `i` of a line begins in a tensor of `length` of them.
  std::int64_t at(std::int64_t line, std::int64_t i, std::int64_t length) const {
    return (line / inner * length + i) * inner + line % inner;
  }
  void read(std::int64_t group, float* re, float* im) const {
    constexpr std::int64_t lanes = fourier_lanes;
    const std::int64_t first = group * lanes, n = std::min(lanes, lines - first);
    std::fill_n(re, p.length * lanes, 0.f);
    std::fill_n(im, p.length * lanes, 0.f);
    const std::int64_t length = p.input[p.axis];
    for (std::int64_t i = 0; i < given; ++i)
      for (std::int64_t l = 0; l < n; ++l) {
        const T* from = x + at(first + l, i, length) * parts;
        re[i * lanes + l] = number_of(from[0]);
        if (parts == 2) im[i * lanes + l] = number_of(from[1]);
      }
    if (!p.real_result()) return;
    // What decides a real signal: the others are conjugates; those that are their own are real.
    std::fill_n(im, lanes, 0.f);
    if (p.length % 2 == 0) std::fill_n(im + p.length / 2 * lanes, lanes, 0.f);
    for (std::int64_t i = p.length / 2 + 1; i < p.length; ++i)
      for (std::int64_t l = 0; l < lanes; ++l) {
        re[i * lanes + l] = re[(p.length - i) * lanes + l];
        im[i * lanes + l] = -im[(p.length - i) * lanes + l];
      }
  }
  void write(std::int64_t group, const float* re, const float* im) const {
    constexpr std::int64_t lanes = fourier_lanes;
    const std::int64_t first = group * lanes, n = std::min(lanes, lines - first);
    const std::int64_t length = p.output()[p.axis];
    const float scale = p.inverse ? 1 / static_cast<float>(p.length) : 1.f;
    for (std::int64_t i = 0; i < length; ++i)
      for (std::int64_t l = 0; l < n; ++l) {
        T* to = y + at(first + l, i, length) * (p.real_result() ? 1 : 2);
        put(re[i * lanes + l] * scale, to[0]);
        if (!p.real_result()) put(im[i * lanes + l] * scale, to[1]);
      }
  }
};

/// The determinant of `n` x `n` numbers, which are eliminated.
inline double determinant(double* m, std::int64_t n) {
  double product = 1;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t pivot = k;
    for (std::int64_t r = k + 1; r < n; ++r)
      if (std::fabs(m[r * n + k]) > std::fabs(m[pivot * n + k])) pivot = r;
    double *own = m + k * n, *other = m + pivot * n;
    if (other[k] == 0) return 0;
    if (pivot != k) {
      product = -product;
      std::swap_ranges(own + k, own + n, other + k);
    }
    product *= own[k];
    for (std::int64_t r = k + 1; r < n; ++r) {
      double* row = m + r * n;
      const double share = row[k] / own[k];
#pragma omp simd
      for (std::int64_t c = k + 1; c < n; ++c)
        row[c] -= share * own[c];
    }
  }
  return product;
}
} // namespace detail

inline bool runs(const op::dft&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::dft& p, const detail::job& j) {
  const int threads = detail::team_for(j.threads, p.cost().other);
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    const detail::dft_plan<decltype(e)> plan(p, j);
    const detail::scratch room(threads, plan.floats());
    return {plan.f.way(), [=] {
              detail::share(threads, plan.groups(), 1, [&](std::int64_t g, std::int64_t end) {
                for (; g < end; ++g)
                  plan.run(g, room.mine());
              });
            }};
  });
}

inline bool runs(const op::det&, dtype element) {
  return element == dtype::f32 || element == dtype::bf16;
}

inline detail::kernel make(const op::det& p, const detail::job& j) {
  const std::int64_t n = p.side(), count = elements(p.output());
  const int threads = detail::team_for(j.threads, p.cost().flops() + count * n * n * j.width());
  const detail::scratch room(threads, 2 * n * n);
  return detail::with_floats(j.element, [&](auto e) -> detail::kernel {
    using storage = decltype(e);
    return {"elimination", [=, x = reinterpret_cast<const storage*>(j.inputs[0]),
                            y = reinterpret_cast<storage*>(j.output)] {
              detail::share(threads, count, 1, [&](std::int64_t k, std::int64_t end) {
                auto* m = reinterpret_cast<double*>(room.mine());
                for (; k < end; ++k) {
                  for (std::int64_t i = 0; i < n * n; ++i)
                    m[i] = static_cast<double>(detail::number_of(x[k * n * n + i]));
                  detail::put(static_cast<float>(detail::determinant(m, n)), y[k]);
                }
              });
            }};
  });
}

} // namespace benanza::backend::host
