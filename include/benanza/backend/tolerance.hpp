// SPDX-License-Identifier: Apache-2.0
// Is a result right? Each value may differ from the exact one by
//   allowed = relative * max(|expected|, rms of all expected) + rounding * |expected| + absolute
// with constants by kind of layer, numeric class and reduction length K:
//   movers, comparisons, max pooling, whole numbers: exact
//   quantised classes, codes: absolute 1 (a tie or a last bit); codes that are floats: a place
//   sums of products (f32): relative 2e-5 + 1e-6 sqrt(K); Winograd passes
//   other sums (f32): relative 2e-6 + 1e-6 sqrt(K); interpolation: 2^-23 of the longest side more,
//   because a place is rounded before it becomes weights
//   exponentials, logarithms and the like (f32): relative and absolute 1e-5
//   softmax (f32): relative 1e-5 + 1.2e-7 sqrt(K), its sum being kept in f32
//   normalizations by their own deviation, recurrent layers (f32): relative and absolute 1e-5 +
//   1e-6 sqrt(K) attention: as sums of products, its weights being rounded to the case's type
//   narrow floats: rounding of half a place of the result, and slack
//   all that rounds: absolute 2^-125, below which libraries may have zero
// A NaN fails, and so does an infinity where none is expected.
#pragma once

#include "../op/kinds.hpp"
#include "operands.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace benanza::backend {

/// Outcome of a comparison.
struct verdict {
  bool ok = true;
  double worst = 0;       ///< largest |difference| / allowed; infinite where nothing is allowed
  std::int64_t where = 0; ///< place of the worst value in what was compared
};

/// A wrong value in words, with all digits that an f32 has.
inline std::string what_differs(std::int64_t position, double got, double expected,
                                const verdict& v) {
  char text[128];
  std::snprintf(text, sizeof text,
                "output %lld is %.9g and should be %.9g (%.3g times the tolerance)",
                static_cast<long long>(position), got, expected, v.worst);
  return text;
}

/// How far a value may be from the exact one; see the formula above.
struct tolerance {
  double relative = 0, rounding = 0, absolute = 0;
};

