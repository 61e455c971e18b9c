// SPDX-License-Identifier: Apache-2.0
// Which parts do transformers share? Linear layers, normalizations, activations and attention, as
// the exporter of the model's opset writes them: in pieces before ONNX had an operator
// (LayerNormalization from 17, Gelu from 20, RMSNormalization and Attention from 23).
#pragma once

#include "exporter.hpp"

namespace benanza::generator::zoo {

/// MatMul and Add, of a tensor of any rank.
value linear(exporter& net, const value& x, const std::string& name, std::int64_t in,
             std::int64_t out, bool bias = true);
value layer_norm(exporter& net, const value& x, const std::string& name, std::int64_t channels,
                 float epsilon = 1e-5F);
value rms_norm(exporter& net, const value& x, const std::string& name, std::int64_t channels,
               float epsilon);
value gelu(exporter& net, const value& x);
/// With tanh, as GPT-2 has it.
value gelu_tanh(exporter& net, const value& x);
/// x times its sigmoid.
value silu(exporter& net, const value& x);

/// [batch, n, heads * each] to [batch, heads, n, each]; `batch` and `n` are sizes.
value split_heads(exporter& net, const value& x, const dim& batch, const dim& n, std::int64_t heads,
                  std::int64_t each);
/// The way back.
value merge_heads(exporter& net, const value& x, const dim& batch, const dim& n,
                  std::int64_t channels);
/// Of [batch, heads, n, each] each; `mask` is added, if there is one.
value attention(exporter& net, const value& q, const value& k, const value& v, const value& mask,
                std::int64_t each);

} // namespace benanza::generator::zoo
