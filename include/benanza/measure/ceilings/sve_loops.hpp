// SPDX-License-Identifier: Apache-2.0
// The same chains of multiply-adds by the scalable vectors of 64-bit ARM, whose length a program is
// told when it runs. They are used where they are longer than the 16 bytes of NEON.
#pragma once

#include "arithmetic_loops.hpp"

#include <vector>

#if defined(__ARM_FEATURE_SVE)
#include <arm_sve.h>

namespace benanza::measure::ceilings::detail {

/// Sums in f32 or in 32-bit integers; a register's lanes are its 32-bit words.
struct sve_chain {
  static constexpr int chains = 16;
  static int lanes() { return static_cast<int>(svcntw()); }
  static svfloat32_t from(float x) { return svdup_f32(x); }
  static svint32_t from(std::int32_t x) { return svdup_s32(x); }
  template <class T, class Vector>
  static void store(Vector acc, double* to) {
    T v[64]; // the longest vectors have 256 bytes
    svst1(svptrue_b32(), v, acc);
    for (int i = 0; i < lanes(); ++i)
      to[i] = static_cast<double>(v[i]);
  }
};

struct sve_f32_chain : sve_chain {
  using number = float;
  static constexpr std::string_view way = "fma_sve";
  static constexpr int flops_a_lane = 2;
  static svfloat32_t filled(float (*value)(int)) {
    float v[64];
    for (int i = 0; i < 64; ++i)
      v[i] = value(i);
    hide(v);
    return svld1(svptrue_b32(), v);
  }
  static svfloat32_t a() { return filled(factor); }
  static svfloat32_t b() { return filled(summand); }
  static svfloat32_t round(svfloat32_t acc, svfloat32_t a, svfloat32_t b) {
    return svmla_x(svptrue_b32(), acc, a, b);
  }
  static double expected(std::int64_t rounds, int lane) {
    auto x = static_cast<float>(lane / lanes());
    for (std::int64_t r = 0; r < rounds; ++r)
      x = std::fma(factor(lane % lanes()), summand(lane % lanes()), x);
    return static_cast<double>(x);
  }
};

/// Each 16 bytes are a product of two small matrices, as NEON has it.
template <int depth>
struct sve_matrix_chain : sve_chain {
  static constexpr int flops_a_lane = 2 * depth;
  static double expected(std::int64_t rounds, int lane) {
    const int chain = lane / lanes();
    return chain + matrix_chain<depth>::expected(rounds, lane % lanes() % 4);
  }
};

#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
struct sve_bf16_chain : sve_matrix_chain<4> {
  using number = float;
  static constexpr std::string_view way = "bfmmla_sve";
  static svbfloat16_t filled(int (*value)(int)) {
    std::uint16_t v[128];
    for (int i = 0; i < 128; ++i)
      v[i] = bf16_bits(value(i % 8));
    hide(v);
    return svreinterpret_bf16(svld1(svptrue_b16(), v));
  }
  static svbfloat16_t a() { return filled(left); }
  static svbfloat16_t b() { return filled(right); }
  static svfloat32_t round(svfloat32_t acc, svbfloat16_t a, svbfloat16_t b) {
    return svbfmmla(acc, a, b);
  }
};
#endif

#if defined(__ARM_FEATURE_SVE_MATMUL_INT8)
struct sve_s8_chain : sve_matrix_chain<8> {
  using number = std::int32_t;
  static constexpr std::string_view way = "usmmla_sve";
  template <class T>
  static void fill(T (&v)[256], int (*value)(int)) {
    for (int i = 0; i < 256; ++i)
      v[i] = static_cast<T>(value(i % 16));
    hide(v);
  }
  static svuint8_t a() {
    std::uint8_t v[256];
    fill(v, left);
    return svld1(svptrue_b8(), v);
  }
  static svint8_t b() {
    std::int8_t v[256];
    fill(v, right);
    return svld1(svptrue_b8(), v);
  }
  static svint32_t round(svint32_t acc, svuint8_t a, svint8_t b) { return svusmmla(acc, a, b); }
};
#endif

/// Runs the chains: registers without a known length are in no array, so they are arguments.
template <class Chain, class A, class B, class... Sums>
[[gnu::always_inline]] inline void run_sve(std::int64_t rounds, lane_sums& sums, A a, B b,
                                           Sums... acc) {
  for (std::int64_t r = 0; r < rounds; ++r)
    ((acc = Chain::round(acc, a, b)), ...);
  double* to = sums.data();
  ((Chain::template store<typename Chain::number>(acc, to), to += Chain::lanes()), ...);
}

template <class Chain>
loop sve_loop_of(numeric type) {
  const int lanes = Chain::chains * Chain::lanes();
  return {type,
          Chain::way,
          lanes,
          std::int64_t{lanes} * Chain::flops_a_lane,
          [](std::int64_t rounds, lane_sums& sums) {
            [&]<int... I>(std::integer_sequence<int, I...>) {
              run_sve<Chain>(rounds, sums, Chain::a(), Chain::b(),
                             Chain::from(static_cast<typename Chain::number>(I))...);
            }
            (std::make_integer_sequence<int, Chain::chains>{});
          },
          Chain::expected};
}

/// Those that are longer than NEON's.
inline std::vector<loop> sve_loops() {
  if (svcntb() <= 16) return {};
  return {
#if defined(__ARM_FEATURE_BF16_VECTOR_ARITHMETIC)
    sve_loop_of<sve_bf16_chain>(numeric::bf16),
#endif
#if defined(__ARM_FEATURE_SVE_MATMUL_INT8)
        sve_loop_of<sve_s8_chain>(numeric::u8s8u8), sve_loop_of<sve_s8_chain>(numeric::s8s8s8),
#endif
        sve_loop_of<sve_f32_chain>(numeric::f32),
  };
}

} // namespace benanza::measure::ceilings::detail

#else

namespace benanza::measure::ceilings::detail {
inline std::vector<loop> sve_loops() {
  return {};
}
} // namespace benanza::measure::ceilings::detail

#endif
