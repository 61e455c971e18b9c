// SPDX-License-Identifier: Apache-2.0
// Operands written by hand, and all outputs of a layer on them.
//
//   computed("Conv/1x1x2x2-1x1x1-s1", {{1, 2, 3, 4}, {10}}) == std::vector<double>{10, 20, 30, 40}
#pragma once

#include <benanza/backend/reference/reference.hpp>

#include <string>

namespace benanza::backend::reference {

/// All outputs of a layer on operands of its own.
inline std::vector<double> outputs(const op::layer& l, const operands& o) {
  std::vector<double> out(static_cast<std::size_t>(result_count(l)));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = at(l, o, static_cast<std::int64_t>(i));
  return out;
}

/// All outputs of a layer on given values.
inline std::vector<double> computed(const std::string& name,
                                    const std::vector<std::vector<double>>& values) {
  const op::layer l = op::parse(name);
  operands o = make_operands(l, numeric::f32);
  for (std::size_t k = 0; k < values.size(); ++k)
    for (std::size_t i = 0; i < values[k].size(); ++i)
      store(o.inputs[k].type, o.inputs[k].bytes.data(), static_cast<std::int64_t>(i), values[k][i]);
  return outputs(l, o);
}

/// 1, 2, 3 ...
inline std::vector<double> counted(std::int64_t n) {
  std::vector<double> v;
  for (std::int64_t i = 1; i <= n; ++i)
    v.push_back(static_cast<double>(i));
  return v;
}

} // namespace benanza::backend::reference
