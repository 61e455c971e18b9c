// SPDX-License-Identifier: Apache-2.0
// A list of types: which place has one, and which one is in a place?
//
//   using kinds = kind_list<conv, gemm>;   kinds::index_of<gemm> == 1
//   kinds::visit(1, [&]<class Kind>() { return Kind::family(); })
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

namespace benanza::op {

namespace detail {

template <std::size_t Index, class Kind>
struct place {
  using type = Kind;
  static constexpr std::size_t index = Index;
};

template <class Indices, class... Kinds>
struct places;
template <std::size_t... Indices, class... Kinds>
struct places<std::index_sequence<Indices...>, Kinds...> : place<Indices, Kinds>... {};

template <std::size_t Index, class Kind>
place<Index, Kind> at(const place<Index, Kind>&);
template <class Kind, std::size_t Index>
place<Index, Kind> of(const place<Index, Kind>&);

} // namespace detail

template <class... Kinds>
struct kind_list {
private:
  using places = detail::places<std::index_sequence_for<Kinds...>, Kinds...>;

public:
  static constexpr std::size_t size = sizeof...(Kinds);

  template <class Kind>
  static constexpr bool has = (std::is_same_v<Kind, Kinds> || ...);

  template <class Kind>
  static constexpr std::size_t index_of = decltype(detail::of<Kind>(std::declval<places>()))::index;

  template <std::size_t Index>
  using at = typename decltype(detail::at<Index>(std::declval<places>()))::type;

  /// The function's result for the type in that place, as its template argument. It is one switch:
  /// a table with a function an entry takes the compiler twice as long where there are dozens.
  template <class Function>
  static constexpr decltype(auto) visit(std::size_t index, Function&& f) {
#define BENANZA_KIND(i)                                                                            \
  case i:                                                                                          \
    if constexpr ((i) < size)                                                                      \
      return f.template operator()<at<i>>();                                                       \
    else                                                                                           \
      break;
#define BENANZA_KINDS(i)                                                                           \
  BENANZA_KIND(i)                                                                                  \
  BENANZA_KIND(i + 1)                                                                              \
  BENANZA_KIND(i + 2)                                                                              \
  BENANZA_KIND(i + 3)                                                                              \
  BENANZA_KIND(i + 4)                                                                              \
  BENANZA_KIND(i + 5)                                                                              \
  BENANZA_KIND(i + 6)                                                                              \
  BENANZA_KIND(i + 7)
    static_assert(size <= 80, "add a line");
    switch (index) {
      BENANZA_KINDS(0)
      BENANZA_KINDS(8)
      BENANZA_KINDS(16)
      BENANZA_KINDS(24)
      BENANZA_KINDS(32)
      BENANZA_KINDS(40)
      BENANZA_KINDS(48)
      BENANZA_KINDS(56)
      BENANZA_KINDS(64)
      BENANZA_KINDS(72)
    default: break;
    }
#undef BENANZA_KINDS
#undef BENANZA_KIND
    __builtin_unreachable(); // an index is of the list
  }
};

} // namespace benanza::op
