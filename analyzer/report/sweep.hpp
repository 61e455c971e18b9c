// SPDX-License-Identifier: Apache-2.0
// How is a sweep written? For people a table, a row for each place on the axis, a column a curve;
// as CSV and JSON a row or an entry for each point, with its place on all axes and its interval.
//
//   sweep_text({.x = "batch", .figure = "bound", .curves = compare::curves(points, "batch",
//   "bound")})
#pragma once

#include <benanza/compare/sweep.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// A sweep: a figure over an axis.
struct sweep_page {
  std::string x{}, figure{};
  std::vector<compare::curve> curves{};
};

std::string sweep_text(const sweep_page& s);

/// A line a point: its place on the axis and on those of its curve, the value and its interval (in
/// ns, or a second), and marks.
std::string sweep_csv(const sweep_page& s);
std::string sweep_json(const sweep_page& s);

} // namespace benanza::report
