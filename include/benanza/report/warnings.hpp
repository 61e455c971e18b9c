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
#include <map>
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

/// Nodes that were not measured, a row a layer, with the command that measures it.
inline std::string unmeasured(std::string_view what, const std::vector<bound::hole>& holes,
                              std::string_view rows, std::size_t limit) {
  if (holes.empty()) return {};
  std::string out = wrapped("! ", what);
  const std::size_t shown = std::min(limit, holes.size());
  for (std::size_t i = 0; i < shown; ++i) {
    const bound::hole& h = holes[i];
    out += wrapped(fmt::format("{:>6} x ", h.nodes),
                   fmt::format("{}: {}", printable(h.name), printable(h.reason)));
    const bool again = i + 1 < shown && holes[i + 1].command == h.command;
    if (!h.command.empty() && !again) out += "         " + h.command + '\n';
  }
  return out + left_out(shown, holes.size(), rows);
}

/// Figures that cannot both be right, those of a kind together.
inline std::string faults(const model_bound& b, std::size_t limit) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const bound::fault& f : b.faults)
    by_kind[f.what].push_back(f.name);
  std::string out;
  for (const auto& [what, names] : by_kind)
    out += wrapped("! ", fmt::format("Measuring fault: {}: {}. Measure again on a quiet machine.",
                                     what, some_of(names, limit)));
  return out;
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
  out += detail::faults(b, limit);
  if (b.fused && b.fused->not_measured > 0)
    warn(fmt::format("{} of {} that can be fused were not measured fused: taken as their parts.",
                     b.fused->not_measured, counted(b.fused->fused_nodes, "group")));
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
  out +=
      detail::unmeasured("Modelled: these nodes were not measured, and their rooflines stand for "
                         "them; real algorithms are slower.",
                         b.covered.rooflines, "layers", limit);
  return out + detail::unmeasured("Partial: these nodes have no time, so the figures are too low.",
                                  b.covered.holes, "holes", limit);
}

} // namespace benanza::report
