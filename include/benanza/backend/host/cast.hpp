// SPDX-License-Identifier: Apache-2.0
// How does a Cast run at the speed of memory? One loop for each pair of types; narrow floats go
// through a block of f32 that stays in the first cache. Reals that whole numbers cannot hold become
// the ends of their range.
//
//   kernel k = make(op::cast{.input = {1, 128}, .from = dtype::s64, .to = dtype::real}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/functions.hpp"
#include "detail/job.hpp"

#include "../../op/cast.hpp"

namespace benanza::backend::host {

namespace detail {

/// Truth values, stored as bytes.
struct truth {};

/// A real as a whole number; NaN is the least.
template <class To, class From>
[[gnu::always_inline]] inline To cut_off(From v) {
  using limits = std::numeric_limits<To>;
  // The first number that is too large is a power of two, which every float holds.
  constexpr From above = static_cast<From>(limits::max() / 2 + 1) * 2;
  constexpr From least = static_cast<From>(limits::lowest());
  const From low = v > least ? v : least;
  const From inside = low < above ? low : From{};
  // Narrow numbers by way of those that vectors convert to.
  using wide = std::conditional_t<(sizeof(To) < 4), std::int32_t, To>;
  return low < above ? static_cast<To>(static_cast<wide>(inside)) : limits::max();
}

template <class To, class From>
[[gnu::always_inline]] inline To converted(From v) {
  if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
    return cut_off<To>(v);
  else
    return static_cast<To>(v);
}

/// A loop over `n` elements.
using caster = void (*)(const std::byte*, std::byte*, std::int64_t);

template <class From, class To>
void cast_run(const std::byte* from, std::byte* to, std::int64_t n) {
  using read = std::conditional_t<std::is_same_v<From, truth>, std::uint8_t, From>;
  using written = std::conditional_t<std::is_same_v<To, truth>, std::uint8_t, To>;
  const auto* x = reinterpret_cast<const read*>(from);
  auto* y = reinterpret_cast<written*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    if constexpr (std::is_same_v<To, truth>)
      y[i] = x[i] != read{};
    else if constexpr (std::is_same_v<From, truth>)
      y[i] = static_cast<written>(x[i] != 0);
    else
      y[i] = converted<written>(x[i]);
}

/// From f16, eight at a time where the processor has it.
inline void from_half(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const std::uint16_t*>(from);
  auto* y = reinterpret_cast<float*>(to);
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm256_storeu_ps(y + i,
                     _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(x + i))));
#endif
  for (; i < n; ++i)
    y[i] = static_cast<float>(f16_format.decode(x[i]));
}
inline void to_half(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const float*>(from);
  auto* y = reinterpret_cast<std::uint16_t*>(to);
  std::int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(y + i),
                     _mm256_cvtps_ph(_mm256_loadu_ps(x + i), _MM_FROUND_TO_NEAREST_INT));
#endif
  for (; i < n; ++i)
    y[i] = static_cast<std::uint16_t>(f16_format.encode(static_cast<double>(x[i])));
}
inline void from_bf16_run(const std::byte* from, std::byte* to, std::int64_t n) {
  widen<std::uint16_t>(from, reinterpret_cast<float*>(to), n);
}
inline void to_bf16_run(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const float*>(from);
  auto* y = reinterpret_cast<std::uint16_t*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = to_bf16(x[i]);
}

/// The loop from `From` to a type that arithmetic knows; null for others.
template <class From>
caster cast_from(dtype to) {
  switch (to) {
  case dtype::f64: return cast_run<From, double>;
  case dtype::f32: return cast_run<From, float>;
  case dtype::boolean: return cast_run<From, truth>;
  default: return with_whole(to, [](auto v) -> caster { return cast_run<From, decltype(v)>; });
  }
}

/// The loop between two types that arithmetic knows; null for others.
inline caster cast_between(dtype from, dtype to) {
  switch (from) {
  case dtype::f64: return cast_from<double>(to);
  case dtype::f32: return cast_from<float>(to);
  case dtype::boolean: return cast_from<truth>(to);
  default: return with_whole(from, [to](auto v) { return cast_from<decltype(v)>(to); });
  }
}

/// Reals as codes of quantised values, rounded and saturated.
template <class Code>
void code_run(const std::byte* from, std::byte* to, std::int64_t n) {
  narrow<Code>(reinterpret_cast<const float*>(from), to, n, 1.f);
}

/// The loops of a cast: one, or two with floats between them.
struct cast_loops {
  caster first = nullptr, second = nullptr; ///< second null: the first does it all

  cast_loops(const op::cast& p, dtype from, dtype to) {
    const auto narrow = [](dtype t) { return t == dtype::f16 || t == dtype::bf16; };
    const bool codes = p.to == dtype::real && (to == dtype::u8 || to == dtype::s8);
    if (p.from == dtype::real && !narrow(from) && from != dtype::f32) return; // codes
    if (!narrow(from) && !narrow(to) && !codes) {
      first = cast_between(from, to);
      return;
    }
    if (from == dtype::f64 && narrow(to)) return; // it would be rounded twice
    const caster in = from == dtype::f16    ? from_half
                      : from == dtype::bf16 ? from_bf16_run
                      : from == dtype::f32  ? nullptr
                                            : cast_between(from, dtype::f32);
    const caster out = to == dtype::f16           ? to_half
                       : to == dtype::bf16        ? to_bf16_run
                       : codes && to == dtype::u8 ? code_run<std::uint8_t>
                       : codes                    ? code_run<std::int8_t>
                       : to == dtype::f32         ? nullptr
                                                  : cast_between(dtype::f32, to);
    if ((in == nullptr && from != dtype::f32) || (out == nullptr && to != dtype::f32)) return;
    first = in != nullptr ? in : out;
    second = in != nullptr ? out : nullptr;
  }
};
} // namespace detail

/// True where there is a kernel: all types but floats of 8 bits, and f64 to floats of 16.
inline bool runs(const op::cast& p, dtype element, dtype result) {
  return element == result || detail::cast_loops(p, element, result).first != nullptr;
}

inline detail::kernel make(const op::cast& p, const detail::job& j) {
  const std::int64_t n = elements(p.input), read = j.width(), written = size_bytes(j.result);
  const int threads = detail::team_for(j.threads, n * (read + written));
  const detail::cast_loops loops(p, j.element, j.result);
  const auto* from = j.inputs[0];
  auto* to = j.output;
  if (j.element == j.result)
    return {"copy", [=] {
              detail::share(threads, n, 1024, [&](std::int64_t begin, std::int64_t end) {
                std::memcpy(to + begin * written, from + begin * read,
                            static_cast<std::size_t>((end - begin) * read));
              });
            }};
  if (loops.second == nullptr)
    return {"loop", [=] {
              detail::share(threads, n, 1024, [&](std::int64_t begin, std::int64_t end) {
                loops.first(from + begin * read, to + begin * written, end - begin);
              });
            }};
  return {"blocks", [=] {
            detail::share(threads, n, detail::block, [&](std::int64_t begin, std::int64_t end) {
              alignas(64) float room[detail::block];
              auto* between = reinterpret_cast<std::byte*>(room);
              for (; begin < end; begin += detail::block) {
                const std::int64_t length = std::min(detail::block, end - begin);
                loops.first(from + begin * read, between, length);
                loops.second(between, to + begin * written, length);
              }
            });
          }};
}

} // namespace benanza::backend::host
