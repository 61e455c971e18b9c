// SPDX-License-Identifier: Apache-2.0
// What is a YOLO detector of today? One of YOLOv8's smallest size (Jocher et al., 2023), built from
// its description: stages that split and concatenate (C2f), a pyramid of poolings (SPPF), a neck
// that goes up and down again, and heads without anchors that give the sides of a box as a
// distribution over 16 distances. 640x640 pixels, 80 classes, batch normalization folded.
#include "convolution.hpp"
#include "families.hpp"

#include <array>

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t classes = 80, distances = 16;
constexpr std::array<std::int64_t, 3> strides{8, 16, 32};

struct detector {
  exporter& net;

  feature_map layer(const feature_map& x, const std::string& name, std::int64_t out,
                    std::int64_t kernel = 1, std::int64_t stride = 1) const {
    return activate(net, conv(net, x, name, out, {.kernel = kernel, .stride = stride}), "SiLU");
  }
  feature_map joined(const std::vector<feature_map>& xs) const {
    std::vector<value> names;
    std::int64_t channels = 0;
    for (const feature_map& x : xs) {
      names.push_back(x.at);
      channels += x.channels;
    }
    return {net.concat(names, 1), channels};
  }

  /// Half of the channels go on through `units` pairs of convolutions; all that came by is joined.
  feature_map c2f(const feature_map& x, const std::string& at, std::int64_t out, int units,
                  bool residual) const {
    const std::int64_t half = out / 2;
    const std::vector<value> parts = net.split(layer(x, at + "cv1", out).at, 1, {half, half});
    std::vector<feature_map> all{{parts[0], half}, {parts[1], half}};
    for (int i = 0; i < units; ++i) {
      const std::string unit = at + "m." + std::to_string(i) + ".";
      const feature_map y = layer(layer(all.back(), unit + "cv1", half, 3), unit + "cv2", half, 3);
      all.push_back(residual ? add(net, all.back(), y) : y);
    }
    return layer(joined(all), at + "cv2", out);
  }

  feature_map sppf(const feature_map& x, const std::string& at) const {
    std::vector<feature_map> all{layer(x, at + "cv1", x.channels / 2)};
    for (int i = 0; i < 3; ++i)
      all.push_back({net.node("MaxPool", {all.back().at},
                              {{"ceil_mode", 0},
                               {"kernel_shape", dims{5, 5}},
                               {"pads", dims{2, 2, 2, 2}},
                               {"strides", dims{1, 1}}}),
                     x.channels / 2});
    return layer(joined(all), at + "cv2", x.channels);
  }

  feature_map twice(const feature_map& x) const {
    return {net.node("Resize", {x.at, "", net.scales({1, 1, 2, 2})},
                     {{"coordinate_transformation_mode", "asymmetric"},
                      {"mode", "nearest"},
                      {"nearest_mode", "floor"}}),
            x.channels};
  }

  /// What one scale says of its pixels: [batch, 4 * 16 + 80, pixels].
  value head(const feature_map& x, const std::string& scale, const dim& batch) const {
    const auto branch = [&](const std::string& which, std::int64_t inner, std::int64_t out) {
      const std::string at = "model.22." + which + "." + scale + ".";
      return conv(net, layer(layer(x, at + "0", inner, 3), at + "1", inner, 3), at + "2", out);
    };
    const feature_map both = joined({branch("cv2", 64, 4 * distances), branch("cv3", 80, classes)});
    return net.reshape(both.at, {batch, both.channels, -1});
  }

  /// Distances of a box's sides from its pixel, then its centre and its size in pixels of the
  /// image.
  value boxes(const value& sides, const dim& batch, std::int64_t pixels) const {
    const value odds = net.node(
        "Softmax", {net.transpose(net.reshape(sides, {batch, 4, distances, pixels}), {0, 2, 1, 3})},
        {{"axis", 1}});
    const feature_map mean = conv(net, {odds, distances}, "model.22.dfl.conv", 1, {.bias = false});
    const value far = net.reshape(mean.at, {batch, 4, pixels});
    const value at = net.weight("anchors", {1, 2, pixels});
    const value first = net.node("Sub", {at, net.slice(far, 1, 0, 2)});
    const value last = net.node("Add", {at, net.slice(far, 1, 2, 4)});
    const value centre = net.node("Div", {net.node("Add", {first, last}), net.number(2)});
    const value box = net.concat({centre, net.node("Sub", {last, first})}, 1);
    return net.node("Mul", {box, net.weight("strides", {1, pixels})});
  }
};

} // namespace

::onnx::ModelProto yolo(std::string_view name) {
  exporter net(name, 17);
  const detector d{net};
  const feature_map image{net.input("images", {"batch", 3, 640, 640}), 3};
  const dim batch = net.size(image.at, 0);
  feature_map x = d.layer(d.layer(image, "model.0", 16, 3, 2), "model.1", 32, 3, 2);
  x = d.layer(d.c2f(x, "model.2.", 32, 1, true), "model.3", 64, 3, 2);
  const feature_map fine = d.c2f(x, "model.4.", 64, 2, true);
  const feature_map middle = d.c2f(d.layer(fine, "model.5", 128, 3, 2), "model.6.", 128, 2, true);
  x = d.c2f(d.layer(middle, "model.7", 256, 3, 2), "model.8.", 256, 1, true);
  const feature_map coarse = d.sppf(x, "model.9.");

  const feature_map up = d.c2f(d.joined({d.twice(coarse), middle}), "model.12.", 128, 1, false);
  const feature_map small = d.c2f(d.joined({d.twice(up), fine}), "model.15.", 64, 1, false);
  x = d.layer(small, "model.16", 64, 3, 2);
  const feature_map medium = d.c2f(d.joined({x, up}), "model.18.", 128, 1, false);
  x = d.layer(medium, "model.19", 128, 3, 2);
  const feature_map large = d.c2f(d.joined({x, coarse}), "model.21.", 256, 1, false);

  std::int64_t pixels = 0;
  for (const std::int64_t s : strides)
    pixels += (640 / s) * (640 / s);
  const value all = net.concat(
      {d.head(small, "0", batch), d.head(medium, "1", batch), d.head(large, "2", batch)}, 2);
  const std::vector<value> parts = net.split(all, 1, {4 * distances, classes});
  const value found =
      net.concat({d.boxes(parts[0], batch, pixels), net.node("Sigmoid", {parts[1]})}, 1);
  net.output(found, "output0", {"batch", 4 + classes, pixels});
  return net.finish();
}

} // namespace benanza::generator::zoo
