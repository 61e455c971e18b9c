// SPDX-License-Identifier: Apache-2.0
// How are many lines of equal length transformed? Some at once, one a lane, by Stockham's form of
// the fast Fourier transform, which needs no reordering: factors of 4, 2, 3, 5 and other small
// primes. What has a larger prime is a convolution with a chirp (Bluestein), whose length is a
// power of two.
//
//   fourier f(512);   f.run(re, im, work);   // lines of 512, number i of lane l at [i * lanes + l]
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <utility>
#include <vector>

namespace benanza::backend::host::detail {

/// Lines that are transformed at once.
inline constexpr std::int64_t fourier_lanes = 16;

/// The largest prime that is a factor by itself.
inline constexpr std::int64_t fourier_prime = 31;

/// e^(-2 pi i k / n) for all k, as what `T` holds.
template <class T>
struct unit_roots {
  std::vector<T> re, im;

  explicit unit_roots(std::int64_t n) {
    for (std::int64_t k = 0; k < n; ++k) {
      const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
      re.push_back(static_cast<T>(std::cos(angle)));
      im.push_back(static_cast<T>(std::sin(angle)));
    }
  }
};

/// The transform of lines whose length has small factors.
template <class T, std::int64_t Lanes>
class stockham {
public:
  explicit stockham(std::int64_t n)
      : n_(n)
      , roots_(n) {
    std::int64_t rest = n;
    for (std::int64_t f = 4; rest > 1; f = f == 4 ? 2 : f == 2 ? 3 : f + 2)
      for (; rest % f == 0; rest /= f)
        factors_.push_back(f);
  }

  /// Turns the lines in `re` and `im`; `work` holds as many numbers as both.
  void run(T* re, T* im, T* work) const {
    T *from_re = re, *from_im = im, *to_re = work, *to_im = work + n_ * Lanes;
    std::int64_t length = n_, stride = 1;
    for (const std::int64_t f : factors_) {
      if (f == 4)
        fours(from_re, from_im, to_re, to_im, length, stride);
      else if (f == 2)
        twos(from_re, from_im, to_re, to_im, length, stride);
      else
        others(f, from_re, from_im, to_re, to_im, length, stride);
      length /= f;
      stride *= f;
      std::swap(from_re, to_re);
      std::swap(from_im, to_im);
    }
    if (from_re == re) return;
    std::copy_n(from_re, n_ * Lanes, re);
    std::copy_n(from_im, n_ * Lanes, im);
  }

private:
  void twos(const T* x, const T* u, T* y, T* v, std::int64_t length, std::int64_t stride) const {
    const std::int64_t half = length / 2, run = stride * Lanes;
    for (std::int64_t p = 0; p < half; ++p) {
      const T c = root_re(p * stride), s = root_im(p * stride);
      const T *a = x + p * run, *au = u + p * run, *b = a + half * run, *bu = au + half * run;
      T *y0 = y + 2 * p * run, *v0 = v + 2 * p * run, *y1 = y0 + run, *v1 = v0 + run;
#pragma omp simd
      for (std::int64_t q = 0; q < run; ++q) {
        const T re = a[q] - b[q], im = au[q] - bu[q];
        y0[q] = a[q] + b[q];
        v0[q] = au[q] + bu[q];
        y1[q] = re * c - im * s;
        v1[q] = re * s + im * c;
      }
    }
  }

  void fours(const T* x, const T* u, T* y, T* v, std::int64_t length, std::int64_t stride) const {
    const std::int64_t part = length / 4, run = stride * Lanes;
    for (std::int64_t p = 0; p < part; ++p) {
      const std::int64_t k = p * stride;
      const T c1 = root_re(k), s1 = root_im(k), c2 = root_re(2 * k), s2 = root_im(2 * k);
      const T c3 = root_re(3 * k), s3 = root_im(3 * k);
      const T *a = x + p * run, *b = a + part * run, *c = b + part * run, *d = c + part * run;
      const T *e = u + p * run, *f = e + part * run, *g = f + part * run, *h = g + part * run;
      T *y0 = y + 4 * p * run, *v0 = v + 4 * p * run;
#pragma omp simd
      for (std::int64_t q = 0; q < run; ++q) {
        const T sum_re = a[q] + c[q], sum_im = e[q] + g[q];
        const T less_re = a[q] - c[q], less_im = e[q] - g[q];
        const T other_re = b[q] + d[q], other_im = f[q] + h[q];
        const T turned_re = h[q] - f[q], turned_im = b[q] - d[q]; // i (b - d)
        const T r1 = less_re - turned_re, i1 = less_im - turned_im;
        const T r2 = sum_re - other_re, i2 = sum_im - other_im;
        const T r3 = less_re + turned_re, i3 = less_im + turned_im;
        y0[q] = sum_re + other_re;
        v0[q] = sum_im + other_im;
        y0[run + q] = r1 * c1 - i1 * s1;
        v0[run + q] = r1 * s1 + i1 * c1;
        y0[2 * run + q] = r2 * c2 - i2 * s2;
        v0[2 * run + q] = r2 * s2 + i2 * c2;
        y0[3 * run + q] = r3 * c3 - i3 * s3;
        v0[3 * run + q] = r3 * s3 + i3 * c3;
      }
    }
  }

