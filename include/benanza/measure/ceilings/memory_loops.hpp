// SPDX-License-Identifier: Apache-2.0
// How is memory swept as fast as the processor can? In the widest registers that the code is
// compiled for, eight a turn: of wider vectors the compiler would move each element by itself. Only
// the translation unit of the kernels includes this: it is compiled for the processor.
#pragma once

#include "kernels.hpp"

#include <cstring>

#if defined(__SSE__)
#include <immintrin.h>
#endif

namespace benanza::measure::ceilings::detail {

#if defined(__AVX512F__)
inline constexpr int register_bytes = 64;
#elif defined(__AVX__)
inline constexpr int register_bytes = 32;
#else
inline constexpr int register_bytes = 16;
#endif
using floats [[gnu::vector_size(register_bytes), gnu::may_alias]] = float;
using words [[gnu::vector_size(register_bytes), gnu::may_alias]] = std::uint64_t;
inline constexpr int floats_a_register = register_bytes / 4;

/// Keeps the compiler from thinking across sweeps.
inline void between_sweeps() {
  asm volatile("" ::: "memory");
}

/// Reads at so many places far apart in turns: in memory a processor fetches more lines ahead of
/// several places than of one.
template <std::int64_t Places>
std::uint64_t read_all(float* const*, const float* const* from, std::int64_t bytes,
                       std::int64_t times) {
  const auto* x = reinterpret_cast<const words*>(from[0]);
  const std::int64_t n = bytes / register_bytes, part = n / Places / 8 * 8;
  std::uint64_t out = 0;
  for (std::int64_t t = 0; t < times; ++t) {
    words a{}, b{}, c{}, d{};
    for (std::int64_t i = 0; i < part; i += 8)
      for (std::int64_t p = 0; p < Places; ++p) {
        const words* at = x + p * part + i;
        a ^= at[0];
        b ^= at[1];
        c ^= at[2];
        d ^= at[3];
        a ^= at[4];
        b ^= at[5];
        c ^= at[6];
        d ^= at[7];
      }
    for (std::int64_t i = Places * part; i < n; ++i)
      a ^= x[i];
    a ^= b ^ c ^ d;
    out = 0;
    for (int lane = 0; lane < register_bytes / 8; ++lane)
      out ^= a[lane];
    between_sweeps();
  }
  return out;
}

/// Calls `step(i)` for all registers' worths of an array, eight a turn.
template <class Step>
void all_registers(std::int64_t bytes, std::int64_t times, const Step& step) {
  const std::int64_t n = bytes / register_bytes;
  for (std::int64_t t = 0; t < times; ++t) {
    std::int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
      step(i);
      step(i + 1);
      step(i + 2);
      step(i + 3);
      step(i + 4);
      step(i + 5);
      step(i + 6);
      step(i + 7);
    }
    for (; i < n; ++i)
      step(i);
    between_sweeps();
  }
}

inline std::uint64_t write_all(float* const* to, const float* const*, std::int64_t bytes,
                               std::int64_t times) {
  auto* y = reinterpret_cast<floats*>(to[0]);
  floats v;
  for (int lane = 0; lane < floats_a_register; ++lane)
    v[lane] = written_value(lane);
  all_registers(bytes, times, [=](std::int64_t i) { y[i] = v; });
  return 0;
}

inline std::uint64_t copy_all(float* const* to, const float* const* from, std::int64_t bytes,
                              std::int64_t times) {
  auto* y = reinterpret_cast<floats*>(to[0]);
  const auto* x = reinterpret_cast<const floats*>(from[0]);
  all_registers(bytes, times, [=](std::int64_t i) { y[i] = x[i]; });
  return 0;
}

inline std::uint64_t triad_all(float* const* to, const float* const* from, std::int64_t bytes,
                               std::int64_t times) {
  auto* y = reinterpret_cast<floats*>(to[0]);
  const auto* a = reinterpret_cast<const floats*>(from[0]);
  const auto* b = reinterpret_cast<const floats*>(from[1]);
  all_registers(bytes, times, [=](std::int64_t i) { y[i] = a[i] + triad_factor * b[i]; });
  return 0;
}

/// Copies by the C library.
inline std::uint64_t library_all(float* const* to, const float* const* from, std::int64_t bytes,
                                 std::int64_t times) {
  for (std::int64_t t = 0; t < times; ++t) {
    std::memcpy(to[0], from[0], static_cast<std::size_t>(bytes));
    between_sweeps();
  }
  return 0;
}

#if defined(__SSE__)
/// Copies past the caches: what is written does not enter them.
inline std::uint64_t stream_all(float* const* to, const float* const* from, std::int64_t bytes,
                                std::int64_t times) {
  float* y = to[0];
  const float* x = from[0];
  all_registers(bytes, times, [=](std::int64_t i) {
    const std::int64_t at = floats_a_register * i;
#if defined(__AVX512F__)
    _mm512_stream_ps(y + at, _mm512_load_ps(x + at));
#elif defined(__AVX__)
    _mm256_stream_ps(y + at, _mm256_load_ps(x + at));
#else
    _mm_stream_ps(y + at, _mm_load_ps(x + at));
#endif
  });
  _mm_sfence();
  return 0;
}
#endif

#if defined(__AVX512F__)
inline constexpr std::string_view vector_way = "avx512";
#elif defined(__AVX__)
inline constexpr std::string_view vector_way = "avx";
#elif defined(__SSE__)
inline constexpr std::string_view vector_way = "sse";
#elif defined(__ARM_NEON)
inline constexpr std::string_view vector_way = "neon";
#else
inline constexpr std::string_view vector_way = "plain";
#endif

inline constexpr sweep sweeps[] = {
    {"read", vector_way, 0, 1, read_all<1>},
    {"read", "8_streams", 0, 1, read_all<8>, true},
    {"write", vector_way, 1, 0, write_all},
    {"copy", vector_way, 1, 1, copy_all},
    {"triad", vector_way, 1, 2, triad_all},
    {"memcpy", "libc", 1, 1, library_all},
#if defined(__SSE__)
    {"stream_copy", vector_way, 1, 1, stream_all, true},
#endif
};

} // namespace benanza::measure::ceilings::detail
