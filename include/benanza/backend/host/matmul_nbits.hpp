// SPDX-License-Identifier: Apache-2.0
// How does a product with weights of a few bits run? In tiles of up to six rows by two vectors of
// columns. Codes are in panels of a tile's columns, are widened in registers on the way to the sum,
// and each block's sum is scaled once; what zero points take off is known from the sums of a row's
// blocks. Columns are shared among threads.
//
//   kernel k = make(op::matmul_nbits{.a = {1, 1, 2048}, .n = 5632, .block = 32}, job);
#pragma once

#include "detail/job.hpp"
#include "detail/product.hpp"

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

/// The low and the high halves of as many bytes as a vector has floats.
struct two_codes {
  float_vector low, high;
};
[[gnu::always_inline]] inline two_codes halves_as_floats(const std::uint8_t* from) {
#if defined(__AVX512F__)
  const __m512i wide =
      _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  return {_mm512_cvtepi32_ps(_mm512_and_si512(wide, _mm512_set1_epi32(15))),
          _mm512_cvtepi32_ps(_mm512_srli_epi32(wide, 4))};
#elif defined(__FMA__) && defined(__AVX2__)
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

/// Where the parts of packed weights are. A panel has for each block a row of scales, a row of what
/// zero points times scales are, and the codes.
struct nbits_parts {
  std::int64_t panels, blocks, code_row, block_bytes, panel_bytes, bias, all;

  explicit nbits_parts(const op::matmul_nbits& p)
      : panels((p.n + tile_columns - 1) / tile_columns)
      , blocks(p.blocks())
      , code_row(tile_columns * p.bits / 8)
      , block_bytes(2 * tile_columns * 4 + p.block * code_row)
      , panel_bytes(blocks * block_bytes)
      , bias(panels * panel_bytes)
      , all(bias + (p.bias ? panels * tile_columns * 4 : 0)) {}
};

struct nbits_plan {
  op::matmul_nbits p;
  nbits_parts parts;
  const float* a;
  float* y;

  nbits_plan(const op::matmul_nbits& layer, const job& j)
      : p(layer)
      , parts(layer)
      , a(reinterpret_cast<const float*>(j.inputs[0]))
      , y(reinterpret_cast<float*>(j.output)) {}

  /// Sums of each row's blocks.
  void sum_blocks(float* to) const {
    for (std::int64_t row = 0; row < p.rows(); ++row)
      for (std::int64_t b = 0; b < parts.blocks; ++b) {
        const float* from = a + row * p.length() + b * p.block;
        float sum = 0;
        const std::int64_t n = std::min(p.block, p.length() - b * p.block);
#pragma omp simd reduction(+ : sum)
        for (std::int64_t k = 0; k < n; ++k)
          sum += from[k];
        *to++ = sum;
      }
  }

  void panel(std::int64_t at, const std::byte* weights, const float* sums) const {
    std::int64_t row = 0;
    for (; row + tile_rows <= p.rows(); row += tile_rows)
      tiles<tile_rows>(at, weights, sums, row);
    rest<tile_rows - 1>(at, weights, sums, row);
  }

private:
  template <int Rows>
  void rest(std::int64_t at, const std::byte* weights, const float* sums, std::int64_t row) const {
    if constexpr (Rows > 0) {
      if (p.rows() - row == Rows)
        tiles<Rows>(at, weights, sums, row);
      else
        rest<Rows - 1>(at, weights, sums, row);
    }
  }
  template <int Rows>
  void tiles(std::int64_t at, const std::byte* weights, const float* sums, std::int64_t row) const {
    p.bits == 4 ? tile<Rows, 4>(at, weights, sums, row) : tile<Rows, 8>(at, weights, sums, row);
  }

  template <int Rows, int Bits>
  void tile(std::int64_t at, const std::byte* weights, const float* sums, std::int64_t row) const {
    using lanes = float_lanes;
    float_vector low[Rows], high[Rows];
    const auto* first = reinterpret_cast<const float*>(weights + parts.bias) + at * tile_columns;
    for (int r = 0; r < Rows; ++r) {
      low[r] = p.bias ? lanes::load(first) : lanes::all(0);
      high[r] = p.bias ? lanes::load(first + lanes::count) : lanes::all(0);
    }
    const std::byte* from = weights + at * parts.panel_bytes;
    for (std::int64_t b = 0; b < parts.blocks; ++b, from += parts.block_bytes) {
      const auto* scales = reinterpret_cast<const float*>(from);
      const auto* codes = reinterpret_cast<const std::uint8_t*>(scales + 2 * tile_columns);
      const float* x = a + row * p.length() + b * p.block;
      const std::int64_t n = std::min(p.block, p.length() - b * p.block);
      float_vector left[Rows]{}, right[Rows]{};
      for (std::int64_t k = 0; k < n; ++k, codes += tile_columns * Bits / 8) {
        two_codes c;
        if constexpr (Bits == 4)
          c = halves_as_floats(codes);
        else
          c = {codes_as_floats(codes), codes_as_floats(codes + lanes::count)};
#pragma GCC unroll 6
        for (int r = 0; r < Rows; ++r) {
          const float_vector v = lanes::all(x[r * p.length() + k]);
          left[r] = lanes::multiply_add(v, c.low, left[r]);
          right[r] = lanes::multiply_add(v, c.high, right[r]);
        }
      }
      const float_vector scale_low = lanes::load(scales);
      const float_vector scale_high = lanes::load(scales + lanes::count);
      const float_vector zero_low = lanes::load(scales + tile_columns);
      const float_vector zero_high = lanes::load(scales + tile_columns + lanes::count);
#pragma GCC unroll 6
      for (int r = 0; r < Rows; ++r) {
        const float_vector sum = lanes::all(-sums[(row + r) * parts.blocks + b]);
        low[r] =
            lanes::multiply_add(scale_low, lanes::multiply_add(sum, zero_low, left[r]), low[r]);
        high[r] =
            lanes::multiply_add(scale_high, lanes::multiply_add(sum, zero_high, right[r]), high[r]);
      }
    }
    const std::int64_t columns = std::min(tile_columns, p.n - at * tile_columns);
    for (int r = 0; r < Rows; ++r)
      store(low[r], high[r], y + (row + r) * p.n + at * tile_columns, columns);
  }

  static void store(const float_vector& low, const float_vector& high, float* to,
                    std::int64_t columns) {
    using lanes = float_lanes;
    if (columns >= lanes::count)
      lanes::store(low, to);
    else
      return lanes::store(low, to, columns);
    if (columns == tile_columns)
      lanes::store(high, to + lanes::count);
    else if (columns > lanes::count)
      lanes::store(high, to + lanes::count, columns - lanes::count);
  }
};
} // namespace detail

