// SPDX-License-Identifier: Apache-2.0
#include "result/synthetic.hpp"

#include <benanza/model/footprint.hpp>
#include <doctest/doctest.h>

#include <cstdint>
#include <limits>

namespace model = benanza::model;
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

TEST_CASE("of layers that no memory holds the sums stay what 64 bits hold") {
  // 2^50 weights for each of ten thousand nodes.
  model::graph g;
  g.layers = {benanza::op::parse("Gemm/1x33554432x33554432-w")};
  for (int i = 0; i < 10000; ++i) {
    model::node n;
    n.layer = 0;
    g.nodes.push_back(n);
  }
  CHECK(footprint_bytes(g, numeric::f32) == std::numeric_limits<std::int64_t>::max());
  CHECK(benanza::model::runs_about_ns(g, numeric::f32, 1) > 1e12);
}
