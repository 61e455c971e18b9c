// SPDX-License-Identifier: Apache-2.0
// How fast can the processor multiply and add? Chains of the widest multiply-add instruction that
// the code is compiled for, enough of them to hide its latency, none of which leaves the registers:
// f32, products of bf16 summed in f32, products of bytes summed in 32-bit integers. Only the
// translation unit of the kernels includes this: it is compiled for the processor.
#pragma once

#include "kernels.hpp"

#include <cmath>
#include <cstring>
#include <utility>

#if defined(__SSE__)
#include <immintrin.h>
#elif defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace benanza::measure::ceilings::detail {

/// Hides where a value comes from, so that nothing is worked out before the loop runs.
template <class T>
void hide(T& value) {
  asm volatile("" : "+m"(value));
}

/// Runs chains of `Chain`: `start` a register of sums, then `round` once a round on each.
template <class Chain, std::size_t... I>
void run_chains(std::int64_t rounds, lane_sums& sums, std::index_sequence<I...>) {
  const Chain chain;
  typename Chain::vector acc[] = {chain.start(static_cast<int>(I))...};
  for (std::int64_t r = 0; r < rounds; ++r)
    ((acc[I] = chain.round(acc[I])), ...);
  (chain.store(acc[I], sums.data() + I * Chain::lanes), ...);
}

template <class Chain>
void run_loop(std::int64_t rounds, lane_sums& sums) {
  run_chains<Chain>(rounds, sums, std::make_index_sequence<Chain::chains>{});
}

template <class Chain>
constexpr loop loop_of(numeric type) {
  return {type,
          Chain::way,
          Chain::chains * Chain::lanes,
          std::int64_t{Chain::chains} * Chain::lanes * Chain::flops_a_lane,
          run_loop<Chain>,
          Chain::expected};
}

/// The factors and summands of the f32 chains, all exact, such that a sum neither grows nor ends.
inline float factor(int lane) {
  return 0.5f + static_cast<float>(lane % 16) / 64.0f;
}
inline float summand(int lane) {
  return 1.0f + static_cast<float>(lane % 16) / 32.0f;
}

struct f32_chain {
  static constexpr int flops_a_lane = 2;
#if defined(__AVX512F__)
  using vector = __m512;
  static constexpr std::string_view way = "fma_avx512";
  static constexpr int lanes = 16, chains = 16;
  vector round(vector acc) const {
    return _mm512_fmadd_ps(acc, a, b);
  }
#elif defined(__FMA__)
  using vector = __m256;
  static constexpr std::string_view way = "fma_avx2";
  static constexpr int lanes = 8, chains = 12;
  vector round(vector acc) const {
    return _mm256_fmadd_ps(acc, a, b);
  }
#elif defined(__ARM_NEON)
  using vector = float32x4_t;
  static constexpr std::string_view way = "fma_neon";
  static constexpr int lanes = 4, chains = 16;
  // It adds to a register: another order would take a copy each time.
  vector round(vector acc) const {
    return vfmaq_f32(acc, a, b);
  }
#else
  using vector [[gnu::vector_size(16)]] = float;
  static constexpr std::string_view way = "multiply_add";
  static constexpr int lanes = 4, chains = 10;
  vector round(vector acc) const {
    return acc * a + b;
  }
#endif
  vector a, b;
  f32_chain() {
    alignas(64) float m[lanes], s[lanes];
    for (int i = 0; i < lanes; ++i)
      m[i] = factor(i), s[i] = summand(i);
    hide(m);
    hide(s);
    std::memcpy(&a, m, sizeof a);
    std::memcpy(&b, s, sizeof b);
  }
  vector start(int chain) const {
    float v[lanes];
    for (float& x : v)
      x = static_cast<float>(chain);
    vector out;
    std::memcpy(&out, v, sizeof out);
    return out;
  }
  static void store(const vector& acc, double* to) {
    float v[lanes];
    std::memcpy(v, &acc, sizeof v);
    for (int i = 0; i < lanes; ++i)
      to[i] = static_cast<double>(v[i]);
  }
  static double expected(std::int64_t rounds, int lane) {
    auto x = static_cast<float>(lane / lanes);
    for (std::int64_t r = 0; r < rounds; ++r)
#if defined(__FMA__)
      x = std::fma(x, factor(lane % lanes), summand(lane % lanes));
#elif defined(__ARM_NEON)
      x = std::fma(factor(lane % lanes), summand(lane % lanes), x);
#else
      x = x * factor(lane % lanes) + summand(lane % lanes);
#endif
    return static_cast<double>(x);
  }
};

