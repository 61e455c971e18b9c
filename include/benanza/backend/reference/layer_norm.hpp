// SPDX-License-Identifier: Apache-2.0
// One output of a normalization of rows by their own statistics (ONNX LayerNormalization-17,
// RMSNormalization-23), summed in double in two passes. All outputs of one row share a mean and a
// deviation; `normalized_rows` keeps them. Rows may be those of a sum with the last operand.
//
//   lines_of(layer_norm{.input = {1, 197, 768}, .axis = 2}, operands).at(12)
#pragma once

#include "position.hpp"

#include <cmath>
#include <unordered_map>

namespace benanza::backend::reference {

class normalized_rows {
public:
  /// Rows of `length` neighbours; each `run` of them in turn has the next scale of `scales`.
  normalized_rows(const operands& o, std::int64_t length, std::int64_t run, std::int64_t scales,
                  bool centred, bool adds = false)
      : o_(o)
      , length_(length)
      , run_(run)
      , scales_(scales)
      , centred_(centred)
      , adds_(adds) {}

  /// The exact output at a flat index. Behind the rows are their means, then their inverse
  /// deviations; or the sums that are normalized.
  double at(std::int64_t flat) {
    const std::int64_t behind = flat - o_.inputs[0].count(), rows = o_.inputs[0].count() / length_;
    if (adds_ && behind >= 0) return source(behind);
    const std::int64_t row = behind < 0 ? flat / length_ : behind % rows;
    const std::int64_t parameter = flat / run_ % scales_;
    auto found = rows_.find(row);
    if (found == rows_.end()) found = rows_.emplace(row, row_at(row * length_)).first;
    const auto [mean, deviation] = found->second;
    if (behind >= 0) return behind < rows ? mean : 1 / deviation;
    const double v = element(o_, 1, parameter) * (source(flat) - mean) / deviation;
    return o_.inputs.size() - adds_ > 2 ? v + element(o_, 2, parameter) : v;
  }

private:
  struct statistics {
    double mean, deviation;
  };
  double source(std::int64_t i) const {
    return adds_ ? element(o_, 0, i) + element(o_, o_.inputs.size() - 1, i) : element(o_, 0, i);
  }
  statistics row_at(std::int64_t begin) const {
    const auto n = static_cast<double>(length_);
    double mean = 0, squares = 0;
    for (std::int64_t i = begin; centred_ && i < begin + length_; ++i)
      mean += source(i) / n;
    for (std::int64_t i = begin; i < begin + length_; ++i) {
      const double v = source(i) - mean;
      squares += v * v;
    }
    return {mean, std::sqrt(squares / n + o_.attributes.epsilon)};
  }

  const operands& o_;
  std::int64_t length_, run_, scales_;
  bool centred_, adds_;
  std::unordered_map<std::int64_t, statistics> rows_;
};

inline normalized_rows lines_of(const op::layer_norm& p, const operands& o) {
  return {o, p.row(), 1, p.row(), true};
}
inline normalized_rows lines_of(const op::rms_norm& p, const operands& o) {
  return {o, p.row(), 1, p.row(), false};
}
template <class Norm>
normalized_rows lines_of(const op::residual<Norm>& p, const operands& o) {
  return {o, p.row(), 1, p.row(), std::is_same_v<Norm, op::layer_norm>, true};
}

} // namespace benanza::backend::reference
