// SPDX-License-Identifier: Apache-2.0
// Which rows of a product's operand belong to which of the matrices that share them, as a model's
// experts do? To each as many, in their order, but for one more or less.
//
//   first_row_of(1, {.experts = 4, .rows = 10})   // 3
#pragma once

#include "../core/error.hpp"

#include <cstdint>

namespace benanza::op {

struct row_shares {
  std::int64_t experts = 1, rows = 0;
};

constexpr std::int64_t first_row_of(std::int64_t expert, row_shares s) {
  return (expert * s.rows + s.experts - 1) / s.experts;
}
constexpr std::int64_t expert_of_row(std::int64_t row, row_shares s) {
  return row * s.experts / s.rows;
}
constexpr void check_shares(row_shares s) {
  if (s.experts < 1 || s.experts > s.rows)
    throw error("a product's rows are fewer than the experts that share them");
}

} // namespace benanza::op
