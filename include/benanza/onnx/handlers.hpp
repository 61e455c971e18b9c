// SPDX-License-Identifier: Apache-2.0
// Which operators do we know ourselves? A table from (domain, operator) to how many operands it
// takes and the function that says what it is and what it gives. Whatever is not here is left to
// libonnx (infer.hpp).
//
//   if (const handler* h = find_handler("", "Conv")) answer a = h->make(call);
#pragma once

#include "handle_arrange.hpp"
#include "handle_attention.hpp"
#include "handle_cast.hpp"
#include "handle_constant.hpp"
#include "handle_eltwise.hpp"
#include "handle_expand.hpp"
#include "handle_ggml.hpp"
#include "handle_indexing.hpp"
#include "handle_linear_attention.hpp"
#include "handle_matrix.hpp"
#include "handle_move.hpp"
#include "handle_nbits.hpp"
#include "handle_norm.hpp"
#include "handle_quantize.hpp"
#include "handle_recurrent.hpp"
#include "handle_reduce.hpp"
#include "handle_resize.hpp"
#include "handle_rotary.hpp"
#include "handle_select.hpp"
#include "handle_shape_only.hpp"
#include "handle_signal.hpp"
#include "handle_tf_idf.hpp"
#include "handle_view.hpp"
#include "handle_vision.hpp"
#include "handle_window.hpp"

#include <string_view>
#include <unordered_map>

