// SPDX-License-Identifier: Apache-2.0
// How does a Cast run at the speed of memory? One loop for each pair of types that arithmetic
// knows; others go through blocks that stay in the first cache: narrow floats by f32, elements of
// less than a byte by whole ones. Reals that whole numbers cannot hold become the ends of their
// range.
//
//   kernel k = make(op::cast{.input = {1, 128}, .from = dtype::s64, .to = dtype::real}, job);
#pragma once

#include "detail/convert.hpp"
#include "detail/functions.hpp"
#include "detail/half.hpp"
#include "detail/job.hpp"
#include "detail/narrow_codes.hpp"

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

inline void to_odd_run(const std::byte* from, std::byte* to, std::int64_t n) {
  const auto* x = reinterpret_cast<const double*>(from);
  auto* y = reinterpret_cast<float*>(to);
#pragma omp simd
  for (std::int64_t i = 0; i < n; ++i)
    y[i] = rounded_to_odd(x[i]);
}

inline caster unpacker(dtype from, bool whole) {
  return with_codes(from, [whole](auto type) -> caster {
    if constexpr (!holds_reals(type.value))
      if (whole) return unpack<std::int8_t, type.value>;
    return unpack<float, type.value>;
  });
}
inline caster encoder(dtype to) {
  return with_codes(to, [](auto type) -> caster {
    constexpr dtype made = decltype(type)::value;
    using facts = code_facts<made>; // clang 14 finds no `code` by the parameter itself
    if constexpr (requires { facts::code(0.f); })
      return encode<made>;
    else
      return nullptr;
  });
}

/// The loops of a cast, one after the other; none: there is no kernel.
class cast_loops {
public:
  struct loop {
    caster run;
    dtype result;
  };
  static constexpr int most = 5;

  cast_loops(const op::cast& p, dtype from, dtype to) {
    const bool codes = p.to == dtype::real && (to == dtype::u8 || to == dtype::s8);
    if (p.from == dtype::real && from != dtype::f32 && !half(from)) return; // codes
    if (p.to == dtype::real && to == dtype::e4m3) return;
    at_ = from;
    const bool whole_result = !codes && !holds_reals(to);
    if (from == dtype::f16) add(from_half, dtype::f32);
    if (from == dtype::bf16) add(from_bfloat, dtype::f32);
    if (from >= dtype::e4m3 && from <= dtype::e2m1) add(unpacker(from, false), dtype::f32);
    if (from >= dtype::s2 && from <= dtype::u4)
      add(unpacker(from, whole_result), whole_result ? dtype::s8 : dtype::f32);
    if (codes) {
      convert(dtype::f32);
      add(to == dtype::u8 ? code_run<std::uint8_t> : code_run<std::int8_t>, to);
    } else if (half(to) || (to >= dtype::e4m3 && to <= dtype::e2m1)) {
      narrow(to);
    } else if (to >= dtype::s2 && to <= dtype::u4) {
      if (holds_reals(at_)) convert(dtype::s32);
      convert(dtype::u8);
      add(size_bits(to) == 4 ? pack<4> : pack<2>, to);
    } else {
      convert(to);
    }
    if (at_ != to) count_ = 0;
  }

  int count() const { return count_; }
  const loop& operator[](int i) const { return loops_[i]; }

private:
  static bool half(dtype t) { return t == dtype::f16 || t == dtype::bf16; }
  void add(caster run, dtype result) {
    loops_[count_++] = {run, result};
    at_ = result;
  }
  void convert(dtype to) {
    if (at_ != to) add(cast_between(at_, to), to);
  }
  /// To a float of 16 bits or less, which is rounded once.
  void narrow(dtype to) {
    const bool wide =
        at_ == dtype::s32 || at_ == dtype::u32 || at_ == dtype::s64 || at_ == dtype::u64;
    if (wide && (to == dtype::bf16 || to == dtype::e8m0)) convert(dtype::f64);
    if (at_ == dtype::f64)
      add(to_odd_run, dtype::f32);
    else
      convert(dtype::f32);
    if (half(to)) return add(to == dtype::f16 ? to_half : to_bfloat, to);
    add(encoder(to), packed_in_bytes(to) ? dtype::u8 : to);
    if (packed_in_bytes(to)) add(pack<4>, to);
  }

  loop loops_[most]{};
  int count_ = 0;
  dtype at_ = dtype::real; ///< what the loops up to here give
};
} // namespace detail

/// True where there is a kernel: between all types, but not from quantised values.
inline bool runs(const op::cast& p, dtype element, dtype result) {
  return element == result || detail::cast_loops(p, element, result).count() > 0;
}

inline detail::kernel make(const op::cast& p, const detail::job& j) {
  const std::int64_t n = elements(p.input);
  const dtype read = j.element, written = j.result;
  const int threads = detail::team_for(j.threads, bytes_of(read, n) + bytes_of(written, n));
  const detail::cast_loops loops(p, read, written);
  const auto* from = j.inputs[0];
  auto* to = j.output;
  // Ranges begin with whole bytes of any type.
  if (read == written)
    return {"copy", [=] {
              detail::share(threads, n, detail::block, [&](std::int64_t begin, std::int64_t end) {
                std::memcpy(to + bytes_of(read, begin), from + bytes_of(read, begin),
                            static_cast<std::size_t>(bytes_of(read, end - begin)));
              });
            }};
  if (loops.count() == 1)
    return {"loop", [=] {
              detail::share(threads, n, detail::block, [&](std::int64_t begin, std::int64_t end) {
                loops[0].run(from + bytes_of(read, begin), to + bytes_of(written, begin),
                             end - begin);
              });
            }};
  return {"blocks", [=] {
            detail::share(threads, n, detail::block, [&](std::int64_t begin, std::int64_t end) {
              alignas(64) std::byte rooms[2][detail::block * 8];
              for (; begin < end; begin += detail::block) {
                const std::int64_t length = std::min(detail::block, end - begin);
                const std::byte* x = from + bytes_of(read, begin);
                for (int i = 0; i < loops.count(); ++i) {
                  const bool last = i + 1 == loops.count();
                  std::byte* y = last ? to + bytes_of(written, begin) : rooms[i % 2];
                  loops[i].run(x, y, length);
                  x = y;
                }
              }
            });
          }};
}

} // namespace benanza::backend::host
