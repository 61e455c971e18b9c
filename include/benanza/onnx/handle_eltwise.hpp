// SPDX-License-Identifier: Apache-2.0
// Elementwise layers: the one-operand functions, and those of two or many operands that broadcast
// as NumPy says, or before opset 7 as the attributes broadcast and axis say. A Pow whose exponent
// is a constant of the model is the function that it amounts to, if one is cheaper.
//
//   handle_binary(call)   // Add/1x64x56x56-1x64x1x1
//   handle_pow(call)      // Square/1x197x768
#pragma once

#include "../op/kinds.hpp"
#include "call.hpp"

namespace benanza::onnx {

namespace detail {
/// Which of its two forms a Gelu has.
inline bool by_tanh(const call& c) {
  const std::string_view form = c.word("approximate", "none");
  if (form != "none" && form != "tanh")
    throw error("its approximate is \"" + std::string(form) + "\", neither none nor tanh");
  return form == "tanh";
}
} // namespace detail

inline answer handle_unary(const call& c) {
  op::unary p = *op::unary::of(c.op());
  if (p.function == op::unary_function::gelu && detail::by_tanh(c))
    p.function = op::unary_function::fast_gelu;
  p.input = c.dims(0);
  p.element = c.type(0);
  answer a = of_layer(c, p, p.input);
  if (op::tells(p.function)) a.outputs[0].element = proto::BOOL;
  return a;
}

namespace detail {
/// Before opset 7 the second operand was placed at an axis of the first, if it asked for that.
inline shape placed(const call& c, const shape& a, shape b) {
  if (c.opset() >= 7 || c.integer("broadcast", 0) == 0) return b;
  const int at = c.has_attribute("axis") ? call::axis(c.integer("axis", 0), a.size, true)
                                         : std::max(0, a.size - b.size);
  if (at + b.size > a.size) throw error("its second operand reaches behind its first");
  while (at + b.size < a.size)
    b.push(1);
  return b;
}

inline shape broadcast_of(const shape& a, const shape& b) {
  try {
    return broadcast(a, b);
  } catch (const error&) {
    throw error("its operands " + text(a) + " and " + text(b) + " do not broadcast");
  }
}
} // namespace detail

inline answer handle_binary(const call& c) {
  op::binary p = *op::binary::of(c.op());
  p.a = c.dims(0);
  p.b = detail::placed(c, p.a, c.dims(1));
  p.element = c.type(0);
  answer a = of_layer(c, p, detail::broadcast_of(p.a, p.b));
  if (p.comparison()) a.outputs[0].element = proto::BOOL;
  return a;
}

namespace detail {
/// The function that a power of reals by the constant second operand is, where there is one.
inline std::optional<op::unary_function> power_as_function(const call& c) {
  using enum op::unary_function;
  const elements_of* exponent = c.constant(1) ? c.operand(1).elements() : nullptr;
  if (c.type(0) != dtype::real || exponent == nullptr || exponent->size() != 1) return {};
  const double e = exponent->number(0);
  return e == 2     ? std::optional(square)
         : e == 3   ? std::optional(cube)
         : e == 0.5 ? std::optional(sqrt)
         : e == -1  ? std::optional(reciprocal)
                    : std::nullopt;
}
} // namespace detail

/// Mod by the sign of its divisor, or with fmod = 1 of its dividend.
inline answer handle_mod(const call& c) {
  answer a = handle_binary(c);
  if (c.integer("fmod", 0) == 0) return a;
  op::binary by_dividend = op::get<op::binary>(*a.layer);
  by_dividend.function = op::binary_function::fmod;
  a.layer = by_dividend;
  return a;
}

namespace detail {
/// The function that a BitShift is by its direction.
inline op::binary_function shift_of(const call& c) {
  const std::string_view way = c.word("direction", "");
  if (way != "LEFT" && way != "RIGHT")
    throw error("its direction is \"" + std::string(way) + "\", neither LEFT nor RIGHT");
  return way == "LEFT" ? op::binary_function::shift_left : op::binary_function::shift_right;
}
} // namespace detail

inline answer handle_bit_shift(const call& c) {
  const op::binary p{
      .function = detail::shift_of(c), .a = c.dims(0), .b = c.dims(1), .element = c.type(0)};
  return of_layer(c, p, detail::broadcast_of(p.a, p.b));
}

/// Pow by 2, 3, 1/2 or -1 costs a fraction of others.
inline answer handle_pow(const call& c) {
  answer a = handle_binary(c);
  const auto f = detail::power_as_function(c);
  if (f && a.layer) a.layer = op::unary{.function = *f, .input = *a.outputs[0].dims};
  return a;
}

namespace detail {
/// Sum, Max, Min or Mean as one layer: one operand may differ from the others in its dims, it comes
/// first. Nothing where they have more than two different dims.
inline std::optional<op::binary> variadic_of(const call& c) {
  op::binary p = *op::binary::of(c.op());
  p.operands = c.size();
  p.element = c.type(0);
  p.a = c.dims(0);
  p.b = c.size() > 1 ? c.dims(1) : p.a;
  if (c.size() <= 2) return p;
  const auto differ = [&](const shape& s) {
    int n = 0;
    for (int i = 0; i < c.size(); ++i)
      n += !(c.dims(i) == s);
    return n;
  };
  for (int i = 0; i < 2; ++i) {
    p.b = c.dims(i);
    if (differ(p.b) <= 1) break;
  }
  p.a = p.b;
  for (int i = 0; i < c.size(); ++i)
    if (!(c.dims(i) == p.b)) p.a = c.dims(i);
  return differ(p.b) > 1 ? std::nullopt : std::optional(p);
}
} // namespace detail

/// Those of more than two different dims are layers of two operands each (expand_eltwise.hpp).
inline answer handle_variadic(const call& c) {
  shape out = c.dims(0);
  for (int i = 1; i < c.size(); ++i)
    out = detail::broadcast_of(out, c.dims(i));
  answer a = of_layer(c, {}, out);
  const auto p = detail::variadic_of(c);
  if (p)
    a.layer = *p;
  else
    a.layer.reset();
  if (!p) a.problem = "its operands have more than two different dims";
  return a;
}

inline answer handle_prelu(const call& c) {
  op::binary p{.function = op::binary_function::prelu, .a = c.dims(0), .b = c.dims(1)};
  p.element = c.type(0);
  // Before opset 7 a list of slopes was one a channel.
  if (c.opset() < 7 && p.b.size == 1 && p.b[0] != 1)
    for (int i = 2; i < p.a.size; ++i)
      p.b.push(1);
  if (!(detail::broadcast_of(p.a, p.b) == p.a))
    throw error("its slope " + text(p.b) + " does not fit its input " + text(p.a));
  return of_layer(c, p, p.a);
}

} // namespace benanza::onnx