namespace detail {

/// What limits a layer's accuracy.
enum class accuracy {
  exact,
  codes,
  rounded,
  summed,
  products,
  transcendental,
  normalised,
  deviation
};

struct accuracy_kinds {
  accuracy operator()(const op::conv&) const { return accuracy::products; }
  accuracy operator()(const op::conv_transpose&) const { return accuracy::products; }
  accuracy operator()(const op::conv_weight_gradient&) const { return accuracy::products; }
  accuracy operator()(const op::gemm&) const { return accuracy::products; }
  accuracy operator()(const op::matmul&) const { return accuracy::products; }
  accuracy operator()(const op::pool& p) const {
    return p.maximum() ? accuracy::exact : p.norm() ? accuracy::transcendental : accuracy::summed;
  }
  accuracy operator()(const op::grid_sample& p) const {
    return p.mode == op::interpolation::nearest ? accuracy::exact : accuracy::summed;
  }
  accuracy operator()(const op::affine_grid&) const { return accuracy::summed; }
  accuracy operator()(const op::roi_align&) const { return accuracy::summed; }
  accuracy operator()(const op::col2im&) const { return accuracy::summed; }
  accuracy operator()(const op::deform_conv&) const { return accuracy::products; }
  accuracy operator()(const op::dft&) const { return accuracy::products; }
  accuracy operator()(const op::det&) const { return accuracy::products; }
  accuracy operator()(const op::batch_norm&) const { return accuracy::summed; }
  accuracy operator()(const op::lrn&) const { return accuracy::transcendental; }
  accuracy operator()(const op::layer_norm&) const { return accuracy::deviation; }
  accuracy operator()(const op::rms_norm&) const { return accuracy::deviation; }
  template <class Norm>
  accuracy operator()(const op::residual<Norm>&) const {
    return accuracy::deviation;
  }
  accuracy operator()(const op::group_norm&) const { return accuracy::deviation; }
  accuracy operator()(const op::instance_norm&) const { return accuracy::deviation; }
  accuracy operator()(const op::attention&) const { return accuracy::products; }
  accuracy operator()(const op::matmul_nbits&) const { return accuracy::products; }
  accuracy operator()(const op::matmul_ggml&) const { return accuracy::products; }
  accuracy operator()(const op::gather_ggml&) const { return accuracy::rounded; }
  accuracy operator()(const op::linear_attention&) const { return accuracy::products; }
  accuracy operator()(const op::tf_idf& p) const {
    return p.weighs() ? accuracy::summed : accuracy::exact;
  }
  accuracy operator()(const op::rotary&) const { return accuracy::summed; }
  accuracy operator()(const op::quantize& p) const {
    return p.inverse ? accuracy::rounded : accuracy::codes;
  }
  accuracy operator()(const op::dynamic_quantize&) const { return accuracy::codes; }
  accuracy operator()(const op::lookup_table&) const { return accuracy::exact; }
  accuracy operator()(const op::recurrent&) const { return accuracy::deviation; }
  template <class Base>
  accuracy operator()(const op::on_codes<Base>& p) const {
    if (p.integer) return accuracy::exact;
    return p.result_type() == dtype::real ? accuracy::products : accuracy::codes;
  }
  accuracy operator()(const op::softmax& p) const {
    return p.log ? accuracy::transcendental : accuracy::normalised;
  }
  accuracy operator()(const op::unary& p) const {
    using enum op::unary_function;
    switch (p.function) {
    case relu:
    case abs:
    case neg:
    case floor:
    case ceil:
    case round:
    case sign:
    case logical_not:
    case is_nan:
    case is_inf:
    case bitwise_not:
    case thresholded_relu: return accuracy::exact;
    case leaky_relu:
    case clip:
    case reciprocal:
    case softsign:
    case square:
    case cube:
    case shrink:
    case sqrt: return accuracy::rounded;
    case hard_sigmoid:
    case hard_swish: return accuracy::summed;
    default: return accuracy::transcendental;
    }
  }
  accuracy operator()(const op::binary& p) const {
    using enum op::binary_function;
    if (p.truth() || op::of_bits(p.function)) return accuracy::exact;
    if (p.element != dtype::real && p.element != dtype::f32 && p.element != dtype::f64)
      return accuracy::exact;
    switch (p.function) {
    case min:
    case max: return accuracy::exact;
    case pow: return accuracy::transcendental;
    case mul:
    case div:
    case prelu: return accuracy::rounded;
    default: return accuracy::summed;
    }
  }
  accuracy operator()(const op::reduce& p) const {
    using enum op::reduction;
    if (p.element != dtype::real && p.element != dtype::f32 && p.element != dtype::f64)
      return accuracy::exact;
    if (p.function == max || p.function == min) return accuracy::exact;
    return p.function == log_sum || p.function == log_sum_exp ? accuracy::transcendental
                                                              : accuracy::summed;
  }
  accuracy operator()(const op::indexing& p) const {
    const bool combines =
        p.reduction == op::scatter_reduction::add || p.reduction == op::scatter_reduction::mul;
    return combines && real(p.element) ? accuracy::summed : accuracy::exact;
  }
  accuracy operator()(const op::cumulate& p) const {
    return real(p.element) ? accuracy::summed : accuracy::exact;
  }
  accuracy operator()(const op::cast& p) const {
    return p.to == dtype::real ? accuracy::rounded : accuracy::exact;
  }
  accuracy operator()(const op::resize& p) const {
    return p.mode == op::interpolation::nearest ? accuracy::exact : accuracy::summed;
  }
  /// The largest of its parts': what joins and steps add is little.
  template <class Base>
  accuracy operator()(const op::fused<Base>& p) const {
    accuracy worst = (*this)(p.base);
    for (const op::step& s : p.steps) {
      const accuracy its = s.joins ? (*this)(op::binary{.function = s.join})
                                   : (*this)(op::unary{.function = s.function});
      worst = std::max(worst, its);
    }
    return worst;
  }
  accuracy operator()(const auto&) const { return accuracy::exact; }
  static bool real(dtype d) { return d == dtype::real || d == dtype::f32 || d == dtype::f64; }
};
} // namespace detail

