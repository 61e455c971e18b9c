// SPDX-License-Identifier: Apache-2.0
// What is BERT-base (Devlin et al., 2018) as Hugging Face's model is exported? Twelve layers of
// width 768 with 12 heads, normalized after each residual, and a pooler on the first token.
#include "families.hpp"
#include "transformer.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t width = 768, heads = 12, each = 64, longest = 512;
constexpr float epsilon = 1e-12F;

value embed(exporter& net, const value& ids, const value& types, const dim& n) {
  const auto rows = [&](const std::string& name, std::int64_t count, const value& which) {
    return net.node("Gather", {net.weight("embeddings." + name, {count, width}), which});
  };
  dims places(longest);
  for (std::int64_t i = 0; i < longest; ++i)
    places[static_cast<std::size_t>(i)] = i;
  const value place = net.node("Slice", {net.table("embeddings.position_ids", {1, longest}, places),
                                         net.list({0}), net.sizes({n}), net.list({1})});
  const value words = net.node("Add", {rows("word_embeddings.weight", 30522, ids),
                                       rows("token_type_embeddings.weight", 2, types)});
  const value sum = net.node("Add", {words, rows("position_embeddings.weight", longest, place)});
  return layer_norm(net, sum, "embeddings.LayerNorm", width, epsilon);
}

value block(exporter& net, const value& x, const std::string& at, const value& mask,
            const dim& batch, const dim& n) {
  const auto projected = [&](const std::string& which) {
    return split_heads(net, linear(net, x, at + "attention.self." + which, width, width), batch, n,
                       heads, each);
  };
  const value q = projected("query"), k = projected("key"), v = projected("value");
  value y = merge_heads(net, attention(net, q, k, v, mask, each), batch, n, width);
  y = linear(net, y, at + "attention.output.dense", width, width);
  y = layer_norm(net, net.node("Add", {y, x}), at + "attention.output.LayerNorm", width, epsilon);
  value z = gelu(net, linear(net, y, at + "intermediate.dense", width, 4 * width));
  z = linear(net, z, at + "output.dense", 4 * width, width);
  return layer_norm(net, net.node("Add", {z, y}), at + "output.LayerNorm", width, epsilon);
}

} // namespace

::onnx::ModelProto bert(std::string_view name, int opset) {
  exporter net(name, opset);
  const auto tokens = [&](const std::string& of) {
    return net.input(of, {"batch", "sequence"}, ::onnx::TensorProto::INT64);
  };
  const value ids = tokens("input_ids"), seen = tokens("attention_mask"),
              types = tokens("token_type_ids");
  const dim batch = net.size(ids, 0), n = net.size(ids, 1);
  value x = embed(net, ids, types, n);
  const value wide = net.unsqueeze(net.unsqueeze(seen, 1), 2);
  const value hidden = net.node("Sub", {net.number(1), net.cast(wide, ::onnx::TensorProto::FLOAT)});
  value mask = net.node("Mul", {hidden, net.number(-3.4028235e38F)});
  if (opset >= 18) mask = net.node("Expand", {mask, net.sizes({batch, 1, n, n})});
  for (int i = 0; i < 12; ++i)
    x = block(net, x, "encoder.layer." + std::to_string(i) + ".", mask, batch, n);
  const value first = net.node("Gather", {x, net.index(0)}, {{"axis", 1}});
  const value pooled = net.node("Gemm",
                                {first, net.weight("pooler.dense.weight", {width, width}),
                                 net.weight("pooler.dense.bias", {width})},
                                {{"transB", 1}});
  net.output(x, "last_hidden_state", {"batch", "sequence", width});
  net.output(net.node("Tanh", {pooled}), "pooler_output", {"batch", width});
  return net.finish();
}

} // namespace benanza::generator::zoo
