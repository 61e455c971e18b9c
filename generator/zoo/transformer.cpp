// SPDX-License-Identifier: Apache-2.0
// How do PyTorch's exporters write the parts of a transformer? By opset: LayerNorm and GELU fall
// into pieces where it has no operator for them; the attention of PyTorch 2 scales queries and keys
// by a root each, older code the product.
#include "transformer.hpp"

#include <cmath>

namespace benanza::generator::zoo {

value linear(exporter& net, const value& x, const std::string& name, std::int64_t in,
             std::int64_t out, bool bias) {
  const value y = net.node("MatMul", {x, net.weight(name + ".weight", {in, out})});
  return bias ? net.node("Add", {net.weight(name + ".bias", {out}), y}) : y;
}

value layer_norm(exporter& net, const value& x, const std::string& name, std::int64_t channels,
                 float epsilon) {
  const value scale = net.weight(name + ".weight", {channels});
  const value shift = net.weight(name + ".bias", {channels});
  if (net.opset() >= 17)
    return net.node("LayerNormalization", {x, scale, shift}, {{"axis", -1}, {"epsilon", epsilon}});
  const value centred = net.node("Sub", {x, net.mean(x, {-1})});
  const value variance = net.mean(net.node("Pow", {centred, net.number(2)}), {-1});
  const value deviation = net.node("Sqrt", {net.node("Add", {variance, net.number(epsilon)})});
  const value scaled = net.node("Mul", {net.node("Div", {centred, deviation}), scale});
  return net.node("Add", {scaled, shift});
}

value rms_norm(exporter& net, const value& x, const std::string& name, std::int64_t channels,
               float epsilon) {
  const value scale = net.weight(name + ".weight", {channels});
  if (net.opset() >= 23)
    return net.node("RMSNormalization", {x, scale}, {{"axis", -1}, {"epsilon", epsilon}});
  const value square = net.mean(net.node("Pow", {x, net.number(2)}), {-1});
  const value root = net.node("Sqrt", {net.node("Add", {square, net.number(epsilon)})});
  const value inverse = net.node("Div", {net.number(1), root});
  return net.node("Mul", {scale, net.node("Mul", {x, inverse})});
}

value gelu(exporter& net, const value& x) {
  if (net.opset() >= 20) return net.node("Gelu", {x}, {{"approximate", "none"}});
  const value erf = net.node("Erf", {net.node("Div", {x, net.number(std::sqrt(2.0F))})});
  const value twice = net.node("Mul", {x, net.node("Add", {erf, net.number(1)})});
  return net.node("Mul", {twice, net.number(0.5F)});
}

value gelu_tanh(exporter& net, const value& x) {
  const value half = net.node("Mul", {x, net.number(0.5F)});
  const value cube = net.node("Pow", {x, net.number(3)});
  const value inner = net.node("Add", {x, net.node("Mul", {cube, net.number(0.044715F)})});
  const value tanh = net.node("Tanh", {net.node("Mul", {inner, net.number(0.7978845608F)})});
  return net.node("Mul", {half, net.node("Add", {tanh, net.number(1)})});
}

value silu(exporter& net, const value& x) {
  return net.node("Mul", {x, net.node("Sigmoid", {x})});
}

value split_heads(exporter& net, const value& x, const dim& batch, const dim& n, std::int64_t heads,
                  std::int64_t each) {
  return net.transpose(net.reshape(x, {batch, n, heads, each}), {0, 2, 1, 3});
}

value merge_heads(exporter& net, const value& x, const dim& batch, const dim& n,
                  std::int64_t channels) {
  return net.reshape(net.transpose(x, {0, 2, 1, 3}), {batch, n, channels});
}

value attention(exporter& net, const value& q, const value& k, const value& v, const value& mask,
                std::int64_t each) {
  const auto root = std::sqrt(static_cast<float>(each));
  const value across = net.transpose(k, {0, 1, 3, 2});
  value scores;
  if (net.opset() >= 18) {
    const value by = net.number(1 / std::sqrt(root));
    scores = net.node("MatMul", {net.node("Mul", {q, by}), net.node("Mul", {across, by})});
  } else {
    scores = net.node("Div", {net.node("MatMul", {q, across}), net.number(root)});
  }
  if (!mask.empty()) scores = net.node("Add", {scores, mask});
  return net.node("MatMul", {net.node("Softmax", {scores}, {{"axis", -1}}), v});
}

} // namespace benanza::generator::zoo
