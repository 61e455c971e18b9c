// SPDX-License-Identifier: Apache-2.0
// One output of a scaled dot-product attention (ONNX Attention-23), summed in double. All outputs
// of one query share its weights; `attention_rows` keeps those of the query that was asked for
// last, so positions should ascend.
//
//   lines_of(attention{.batch = 1, .heads = 12, ...}, operands).at(3)
#pragma once

#include "position.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace benanza::backend::reference {

class attention_rows {
public:
  attention_rows(const op::attention& p, const operands& o)
      : p_(p)
      , o_(o) {}

  /// The exact output at a flat index.
  double at(std::int64_t flat) {
    const std::int64_t column = flat % p_.value_size, row = flat / p_.value_size;
    if (row != held_) weigh(row);
    double sum = 0;
    for (std::size_t k = 0; k < weights_.size(); ++k)
      sum += weights_[k] *
             element(o_, 2, at_key(first_ + static_cast<std::int64_t>(k), p_.value_size) + column);
    return sum;
  }

private:
  /// Where a row of keys or values of the held query's head begins.
  std::int64_t at_key(std::int64_t k, std::int64_t size) const {
    const std::int64_t head = head_ / (p_.heads / p_.kv_heads);
    return (p_.sequence_major && !p_.cached ? (batch_ * p_.keys + k) * p_.kv_heads + head
                                            : (batch_ * p_.kv_heads + head) * p_.keys + k) *
           size;
  }

  /// The weights of the keys that a query sees; its row is counted in the order of the result.
  void weigh(std::int64_t row) {
    held_ = row;
    batch_ = row / (p_.heads * p_.queries);
    const std::int64_t rest = row % (p_.heads * p_.queries);
    head_ = p_.sequence_major ? rest % p_.heads : rest / p_.queries;
    const std::int64_t query = p_.sequence_major ? rest / p_.heads : rest % p_.queries;
    // With lengths, causality is counted from the last key; they come last of the operands.
    const std::int64_t length =
        p_.lengths ? static_cast<std::int64_t>(element(o_, o_.inputs.size() - 1, batch_)) : p_.keys;
    const std::int64_t place = query + 1 + p_.past + (p_.lengths ? length - p_.queries : 0);
    const std::int64_t end = p_.causal ? std::clamp<std::int64_t>(place, 0, length) : length;
    first_ = p_.window == 0 ? 0 : std::clamp<std::int64_t>(place - p_.window, 0, end);
    weights_.resize(static_cast<std::size_t>(end - first_));
    const attribute_values& by = o_.attributes;
    const double scale =
        by.scale != 0 ? by.scale : 1 / std::sqrt(static_cast<double>(p_.head_size));
    double most = -infinite, sum = 0;
    for (std::int64_t k = first_; k < end; ++k) {
      double score = 0;
      for (std::int64_t d = 0; d < p_.head_size; ++d)
        score +=
            element(o_, 0, row * p_.head_size + d) * element(o_, 1, at_key(k, p_.head_size) + d);
      score *= scale;
      if (p_.softcap) score = by.softcap * std::tanh(score / by.softcap);
      if (!p_.mask.empty()) {
        const double m = element(o_, 3, broadcast_index(p_.mask, {batch_, head_, query, k}));
        score = !p_.truth_mask ? score + m : m != 0 ? score : -infinite;
      }
      weights_[static_cast<std::size_t>(k - first_)] = score;
      most = std::max(most, score);
    }
    // A query that sees nothing gives nothing.
    if (most == -infinite) return weights_.clear();
    for (double& w : weights_)
      sum += w = std::exp(w - most);
    for (double& w : weights_)
      w /= sum;
  }

  static constexpr double infinite = std::numeric_limits<double>::infinity();

  const op::attention& p_;
  const operands& o_;
  std::int64_t held_ = -1, batch_ = 0, head_ = 0, first_ = 0;
  std::vector<double> weights_;
};

inline attention_rows lines_of(const op::attention& p, const operands& o) {
  return {p, o};
}

} // namespace benanza::backend::reference
