// SPDX-License-Identifier: Apache-2.0
// The matrix unit of 64-bit ARM (SME): outer products of two vectors, each added to one of four
// tiles. Of each tile the first row is looked at.
#pragma once

#include "arithmetic_loops.hpp"

#include <vector>

#if defined(__ARM_FEATURE_SME)
#include <arm_sme.h>
#include <sys/auxv.h>
#endif

namespace benanza::measure::ceilings::detail {

#if defined(__ARM_FEATURE_SME)
/// Products summed in a lane of 32 bits.
template <numeric type>
inline constexpr int sme_depth = type == numeric::f32    ? 1
                                 : type == numeric::bf16 ? 2
                                                         : 4;

template <numeric type>
__arm_locally_streaming __arm_new("za") void run_sme(std::int64_t rounds, lane_sums& sums) {
  float l[64], r[64];
  std::uint16_t l2[128], r2[128];
  std::uint8_t l4[256];
  std::int8_t r4[256];
  for (int i = 0; i < 64; ++i)
    l[i] = static_cast<float>(left(i)), r[i] = static_cast<float>(right(i));
  for (int i = 0; i < 128; ++i)
    l2[i] = bf16_bits(left(i)), r2[i] = bf16_bits(right(i));
  for (int i = 0; i < 256; ++i)
    l4[i] = static_cast<std::uint8_t>(left(i)), r4[i] = static_cast<std::int8_t>(right(i));
  const svbool_t all = svptrue_b8();
  svzero_za();
  if constexpr (type == numeric::f32) {
    const svfloat32_t a = svld1(all, l), b = svld1(all, r);
    for (std::int64_t i = 0; i < rounds; ++i) {
      svmopa_za32_f32_m(0, all, all, a, b);
      svmopa_za32_f32_m(1, all, all, a, b);
      svmopa_za32_f32_m(2, all, all, a, b);
      svmopa_za32_f32_m(3, all, all, a, b);
    }
  } else if constexpr (type == numeric::bf16) {
    const svbfloat16_t a = svreinterpret_bf16(svld1(all, l2)),
                       b = svreinterpret_bf16(svld1(all, r2));
    for (std::int64_t i = 0; i < rounds; ++i) {
      svmopa_za32_bf16_m(0, all, all, a, b);
      svmopa_za32_bf16_m(1, all, all, a, b);
      svmopa_za32_bf16_m(2, all, all, a, b);
      svmopa_za32_bf16_m(3, all, all, a, b);
    }
  } else {
    const svuint8_t a = svld1(all, l4);
    const svint8_t b = svld1(all, r4);
    for (std::int64_t i = 0; i < rounds; ++i) {
      svusmopa_za32_u8_m(0, all, all, a, b);
      svusmopa_za32_u8_m(1, all, all, a, b);
      svusmopa_za32_u8_m(2, all, all, a, b);
      svusmopa_za32_u8_m(3, all, all, a, b);
    }
  }
  std::int32_t rows[4][64];
  svst1_hor_za32(0, 0, all, rows[0]);
  svst1_hor_za32(1, 0, all, rows[1]);
  svst1_hor_za32(2, 0, all, rows[2]);
  svst1_hor_za32(3, 0, all, rows[3]);
  const std::size_t lanes = svcntsw();
  for (std::size_t i = 0; i < 4 * lanes; ++i) {
    const std::int32_t bits = rows[i / lanes][i % lanes];
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    sums[i] = type == numeric::f32 || type == numeric::bf16 ? static_cast<double>(value) : bits;
  }
}

template <numeric type>
loop sme_loop() {
  constexpr int depth = sme_depth<type>;
  const auto lanes = static_cast<int>(svcntsw());
  constexpr std::string_view way = depth == 1   ? "fmopa_sme"
                                   : depth == 2 ? "bfmopa_sme"
                                                : "usmopa_sme";
  return {type,
          way,
          4 * lanes,
          std::int64_t{4} * lanes * lanes * 2 * depth,
          run_sme<type>,
          [](std::int64_t rounds, int lane) {
            const int column = lane % static_cast<int>(svcntsw());
            std::int64_t sum = 0;
            for (int k = 0; k < depth; ++k)
              sum += left(k) * right(column * depth + k);
            return static_cast<double>(rounds * sum);
          }};
}
#endif

/// The loops of the matrix unit; none where there is none.
inline std::vector<loop> sme_loops() {
#if defined(__ARM_FEATURE_SME)
  if ((getauxval(AT_HWCAP2) & HWCAP2_SME) != 0)
    return {sme_loop<numeric::f32>(), sme_loop<numeric::bf16>(), sme_loop<numeric::u8s8u8>(),
            sme_loop<numeric::s8s8s8>()};
#endif
  return {};
}

} // namespace benanza::measure::ceilings::detail
