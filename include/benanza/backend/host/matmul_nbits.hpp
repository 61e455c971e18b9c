// SPDX-License-Identifier: Apache-2.0
// How does a product with weights of a few bits run? In tiles of up to six rows by two vectors of
// columns. Codes are in panels of a tile's columns, are widened in registers on the way to the sum,
// and each block's sum is scaled once; what zero points take off is known from the sums of a row's
// blocks. Columns are shared among threads.
//
//   kernel k = make(op::matmul_nbits{.a = {1, 1, 2048}, .n = 5632, .block = 32}, job);
#pragma once

#include "detail/job.hpp"
#include "detail/panel_tiles.hpp"

#include <utility>

namespace benanza::backend::host {

namespace detail {

/// The next codes of 8 bits, a vector of them as floats.
[[gnu::always_inline]] inline float_vector codes_as_floats(const std::uint8_t* from) {
#if defined(__AVX512F__)
  return _mm512_cvtepi32_ps(
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from))));
#elif defined(__FMA__) && defined(__AVX2__)
  return _mm256_cvtepi32_ps(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
#else
  float_vector v;
  for (int i = 0; i < float_lanes::count; ++i)
    v[i] = static_cast<float>(from[i]);
  return v;
#endif
}

/// Codes of a tile's columns, as floats.
struct two_codes {
  float_vector low, high;
};

/// Codes of 8 bits: a step along the sum is a byte of each column.
struct eight_bits {
  static constexpr std::int64_t steps = 1;
  const std::uint8_t* from;

  explicit eight_bits(const std::uint8_t* codes)
      : from(codes) {}
  [[gnu::always_inline]] two_codes at(std::int64_t) const {
    return {codes_as_floats(from), codes_as_floats(from + float_lanes::count)};
  }
  /// Where the code of step `k` and column `j` is in a block's codes, and by how much it is
  /// shifted.
  static std::pair<std::int64_t, int> place(std::int64_t k, std::int64_t j) {
    return {k * tile_columns + j, 0};
  }
};

#if defined(__AVX512F__)
/// Codes of 4 bits: eight steps are a word of each column. A word that is shifted is an index into
/// a table of numbers, of which the lowest four bits count.
struct four_bits {
  static constexpr std::int64_t steps = 8;
  using words = std::uint32_t __attribute__((vector_size(64)));
  words low, high;

  explicit four_bits(const std::uint8_t* codes) {
    std::memcpy(&low, codes, sizeof low);
    std::memcpy(&high, codes + sizeof low, sizeof high);
  }
  [[gnu::always_inline]] two_codes at(std::int64_t step) const {
    const __m512 numbers = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const auto by = static_cast<std::uint32_t>(4 * step);
    return {_mm512_permutexvar_ps(std::bit_cast<__m512i>(low >> by), numbers),
            _mm512_permutexvar_ps(std::bit_cast<__m512i>(high >> by), numbers)};
  }
  static std::pair<std::int64_t, int> place(std::int64_t k, std::int64_t j) {
    return {k / steps * 4 * tile_columns + 4 * j + k % steps / 2, k % 2 == 0 ? 0 : 4};
  }
};
#else
/// Codes of 4 bits: a step is a byte of two columns, which are in the low and in the high vector.
struct four_bits {
  static constexpr std::int64_t steps = 1;
  const std::uint8_t* from;

  explicit four_bits(const std::uint8_t* codes)
      : from(codes) {}
  [[gnu::always_inline]] two_codes at(std::int64_t) const {
#if defined(__FMA__) && defined(__AVX2__)
    const __m256i wide =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return {_mm256_cvtepi32_ps(_mm256_and_si256(wide, _mm256_set1_epi32(15))),
            _mm256_cvtepi32_ps(_mm256_srli_epi32(wide, 4))};
#else
    two_codes v;
    for (int i = 0; i < float_lanes::count; ++i) {
      v.low[i] = static_cast<float>(from[i] & 15);
      v.high[i] = static_cast<float>(from[i] >> 4);
    }
    return v;
#endif
  }
  static std::pair<std::int64_t, int> place(std::int64_t k, std::int64_t j) {
    constexpr std::int64_t half = tile_columns / 2;
    return {k * half + j % half, j < half ? 0 : 4};
  }
};
#endif

