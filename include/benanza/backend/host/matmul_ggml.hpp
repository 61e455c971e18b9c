// SPDX-License-Identifier: Apache-2.0
// How does a product with weights in ggml's blocks run? As one with weights of a few bits
// (matmul_nbits.hpp): in tiles of rows by two vectors of columns, from panels of a tile's columns
// (detail/ggml_panels.hpp), codes widened in registers on the way to the sum, each group's sum
// scaled once. What zeros and minima take off is known from the sums of a row's groups.
//
//   kernel k = make(op::matmul_ggml{.a = {1, 1, 2048}, .n = 5632, .format = op::ggml_format::q4_k},
//   job);
#pragma once

#include "detail/ggml_panels.hpp"
#include "detail/half.hpp"
#include "detail/job.hpp"
#include "detail/panel_tiles.hpp"

#include <cstring>
#include <type_traits>

namespace benanza::backend::host {

namespace detail {

/// Two vectors of a tile's columns.
struct two_vectors {
  float_vector low, high;
};

/// Bytes as floats, a vector of them.
template <class T>
[[gnu::always_inline]] inline float_vector bytes_as_floats(const T* from) {
  static_assert(sizeof(T) == 1);
#if defined(__AVX512F__)
  const __m128i b = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
  return _mm512_cvtepi32_ps(std::is_signed_v<T> ? _mm512_cvtepi8_epi32(b)
                                                : _mm512_cvtepu8_epi32(b));
#elif defined(__FMA__) && defined(__AVX2__)
  const __m128i b = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
  return _mm256_cvtepi32_ps(std::is_signed_v<T> ? _mm256_cvtepi8_epi32(b)
                                                : _mm256_cvtepu8_epi32(b));
#else
  float_vector v;
  for (int i = 0; i < float_lanes::count; ++i)
    v[i] = static_cast<float>(from[i]);
  return v;
#endif
}

/// Half floats as floats, a vector of them.
[[gnu::always_inline]] inline float_vector halves_as_floats(const std::byte* from) {
#if defined(__AVX512F__)
  return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
#elif defined(__FMA__) && defined(__AVX2__) && defined(__F16C__)
  return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
#else
  half_bits stored[float_lanes::count];
  std::memcpy(stored, from, sizeof stored);
  float_vector v;
  for (int i = 0; i < float_lanes::count; ++i)
    v[i] = number_of(stored[i]);
  return v;
#endif
}

/// The same of bf16.
[[gnu::always_inline]] inline float_vector wide_bf16(const std::byte* from) {
  typedef std::uint16_t halves __attribute__((vector_size(float_lanes::bytes / 2)));
  typedef std::uint32_t words __attribute__((vector_size(float_lanes::bytes)));
  halves v;
  std::memcpy(&v, from, sizeof v);
  return std::bit_cast<float_vector>(__builtin_convertvector(v, words) << 16);
}

/// A vector of both halves of a step's bytes.
template <class Of>
[[gnu::always_inline]] inline two_vectors both(const std::byte* from, std::int64_t apart, Of of) {
  return {of(from), of(from + apart)};
}

struct f16_codes {
  [[gnu::always_inline]] two_vectors at(const std::byte* from) const {
    return both(from, 2 * float_lanes::count, halves_as_floats);
  }
};
struct bf16_codes {
  [[gnu::always_inline]] two_vectors at(const std::byte* from) const {
    return both(from, 2 * float_lanes::count, wide_bf16);
  }
};
template <class T>
struct byte_codes {
  [[gnu::always_inline]] two_vectors at(const std::byte* from) const {
    return both(from, float_lanes::count,
                [](const std::byte* b) { return bytes_as_floats(reinterpret_cast<const T*>(b)); });
  }
};

/// Codes of four bits, and bits beyond four in planes behind them, each a mask of the columns.
template <int Planes>
struct nibble_codes {
  static_assert(Planes == 0 || has_masks);
  [[gnu::always_inline]] two_vectors at(const std::byte* from) const {
#if defined(__AVX512F__)
    constexpr std::int64_t half = tile_columns / 2;
    const __m512i wide =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    __m512i low = _mm512_and_si512(wide, _mm512_set1_epi32(15)), high = _mm512_srli_epi32(wide, 4);
    for (int plane = 0; plane < Planes; ++plane) {
      std::uint16_t bits[2];
      std::memcpy(bits, from + half + 4 * plane, sizeof bits);
      const __m512i one = _mm512_set1_epi32(16 << plane);
      low = _mm512_mask_or_epi32(low, bits[0], low, one);
      high = _mm512_mask_or_epi32(high, bits[1], high, one);
    }
    return {_mm512_cvtepi32_ps(low), _mm512_cvtepi32_ps(high)};
#elif defined(__FMA__) && defined(__AVX2__)
    const __m256i wide =
        _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
    return {_mm256_cvtepi32_ps(_mm256_and_si256(wide, _mm256_set1_epi32(15))),
            _mm256_cvtepi32_ps(_mm256_srli_epi32(wide, 4))};
#else
    two_vectors v;
    for (int i = 0; i < float_lanes::count; ++i) {
      v.low[i] = static_cast<float>(std::to_integer<int>(from[i]) & 15);
      v.high[i] = static_cast<float>(std::to_integer<int>(from[i]) >> 4);
    }
    return v;
#endif
  }
};

/// Codes of four bits that stand for the numbers of a table.
template <const std::int8_t (&Table)[16]>
struct table_codes {
#if defined(__AVX512F__)
  __m512 numbers = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(table()));
#endif
#if defined(__SSE__)
  static __m128i table() {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(Table));
  }
#endif
  [[gnu::always_inline]] two_vectors at(const std::byte* from) const {
#if defined(__AVX512F__)
    const __m512i wide =
        _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
    return {_mm512_permutexvar_ps(wide, numbers),
            _mm512_permutexvar_ps(_mm512_srli_epi32(wide, 4), numbers)};
#elif defined(__FMA__) && defined(__AVX2__)
    const __m128i bytes = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from));
    const __m128i four = _mm_set1_epi8(15);
    const __m128i codes = _mm_unpacklo_epi64(_mm_and_si128(bytes, four),
                                             _mm_and_si128(_mm_srli_epi16(bytes, 4), four));
    const __m128i its = _mm_shuffle_epi8(table(), codes);
    return {_mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(its)),
            _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_srli_si128(its, 8)))};
