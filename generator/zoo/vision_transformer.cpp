// SPDX-License-Identifier: Apache-2.0
// What are the transformers for images? ViT-B/16 (Dosovitskiy et al., 2020): twelve layers of width
// 768 over 196 patches and a class token. Swin-T (Liu et al., 2021): attention within windows of
// 7x7 tokens, which every other layer shifts by three, in four stages.
#include "convolution.hpp"
#include "families.hpp"
#include "transformer.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

/// Queries, keys and values by one product, as [batch, heads, n, each] each.
std::vector<value> three(exporter& net, const value& x, const std::string& name, const dim& batch,
                         std::int64_t n, std::int64_t width, std::int64_t each) {
  const value all = linear(net, x, name, width, 3 * width);
  const value parts =
      net.transpose(net.reshape(all, {batch, n, 3, width / each, each}), {2, 0, 3, 1, 4});
  std::vector<value> out;
  for (const value& part : net.split(parts, 0, {1, 1, 1}))
    out.push_back(net.node("Squeeze", {part, net.list({0})}));
  return out;
}

value mlp(exporter& net, const value& x, const std::string& at, std::int64_t width) {
  const value inner = gelu(net, linear(net, x, at + "fc1", width, 4 * width));
  return linear(net, inner, at + "fc2", 4 * width, width);
}

// ---- ViT-B/16

value vit_block(exporter& net, const value& x, const std::string& at, const dim& batch) {
  constexpr std::int64_t width = 768, n = 197;
  const value normed = layer_norm(net, x, at + "norm1", width, 1e-6F);
  const std::vector<value> qkv = three(net, normed, at + "attn.qkv", batch, n, width, 64);
  value y = merge_heads(net, attention(net, qkv[0], qkv[1], qkv[2], "", 64), batch, n, width);
  y = net.node("Add", {x, linear(net, y, at + "attn.proj", width, width)});
  return net.node(
      "Add", {y, mlp(net, layer_norm(net, y, at + "norm2", width, 1e-6F), at + "mlp.", width)});
}

// ---- Swin-T

constexpr std::int64_t window = 7, tokens = window * window, head = 32;

/// Where each pair of a window's tokens finds its bias: by their distance in rows and columns.
value distances(exporter& net) {
  dims where;
  for (std::int64_t a = 0; a < tokens; ++a)
    for (std::int64_t b = 0; b < tokens; ++b)
      where.push_back((a / window - b / window + window - 1) * (2 * window - 1) + a % window -
                      b % window + window - 1);
  return net.table("relative_position_index", {tokens * tokens}, where);
}

struct swin_stage {
  exporter& net;
  std::int64_t side, width;
  std::int64_t heads() const { return width / head; }
  std::int64_t windows() const { return side * side / tokens; }

  /// Everything moved along rows and columns, what leaves comes in on the other side.
  value rolled(const value& x, std::int64_t by) const {
    value y = x;
    for (const std::int64_t axis : {1, 2})
      y = net.concat({net.slice(y, axis, by, to_the_end), net.slice(y, axis, 0, by)}, axis);
    return y;
  }

  value attend(const value& x, const std::string& at, bool shifted) const {
    const std::int64_t across = side / window;
    value y = shifted ? rolled(x, window / 2) : x;
    y = net.reshape(y, {-1, across, window, across, window, width});
    y = net.reshape(net.transpose(y, {0, 1, 3, 2, 4, 5}), {-1, tokens, width});
    const std::vector<value> qkv = three(net, y, at + "qkv", -1, tokens, width, head);

    const value q = net.node("Mul", {qkv[0], net.number(0.17677669F)});
    value scores = net.node("MatMul", {q, net.transpose(qkv[1], {0, 1, 3, 2})});
    const value table = net.weight(at + "relative_position_bias_table",
                                   {(2 * window - 1) * (2 * window - 1), heads()});
    const value bias =
        net.reshape(net.node("Gather", {table, distances(net)}), {tokens, tokens, heads()});
    scores = net.node("Add", {scores, net.unsqueeze(net.transpose(bias, {2, 0, 1}), 0)});
    if (shifted) { // tokens that were no neighbours before do not see each other
      scores = net.reshape(scores, {-1, windows(), heads(), tokens, tokens});
      const value mask = net.weight(at + "attn_mask", {1, windows(), 1, tokens, tokens});
      scores = net.reshape(net.node("Add", {scores, mask}), {-1, heads(), tokens, tokens});
    }
    const value weights = net.node("Softmax", {scores}, {{"axis", -1}});
    y = merge_heads(net, net.node("MatMul", {weights, qkv[2]}), -1, tokens, width);
    y = linear(net, y, at + "proj", width, width);
    y = net.reshape(y, {-1, across, across, window, window, width});
    y = net.reshape(net.transpose(y, {0, 1, 3, 2, 4, 5}), {-1, side, side, width});
    return shifted ? rolled(y, -(window / 2)) : y;
  }