/// Where the parts of one matrix's packed weights are. A panel has for each block a row of scales,
/// one of zero points where they are no constant, and the codes.
struct nbits_parts {
  std::int64_t panels, blocks, rows, block_bytes, panel_bytes, bias, all;

  explicit nbits_parts(const op::matmul_nbits& p)
      : panels((p.n + tile_columns - 1) / tile_columns)
      , blocks(p.blocks())
      , rows(p.zero_points ? 2 : 1)
      , block_bytes(rows * tile_columns * 4 + p.block * tile_columns * p.bits / 8)
      , panel_bytes(blocks * block_bytes)
      , bias(panels * panel_bytes)
      , all(bias + (p.bias ? panels * tile_columns * 4 : 0)) {}
};

struct nbits_plan : panel_tiles<nbits_plan> {
  op::matmul_nbits p;
  nbits_parts parts;
  const float* a;
  float* y;

  nbits_plan(const op::matmul_nbits& layer, const job& j)
      : p(layer)
      , parts(layer)
      , a(reinterpret_cast<const float*>(j.inputs[0]))
      , y(reinterpret_cast<float*>(j.output)) {}

  std::int64_t groups_of_row() const { return parts.blocks; }
  void sum_blocks(float* to) const { sum_groups(a, p.rows(), p.length(), p.block, to); }

  /// The columns of the panels in [begin, end).
  void go(std::int64_t begin, std::int64_t end, const std::byte* weights, const float* sums) const {
    p.bits == 4 ? all_rows<four_bits>(p.rows(), begin, end, weights, sums)
                : all_rows<eight_bits>(p.rows(), begin, end, weights, sums);
  }

  /// Some rows of panel `at`, and of others that many panels further each.
  template <class Codes, int Rows, int Places>
  void tile(std::int64_t at, std::int64_t apart, const std::byte* weights, const float* sums,
            std::int64_t row) const {
    using lanes = float_lanes;
    constexpr std::int64_t group_bytes =
        std::is_same_v<Codes, four_bits> ? Codes::steps * tile_columns / 2 : tile_columns;
    float_vector low[Rows][Places], high[Rows][Places];
    const auto* first = reinterpret_cast<const float*>(weights + parts.bias);
    for (int r = 0; r < Rows; ++r)
      for (int i = 0; i < Places; ++i) {
        const float* its = first + (at + i * apart) * tile_columns;
        low[r][i] = p.bias ? lanes::load(its) : lanes::all(0);
        high[r][i] = p.bias ? lanes::load(its + lanes::count) : lanes::all(0);
      }
    const std::int64_t step = apart * parts.panel_bytes;
    const std::byte* from = weights + at * parts.panel_bytes;
    const float_vector zero = lanes::all(static_cast<float>(1 << (p.bits - 1)));
    for (std::int64_t b = 0; b < parts.blocks; ++b, from += parts.block_bytes) {
      const auto* codes =
          reinterpret_cast<const std::uint8_t*>(from + parts.rows * tile_columns * 4);
      const float* x = a + row * p.length() + b * p.block;
      const std::int64_t n = std::min(p.block, p.length() - b * p.block);
      float_vector left[Rows][Places]{}, right[Rows][Places]{};
      for (std::int64_t k = 0; k < n; k += Codes::steps, codes += group_bytes) {
        const auto add = [&](std::int64_t j, const Codes& group, int i)
            __attribute__((always_inline)) {
          const two_codes c = group.at(j);
#pragma GCC unroll 6
          for (int r = 0; r < Rows; ++r) {
            const float_vector v = lanes::all(x[r * p.length() + k + j]);
            left[r][i] = lanes::multiply_add(v, c.low, left[r][i]);
            right[r][i] = lanes::multiply_add(v, c.high, right[r][i]);
          }
        };
#pragma GCC unroll 4
        for (int i = 0; i < Places; ++i) {
          const Codes group(codes + i * step);
          if (k + Codes::steps <= n) {
#pragma GCC unroll 8
            for (std::int64_t j = 0; j < Codes::steps; ++j)
              add(j, group, i);
          } else {
            for (std::int64_t j = 0; j < n - k; ++j)
              add(j, group, i);
          }
        }
      }
#pragma GCC unroll 4
      for (int i = 0; i < Places; ++i) {
        const auto* scales = reinterpret_cast<const float*>(from + i * step);
        const float_vector scale_low = lanes::load(scales);
        const float_vector scale_high = lanes::load(scales + lanes::count);
        const bool points = p.zero_points;
        const float_vector zero_low = points ? lanes::load(scales + tile_columns) : zero;
        const float_vector zero_high =
            points ? lanes::load(scales + tile_columns + lanes::count) : zero;
#pragma GCC unroll 6
        for (int r = 0; r < Rows; ++r) {
          const float_vector sum = lanes::all(-sums[(row + r) * parts.blocks + b]);
          low[r][i] = lanes::multiply_add(scale_low, lanes::multiply_add(sum, zero_low, left[r][i]),
                                          low[r][i]);
          high[r][i] = lanes::multiply_add(
              scale_high, lanes::multiply_add(sum, zero_high, right[r][i]), high[r][i]);
        }
      }
    }
    for (int i = 0; i < Places; ++i) {
      const std::int64_t column = (at + i * apart) * tile_columns;
      for (int r = 0; r < Rows; ++r)
        store_columns(low[r][i], high[r][i], y + (row + r) * p.n + column,
                      std::min(tile_columns, p.n - column));
    }
  }
};
} // namespace detail

