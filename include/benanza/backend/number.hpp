// SPDX-License-Identifier: Apache-2.0
// How does one element of any storage type become a number, and a number an element? Narrow floats
// round to nearest even (e4m3 saturates at 448, the others overflow to infinity), whole numbers
// round to nearest even and saturate, truth values are 0 and 1.
//
//   from_bf16(to_bf16(1.00390625f)) == 1.0f;   saturated<std::uint8_t>(255.6) == 255
//   store(dtype::s8, bytes, 3, -7.5);   load(dtype::s8, bytes, 3) == -8
#pragma once

#include "../core/dtype.hpp"

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

namespace benanza::backend {

/// The bf16 nearest to `v`, ties to even; a NaN stays one.
inline std::uint16_t to_bf16(float v) {
  const auto bits = std::bit_cast<std::uint32_t>(v);
  const std::uint32_t rounded = bits + 0x7fffu + (bits >> 16 & 1u);
  const std::uint32_t quiet = bits | 0x400000u;
  return static_cast<std::uint16_t>(((bits & 0x7fffffffu) > 0x7f800000u ? quiet : rounded) >> 16);
}

/// The value of a bf16.
inline float from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// A float narrower than f32: one sign bit, `exponent` and `mantissa` bits. Without infinities the
/// code of all ones is the only NaN and conversion saturates (OCP e4m3).
struct narrow_float {
  int exponent, mantissa;
  bool infinities;

  constexpr int bias() const { return (1 << (exponent - 1)) - 1; }
  constexpr unsigned infinity() const { return ((1u << exponent) - 1u) << mantissa; }
  constexpr unsigned not_a_number() const { return (1u << (exponent + mantissa)) - 1u; }

  /// The code nearest to `v`, ties to even.
  unsigned encode(double v) const {
    const unsigned sign = std::signbit(v) ? 1u << (exponent + mantissa) : 0u;
    const unsigned last = infinities ? infinity() - 1u : not_a_number() - 1u;
    const unsigned over = infinities ? infinity() : last;
    if (std::isnan(v)) return sign | not_a_number();
    if (std::isinf(v)) return sign | over;
    if (v == 0) return sign;
    int e = std::ilogb(v);
    if (e < 1 - bias()) e = 1 - bias();
    if (e > bias() + 2) return sign | over;
    // Counting in steps of the last place makes the code of subnormals, normals and the carry into
    // the next exponent one sum.
    const double steps = std::nearbyint(std::ldexp(std::fabs(v), mantissa - e));
    const unsigned code =
        (static_cast<unsigned>(e + bias() - 1) << mantissa) + static_cast<unsigned>(steps);
    return sign | (code > last ? over : code);
  }