/// True where there is a kernel: f32.
inline bool runs(const op::matmul_nbits&, dtype element) {
  return element == dtype::f32;
}

/// Bytes of the weights as the kernel reads them.
inline std::int64_t weight_bytes(const op::matmul_nbits& p, dtype) {
  return detail::nbits_parts(p).all;
}

/// Brings codes, scales, zero points and bias into panels.
inline void fold_weights(const op::matmul_nbits& p, const operands& o, float* to) {
  constexpr std::int64_t columns = detail::tile_columns, half = columns / 2;
  const detail::nbits_parts parts(p);
  auto* bytes = reinterpret_cast<std::byte*>(to);
  std::fill_n(bytes, parts.all, std::byte{0});
  const std::int64_t mask = (1 << p.bits) - 1, points = p.packed_zero_points()[1];
  const auto code = [&](const tensor& t, std::int64_t first, std::int64_t i) {
    const auto byte =
        std::to_integer<std::int64_t>(t.bytes[static_cast<std::size_t>(first + i * p.bits / 8)]);
    return byte >> (i * p.bits % 8) & mask;
  };
  for (std::int64_t column = 0; column < p.n; ++column) {
    const std::int64_t j = column % columns;
    for (std::int64_t b = 0; b < parts.blocks; ++b) {
      std::byte* block = bytes + column / columns * parts.panel_bytes + b * parts.block_bytes;
      auto* numbers = reinterpret_cast<float*>(block);
      numbers[j] = o.inputs[2].as<float>()[static_cast<std::size_t>(column * parts.blocks + b)];
      const std::int64_t zero =
          p.zero_points ? code(o.inputs[3], column * points, b) : std::int64_t{1} << (p.bits - 1);
      numbers[columns + j] = static_cast<float>(zero);
      std::byte* codes = block + 2 * columns * 4;
      const std::int64_t first = (column * parts.blocks + b) * (p.block * p.bits / 8);
      for (std::int64_t k = 0; k < p.block; ++k) {
        const std::int64_t c = code(o.inputs[1], first, k);
        std::byte& place = codes[k * parts.code_row + (p.bits == 4 ? j % half : j)];
        place |= static_cast<std::byte>(p.bits == 4 && j >= half ? c << 4 : c);
      }
    }
    if (p.bias)
      reinterpret_cast<float*>(bytes + parts.bias)[column] =
          o.inputs[5].as<float>()[static_cast<std::size_t>(column)];
  }
}

inline detail::kernel make(const op::matmul_nbits& p, const detail::job& j) {
  if (j.output == nullptr) return {"panels", [] {}};
  const detail::nbits_plan plan(p, j);
  const int threads = detail::team_for(j.threads, plan.parts.all);
  const detail::scratch room(1, p.rows() * plan.parts.blocks);
  return {"panels", [=, weights = j.weights] {
            float* sums = room.mine();
            plan.sum_blocks(sums);
            detail::share(threads, plan.parts.panels, 1, [&](std::int64_t at, std::int64_t end) {
              for (; at < end; ++at)
                plan.panel(at, *weights, sums);
            });
          }};
}

} // namespace benanza::backend::host