/// True where there is a kernel: f32.
inline bool runs(const op::matmul_nbits&, dtype element) {
  return element == dtype::f32;
}

/// Bytes of the weights as the kernel reads them.
inline std::int64_t weight_bytes(const op::matmul_nbits& p, dtype) {
  return p.experts * detail::nbits_parts(p).all;
}

/// Brings codes, scales, zero points and bias into panels.
inline void fold_weights(const op::matmul_nbits& p, const operands& o, float* to) {
  constexpr std::int64_t columns = detail::tile_columns;
  const detail::nbits_parts parts(p);
  auto* bytes = reinterpret_cast<std::byte*>(to);
  std::fill_n(bytes, p.experts * parts.all, std::byte{0});
  const std::int64_t mask = (1 << p.bits) - 1, points = p.packed_zero_points()[1];
  const auto code = [&](const tensor& t, std::int64_t first, std::int64_t i) {
    const auto byte =
        std::to_integer<std::int64_t>(t.bytes[static_cast<std::size_t>(first + i * p.bits / 8)]);
    return byte >> (i * p.bits % 8) & mask;
  };
  for (std::int64_t column = 0; column < p.columns(); ++column) {
    std::byte* matrix = bytes + column / p.n * parts.all;
    const std::int64_t own = column % p.n, j = own % columns;
    for (std::int64_t b = 0; b < parts.blocks; ++b) {
      std::byte* block = matrix + own / columns * parts.panel_bytes + b * parts.block_bytes;
      auto* numbers = reinterpret_cast<float*>(block);
      numbers[j] = o.inputs[2].as<float>()[static_cast<std::size_t>(column * parts.blocks + b)];
      if (p.zero_points)
        numbers[columns + j] = static_cast<float>(code(o.inputs[3], column * points, b));
      std::byte* codes = block + parts.rows * columns * 4;
      const std::int64_t first = (column * parts.blocks + b) * (p.block * p.bits / 8);
      for (std::int64_t k = 0; k < p.block; ++k) {
        const auto [at, shift] =
            p.bits == 4 ? detail::four_bits::place(k, j) : detail::eight_bits::place(k, j);
        codes[at] |= static_cast<std::byte>(code(o.inputs[1], first, k) << shift);
      }
    }
    if (p.bias)
      reinterpret_cast<float*>(matrix + parts.bias)[own] =
          o.inputs[5].as<float>()[static_cast<std::size_t>(column)];
  }
}

inline detail::kernel make(const op::matmul_nbits& p, const detail::job& j) {
  if (j.output == nullptr) return {"panels", [] {}};
  const detail::nbits_plan plan(p, j);
  const int threads = detail::team_for(j.threads, p.experts * plan.parts.all);
  const detail::scratch room(1, p.rows() * plan.parts.blocks);
  return {"panels", [=, weights = j.weights] {
            float* sums = room.mine();
            plan.sum_blocks(sums);
            detail::share(threads, plan.p.experts * plan.parts.panels, 1,
                          [&](std::int64_t begin, std::int64_t end) {
                            plan.of_experts(begin, end, *weights, sums);
                          });
          }};
}

} // namespace benanza::backend::host
