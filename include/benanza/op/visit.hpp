// SPDX-License-Identifier: Apache-2.0
// A function called with what a variant of many kinds holds, as std::visit does. It is one switch:
// std::visit makes a table with a function an entry, which takes the compiler twice as long where
// there are dozens of kinds.
//
//   op::visit([](const auto& kind) { return kind.cost(); }, layer)
#pragma once

#include <utility>
#include <variant>

namespace benanza::op {

#define BENANZA_ALTERNATIVE(i)                                                                     \
  case i:                                                                                          \
    if constexpr ((i) < size)                                                                      \
      return std::forward<Function>(f)(*std::get_if<i>(&held));                                    \
    else                                                                                           \
      break;
#define BENANZA_ALTERNATIVES(i)                                                                    \
  BENANZA_ALTERNATIVE(i)                                                                           \
  BENANZA_ALTERNATIVE(i + 1)                                                                       \
  BENANZA_ALTERNATIVE(i + 2)                                                                       \
  BENANZA_ALTERNATIVE(i + 3)                                                                       \
  BENANZA_ALTERNATIVE(i + 4)                                                                       \
  BENANZA_ALTERNATIVE(i + 5)                                                                       \
  BENANZA_ALTERNATIVE(i + 6)                                                                       \
  BENANZA_ALTERNATIVE(i + 7)

template <class Function, class... Kinds>
constexpr decltype(auto) visit(Function&& f, const std::variant<Kinds...>& held) {
  constexpr std::size_t size = sizeof...(Kinds);
  static_assert(size <= 80, "add a line of alternatives");
  switch (held.index()) {
    BENANZA_ALTERNATIVES(0)
    BENANZA_ALTERNATIVES(8)
    BENANZA_ALTERNATIVES(16)
    BENANZA_ALTERNATIVES(24)
    BENANZA_ALTERNATIVES(32)
    BENANZA_ALTERNATIVES(40)
    BENANZA_ALTERNATIVES(48)
    BENANZA_ALTERNATIVES(56)
    BENANZA_ALTERNATIVES(64)
    BENANZA_ALTERNATIVES(72)
  default: break;
  }
  throw std::bad_variant_access(); // only where a kind's constructor threw
}

#undef BENANZA_ALTERNATIVES
#undef BENANZA_ALTERNATIVE

} // namespace benanza::op