  value block(const value& x, const std::string& at, bool shifted) const {
    const value y = net.node(
        "Add", {x, attend(layer_norm(net, x, at + "norm1", width), at + "attn.", shifted)});
    return net.node("Add",
                    {y, mlp(net, layer_norm(net, y, at + "norm2", width), at + "mlp.", width)});
  }

  /// Four neighbours become one token of twice the width.
  value merged(const value& x, const std::string& at) const {
    std::vector<value> parts;
    for (const std::int64_t column : {0, 1})
      for (const std::int64_t row : {0, 1})
        parts.push_back(net.slice(net.slice(x, 1, row, to_the_end, 2), 2, column, to_the_end, 2));
    const value y = layer_norm(net, net.concat(parts, -1), at + "norm", 4 * width);
    return linear(net, y, at + "reduction", 4 * width, 2 * width, false);
  }
};

value patches(exporter& net, const std::string& name, std::int64_t size, std::int64_t width) {
  const feature_map image{net.input("input", {"batch", 3, 224, 224}), 3};
  return conv(net, image, name, width, {.kernel = size, .stride = size, .pad = 0}).at;
}

} // namespace

::onnx::ModelProto vit(std::string_view name, int opset) {
  constexpr std::int64_t width = 768;
  exporter net(name, opset);
  value x = patches(net, "patch_embed.proj", 16, width);
  const dim batch = net.size("input", 0);
  x = net.transpose(net.reshape(x, {batch, width, 196}), {0, 2, 1});
  const value token =
      net.node("Expand", {net.weight("cls_token", {1, 1, width}), net.sizes({batch, 1, width})});
  x = net.node("Add", {net.concat({token, x}, 1), net.weight("pos_embed", {1, 197, width})});
  for (int i = 0; i < 12; ++i)
    x = vit_block(net, x, "blocks." + std::to_string(i) + ".", batch);
  x = net.node("Gather", {layer_norm(net, x, "norm", width, 1e-6F), net.index(0)}, {{"axis", 1}});
  net.output(dense(net, x, "head", width, 1000), "logits", {"batch", 1000});
  return net.finish();
}

::onnx::ModelProto swin(std::string_view name) {
  exporter net(name, 17);
  value x = net.transpose(patches(net, "features.0.0", 4, 96), {0, 2, 3, 1});
  x = layer_norm(net, x, "features.0.2", 96);
  swin_stage s{net, 56, 96};
  int number = 1;
  for (const int blocks : {2, 2, 6, 2}) {
    for (int i = 0; i < blocks; ++i)
      x = s.block(x, "features." + std::to_string(number) + "." + std::to_string(i) + ".",
                  i % 2 == 1 && s.windows() > 1);
    if (s.windows() == 1) break;
    x = s.merged(x, "features." + std::to_string(number + 1) + ".");
    s.side /= 2;
    s.width *= 2;
    number += 2;
  }
  x = net.transpose(layer_norm(net, x, "norm", s.width), {0, 3, 1, 2});
  net.output(classify(net, {x, s.width}, "head", 1000), "logits", {"batch", 1000});
  return net.finish();
}

} // namespace benanza::generator::zoo
