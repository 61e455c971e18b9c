// SPDX-License-Identifier: Apache-2.0
// How does an operand get its numbers? By its part in the layer: a source, weights of unit gain,
// vectors that narrow types hold exactly, codes with scales and zero points. What a layer's kind
// adds, and in which order, is said in make_operands.hpp.
//
//   source(p.input, p.element, {.low = -4, .high = 4});   weights(p.weights(), true);
#pragma once

#include "draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace benanza::backend::detail {

/// Adds operands one after the other.
class operand_adder {
public:
  operand_adder(const op::layer& l, numeric t, bool filled)
      : type_(t)
      , filled_(filled)
      , seed_(seed_of(op::name(l)))
      , length_(reduction_length(l)) {}

  operands take() { return std::move(made_); }

protected:
  /// Some of the last operand's numbers become what IsNaN and IsInf look for.
  void mark_some() {
    tensor& t = made_.inputs.back();
    if (!filled_ || quantised(type_)) return;
    constexpr double infinite = std::numeric_limits<double>::infinity();
    constexpr double rare[] = {std::numeric_limits<double>::quiet_NaN(), infinite, -infinite};
    for (std::int64_t i = 0; i < t.count(); i += 5)
      store(t.type, t.bytes.data(), i, rare[i % 3]);
  }
  /// True for functions that have no value, or none that is finite, for some numbers.
  static bool of_positives(op::unary_function f) {
    using enum op::unary_function;
    return f == log || f == sqrt || f == reciprocal || f == acosh;
  }
  /// A step that takes positive numbers alone gets them from any layer and joins before it: the
  /// first operand is large, and what may be added, subtracted or multiplied is small and positive.
  void bring_above_zero(draw& d) const {
    const bool first = made_.inputs.empty();
    d.low = first ? 1 : 0.0625;
    d.high = first ? 2 : 0.125;
    d.whole_low = d.code_low = first ? 64 : 1;
    d.code_high = std::min<std::int64_t>(d.code_high, first ? 127 : 4);
  }
  /// Corner `k` (left, top, right, bottom) of a region of an image, in the units of regions.
  static double corner(const shape& image, std::int64_t, std::int64_t k, double drawn) {
    const auto side = static_cast<double>(image[3 - static_cast<int>(k % 2)]);
    const double share = k < 2 ? (drawn + 1) / 8 : (drawn + 1) / 8 + 0.5;
    return std::floor(share * side / attribute::roi_scale);
  }
  /// Changes the values of the last operand: `f` gets their numbers and what was drawn.
  template <class F>
  void rewrite(F f) {
    if (!filled_) return;
    tensor& t = made_.inputs.back();
    for (std::int64_t i = 0; i < t.count(); ++i)
      store(t.type, t.bytes.data(), i, f(i, load(t.type, t.bytes.data(), i)));
  }
  void add(tensor t, draw d, bool codes) {
    if (positive_ && t.part != role::index) bring_above_zero(d);
    if (filled_) fill(t, d, codes, seed_ + 0x632be59bd9b4e019u * (made_.inputs.size() + 1));
    made_.inputs.push_back(std::move(t));
  }
  void source(const shape& dims, dtype element = dtype::real, const draw& d = {}) {
    add({.dims = dims, .type = storage_of(element, type_)}, d,
        element == dtype::real && quantised(type_));
  }
  /// Weights of unit gain; those of u8 sources lean to the positive, so that results use a range
  /// that begins at zero.
  void weights(const shape& dims, bool constant) {
    const double n = static_cast<double>(length_);
    draw d{.code_high = 127, .factor = std::sqrt(3 / n)};
    if (type_ == numeric::u8s8u8)
      d.code_low += 2 * std::lround(std::min(63., 2.5 * spread() / (127.5 * n)));
    add({.dims = dims, .type = weights_of(type_), .part = constant ? role::weights : role::source},
        d, quantised(type_));
  }
  /// Keeps the place of an operand that is not there.
  void absent() { add({.dims = {0}, .type = dtype::f32}, {}, false); }
  /// Scales from `least` up to twice that.
  void scales(const shape& dims, double least) {
    add({.dims = dims, .type = dtype::f32}, {.low = least, .high = 2 * least, .steps = 1u << 7},
        false);
  }
  /// Zero points in the middle of the range of codes, or zero.
  void zero_points(const shape& dims, dtype code, bool shifted) {
    draw d{.low = 0, .high = 0, .whole_low = 0, .whole_high = 0};
    if (shifted) d.whole_low = -9, d.whole_high = 9;
    if (shifted && code == dtype::u8) d.whole_low = 110, d.whole_high = 140;
    if (shifted && packed_in_bytes(code)) d.whole_low = -1, d.whole_high = 1;
    if (shifted && code == dtype::u4) d.whole_low = 6, d.whole_high = 9;
    if (shifted && code == dtype::u16) d.whole_low = 32000, d.whole_high = 33000;
    add({.dims = dims, .type = code}, d, false);
  }
  void codes(const shape& dims, dtype code, role part) {
    add({.dims = dims, .type = code, .part = part}, {.whole_low = -127, .whole_high = 255}, false);
  }
  void sums(const shape& dims, std::int64_t most) {
    add({.dims = dims, .type = dtype::s32, .part = role::vector},
        {.whole_low = -most, .whole_high = most}, false);
  }
  static shape row_of(const shape& input, int axis) {
    shape row;
    for (int i = axis; i < input.size; ++i)
      row.push(input[i]);
    return row;
  }
  void normalized(const shape& input, const shape& parameters, bool shifted) {
    source(input);
    vector(parameters, {.low = 0.5, .high = 1.5});
    if (shifted) vector(parameters, {.low = -0.5, .high = 0.5});
    scale(32);
  }
  /// Numbers that narrow types hold exactly: a library may keep vectors in the type of the case, or
  /// of its result.
  void vector(const shape& dims, draw d) {
    if (type_ == numeric::f16 || type_ == numeric::bf16 || type_ == numeric::e4m3)
      d.steps = 1u << 7;
    add({.dims = dims, .type = dtype::f32, .part = role::vector}, d, false);
    if (!quantised(type_) || d.factor == 1) return;
    // In the units of the integer accumulator, into which libraries add it.
    for (float& v : made_.inputs.back().as<float>())
      v = std::nearbyint(v);
  }
  template <class Convolution>
  void convolution(const Convolution& p) {
    source(p.input);
    weights(p.weights(), true);
    if (p.bias) vector({p.outputs}, accumulated(-0.5, 0.5));
    scale_products();
  }
  /// Standard deviation of a sum of products of codes: both are uniform.
  double spread() const {
    const double source = type_ == numeric::u8s8u8 ? 255 : 127;
    return std::sqrt(static_cast<double>(length_)) * source * 127 / 3;
  }
  draw accumulated(double low, double high) const {
    return {.low = low, .high = high, .factor = quantised(type_) ? spread() : 1};
  }
  void scale_products() {
    scale(power_below(type_ == numeric::u8s8u8 ? 255 / (5 * spread()) : 127 / (2.5 * spread())));
  }
  void scale(double s) {
    if (quantised(type_)) made_.output_scale = s;
  }

  numeric type_;
  bool filled_; ///< else operands have no values
  std::uint64_t seed_;
  std::int64_t length_;
  bool positive_ = false; ///< operands make what a step can only take above zero
  operands made_;
};

} // namespace benanza::backend::detail
