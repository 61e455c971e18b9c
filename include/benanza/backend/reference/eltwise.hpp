// SPDX-License-Identifier: Apache-2.0
// One output of an elementwise layer, by its ONNX definition (../formula.hpp), with the attribute
// values that all backends use, if no others are given. Whole numbers are another header's.
//
//   function_value(unary_function::relu, -2) == 0;   function_value(binary_function::pow, 2, 3) ==
//   8
#pragma once

#include "../formula.hpp"
#include "position.hpp"
#include "whole.hpp"

#include <cmath>

namespace benanza::backend::reference {

/// A function of one number.
inline double function_value(op::unary_function f, double x, const attribute_values& given = {}) {
  if (f == op::unary_function::is_inf &&
      !(std::signbit(x) ? given.finds_negative : given.finds_positive))
    return 0;
  return formula(f, x, given);
}

/// A function of two numbers; Mean adds, its division comes at the end.
inline double function_value(op::binary_function f, double a, double b) {
  return formula(f, a, b);
}

inline double value(const op::unary& p, const operands& o, std::int64_t flat) {
  const double x = element(o, 0, flat);
  if (whole(p.element)) return whole_value(p.function, x, p.element, o.attributes);
  return function_value(p.function, x, o.attributes);
}

inline double value(const op::binary& p, const operands& o, std::int64_t flat) {
  const shape place = place_of(p.output(), flat);
  double v = element(o, 0, broadcast_index(p.a, place));
  for (std::int64_t i = 1; i < p.operands; ++i) {
    const double next = element(o, static_cast<std::size_t>(i), broadcast_index(p.b, place));
    v = whole(p.element) ? whole_value(p.function, v, next, p.element)
                         : function_value(p.function, v, next);
  }
  if (p.function == op::binary_function::mean) v /= static_cast<double>(p.operands);
  return whole(p.element) ? std::trunc(v) : v;
}

} // namespace benanza::backend::reference
