// SPDX-License-Identifier: Apache-2.0
#include <benanza/backend/onednn/broadcast.hpp>

#include <doctest/doctest.h>

using namespace benanza;
namespace onednn = backend::onednn;

TEST_CASE("onednn: operands that broadcast are described in as few dims as possible") {
  const auto sizes = [](const shape& a, const shape& b) {
    const onednn::broadcast_dims d(onednn::pieces_of(a, b));
    return std::pair(d.first, d.second);
  };
  using onednn::dims;
  CHECK(sizes({2, 3, 4, 5}, {2, 3, 4, 5}) == std::pair(dims{120}, dims{120}));
  CHECK(sizes({1, 64, 56, 56}, {64, 1, 1}) == std::pair(dims{64, 3136}, dims{64, 1}));
  CHECK(sizes({2, 3, 4}, {1}) == std::pair(dims{24}, dims{1}));
  CHECK(sizes({2, 1, 4}, {3, 1}) == std::pair(dims{2, 1, 4}, dims{1, 3, 1}));
  CHECK(sizes({1}, {1, 1}) == std::pair(dims{1}, dims{1}));
}
