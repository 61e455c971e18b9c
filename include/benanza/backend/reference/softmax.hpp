// SPDX-License-Identifier: Apache-2.0
// One output of Softmax or LogSoftmax (ONNX Softmax-13). All outputs of one line along the axis
// share a maximum and a sum; `softmax_lines` keeps them, so that checking many positions stays
// cheap.
//
//   softmax_lines lines(p, operands);   lines.at(3)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace benanza::backend::reference {

class softmax_lines {
public:
  softmax_lines(const op::softmax& p, const operands& o)
      : p_(p)
      , o_(o)
      , inner_(elements(p.input, p.axis + 1, p.input.size)) {}

  /// The exact output at a flat index.
  double at(std::int64_t flat) {
    const std::int64_t row = inner_ * p_.input[p_.axis], base = flat / row * row + flat % inner_;
    auto found = lines_.find(base);
    if (found == lines_.end()) found = lines_.emplace(base, line_at(base)).first;
    const auto [most, sum] = found->second;
    const double v = element(o_, 0, flat) - most;
    return p_.log ? v - std::log(sum) : std::exp(v) / sum;
  }

private:
  struct line {
    double most, sum;
  };
  line line_at(std::int64_t base) const {
    line out{-std::numeric_limits<double>::infinity(), 0};
    for (std::int64_t i = 0; i < p_.input[p_.axis]; ++i)
      out.most = std::max(out.most, element(o_, 0, base + i * inner_));
    for (std::int64_t i = 0; i < p_.input[p_.axis]; ++i)
      out.sum += std::exp(element(o_, 0, base + i * inner_) - out.most);
    return out;
  }

  const op::softmax& p_;
  const operands& o_;
  std::int64_t inner_;
  std::unordered_map<std::int64_t, line> lines_;
};

/// What the outputs of one layer are computed with, one after the other.
inline softmax_lines lines_of(const op::softmax& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
