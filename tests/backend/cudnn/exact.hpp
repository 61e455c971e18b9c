// SPDX-License-Identifier: Apache-2.0
// Is what a GPU computed right, in all elements? For tests on the fake GPU.
//
//   exact e("Conv/1x8x7x7-16x3x3-s1-p1", numeric::f16);   e.is_result_of(run)
#pragma once

#include <benanza/backend/make_operands.hpp>
#include <benanza/backend/prepared.hpp>
#include <benanza/backend/reference/reference.hpp>
#include <benanza/backend/tolerance.hpp>

#include <numeric>

namespace cudnn_test {

struct exact {
  benanza::op::layer layer;
  benanza::numeric type;
  benanza::backend::operands values;
  std::vector<std::int64_t> positions{};
  std::vector<double> expected{};

  exact(const std::string& name, benanza::numeric t)
      : layer(benanza::op::parse(name))
      , type(t)
      , values(benanza::backend::make_operands(layer, t))
      , positions(static_cast<std::size_t>(benanza::backend::result_count(layer)))
      , expected(positions.size()) {
    std::iota(positions.begin(), positions.end(), 0);
    benanza::backend::reference::evaluate(layer, t, values, positions, expected);
  }

  bool is_result_of(benanza::backend::prepared& run) const {
    std::vector<double> got;
    run.run(1);
    run.read(got);
    return benanza::backend::compare(layer, type, positions, expected, got).ok;
  }
};

} // namespace cudnn_test
