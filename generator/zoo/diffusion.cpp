// SPDX-License-Identifier: Apache-2.0
// What does a diffusion model run at each step? The U-Net of DDPM (Ho et al., 2020) for 32x32
// images: four sizes of 128 and 256 channels, attention over the 16x16 pixels, and the step's
// number as waves that every block adds. A group norm is exported as instance norm between views.
#include "convolution.hpp"
#include "families.hpp"
#include "transformer.hpp"

namespace benanza::generator::zoo {
namespace {

constexpr std::int64_t groups = 32, wave = 128, step_width = 4 * wave;

struct unet {
  exporter& net;
  dim batch{};
  value step{}; ///< [batch, step_width]

  feature_map norm(const feature_map& x, const std::string& name) const {
    const value grouped = net.reshape(x.at, {0, groups, -1});
    const value normed =
        net.node("InstanceNormalization",
                 {grouped, net.weight("norm_ones", {groups}), net.weight("norm_zeros", {groups})},
                 {{"epsilon", 1e-6F}});
    const value back = net.node("Reshape", {normed, net.node("Shape", {x.at})});
    const value scaled = net.node("Mul", {back, net.weight(name + ".weight", {x.channels, 1, 1})});
    return {net.node("Add", {scaled, net.weight(name + ".bias", {x.channels, 1, 1})}), x.channels};
  }

  /// Waves of the step's number through two linear layers.
  void read_step(const value& number) {
    const value at = net.unsqueeze(net.cast(number, ::onnx::TensorProto::FLOAT), 1);
    const value angles = net.node("Mul", {at, net.weight("frequencies", {1, wave / 2})});
    const value waves = net.concat({net.node("Sin", {angles}), net.node("Cos", {angles})}, -1);
    const value y = silu(net, dense(net, waves, "time_embedding.1", wave, step_width));
    step = silu(net, dense(net, y, "time_embedding.2", step_width, step_width));
  }

  feature_map residual(const feature_map& x, const std::string& at, std::int64_t out) const {
    feature_map y = activate(net, norm(x, at + "norm1"), "SiLU");
    y = conv(net, y, at + "conv1", out, {.kernel = 3});
    const value now = dense(net, step, at + "time_emb_proj", step_width, out);
    y = add(net, y, {net.unsqueeze(net.unsqueeze(now, 2), 3), out});
    y = activate(net, norm(y, at + "norm2"), "SiLU");
    y = conv(net, y, at + "conv2", out, {.kernel = 3});
    return add(net, x.channels == out ? x : conv(net, x, at + "conv_shortcut", out), y);
  }

  /// Every pixel sees all others; one head of all channels.
  feature_map attend(const feature_map& x, const std::string& at, std::int64_t side) const {
    const std::int64_t c = x.channels;
    const value pixels = net.reshape(norm(x, at + "group_norm").at, {batch, c, side * side});
    const value rows = net.transpose(pixels, {0, 2, 1});
    const auto projected = [&](const std::string& which) {
      return net.unsqueeze(linear(net, rows, at + which, c, c), 1);
    };
    const value q = projected("to_q"), k = projected("to_k"), v = projected("to_v");
    value y = net.node("Squeeze", {attention(net, q, k, v, "", c), net.list({1})});
    y = net.transpose(linear(net, y, at + "to_out", c, c), {0, 2, 1});
    return add(net, {net.reshape(y, {batch, c, side, side}), c}, x);
  }
};

} // namespace

::onnx::ModelProto ddpm(std::string_view name) {
  constexpr std::int64_t attended = 16;
  const std::vector<std::int64_t> widths{128, 256, 256, 256};
  exporter net(name, 17);
  unet u{net};
  feature_map x{net.input("sample", {"batch", 3, 32, 32}), 3};
  u.batch = net.size(x.at, 0);
  u.read_step(net.input("timestep", {"batch"}, ::onnx::TensorProto::INT64));
  x = conv(net, x, "conv_in", widths[0], {.kernel = 3});
  std::vector<feature_map> kept{x};
  std::int64_t side = 32;
  for (std::size_t level = 0; level < widths.size(); ++level) {
    const std::string at = "down_blocks." + std::to_string(level) + ".";
    for (int i = 0; i < 2; ++i) {
      const std::string number = std::to_string(i) + ".";
      x = u.residual(x, at + "resnets." + number, widths[level]);
      if (side == attended) x = u.attend(x, at + "attentions." + number, side);
      kept.push_back(x);
    }
    if (level + 1 == widths.size()) break;
    const value padded = net.node("Pad", {x.at, net.list({0, 0, 0, 0, 0, 0, 1, 1})});
    x = conv(net, {padded, x.channels}, at + "downsample", x.channels,
             {.kernel = 3, .stride = 2, .pad = 0});
    kept.push_back(x);
    side /= 2;
  }
  x = u.residual(x, "mid_block.resnets.0.", x.channels);
  x = u.attend(x, "mid_block.attentions.0.", side);
  x = u.residual(x, "mid_block.resnets.1.", x.channels);
  for (std::size_t level = widths.size(); level-- > 0;) {
    const std::string at = "up_blocks." + std::to_string(widths.size() - 1 - level) + ".";
    for (int i = 0; i < 3; ++i) {
      const std::string number = std::to_string(i) + ".";
      const feature_map beside = kept.back();
      kept.pop_back();
      x = {net.concat({x.at, beside.at}, 1), x.channels + beside.channels};
      x = u.residual(x, at + "resnets." + number, widths[level]);
      if (side == attended) x = u.attend(x, at + "attentions." + number, side);
    }
    if (level == 0) break;
    const value larger = net.node("Resize", {x.at, "", net.scales({1, 1, 2, 2})},
                                  {{"coordinate_transformation_mode", "asymmetric"},
                                   {"mode", "nearest"},
                                   {"nearest_mode", "floor"}});
    x = conv(net, {larger, x.channels}, at + "upsample", x.channels, {.kernel = 3});
    side *= 2;
  }
  x = activate(net, u.norm(x, "conv_norm_out"), "SiLU");
  net.output(conv(net, x, "conv_out", 3, {.kernel = 3}).at, "out_sample", {"batch", 3, 32, 32});
  return net.finish();
}

} // namespace benanza::generator::zoo
