// SPDX-License-Identifier: Apache-2.0
// What has to be known before a model's figures are believed? What costs nothing, what was taken
// from another type, what failed, was disturbed or is missing: by name, in number, and with what to
// do.
//
//   std::string text = warnings(model, 10);   // at most ten names a list
#pragma once

#include <benanza/bound/coverage.hpp>
#include <benanza/bound/figures.hpp>
#include <range/v3/view/take.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

/// The first rows of a table, at most `limit`.
template <class Rows>
auto first_of(const Rows& rows, std::size_t limit) {
  return rows | ranges::views::take(static_cast<std::ptrdiff_t>(std::min(limit, rows.size())));
}

/// What a table says that does not show all of its rows, but only `limit`.
std::string left_out(std::size_t limit, std::size_t all, std::string_view what);

/// Messages of a kind, each behind its mark; not all of them where there are many.
std::string messages(std::string_view mark, const std::vector<std::string>& all);

/// At most `limit` names, separated by commas.
std::string some_of(const std::vector<std::string>& names, std::size_t limit);

/// Nodes that were not measured, a row a layer.
std::string unmeasured(std::string_view what, const std::vector<bound::hole>& holes,
                       std::string_view rows, std::size_t limit);

/// How much of each kind is missing, apart from nodes without a measured time.
struct missing_kinds {
  std::int64_t other_type = 0; ///< layers that were measured in the model's own type only
  std::int64_t fused = 0;      ///< layers that only the fused form has
  std::int64_t in_part = 0;    ///< layers of which some cases were measured, and not all
  std::int64_t of_machine = 0; ///< names of the machine's cases
  std::int64_t reorders = 0;
  std::string reorder{}; ///< the first
};

missing_kinds kinds_of_missing(const bound::model_bound& b);

/// The same on one line.
std::string missing_line(const bound::model_bound& b);

/// Figures that cannot both be right, those of a kind together.
std::string faults(const bound::model_bound& b, std::size_t limit);

/// What was not measured that the figures of `b` need, on one line; empty: nothing.
std::string lacks(const bound::model_bound& b);

/// The nodes that were not measured, why, and the command that measures all of them; empty: there
/// are none.
std::string what_is_missing(const bound::model_bound& b, std::size_t limit);

/// What the first figures are of, where a reader would take them for more.
std::vector<std::string> head_remarks(const bound::model_bound& b);

/// The remarks (`-`) and warnings (`!`) of a model, `limit` names in each; empty: there are none.
/// After the first screen they are without what that said.
std::string warnings(const bound::model_bound& b, std::size_t limit, bool after_screen = false);

} // namespace benanza::report
