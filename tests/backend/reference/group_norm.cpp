// SPDX-License-Identifier: Apache-2.0
// Are group and instance normalization what their definitions say, channel by channel?
#include "by_hand.hpp"

#include <doctest/doctest.h>

using namespace benanza;
using namespace benanza::backend;
using namespace benanza::backend::reference;

namespace {
/// Places are image x channel x inner; every `in_group` channels share their statistics.
void check_channels(const std::string& name, std::int64_t images, std::int64_t channels,
                    std::int64_t inner, std::int64_t in_group) {
  CAPTURE(name);
  const op::layer l = op::parse(name);
  const operands o = make_operands(l, numeric::f32);
  const auto out = outputs(l, o);
  const auto x = [&](std::int64_t n, std::int64_t c, std::int64_t i) {
    return element(o, 0, (n * channels + c) * inner + i);
  };
  for (std::int64_t n = 0; n < images; ++n)
    for (std::int64_t c = 0; c < channels; ++c) {
      const std::int64_t first = c / in_group * in_group;
      double sum = 0, squares = 0;
      for (std::int64_t k = first; k < first + in_group; ++k)
        for (std::int64_t i = 0; i < inner; ++i)
          sum += x(n, k, i), squares += x(n, k, i) * x(n, k, i);
      const auto count = static_cast<double>(in_group * inner);
      const double mean = sum / count;
      const double deviation = std::sqrt(squares / count - mean * mean + attribute::epsilon);
      for (std::int64_t i = 0; i < inner; ++i)
        CHECK(out[static_cast<std::size_t>((n * channels + c) * inner + i)] ==
              doctest::Approx((x(n, c, i) - mean) / deviation * element(o, 1, c) + element(o, 2, c))
                  .epsilon(1e-9));
    }
}
} // namespace

TEST_CASE("groups of channels share their statistics, channels have a scale each") {
  check_channels("GroupNormalization/2x6x3x2-g2", 2, 6, 6, 3);
  check_channels("GroupNormalization/1x4x5", 1, 4, 5, 4);
  check_channels("GroupNormalization/3x4-g2", 3, 4, 1, 2);
}

TEST_CASE("instances are channels of one image") {
  check_channels("InstanceNormalization/2x3x4x5", 2, 3, 20, 1);
  check_channels("InstanceNormalization/1x2x7", 1, 2, 7, 1);
}

TEST_CASE("a group for each channel is instance normalization") {
  const std::vector<double> x = counted(24), scale = counted(3), shift = counted(3);
  CHECK(computed("GroupNormalization/2x3x4-g3", {x, scale, shift}) ==
        computed("InstanceNormalization/2x3x4", {x, scale, shift}));
}
