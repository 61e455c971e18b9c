// SPDX-License-Identifier: Apache-2.0
#include "result/synthetic.hpp"

#include <benanza/model/footprint.hpp>
#include <doctest/doctest.h>

using benanza::numeric;
using benanza::model::footprint_bytes;

TEST_CASE("a run goes through the weights of every node, and the activations of two layers") {
  CHECK(footprint_bytes({}, numeric::f32) == 0);
  const auto twice = synthetic::make_graph("m", {synthetic::conv, synthetic::conv, synthetic::relu},
                                           {{}, {0}, {1}});
  const std::int64_t weights = 64 * 64 * 9, activation = 64 * 56 * 56;
  CHECK(footprint_bytes(twice, numeric::f32) == 4 * (2 * weights + 2 * 2 * activation));
  CHECK(footprint_bytes(twice, numeric::bf16) == footprint_bytes(twice, numeric::f32) / 2);
}
