// SPDX-License-Identifier: Apache-2.0
// Which operators are small graphs of others? A table from (domain, operator) to how many operands
// it takes and the function that says its graph. A framework may well run one as a whole: what it
// saves by that is a matter of fused layers.
//
//   find_composite("com.microsoft", "BiasGelu")   // Add, Gelu
#pragma once

#include "expand_attention.hpp"
#include "expand_codes.hpp"
#include "expand_einsum.hpp"
#include "expand_eltwise.hpp"
#include "expand_experts.hpp"
#include "expand_flex.hpp"
#include "expand_losses.hpp"
#include "expand_norm.hpp"
#include "expand_products.hpp"
#include "expand_signal.hpp"
#include "expand_state.hpp"
#include "handlers.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace benanza::onnx {

/// One operator that consists of others: the operands it takes, and its graph.
struct composite {
  int least = 0;
  int most = 0; ///< any_number: no limit
  void (*expand)(pieces&) = nullptr;
};

namespace detail {
inline std::unordered_map<std::string_view, composite> own_composites() {
  return {
      {"Affine", {1, 1, expand_affine}},
      {"Attention", {3, 7, expand_attention}},
      {"BatchNormalization", {5, 5, expand_batch_norm}},
      {"CausalConvWithState", {2, 4, expand_causal_conv}},
      {"CenterCropPad", {2, 2, expand_center_crop_pad}},
      {"Crop", {1, 1, expand_crop}},
      {"Einsum", {1, any_number, expand_einsum}},
      {"Hardmax", {1, 1, expand_hardmax}},
      {"ImageScaler", {1, 1, expand_image_scaler}},
      {"LpNormalization", {1, 1, expand_lp_normalization}},
      {"Max", {1, any_number, expand_variadic}},
      {"Mean", {1, any_number, expand_variadic}},
      {"MeanVarianceNormalization", {1, 1, expand_mean_variance}},
      {"Min", {1, any_number, expand_variadic}},
      {"NegativeLogLikelihoodLoss", {2, 3, expand_likelihood_loss}},
      {"ParametricSoftplus", {1, 1, expand_scaled_function}},
      {"Pow", {2, 2, expand_pow}},
      {"ScaledTanh", {1, 1, expand_scaled_function}},
      {"SoftmaxCrossEntropyLoss", {2, 3, expand_cross_entropy}},
      {"Sum", {1, any_number, expand_variadic}},
      {"STFT", {2, 4, expand_stft}},
      {"SwiGLU", {2, 2, expand_swiglu}},
      {"Swish", {1, 1, expand_swish}},
  };
}

inline std::unordered_map<std::string_view, composite> preview_composites() {
  return {{"FlexAttention", {3, 3, expand_flex_attention}}};
}

inline std::unordered_map<std::string_view, composite> blocked_composites() {
  return {{"Conv", {2, 4, expand_blocked_conv}},
          {"ReorderInput", {1, 1, expand_reorder_input}},
          {"ReorderOutput", {1, 1, expand_reorder_output}}};
}

inline std::unordered_map<std::string_view, composite> qonnx_composites() {
  return {{"Quant", {4, 4, expand_quant}}};
}

inline std::unordered_map<std::string_view, composite> microsoft_composites() {
  return {
      {"Attention", {2, 7, expand_packed_attention}},
      {"BiasAdd", {3, 3, expand_bias_add}},
      {"BiasGelu", {2, 2, expand_bias_gelu}},
      {"BiasSplitGelu", {2, 2, expand_bias_split_gelu}},
      {"DynamicQuantizeMatMul", {3, 5, expand_dynamic_quantize_matmul}},
      {"EmbedLayerNormalization", {1, 9, expand_embed_norm}},
      {"FastGelu", {1, 2, expand_fast_gelu}},
      {"FusedConv", {2, 4, expand_fused_conv}},
      {"FusedGemm", {2, 3, expand_fused_gemm}},
      {"FusedMatMul", {2, 2, expand_fused_matmul}},
      {"FusedMatMulActivation", {2, 2, expand_fused_matmul}},
      {"GemmFastGelu", {2, 3, expand_gemm_fast_gelu}},
      {"GroupQueryAttention", {1, 14, expand_group_query_attention}},
      {"MatMulIntegerToFloat", {4, 7, expand_matmul_integer_to_float}},
      {"MultiHeadAttention", {1, 10, expand_multi_head_attention}},
      {"NhwcConv", {2, 3, expand_nhwc_conv}},
      {"NhwcFusedConv", {2, 4, expand_nhwc_conv}},
      {"QAttention", {5, 9, expand_quantised_attention}},
      {"QLinearAveragePool", {4, 5, expand_qlinear_average}},
      {"QLinearConcat", {5, any_number, expand_qlinear_concat}},
      {"QLinearGlobalAveragePool", {5, 5, expand_qlinear_average}},
      {"QLinearLeakyRelu", {4, 5, expand_qlinear_unary}},
      {"QLinearReduceMean", {4, 5, expand_qlinear_average}},
      {"QLinearSigmoid", {4, 5, expand_qlinear_unary}},
      {"QLinearSoftmax", {4, 5, expand_qlinear_softmax}},
      {"QLinearWhere", {9, 9, expand_qlinear_where}},
      {"QMoE", {4, 15, expand_experts_on_codes}},
      {"QuickGelu", {1, 1, expand_swish}},
      {"SkipLayerNormalization", {3, 5, expand_skip_norm}},
      {"SkipSimplifiedLayerNormalization", {3, 4, expand_skip_norm}},
      {"TransposeMatMul", {2, 2, expand_fused_matmul}},
  };
}

} // namespace detail

/// The operator's entry; nullptr: it is none of these.
inline const composite* find_composite(std::string_view domain, std::string_view op) {
  static const std::unordered_map<std::string_view, std::unordered_map<std::string_view, composite>>
      tables{{"", detail::own_composites()},
             {"com.microsoft", detail::microsoft_composites()},
             {"com.microsoft.nchwc", detail::blocked_composites()},
             {"ai.onnx.preview", detail::preview_composites()},
             {"qonnx.custom_op.general", detail::qonnx_composites()},
             {"onnx.brevitas", detail::qonnx_composites()}};
  const auto of_domain = tables.find(domain);
  if (of_domain == tables.end()) return nullptr;
  const auto& table = of_domain->second;
  const auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

/// The nodes that one of these operators consists of; none where it is a layer by itself, or where
/// `problem` says why not.
inline std::shared_ptr<const ::onnx::FunctionProto>
body_of_composite(const composite& known, const call& c, std::string& problem) {
  try {
    if (c.size() < known.least || (known.most != any_number && c.size() > known.most))
      throw error("it has " + std::to_string(c.size()) + " inputs, which its operator does not");
    for (int i = 0; i < known.least; ++i)
      (void)c.operand(i);
    pieces p(c);
    known.expand(p);
    return p.empty() ? nullptr : std::move(p).take();
  } catch (const error& e) {
    problem = e.what();
    return nullptr;
  }
}

} // namespace benanza::onnx
