// SPDX-License-Identifier: Apache-2.0
// What is GPT-2 (Radford et al., 2019), its smallest size, as Hugging Face's model is exported at
// opset 14? Twelve layers of width 768. `prefill` reads a whole text and returns the keys and
// values of all layers; `decode` reads one token more and those of the `past`.
#include "families.hpp"
#include "transformer.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t width = 768, heads = 12, each = 64, longest = 1024, words = 50257;

/// Hugging Face's Conv1D: Gemm on a matrix, with views before and behind it.
value projected(exporter& net, const value& x, const std::string& name, std::int64_t in,
                std::int64_t out, const dim& batch, const dim& n) {
  const value y =
      net.node("Gemm", {net.reshape(x, {-1, in}), net.weight(name + ".weight", {in, out}),
                        net.weight(name + ".bias", {out})});
  return net.reshape(y, {batch, n, out});
}

struct cache {
  value keys, values;
};

/// One layer; `past` is joined where there is one, and becomes what the next token finds.
value block(exporter& net, const value& x, const std::string& at, cache& past, const value& mask,
            const dim& batch, const dim& n) {
  const value normed = layer_norm(net, x, at + "ln_1", width);
  const value all = projected(net, normed, at + "attn.c_attn", width, 3 * width, batch, n);
  const std::vector<value> parts = net.split(all, 2, {width, width, width});
  const auto in_heads = [&](std::size_t i) {
    return split_heads(net, parts[i], batch, n, heads, each);
  };
  const value q = in_heads(0);
  const auto joined = [&](const value& before, const value& fresh) {
    return before.empty() ? fresh : net.concat({before, fresh}, -2);
  };
  past = {joined(past.keys, in_heads(1)), joined(past.values, in_heads(2))};

  value scores = net.node("MatMul", {q, net.transpose(past.keys, {0, 1, 3, 2})});
  scores = net.node("Div", {scores, net.number(8)});
  // Which tokens may a token see? A part of a triangle of truth values.
  const value all_tokens = net.size(past.keys, 2);
  const value first = net.node("Sub", {all_tokens, net.sizes({n})});
  value seen = net.weight("attn.bias", {1, 1, longest, longest}, ::onnx::TensorProto::BOOL);
  seen = net.node("Slice", {seen, first, all_tokens, net.list({2}), net.list({1})});
  seen = net.node("Slice", {seen, net.list({0}), all_tokens, net.list({3}), net.list({1})});
  scores = net.node("Where", {seen, scores, net.number(-3.4028235e38F)});
  scores = net.node("Add", {scores, mask});
  const value weights = net.node("Softmax", {scores}, {{"axis", -1}});
  value y = merge_heads(net, net.node("MatMul", {weights, past.values}), batch, n, width);
  y = net.node("Add", {projected(net, y, at + "attn.c_proj", width, width, batch, n), x});

  value z = layer_norm(net, y, at + "ln_2", width);
  z = gelu_tanh(net, projected(net, z, at + "mlp.c_fc", width, 4 * width, batch, n));
  return net.node("Add", {y, projected(net, z, at + "mlp.c_proj", 4 * width, width, batch, n)});
}

} // namespace

::onnx::ModelProto gpt2(std::string_view name, bool decode) {
  constexpr auto whole = ::onnx::TensorProto::INT64;
  exporter net(name, 14);
  const dim length = decode ? dim(1) : dim("sequence"), total = decode ? "past + 1" : "sequence";
  const value ids = net.input("input_ids", {"batch", length}, whole);
  const value places = net.input("position_ids", {"batch", length}, whole);
  const value given = net.input("attention_mask", {"batch", total}, whole);
  const dim batch = net.size(ids, 0), n = net.size(ids, 1);

  value x =
      net.node("Add", {net.node("Gather", {net.weight("wte.weight", {words, width}), ids}),
                       net.node("Gather", {net.weight("wpe.weight", {longest, width}), places})});
  const value wide =
      net.cast(net.unsqueeze(net.unsqueeze(given, 1), 2), ::onnx::TensorProto::FLOAT);
  const value mask =
      net.node("Mul", {net.node("Sub", {net.number(1), wide}), net.number(-3.4028235e38F)});
  for (int i = 0; i < 12; ++i) {
    const std::string at = std::to_string(i);
    cache past;
    if (decode)
      past = {net.input("past_key_values." + at + ".key", {"batch", heads, "past", each}),
              net.input("past_key_values." + at + ".value", {"batch", heads, "past", each})};
    x = block(net, x, "h." + at + ".", past, mask, batch, n);
    net.output(past.keys, "present." + at + ".key", {"batch", heads, total, each});
    net.output(past.values, "present." + at + ".value", {"batch", heads, total, each});
  }
  x = layer_norm(net, x, "ln_f", width);
  net.output(linear(net, x, "lm_head", width, words, false), "logits", {"batch", length, words});
  return net.finish();
}

} // namespace benanza::generator::zoo
