// SPDX-License-Identifier: Apache-2.0
// How does one element of any storage type become a number, and a number an element? Narrow floats
// round to nearest even (f16, bf16 and e5m2 overflow to infinity, the others saturate), powers of
// two round up, whole numbers round to nearest even and saturate, truth values are 0 and 1.
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

/// What a narrow float has besides numbers: infinities and NaNs (IEEE); as the only NaN the code of
/// all ones (OCP e4m3), or that of a zero with a sign, which is then no zero (fnuz); or nothing.
enum class beside_numbers : std::uint8_t { infinities, last_code, signed_zero, nothing };

/// A float narrower than f32: one sign bit, `exponent` and `mantissa` bits. Without infinities
/// conversion saturates.
struct narrow_float {
  int exponent, mantissa;
  beside_numbers beside = beside_numbers::infinities;

  constexpr bool has(beside_numbers what) const { return beside == what; }
  constexpr int bias() const {
    return (1 << (exponent - 1)) - (has(beside_numbers::signed_zero) ? 0 : 1);
  }
  constexpr unsigned sign() const { return 1u << (exponent + mantissa); }
  constexpr unsigned infinity() const { return ((1u << exponent) - 1u) << mantissa; }
  constexpr unsigned all_ones() const { return sign() - 1u; }
  /// The code of the largest number.
  constexpr unsigned last() const {
    return has(beside_numbers::infinities)  ? infinity() - 1u
           : has(beside_numbers::last_code) ? all_ones() - 1u
                                            : all_ones();
  }
  /// The code nearest to `v`, ties to even. Where there is no NaN it becomes a zero with a sign.
  unsigned encode(double v) const {
    const bool bare = has(beside_numbers::signed_zero);
    const unsigned minus = std::signbit(v) ? sign() : 0u;
    const unsigned over = has(beside_numbers::infinities) ? infinity() : last();
    if (std::isnan(v)) return bare || has(beside_numbers::nothing) ? sign() : minus | all_ones();
    if (std::isinf(v)) return minus | over;
    if (v == 0) return bare ? 0u : minus;
    int e = std::ilogb(v);
    if (e < 1 - bias()) e = 1 - bias();
    if (e > bias() + 2) return minus | over;
    // Counting in steps of the last place makes the code of subnormals, normals and the carry into
    // the next exponent one sum.
    const double steps = std::nearbyint(std::ldexp(std::fabs(v), mantissa - e));
    const unsigned code =
        (static_cast<unsigned>(e + bias() - 1) << mantissa) + static_cast<unsigned>(steps);
    if (bare && code == 0) return 0;
    return minus | (code > last() ? over : code);
  }

  /// The value of a code.
  double decode(unsigned code) const {
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    const bool negative = (code & sign()) != 0;
    const unsigned magnitude = code & all_ones();
    double v = 0;
    if (has(beside_numbers::infinities) && magnitude >= infinity())
      v = magnitude == infinity() ? std::numeric_limits<double>::infinity() : none;
    else if (has(beside_numbers::last_code) && magnitude == all_ones())
      v = none;
    else if (has(beside_numbers::signed_zero) && code == sign())
      return none;
    else {
      const int e = static_cast<int>(magnitude >> mantissa);
      const int m = static_cast<int>(magnitude & ((1u << mantissa) - 1u));
      v = e == 0 ? std::ldexp(m, 1 - bias() - mantissa)
                 : std::ldexp(m + (1 << mantissa), e - bias() - mantissa);
    }
    return negative ? -v : v;
  }
};

inline constexpr narrow_float f16_format{5, 10};
inline constexpr narrow_float e5m2_format{5, 2};
inline constexpr narrow_float e4m3_format{4, 3, beside_numbers::last_code};
inline constexpr narrow_float e5m2z_format{5, 2, beside_numbers::signed_zero};
inline constexpr narrow_float e4m3z_format{4, 3, beside_numbers::signed_zero};
inline constexpr narrow_float e2m1_format{2, 1, beside_numbers::nothing};

/// The power of two that an e8m0 holds; the last code is NaN.
inline double from_e8m0(std::uint8_t code) {
  return code == 255 ? std::numeric_limits<double>::quiet_NaN() : std::ldexp(1.0, code - 127);
}

