// SPDX-License-Identifier: Apache-2.0
// What are the convolutional networks of 2019 to 2022, as torchvision's are exported?
// EfficientNet-B0 (Tan and Le, 2019), MobileNet-v3-large (Howard et al., 2019), RegNetY-400MF
// (Radosavovic et al., 2020) and ConvNeXt-T (Liu et al., 2022).
#include "convolution.hpp"
#include "families.hpp"
#include "transformer.hpp"

#include <array>
#include <cmath>

namespace benanza::generator::zoo {
namespace {

/// An inverted bottleneck: widened, filtered channel by channel, excited, narrowed.
struct bottleneck {
  std::int64_t kernel, wide, out, squeezed, stride;
  const char* function;
};

feature_map inverted(exporter& net, const feature_map& x, const std::string& at,
                     const bottleneck& b, const std::string& inner, const std::string& gate) {
  feature_map y = x;
  if (b.wide != x.channels) y = activate(net, conv(net, y, at + "expand", b.wide), b.function);
  y = conv(net, y, at + "depthwise", b.wide,
           {.kernel = b.kernel, .stride = b.stride, .groups = b.wide});
  y = activate(net, y, b.function);
  if (b.squeezed > 0) y = excite(net, y, at + "se", b.squeezed, inner, gate);
  y = conv(net, y, at + "project", b.out);
  return b.stride == 1 && b.out == x.channels ? add(net, y, x) : y;
}

feature_map image(exporter& net) {
  return {net.input("input", {"batch", 3, 224, 224}), 3};
}

::onnx::ModelProto finished(exporter& net, const value& logits) {
  net.output(logits, "logits", {"batch", 1000});
  return net.finish();
}

struct efficient_stage {
  std::int64_t expand, out, kernel, stride;
  int units;
};

constexpr std::array<efficient_stage, 7> efficient_stages{{{1, 16, 3, 1, 1},
                                                           {6, 24, 3, 2, 2},
                                                           {6, 40, 5, 2, 2},
                                                           {6, 80, 3, 2, 3},
                                                           {6, 112, 5, 1, 3},
                                                           {6, 192, 5, 2, 4},
                                                           {6, 320, 3, 1, 1}}};

constexpr std::array<bottleneck, 15> mobile_units{{{3, 16, 16, 0, 1, "Relu"},
                                                   {3, 64, 24, 0, 2, "Relu"},
                                                   {3, 72, 24, 0, 1, "Relu"},
                                                   {5, 72, 40, 24, 2, "Relu"},
                                                   {5, 120, 40, 32, 1, "Relu"},
                                                   {5, 120, 40, 32, 1, "Relu"},
                                                   {3, 240, 80, 0, 2, "HardSwish"},
                                                   {3, 200, 80, 0, 1, "HardSwish"},
                                                   {3, 184, 80, 0, 1, "HardSwish"},
                                                   {3, 184, 80, 0, 1, "HardSwish"},
                                                   {3, 480, 112, 120, 1, "HardSwish"},
                                                   {3, 672, 112, 168, 1, "HardSwish"},
                                                   {5, 672, 160, 168, 2, "HardSwish"},
                                                   {5, 960, 160, 240, 1, "HardSwish"},
                                                   {5, 960, 160, 240, 1, "HardSwish"}}};

/// RegNet's block Y: a bottleneck with a grouped convolution, excited before it ends.
feature_map regnet_block(exporter& net, const feature_map& x, const std::string& at,
                         std::int64_t width, std::int64_t stride) {
  feature_map y = activate(net, conv(net, x, at + "a", width), "Relu");
  y = conv(net, y, at + "b", width, {.kernel = 3, .stride = stride, .groups = width / 8});
  y = excite(net, activate(net, y, "Relu"), at + "se",
             std::llround(0.25 * static_cast<double>(x.channels)), "Relu", "Sigmoid");
  y = conv(net, y, at + "c", width);
  const bool same = x.channels == width && stride == 1;
  const feature_map beside = same ? x : conv(net, x, at + "proj", width, {.stride = stride});
  return activate(net, add(net, beside, y), "Relu");
}

/// LayerNorm over the channels of images: with their channels last, and back.
feature_map norm_of_images(exporter& net, const feature_map& x, const std::string& name) {
  const value last = net.transpose(x.at, {0, 2, 3, 1});
  return {net.transpose(layer_norm(net, last, name, x.channels, 1e-6F), {0, 3, 1, 2}), x.channels};
}

feature_map convnext_block(exporter& net, const feature_map& x, const std::string& at) {
  const std::int64_t c = x.channels;
  value y = conv(net, x, at + "block.0", c, {.kernel = 7, .groups = c}).at;
  y = layer_norm(net, net.transpose(y, {0, 2, 3, 1}), at + "block.2", c, 1e-6F);
  y = gelu(net, linear(net, y, at + "block.3", c, 4 * c));
  y = net.transpose(linear(net, y, at + "block.5", 4 * c, c), {0, 3, 1, 2});
  y = net.node("Mul", {net.weight(at + "layer_scale", {c, 1, 1}), y});
  return add(net, {y, c}, x);
}

} // namespace

::onnx::ModelProto efficientnet(std::string_view name) {
  exporter net(name, 17);
  feature_map x = conv(net, image(net), "features.0", 32, {.kernel = 3, .stride = 2});
  x = activate(net, x, "SiLU");
  int number = 0;
  for (const efficient_stage& s : efficient_stages)
    for (int i = 0; i < s.units; ++i)
      x = inverted(
          net, x, "features.unit" + std::to_string(number++) + ".",
          {s.kernel, x.channels * s.expand, s.out, x.channels / 4, i == 0 ? s.stride : 1, "SiLU"},
          "SiLU", "Sigmoid");
  x = activate(net, conv(net, x, "features.8", 1280), "SiLU");
  return finished(net, classify(net, x, "classifier.1", 1000));
}

::onnx::ModelProto mobilenet_v3(std::string_view name) {
  exporter net(name, 17);
  feature_map x = conv(net, image(net), "features.0", 16, {.kernel = 3, .stride = 2});
  x = activate(net, x, "HardSwish");
  int number = 1;
  for (const bottleneck& b : mobile_units)
    x = inverted(net, x, "features." + std::to_string(number++) + ".", b, "Relu", "HardSigmoid");
  x = activate(net, conv(net, x, "features.16", 960), "HardSwish");
  const feature_map hidden{classify(net, x, "classifier.0", 1280), 1280};
  return finished(net,
                  dense(net, activate(net, hidden, "HardSwish").at, "classifier.3", 1280, 1000));
}

::onnx::ModelProto regnet_y(std::string_view name) {
  exporter net(name, 17);
  feature_map x = conv(net, image(net), "stem.0", 32, {.kernel = 3, .stride = 2});
  x = activate(net, x, "Relu");
  constexpr std::array<std::pair<std::int64_t, int>, 4> stages{
      {{48, 1}, {104, 3}, {208, 6}, {440, 6}}};
  for (std::size_t s = 0; s < stages.size(); ++s)
    for (int i = 0; i < stages[s].second; ++i)
      x = regnet_block(net, x,
                       "trunk.block" + std::to_string(s + 1) + "." + std::to_string(i) + ".",
                       stages[s].first, i == 0 ? 2 : 1);
  return finished(net, classify(net, x, "fc", 1000));
}

::onnx::ModelProto convnext(std::string_view name) {
  exporter net(name, 17);
  feature_map x = conv(net, image(net), "features.0.0", 96, {.kernel = 4, .stride = 4, .pad = 0});
  x = norm_of_images(net, x, "features.0.1");
  int number = 1;
  for (const int blocks : {3, 3, 9, 3}) {
    if (number > 1) {
      const std::string at = "features." + std::to_string(number++) + ".";
      x = conv(net, norm_of_images(net, x, at + "0"), at + "1", 2 * x.channels,
               {.kernel = 2, .stride = 2, .pad = 0});
    }
    for (int i = 0; i < blocks; ++i)
      x = convnext_block(net, x,
                         "features." + std::to_string(number) + "." + std::to_string(i) + ".");
    ++number;
  }
  const feature_map mean{net.node("GlobalAveragePool", {x.at}), x.channels};
  const feature_map normed = norm_of_images(net, mean, "classifier.0");
  const value flat = net.node("Flatten", {normed.at}, {{"axis", 1}});
  return finished(net, dense(net, flat, "classifier.2", x.channels, 1000));
}

} // namespace benanza::generator::zoo
