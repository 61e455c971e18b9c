// SPDX-License-Identifier: Apache-2.0
// How is a model cut into sequences of at most G layers? Every node, view or not, comes into
// exactly one, and sequences only read what those before them wrote. By chains: first at every fork
// and join, so that each piece is a path, then each path into windows of G. By windows, as DLBricks
// (ICPE 2020) does: along the order of the nodes, each cut short where a node reads what the window
// does not make. A node that could not be resolved is alone.
//
//   for (const std::vector<int>& nodes : split(graph, {.length = 6})) ...   // ascending
#pragma once

#include "operands.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::model {

/// Where models are cut first.
enum class cut { chain, window };

inline std::optional<cut> parse_cut(std::string_view text) {
  if (text == "chain") return cut::chain;
  if (text == "window") return cut::window;
  return std::nullopt;
}

inline constexpr std::int64_t whole_model = 0; ///< as a length: all layers in one sequence

/// How models are split.
struct granularity {
  std::int64_t length = 1; ///< of a sequence, at most, in layers; whole_model: no cut at all
  cut by = cut::chain;
};

namespace detail {
/// The nodes that read a result of each node: ascending, each once.
inline std::vector<std::vector<int>> readers_of(const graph& g) {
  std::vector<std::vector<int>> out(g.nodes.size());
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    for (const int from : inputs_of(known_operands(g.nodes[i])))
      out[static_cast<std::size_t>(from)].push_back(static_cast<int>(i));
  return out;
}

/// The first node that node `i` reads from; -1 where it is at the start of a sequence whatever is
/// before it: it reads what the caller gives, or nothing that is made, or is not resolved.
inline int reads_back_to(const graph& g, std::size_t i) {
  if (g.nodes[i].layer == no_layer) return -1;
  int first = -1;
  for (const operand& o : known_operands(g.nodes[i])) {
    if (o.node == constant) continue;
    if (o.node < 0 || g.nodes[static_cast<std::size_t>(o.node)].layer == no_layer) return -1;
    first = first < 0 ? o.node : std::min(first, o.node);
  }
  return first;
}
} // namespace detail

/// Nodes in an order, and how many may be taken from each on.
struct line {
  std::vector<int> nodes{};
  std::vector<std::size_t> reach{};
};

namespace detail {
/// Paths: each node but the first is the only reader of the one before it, and reads nothing else.
inline std::vector<line> paths_of(const graph& g) {
  const auto readers = readers_of(g);
  std::vector<std::size_t> path_of(g.nodes.size());
  std::vector<line> out;
  for (std::size_t i = 0; i < g.nodes.size(); ++i) {
    const std::vector<int> from = inputs_of(known_operands(g.nodes[i]));
    const bool goes_on = reads_back_to(g, i) >= 0 && from.size() == 1 &&
                         readers[static_cast<std::size_t>(from[0])].size() == 1;
    if (!goes_on) out.emplace_back();
    path_of[i] = goes_on ? path_of[static_cast<std::size_t>(from[0])] : out.size() - 1;
    out[path_of[i]].nodes.push_back(static_cast<int>(i));
  }
  for (line& path : out)
    for (std::size_t left = path.nodes.size(); left > 0; --left)
      path.reach.push_back(left);
  return out;
}

/// The order of the nodes: a window ends where one reads what was made before it.
inline std::vector<line> order_of(const graph& g) {
  line all;
  const std::size_t n = g.nodes.size();
  all.nodes.resize(n);
  all.reach.resize(n);
  // The last first: ends[k] is where a window of what comes next may end, the nearest at the back.
  // A node that reads none of what is before the window ends no window that begins earlier either.
  std::vector<std::pair<std::size_t, int>> ends; // the node, and how far it reads back
  for (std::size_t i = n; i-- > 0;) {
    while (!ends.empty() && ends.back().second >= static_cast<int>(i))
      ends.pop_back();
    const std::size_t end = ends.empty() ? n : ends.back().first;
    all.nodes[i] = static_cast<int>(i);
    all.reach[i] = g.nodes[i].layer == no_layer ? 1 : end - i;
    ends.emplace_back(i, reads_back_to(g, i));
  }
  return {std::move(all)};
}

/// All that is resolved in one; what is not, each alone.
inline std::vector<std::vector<int>> split_nothing(const graph& g) {
  std::vector<std::vector<int>> out;
  std::vector<int> whole;
  for (std::size_t i = 0; i < g.nodes.size(); ++i)
    if (g.nodes[i].layer != no_layer)
      whole.push_back(static_cast<int>(i));
    else
      out.push_back({static_cast<int>(i)});
  if (!whole.empty()) out.push_back(std::move(whole));
  return out;
}
} // namespace detail

/// Within what sequences are cut: the paths of `g`, or the order of its nodes.
inline std::vector<line> lines_of(const graph& g, cut by) {
  return by == cut::chain ? detail::paths_of(g) : detail::order_of(g);
}

/// The sequences of `g`: their nodes, ascending. Unless nothing is cut at all, each edge between
/// two of them goes forward.
inline std::vector<std::vector<int>> split(const graph& g, const granularity& how) {
  if (how.length == whole_model) return detail::split_nothing(g);
  std::vector<std::vector<int>> out;
  for (const line& l : lines_of(g, how.by))
    for (std::size_t at = 0, taken = 0; at < l.nodes.size(); at += taken) {
      taken = std::min(static_cast<std::size_t>(how.length), l.reach[at]);
      const auto first = l.nodes.begin() + static_cast<std::ptrdiff_t>(at);
      out.emplace_back(first, first + static_cast<std::ptrdiff_t>(taken));
    }
  // Of a path only the first node reads what others made, and only the last one is read: in the
  // order of their first nodes all edges go forward.
  std::sort(out.begin(), out.end());
  return out;
}

} // namespace benanza::model
