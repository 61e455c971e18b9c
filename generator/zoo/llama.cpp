// SPDX-License-Identifier: Apache-2.0
// What is a model of Llama's kind? TinyLlama (Zhang et al., 2024) with 1.1 G parameters: 22 layers
// of width 2048, 32 heads that share 4 heads of keys and values, RMSNorm, rotary embedding, SwiGLU.
// Opset 17 has all of these in pieces, as Hugging Face's code is exported; opset 23 has operators.
#include "families.hpp"
#include "transformer.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t layers = 22, width = 2048, heads = 32, shared = 4, each = 64, inner = 5632,
                       words = 32000, longest = 2048;
constexpr float epsilon = 1e-5F;

struct llama_model {
  exporter& net;
  bool decode;
  dim batch{}, n{};
  value places{}, cosines{}, sines{}, mask{};

  /// Angles of all places: in pieces they are computed, the operator takes a table.
  void rotation() {
    if (net.opset() >= 23) {
      cosines = net.weight("cos_cache", {longest, each / 2});
      sines = net.weight("sin_cache", {longest, each / 2});
      return;
    }
    const value frequencies = net.node(
        "Expand", {net.weight("inv_freq", {1, each / 2, 1}), net.sizes({batch, each / 2, 1})});
    const value at = net.cast(net.unsqueeze(places, 1), ::onnx::TensorProto::FLOAT);
    const value half = net.transpose(net.node("MatMul", {frequencies, at}), {0, 2, 1});
    const value angles = net.concat({half, half}, -1);
    cosines = net.unsqueeze(net.node("Cos", {angles}), 1);
    sines = net.unsqueeze(net.node("Sin", {angles}), 1);
  }

  value rotated(const value& x) const {
    if (net.opset() >= 23) return net.node("RotaryEmbedding", {x, cosines, sines, places});
    const value left = net.slice(x, 3, 0, each / 2), right = net.slice(x, 3, each / 2, to_the_end);
    const value turned = net.concat({net.node("Neg", {right}), left}, -1);
    return net.node("Add", {net.node("Mul", {x, cosines}), net.node("Mul", {turned, sines})});
  }

  /// A token sees those at its own place and before, as far as they are no padding.
  void causal(const value& given) {
    const value all = net.node("Squeeze", {net.size(given, 1), net.list({0})});
    const value keys = net.node("Range", {net.index(0), all, net.index(1)});
    const value rows = net.unsqueeze(net.unsqueeze(places, 1), 3);
    const value wide = net.unsqueeze(net.unsqueeze(given, 1), 2);
    const value seen = net.node(
        "And", {net.node("LessOrEqual", {keys, rows}), net.cast(wide, ::onnx::TensorProto::BOOL)});
    mask = net.opset() >= 23 ? seen
                             : net.node("Where", {seen, net.number(0), net.number(-3.4028235e38F)});
  }

  /// Each head of keys or values once for every head that reads it.
  value repeated(const value& x) const {
    const dim total = net.size(x, 2);
    const value many = net.node(
        "Expand", {net.unsqueeze(x, 2), net.sizes({batch, shared, heads / shared, total, each})});
    return net.reshape(many, {batch, heads, total, each});
  }

  value attend(const value& x, const std::string& layer) const {
    const std::string at = "model.layers." + layer + ".self_attn.";
    const auto projected = [&](const std::string& which, std::int64_t count) {
      return split_heads(net, linear(net, x, at + which, width, count * each, false), batch, n,
                         count, each);
    };
    const value q = rotated(projected("q_proj", heads)), v = projected("v_proj", shared);
    const value k = rotated(projected("k_proj", shared));
    const dim total = decode ? "past + 1" : "sequence";
    const auto past = [&](const std::string& which) {
      if (!decode) return value{};
      return net.input("past_key_values." + layer + which, {"batch", shared, "past", each});
    };
    const auto present = [&](const value& of, const std::string& which) {
      const std::string name = "present." + layer + which;
      net.output(of, name, {"batch", shared, total, each});
      return name;
    };
    const value keys = past(".key"), values = past(".value");
    value y;
    if (net.opset() >= 23) {
      const std::vector<value> all =
          net.nodes("Attention", {q, k, v, mask, keys, values}, 3, {{"scale", 0.125F}});
      present(all[1], ".key");
      present(all[2], ".value");
      y = all[0];
    } else {
      const value ks = present(decode ? net.concat({keys, k}, -2) : k, ".key");
      const value vs = present(decode ? net.concat({values, v}, -2) : v, ".value");
      y = attention(net, q, repeated(ks), repeated(vs), mask, each);
    }
    return linear(net, merge_heads(net, y, batch, n, width), at + "o_proj", width, width, false);
  }

  value block(const value& x, const std::string& layer) const {
    const std::string at = "model.layers." + layer + ".";
    const value y = net.node(
        "Add", {x, attend(rms_norm(net, x, at + "input_layernorm", width, epsilon), layer)});
    const value z = rms_norm(net, y, at + "post_attention_layernorm", width, epsilon);
    const value gate = silu(net, linear(net, z, at + "mlp.gate_proj", width, inner, false));
    const value up = linear(net, z, at + "mlp.up_proj", width, inner, false);
    return net.node("Add", {y, linear(net, net.node("Mul", {gate, up}), at + "mlp.down_proj", inner,
                                      width, false)});
  }
};

} // namespace

::onnx::ModelProto llama(std::string_view name, int opset, bool decode) {
  constexpr auto whole = ::onnx::TensorProto::INT64;
  exporter net(name, opset);
  llama_model m{net, decode};
  const dim length = decode ? dim(1) : dim("sequence"), total = decode ? "past + 1" : "sequence";
  const value ids = net.input("input_ids", {"batch", length}, whole);
  const value given = net.input("attention_mask", {"batch", total}, whole);
  m.places = net.input("position_ids", {"batch", length}, whole);
  m.batch = net.size(ids, 0);
  m.n = net.size(ids, 1);
  value x = net.node("Gather", {net.weight("model.embed_tokens.weight", {words, width}), ids});
  m.rotation();
  m.causal(given);
  for (std::int64_t i = 0; i < layers; ++i)
    x = m.block(x, std::to_string(i));
  x = rms_norm(net, x, "model.norm", width, epsilon);
  net.output(linear(net, x, "lm_head", width, words, false), "logits", {"batch", length, words});
  return net.finish();
}

} // namespace benanza::generator::zoo
