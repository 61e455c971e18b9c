// SPDX-License-Identifier: Apache-2.0
// How are the sums inside Softmax, LayerNormalization and RMSNormalization asked for as products?
// As calls of the library, one behind the other, for as many rows as the caches hold: what is to be
// added up (exponentials less the row's maximum; elements, then squares of differences from their
// mean) is written, and multiplied by ones (ones.hpp); then the rows are divided. Offered beside
// the library's own, an algorithm for each implementation of the product.
//
//   Softmax:             m = max x,   y = exp(x - m),   s = y 1,   y = y / s
//   LayerNormalization:  m = x 1 / n,   y = (x - m)^2,   f = (y 1 / n + e)^-1/2,
//                        z = x - m,   z = z f,   z = z scale,   y = z + bias
//
//   for (const ones_rows_offer& o : ones_rows_offers(layer, numeric::f32, {.threads = 1}, engine))
//     o.what.id;   // "ones:matmul:brg:avx512_core"
#pragma once

#include "../../op/layer_norm.hpp"
#include "../../op/softmax.hpp"
#include "enumerate.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace benanza::backend::onednn {

/// What the calls of a layer read and write.
enum class rows_place {
  source,  ///< some rows of the operand
  result,  ///< the same rows of the result
  wide,    ///< as many rows, in f32
  largest, ///< a number for each row, in the operand's type
  first,   ///< and in f32
  second,
  scale, ///< the layer's parameters
  bias,
  ones
};

/// One call of the library.
struct rows_call {
  implementation how{};
  std::vector<std::pair<int, rows_place>> arguments{};
};

/// One algorithm of a layer, with its calls in their order.
struct ones_rows_offer {
  algorithm what{};
  std::vector<rows_call> calls{};
  std::size_t product = 0; ///< number of the call after which the algorithm is named
  std::int64_t rows = 0, length = 0;
  std::int64_t at_once = 0; ///< rows of each call
  data_type type = data_type::f32;

  description rows_of(data_type t) const { return dense({at_once, length}, t); }
  description column(data_type t) const { return dense({at_once, 1}, t); }
  description described(rows_place p) const {
    switch (p) {
    case rows_place::wide: return rows_of(data_type::f32);
    case rows_place::largest: return column(type);
    case rows_place::first:
    case rows_place::second: return column(data_type::f32);
    case rows_place::scale:
    case rows_place::bias: return dense({1, length}, data_type::f32);
    default: return rows_of(type);
    }
  }
};

namespace detail {

/// Elements whose rows, operand, result and what lies between them, stay in half of a second-level
/// cache.
inline constexpr std::int64_t elements_at_once = 48 * 1024;

/// Puts the calls of one algorithm together. `product` is "matmul" or "inner_product".
class ones_rows_maker {
public:
  ones_rows_maker(ones_rows_offer& to, const dnnl::engine& engine)
      : to_(to)
      , engine_(engine) {}

  /// False from the first call on that the library has nothing for, or a reference loop alone.
  explicit operator bool() const { return whole_; }

