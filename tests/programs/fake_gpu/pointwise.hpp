// SPDX-License-Identifier: Apache-2.0
// What do cuDNN's pointwise modes compute? One number from one, two or three, in f64, as the
// library's documentation says.
//
//   double y = pointwise(bag, CUDNN_POINTWISE_ADD, x, b, t);
#pragma once

#include "bag.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace fake {

/// Settings of an operation that has any.
struct pointwise_settings {
  double lower, upper, slope, elu_alpha, softplus_beta, swish_beta;

  explicit pointwise_settings(const bag& b)
      : lower(b.real_number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP, 0.0))
      , upper(b.real_number(CUDNN_ATTR_POINTWISE_RELU_UPPER_CLIP,
                            std::numeric_limits<double>::infinity()))
      , slope(b.real_number(CUDNN_ATTR_POINTWISE_RELU_LOWER_CLIP_SLOPE, 0.0))
      , elu_alpha(b.real_number(CUDNN_ATTR_POINTWISE_ELU_ALPHA, 1.0))
      , softplus_beta(b.real_number(CUDNN_ATTR_POINTWISE_SOFTPLUS_BETA, 1.0))
      , swish_beta(b.real_number(CUDNN_ATTR_POINTWISE_SWISH_BETA, 1.0)) {}
};

inline double logistic(double x) {
  return 1 / (1 + std::exp(-x));
}

inline double pointwise(const pointwise_settings& s, cudnnPointwiseMode_t mode, double x, double b,
                        double t) {
  switch (mode) {
  case CUDNN_POINTWISE_IDENTITY: return x;
  case CUDNN_POINTWISE_ADD: return x + b;
  case CUDNN_POINTWISE_ADD_SQUARE: return x + b * b;
  case CUDNN_POINTWISE_SUB: return x - b;
  case CUDNN_POINTWISE_MUL: return x * b;
  case CUDNN_POINTWISE_DIV: return x / b;
  case CUDNN_POINTWISE_MOD: return std::fmod(x, b);
  case CUDNN_POINTWISE_POW: return std::pow(x, b);
  case CUDNN_POINTWISE_MIN: return std::min(x, b);
  case CUDNN_POINTWISE_MAX: return std::max(x, b);
  case CUDNN_POINTWISE_ATAN2: return std::atan2(x, b);
  case CUDNN_POINTWISE_ABS: return std::fabs(x);
  case CUDNN_POINTWISE_NEG: return -x;
  case CUDNN_POINTWISE_CEIL: return std::ceil(x);
  case CUDNN_POINTWISE_FLOOR: return std::floor(x);
  case CUDNN_POINTWISE_EXP: return std::exp(x);
  case CUDNN_POINTWISE_LOG: return std::log(x);
  case CUDNN_POINTWISE_SQRT: return std::sqrt(x);
  case CUDNN_POINTWISE_RSQRT: return 1 / std::sqrt(x);
  case CUDNN_POINTWISE_RECIPROCAL: return 1 / x;
  case CUDNN_POINTWISE_SIN: return std::sin(x);
  case CUDNN_POINTWISE_COS: return std::cos(x);
  case CUDNN_POINTWISE_TAN: return std::tan(x);
  case CUDNN_POINTWISE_ERF: return std::erf(x);
  case CUDNN_POINTWISE_RELU_FWD:
    return x > s.lower ? std::min(x, s.upper) : s.lower + s.slope * (x - s.lower);
  case CUDNN_POINTWISE_TANH_FWD: return std::tanh(x);
  case CUDNN_POINTWISE_SIGMOID_FWD: return logistic(x);
  case CUDNN_POINTWISE_ELU_FWD: return x > 0 ? x : s.elu_alpha * std::expm1(x);
  case CUDNN_POINTWISE_GELU_FWD: return x / 2 * (1 + std::erf(x / std::numbers::sqrt2));
  case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
    return x / 2 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  case CUDNN_POINTWISE_SOFTPLUS_FWD: {
    const double scaled = s.softplus_beta * x;
    return (std::max(scaled, 0.0) + std::log1p(std::exp(-std::fabs(scaled)))) / s.softplus_beta;
  }
  case CUDNN_POINTWISE_SWISH_FWD: return x * logistic(s.swish_beta * x);
  case CUDNN_POINTWISE_CMP_EQ: return x == b;
  case CUDNN_POINTWISE_CMP_NEQ: return x != b;
  case CUDNN_POINTWISE_CMP_GT: return x > b;
  case CUDNN_POINTWISE_CMP_GE: return x >= b;
  case CUDNN_POINTWISE_CMP_LT: return x < b;
  case CUDNN_POINTWISE_CMP_LE: return x <= b;
  case CUDNN_POINTWISE_LOGICAL_AND: return x != 0 && b != 0;
  case CUDNN_POINTWISE_LOGICAL_OR: return x != 0 || b != 0;
  case CUDNN_POINTWISE_LOGICAL_NOT: return x == 0;
  case CUDNN_POINTWISE_BINARY_SELECT: return t != 0 ? x : b;
  default: throw not_understood("pointwise mode " + std::to_string(mode));
  }
}

} // namespace fake