namespace detail {
/// The longest side that places are counted along, of a layer that interpolates; else 0.
inline std::int64_t interpolated_side(const op::layer& l) {
  std::int64_t most = 0;
  if (const auto* r = op::as<op::resize>(l))
    for (int i = 0; i < r->input.size; ++i)
      if (r->input[i] != r->sizes[i]) most = std::max(most, r->input[i]);
  if (const auto* g = op::as<op::grid_sample>(l))
    for (int i = 2; i < g->input.size; ++i)
      most = std::max(most, g->input[i]);
  return most;
}
} // namespace detail

/// The tolerance of a layer's result that is stored as `stored`, in a numeric class.
inline tolerance tolerance_of(const op::layer& l, numeric t, dtype stored) {
  using detail::accuracy;
  const accuracy kind = op::visit(detail::accuracy_kinds{}, l);
  const double root = std::sqrt(static_cast<double>(reduction_length(l)));
  tolerance allowed;
  switch (kind) {
  case accuracy::exact: return allowed;
  case accuracy::codes: // a scale comes with them
    if (stored == dtype::f32) return {.rounding = 1e-6};
    if (stored == dtype::e4m3 || stored == dtype::e4m3z)
      return {.rounding = 0x1p-3, .absolute = 0x1p-9};
    if (stored == dtype::e5m2 || stored == dtype::e5m2z)
      return {.rounding = 0x1p-2, .absolute = 0x1p-16};
    if (stored == dtype::e2m1) return {.rounding = 0x1p-1, .absolute = 0.5};
    return {.absolute = 1 + 1e-9};
  case accuracy::rounded: allowed.rounding = 1e-6; break;
  case accuracy::summed:
    allowed.relative = 2e-6 + 1e-6 * root;
    allowed.relative += 0x1p-23 * static_cast<double>(detail::interpolated_side(l));
    break;
  case accuracy::products: allowed.relative = 2e-5 + 1e-6 * root; break;
  case accuracy::transcendental: allowed.relative = allowed.absolute = 1e-5; break;
  case accuracy::normalised: allowed.relative = 1e-5 + 1.2e-7 * root; break;
  case accuracy::deviation: allowed.relative = allowed.absolute = 1e-5 + 1e-6 * root; break;
  }
  // Numbers below the normal ones of f32 are flushed to zero by vector instructions' modes, and by
  // exponentials that end before them. A softmax of logits that are 90 and more apart has many:
  // each is right to its own last places, down to these, however far the logits are apart, because
  // it is checked on the logits that the layer read.
  allowed.absolute += 0x1p-125;
  const bool further = stored != result_type(l, t); // a result behind the first
  if (further && stored != dtype::f32 && stored != result_of(t)) return {};
  if (quantised(t) && requantises(l, t) && !further) return {.absolute = 1 + 1e-9};
  if (stored != result_of(t)) return allowed;
  const bool sums = kind != accuracy::rounded;
  // Half a place of the result: 11, 8 and 4 significant bits.
  if (t == numeric::f16) allowed.rounding += 0x1p-11, allowed.absolute += 0x1p-24;
  if (t == numeric::bf16) allowed.rounding += 0x1p-8;
  if (t == numeric::e4m3) allowed.rounding += 0x1p-4, allowed.absolute += 0x1p-9;
  // A softmax keeps its exponentials in the result's type between passes, and rounds them twice.
  if (op::is<op::softmax>(l)) allowed.rounding *= 2;
  // Slack for partial sums that are kept narrow; TF32 narrows its sources to 11 bits.
  if (t == numeric::f16 && sums) allowed.relative += 0x1p-10;
  if (t == numeric::bf16 && sums) allowed.relative += 0x1p-10;
  if (t == numeric::tf32 && kind == accuracy::products) allowed.relative += 0x1p-8;
  // Each weight is off by up to half a place; like the values it weighs, they add up at random.
  if (op::is<op::attention>(l)) {
    if (t == numeric::bf16) allowed.relative += 0x1p-7;
    if (t == numeric::e4m3) allowed.relative += 0x1.8p-3;
  }
  // A state is rounded at every step.
  if (t == numeric::bf16 && op::is<op::recurrent>(l)) allowed.relative += 0x1p-6;
  return allowed;
}