  void most() {
    call(operation::reduction(dnnl::algorithm::reduction_max, to_.described(rows_place::source),
                              to_.described(rows_place::largest), 0, attributes({})),
         {{DNNL_ARG_SRC, rows_place::source}, {DNNL_ARG_DST, rows_place::largest}});
  }
  /// What further steps are to read, in f32, and where the last of them is to write: some
  /// implementations want all but their second operand in one type.
  rows_place widened() {
    if (to_.type == data_type::f32) return rows_place::source;
    convert(rows_place::source, rows_place::wide);
    return rows_place::wide;
  }
  void last(dnnl::algorithm how, rows_place a, rows_place b) {
    if (to_.type == data_type::f32) return combine(how, a, b, rows_place::result);
    combine(how, a, b, rows_place::wide);
    convert(rows_place::wide, rows_place::result);
  }
  /// result = how(a, b), and what follows.
  void combine(dnnl::algorithm how, rows_place a, rows_place b, rows_place result,
               const dnnl::post_ops& after = {}) {
    call(operation::binary(how, to_.described(a), to_.described(b), to_.described(result),
                           attributes(after)),
         {{DNNL_ARG_SRC_0, a}, {DNNL_ARG_SRC_1, b}, {DNNL_ARG_DST, result}});
  }
  /// The product's implementations; the operand is `a`, the sums go to `result`.
  std::vector<implementation> products(const std::string& kind, rows_place a,
                                       const dnnl::post_ops& after) const {
    const bool matmul = kind == "matmul";
    const description from = to_.described(a), sums = to_.column(data_type::f32),
                      ones =
                          any_layout(matmul ? dims{to_.length, 1} : dims{1, to_.length}, to_.type);
    return implementations(matmul
                               ? operation::matmul(from, ones, {}, sums, attributes(after))
                               : operation::inner_product(from, ones, {}, sums, attributes(after)),
                           engine_);
  }
  void add_up(implementation how, rows_place a, rows_place result) {
    to_.product = to_.calls.size();
    to_.calls.push_back(
        {std::move(how),
         {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, rows_place::ones}, {DNNL_ARG_DST, result}}});
  }
  /// By the implementation of that name.
  void add_up(const std::string& kind, const std::string& its_name, rows_place a, rows_place result,
              const dnnl::post_ops& after = {}) {
    for (implementation& i : products(kind, a, after))
      if (plain_name(i.impl_info_str()) == its_name) return add_up(std::move(i), a, result);
    whole_ = false;
  }

private:
  void convert(rows_place a, rows_place result) {
    call(operation::reorder(to_.described(a), to_.described(result), engine_, attributes({})),
         {{DNNL_ARG_FROM, a}, {DNNL_ARG_TO, result}});
  }
  static dnnl::primitive_attr attributes(const dnnl::post_ops& after) {
    request r;
    r.after = after;
    return r.attributes();
  }
  void call(const operation& what, std::vector<std::pair<int, rows_place>> arguments) {
    std::vector<implementation> all = implementations(what, engine_);
    whole_ = whole_ && !all.empty() &&
             std::string_view(all[0].impl_info_str()).find("ref") == std::string_view::npos;
    if (whole_) to_.calls.push_back({std::move(all[0]), std::move(arguments)});
  }

  ones_rows_offer& to_;
  const dnnl::engine& engine_;
  bool whole_ = true;
};

inline dnnl::post_ops then(dnnl::algorithm how, float alpha = 0, float beta = 0) {
  dnnl::post_ops after;
  version::append_eltwise(after, how, alpha, beta);
  return after;
}

/// The calls of each layer. `kind` and `its_name` say which product adds up.
inline void describe_rows(const op::softmax& p, const std::string& kind,
                          const std::string& its_name, ones_rows_offer&, ones_rows_maker& to) {
  using enum rows_place;
  using how = dnnl::algorithm;
  to.most();
  to.combine(how::binary_sub, source, largest, result, then(how::eltwise_exp));
  if (!p.log) {
    to.add_up(kind, its_name, result, first);
    return to.combine(how::binary_div, result, first, result);
  }
  // Two differences: a large maximum would swallow the logarithm.
  to.add_up(kind, its_name, result, first, then(how::eltwise_log));
  to.combine(how::binary_sub, to.widened(), largest, wide);
  to.last(how::binary_sub, wide, first);
}

/// f = (sum of `result` / n + epsilon)^-1/2
inline void invert_deviation(const std::string& kind, const std::string& its_name,
                             const ones_rows_offer& o, ones_rows_maker& to) {
  using how = dnnl::algorithm;
  dnnl::post_ops after = then(how::eltwise_linear, 1 / static_cast<float>(o.length),
                              static_cast<float>(attribute::epsilon));
  version::append_eltwise(after, how::eltwise_pow, 1, -0.5f);
  to.add_up(kind, its_name, rows_place::result, rows_place::second, after);
}