/// A small whole number as bf16.
inline std::uint16_t bf16_bits(int value) {
  const auto f = static_cast<float>(value);
  std::uint32_t u = 0;
  std::memcpy(&u, &f, sizeof u);
  return static_cast<std::uint16_t>(u >> 16);
}

/// Small factors of products that are summed: exact in bytes, in bf16, and in their f32 sums.
constexpr int left(int i) {
  return 1 + i % 7;
}
constexpr int right(int i) {
  return i % 5 - 2;
}

#if defined(__AVX512BF16__) && defined(__AVX512F__)
struct bf16_chain {
  using vector = __m512;
  static constexpr std::string_view way = "dpbf16_avx512";
  static constexpr int lanes = 16, chains = 16, flops_a_lane = 4;
  __m512bh a, b;
  bf16_chain() {
    alignas(64) std::uint16_t l[32], r[32];
    for (int i = 0; i < 32; ++i)
      l[i] = bf16_bits(left(i)), r[i] = bf16_bits(right(i));
    hide(l);
    hide(r);
    std::memcpy(&a, l, sizeof a);
    std::memcpy(&b, r, sizeof b);
  }
  vector start(int chain) const { return _mm512_set1_ps(static_cast<float>(chain)); }
  vector round(vector acc) const { return _mm512_dpbf16_ps(acc, a, b); }
  static void store(const vector& acc, double* to) { f32_chain::store(acc, to); }
  static double expected(std::int64_t rounds, int lane) {
    const int i = lane % lanes * 2;
    const auto sum = rounds * (left(i) * right(i) + left(i + 1) * right(i + 1));
    return static_cast<double>(lane / lanes + sum);
  }
};
#endif