inline tolerance tolerance_of(const op::layer& l, numeric t) {
  return tolerance_of(l, t, result_type(l, t));
}

namespace detail {
/// The root of the mean square of what is finite.
inline double root_mean_square(std::span<const double> expected) {
  double squares = 0, finite = 0;
  for (double v : expected)
    if (std::isfinite(v)) squares += v * v, finite += 1;
  return finite > 0 ? std::sqrt(squares / finite) : 0;
}

inline double limit_at(const tolerance& allowed, double expected, double rms) {
  return allowed.relative * std::max(std::fabs(expected), rms) +
         allowed.rounding * std::fabs(expected) + allowed.absolute;
}

inline verdict compare_as(const tolerance& allowed, std::span<const double> expected,
                          std::span<const double> got) {
  constexpr double infinite = std::numeric_limits<double>::infinity();
  const double rms = root_mean_square(expected);
  verdict out;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double e = expected[i], g = got[i];
    if (e == g) continue;
    const double limit = limit_at(allowed, e, rms);
    const double difference = std::fabs(e - g);
    const bool comparable = std::isfinite(e) && std::isfinite(g);
    const double ratio = comparable && limit > 0 ? difference / limit : infinite;
    if (ratio > out.worst) {
      out.worst = ratio;
      out.where = static_cast<std::int64_t>(i);
    }
  }
  out.ok = out.worst <= 1;
  return out;
}

inline void check_sizes(const op::layer& l, std::size_t a, std::size_t b) {
  if (a != b) throw error("a result has another number of values than expected", op::name(l));
}
} // namespace detail

/// Compares values of the first result with the exact ones at the same positions.
inline verdict compare(const op::layer& l, numeric t, std::span<const double> expected,
                       std::span<const double> got) {
  detail::check_sizes(l, expected.size(), got.size());
  return detail::compare_as(tolerance_of(l, t), expected, got);
}

namespace detail {
/// Calls `f(result, begin, end)` for the run of ascending positions that are in each result.
template <class F>
void for_each_result(const op::layer& l, numeric t, std::span<const std::int64_t> positions, F f) {
  std::size_t at = 0;
  for (const placed_result& r : results_of(l, t)) {
    const std::size_t begin = at;
    while (at < positions.size() && positions[at] < r.first + r.count())
      ++at;
    f(r, begin, at);
  }
}
} // namespace detail

/// Compares values of all results with the exact ones at the same positions, which ascend.
inline verdict compare(const op::layer& l, numeric t, std::span<const std::int64_t> positions,
                       std::span<const double> expected, std::span<const double> got) {
  detail::check_sizes(l, expected.size(), got.size());
  detail::check_sizes(l, expected.size(), positions.size());
  verdict worst;
  detail::for_each_result(l, t, positions,
                          [&](const placed_result& r, std::size_t begin, std::size_t end) {
                            verdict v = detail::compare_as(tolerance_of(l, t, r.type),
                                                           expected.subspan(begin, end - begin),
                                                           got.subspan(begin, end - begin));
                            v.where += static_cast<std::int64_t>(begin);
                            if (v.worst > worst.worst) worst = v;
                          });
  return worst;
}

/// How far each of these values may be from the exact one, as `compare` judges them.
inline std::vector<double> limits(const op::layer& l, numeric t,
                                  std::span<const std::int64_t> positions,
                                  std::span<const double> expected) {
  detail::check_sizes(l, expected.size(), positions.size());
  std::vector<double> out(expected.size());
  detail::for_each_result(
      l, t, positions, [&](const placed_result& r, std::size_t begin, std::size_t end) {
        const tolerance allowed = tolerance_of(l, t, r.type);
        const double rms = detail::root_mean_square(expected.subspan(begin, end - begin));
        for (std::size_t i = begin; i < end; ++i)
          out[i] = detail::limit_at(allowed, expected[i], rms);
      });
  return out;
}

} // namespace benanza::backend
