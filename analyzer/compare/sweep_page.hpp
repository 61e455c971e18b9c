// SPDX-License-Identifier: Apache-2.0
// How is a sweep written? For people a table, a row for each place on the axis, a column a curve;
// for programs a row for each point, with its place on all axes and its interval.
//
//   sweep_answer({.x = "batch", .figure = "bound", .curves = compare::curves(points, "batch",
//   "bound")})
#pragma once

#include "../report/tables/page.hpp"

#include <benanza/compare/sweep.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// A sweep: a figure over an axis.
struct sweep_page {
  std::string x{}, figure{};
  std::vector<compare::curve> curves{};
};

tables::chapter sweep_answer(const sweep_page& s);

} // namespace benanza::report
