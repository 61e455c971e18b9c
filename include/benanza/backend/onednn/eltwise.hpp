// SPDX-License-Identifier: Apache-2.0
// Elementwise layers for oneDNN. One operand: a flat row, since no layout matters. Two: the operand
// that repeats is second (commutative functions swap for it), dims are merged so that the library's
// fast kernels for a scalar, a row and a channel are found. Sum and Mean of more operands are its
// sum primitive.
//
//   describe(op::binary{.a = {1, 64, 56, 56}, .b = {1, 64, 1, 1}}, request, out);
#pragma once

#include "broadcast.hpp"
#include "recipe.hpp"

#include "../../op/eltwise.hpp"

namespace benanza::backend::onednn {

namespace detail {
struct eltwise_kind {
  dnnl::algorithm how;
  double alpha = 0, beta = 0;
};

inline std::optional<eltwise_kind> eltwise_of(op::unary_function f) {
  using how = dnnl::algorithm;
  using op::unary_function;
  switch (f) {
  case unary_function::relu: return eltwise_kind{how::eltwise_relu};
  case unary_function::leaky_relu: return eltwise_kind{how::eltwise_relu, attribute::leaky_slope};
  case unary_function::elu: return eltwise_kind{how::eltwise_elu, attribute::elu_alpha};
  case unary_function::celu:
    // max(0, x) + min(0, a (exp(x / a) - 1)) is Elu for a = 1 only.
    if (attribute::celu_alpha != 1) return std::nullopt;
    return eltwise_kind{how::eltwise_elu, attribute::celu_alpha};
  case unary_function::sigmoid: return eltwise_kind{how::eltwise_logistic};
  // oneDNN 2 has no parameters here, and 3 has those of ONNX's function.
  case unary_function::hard_swish: return eltwise_kind{how::eltwise_hardswish, 1.0 / 6, 0.5};
  case unary_function::tanh: return eltwise_kind{how::eltwise_tanh};
  case unary_function::softplus: return eltwise_kind{how::eltwise_soft_relu, 1};
  case unary_function::mish: return eltwise_kind{how::eltwise_mish};
  case unary_function::swish: return eltwise_kind{how::eltwise_swish, 1};
  case unary_function::gelu: return eltwise_kind{how::eltwise_gelu_erf};
  case unary_function::fast_gelu: return eltwise_kind{how::eltwise_gelu_tanh};
  case unary_function::clip:
    return eltwise_kind{how::eltwise_clip, attribute::clip_low, attribute::clip_high};
  case unary_function::exp: return eltwise_kind{how::eltwise_exp};
  case unary_function::log: return eltwise_kind{how::eltwise_log};
  case unary_function::sqrt: return eltwise_kind{how::eltwise_sqrt};
  case unary_function::abs: return eltwise_kind{how::eltwise_abs};
  case unary_function::neg: return eltwise_kind{how::eltwise_linear, -1, 0};
  case unary_function::reciprocal: return eltwise_kind{how::eltwise_pow, 1, -1};
  case unary_function::square: return eltwise_kind{how::eltwise_square};
  case unary_function::cube: return eltwise_kind{how::eltwise_pow, 1, 3};
  case unary_function::round: return eltwise_kind{how::eltwise_round};
  default: return std::nullopt;
  }
}

/// Adds a function to what is done on a result: those that the library lacks are two of its own.
inline bool append_function(op::unary_function f, dnnl::post_ops& to) {
  using how = dnnl::algorithm;
  const auto add = [&to](how h, double alpha, double beta, double scale = 1) {
    version::append_eltwise(to, h, static_cast<float>(alpha), static_cast<float>(beta),
                            static_cast<float>(scale));
    return true;
  };
  if (const auto kind = eltwise_of(f)) return add(kind->how, kind->alpha, kind->beta);
  switch (f) {
  case op::unary_function::hard_sigmoid:
    add(how::eltwise_linear, attribute::hard_sigmoid_alpha, attribute::hard_sigmoid_beta);
    return add(how::eltwise_clip, 0, 1);
  case op::unary_function::selu:
    return add(how::eltwise_elu, attribute::selu_alpha, 0, attribute::selu_gamma);
  default: return false;
  }
}

/// The function, and the one that gives the same with its operands swapped.
struct binary_kind {
  dnnl::algorithm how;
  std::optional<dnnl::algorithm> swapped{};
  bool scales_first = false, scales_second = false; ///< operands that take the output scale
};

inline std::optional<binary_kind> binary_of(op::binary_function f) {
  using how = dnnl::algorithm;
  using op::binary_function;
  switch (f) {
  case binary_function::sum:
  case binary_function::add: return binary_kind{how::binary_add, how::binary_add, true, true};
  case binary_function::sub: return binary_kind{how::binary_sub, {}, true, true};
  case binary_function::mul: return binary_kind{how::binary_mul, how::binary_mul, true, false};
  case binary_function::div: return binary_kind{how::binary_div, {}, true, false};
  case binary_function::min: return binary_kind{how::binary_min, how::binary_min, true, true};
  case binary_function::max: return binary_kind{how::binary_max, how::binary_max, true, true};
  case binary_function::equal: return binary_kind{how::binary_eq, how::binary_eq};
  case binary_function::greater: return binary_kind{how::binary_gt, how::binary_lt};
  case binary_function::greater_or_equal: return binary_kind{how::binary_ge, how::binary_le};
  case binary_function::less: return binary_kind{how::binary_lt, how::binary_gt};
  case binary_function::less_or_equal: return binary_kind{how::binary_le, how::binary_ge};
  default: return std::nullopt;
  }
}

inline bool has_fast_one(const recipe& r, const request& q) {
  const auto list = implementations(r.what, q.engine);
  return std::any_of(list.begin(), list.end(), [](const implementation& i) {
    return !std::strstr(i.impl_info_str(), "ref");
  });
}

/// Chooses, among equal ways to write the same broadcast, the first for which the library has more
/// than its reference loop; the plain way if there is none.
template <class Make>
void describe_broadcast(const std::vector<piece>& pieces, const request& r, recipes& out,
                        Make make) {
  std::optional<recipe> chosen;
  for (const std::size_t leading : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
    recipe made = make(broadcast_dims(pieces, leading));
    const bool fast = has_fast_one(made, r);
    if (fast || !chosen) chosen = std::move(made);
    if (fast) break;
  }
  out.push_back(std::move(*chosen));
}

/// Sum and Mean of operands of one shape.
inline void describe_sum(const op::binary& b, const request& r, recipes& out) {
  const auto count = static_cast<std::size_t>(b.operands);
  const description flat = dense({elements(b.a)}, r.types.source);
  recipe made{.result = flat, .letters = "a", .before = "sum:", .scales = true, .flat = true};
  for (std::size_t i = 0; i < count; ++i)
    made.arguments.push_back({.id = DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i),
                              .input = static_cast<int>(i),
                              .stored = flat,
                              .letters = i == 0 ? "a" : ""});
  const double scale =
      (b.function == op::binary_function::mean ? 1.0 / static_cast<double>(count) : 1.0) *
      (r.scaled() ? r.output_scale : 1.0);
  made.what = operation::sum(flat, std::vector<float>(count, static_cast<float>(scale)),
                             std::vector<description>(count, flat), r.engine, r.attributes());
  out.push_back(std::move(made));
}

/// PRelu: the slopes repeat, or have the operand's own dims.
inline void describe_prelu(const op::binary& b, const request& r, recipes& out) {
  const std::vector<piece> pieces = pieces_of(b.a, b.b);
  if (repeats(pieces, extent::second) || !r.floating()) return;
  describe_broadcast(pieces, r, out, [&](const broadcast_dims& d) {
    const description data = dense(d.first, r.types.source),
                      slopes = dense(d.second, r.types.source);
    recipe made{.result = dense(d.result, r.types.result), .letters = "abcdef"};
    made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = data, .letters = "abcdef"},
                      {.id = DNNL_ARG_WEIGHTS, .input = 1, .stored = slopes, .letters = "abcdef"}};
    made.what = operation::prelu(data, slopes, r.attributes());
    return made;
  });
}
} // namespace detail