  /// The value of a code.
  double decode(unsigned code) const {
    const bool negative = (code >> (exponent + mantissa) & 1u) != 0;
    const unsigned magnitude = code & not_a_number();
    double v = 0;
    if (infinities && magnitude >= infinity())
      v = magnitude == infinity() ? std::numeric_limits<double>::infinity()
                                  : std::numeric_limits<double>::quiet_NaN();
    else if (!infinities && magnitude == not_a_number())
      v = std::numeric_limits<double>::quiet_NaN();
    else {
      const int e = static_cast<int>(magnitude >> mantissa);
      const int m = static_cast<int>(magnitude & ((1u << mantissa) - 1u));
      v = e == 0 ? std::ldexp(m, 1 - bias() - mantissa)
                 : std::ldexp(m + (1 << mantissa), e - bias() - mantissa);
    }
    return negative ? -v : v;
  }
};

inline constexpr narrow_float f16_format{5, 10, true};
inline constexpr narrow_float e5m2_format{5, 2, true};
inline constexpr narrow_float e4m3_format{4, 3, false};

/// `v` rounded to the nearest whole number, ties to even, and clamped to the range of `T`; NaN is
/// 0.
template <class T>
T saturated(double v) {
  if (std::isnan(v)) return 0;
  const double rounded = std::nearbyint(v);
  if (rounded <= static_cast<double>(std::numeric_limits<T>::min()))
    return std::numeric_limits<T>::min();
  if (rounded >= static_cast<double>(std::numeric_limits<T>::max()))
    return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

namespace detail {
template <dtype Type>
struct element;
template <class T>
struct plain_element {
  using storage = T;
  static double load(T v) { return static_cast<double>(v); }
  static T store(double v) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(v);
    else
      return saturated<T>(v);
  }
};
template <class T, narrow_float Format>
struct narrow_element {
  using storage = T;
  static double load(T v) { return Format.decode(v); }
  static T store(double v) { return static_cast<T>(Format.encode(v)); }
};
// clang-format off
template <> struct element<dtype::real> : plain_element<float> {};
template <> struct element<dtype::f64> : plain_element<double> {};
template <> struct element<dtype::f32> : plain_element<float> {};
template <> struct element<dtype::f16> : narrow_element<std::uint16_t, f16_format> {};
template <> struct element<dtype::e4m3> : narrow_element<std::uint8_t, e4m3_format> {};
template <> struct element<dtype::e5m2> : narrow_element<std::uint8_t, e5m2_format> {};
template <> struct element<dtype::s8> : plain_element<std::int8_t> {};
template <> struct element<dtype::u8> : plain_element<std::uint8_t> {};
template <> struct element<dtype::s16> : plain_element<std::int16_t> {};
template <> struct element<dtype::u16> : plain_element<std::uint16_t> {};
template <> struct element<dtype::s32> : plain_element<std::int32_t> {};
template <> struct element<dtype::u32> : plain_element<std::uint32_t> {};
template <> struct element<dtype::s64> : plain_element<std::int64_t> {};
template <> struct element<dtype::u64> : plain_element<std::uint64_t> {};
// clang-format on
template <>
struct element<dtype::bf16> {
  using storage = std::uint16_t;
  static double load(std::uint16_t v) { return static_cast<double>(from_bf16(v)); }
  static std::uint16_t store(double v) { return to_bf16(static_cast<float>(v)); }
};
template <>
struct element<dtype::boolean> {
  using storage = std::uint8_t;
  static double load(std::uint8_t v) { return v != 0; }
  static std::uint8_t store(double v) { return v != 0; }
};
} // namespace detail

/// Calls `f` with the element description of a type: its `storage`, `load` and `store`.
template <class F>
decltype(auto) with_element(dtype type, F&& f) {
  switch (type) {
  case dtype::f64: return f(detail::element<dtype::f64>{});
  case dtype::f16: return f(detail::element<dtype::f16>{});
  case dtype::bf16: return f(detail::element<dtype::bf16>{});
  case dtype::e4m3: return f(detail::element<dtype::e4m3>{});
  case dtype::e5m2: return f(detail::element<dtype::e5m2>{});
  case dtype::s8: return f(detail::element<dtype::s8>{});
  case dtype::u8: return f(detail::element<dtype::u8>{});
  case dtype::s16: return f(detail::element<dtype::s16>{});
  case dtype::u16: return f(detail::element<dtype::u16>{});
  case dtype::s32: return f(detail::element<dtype::s32>{});
  case dtype::u32: return f(detail::element<dtype::u32>{});
  case dtype::s64: return f(detail::element<dtype::s64>{});
  case dtype::u64: return f(detail::element<dtype::u64>{});
  case dtype::boolean: return f(detail::element<dtype::boolean>{});
  default: return f(detail::element<dtype::f32>{});
  }
}

/// Element `i` of an array of `type`, as a number.
inline double load(dtype type, const std::byte* bytes, std::int64_t i) {
  return with_element(type, [&](auto e) {
    return e.load(reinterpret_cast<const typename decltype(e)::storage*>(bytes)[i]);
  });
}

/// Writes `v` as element `i` of an array of `type`.
inline void store(dtype type, std::byte* bytes, std::int64_t i, double v) {
  with_element(type, [&](auto e) {
    reinterpret_cast<typename decltype(e)::storage*>(bytes)[i] = e.store(v);
  });
}

/// All `count` elements of an array of `type`, as numbers.
inline void load_all(dtype type, const std::byte* bytes, std::int64_t count,
                     std::vector<double>& out) {
  out.resize(static_cast<std::size_t>(count));
  with_element(type, [&](auto e) {
    const auto* from = reinterpret_cast<const typename decltype(e)::storage*>(bytes);
    for (std::int64_t i = 0; i < count; ++i)
      out[static_cast<std::size_t>(i)] = e.load(from[i]);
  });
}

} // namespace benanza::backend
