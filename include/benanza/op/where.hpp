// SPDX-License-Identifier: Apache-2.0
// Each element from one of two operands, as a truth value says (ONNX Where). All three broadcast as
// NumPy says.
//
//   where{.condition = {1, 1, 9, 9}, .x = {2, 12, 9, 9}, .y = {1}}      key: 1x1x9x9-2x12x9x9-1
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct where {
  shape condition{};
  shape x{}; ///< taken where it is true
  shape y{};
  dtype element = dtype::real;

  static constexpr std::optional<where> of(std::string_view family) {
    return family == "Where" ? std::optional(where{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Where"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("condition", condition);
    a.dims("x", x);
    a.dims_or("y", y, x);
    a.element("element", element);
  }
  constexpr void validate() const {
    for (const shape* s : {&condition, &x, &y})
      check_dims(*s);
    (void)cost();
  }
  constexpr shape output() const { return broadcast(condition, broadcast(x, y)); }
  /// Both operands are read whole: the condition decides at run time which elements are taken.
  constexpr work cost() const {
    const std::int64_t out = elements(output());
    work w = moved(element, elements(x) + elements(y), out);
    w.fixed_bytes += elements(condition);
    return w;
  }
  /// A scalar operand is written as one dim of one.
  constexpr where canonical_form() const {
    where p = *this;
    for (shape* s : {&p.condition, &p.x, &p.y})
      if (s->empty()) *s = {1};
    return p;
  }
  constexpr bool operator==(const where&) const = default;
};

} // namespace benanza::op
