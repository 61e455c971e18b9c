// SPDX-License-Identifier: Apache-2.0
// How is a layer put to the library? A recipe is one operation with the way from ONNX operands to
// its arguments and from its result back to ONNX order. A layer has one recipe for each primitive
// and each arrangement of its activations that is worth measuring; each recipe has many
// implementations.
//
//   recipe r{.what = operation::eltwise(...), .arguments = {{DNNL_ARG_SRC, 0, x}}, .result = x};
#pragma once

#include "layout.hpp"

#include <functional>
#include <optional>

namespace benanza::backend::onednn {

/// One argument of an operation, which an ONNX operand fills.
struct argument {
  int id = 0;            ///< DNNL_ARG_...
  int input = 0;         ///< place in `operands::inputs`
  description stored{};  ///< how ONNX stores it, in the operation's dims
  std::string letters{}; ///< names of its dims in `algorithm::layouts`; empty: not shown there
  bool flows = false;    ///< data of the model, though the operation's argument is not a source
  bool constant = false; ///< weights that rotate through a pool when they are to be cold
  double factor = 1;     ///< its values are multiplied by this before timing
  /// Or by these, one for all or one for each, and become f32.
  std::vector<float> factors{};
  std::int64_t first = 0;        ///< element of the operand at which it starts
  std::optional<float> filled{}; ///< no operand fills it: each value is this one

  /// True for data that flows through a model, and not weights or slopes of it.
  bool activation() const {
    if (filled) return false;
    return flows || id == DNNL_ARG_SRC_0 || id == DNNL_ARG_SRC_1 ||
           (id >= DNNL_ARG_MULTIPLE_SRC && id < DNNL_ARG_MULTIPLE_DST);
  }
};

/// One operation for a layer.
struct recipe {
  operation what{};
  std::vector<argument> arguments{};
  description result{}; ///< the result in ONNX order, in the operation's dims
  int result_id = DNNL_ARG_DST;
  std::string letters{};         ///< names of the result's dims
  std::string before{}, after{}; ///< around the implementation's name in the algorithm's id
  run_time_values given{};       ///< what executions are given besides operands
  std::string kind{};            ///< of algorithm, where one is asked for by name
  std::string inexact{}; ///< why its results are another class than the type's; empty: they are not
  bool scales = false;   ///< applies the output scale
  bool flat = false;     ///< goes through memory element by element: any dense layout will do
  bool multiplies = false; ///< a product of matrices or a convolution: instruction sets matter
  /// Arithmetic of an implementation that does not do the layer's nominal one; empty: it does.
  std::function<std::int64_t(std::string_view name)> own_flops{};
};

/// How codes become the result: (sum of products + bias) x scale, then a zero point is added.
struct code_scales {
  std::vector<float> factors{}; ///< one, or one for each channel or column
  std::int32_t zero_a = 0, zero_result = 0;
  int zero_input = -1; ///< the operand from which each execution reads `zero_a`; -1: a constant
};

/// What recipes are asked for.
struct request {
  numeric type = numeric::f32;
  case_types types{};
  double output_scale = 1;
  dnnl::engine engine{};
  dnnl::post_ops after{}; ///< steps that are done on the result
  /// A Concat's parts along its axis; empty: as equal as they can be.
  std::vector<std::int64_t> parts{};
  /// The operands, of which some values are part of what the library is asked for; null: any.
  const operands* values = nullptr;
  std::optional<code_scales> codes{}; ///< of a layer whose operands are codes
  data_type bias_type = data_type::f32;

  bool floating() const { return !quantised(type); }
  bool scaled() const { return quantised(type) && output_scale != 1; }

  /// Attributes of every operation: scratch memory is ours, so that its allocation is not timed.
  dnnl::primitive_attr attributes() const {
    dnnl::primitive_attr a;
    a.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    if (after.len() > 0) a.set_post_ops(after);
    return a;
  }
  /// The same of a product whose result is also multiplied by the output scale. `channels`: the
  /// dim of the result along which codes have scales of their own; `of_weights`: the same of the
  /// weights, as bits.
  dnnl::primitive_attr product_attributes(run_time_values& given, int channels,
                                          int of_weights) const {
    dnnl::primitive_attr a = attributes();
    if (codes) {
      version::scale_product(a, codes->factors, channels, of_weights, given);
      if (codes->zero_input >= 0)
        version::read_zero_point(a, DNNL_ARG_SRC, codes->zero_input, given);
      else if (codes->zero_a != 0)
        version::set_zero_point(a, DNNL_ARG_SRC, codes->zero_a, given);
      if (codes->zero_result != 0)
        version::set_zero_point(a, DNNL_ARG_DST, codes->zero_result, given);
    }
    if (scaled())
      version::scale_product(a, {static_cast<float>(output_scale)}, channels, of_weights, given);
    return a;
  }
  /// A product's bias, in the units in which the library adds it.
  argument bias(int input, const description& stored) const {
    argument a{.id = DNNL_ARG_BIAS, .input = input, .stored = stored};
    if (!version::bias_after_scale) return a;
    if (codes)
      a.factors = codes->factors;
    else if (scaled())
      a.factor = output_scale;
    return a;
  }
};

/// How an implementation lays out its result.
inline description result_of(const recipe& r, const version::implementation& i) {
  return r.result_id == DNNL_ARG_DST ? i.dst_desc()
                                     : i.query_md(dnnl::query::exec_arg_md, r.result_id);
}

using recipes = std::vector<recipe>;

/// Layers that the library has nothing for.
template <class Layer>
void describe(const Layer&, const request&, recipes&) {}

} // namespace benanza::backend::onednn