#else
    two_vectors v;
    for (int i = 0; i < float_lanes::count; ++i) {
      v.low[i] = Table[std::to_integer<int>(from[i]) & 15];
      v.high[i] = Table[std::to_integer<int>(from[i]) >> 4];
    }
    return v;
#endif
  }
};

/// Codes of as many bits beyond four.
template <int Planes>
using codes_of =
    std::conditional_t<has_masks, nibble_codes<has_masks ? Planes : 0>, byte_codes<std::uint8_t>>;

struct ggml_plan : panel_tiles<ggml_plan> {
  op::matmul_ggml p;
  ggml_panels parts;
  const float* a;
  float* y;

  ggml_plan(const op::matmul_ggml& layer, const job& j)
      : p(layer)
      , parts(layer)
      , a(reinterpret_cast<const float*>(j.inputs[0]))
      , y(reinterpret_cast<float*>(j.output)) {}

  std::int64_t groups_of_row() const { return (p.length() + parts.s.group - 1) / parts.s.group; }
  void sum_blocks(float* to) const { sum_groups(a, p.rows(), p.length(), parts.s.group, to); }

  /// The panels of a thread.
  struct part {
    std::int64_t begin, end;
    const std::byte* weights;
    const float* sums;
  };
  template <class Codes>
  void run(const part& its) const {
    all_rows<Codes>(p.rows(), its.begin, its.end, its.weights, its.sums);
  }

  /// The columns of the panels in [begin, end).
  void go(std::int64_t begin, std::int64_t end, const std::byte* weights, const float* sums) const {
    using enum op::ggml_format;
    const part its{begin, end, weights, sums};
    switch (p.format) {
    case op::ggml_format::f16: return run<f16_codes>(its);
    case op::ggml_format::bf16: return run<bf16_codes>(its);
    case q8_0: return run<byte_codes<std::int8_t>>(its);
    case q4_0:
    case q4_1:
    case q4_k: return run<nibble_codes<0>>(its);
    case q5_0:
    case q5_1:
    case q5_k: return run<codes_of<1>>(its);
    case q6_k: return run<codes_of<2>>(its);
    case iq4_nl:
    case iq4_xs: return run<table_codes<iq4_values>>(its);
    case mxfp4: return run<table_codes<fp4_values>>(its);
    }
  }

