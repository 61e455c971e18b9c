// SPDX-License-Identifier: Apache-2.0
// What is a recurrent language model? The medium one of Zaremba et al. (2014) for Penn Treebank:
// two LSTM layers of 650 units between an embedding and a product with all 10,000 words, as PyTorch
// exports it, the sequence first and with two biases.
#include "families.hpp"
#include "transformer.hpp"

namespace benanza::generator::zoo {

::onnx::ModelProto lstm(std::string_view name) {
  constexpr std::int64_t layers = 2, width = 650, words = 10000;
  exporter net(name, 14);
  const value ids = net.input("input", {"sequence", "batch"}, ::onnx::TensorProto::INT64);
  const value hidden = net.input("h0", {layers, "batch", width});
  const value cells = net.input("c0", {layers, "batch", width});
  value x = net.node("Gather", {net.weight("encoder.weight", {words, width}), ids});
  std::vector<value> last_hidden, last_cells;
  for (std::int64_t i = 0; i < layers; ++i) {
    const std::string at = "rnn.layer" + std::to_string(i) + ".";
    const auto of_layer = [&](const value& all) { return net.slice(all, 0, i, i + 1); };
    const std::vector<value> out =
        net.nodes("LSTM",
                  {x, net.weight(at + "W", {1, 4 * width, width}),
                   net.weight(at + "R", {1, 4 * width, width}),
                   net.weight(at + "B", {1, 8 * width}), "", of_layer(hidden), of_layer(cells)},
                  3, {{"hidden_size", width}});
    x = net.node("Squeeze", {out[0], net.list({1})});
    last_hidden.push_back(out[1]);
    last_cells.push_back(out[2]);
  }
  net.output(linear(net, x, "decoder", width, words), "logits", {"sequence", "batch", words});
  net.output(net.concat(last_hidden, 0), "hn", {layers, "batch", width});
  net.output(net.concat(last_cells, 0), "cn", {layers, "batch", width});
  return net.finish();
}

} // namespace benanza::generator::zoo
