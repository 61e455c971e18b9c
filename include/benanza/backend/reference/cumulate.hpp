// SPDX-License-Identifier: Apache-2.0
// Running sums and products (ONNX CumSum-14, CumProd-26), in double, a line at a time.
//
//   lines_of(cumulate{.input = {8, 512}, .axis = 1}, operands).at(7)
#pragma once

#include "position.hpp"

namespace benanza::backend::reference {

class running {
public:
  running(const op::cumulate& p, const operands& o)
      : p_(p)
      , o_(o)
      , inner_(elements(p.input, p.axis + 1, p.input.size)) {}

  /// The exact output at a flat index.
  double at(std::int64_t flat) {
    const std::int64_t size = p_.input[p_.axis], place = flat / inner_ % size;
    const std::int64_t first = flat - place * inner_;
    if (first != first_) compute(first, size);
    return line_[static_cast<std::size_t>(place)];
  }

private:
  void compute(std::int64_t first, std::int64_t size) {
    first_ = first;
    line_.resize(static_cast<std::size_t>(size));
    double all = p_.product ? 1 : 0;
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t at = p_.reverse ? size - 1 - k : k;
      const double v = element(o_, 0, first + at * inner_), before = all;
      all = p_.product ? all * v : all + v;
      line_[static_cast<std::size_t>(at)] = p_.exclusive ? before : all;
    }
  }

  const op::cumulate& p_;
  const operands& o_;
  std::int64_t inner_, first_ = -1;
  std::vector<double> line_{};
};

inline running lines_of(const op::cumulate& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
