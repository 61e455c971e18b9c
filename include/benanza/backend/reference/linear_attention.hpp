// SPDX-License-Identifier: Apache-2.0
// Results of a linear attention (ONNX LinearAttention-27), by its recurrence, in double. Columns of
// a state are independent: what one place of the values goes through from the first token to the
// last is computed when it is first asked for, and kept.
//
//   lines_of(linear_attention{.batch = 1, .heads = 32, ...}, operands).at(3)
#pragma once

#include "position.hpp"

#include <cmath>
#include <map>

namespace benanza::backend::reference {

class linear_attention_columns {
public:
  linear_attention_columns(const op::linear_attention& p, const operands& o)
      : p_(p)
      , o_(o) {
    const double own = o.attributes.scale;
    scale_ = own != 0 ? own : 1 / std::sqrt(static_cast<double>(p.key_size));
  }

  /// The exact value at a flat index over both results.
  double at(std::int64_t flat) {
    const std::int64_t outputs = elements(p_.output());
    const bool output = flat < outputs;
    std::int64_t rest = output ? flat : flat - outputs;
    const auto next = [&](std::int64_t n) {
      const std::int64_t i = rest % n;
      rest /= n;
      return i;
    };
    const std::int64_t j = next(p_.value_size);
    if (!output) {
      const std::int64_t i = next(p_.key_size), head = next(p_.kv_heads);
      return column_at(rest, head, j).state[static_cast<std::size_t>(i)];
    }
    const std::int64_t head = next(p_.heads), t = next(p_.steps);
    const column& c = column_at(rest, head / p_.shared(), j);
    return c.outputs[static_cast<std::size_t>(t * p_.shared() + head % p_.shared())];
  }

private:
  struct column {
    std::vector<double> state{}, outputs{}; ///< of a token, one for each query
  };

  const column& column_at(std::int64_t batch, std::int64_t head, std::int64_t j) {
    const std::int64_t number = (batch * p_.kv_heads + head) * p_.value_size + j;
    const auto [found, fresh] = columns_.try_emplace(number);
    if (fresh) fill(found->second, batch, head, j);
    return found->second;
  }

  void fill(column& c, std::int64_t batch, std::int64_t head, std::int64_t j) const {
    const auto n = static_cast<std::size_t>(p_.key_size);
    c.state.assign(n, 0);
    const std::int64_t image = batch * p_.kv_heads + head;
    for (std::size_t i = 0; p_.past && i < n; ++i)
      c.state[i] =
          element(o_, 3, (image * p_.key_size + static_cast<std::int64_t>(i)) * p_.value_size + j);
    for (std::int64_t t = 0; t < p_.steps; ++t) {
      const std::int64_t row = batch * p_.steps + t, key = (row * p_.kv_heads + head) * p_.key_size;
      for (std::size_t i = 0; p_.decays() && i < n; ++i)
        c.state[i] *= std::exp(element(
            o_, 4, p_.head_decay ? row * p_.kv_heads + head : key + static_cast<std::int64_t>(i)));
      double brought = element(o_, 2, (row * p_.kv_heads + head) * p_.value_size + j);
      if (p_.corrects()) {
        const double rate = element(o_, 5, p_.one_rate ? row : row * p_.kv_heads + head);
        brought = rate * (brought - product(c, 1, key));
      }
      for (std::size_t i = 0; i < n; ++i)
        c.state[i] += element(o_, 1, key + static_cast<std::int64_t>(i)) * brought;
      for (std::int64_t q = 0; q < p_.shared(); ++q)
        c.outputs.push_back(scale_ *
                            product(c, 0, (row * p_.heads + head * p_.shared() + q) * p_.key_size));
    }
  }

  /// A row of queries or keys times the state's column.
  double product(const column& c, std::size_t operand, std::int64_t row) const {
    double sum = 0;
    for (std::size_t i = 0; i < c.state.size(); ++i)
      sum += element(o_, operand, row + static_cast<std::int64_t>(i)) * c.state[i];
    return sum;
  }

  op::linear_attention p_;
  const operands& o_;
  double scale_ = 1;
  std::map<std::int64_t, column> columns_{};
};

inline linear_attention_columns lines_of(const op::linear_attention& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