  void others(std::int64_t f, const T* x, const T* u, T* y, T* v, std::int64_t length,
              std::int64_t stride) const {
    const std::int64_t part = length / f, run = stride * Lanes;
    for (std::int64_t p = 0; p < part; ++p)
      for (std::int64_t j = 0; j < f; ++j) {
        T *to_re = y + (f * p + j) * run, *to_im = v + (f * p + j) * run;
        for (std::int64_t k = 0; k < f; ++k) {
          const std::int64_t turn = (j * k % f * (n_ / f) + p * j * stride) % n_;
          const T c = root_re(turn), s = root_im(turn);
          const T *a = x + (p + part * k) * run, *b = u + (p + part * k) * run;
#pragma omp simd
          for (std::int64_t q = 0; q < run; ++q) {
            const T re = a[q] * c - b[q] * s, im = a[q] * s + b[q] * c;
            to_re[q] = k == 0 ? re : to_re[q] + re;
            to_im[q] = k == 0 ? im : to_im[q] + im;
          }
        }
      }
  }

  T root_re(std::int64_t k) const {
    return roots_.re[static_cast<std::size_t>(k)];
  }
  T root_im(std::int64_t k) const {
    return roots_.im[static_cast<std::size_t>(k)];
  }

  std::int64_t n_;
  unit_roots<T> roots_;
  std::vector<std::int64_t> factors_{};
};

/// The transform of lines of any length.
class fourier {
public:
  explicit fourier(std::int64_t n)
      : n_(n)
      , inner_(n) {
    std::int64_t rest = n;
    for (std::int64_t f = 2; f <= fourier_prime; ++f)
      while (rest % f == 0)
        rest /= f;
    if (rest > 1) set_chirp();
    plan_ = std::make_shared<const stockham<float, fourier_lanes>>(inner_);
  }

  /// Numbers of a line that run() writes, in `re` and in `im` each.
  std::int64_t room() const { return inner_; }
  /// "radix" or "chirp".
  const char* way() const { return chirp_ == nullptr ? "radix" : "chirp"; }

  /// Turns the lines in `re` and `im`; `work` holds 2 room() x lanes numbers.
  void run(float* re, float* im, float* work) const {
    if (chirp_ == nullptr) return plan_->run(re, im, work);
    constexpr std::int64_t lanes = fourier_lanes;
    turn(re, im, chirp_->re.data(), chirp_->im.data(), n_, 1);
    std::fill(re + n_ * lanes, re + inner_ * lanes, 0.f);
    std::fill(im + n_ * lanes, im + inner_ * lanes, 0.f);
    plan_->run(re, im, work);
    turn(re, im, chirp_->far_re.data(), chirp_->far_im.data(), inner_, 1);
    plan_->run(im, re, work); // with parts exchanged it is the inverse
    turn(re, im, chirp_->re.data(), chirp_->im.data(), n_, 1 / static_cast<float>(inner_));
  }

private:
  /// e^(-pi i k^2 / n), and the transform of its conjugate around zero.
  struct chirp {
    std::vector<float> re, im, far_re, far_im;
  };

  void set_chirp() {
    inner_ = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(2 * n_ - 1)));
    const auto size = static_cast<std::size_t>(inner_);
    std::vector<double> re(size), im(size), work(2 * size);
    auto made = std::make_shared<chirp>();
    for (std::int64_t k = 0; k < n_; ++k) {
      const double angle =
          std::numbers::pi * static_cast<double>(k * k % (2 * n_)) / static_cast<double>(n_);
      made->re.push_back(static_cast<float>(std::cos(angle)));
      made->im.push_back(static_cast<float>(-std::sin(angle)));
      for (const std::int64_t at : {k, (inner_ - k) % inner_}) {
        re[static_cast<std::size_t>(at)] = std::cos(angle);
        im[static_cast<std::size_t>(at)] = std::sin(angle);
      }
    }
    stockham<double, 1>(inner_).run(re.data(), im.data(), work.data());
    made->far_re.assign(re.begin(), re.end());
    made->far_im.assign(im.begin(), im.end());
    chirp_ = made;
  }

  /// Multiplies number i of every lane by c[i] + i s[i], and by `scale`.
  static void turn(float* re, float* im, const float* c, const float* s, std::int64_t n,
                   float scale) {
    for (std::int64_t i = 0; i < n; ++i) {
      float *a = re + i * fourier_lanes, *b = im + i * fourier_lanes;
      const float x = c[i] * scale, y = s[i] * scale;
#pragma omp simd
      for (std::int64_t l = 0; l < fourier_lanes; ++l) {
        const float u = a[l], v = b[l];
        a[l] = u * x - v * y;
        b[l] = u * y + v * x;
      }
    }
  }

  std::int64_t n_, inner_;
  std::shared_ptr<const chirp> chirp_{};
  std::shared_ptr<const stockham<float, fourier_lanes>> plan_{};
};

} // namespace benanza::backend::host::detail
