// SPDX-License-Identifier: Apache-2.0
// What are the two halves of Whisper (Radford et al., 2022), its tiny size, as Hugging Face's model
// is exported? The encoder hears 30 seconds as 3000 columns of 80 frequencies. The decoder takes
// one token more, the keys and values of the `past` ones, and those that its layers made of the
// encoder's result once.
#include "families.hpp"
#include "transformer.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t layers = 4, width = 384, heads = 6, each = 64, columns = 1500, words = 51865,
                       longest = 448;

struct whisper {
  exporter& net;
  dim batch{}, n{};

  value projected(const value& x, const std::string& name, bool bias) const {
    return split_heads(net, linear(net, x, name, width, width, bias), batch, n, heads, each);
  }
  value attended(const value& q, const value& k, const value& v, const std::string& at) const {
    const value y = attention(net, q, k, v, "", each);
    return linear(net, merge_heads(net, y, batch, n, width), at + "out_proj", width, width);
  }
  value mlp(const value& x, const std::string& at) const {
    const value normed = layer_norm(net, x, at + "final_layer_norm", width);
    const value inner = gelu(net, linear(net, normed, at + "fc1", width, 4 * width));
    return net.node("Add", {x, linear(net, inner, at + "fc2", 4 * width, width)});
  }
};

value heard(exporter& net, const value& x, const std::string& name, std::int64_t in,
            std::int64_t stride) {
  const value y = net.node(
      "Conv",
      {x, net.weight(name + ".weight", {width, in, 3}), net.weight(name + ".bias", {width})},
      {{"dilations", dims{1}},
       {"group", 1},
       {"kernel_shape", dims{3}},
       {"pads", dims{1, 1}},
       {"strides", dims{stride}}});
  return gelu(net, y);
}

} // namespace

::onnx::ModelProto whisper_encoder(std::string_view name) {
  exporter net(name, 17);
  value x = net.input("input_features", {"batch", 80, 2 * columns});
  const whisper w{net, net.size(x, 0), columns};
  x = heard(net, heard(net, x, "encoder.conv1", 80, 1), "encoder.conv2", width, 2);
  x = net.node("Add", {net.transpose(x, {0, 2, 1}),
                       net.weight("encoder.embed_positions.weight", {columns, width})});
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string at = "encoder.layers." + std::to_string(i) + ".";
    const value y = layer_norm(net, x, at + "self_attn_layer_norm", width);
    const value q = w.projected(y, at + "self_attn.q_proj", true);
    const value k = w.projected(y, at + "self_attn.k_proj", false);
    const value v = w.projected(y, at + "self_attn.v_proj", true);
    x = w.mlp(net.node("Add", {x, w.attended(q, k, v, at + "self_attn.")}), at);
  }
  net.output(layer_norm(net, x, "encoder.layer_norm", width), "last_hidden_state",
             {"batch", columns, width});
  return net.finish();
}

::onnx::ModelProto whisper_decoder(std::string_view name) {
  exporter net(name, 17);
  const value ids = net.input("input_ids", {"batch", 1}, ::onnx::TensorProto::INT64);
  const whisper w{net, net.size(ids, 0), 1};
  const auto cached = [&](std::int64_t layer, const std::string& which, const dim& n) {
    return net.input("past_key_values." + std::to_string(layer) + "." + which,
                     {"batch", heads, n, each});
  };
  value x = net.node("Gather", {net.weight("decoder.embed_tokens.weight", {words, width}), ids});
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string at = "decoder.layers." + std::to_string(i) + ".";
    const value keys = cached(i, "decoder.key", "past"),
                values = cached(i, "decoder.value", "past");
    const value sound = cached(i, "encoder.key", columns);
    const value meaning = cached(i, "encoder.value", columns);
    if (i == 0) { // the place of the token follows from the cache
      const value from = net.size(keys, 2), to = net.node("Add", {from, net.list({1})});
      x = net.node(
          "Add",
          {x, net.node("Slice", {net.weight("decoder.embed_positions.weight", {longest, width}),
                                 from, to, net.list({0}), net.list({1})})});
    }
    const value y = layer_norm(net, x, at + "self_attn_layer_norm", width);
    const value q = w.projected(y, at + "self_attn.q_proj", true);
    const value k = net.concat({keys, w.projected(y, at + "self_attn.k_proj", false)}, -2);
    const value v = net.concat({values, w.projected(y, at + "self_attn.v_proj", true)}, -2);
    x = net.node("Add", {x, w.attended(q, k, v, at + "self_attn.")});
    const value z = layer_norm(net, x, at + "encoder_attn_layer_norm", width);
    const value asked = w.projected(z, at + "encoder_attn.q_proj", true);
    x = net.node("Add", {x, w.attended(asked, sound, meaning, at + "encoder_attn.")});
    x = w.mlp(x, at);
    const std::string present = "present." + std::to_string(i) + ".decoder.";
    net.output(k, present + "key", {"batch", heads, "past + 1", each});
    net.output(v, present + "value", {"batch", heads, "past + 1", each});
  }
  x = layer_norm(net, x, "decoder.layer_norm", width);
  net.output(linear(net, x, "proj_out", width, words, false), "logits", {"batch", 1, words});
  return net.finish();
}

} // namespace benanza::generator::zoo
