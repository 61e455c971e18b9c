// SPDX-License-Identifier: Apache-2.0
// How do running sums and products run? Along rows in blocks of eight, whose own sums do not wait
// for what comes before them; along another axis whole pieces of rows at once. In the type of the
// elements, bf16 in f32.
//
//   kernel k = make(op::cumulate{.input = {8, 512}, .axis = 1}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/job.hpp"

namespace benanza::backend::host {

/// Codes of quantised types are not summed.
inline bool runs(const op::cumulate&, dtype element) {
  return element == dtype::f32 || element == dtype::f64 || element == dtype::bf16 ||
         element == dtype::s32 || element == dtype::s64;
}

namespace detail {

/// One way to run: `T` sums, whole numbers wrap around.
template <class T, bool Product>
struct running_plan {
  static constexpr std::int64_t piece = 512;
  std::int64_t size, inner, outer;
  bool exclusive, reverse, narrow; ///< `narrow`: stored as bf16
  const std::byte* x;
  std::byte* y;
  int threads;

  static T start() { return Product ? T{1} : T{0}; }
  [[gnu::always_inline]] static T joined(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using wide = std::make_unsigned_t<T>;
      const auto u = static_cast<wide>(a), v = static_cast<wide>(b);
      return static_cast<T>(Product ? u * v : u + v);
    } else {
      return Product ? a * b : a + b;
    }
  }

  void run() const {
    if (inner == 1)
      return share(threads, outer, 1, [&](std::int64_t begin, std::int64_t end) {
        for (; begin < end; ++begin)
          reverse ? run_row<true>(begin) : run_row<false>(begin);
      });
    const std::int64_t pieces = (inner + piece - 1) / piece;
    share(threads, outer * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (; begin < end; ++begin)
        run_columns(begin / pieces, begin % pieces * piece);
    });
  }

private:
  std::int64_t width() const { return narrow ? 2 : static_cast<std::int64_t>(sizeof(T)); }

  /// Elements from `at` on, in place or widened.
  const T* read(std::int64_t at, std::int64_t n, T* room) const {
    if constexpr (std::is_same_v<T, float>)
      if (narrow) {
        widen<std::uint16_t>(x + 2 * at, room, n);
        return room;
      }
    return reinterpret_cast<const T*>(x) + at;
  }
  T* place(std::int64_t at, T* room) const { return narrow ? room : reinterpret_cast<T*>(y) + at; }
  void write(const T* from, std::int64_t at, std::int64_t n) const {
    if constexpr (std::is_same_v<T, float>)
      if (narrow) detail::narrow<std::uint16_t>(from, y + 2 * at, n, 1);
  }

  template <bool Reverse>
  void run_row(std::int64_t row) const {
    alignas(64) T wide[block], made[block];
    T before = start();
    for (std::int64_t done = 0; done < size; done += block) {
      const std::int64_t n = std::min(block, size - done);
      const std::int64_t at = row * size + (Reverse ? size - done - n : done);
      const T* from = read(at, n, wide);
      T* to = place(at, made);
      before = exclusive ? run_piece<Reverse, true>(from, to, n, before)
                         : run_piece<Reverse, false>(from, to, n, before);
      write(to, at, n);
    }
  }

  /// Returns the running sum or product before the next piece.
  template <bool Reverse, bool Exclusive>
  static T run_piece(const T* from, T* to, std::int64_t n, T before) {
    const auto at = [n](std::int64_t i) { return Reverse ? n - 1 - i : i; };
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      T sums[8];
      sums[0] = from[at(i)];
      for (int k = 1; k < 8; ++k)
        sums[k] = joined(sums[k - 1], from[at(i + k)]);
      to[at(i)] = Exclusive ? before : joined(before, sums[0]);
      for (int k = 1; k < 8; ++k)
        to[at(i + k)] = joined(before, sums[Exclusive ? k - 1 : k]);
      before = joined(before, sums[7]);
    }
    for (; i < n; ++i) {
      const T after = joined(before, from[at(i)]);
      to[at(i)] = Exclusive ? before : after;
      before = after;
    }
    return before;
  }

  void run_columns(std::int64_t plane, std::int64_t column) const {
    alignas(64) T sums[piece], wide[piece], made[piece];
    const std::int64_t n = std::min(piece, inner - column);
    std::fill_n(sums, n, start());
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t row = reverse ? size - 1 - k : k;
      const std::int64_t at = (plane * size + row) * inner + column;
      const T* from = read(at, n, wide);
      T* to = place(at, made);
      if (exclusive) {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i) {
          to[i] = sums[i];
          sums[i] = joined(sums[i], from[i]);
        }
      } else {
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i)
          to[i] = sums[i] = joined(sums[i], from[i]);
      }
      write(to, at, n);
    }
  }
};

template <class T>
task running_task(const op::cumulate& p, const job& j) {
  const auto with = [&](auto product) -> task {
    const running_plan<T, product> plan{.size = p.input[p.axis],
                                        .inner = elements(p.input, p.axis + 1, p.input.size),
                                        .outer = elements(p.input, 0, p.axis),
                                        .exclusive = p.exclusive,
                                        .reverse = p.reverse,
                                        .narrow = j.element == dtype::bf16,
                                        .x = j.inputs[0],
                                        .y = j.output,
                                        .threads =
                                            team_for(j.threads, 2 * elements(p.input) * j.width())};
    return [plan] { plan.run(); };
  };
  return p.product ? with(std::true_type{}) : with(std::false_type{});
}
} // namespace detail

inline detail::kernel make(const op::cumulate& p, const detail::job& j) {
  const bool rows = elements(p.input, p.axis + 1, p.input.size) == 1;
  detail::kernel made{rows ? "rows" : "columns", {}};
  switch (j.element) {
  case dtype::f64: made.run = detail::running_task<double>(p, j); break;
  case dtype::s32: made.run = detail::running_task<std::int32_t>(p, j); break;
  case dtype::s64: made.run = detail::running_task<std::int64_t>(p, j); break;
  default: made.run = detail::running_task<float>(p, j);
  }
  return made;
}

} // namespace benanza::backend::host
