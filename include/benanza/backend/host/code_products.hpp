// SPDX-License-Identifier: Apache-2.0
// How do products of 8-bit codes run that the library has no algorithm for: with zero points, or
// codes from zero up, on the weights' side; and all where the processor has no dot products of
// bytes, without which the library's sums saturate? Codes less their zero points are whole numbers
// of 16 bits. Blocks of rows and columns are widened to them in pairs along the sum, which one
// instruction multiplies and adds; a convolution's columns are what its windows see, and where each
// channel has its own windows there are none (code_windows.hpp). A block's sums are scaled and
// rounded while they are in cache.
//
//   kernel k = make(on_codes<matmul>{.base = ..., .types = code_types::u8u8u8, .zero_b = true},
//   job)
#pragma once

#include "code_windows.hpp"
#include "detail/job.hpp"
#include "detail/loops.hpp"
#include "detail/product.hpp"
#include "quantize.hpp"

#include <cstring>
#include <optional>
#include <type_traits>

namespace benanza::backend::host {

namespace detail {

/// Whole numbers as wide as a vector of floats, and pairs of half their width.
typedef std::int32_t sum_vector __attribute__((vector_size(sizeof(float_vector))));

/// sums + a[0] b[0] + a[1] b[1] in each place, of pairs in 16 bits.
[[gnu::always_inline]] inline sum_vector add_pairs(sum_vector sums, sum_vector a, sum_vector b) {
#if defined(__AVX512BW__)
  return sums + reinterpret_cast<sum_vector>(
                    _mm512_madd_epi16(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif defined(__FMA__) && defined(__AVX2__) && !defined(__AVX512F__)
  return sums + reinterpret_cast<sum_vector>(
                    _mm256_madd_epi16(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return sums + (a >> 16) * (b >> 16) + (a << 16 >> 16) * (b << 16 >> 16);
#endif
}

/// Sums of `Rows` rows and a tile's columns; a row of `a` holds pairs, the panel a pair of each
/// column after the other.
template <int Rows>
void sum_tile(const std::int16_t* a, std::int64_t row, const std::int16_t* panel,
              std::int64_t pairs, std::int32_t* to, std::int64_t to_row) {
  constexpr int lanes = float_lanes::count;
  sum_vector low[Rows]{}, high[Rows]{};
  for (std::int64_t k = 0; k < pairs; ++k, panel += 2 * tile_columns) {
    sum_vector left, right;
    std::memcpy(&left, panel, sizeof left);
    std::memcpy(&right, panel + 2 * lanes, sizeof right);
#pragma GCC unroll 8
    for (int r = 0; r < Rows; ++r) {
      std::int32_t pair;
      std::memcpy(&pair, a + r * row + 2 * k, sizeof pair);
      const sum_vector both = sum_vector{} + pair;
      low[r] = add_pairs(low[r], both, left);
      high[r] = add_pairs(high[r], both, right);
    }
  }
  for (int r = 0; r < Rows; ++r) {
    std::memcpy(to + r * to_row, &low[r], sizeof low[r]);
    std::memcpy(to + r * to_row + lanes, &high[r], sizeof high[r]);
  }
}

/// Where the matrices of a product are, and what its windows see.
struct code_matrices {
  std::int64_t images = 1, rows = 0, columns = 0, length = 0;
  std::int64_t a_row = 0, a_step = 1; ///< elements from one to the next
  std::int64_t b_row = 0, b_step = 1; ///< along the sum, and along the columns
  std::vector<std::int64_t> a{}, b{}; ///< where each image's matrices begin
};

inline code_matrices matrices_of(const op::matmul& p) {
  const shape out = p.output();
  const int batch = out.size - 2;
  shape left = p.a, right = p.b;
  left.size -= 2, right.size -= 2;
  const shape l = broadcast_strides(left, batch), r = broadcast_strides(right, batch);
  code_matrices m{.images = elements(out, 0, batch), .rows = p.m(), .columns = p.n()};
  m.length = m.a_row = p.k();
  m.b_row = p.n();
  for (std::int64_t i = 0; i < m.images; ++i) {
    std::int64_t rest = i, at_a = 0, at_b = 0;
    for (int d = batch - 1; d >= 0; rest /= out[d--])
      at_a += rest % out[d] * l[d], at_b += rest % out[d] * r[d];
    m.a.push_back(at_a * p.m() * p.k());
    m.b.push_back(at_b * p.k() * p.n());
  }
  return m;
}
inline code_matrices matrices_of(const op::gemm& p) {
  return {.rows = p.m,
          .columns = p.n,
          .length = p.k,
          .a_row = p.transpose_a ? 1 : p.k,
          .a_step = p.transpose_a ? p.m : 1,
          .b_row = p.transpose_b ? 1 : p.n,
          .b_step = p.transpose_b ? p.k : 1,
          .a = {0},
          .b = {0}};
}
/// An image is a group of one item; its left matrix are the weights.
inline code_matrices matrices_of(const op::conv& p) {
  const shape out = p.output();
  const std::int64_t plane = elements(p.input, 2, p.input.size), channels = p.input[1] / p.groups;
  code_matrices m{.images = p.input[0] * p.groups, .rows = p.outputs / p.groups};
  m.columns = elements(out, 2, out.size);
  m.length = m.a_row = elements(p.weights()) / p.outputs;
  for (std::int64_t i = 0; i < m.images; ++i) {
    m.a.push_back(i % p.groups * m.rows * m.length);
    m.b.push_back(i * channels * plane);
  }
  return m;
}

/// True where each channel has windows of its own, whose sums are exact in floats.
template <class Base>
bool sees_planes(const op::on_codes<Base>& p) {
  if constexpr (std::is_same_v<Base, op::conv>)
    return p.base.groups > 1 && p.base.input[1] == p.base.groups &&
           matrices_of(p.base).length <= code_planes::most_taps;
  else
    return false;
}

/// One block of results after the other.
template <class Base>
class code_plan {
  static constexpr bool convolves = std::is_same_v<Base, op::conv>;

public:
  static constexpr std::int64_t row_block = 16 * tile_rows, column_block = 4 * tile_columns;

  code_plan(const op::on_codes<Base>& layer, const job& j)
      : p_(layer)
      , at_(layer.places())
      , m_(matrices_of(layer.base))
      , windows_(layer.base)
      , pairs_(std::max<std::int64_t>(1, (m_.length + 1) / 2))
      , operands_(j.inputs)
      , shapes_(j.shapes)
      , to_(j.output) {
    if constexpr (convolves)
      if (sees_planes(p_)) planes_.emplace(windows_);
  }

  std::int64_t units() const {
    if (planes_) return m_.images * planes_->blocks();
    return m_.images * blocks(m_.rows, row_block) * blocks(m_.columns, column_block);
  }
  /// Floats of scratch memory for one thread.
  std::int64_t floats_a_thread() const {
    if (planes_) return planes_->floats() + planes_->sums(); // once more as whole numbers
    return (row_block + column_block) * pairs_ + tile_rows * column_block + 2 * column_block;
  }

  /// Some blocks of results, by their numbers. Those of the same columns follow each other.
  void run(std::int64_t unit, std::int64_t end, float* room) const {
    if (planes_) {
      for (; unit < end; ++unit)
        run_plane(unit / planes_->blocks(), unit % planes_->blocks(), room);
      return;
    }
    const std::int64_t row_blocks = blocks(m_.rows, row_block);
    for (bool first = true; unit < end; ++unit, first = false)
      run(unit / row_blocks, unit % row_blocks * row_block, room, first || unit % row_blocks == 0);
  }

private:
  static std::int64_t blocks(std::int64_t n, std::int64_t each) { return (n + each - 1) / each; }

  /// One block, whose columns may be there already.
  void run(std::int64_t at, std::int64_t row, float* room, bool brings) const {
    const std::int64_t column_blocks = blocks(m_.columns, column_block);
    const std::int64_t image = at / column_blocks, column = at % column_blocks * column_block;
    const std::int64_t rows = std::min(row_block, m_.rows - row);
    const std::int64_t columns = std::min(column_block, m_.columns - column);
    auto* sums = reinterpret_cast<std::int32_t*>(room);
    auto* a = reinterpret_cast<std::int16_t*>(room + tile_rows * column_block);
    auto* b = a + 2 * row_block * pairs_;
    auto* lines = b + 2 * column_block * pairs_;
    bring_rows(image, row, rows, a);
    if (brings) bring_columns(image, column, columns, b, lines);
    for (std::int64_t r = 0; r < rows; r += tile_rows) {
      const std::int64_t some = std::min<std::int64_t>(tile_rows, rows - r);
      for (std::int64_t c = 0; c < columns; c += tile_columns)
        sum<tile_rows>(some, a + r * 2 * pairs_, b + c * 2 * pairs_, sums + c);
      for (std::int64_t i = 0; i < some; ++i)
        finish(image, row + r + i, column, columns, sums + i * column_block);
    }
  }

  /// One block of a plane, for all channels that see it.
  void run_plane(std::int64_t image, std::int64_t part, float* room) const {
    if constexpr (convolves) {
      planes_->bring(right(image), p_.a_type() == dtype::s8, zero_a(), part, room);
      float* const sums = room + planes_->plane_floats();
      alignas(64) std::int16_t codes[code_planes::most_taps];
      alignas(64) float weights[code_planes::most_taps];
      for (std::int64_t row = 0; row < m_.rows; ++row) {
        widen_codes(left(image) + row * m_.a_row, p_.b_type() == dtype::s8, 1, m_.length,
                    zero_b(channel(image, row)), codes);
        std::copy_n(codes, m_.length, weights);
        const std::int64_t n = planes_->sum(room, weights, part, sums);
        auto* whole = reinterpret_cast<std::int32_t*>(room + planes_->floats());
#pragma omp simd
        for (std::int64_t i = 0; i < n; ++i)
          whole[i] = static_cast<std::int32_t>(sums[i]);
        finish(image, row, planes_->first(part), n, whole);
      }
    }
  }

  /// Of the weights of a convolution, or of the first operand.
  const std::byte* left(std::int64_t image) const {
    return operands_[static_cast<std::size_t>(convolves ? at_.b : at_.a)] +
           m_.a[static_cast<std::size_t>(image)];
  }
  const std::byte* right(std::int64_t image) const {
    return operands_[static_cast<std::size_t>(convolves ? at_.a : at_.b)] +
           m_.b[static_cast<std::size_t>(image)];
  }
  bool one(int place) const {
    return elements(shapes_[static_cast<std::size_t>(place)].dims) == 1;
  }
  /// A zero point; `i` counts channels, or columns.
  std::int32_t zero(bool there, int place, dtype type, std::int64_t i) const {
    if (!there || place < 0) return 0;
    const std::byte* x = operands_[static_cast<std::size_t>(place)] + (one(place) ? 0 : i);
    return type == dtype::s8 ? std::int32_t{*reinterpret_cast<const std::int8_t*>(x)}
                             : std::int32_t{*reinterpret_cast<const std::uint8_t*>(x)};
  }
  std::int32_t zero_a() const {
    return zero(p_.zero_a, at_.a_zero, p_.a_type(), 0);
  }
  std::int32_t zero_b(std::int64_t i) const {
    return zero(p_.zero_b, at_.b_zero, p_.b_type(), i);
  }
  float scale(int place, std::int64_t i) const {
    return reinterpret_cast<const float*>(
        operands_[static_cast<std::size_t>(place)])[one(place) ? 0 : i];
  }
  /// The number of a convolution's channel.
  std::int64_t channel(std::int64_t image, std::int64_t row) const {
    if constexpr (convolves) return image % p_.base.groups * m_.rows + row;
    return 0;
  }

  void bring_rows(std::int64_t image, std::int64_t row, std::int64_t rows, std::int16_t* to) const {
    const bool is_signed = (convolves ? p_.b_type() : p_.a_type()) == dtype::s8;
    for (std::int64_t r = 0; r < rows; ++r, to += 2 * pairs_) {
      to[2 * pairs_ - 1] = 0;
      widen_codes(left(image) + (row + r) * m_.a_row, is_signed, m_.a_step, m_.length,
                  convolves ? zero_b(channel(image, row + r)) : zero_a(), to);
    }
  }

  /// The columns of a block at place `k` of the sum.
  void line(std::int64_t image, std::int64_t k, std::int64_t column, std::int64_t columns,
            const std::int16_t* zeros, std::int16_t* to) const {
    if (k >= m_.length) {
      std::fill_n(to, columns, std::int16_t{0});
    } else if constexpr (convolves) {
      windows_.see(right(image), p_.a_type() == dtype::s8, k, column, columns, zero_a(), to);
    } else {
      widen_codes(right(image) + k * m_.b_row + column * m_.b_step, p_.b_type() == dtype::s8,
                  m_.b_step, columns, 0, to);
#pragma omp simd
      for (std::int64_t c = 0; c < columns; ++c)
        to[c] = static_cast<std::int16_t>(to[c] - zeros[c]);
    }
  }

  void bring_columns(std::int64_t image, std::int64_t column, std::int64_t columns,
                     std::int16_t* to, std::int16_t* lines) const {
    std::int16_t *first = lines, *second = lines + column_block, *zeros = second + column_block;
    std::fill_n(lines, 2 * column_block, std::int16_t{0});
    for (std::int64_t c = 0; c < columns && !convolves; ++c)
      zeros[c] = static_cast<std::int16_t>(zero_b(column + c));
    if (m_.b_row == 1 && m_.b_step > 1)
      return turn_columns(right(image) + column * m_.b_step, columns, zeros, to);
    for (std::int64_t k = 0; k < pairs_; ++k) {
      line(image, 2 * k, column, columns, zeros, first);
      line(image, 2 * k + 1, column, columns, zeros, second);
      for (std::int64_t c = 0; c < columns; c += tile_columns) {
        std::int16_t* panel = to + (c * pairs_ + k * tile_columns) * 2;
#pragma omp simd
        for (std::int64_t i = 0; i < tile_columns; ++i)
          panel[2 * i] = first[c + i], panel[2 * i + 1] = second[c + i];
      }
    }
  }

  /// Columns each of which is contiguous, a pair after the other.
  void turn_columns(const std::byte* from, std::int64_t columns, const std::int16_t* zeros,
                    std::int16_t* to) const {
    const auto turn = [&](const auto* x) {
      for (std::int64_t c = 0; c < columns; ++c, x += m_.b_step) {
        std::int16_t* panel =
            to + (c / tile_columns * tile_columns * pairs_ + c % tile_columns) * 2;
        for (std::int64_t k = 0; k < pairs_; ++k, panel += 2 * tile_columns) {
          panel[0] = static_cast<std::int16_t>(x[2 * k] - zeros[c]);
          panel[1] = 2 * k + 1 < m_.length ? static_cast<std::int16_t>(x[2 * k + 1] - zeros[c])
                                           : std::int16_t{0};
        }
      }
    };
    if (p_.b_type() == dtype::s8)
      turn(reinterpret_cast<const std::int8_t*>(from));
    else
      turn(reinterpret_cast<const std::uint8_t*>(from));
  }

  template <int Rows>
  void sum(std::int64_t rows, const std::int16_t* a, const std::int16_t* panel,
           std::int32_t* to) const {
    if constexpr (Rows > 0) {
      if (rows == Rows)
        sum_tile<Rows>(a, 2 * pairs_, panel, pairs_, to, column_block);
      else
        sum<Rows - 1>(rows, a, panel, to);
    }
  }

  std::int32_t bias(std::int64_t image, std::int64_t row, std::int64_t column) const {
    if (!p_.biased()) return 0;
    std::int64_t i = channel(image, row);
    if constexpr (std::is_same_v<Base, op::gemm>)
      i = (p_.base.c[0] == 1 ? 0 : row) * p_.base.c[1] + (p_.base.c[1] == 1 ? 0 : column);
    return reinterpret_cast<const std::int32_t*>(operands_[static_cast<std::size_t>(at_.bias)])[i];
  }

  /// Writes a row of results, from their sums.
  void finish(std::int64_t image, std::int64_t row, std::int64_t column, std::int64_t n,
              const std::int32_t* sums) const {
    const std::int64_t first = (image * m_.rows + row) * m_.columns + column;
    if (p_.integer) {
      std::memcpy(to_ + first * 4, sums, static_cast<std::size_t>(n) * 4);
      return;
    }
    const bool codes = p_.result_type() != dtype::real;
    const float common = scale(at_.a_scale, 0) / (codes ? scale(at_.scale, 0) : 1.f);
    const bool shared = convolves || one(at_.b_scale);
    const float factor = common * (shared ? scale(at_.b_scale, channel(image, row)) : 1.f);
    const std::int32_t zero_result = zero(p_.zero_result, at_.zero, p_.result_type(), 0);
    const bool alike = shared && (convolves || !p_.biased()); // along the row
    alignas(64) float v[block];
    for (std::int64_t done = 0; done < n; done += block) {
      const std::int64_t some = std::min(block, n - done), to = first + done;
      const std::int32_t* from = sums + done;
      if (alike) {
        const std::int32_t added = bias(image, row, column);
#pragma omp simd
        for (std::int64_t c = 0; c < some; ++c)
          v[c] = static_cast<float>(from[c] + added) * factor;
      } else {
        for (std::int64_t c = 0; c < some; ++c) {
          const std::int64_t at = column + done + c;
          const float by = shared ? factor : factor * scale(at_.b_scale, at);
          v[c] = static_cast<float>(from[c] + bias(image, row, at)) * by;
        }
      }
      if (!codes)
        write(v, reinterpret_cast<float*>(to_) + to, some);
      else if (p_.result_type() == dtype::s8)
        write(v, reinterpret_cast<std::int8_t*>(to_) + to, some, zero_result);
      else
        write(v, reinterpret_cast<std::uint8_t*>(to_) + to, some, zero_result);
    }
  }
  void write(const float* v, float* to, std::int64_t n) const {
    for (std::int64_t c = 0; c < n; ++c)
      to[c] = p_.rectified ? std::max(v[c], 0.f) : v[c];
  }
  template <class C>
  void write(const float* v, C* to, std::int64_t n, std::int32_t zero_result) const {
    const std::int32_t least = p_.rectified ? zero_result : std::numeric_limits<C>::min();
#pragma omp simd
    for (std::int64_t c = 0; c < n; ++c)
      to[c] = code_of<C>(v[c], zero_result, least);
  }

  op::on_codes<Base> p_;
  op::code_places at_;
  code_matrices m_;
  std::conditional_t<convolves, code_windows, no_windows> windows_;
  std::optional<code_planes> planes_{}; ///< where each channel has windows of its own
  std::int64_t pairs_;
  std::vector<const std::byte*> operands_;
  std::vector<tensor> shapes_;
  std::byte* to_;
};
} // namespace detail

/// Dot products of bytes, by which libraries' sums of codes are exact.
inline constexpr bool has_dot_products =
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || !defined(__x86_64__)
    true;
#else
    false;
#endif

/// True where libraries have nothing exact: a zero point of the second operand, codes from zero up,
/// or a processor without dot products of bytes. Sums stay whole numbers of 32 bits.
template <class Base>
requires(!op::on_codes<Base>::adds) bool runs(const op::on_codes<Base>& p, dtype element) {
  return (p.zero_b || p.b_type() == dtype::u8 || !has_dot_products) &&
         detail::matrices_of(p.base).length <= 32768 &&
         (p.result_type() != dtype::real || element == dtype::f32);
}

template <class Base>
requires(!op::on_codes<Base>::adds) detail::kernel
    make(const op::on_codes<Base>& p, const detail::job& j) {
  if (elements(p.output()) == 0) return {"pairs", [] {}};
  const detail::code_plan<Base> plan(p, j);
  const int threads = detail::team_for(j.threads, p.cost().macs);
  const detail::scratch room(threads, plan.floats_a_thread());
  return {detail::sees_planes(p) ? "planes" : "pairs", [=] {
            detail::share(threads, plan.units(), 1, [&](std::int64_t at, std::int64_t end) {
              plan.run(at, end, room.mine());
            });
          }};
}

} // namespace benanza::backend::host
