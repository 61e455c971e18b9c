// SPDX-License-Identifier: Apache-2.0
// How does PyTorch's exporter write convolutions and what is around them? Every attribute is
// spelled out; HardSigmoid and HardSwish are operators from opset 14.
#include "convolution.hpp"

#include "transformer.hpp"

namespace benanza::generator::zoo {

feature_map conv(exporter& net, const feature_map& x, const std::string& name, std::int64_t out,
                 const filter& f) {
  const std::int64_t pad = f.pad < 0 ? f.kernel / 2 : f.pad;
  std::vector<value> inputs{
      x.at, net.weight(name + ".weight", {out, x.channels / f.groups, f.kernel, f.kernel})};
  if (f.bias) inputs.push_back(net.weight(name + ".bias", {out}));
  return {net.node("Conv", inputs,
                   {{"dilations", dims{1, 1}},
                    {"group", f.groups},
                    {"kernel_shape", dims{f.kernel, f.kernel}},
                    {"pads", dims{pad, pad, pad, pad}},
                    {"strides", dims{f.stride, f.stride}}}),
          out};
}

feature_map activate(exporter& net, const feature_map& x, const std::string& function) {
  if (function.empty()) return x;
  if (function == "SiLU") return {silu(net, x.at), x.channels};
  std::vector<attr> attributes;
  if (function == "HardSigmoid") attributes.push_back({"alpha", 1.0F / 6});
  return {net.node(function, {x.at}, attributes), x.channels};
}

feature_map excite(exporter& net, const feature_map& x, const std::string& name,
                   std::int64_t squeezed, const std::string& inner, const std::string& gate) {
  const feature_map mean{net.node("GlobalAveragePool", {x.at}), x.channels};
  const feature_map small = activate(net, conv(net, mean, name + ".fc1", squeezed), inner);
  const feature_map scale = activate(net, conv(net, small, name + ".fc2", x.channels), gate);
  return {net.node("Mul", {scale.at, x.at}), x.channels};
}

feature_map add(exporter& net, const feature_map& a, const feature_map& b) {
  return {net.node("Add", {a.at, b.at}), a.channels};
}

value dense(exporter& net, const value& x, const std::string& name, std::int64_t in,
            std::int64_t out) {
  return net.node("Gemm",
                  {x, net.weight(name + ".weight", {out, in}), net.weight(name + ".bias", {out})},
                  {{"transB", 1}});
}

value classify(exporter& net, const feature_map& x, const std::string& name, std::int64_t classes) {
  const value mean = net.node("GlobalAveragePool", {x.at});
  return dense(net, net.node("Flatten", {mean}, {{"axis", 1}}), name, x.channels, classes);
}

} // namespace benanza::generator::zoo