inline void describe_rows(const op::layer_norm& p, const std::string& kind,
                          const std::string& its_name, ones_rows_offer& o, ones_rows_maker& to) {
  using enum rows_place;
  using how = dnnl::algorithm;
  to.add_up(kind, its_name, source, first,
            then(how::eltwise_linear, 1 / static_cast<float>(o.length)));
  // Differences from the mean: where it is large, squares of the elements would lose the rest.
  to.combine(how::binary_sub, source, first, result, then(how::eltwise_square));
  invert_deviation(kind, its_name, o, to);
  // One step a call: parameters as further steps of the first take longer than calls of their own.
  to.combine(how::binary_sub, to.widened(), first, wide);
  to.combine(how::binary_mul, wide, second, wide);
  if (!p.bias) return to.last(how::binary_mul, wide, scale);
  to.combine(how::binary_mul, wide, scale, wide);
  to.last(how::binary_add, wide, bias);
}

inline void describe_rows(const op::rms_norm&, const std::string& kind, const std::string& its_name,
                          ones_rows_offer& o, ones_rows_maker& to) {
  using enum rows_place;
  using how = dnnl::algorithm;
  to.combine(how::binary_mul, source, source, result);
  invert_deviation(kind, its_name, o, to);
  to.combine(how::binary_mul, to.widened(), second, wide);
  to.last(how::binary_mul, wide, scale);
}

/// Rows, and elements of a row; no rows where the layer is none of rows that lie in one piece.
inline std::pair<std::int64_t, std::int64_t> rows_in(const op::softmax& p) {
  if (elements(p.input, p.axis + 1, p.input.size) != 1) return {0, 0};
  return {elements(p.input, 0, p.axis), p.input[p.axis]};
}
inline std::pair<std::int64_t, std::int64_t> rows_in(const op::layer_norm& p) {
  return {p.statistics ? 0 : elements(p.input, 0, p.axis), p.row()};
}
inline std::pair<std::int64_t, std::int64_t> rows_in(const op::rms_norm& p) {
  return {elements(p.input, 0, p.axis), p.row()};
}

template <class Layer>
void offer_ones_rows(const Layer& p, numeric t, const setting& s, const dnnl::engine& engine,
                     std::vector<ones_rows_offer>& out) {
  const auto [rows, length] = rows_in(p);
  if (rows * length == 0) return;
  use_threads(s.threads);
  ones_rows_offer begun{.rows = rows, .length = length, .type = *storage(dtype::real, t)};
  const std::int64_t fitting = std::max<std::int64_t>(1, s.threads * elements_at_once / length);
  const std::int64_t parts = (rows + fitting - 1) / fitting;
  begun.at_once = (rows + parts - 1) / parts;
  for (const std::string kind : {"matmul", "inner_product"})
    for (const implementation& i :
         ones_rows_maker(begun, engine).products(kind, rows_place::result, {})) {
      const std::string text = plain_name(i.impl_info_str());
      ones_rows_offer o = begun;
      o.what.id = "ones:" + kind + ':' + text;
      if (std::any_of(out.begin(), out.end(),
                      [&](const ones_rows_offer& other) { return other.what.id == o.what.id; }))
        continue;
      ones_rows_maker maker(o, engine);
      describe_rows(p, kind, text, o, maker);
      if (!maker) continue;
      o.what.equivalence = std::string(name(t));
      o.what.layouts = o.what.operand_layouts = o.what.result_layout =
          std::string(name(layout::plain));
      o.what.fallback = fallback_of(text, true, true, t);
      std::int64_t products = 0;
      for (const rows_call& c : o.calls) {
        products += c.arguments[1].second == rows_place::ones;
        o.what.workspace_bytes += static_cast<std::int64_t>(c.how.scratchpad_desc().get_size());
      }
      // A product multiplies each element beside adding it.
      o.what.flops = op::direct_flops(op::layer(p)) + products * rows * length;
      out.push_back(std::move(o));
    }
}
} // namespace detail

/// All that is there for a layer; nothing for most.
inline std::vector<ones_rows_offer> ones_rows_offers(const op::layer& l, numeric t,
                                                     const setting& s, const dnnl::engine& engine) {
  std::vector<ones_rows_offer> out;
  if ((t != numeric::f32 && t != numeric::bf16) || !detail::within_reach(l, t)) return out;
  op::visit(
      [&](const auto& p) {
        if constexpr (requires { detail::rows_in(p); })
          detail::offer_ones_rows(p, t, s, engine, out);
      },
      l);
  return out;
}

} // namespace benanza::backend::onednn
