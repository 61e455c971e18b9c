// SPDX-License-Identifier: Apache-2.0
// The operands of each kind of layer, in the order of its ONNX operator. Where BENANZA_COMPILED is
// defined, one file of the program includes this for all.
#pragma once

#include "../op/kinds.hpp"
#include "ggml_draw.hpp"
#include "make_operands.hpp"
#include "operand_adder.hpp"

#include <limits>

namespace benanza::backend {

namespace detail {

/// Adds the operands of a layer of any kind.
class operand_maker : public operand_adder {
public:
  using operand_adder::operand_adder;

  void operator()(const op::conv& p) { convolution(p); }
  void operator()(const op::conv_transpose& p) { convolution(p); }
  void operator()(const op::conv_weight_gradient& p) {
    source(p.input);
    weights(p.gradient(), false);
    scale_products();
  }
  void operator()(const op::gemm& p) {
    source(p.a_shape());
    weights(p.b_shape(), p.constant_b);
    if (!p.c.empty()) vector(p.c, accumulated(-0.5, 0.5));
    scale_products();
  }
  void operator()(const op::matmul& p) {
    source(p.a);
    weights(p.b, p.constant_b);
    scale_products();
  }
  void operator()(const op::batch_norm& p) {
    source(p.input);
    const shape channels{p.input[1]};
    vector(channels, {.low = 0.5, .high = 1.5});
    vector(channels, {.low = -0.5, .high = 0.5});
    vector(channels, {.low = -0.5, .high = 0.5});
    vector(channels, {.low = 0.5, .high = 1.5});
    scale(0.5);
  }
  void operator()(const op::layer_norm& p) { normalized(p.input, row_of(p.input, p.axis), p.bias); }
  void operator()(const op::rms_norm& p) { normalized(p.input, row_of(p.input, p.axis), false); }
  template <class Norm>
  void operator()(const op::residual<Norm>& p) {
    (*this)(p.base);
    source(p.addend());
  }
  void operator()(const op::group_norm& p) { normalized(p.input, {p.input[1]}, true); }
  void operator()(const op::instance_norm& p) { normalized(p.input, {p.input[1]}, true); }
  void operator()(const op::attention& p) {
    // Scores have a deviation of one: neither equal weights nor one key alone.
    source(p.query_shape(), dtype::real, {.low = -3, .high = 3});
    source(p.key_shape(), p.stored);
    source(p.value_shape(), p.stored);
    if (!p.mask.empty())
      source(p.mask, p.truth_mask ? dtype::boolean : dtype::real, {.low = -2, .high = 2});
    // Nearly all keys, so that the cost is that of all.
    if (p.lengths)
      add({.dims = {p.batch}, .type = dtype::s64, .part = role::index},
          {.whole_low = std::max<std::int64_t>(p.keys - 3, 1), .whole_high = p.keys}, false);
  }
  void operator()(const op::rotary& p) {
    source(p.output());
    source(p.angles());
    source(p.angles());
    if (p.table > 0)
      add({.dims = {p.batch(), p.length()}, .type = dtype::s64, .part = role::index},
          {.whole_low = 0, .whole_high = p.table - 1}, false);
  }
  /// Keys of length one, about, and decays below one: states neither grow without end nor fade.
  void operator()(const op::linear_attention& p) {
    source(p.query(), dtype::real, {.low = -1.75, .high = 1.75});
    source(p.key(), dtype::real, {.factor = std::sqrt(3 / static_cast<double>(p.key_size))});
    source(p.value());
    if (!p.past && !p.decays() && !p.corrects()) return;
    p.past ? source(p.state_dims(), p.state) : absent();
    if (!p.decays() && !p.corrects()) return;
    p.decays() ? source(p.decay(), dtype::real, {.low = -0.5, .high = 0, .code_high = 0})
               : absent();
    if (p.corrects())
      source(p.rates(), dtype::real, {.low = 0, .high = 1, .code_low = 0, .code_high = 0});
  }
  /// Few different numbers, so that n-grams are found.
  void operator()(const op::tf_idf& p) {
    source(p.input, p.element, {.whole_low = 0, .whole_high = 7});
    add({.dims = {p.pool_size()}, .type = dtype::s64, .part = role::vector},
        {.whole_low = 0, .whole_high = 7}, false);
    add({.dims = {p.n_grams()}, .type = dtype::s64, .part = role::vector}, {}, false);
    rewrite([n = p.outputs](std::int64_t i, double) { return static_cast<double>(i % n); });
    if (p.weighs()) vector({p.n_grams()}, {.low = 0.5, .high = 1.5});
  }
  void operator()(const op::matmul_ggml& p) {
    source(p.a);
    codes(p.weights(), dtype::u8, role::weights);
    if (filled_) put_ggml_scales(p.format, p.length(), made_.inputs.back().bytes);
  }
  void operator()(const op::gather_ggml& p) {
    codes(p.table(), dtype::u8, role::source);
    if (filled_) put_ggml_scales(p.format, 1, made_.inputs.back().bytes);
    add({.dims = p.indices, .type = dtype::s64, .part = role::index},
        {.whole_low = 0, .whole_high = p.data[0] - 1}, false);
  }
  void operator()(const op::matmul_nbits& p) {
    source(p.a);
    codes(p.codes(), dtype::u8, role::weights);
    // Results have the variance of their source: codes are within 8, or 128, of their middle.
    const double spread = (p.bits == 4 ? 4.6 : 74) * std::sqrt(static_cast<double>(length_));
    add({.dims = p.scales(), .type = weights_of(type_), .part = role::weights},
        {.low = 0.75, .high = 1.25, .factor = power_below(1 / spread)}, false);
    if (!p.zero_points && !p.bias) return;
    p.zero_points ? codes(p.packed_zero_points(), dtype::u8, role::weights) : absent();
    if (!p.bias) return;
    absent();
    add({.dims = {p.columns()}, .type = weights_of(type_), .part = role::weights},
        {.low = -0.5, .high = 0.5}, false);
  }
  void operator()(const op::resize& p) {
    source(p.input);
    if (!p.crops()) return;
    add({.dims = {p.bounds()}, .type = dtype::f32, .part = role::vector},
        {.low = 0, .high = 0.25, .steps = 1u << 7}, false);
    rewrite([half = p.bounds() / 2](std::int64_t i, double v) { return i < half ? v : 1 - v; });
  }
  /// Places are those of an image that is stretched a little, each moved by up to an element.
  void operator()(const op::grid_sample& p) {
    source(p.input);
    source(p.grid());
    const int rank = p.rank();
    rewrite([p, rank](std::int64_t i, double v) {
      const int d = rank - 1 - static_cast<int>(i % rank);
      std::int64_t at = i / rank;
      for (int k = rank - 1; k > d; --k)
        at /= p.points[k];
      const auto n = static_cast<double>(p.points[d]), in = static_cast<double>(p.input[d + 2]);
      const double x = (2 * static_cast<double>(at % p.points[d]) + 1) / n - 1;
      return std::round((x * 1.125 + 2 * v / in) * 1024) / 1024;
    });
  }
  void operator()(const op::affine_grid& p) { source(p.theta()); }
  /// Regions cover from a quarter of each side on, a half on average.
  void operator()(const op::roi_align& p) {
    source(p.input);
    source({p.regions, 4});
    rewrite([p](std::int64_t i, double v) { return corner(p.input, i / 4, i % 4, v); });
    add({.dims = {p.regions}, .type = dtype::s64, .part = role::index},
        {.whole_low = 0, .whole_high = p.input[0] - 1}, false);
  }
  void operator()(const op::max_roi_pool& p) {
    source(p.input);
    source({p.regions, 5});
    rewrite([p](std::int64_t i, double v) {
      const std::int64_t k = i % 5;
      return k == 0 ? static_cast<double>(i / 5 % p.input[0]) : corner(p.input, i / 5, k - 1, v);
    });
  }
  /// Boxes are on a grid, so that no rounding decides which overlap too much.
  void operator()(const op::non_max_suppression& p) {
    source(p.box_dims());
    rewrite([p](std::int64_t i, double v) {
      const bool size = i % 4 > 1;
      const double at = std::floor((v + 1) * (size ? 8 : 32));
      if (p.centred || !size) return at / (size ? 32 : 64);
      return at / 64 + static_cast<double>(random_bits(7, static_cast<std::uint64_t>(i)) % 64) / 64;
    });
    source(p.scores(), dtype::real, {.low = 0, .high = 1});
  }
  void operator()(const op::col2im& p) { source(p.input()); }
  void operator()(const op::deform_conv& p) {
    source(p.input);
    weights(p.weights(), true);
    source(p.offsets(), dtype::real, {.low = -2, .high = 2});
    if (p.bias)
      vector({p.outputs}, accumulated(-0.5, 0.5));
    else if (p.mask)
      absent();
    if (p.mask) source(p.masks(), dtype::real, {.low = 0, .high = 1});
    scale_products();
  }
  /// No place is named twice: the last one to be written would decide.
  void operator()(const op::max_unpool& p) {
    source(p.input);
    add({.dims = p.input, .type = dtype::s64, .part = role::index}, {}, false);
    const std::int64_t room = elements(p.unpooled) / std::max<std::int64_t>(1, elements(p.input));
    rewrite([room](std::int64_t i, double v) {
      return static_cast<double>(i * room + std::abs(static_cast<std::int64_t>(v)) % room);
    });
  }
  void operator()(const op::softmax& p) {
    source(p.input, dtype::real, {.low = -4, .high = 4});
    scale(p.log ? 0.5 : type_ == numeric::u8s8u8 ? 255 : 127);
  }
  void operator()(const op::unary& p) {
    using enum op::unary_function;
    const auto f = p.function;
    draw d{.low = -4, .high = 4};
    if (f == log || f == sqrt) d = {.low = 0.125, .high = 2.125, .whole_low = 1, .code_low = 1};
    if (f == reciprocal) d = {.low = 0.5, .high = 1.5, .whole_low = 1, .code_low = 1};
    if (f == tan) d = {.low = -1.25, .high = 1.25, .code_low = -1, .code_high = 1};
    if (f == asin || f == acos || f == atanh)
      d = {.low = -0.9375, .high = 0.9375, .code_low = 0, .code_high = 0};
    if (f == acosh) d = {.low = 1, .high = 9, .code_low = 1};
    if (f == sinh || f == cosh) d.code_low = -9, d.code_high = 9;
    source(p.input, p.element, d);
    if (op::tells(f)) mark_some();
    if (f == cube) d = {.low = -2, .high = 2};
    const bool bounded = f == sigmoid || f == hard_sigmoid || f == tanh || f == softsign ||
                         f == clip || f == erf || f == sin || f == cos || f == sign ||
                         f == reciprocal;
    scale(bounded ? 100 : f == log ? 32 : f == sqrt ? 8 : 1);
  }
  void operator()(const op::binary& p) {
    using enum op::binary_function;
    const auto f = p.function;
    draw a, b;
    // Few distinct values, or no two elements would ever be equal.
    if (p.comparison()) a = b = {.whole_low = -2, .whole_high = 2, .steps = 8};
    if (f == div) b = {.low = 0.5, .high = 1.5, .whole_low = 1, .code_low = 1};
    // Away from places where a last bit makes the result another one; whole divisors of both signs
    // are made not zero.
    if (f == mod || f == fmod) b = {.low = 0.5, .high = 1.5, .whole_low = 3, .code_low = 3};
    if (f == shift_left || f == shift_right) b = {.whole_low = 0, .whole_high = 7};
    if (f == pow) {
      a = {
          .low = 0.5, .high = 1.5, .whole_low = 1, .whole_high = 4, .code_low = 0, .code_high = 15};
      b = {.low = -2, .high = 2, .whole_low = 0, .whole_high = 3, .code_low = 0, .code_high = 2};
    }
    if (f == prelu) b.code_low = -2, b.code_high = 2;
    source(p.a, p.element, a);
    for (std::int64_t i = 1; i < p.operands; ++i)
      source(p.b, p.element, b);
    const double terms = static_cast<double>(p.operands);
    scale(f == add || f == sum ? 1 / terms
          : f == mul           ? (type_ == numeric::u8s8u8 ? 1 / 256. : 1 / 128.)
          : f == div           ? 16
          : f == prelu         ? 0.5
                               : 1);
  }
  void operator()(const op::reduce& p) {
    using enum op::reduction;
    const double n = static_cast<double>(length_);
    draw d;
    // Whole sums stay inside 31 bits, real products near one.
    d.whole_high =
        std::clamp<std::int64_t>(static_cast<std::int64_t>(std::sqrt(0x1p30 / n)), 1, 100);
    if (p.function == product) {
      const double spread = std::exp2(-std::ceil(std::log2(n) / 2) - 1);
      d = {.low = 1 - spread, .high = 1 + spread, .whole_high = 1};
    }
    d.whole_low = -d.whole_high;
    if (p.function == log_sum) d = {.low = 0.125, .high = 1.125, .code_low = 1};
    source(p.input, p.element, d);
    scale(p.function == sum || p.function == l1 ? power_below(1 / n)
          : p.function == l2                    ? power_below(1 / std::sqrt(n))
          : p.function == sum_square            ? power_below(1 / (n * 255))
          : p.function == log_sum               ? 8
                                                : 1);
  }
  void operator()(const op::cast& p) { source(p.input, p.from, {.low = -100, .high = 100}); }
  void operator()(const op::where& p) {
    source(p.condition, dtype::boolean);
    source(p.x, p.element);
    source(p.y, p.element);
  }
  void operator()(const op::concat& p) {
    for (std::int64_t i = 0; i < p.parts; ++i)
      source(op::part_of(p.whole, p.axis, p.parts, i), p.element);
  }
  void operator()(const op::split& p) { source(p.whole, p.element); }
  void operator()(const op::gather& p) {
    source(p.data, p.element);
    add({.dims = p.indices, .type = p.index, .part = role::index},
        {.whole_low = 0, .whole_high = p.data[p.axis] - 1}, false);
  }
  void operator()(const op::indexing& p) {
    source(p.data, p.element);
    add({.dims = p.indices, .type = p.index, .part = role::index}, {}, false);
    if (filled_) draw_places(p, made_.inputs.back(), seed_);
    draw d;
    if (p.reduction == op::scatter_reduction::mul) d.whole_low = -1, d.whole_high = 1;
    if (p.scatters()) source(p.taken(), p.element, d);
  }
  void operator()(const op::tensor_scatter& p) {
    source(p.cache, p.element);
    source(p.updates(), p.element);
    if (p.offsets)
      add({.dims = {p.cache[0]}, .type = dtype::s64, .part = role::index},
          {.whole_low = 0, .whole_high = p.index_bounds()[0] - 1}, false);
  }
  void operator()(const op::cumulate& p) {
    draw d;
    if (p.product) {
      const double spread = std::exp2(-std::ceil(std::log2(static_cast<double>(length_)) / 2) - 1);
      d = {.low = 1 - spread, .high = 1 + spread, .whole_low = -1, .whole_high = 1};
    }
    source(p.input, p.element, d);
    scale(power_below(1 / std::sqrt(static_cast<double>(length_))));
  }
  /// Few enough distinct values that some are equal.
  void operator()(const op::arg& p) { source(p.input, p.element, {.steps = 1u << 10}); }
  void operator()(const op::top_k& p) { source(p.input, p.element, {.steps = 1u << 10}); }
  void operator()(const op::unique& p) { source(p.input, p.element, {.steps = 1u << 10}); }
  void operator()(const op::compress& p) {
    source(p.input, p.element);
    add({.dims = {p.length}, .type = dtype::boolean, .part = role::index}, {}, false);
    if (filled_) draw_condition(p, made_.inputs.back());
  }
  void operator()(const op::reverse_sequence& p) {
    source(p.input, p.element);
    add({.dims = {p.batch()}, .type = dtype::s64, .part = role::index},
        {.whole_low = std::min<std::int64_t>(p.steps(), 1), .whole_high = p.steps()}, false);
  }
  void operator()(const op::one_hot& p) {
    const std::int64_t last = std::max<std::int64_t>(p.depth - 1, 0);
    add({.dims = p.indices, .type = storage_of(p.index_type(), type_)},
        {.low = 0,
         .high = static_cast<double>(p.depth),
         .whole_low = 0,
         .whole_high = last,
         .code_low = 0,
         .code_high = std::min<std::int64_t>(last, 127)},
        p.index_type() == dtype::real && quantised(type_));
    add({.dims = {}, .type = dtype::s64, .part = role::index},
        {.whole_low = p.depth, .whole_high = p.depth}, false);
    source({2}, p.element);
  }
  void operator()(const op::quantize& p) {
    const bool wide = size_bytes(p.code) > 1, reals = holds_reals(p.code);
    const int bits = static_cast<int>(size_bits(p.code));
    const std::int64_t most = p.code == dtype::s32 ? 100000 : wide ? 30000 : 255;
    source(p.input, p.inverse ? p.code : dtype::real,
           {.low = -4, .high = 4, .whole_low = -most, .whole_high = most});
    // Most of the reals are inside the range of codes.
    scales(p.scales(), reals ? 0.5 : wide ? 0x1p-14 : std::ldexp(1.0, 2 - bits));
    if (p.zero_point) zero_points(p.scales(), p.code, true);
  }
  void operator()(const op::lookup_table& p) {
    codes(p.input, p.element, role::source);
    codes({256}, p.to, role::vector);
  }
  template <class Base>
  void operator()(const op::on_codes<Base>& p) {
    const op::code_places at = p.places();
    const shape b = p.scales_of_b() > 1 ? shape{p.scales_of_b()} : shape{};
    // Results have a deviation of a fifth of the range of codes.
    const double a_scale = 0x1p-6, b_scale = 0x1p-7;
    const double result_scale = p.adds ? 0x1p-4 : a_scale * b_scale * 5 * spread() / 255;
    const bool scaled = p.result_type() == dtype::u8 || p.result_type() == dtype::s8;
    for (int k = 0, count = places_in(p); k < count; ++k)
      if (k == at.a)
        codes(a_dims(p.base), p.a_type(), role::source);
      else if (k == at.b)
        codes(b_dims(p.base), p.b_type(), constant_b(p.base) ? role::weights : role::source);
      else if (k == at.a_scale)
        scales({}, p.adds ? 0x1p-4 : a_scale);
      else if (k == at.b_scale)
        scales(b, p.adds ? 0x1p-5 : b_scale);
      else if (k == at.scale && scaled)
        scales({}, result_scale);
      else if (k == at.a_zero)
        zero_points({}, p.a_type(), p.zero_a);
      else if (k == at.b_zero)
        zero_points(b, p.b_type(), p.zero_b);
      else if (k == at.zero && scaled)
        zero_points({}, p.result_type(), p.zero_result);
      else if (k == at.bias && p.biased())
        sums(bias_dims(p.base), std::llround(spread() / 2));
      else
        absent();
  }
  void operator()(const op::recurrent& p) {
    source(p.input());
    weights(p.input_weights(), true);
    weights(p.state_weights(), true);
    p.bias ? vector(p.biases(), {.low = -0.5, .high = 0.5}) : absent();
    if (p.lengths)
      add({.dims = {p.batch}, .type = dtype::s32, .part = role::index},
          {.whole_low = 1, .whole_high = p.steps}, false);
    else
      absent();
    p.initial_h ? source(p.state()) : absent();
    if (!p.lstm()) return;
    p.initial_c ? source(p.state()) : absent();
    p.peepholes ? vector(p.peephole_weights(), {.low = -0.5, .high = 0.5}) : absent();
  }
  template <class Base>
  void operator()(const op::fused<Base>& p) {
    for (const op::step& s : p.steps)
      positive_ |= !s.joins && of_positives(s.function);
    (*this)(p.base);
    using enum op::binary_function;
    for (const op::step& s : p.steps)
      if (s.joins)
        source(p.operand_of(s), dtype::real,
               s.join == div ? draw{.low = 0.5, .high = 1.5, .whole_low = 1, .code_low = 1}
                             : draw{});
  }
  void operator()(const auto& p) {
    if constexpr (requires { p.element; })
      source(p.input, p.element);
    else
      source(p.input);
  }

private:
  /// Operands of a layer on codes, with those that are not there but before others.
  template <class Base>
  static int places_in(const op::on_codes<Base>& p) {
    const op::code_places at = p.places();
    return std::max({at.a_zero, at.b_zero, at.zero, p.biased() ? at.bias : 0}) + 1;
  }
  static shape a_dims(const op::conv& p) { return p.input; }
  static shape b_dims(const op::conv& p) { return p.weights(); }
  static shape bias_dims(const op::conv& p) { return {p.outputs}; }
  static bool constant_b(const op::conv&) { return true; }
  static shape a_dims(const op::gemm& p) { return p.a_shape(); }
  static shape b_dims(const op::gemm& p) { return p.b_shape(); }
  static shape bias_dims(const op::gemm& p) { return p.c; }
  static bool constant_b(const op::gemm& p) { return p.constant_b; }
  template <class Two>
  static shape a_dims(const Two& p) {
    return p.a;
  }
  template <class Two>
  static shape b_dims(const Two& p) {
    return p.b;
  }
  template <class Two>
  static shape bias_dims(const Two&) {
    return {};
  }
  static bool constant_b(const op::matmul& p) { return p.constant_b; }
  static bool constant_b(const op::binary&) { return false; }
};
} // namespace detail

namespace detail {
inline operands operands_of(const op::layer& l, numeric t, bool filled) {
  operand_maker maker(l, t, filled);
  op::visit(maker, l);
  operands made = maker.take();
  if (!requantises(l, t)) made.output_scale = 1;
  return made;
}
} // namespace detail

BENANZA_INLINE operands make_operands(const op::layer& l, numeric t) {
  return detail::operands_of(l, t, true);
}

BENANZA_INLINE operands describe_operands(const op::layer& l, numeric t) {
  return detail::operands_of(l, t, false);
}

} // namespace benanza::backend
