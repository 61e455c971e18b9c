// SPDX-License-Identifier: Apache-2.0
// Where does the time of the best run go, by kind of operator, and what limits it? The layers of
// the form that should run, at their predictions, with the changes of layout as a kind of their
// own. A kind is limited by arithmetic or by memory as its rooflines say, or by its kernels where
// these stay far above.
//
//   for (const operator_kind& k : operator_kinds(model)) ...   // {"Conv 3x3", 3.2e6 ns, 236 to 270
//   GFLOP/s}
#pragma once

#include <benanza/bound/figures.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// One kind of operator.
struct operator_kind {
  std::string what{};
  double ns = 0, memory_ns = 0, kernel_ns = 0; ///< all; limited by memory; far above the roofline
  double unknown_ns = 0;                       ///< without a roofline
  double least_gflops = 0, most_gflops = 0;
  bool fewer_operations = false; ///< some need fewer than are counted

  std::string_view limit() const {
    if (2 * unknown_ns > ns) return "-";
    if (2 * kernel_ns > ns) return "its kernels";
    return 2 * memory_ns > ns ? "memory" : "arithmetic";
  }
};

/// `Conv 3x3`, `Conv 3x3 /2`, `Conv 3x3 depthwise`, or the family without what is fused to it.
std::string kind_name(std::string_view layer);

/// The kinds of a model's best run, those that take most first.
std::vector<operator_kind> operator_kinds(const bound::model_bound& b);

} // namespace benanza::report
