// SPDX-License-Identifier: Apache-2.0
// Which parts do convolutional networks share, as PyTorch exports them? A convolution with the
// batch normalization behind it folded into its weights, activations of a name, and the
// squeeze-and-excitation that scales channels by what all pixels say.
#pragma once

#include "exporter.hpp"

namespace benanza::generator::zoo {

/// A feature map: a value [batch, channels, height, width].
struct feature_map {
  value at;
  std::int64_t channels = 0;
};

/// Kernel, stride and groups; pads keep the size at stride 1, unless `pad` says otherwise.
struct filter {
  std::int64_t kernel = 1, stride = 1, groups = 1, pad = -1;
  bool bias = true;
};

feature_map conv(exporter& net, const feature_map& x, const std::string& name, std::int64_t out,
                 const filter& f = {});
/// By the operator's name; "SiLU" is Sigmoid and Mul.
feature_map activate(exporter& net, const feature_map& x, const std::string& function);
/// x times what two 1x1 convolutions make of its mean: the first has `squeezed` channels.
feature_map excite(exporter& net, const feature_map& x, const std::string& name,
                   std::int64_t squeezed, const std::string& inner, const std::string& gate);
feature_map add(exporter& net, const feature_map& a, const feature_map& b);
/// The mean of all pixels to [batch, classes], by one Gemm.
value classify(exporter& net, const feature_map& x, const std::string& name, std::int64_t classes);
/// Gemm of a matrix with a transposed weight and a bias.
value dense(exporter& net, const value& x, const std::string& name, std::int64_t in,
            std::int64_t out);

} // namespace benanza::generator::zoo
