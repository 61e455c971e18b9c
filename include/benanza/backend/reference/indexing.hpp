// SPDX-License-Identifier: Apache-2.0
// Results of layers that read or write where indices say (ONNX GatherElements-13, GatherND-13,
// ScatterElements-18, ScatterND-18, TensorScatter-24). Updates are taken in order: where two name
// one place the last stays, or all are combined.
//
//   lines_of(indexing{...}, operands).at(7)
#pragma once

#include "position.hpp"

#include <algorithm>

namespace benanza::backend::reference {

/// The place that index `i` of operand `k` names along an axis; those below zero count from the
/// end.
inline std::int64_t named_by(const operands& o, std::size_t k, std::int64_t i, std::int64_t size) {
  const auto at = static_cast<std::int64_t>(element(o, k, i));
  return at < 0 ? at + size : at;
}

class indexed {
public:
  indexed(const op::indexing& p, const operands& o)
      : p_(p)
      , o_(o) {
    if (!p.scatters()) return;
    load_all(o.inputs[0].type, o.inputs[0].bytes.data(), o.inputs[0].count(), result_);
    const std::int64_t updates = elements(p.taken());
    for (std::int64_t u = 0; u < updates; ++u) {
      double& v = result_[static_cast<std::size_t>(place(u))];
      v = combined(v, element(o, 2, u));
    }
  }
  /// The exact output at a flat index.
  double at(std::int64_t flat) const {
    return p_.scatters() ? result_[static_cast<std::size_t>(flat)] : element(o_, 0, place(flat));
  }

private:
  double combined(double old, double update) const {
    using enum op::scatter_reduction;
    switch (p_.reduction) {
    case add: return old + update;
    case mul: return old * update;
    case max: return std::max(old, update);
    case min: return std::min(old, update);
    default: return update;
    }
  }
  /// Where in the data element `u` of what is taken or updated is.
  std::int64_t place(std::int64_t u) const {
    if (p_.of_elements()) {
      shape at = place_of(p_.indices, u);
      at[p_.axis] = named_by(o_, 1, u, p_.data[p_.axis]);
      return index_of(p_.data, at);
    }
    const std::int64_t run = p_.run(), row = u / run, n = p_.named();
    std::int64_t at = row / elements(p_.indices, p_.batch_dims, p_.indices.size - 1);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t size = p_.data[p_.batch_dims + static_cast<int>(i)];
      at = at * size + named_by(o_, 1, row * n + i, size);
    }
    return at * run + u % run;
  }

  const op::indexing& p_;
  const operands& o_;
  std::vector<double> result_{};
};

inline indexed lines_of(const op::indexing& p, const operands& o) {
  return {p, o};
}

inline double value(const op::tensor_scatter& p, const operands& o, std::int64_t flat) {
  shape place = place_of(p.cache, flat);
  const std::int64_t begin = p.offsets ? static_cast<std::int64_t>(element(o, 2, place[0])) : 0;
  const std::int64_t size = p.cache[p.axis];
  std::int64_t which = place[p.axis] - begin;
  if (p.circular) which = ((which % size) + size) % size;
  if (which < 0 || which >= p.length) return element(o, 0, flat);
  place[p.axis] = which;
  return element(o, 1, index_of(p.updates(), place));
}

} // namespace benanza::backend::reference