#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__AVX2__)
struct s8_chain {
  static constexpr int flops_a_lane = 8;
#if defined(__AVX512VNNI__)
  using vector = __m512i;
  static constexpr std::string_view way = "dpbusd_avx512";
  static constexpr int lanes = 16, chains = 16;
  vector round(vector acc) const {
    return _mm512_dpbusd_epi32(acc, a, b);
  }
#elif defined(__AVXVNNI__)
  using vector = __m256i;
  static constexpr std::string_view way = "dpbusd_avx2";
  static constexpr int lanes = 8, chains = 12;
  vector round(vector acc) const {
    return _mm256_dpbusd_avx_epi32(acc, a, b);
  }
#else
  using vector = __m256i;
  static constexpr std::string_view way = "maddubs_avx2";
  static constexpr int lanes = 8, chains = 10;
  vector round(vector acc) const {
    // Each chain multiplies anew: the product must not be worked out once for all of them.
    vector x = a;
    asm volatile("" : "+x"(x));
    const vector pairs = _mm256_maddubs_epi16(x, b);
    return _mm256_add_epi32(acc, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
  }
#endif
  vector a, b;
  s8_chain() {
    alignas(64) std::uint8_t l[lanes * 4];
    alignas(64) std::int8_t r[lanes * 4];
    for (int i = 0; i < lanes * 4; ++i)
      l[i] = static_cast<std::uint8_t>(left(i)), r[i] = static_cast<std::int8_t>(right(i));
    hide(l);
    hide(r);
    std::memcpy(&a, l, sizeof a);
    std::memcpy(&b, r, sizeof b);
  }
  vector start(int chain) const {
    std::int32_t v[lanes];
    for (std::int32_t& x : v)
      x = chain;
    vector out;
    std::memcpy(&out, v, sizeof out);
    return out;
  }
  static void store(const vector& acc, double* to) {
    std::int32_t v[lanes];
    std::memcpy(v, &acc, sizeof v);
    for (int i = 0; i < lanes; ++i)
      to[i] = v[i];
  }
  static double expected(std::int64_t rounds, int lane) {
    std::int64_t sum = 0;
    for (int i = lane % lanes * 4, k = 0; k < 4; ++k)
      sum += left(i + k) * right(i + k);
    return static_cast<double>(lane / lanes + rounds * sum);
  }
};
#endif

#if defined(__ARM_NEON)
/// Products of two small matrices of two rows of `depth` numbers each: a lane of the sums is a row
/// of one times a row of the other.
template <int depth>
struct matrix_chain {
  static constexpr int lanes = 4, chains = 16, flops_a_lane = 2 * depth;
  static double expected(std::int64_t rounds, int lane) {
    const int row = lane % lanes / 2 * depth, column = lane % 2 * depth;
    std::int64_t sum = 0;
    for (int k = 0; k < depth; ++k)
      sum += left(row + k) * right(column + k);
    return static_cast<double>(lane / lanes + rounds * sum);
  }
};
#endif

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
struct bf16_matrix_chain : matrix_chain<4> {
  using vector = float32x4_t;
  static constexpr std::string_view way = "bfmmla_neon";
  bfloat16x8_t a, b;
  bf16_matrix_chain() {
    alignas(16) std::uint16_t l[8], r[8];
    for (int i = 0; i < 8; ++i)
      l[i] = bf16_bits(left(i)), r[i] = bf16_bits(right(i));
    hide(l);
    hide(r);
    std::memcpy(&a, l, sizeof a);
    std::memcpy(&b, r, sizeof b);
  }
  vector start(int chain) const { return vdupq_n_f32(static_cast<float>(chain)); }
  vector round(vector acc) const { return vbfmmlaq_f32(acc, a, b); }
  static void store(const vector& acc, double* to) { f32_chain::store(acc, to); }
};
#endif

#if defined(__ARM_FEATURE_MATMUL_INT8)
struct s8_matrix_chain : matrix_chain<8> {
  using vector = int32x4_t;
  static constexpr std::string_view way = "usmmla_neon";
  uint8x16_t a;
  int8x16_t b;
  s8_matrix_chain() {
    alignas(16) std::uint8_t l[16];
    alignas(16) std::int8_t r[16];
    for (int i = 0; i < 16; ++i)
      l[i] = static_cast<std::uint8_t>(left(i)), r[i] = static_cast<std::int8_t>(right(i));
    hide(l);
    hide(r);
    a = vld1q_u8(l);
    b = vld1q_s8(r);
  }
  vector start(int chain) const { return vdupq_n_s32(chain); }
  vector round(vector acc) const { return vusmmlaq_s32(acc, a, b); }
  static void store(const vector& acc, double* to) {
    std::int32_t v[lanes];
    std::memcpy(v, &acc, sizeof v);
    for (int i = 0; i < lanes; ++i)
      to[i] = v[i];
  }
};
#endif

inline constexpr loop loops[] = {
    loop_of<f32_chain>(numeric::f32),
#if defined(__AVX512BF16__) && defined(__AVX512F__)
    loop_of<bf16_chain>(numeric::bf16),
#elif defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
    loop_of<bf16_matrix_chain>(numeric::bf16),
#endif
#if defined(__AVX512VNNI__) || defined(__AVXVNNI__) || defined(__AVX2__)
    // Signed sources are moved into the unsigned range, and take the same instruction.
    loop_of<s8_chain>(numeric::u8s8u8),
    loop_of<s8_chain>(numeric::s8s8s8),
#elif defined(__ARM_FEATURE_MATMUL_INT8)
    loop_of<s8_matrix_chain>(numeric::u8s8u8),
    loop_of<s8_matrix_chain>(numeric::s8s8s8),
#endif
};

} // namespace benanza::measure::ceilings::detail
