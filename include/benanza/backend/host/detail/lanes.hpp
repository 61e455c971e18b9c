// SPDX-License-Identifier: Apache-2.0
// What is the widest vector of floats that the code is compiled for? With what kernels need of it
// beyond arithmetic, comparisons and `?:`, which the compiler gives it: parts of a vector at the
// ends of rows, sums over lanes, roots and reciprocals. Kernels use it where the compiler's own
// vectors fail: sums that stay in registers, functions too large for it to inline, short rows.
//
//   over_lanes(n, [&](std::int64_t i, auto at) { at.store(root(at.load(x + i)), y + i); });
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace benanza::backend::host::detail {

struct float_lanes {
#if defined(__AVX512F__)
  static constexpr std::int64_t bytes = 64;
#elif defined(__FMA__) && defined(__AVX2__)
  static constexpr std::int64_t bytes = 32;
#else
  static constexpr std::int64_t bytes = 16;
#endif
  static constexpr std::int64_t count = bytes / 4;
  typedef float vector __attribute__((vector_size(bytes)));
  typedef std::int32_t whole __attribute__((vector_size(bytes)));

  [[gnu::always_inline]] static inline vector load(const float* from) {
    vector v;
    std::memcpy(&v, from, sizeof(v));
    return v;
  }
  [[gnu::always_inline]] static inline void store(const vector& v, float* to) {
    std::memcpy(to, &v, sizeof(v));
  }
  /// The first `n` lanes from memory, fewer than all; the others are `rest`.
  [[gnu::always_inline]] static inline vector load(const float* from, std::int64_t n, float rest) {
#if defined(__AVX512F__)
    return _mm512_mask_loadu_ps(all(rest), first(n), from);
#else
    vector v = all(rest);
    std::memcpy(&v, from, static_cast<std::size_t>(n) * 4);
    return v;
#endif
  }
  /// The first `n` lanes to memory, fewer than all.
  [[gnu::always_inline]] static inline void store(const vector& v, float* to, std::int64_t n) {
#if defined(__AVX512F__)
    _mm512_mask_storeu_ps(to, first(n), v);
#else
    std::memcpy(to, &v, static_cast<std::size_t>(n) * 4);
#endif
  }
  [[gnu::always_inline]] static inline vector all(float v) {
#if defined(__AVX512F__)
    return _mm512_set1_ps(v);
#elif defined(__FMA__) && defined(__AVX2__)
    return _mm256_set1_ps(v);
#else
    return vector{v, v, v, v};
#endif
  }
  [[gnu::always_inline]] static inline vector multiply_add(vector a, vector b, vector c) {
#if defined(__AVX512F__)
    return _mm512_fmadd_ps(a, b, c);
#elif defined(__FMA__) && defined(__AVX2__)
    return _mm256_fmadd_ps(a, b, c);
#else
    return a * b + c;
#endif
  }
  /// All lanes as one, in log2 steps; `f` takes two vectors of any size.
  template <class F>
  [[gnu::always_inline]] static inline float folded(const vector& v, F f) {
    return halved<bytes>(v, f);
  }
  [[gnu::always_inline]] static inline float sum(const vector& v) {
    return folded(v, [](auto a, auto b) { return a + b; });
  }

private:
#if defined(__AVX512F__)
  static __mmask16 first(std::int64_t n) {
    return static_cast<__mmask16>((1u << n) - 1u);
  }
#endif
  template <std::int64_t Bytes, class V, class F>
  [[gnu::always_inline]] static inline float halved(const V& v, F f) {
    if constexpr (Bytes == 8) {
      return f(v[0], v[1]);
#if defined(__AVX512F__)
    } else if constexpr (Bytes == 64) { // as memory the vector would be written and read again
      return halved<32>(f(__builtin_shufflevector(v, v, 0, 1, 2, 3, 4, 5, 6, 7),
                          __builtin_shufflevector(v, v, 8, 9, 10, 11, 12, 13, 14, 15)),
                        f);
#endif
    } else {
      typedef float half __attribute__((vector_size(Bytes / 2)));
      half a, b;
      std::memcpy(&a, &v, sizeof a);
      std::memcpy(&b, reinterpret_cast<const std::byte*>(&v) + sizeof a, sizeof b);
      return halved<Bytes / 2>(f(a, b), f);
    }
  }
};

/// As many floats at once as a vector has.
using float_vector = float_lanes::vector;

/// Whole numbers of the size of a float or of a vector of them.
template <class F>
struct whole_lanes {
  using type = float_lanes::whole;
};
template <>
struct whole_lanes<float> {
  using type = std::int32_t;
};
template <class F>
using whole_of = typename whole_lanes<F>::type;

/// The larger and the smaller of two; `b` where either is a NaN, as processors have it.
[[gnu::always_inline]] inline float larger(float a, float b) {
  return a > b ? a : b;
}
[[gnu::always_inline]] inline float smaller(float a, float b) {
  return a < b ? a : b;
}
[[gnu::always_inline]] inline float_vector larger(float_vector a, float_vector b) {
#if defined(__AVX512F__)
  return _mm512_maskz_max_ps(0xffff, a, b);
#elif defined(__FMA__) && defined(__AVX2__)
  return _mm256_max_ps(a, b);
#else
  return a > b ? a : b;
#endif
}
[[gnu::always_inline]] inline float_vector smaller(float_vector a, float_vector b) {
#if defined(__AVX512F__)
  return _mm512_maskz_min_ps(0xffff, a, b);
#elif defined(__FMA__) && defined(__AVX2__)
  return _mm256_min_ps(a, b);
#else
  return a < b ? a : b;
#endif
}

[[gnu::always_inline]] inline float root(float x) {
  return std::sqrt(x);
}
/// Square root within 1.5 units of the last place. AVX-512 finds an approximation of 14 bits far
/// faster than it takes the root.
[[gnu::always_inline]] inline float_vector root(float_vector x) {
#if defined(__AVX512F__)
  const float_vector y = _mm512_maskz_rsqrt14_ps(0xffff, x), near = x * y, half = y * 0.5f;
  const float_vector better = near + near * (0.5f - near * half);
  const float_vector best =
      float_lanes::multiply_add(half, float_lanes::multiply_add(-better, better, x), better);
  const float_vector given = x == 0.f ? x : best;
  return x == std::numeric_limits<float>::infinity() ? x : given;
#elif defined(__FMA__) && defined(__AVX2__)
  return _mm256_sqrt_ps(x);
#elif defined(__SSE__)
  return _mm_sqrt_ps(x);
#else
  for (int i = 0; i < float_lanes::count; ++i)
    x[i] = std::sqrt(x[i]);
  return x;
#endif
}

[[gnu::always_inline]] inline float inverse(float x) {
  return 1.f / x;
}
/// 1 / x within two units of the last place, for what is neither near zero nor infinite.
[[gnu::always_inline]] inline float_vector inverse(float_vector x) {
#if defined(__AVX512F__)
  const float_vector y = _mm512_maskz_rcp14_ps(0xffff, x);
  return y + y * (1.f - x * y);
#else
  return 1.f / x;
#endif
}

/// The nearest whole number, ties to even, by the rounding of the processor.
[[gnu::always_inline]] inline float nearest(float x) {
  return std::nearbyint(x);
}
[[gnu::always_inline]] inline float_vector nearest(float_vector x) {
#if defined(__AVX512F__)
  return _mm512_maskz_roundscale_ps(0xffff, x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#elif defined(__FMA__) && defined(__AVX2__)
  return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
#else
  // 2^23 leaves no bits for a fraction; what is larger has none.
  const float_vector size = x < 0.f ? -x : x, shifted = (size + 8388608.f) - 8388608.f;
  const float_vector signed_again = x < 0.f ? -shifted : shifted;
  return size < 8388608.f ? signed_again : x;
#endif
}

/// How a loop reaches its memory: whole vectors, or the part of one that a row ends with.
struct whole_vector {
  static constexpr std::int64_t count = float_lanes::count;
  [[gnu::always_inline]] float_vector load(const float* from, float = 0) const {
    return float_lanes::load(from);
  }
  [[gnu::always_inline]] void store(const float_vector& v, float* to) const {
    float_lanes::store(v, to);
  }
  [[gnu::always_inline]] float_vector all(float v) const { return float_lanes::all(v); }
};
struct part_of_vector {
  std::int64_t count;
  [[gnu::always_inline]] float_vector load(const float* from, float rest = 0) const {
    return float_lanes::load(from, count, rest);
  }
  [[gnu::always_inline]] void store(const float_vector& v, float* to) const {
    float_lanes::store(v, to, count);
  }
  [[gnu::always_inline]] float_vector all(float v) const { return float_lanes::all(v); }
};

/// Calls `body(i, at)` for each vector of `n` elements; the last may be a part.
template <class Body>
[[gnu::always_inline]] inline void over_lanes(std::int64_t n, const Body& body) {
  std::int64_t i = 0;
  for (; i + float_lanes::count <= n; i += float_lanes::count)
    body(i, whole_vector{});
  if (i < n) body(i, part_of_vector{n - i});
}

} // namespace benanza::backend::host::detail
