// SPDX-License-Identifier: Apache-2.0
// How much of a GPU's memory do the groups of large models take? By how their layers are described
// to cuDNN: each operand once for each layout, one result, the largest workspace allowed.
#include <benanza/backend/cudnn/enumerate.hpp>
#include <benanza/backend/make_operands.hpp>
#include <benanza/measure/sampling/parameters.hpp>

#include <doctest/doctest.h>

#include <set>
#include <vector>

using namespace benanza;
using namespace benanza::backend;

namespace {
std::int64_t bytes_of_group(const op::layer& l, numeric t) {
  std::set<std::vector<std::int64_t>> seen;
  std::int64_t operands = 0, result = 0;
  for (const cudnn::recipe& r : cudnn::recipes_for(l, t))
    for (const cudnn::placed& p : r.tensors) {
      if (p.input == cudnn::placed::result) result = std::max(result, p.is().bytes());
      std::vector<std::int64_t> way{p.input, static_cast<std::int64_t>(p.type), p.elements};
      way.insert(way.end(), p.strides.begin(), p.strides.end());
      if (p.input >= 0 && seen.insert(way).second) operands += p.is().bytes();
    }
  constexpr std::int64_t pool = std::int64_t{256} << 20, flush = std::int64_t{200} << 20;
  return operands + result + measure::usual_parameters.most_workspace_bytes + pool + flush;
}
} // namespace

TEST_CASE("cudnn: the largest layers of ResNet-50 and VGG-16 at batch 32 take less than 8 GiB") {
  std::int64_t least = std::int64_t{1} << 60, most = 0;
  for (const char* layer :
       {"Conv/32x64x224x224-64x3x3-s1-p1", "Conv/32x64x112x112-128x3x3-s1-p1",
        "Conv/32x256x56x56-512x1x1-s2", "Conv/32x64x56x56-256x1x1-s1", "Relu/32x64x224x224",
        "MaxPool/32x64x224x224-2x2-s2", "Add/32x256x56x56"})
    for (const numeric t : {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16}) {
      const std::int64_t bytes = bytes_of_group(op::parse(layer), t);
      least = std::min(least, bytes);
      most = std::max(most, bytes);
    }
  CHECK(most < std::int64_t{8} << 30);
  CHECK(most > std::int64_t{2} << 30); // VGG-16's second convolution alone reads 0.4 GB
  CHECK(least > std::int64_t{1} << 30);
}
