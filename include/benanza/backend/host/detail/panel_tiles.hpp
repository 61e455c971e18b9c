// SPDX-License-Identifier: Apache-2.0
// In which order does a product with weights of few bits make its result? Panel by panel, some rows
// of it at a time. One row, a step of a language model, goes through four panels far apart side by
// side: sums then do not wait for each other, and memory gives more.
//
//   struct plan : panel_tiles<plan> { template <class Codes, int Rows, int Places> void tile(...);
//   }; plan.all_rows<four_bits>(rows, 0, panels, weights, sums);
#pragma once

#include "../../../op/experts.hpp"
#include "product.hpp"

#include <algorithm>
#include <cstddef>

namespace benanza::backend::host::detail {

/// Sums of each row's groups of `group` elements.
inline void sum_groups(const float* a, std::int64_t rows, std::int64_t length, std::int64_t group,
                       float* to) {
  for (std::int64_t row = 0; row < rows; ++row)
    for (std::int64_t at = 0; at < length; at += group) {
      const float* from = a + row * length + at;
      float sum = 0;
      const std::int64_t n = std::min(group, length - at);
#pragma omp simd reduction(+ : sum)
      for (std::int64_t k = 0; k < n; ++k)
        sum += from[k];
      *to++ = sum;
    }
}

/// The columns of a tile that there are.
inline void store_columns(const float_vector& low, const float_vector& high, float* to,
                          std::int64_t columns) {
  using lanes = float_lanes;
  if (columns >= lanes::count)
    lanes::store(low, to);
  else
    return lanes::store(low, to, columns);
  if (columns == tile_columns)
    lanes::store(high, to + lanes::count);
  else if (columns > lanes::count)
    lanes::store(high, to + lanes::count, columns - lanes::count);
}

/// `Plan::tile<Codes, Rows, Places>(at, apart, weights, sums, row)` makes some rows of panel `at`,
/// and of others that many panels further each. `Plan::go(begin, end, weights, sums)` makes panels
/// of its layer `p`, of one matrix, whose sums are `groups_of_row()` of each row.
template <class Plan>
struct panel_tiles {
  /// All rows of the panels in [begin, end).
  template <class Codes>
  void all_rows(std::int64_t rows, std::int64_t begin, std::int64_t end, const std::byte* weights,
                const float* sums) const {
    if (rows == 1) return at_places<Codes, 1, 4>(begin, end, weights, sums);
    if (rows == 2) return at_places<Codes, 2, 2>(begin, end, weights, sums);
    for (std::int64_t at = begin; at < end; ++at) {
      std::int64_t row = 0;
      for (; row + tile_rows <= rows; row += tile_rows)
        plan().template tile<Codes, tile_rows, 1>(at, 0, weights, sums, row);
      if (rows - row >= 4) plan().template tile<Codes, 4, 1>(at, 0, weights, sums, row), row += 4;
      if (rows - row >= 2) plan().template tile<Codes, 2, 1>(at, 0, weights, sums, row), row += 2;
      if (rows > row) plan().template tile<Codes, 1, 1>(at, 0, weights, sums, row);
    }
  }

  /// The panels in [begin, end) of all experts, one after the other.
  void of_experts(std::int64_t begin, std::int64_t end, const std::byte* weights,
                  const float* sums) const {
    const auto& layer = plan().p;
    const auto& parts = plan().parts;
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t expert = at / parts.panels, first = expert * parts.panels;
      const std::int64_t to = std::min(end, first + parts.panels);
      const std::int64_t row = op::first_row_of(expert, layer.shares());
      Plan its = plan();
      its.p = layer.of_one(op::first_row_of(expert + 1, layer.shares()) - row);
      its.a += row * layer.length();
      its.y += row * layer.n;
      its.go(at - first, to - first, weights + expert * parts.all,
             sums + row * plan().groups_of_row());
      at = to;
    }
  }

private:
  const Plan& plan() const { return static_cast<const Plan&>(*this); }

  template <class Codes, int Rows, int Places>
  void at_places(std::int64_t begin, std::int64_t end, const std::byte* weights,
                 const float* sums) const {
    const std::int64_t each = (end - begin) / Places;
    for (std::int64_t i = 0; i < each; ++i)
      plan().template tile<Codes, Rows, Places>(begin + i, each, weights, sums, 0);
    for (std::int64_t at = begin + each * Places; at < end; ++at)
      plan().template tile<Codes, Rows, 1>(at, 0, weights, sums, 0);
  }
};

} // namespace benanza::backend::host::detail
