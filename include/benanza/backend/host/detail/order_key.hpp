// SPDX-License-Identifier: Apache-2.0
// How are elements of any type compared as whole numbers? An order key is unsigned and larger
// exactly where the element is: signs are turned round, both zeros are one, a NaN is beyond all
// numbers. Joined with its place, of equal elements the first is the largest (or the smallest), and
// no two are equal.
//
//   order_key<order_kind::real>(bits_of(-1.5f)) < order_key<order_kind::real>(bits_of(0.f))
#pragma once

#include "../../../core/dtype.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace benanza::backend::host::detail {

/// What the bits of an element mean.
enum class order_kind { real, whole, positive };

/// The key of an element of which `bits` are the bits.
template <order_kind Kind, class Bits>
[[gnu::always_inline]] inline Bits order_key(Bits bits) {
  constexpr Bits sign = static_cast<Bits>(Bits{1} << (std::numeric_limits<Bits>::digits - 1));
  if constexpr (Kind == order_kind::positive) return bits;
  if constexpr (Kind == order_kind::whole) return static_cast<Bits>(bits ^ sign);
  if (static_cast<Bits>(bits << 1) == 0) bits = 0;
  return (bits & sign) != 0 ? static_cast<Bits>(~bits) : static_cast<Bits>(bits | sign);
}

__extension__ typedef unsigned __int128 two_words;

/// A key in front and a place behind it.
template <class Bits>
using keyed_place = std::conditional_t<sizeof(Bits) == 8, two_words, std::uint64_t>;

/// Places that fit behind a key.
template <class Bits>
inline constexpr int place_bits = sizeof(Bits) == 8 ? 64 : 32;

template <class Bits>
[[gnu::always_inline]] inline keyed_place<Bits> joined(Bits key, std::uint64_t place) {
  return static_cast<keyed_place<Bits>>(key) << place_bits<Bits> | place;
}
template <class Bits>
std::int64_t place_in(keyed_place<Bits> both) {
  if constexpr (sizeof(Bits) == 8)
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(both));
  else
    return static_cast<std::int64_t>(both & 0xffffffffu);
}
template <class Bits>
Bits key_in(keyed_place<Bits> both) {
  return static_cast<Bits>(both >> place_bits<Bits>);
}

/// Calls `f` with an unsigned type as wide as an element and a constant of its kind.
template <class F>
void with_order(dtype t, F&& f) {
  using real = std::integral_constant<order_kind, order_kind::real>;
  using whole = std::integral_constant<order_kind, order_kind::whole>;
  using positive = std::integral_constant<order_kind, order_kind::positive>;
  switch (t) {
  case dtype::f64: return f(std::uint64_t{}, real{});
  case dtype::f16:
  case dtype::bf16: return f(std::uint16_t{}, real{});
  case dtype::e4m3:
  case dtype::e5m2: return f(std::uint8_t{}, real{});
  case dtype::s8: return f(std::uint8_t{}, whole{});
  case dtype::s16: return f(std::uint16_t{}, whole{});
  case dtype::s32: return f(std::uint32_t{}, whole{});
  case dtype::s64: return f(std::uint64_t{}, whole{});
  case dtype::u8:
  case dtype::boolean: return f(std::uint8_t{}, positive{});
  case dtype::u16: return f(std::uint16_t{}, positive{});
  case dtype::u32: return f(std::uint32_t{}, positive{});
  case dtype::u64: return f(std::uint64_t{}, positive{});
  default: return f(std::uint32_t{}, real{});
  }
}

} // namespace benanza::backend::host::detail