namespace benanza::onnx {

/// One operator: the operands it takes and what it does with them.
struct handler {
  int least = 0;
  int most = 0; ///< any_number: no limit
  answer (*make)(const call&) = nullptr;
};
inline constexpr int any_number = -1;

namespace detail {
inline std::unordered_map<std::string_view, handler> own_handlers() {
  std::unordered_map<std::string_view, handler> t{
      {"Conv", {2, 3, handle_conv}},
      {"ConvTranspose", {2, 3, handle_conv_transpose}},
      {"Gemm", {2, 3, handle_gemm}},
      {"MatMul", {2, 2, handle_matmul}},
      {"MaxPool", {1, 1, handle_pool}},
      {"AveragePool", {1, 1, handle_pool}},
      {"GlobalMaxPool", {1, 1, handle_global_pool}},
      {"GlobalAveragePool", {1, 1, handle_global_pool}},
      {"LpPool", {1, 1, handle_pool}},
      {"GlobalLpPool", {1, 1, handle_global_pool}},
      {"GridSample", {2, 2, handle_grid_sample}},
      {"AffineGrid", {2, 2, handle_affine_grid}},
      {"RoiAlign", {3, 3, handle_roi_align}},
      {"MaxRoiPool", {2, 2, handle_max_roi_pool}},
      {"NonMaxSuppression", {2, 5, handle_non_max_suppression}},
      {"Col2Im", {3, 3, handle_col2im}},
      {"DeformConv", {3, 5, handle_deform_conv}},
      {"MaxUnpool", {2, 3, handle_max_unpool}},
      {"DFT", {1, 3, handle_dft}},
      {"Det", {1, 1, handle_det}},
      {"HannWindow", {1, 1, handle_window}},
      {"HammingWindow", {1, 1, handle_window}},
      {"BlackmanWindow", {1, 1, handle_window}},
      {"MelWeightMatrix", {5, 5, handle_mel_weights}},
      {"BatchNormalization", {5, 5, handle_batch_norm}},
      {"LRN", {1, 1, handle_lrn}},
      {"LayerNormalization", {2, 3, handle_row_norm}},
      {"RMSNormalization", {2, 2, handle_row_norm}},
      {"SimplifiedLayerNormalization", {2, 2, handle_row_norm}}, // ONNX Runtime's, in this domain
      {"GroupNormalization", {3, 3, handle_group_norm}},
      {"InstanceNormalization", {3, 3, handle_instance_norm}},
      {"Attention", {3, 7, handle_attention}},
      {"RotaryEmbedding", {3, 4, handle_rotary}},
      {"LinearAttention", {3, 6, handle_linear_attention}},
      {"TfIdfVectorizer", {1, 1, handle_tf_idf}},
      {"LSTM", {3, 8, handle_recurrent}},
      {"GRU", {3, 6, handle_recurrent}},
      {"RNN", {3, 6, handle_recurrent}},
      {"QuantizeLinear", {2, 3, handle_quantize}},
      {"DequantizeLinear", {2, 3, handle_quantize}},
      {"DynamicQuantizeLinear", {1, 1, handle_dynamic_quantize}},
      {"QLinearConv", {8, 9, handle_qlinear_conv}},
      {"ConvInteger", {2, 4, handle_conv_integer}},
      {"QLinearMatMul", {8, 8, handle_qlinear_matmul}},
      {"MatMulInteger", {2, 4, handle_matmul_integer}},
      {"Softmax", {1, 1, handle_softmax}},
      {"LogSoftmax", {1, 1, handle_softmax}},
      {"Concat", {1, any_number, handle_concat}},
      {"Split", {1, 2, handle_split}},
      {"Transpose", {1, 1, handle_transpose}},
      {"Pad", {1, 4, handle_pad}},
      {"Slice", {1, 5, handle_slice}},
      {"Gather", {2, 2, handle_gather}},
      {"Resize", {1, 4, handle_resize}},
      {"Upsample", {1, 2, handle_resize}},
      {"DepthToSpace", {1, 1, handle_depth_to_space}},
      {"SpaceToDepth", {1, 1, handle_depth_to_space}},
      {"GatherElements", {2, 2, handle_indexing}},
      {"GatherND", {2, 2, handle_indexing}},
      {"Scatter", {3, 3, handle_indexing}},
      {"ScatterElements", {3, 3, handle_indexing}},
      {"ScatterND", {3, 3, handle_indexing}},
      {"TensorScatter", {2, 3, handle_tensor_scatter}},
      {"CumSum", {2, 2, handle_cumulate}},
      {"CumProd", {2, 2, handle_cumulate}},
      {"ArgMax", {1, 1, handle_arg}},
      {"ArgMin", {1, 1, handle_arg}},
      {"TopK", {1, 2, handle_top_k}},
      {"Compress", {2, 2, handle_compress}},
      {"Unique", {1, 1, handle_unique}},
      {"Trilu", {1, 2, handle_trilu}},
      {"ReverseSequence", {2, 2, handle_reverse_sequence}},
      {"OneHot", {3, 3, handle_one_hot}},
      {"Reshape", {1, 2, handle_reshape}},
      {"Flatten", {1, 1, handle_flatten}},
      {"Squeeze", {1, 2, handle_squeeze}},
      {"Unsqueeze", {1, 2, handle_unsqueeze}},
      {"Identity", {1, 1, handle_identity}},
      {"Dropout", {1, 3, handle_dropout}},
      {"Constant", {0, 0, handle_constant}},
      {"ConstantOfShape", {1, 1, handle_constant_of_shape}},
      {"Shape", {1, 1, handle_shape}},
      {"Size", {1, 1, handle_size}},
      {"Range", {3, 3, handle_range}},
      {"Expand", {2, 2, handle_expand}},
      {"Tile", {2, 2, handle_tile}},
      {"NonZero", {1, 1, handle_non_zero}},
      {"Cast", {1, 1, handle_cast}},
      {"CastLike", {2, 2, handle_cast}},
      {"BitCast", {1, 1, handle_bit_cast}},
      {"Where", {3, 3, handle_where}},
      {"EyeLike", {1, 1, handle_eye_like}},
      {"BitShift", {2, 2, handle_bit_shift}},
      {"Einsum", {1, any_number, handle_einsum}},
      {"LpNormalization", {1, 1, handle_same}},
      {"MeanVarianceNormalization", {1, 1, handle_same}},
  };
  for (std::string_view f : op::unary_families)
    t[f] = {1, f == "Clip" ? 3 : 1, handle_unary};
  for (std::string_view f : {"FastGelu", "Square", "Cube"})
    t.erase(f); // ONNX's are Gelu with an attribute and Pow with a constant
  t["Swish"] = {1, 1, handle_same};
  for (std::string_view f : op::binary_families)
    t[f] = {2, 2, handle_binary};
  for (std::string_view f : {"FMod", "BitShiftLeft", "BitShiftRight"})
    t.erase(f); // ONNX's are Mod and BitShift with an attribute
  t["Mod"] = {2, 2, handle_mod};
  t["Pow"] = {2, 2, handle_pow};
  for (std::string_view f : {"Sum", "Max", "Min", "Mean"})
    t[f] = {1, any_number, handle_variadic};
  t["PRelu"] = {2, 2, handle_prelu};
  for (std::string_view f : op::reduction_families)
    t[f] = {1, 2, handle_reduce};
  return t;
}

inline std::unordered_map<std::string_view, handler> microsoft_handlers() {
  return {
      {"Gelu", {1, 1, handle_unary}},
      {"QuantizeLinear", {2, 3, handle_quantize}},
      {"DequantizeLinear", {2, 3, handle_quantize}},
      {"QGemm", {1, 9, handle_q_gemm}},
      {"QLinearAdd", {1, 8, handle_qlinear_binary}},
      {"QLinearMul", {1, 8, handle_qlinear_binary}},
      {"FastGelu", {1, 2, handle_fast_gelu}},
      {"BiasGelu", {2, 2, handle_same}},
      {"QuickGelu", {1, 1, handle_same}},
      {"DecoderMaskedMultiHeadAttention", {1, any_number, handle_same}},
      {"DynamicQuantizeLSTM", {3, 12, handle_dynamic_quantize_lstm}},
      {"EmbedLayerNormalization", {1, 9, handle_embed_layer_norm}},
      {"GatherBlockQuantized", {3, 4, handle_gather_blocks}},
      {"GroupNorm", {3, 3, handle_same}},
      {"MoE", {2, any_number, handle_same}},
      {"QMoE", {2, any_number, handle_same}},
      {"RelativePositionBias", {3, 3, handle_relative_position_bias}},
      {"SkipGroupNorm", {4, 5, handle_same}},
      {"Attention", {2, 7, handle_packed_attention}},
      {"LayerNormalization", {2, 3, handle_row_norm}},
      {"SimplifiedLayerNormalization", {2, 2, handle_row_norm}},
      {"SkipLayerNormalization", {3, 5, handle_same}},
      {"SkipSimplifiedLayerNormalization", {3, 4, handle_same}},
      {"RotaryEmbedding", {4, 4, handle_runtime_rotary}},
      {"MatMulNBits", {3, 6, handle_matmul_nbits}},
  };
}

/// What is written of GGUF files.
inline std::unordered_map<std::string_view, handler> ggml_handlers() {
  return {{"MatMulGgml", {2, 2, handle_matmul_ggml}},
          {"GatherGgml", {2, 2, handle_gather_ggml}},
          {"Attention", {3, 3, handle_attention}}};
}

/// What ONNX Runtime makes of a convolutional network for one machine: channels in blocks.
inline std::unordered_map<std::string_view, handler> blocked_handlers() {
  return {{"MaxPool", {1, 1, handle_pool}},
          {"AveragePool", {1, 1, handle_pool}},
          {"GlobalMaxPool", {1, 1, handle_global_pool}},
          {"GlobalAveragePool", {1, 1, handle_global_pool}}};
}
} // namespace detail

/// The domain with ONNX's own written as "".
inline std::string_view domain_of(const ::onnx::NodeProto& n) {
  return n.domain() == "ai.onnx" ? std::string_view{} : std::string_view(n.domain());
}

/// The handler of an operator; nullptr: there is none.
inline const handler* find_handler(std::string_view domain, std::string_view op) {
  static const auto own = detail::own_handlers(), microsoft = detail::microsoft_handlers(),
                    blocked = detail::blocked_handlers(), ggml = detail::ggml_handlers(),
                    none = decltype(own){};
  const auto& table = domain.empty()                    ? own
                      : domain == "com.microsoft"       ? microsoft
                      : domain == "com.microsoft.nchwc" ? blocked
                      : domain == own_domain            ? ggml
                                                        : none;
  const auto found = table.find(op);
  return found == table.end() ? nullptr : &found->second;
}

} // namespace benanza::onnx