/// The first power of two that is no smaller than the size of `v`, or the end of the range.
inline std::uint8_t to_e8m0(double v) {
  if (std::isnan(v)) return 255;
  const double size = std::fabs(v);
  if (size <= 0x1p-127) return 0;
  if (size >= 0x1p127) return 254;
  const int e = std::ilogb(size);
  return static_cast<std::uint8_t>(e + 127 + (std::ldexp(1.0, e) < size));
}

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
/// A whole number of `Bits` bits, the first one in the lowest bits of a byte. Like all packed
/// elements it is described by its own bits, not by the byte.
template <int Bits, bool Signed>
struct packed_whole {
  using storage = std::uint8_t;
  static constexpr int bits = Bits;
  static constexpr int count = 1 << Bits;
  static double load(std::uint8_t code) {
    return Signed && code >= count / 2 ? code - count : code;
  }
  static std::uint8_t store(double v) {
    constexpr double low = Signed ? -count / 2 : 0, high = low + count - 1;
    if (std::isnan(v)) return 0;
    const double inside = std::fmin(std::fmax(std::nearbyint(v), low), high);
    return static_cast<std::uint8_t>(static_cast<int>(inside) & (count - 1));
  }
};
// clang-format off
template <> struct element<dtype::real> : plain_element<float> {};
template <> struct element<dtype::f64> : plain_element<double> {};
template <> struct element<dtype::f32> : plain_element<float> {};
template <> struct element<dtype::f16> : narrow_element<std::uint16_t, f16_format> {};
template <> struct element<dtype::e4m3> : narrow_element<std::uint8_t, e4m3_format> {};
template <> struct element<dtype::e5m2> : narrow_element<std::uint8_t, e5m2_format> {};
template <> struct element<dtype::e4m3z> : narrow_element<std::uint8_t, e4m3z_format> {};
template <> struct element<dtype::e5m2z> : narrow_element<std::uint8_t, e5m2z_format> {};
template <> struct element<dtype::e2m1> : narrow_element<std::uint8_t, e2m1_format> {
  static constexpr int bits = 4;
};
template <> struct element<dtype::s2> : packed_whole<2, true> {};
template <> struct element<dtype::u2> : packed_whole<2, false> {};
template <> struct element<dtype::s4> : packed_whole<4, true> {};
template <> struct element<dtype::u4> : packed_whole<4, false> {};
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
struct element<dtype::e8m0> {
  using storage = std::uint8_t;
  static double load(std::uint8_t v) { return from_e8m0(v); }
  static std::uint8_t store(double v) { return to_e8m0(v); }
};
template <>
struct element<dtype::boolean> {
  using storage = std::uint8_t;
  static double load(std::uint8_t v) { return v != 0; }
  static std::uint8_t store(double v) { return v != 0; }
};

/// True for descriptions of elements of less than a byte.
template <class Element>
inline constexpr bool is_packed = requires {
  Element::bits;
};

template <class Element>
double load_one(const std::byte* bytes, std::int64_t i) {
  const auto* all = reinterpret_cast<const typename Element::storage*>(bytes);
  if constexpr (is_packed<Element>) {
    constexpr int bits = Element::bits;
    const unsigned code = static_cast<unsigned>(all[i * bits / 8]) >> (i * bits % 8);
    return Element::load(static_cast<std::uint8_t>(code & ((1u << bits) - 1u)));
  } else {
    return Element::load(all[i]);
  }
}

template <class Element>
void store_one(std::byte* bytes, std::int64_t i, double v) {
  auto* all = reinterpret_cast<typename Element::storage*>(bytes);
  if constexpr (is_packed<Element>) {
    constexpr int bits = Element::bits;
    const unsigned at = static_cast<unsigned>(i * bits % 8), mask = ((1u << bits) - 1u) << at;
    std::uint8_t& byte = all[i * bits / 8];
    const unsigned code = static_cast<unsigned>(Element::store(v)) << at;
    byte = static_cast<std::uint8_t>((byte & ~mask) | code);
  } else {
    all[i] = Element::store(v);
  }
}
} // namespace detail

/// Calls `f` with the element description of a type: its `storage`, `load` and `store`. Packed ones
/// say how many `bits` of a storage they are.
template <class F>
decltype(auto) with_element(dtype type, F&& f) {
  switch (type) {
  case dtype::f64: return f(detail::element<dtype::f64>{});
  case dtype::f16: return f(detail::element<dtype::f16>{});
  case dtype::bf16: return f(detail::element<dtype::bf16>{});
  case dtype::e4m3: return f(detail::element<dtype::e4m3>{});
  case dtype::e5m2: return f(detail::element<dtype::e5m2>{});
  case dtype::e4m3z: return f(detail::element<dtype::e4m3z>{});
  case dtype::e5m2z: return f(detail::element<dtype::e5m2z>{});
  case dtype::e8m0: return f(detail::element<dtype::e8m0>{});
  case dtype::e2m1: return f(detail::element<dtype::e2m1>{});
  case dtype::s2: return f(detail::element<dtype::s2>{});
  case dtype::u2: return f(detail::element<dtype::u2>{});
  case dtype::s4: return f(detail::element<dtype::s4>{});
  case dtype::u4: return f(detail::element<dtype::u4>{});
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
  return with_element(type, [&](auto e) { return detail::load_one<decltype(e)>(bytes, i); });
}

/// Writes `v` as element `i` of an array of `type`.
inline void store(dtype type, std::byte* bytes, std::int64_t i, double v) {
  with_element(type, [&](auto e) { detail::store_one<decltype(e)>(bytes, i, v); });
}

/// All `count` elements of an array of `type`, as numbers.
inline void load_all(dtype type, const std::byte* bytes, std::int64_t count,
                     std::vector<double>& out) {
  out.resize(static_cast<std::size_t>(count));
  with_element(type, [&](auto e) {
    for (std::int64_t i = 0; i < count; ++i)
      out[static_cast<std::size_t>(i)] = detail::load_one<decltype(e)>(bytes, i);
  });
}

} // namespace benanza::backend