  template <class Codes, int Rows, int Places>
  void tile(std::int64_t at, std::int64_t apart, const std::byte* weights, const float* sums,
            std::int64_t row) const {
    using lanes = float_lanes;
    const Codes codes;
    const ggml_shape& s = parts.s;
    float_vector low[Rows][Places]{}, high[Rows][Places]{};
    const std::int64_t step = apart * parts.panel_bytes, groups = groups_of_row();
    const std::byte* its = weights + at * parts.panel_bytes;
    for (std::int64_t b = 0; b < parts.blocks; ++b, its += parts.block_bytes) {
      const std::byte* group = its + (s.scale + s.least) * tile_columns;
      for (std::int64_t g = 0; g < parts.groups; ++g, group += parts.group_bytes) {
        const std::int64_t first = b * parts.weights + g * s.group;
        const std::int64_t n = std::min(s.group, p.length() - first);
        const float* x = a + row * p.length() + first;
        const std::byte* from = group + (s.group_scale + s.group_least) * tile_columns;
        float_vector left[Rows][Places]{}, right[Rows][Places]{};
        for (std::int64_t k = 0; k < n; ++k, from += parts.step_bytes) {
#pragma GCC unroll 4
          for (int i = 0; i < Places; ++i) {
            const two_vectors c = codes.at(from + i * step);
#pragma GCC unroll 6
            for (int r = 0; r < Rows; ++r) {
              const float_vector v = lanes::all(x[r * p.length() + k]);
              left[r][i] = lanes::multiply_add(v, c.low, left[r][i]);
              right[r][i] = lanes::multiply_add(v, c.high, right[r][i]);
            }
          }
        }
#pragma GCC unroll 4
        for (int i = 0; i < Places; ++i) {
          if constexpr (std::is_same_v<Codes, f16_codes> || std::is_same_v<Codes, bf16_codes>) {
            for (int r = 0; r < Rows; ++r)
              low[r][i] += left[r][i], high[r][i] += right[r][i];
          } else {
            const two_vectors scale = scale_of(its + i * step, group + i * step);
            const two_vectors off = taken_off(scale, its + i * step, group + i * step);
#pragma GCC unroll 6
            for (int r = 0; r < Rows; ++r) {
              const float_vector sum = lanes::all(-sums[(row + r) * groups + b * parts.groups + g]);
              low[r][i] = lanes::multiply_add(
                  sum, off.low, lanes::multiply_add(scale.low, left[r][i], low[r][i]));
              high[r][i] = lanes::multiply_add(
                  sum, off.high, lanes::multiply_add(scale.high, right[r][i], high[r][i]));
            }
          }
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

private:
  static two_vectors times(const two_vectors& a, const two_vectors& b) {
    return {a.low * b.low, a.high * b.high};
  }
  static two_vectors halves(const std::byte* from) {
    return both(from, 2 * float_lanes::count, halves_as_floats);
  }

  /// Of each column of a group.
  two_vectors scale_of(const std::byte* its, const std::byte* group) const {
    if (p.format == op::ggml_format::mxfp4) { // powers of two: exponents of floats
      const auto power = [](const std::byte* b) {
        float_vector v;
        for (int i = 0; i < float_lanes::count; ++i)
          v[i] = power_of_two(std::to_integer<int>(b[i]) - 128);
        return v;
      };
      return both(its, float_lanes::count, power);
    }
    const two_vectors whole = halves(its);
    if (parts.s.group_scale == 0) return whole;
    if (parts.s.group_least > 0) return times(whole, numbers<std::uint8_t>(group));
    return times(whole, numbers<std::int8_t>(group));
  }
  /// What each code of a group is less: its zero, or a minimum.
  two_vectors taken_off(const two_vectors& scale, const std::byte* its,
                        const std::byte* group) const {
    const ggml_shape& s = parts.s;
    if (s.least == 0) {
      const auto zero = static_cast<float>(s.zero);
      return {scale.low * zero, scale.high * zero};
    }
    const two_vectors least = halves(its + s.scale * tile_columns);
    if (s.group_least == 0) return {-least.low, -least.high}; // it is added
    return times(least, numbers<std::uint8_t>(group + tile_columns));
  }
  template <class T>
  static two_vectors numbers(const std::byte* from) {
    return both(from, float_lanes::count,
                [](const std::byte* b) { return bytes_as_floats(reinterpret_cast<const T*>(b)); });
  }
  static float power_of_two(int e) {
    if (e < -126) return std::ldexp(1.f, e);
    return std::bit_cast<float>(static_cast<std::uint32_t>(e + 127) << 23);
  }
};
} // namespace detail

/// True where there is a kernel: f32.
inline bool runs(const op::matmul_ggml&, dtype element) {
  return element == dtype::f32;
}

/// Bytes of the weights as the kernel reads them.
inline std::int64_t weight_bytes(const op::matmul_ggml& p, dtype) {
  return p.experts * detail::ggml_panels(p).all;
}

inline void fold_weights(const op::matmul_ggml& p, const operands& o, float* to) {
  const std::int64_t all = detail::ggml_panels(p).all, bytes = elements(p.weights()) / p.experts;
  for (std::int64_t e = 0; e < p.experts; ++e)
    detail::pack(p.of_one(1), o.inputs[1].bytes.data() + e * bytes,
                 reinterpret_cast<std::byte*>(to) + e * all);
}

inline detail::kernel make(const op::matmul_ggml& p, const detail::job& j) {
  if (j.output == nullptr) return {"panels", [] {}};
  const detail::ggml_plan plan(p, j);
  const int threads = detail::team_for(j.threads, p.experts * plan.parts.all);
  const detail::scratch room(1, p.rows() * plan.groups_of_row());
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
