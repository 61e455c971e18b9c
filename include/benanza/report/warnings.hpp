// SPDX-License-Identifier: Apache-2.0
// What has to be known before a model's figures are believed? What costs nothing, what was taken
// from another type, what failed, was disturbed or is missing: by name, in number, and with what to
// do.
//
//   std::string text = warnings(model, 10);   // at most ten names a list
#pragma once

#include "layers.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace detail {
/// What a table says that does not show all of its rows.
inline std::string left_out(std::size_t shown, std::size_t all, std::string_view what) {
  if (shown >= all) return {};
  return fmt::format("        and {} more {} (--layers all shows them)\n", all - shown, what);
}

/// At most `limit` names, separated by commas.
inline std::string some_of(const std::vector<std::string>& names, std::size_t limit) {
  std::string out;
  for (std::size_t i = 0; i < std::min(limit, names.size()); ++i)
    out += (i == 0 ? "" : ", ") + printable(names[i]);
  if (names.size() > limit)
    out += fmt::format("{}{} more", out.empty() ? "" : " and ", names.size() - limit);
  return out;
}

inline std::string zero_cost(const model_bound& b) {
  std::string names;
  for (const auto& [op, n] : views(b))
    names += fmt::format("{}{} {}", names.empty() ? "" : ", ", n, op);
  return names.empty() ? names : wrapped("- ", "Views cost nothing: " + names + ".");
}

inline std::string missing(const model_bound& b, std::size_t limit) {
  const std::vector<bound::hole>& holes = b.covered.holes;
  if (holes.empty()) return {};
  std::string out = wrapped("! ", "Partial: these nodes have no time, so the figures are too low.");
  const std::size_t shown = std::min(limit, holes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const bound::hole& h = holes[i];
    out += wrapped(fmt::format("{:>6} x ", h.nodes),
                   fmt::format("{}: {}", printable(h.name), printable(h.reason)));
    const bool again = i + 1 < shown && holes[i + 1].command == h.command;
    if (!h.command.empty() && !again) out += "         " + h.command + '\n';
  }
  return out + left_out(shown, holes.size(), "holes");
}
} // namespace detail

/// The remarks (`-`) and warnings (`!`) of a model, `limit` names in each; empty: there are none.
inline std::string warnings(const model_bound& b, std::size_t limit) {
  std::string out = detail::zero_cost(b);
  const auto warn = [&](std::string_view text) { out += wrapped("! ", text); };

  std::vector<std::string> other;
  for (const layer_answer& l : b.layers)
    if (l.rests_on == bound::basis::other_type) other.push_back(l.name);
  if (!other.empty())
    warn(fmt::format("Not measured in {}, so taken in {}: {}.", name(b.type), name(b.graph->type),
                     detail::some_of(other, limit)));
  for (const std::string& note : b.notes)
    warn(note + '.');
  if (!b.faults.empty())
    warn(fmt::format(
        "Measuring fault: the prediction lies below the bound at {}. Measure again on a "
        "quiet machine.",
        detail::some_of(b.faults, limit)));
  if (const auto n = b.failed(); n > 0) {
    const auto first = std::find_if(b.layers.begin(), b.layers.end(),
                                    [](const layer_answer& l) { return l.failed > 0; });
    warn(fmt::format("{} failed, such as one of {}: {}.", counted(n, "case"), first->name,
                     printable(first->reason)));
  }
  if (const auto rows = disturbed(b); !rows.empty())
    warn(fmt::format(
        "Disturbed while measured: {}, such as {}: {}. Measure again on a quiet machine.",
        counted(std::ssize(rows), "layer"), rows.front().first, printable(rows.front().second)));
  return out + detail::missing(b, limit);
}

} // namespace benanza::report