inline void describe(const op::unary& u, const request& r, recipes& out) {
  const auto kind = detail::eltwise_of(u.function);
  if (!kind || u.element != dtype::real) return;
  // Other functions would need an output scale in eight bits, which the library does not have here.
  using op::unary_function;
  const auto f = u.function;
  const bool stays = f == unary_function::relu || f == unary_function::leaky_relu ||
                     f == unary_function::abs || f == unary_function::neg;
  if (!r.floating() && !stays) return;
  const description flat = dense({elements(u.input)}, r.types.source);
  recipe made{.result = flat, .letters = "a", .flat = true};
  made.arguments = {{.id = DNNL_ARG_SRC, .input = 0, .stored = flat, .letters = "a"}};
  made.what = operation::eltwise(kind->how, flat, static_cast<float>(kind->alpha),
                                 static_cast<float>(kind->beta), r.attributes());
  out.push_back(std::move(made));
}

inline void describe(const op::binary& b, const request& r, recipes& out) {
  if (b.element != dtype::real || b.operands < 2) return;
  if (b.function == op::binary_function::prelu) return detail::describe_prelu(b, r, out);
  const bool adds =
      b.function == op::binary_function::sum || b.function == op::binary_function::mean;
  std::vector<piece> pieces = pieces_of(b.a, b.b);
  const bool pair = detail::binary_of(b.function) && b.operands == 2;
  if (pair) {
    detail::binary_kind kind = *detail::binary_of(b.function);
    bool swap = false;
    if (repeats(pieces, extent::second)) {
      // Only a reference loop repeats the first operand.
      if (repeats(pieces, extent::first) || !kind.swapped) return;
      swap = true;
      kind.how = *kind.swapped;
      for (piece& p : pieces)
        if (p.who == extent::second) p.who = extent::first;
    }
    dnnl::primitive_attr attributes = r.attributes();
    run_time_values given;
    const auto scale = static_cast<float>(r.output_scale);
    if (r.scaled() && kind.scales_first)
      version::scale_operand(attributes, DNNL_ARG_SRC_0, scale, given);
    if (r.scaled() && kind.scales_second)
      version::scale_operand(attributes, DNNL_ARG_SRC_1, scale, given);
    detail::describe_broadcast(pieces, r, out, [&](const broadcast_dims& d) {
      const description first = dense(d.first, r.types.source),
                        second = dense(d.second, r.types.source);
      recipe made{.result = dense(d.result, b.comparison() ? data_type::u8 : r.types.result),
                  .letters = "abcdef",
                  .given = given,
                  .scales = kind.scales_first,
                  .flat = b.a == b.b};
      made.arguments = {
          {.id = DNNL_ARG_SRC_0, .input = swap ? 1 : 0, .stored = first, .letters = "abcdef"},
          {.id = DNNL_ARG_SRC_1, .input = swap ? 0 : 1, .stored = second, .letters = "abcdef"}};
      if (adds) made.before = "binary:";
      made.what = operation::binary(kind.how, first, second, made.result, attributes);
      return made;
    });
  }
  if (adds && b.a == b.b) detail::describe_sum(b, r, out);
}

} // namespace benanza::backend::onednn
