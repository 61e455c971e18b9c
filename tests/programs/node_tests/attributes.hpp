// SPDX-License-Identifier: Apache-2.0
// Which values does a node have that its layer does not hold? They change the result, not the cost:
// slopes, limits, scales.
//
//   operands.attributes = attributes_of(call, its_operands);
#pragma once

#include "numbers.hpp"

#include <algorithm>
#include <cmath>

namespace benanza::node_tests {

/// The scales of a Resize or an Upsample, one for each dim; none where they follow from its sizes.
inline std::vector<double> scales_of(const onnx::call& c) {
  const shape& x = c.dims(0);
  std::vector<std::int64_t> axes = c.integers("axes");
  for (int i = 0; !c.has_attribute("axes") && i < x.size; ++i)
    axes.push_back(i);
  const int at = c.op() == "Upsample" || c.opset() < 11 ? 1 : 2;
  std::vector<double> given = c.reals("scales");
  if (given.empty() && c.has(at)) given = c.numbers(at);
  const std::string_view policy = c.word("keep_aspect_ratio_policy", "stretch");
  if (given.empty() && policy != "stretch") {
    for (std::size_t i = 0; i < axes.size(); ++i)
      given.push_back(c.numbers(3).at(i) /
                      static_cast<double>(x[onnx::call::axis(axes[i], x.size)]));
    const auto [least, most] = std::minmax_element(given.begin(), given.end());
    given.assign(axes.size(), policy == "not_larger" ? *least : *most);
  }
  std::vector<double> out(given.empty() ? 0 : static_cast<std::size_t>(x.size), 1);
  for (std::size_t i = 0; i < given.size(); ++i)
    out.at(static_cast<std::size_t>(onnx::call::axis(axes.at(i), x.size))) = given[i];
  return out;
}

/// Values that a layer does not hold, as the node has them.
inline backend::attribute_values attributes_of(const onnx::call& c,
                                               const operand_numbers& operands) {
  backend::attribute_values v;
  const std::string& op = c.op();
  const auto number = [&](std::size_t k, double fallback) {
    return k < operands.size() && operands[k] ? operands[k]->values.at(0) : fallback;
  };
  v.epsilon = c.real("epsilon", 1e-5);
  v.lrn_bias = c.real("bias", 1);
  v.lrn_alpha = c.real("alpha", 1e-4);
  v.lrn_beta = c.real("beta", 0.75);
  v.leaky_slope = c.real("alpha", 0.01);
  v.threshold = v.elu_alpha = v.celu_alpha = c.real("alpha", 1);
  v.selu_alpha = c.real("alpha", 1.67326319217681884765625);
  v.selu_gamma = c.real("gamma", 1.05070102214813232421875);
  v.hard_sigmoid_alpha = c.real("alpha", 0.2);
  v.hard_sigmoid_beta = c.real("beta", 0.5);
  v.cubic = c.real("cubic_coeff_a", -0.75);
  if (op == "Gemm") v.alpha = c.real("alpha", 1), v.beta = c.real("beta", 1);
  v.scale = c.real("scale", 0);
  v.softcap = c.real("softcap", 0);
  if (op == "Pad") v.pad_constant = number(2, c.real("value", 0));
  if (op == "Resize" || op == "Upsample") {
    v.extrapolation = c.real("extrapolation_value", 0);
    v.symmetric = c.word("coordinate_transformation_mode", "") == "half_pixel_symmetric";
    v.scales = scales_of(c);
  }
  v.roi_scale = c.real("spatial_scale", 1);
  if (op == "NonMaxSuppression") {
    v.most_boxes = number(2, 0);
    v.most_overlap = number(3, 0);
    v.least_score = number(4, -HUGE_VAL);
  }
  if (op == "Clip") {
    v.clip_low = v.clip_whole_low = number(1, c.real("min", -HUGE_VAL));
    v.clip_high = v.clip_whole_high = number(2, c.real("max", HUGE_VAL));
  }
  v.shrink_lambda = c.real("lambd", 0.5);
  v.shrink_bias = op == "Shrink" ? c.real("bias", 0) : 0;
  v.finds_positive = c.integer("detect_positive", 1) != 0;
  v.finds_negative = c.integer("detect_negative", 1) != 0;
  v.saturates = c.integer("saturate", 1) != 0;
  const std::string_view mode = c.word("round_mode", "up");
  v.round_mode = mode == "down"      ? backend::rounding::down
                 : mode == "nearest" ? backend::rounding::nearest
                                     : backend::rounding::up;
  return v;
}

} // namespace benanza::node_tests
