// SPDX-License-Identifier: Apache-2.0
// Elementwise functions as chains of cuDNN's pointwise operations. Most are one operation; what the
// library has no operation for is put together from several, which its engines fuse again. What
// cannot be put together exactly is not offered.
//
//   add_function(writer, op::unary_function::hard_swish, x, y);   // false: there is no way
#pragma once

#include "../operands.hpp"
#include "recipe.hpp"

namespace benanza::backend::cudnn {

namespace detail {

/// Adds pointwise operations one behind the other; only the last writes to memory.
class chain {
public:
  chain(writer& w, int x, int y)
      : w_(w)
      , x_(x)
      , y_(y)
      , rank_(w.graph.facts(y).dims.size) {}

  using mode = cudnnPointwiseMode_t;

  int number(double value) { return w_.number(rank_, static_cast<float>(value)); }
  int alone(mode m, int of, bool last = false, const pointwise_values& v = {}) {
    const int to = last ? y_ : w_.between(y_);
    w_.graph.pointwise(m, of, std::nullopt, to, v);
    return to;
  }
  int both(mode m, int a, int b, bool last = false) {
    const int to = last ? y_ : w_.between(y_);
    w_.graph.pointwise(m, a, b, to);
    return to;
  }
  bool one(mode m, const pointwise_values& v = {}) {
    alone(m, x_, true, v);
    return true;
  }
  int x() const { return x_; }

private:
  writer& w_;
  int x_, y_, rank_;
};

/// clamp(a x + b, 0, 1)
inline int hard_sigmoid(chain& c, double a, double b, bool last) {
  const int scaled = c.both(CUDNN_POINTWISE_MUL, c.x(), c.number(a));
  const int moved = c.both(CUDNN_POINTWISE_ADD, scaled, c.number(b));
  const int low = c.both(CUDNN_POINTWISE_MAX, moved, c.number(0));
  return c.both(CUDNN_POINTWISE_MIN, low, c.number(1), last);
}
} // namespace detail

/// Adds y = f(x); false, and nothing added, where cuDNN has no way.
inline bool add_function(writer& w, op::unary_function f, int x, int y) {
  using enum op::unary_function;
  namespace a = backend::attribute;
  detail::chain c(w, x, y);
  switch (f) {
  case relu: return c.one(CUDNN_POINTWISE_RELU_FWD);
  case leaky_relu:
    return c.one(CUDNN_POINTWISE_RELU_FWD, {.slope = static_cast<float>(a::leaky_slope)});
  case elu: return c.one(CUDNN_POINTWISE_ELU_FWD, {.elu_alpha = a::elu_alpha});
  case celu:
    if (a::celu_alpha != 1) return false;
    return c.one(CUDNN_POINTWISE_ELU_FWD, {.elu_alpha = 1.0});
  case selu: {
    const int bent = c.alone(CUDNN_POINTWISE_ELU_FWD, x, false, {.elu_alpha = a::selu_alpha});
    c.both(CUDNN_POINTWISE_MUL, bent, c.number(a::selu_gamma), true);
    return true;
  }
  case sigmoid: return c.one(CUDNN_POINTWISE_SIGMOID_FWD);
  case hard_sigmoid:
    detail::hard_sigmoid(c, a::hard_sigmoid_alpha, a::hard_sigmoid_beta, true);
    return true;
  case hard_swish: {
    const int gate = detail::hard_sigmoid(c, 1.0 / 6, 0.5, false);
    c.both(CUDNN_POINTWISE_MUL, x, gate, true);
    return true;
  }
  case tanh: return c.one(CUDNN_POINTWISE_TANH_FWD);
  case softplus: return c.one(CUDNN_POINTWISE_SOFTPLUS_FWD);
  case softsign: {
    const int size = c.alone(CUDNN_POINTWISE_ABS, x);
    const int more = c.both(CUDNN_POINTWISE_ADD, size, c.number(1));
    c.both(CUDNN_POINTWISE_DIV, x, more, true);
    return true;
  }
  case mish: {
    const int plus = c.alone(CUDNN_POINTWISE_SOFTPLUS_FWD, x);
    const int gate = c.alone(CUDNN_POINTWISE_TANH_FWD, plus);
    c.both(CUDNN_POINTWISE_MUL, x, gate, true);
    return true;
  }
  case swish: return c.one(CUDNN_POINTWISE_SWISH_FWD);
  case gelu: return c.one(CUDNN_POINTWISE_GELU_FWD);
  case fast_gelu: return c.one(CUDNN_POINTWISE_GELU_APPROX_TANH_FWD);
  case clip: {
    const int low = c.both(CUDNN_POINTWISE_MAX, x, c.number(a::clip_low));
    c.both(CUDNN_POINTWISE_MIN, low, c.number(a::clip_high), true);
    return true;
  }
  case exp: return c.one(CUDNN_POINTWISE_EXP);
  case log: return c.one(CUDNN_POINTWISE_LOG);
  case sqrt: return c.one(CUDNN_POINTWISE_SQRT);
  case abs: return c.one(CUDNN_POINTWISE_ABS);
  case neg: return c.one(CUDNN_POINTWISE_NEG);
  case reciprocal: return c.one(CUDNN_POINTWISE_RECIPROCAL);
  case floor: return c.one(CUDNN_POINTWISE_FLOOR);
  case ceil: return c.one(CUDNN_POINTWISE_CEIL);
  case erf: return c.one(CUDNN_POINTWISE_ERF);
  case sin: return c.one(CUDNN_POINTWISE_SIN);
  case cos: return c.one(CUDNN_POINTWISE_COS);
  case logical_not: return c.one(CUDNN_POINTWISE_LOGICAL_NOT);
  case square: c.both(CUDNN_POINTWISE_MUL, x, x, true); return true;
  case cube: {
    const int square_of = c.both(CUDNN_POINTWISE_MUL, x, x);
    c.both(CUDNN_POINTWISE_MUL, square_of, x, true);
    return true;
  }
  case tan: return c.one(CUDNN_POINTWISE_TAN);
  default: return false;
  }
  return false;
}

/// The operation that joins two operands; nothing where cuDNN has none.
inline std::optional<cudnnPointwiseMode_t> join_of(op::binary_function f) {
  using enum op::binary_function;
  switch (f) {
  case add:
  case sum:
  case mean: return CUDNN_POINTWISE_ADD;
  case sub: return CUDNN_POINTWISE_SUB;
  case mul: return CUDNN_POINTWISE_MUL;
  case div: return CUDNN_POINTWISE_DIV;
  case pow: return CUDNN_POINTWISE_POW;
  case min: return CUDNN_POINTWISE_MIN;
  case max: return CUDNN_POINTWISE_MAX;
  case equal: return CUDNN_POINTWISE_CMP_EQ;
  case greater: return CUDNN_POINTWISE_CMP_GT;
  case greater_or_equal: return CUDNN_POINTWISE_CMP_GE;
  case less: return CUDNN_POINTWISE_CMP_LT;
  case less_or_equal: return CUDNN_POINTWISE_CMP_LE;
  case logical_and: return CUDNN_POINTWISE_LOGICAL_AND;
  case logical_or: return CUDNN_POINTWISE_LOGICAL_OR;
  default: return std::nullopt;
  }
  return std::nullopt;
}

/// Adds y = f(a, b) for the functions of two operands; false where cuDNN has no way.
inline bool add_function(writer& w, op::binary_function f, int a, int b, int y) {
  if (f == op::binary_function::prelu) {
    detail::chain c(w, a, y);
    const int low = c.both(CUDNN_POINTWISE_MIN, a, c.number(0));
    const int bent = c.both(CUDNN_POINTWISE_MUL, low, b);
    const int high = c.alone(CUDNN_POINTWISE_RELU_FWD, a);
    c.both(CUDNN_POINTWISE_ADD, high, bent, true);
    return true;
  }
  const auto mode = join_of(f);
  if (!mode) return false;
  w.graph.pointwise(*mode, a, b, y);
  return true;
}

} // namespace benanza::backend::cudnn
