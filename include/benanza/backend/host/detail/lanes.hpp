// SPDX-License-Identifier: Apache-2.0
// What is the widest vector of floats that the code is compiled for? With the few operations that
// kernels need which hold sums in registers: the compiler keeps only one sum of a loop there, and
// waits for it at each step.
//
//   float_lanes::vector s = float_lanes::load(x);   float_lanes::sum(s)
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace benanza::backend::host::detail {

struct float_lanes {
#if defined(__AVX512F__)
  using vector = __m512;
  static vector multiply_add(vector a, vector b, vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }
#elif defined(__FMA__)
  using vector = __m256;
  static vector multiply_add(vector a, vector b, vector c) {
    return _mm256_fmadd_ps(a, b, c);
  }
#else
  using vector [[gnu::vector_size(16)]] = float;
  static vector multiply_add(vector a, vector b, vector c) {
    return a * b + c;
  }
#endif
  static constexpr std::int64_t count = sizeof(vector) / sizeof(float);

  static vector load(const float* from) {
    vector v;
    std::memcpy(&v, from, sizeof(v));
    return v;
  }
  static void store(const vector& v, float* to) {
    std::memcpy(to, &v, sizeof(v));
  }
  static vector all(float v) {
    return vector{} + v;
  }
  static float sum(const vector& v) {
    float lanes[count], sum = 0;
    store(v, lanes);
    for (float lane : lanes)
      sum += lane;
    return sum;
  }
};

} // namespace benanza::backend::host::detail
