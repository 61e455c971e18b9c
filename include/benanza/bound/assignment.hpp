// SPDX-License-Identifier: Apache-2.0
// Which way of running each node makes a whole graph fastest, when a way says in which layout it
// reads and writes, and changing a tensor's layout takes time? A tensor that several nodes want in
// the same other layout is changed once. Exact where variable elimination can do it; otherwise
// improved node by node from several starts, and said to be so. Times in ns.
//
//   assignment a = cheapest(problem);   a.way[node]   a.ns   a.exact
#pragma once

#include "../core/layout.hpp"
#include "eliminate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace benanza::bound {

inline constexpr double impossible_ns = std::numeric_limits<double>::infinity();
inline constexpr int no_maker = -1;

/// A tensor in a layout.
struct laid_tensor {
  int tensor = 0;
  layout as = layout::plain;
  auto operator<=>(const laid_tensor&) const = default;
};

/// One way to run a node.
struct way {
  std::vector<laid_tensor> wants; ///< tensors that it reads, in the layouts it reads them in
  layout gives = layout::plain;   ///< of all its results
  double ns = 0;
};

/// A tensor between nodes.
struct passed_tensor {
  int maker = no_maker;      ///< the node that makes it; no_maker: the caller gives it, plain
  bool plain_at_end = false; ///< the caller takes it, plain
  /// What changing its layout takes, [from][to]; zero where both are the same memory.
  std::array<std::array<double, 4>, 4> change_ns{};
};

/// The ways of all nodes, each of which has at least one, and the tensors between them.
struct layout_problem {
  std::vector<std::vector<way>> nodes;
  std::vector<passed_tensor> tensors;
};

/// A way for each node.
struct assignment {
  std::vector<int> way;
  double ns = impossible_ns; ///< of all ways and changes together; infinite: nothing is possible
  bool exact = true;         ///< no other assignment is faster
};

/// A tensor whose layout is changed.
struct layout_change {
  int tensor = 0;
  layout from = layout::plain, to = layout::plain;
};

namespace detail {
inline std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

/// Who reads each tensor: nodes, ascending, each once.
inline std::vector<std::vector<int>> readers(const layout_problem& p) {
  std::vector<std::vector<int>> out(p.tensors.size());
  for (std::size_t n = 0; n < p.nodes.size(); ++n)
    for (const way& w : p.nodes[n])
      for (const laid_tensor& t : w.wants) {
        std::vector<int>& known = out[at(t.tensor)];
        if (known.empty() || known.back() != static_cast<int>(n))
          known.push_back(static_cast<int>(n));
      }
  return out;
}

/// The layouts of `tensor` that `w` wants, as bits.
inline unsigned wanted(const way& w, int tensor) {
  unsigned bits = 0;
  for (const laid_tensor& t : w.wants)
    if (t.tensor == tensor) bits |= 1u << static_cast<unsigned>(t.as);
  return bits;
}

/// What it takes to have a tensor that is made in layout `from` in all layouts of `bits`.
inline double changes_ns(const passed_tensor& t, layout from, unsigned bits) {
  double ns = 0;
  for (layout to : all_layouts)
    if (bits >> static_cast<unsigned>(to) & 1u)
      ns += t.change_ns[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  return ns;
}

inline unsigned wanted_by_all(const layout_problem& p, const std::vector<int>& ways, int tensor,
                              const std::vector<int>& readers) {
  unsigned bits = p.tensors[at(tensor)].plain_at_end ? 1u : 0u;
  for (int n : readers)
    bits |= wanted(p.nodes[at(n)][at(ways[at(n)])], tensor);
  return bits;
}

inline layout made_as(const layout_problem& p, const std::vector<int>& ways, int tensor) {
  const int maker = p.tensors[at(tensor)].maker;
  return maker == no_maker ? layout::plain : p.nodes[at(maker)][at(ways[at(maker)])].gives;
}
} // namespace detail

/// What the graph takes when each node runs in that way.
inline double total_ns(const layout_problem& p, const std::vector<int>& ways) {
  const auto readers = detail::readers(p);
  double ns = 0;
  for (std::size_t n = 0; n < p.nodes.size(); ++n)
    ns += p.nodes[n][detail::at(ways[n])].ns;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const int tensor = static_cast<int>(t);
    ns += detail::changes_ns(p.tensors[t], detail::made_as(p, ways, tensor),
                             detail::wanted_by_all(p, ways, tensor, readers[t]));
  }
  return ns;
}

/// The changes of layout, those that take no time left out, when each node runs in that way.
inline std::vector<layout_change> changes(const layout_problem& p, const std::vector<int>& ways) {
  const auto readers = detail::readers(p);
  std::vector<layout_change> out;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const int tensor = static_cast<int>(t);
    const layout from = detail::made_as(p, ways, tensor);
    const unsigned bits = detail::wanted_by_all(p, ways, tensor, readers[t]);
    for (layout to : all_layouts)
      if (bits >> static_cast<unsigned>(to) & 1u &&
          p.tensors[t].change_ns[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] > 0)
        out.push_back({tensor, from, to});
  }
  return out;
}

namespace detail {
/// The problem as a sum of tables. A tensor that several take gets a variable of its own: the set
/// of layouts in which it is there, so that no table has to span all of its readers.
inline cost_sum tables(const layout_problem& p) {
  cost_sum out;
  for (const std::vector<way>& ways : p.nodes) {
    std::vector<double> ns;
    for (const way& w : ways)
      ns.push_back(w.ns);
    out.add(std::move(ns));
  }
  const auto readers = detail::readers(p);
  for (std::size_t i = 0; i < p.tensors.size(); ++i) {
    const passed_tensor& t = p.tensors[i];
    const int tensor = static_cast<int>(i), maker = t.maker;
    const unsigned end = t.plain_at_end ? 1u : 0u;
    if (readers[i].empty() && end == 0) continue;
    const auto made = [&](auto&& cost_from) { // a row for each way of its maker
      std::vector<double> ns;
      if (maker == no_maker)
        cost_from(layout::plain, ns);
      else
        for (const way& w : p.nodes[at(maker)])
          cost_from(w.gives, ns);
      return ns;
    };
    const auto with_maker = [&](std::vector<int> variables) {
      if (maker != no_maker) variables.insert(variables.begin(), maker);
      return variables;
    };
    if (readers[i].size() + end == 1) {
      std::vector<unsigned> wants{end};
      if (end == 0) {
        wants.clear();
        for (const way& w : p.nodes[at(readers[i][0])])
          wants.push_back(wanted(w, tensor));
      }
      std::vector<double> ns = made([&](layout from, std::vector<double>& to) {
        for (unsigned bits : wants)
          to.push_back(changes_ns(t, from, bits));
      });
      const std::vector<int> variables =
          with_maker(end == 0 ? std::vector<int>{readers[i][0]} : std::vector<int>{});
      if (!variables.empty()) out.add(variables, std::move(ns));
      continue;
    }
    unsigned all = end;
    for (int n : readers[i])
      for (const way& w : p.nodes[at(n)])
        all |= wanted(w, tensor);
    std::vector<unsigned> sets;
    for (unsigned bits = 1; bits <= all; ++bits)
      if ((bits & ~all) == 0 && (bits & end) == end) sets.push_back(bits);
    const int there = out.add(std::vector<double>(sets.size(), 0.0));
    out.add(with_maker({there}), made([&](layout from, std::vector<double>& to) {
              for (unsigned bits : sets)
                to.push_back(changes_ns(t, from, bits));
            }));
    for (int n : readers[i]) {
      std::vector<double> ns;
      for (unsigned bits : sets)
        for (const way& w : p.nodes[at(n)])
          ns.push_back((wanted(w, tensor) & ~bits) == 0 ? 0 : impossible_ns);
      out.add({there, n}, std::move(ns));
    }
  }
  return out;
}

/// Improves an assignment node by node until no single change helps (iterated conditional modes).
inline void improve(const layout_problem& p, const std::vector<std::vector<int>>& readers,
                    std::vector<int>& ways) {
  std::vector<std::set<int>> near(p.nodes.size()); // tensors that a node reads or makes
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    for (int n : readers[t])
      near[at(n)].insert(static_cast<int>(t));
    if (p.tensors[t].maker != no_maker) near[at(p.tensors[t].maker)].insert(static_cast<int>(t));
  }
  const auto local_ns = [&](std::size_t n) {
    double ns = p.nodes[n][at(ways[n])].ns;
    for (int t : near[n])
      ns += changes_ns(p.tensors[at(t)], made_as(p, ways, t),
                       wanted_by_all(p, ways, t, readers[at(t)]));
    return ns;
  };
  constexpr int sweeps = 50;
  bool better = true;
  for (int sweep = 0; better && sweep < sweeps; ++sweep) {
    better = false;
    for (std::size_t i = 0; i < p.nodes.size(); ++i) {
      // Forwards and backwards in turns, so that a layout spreads along the graph either way.
      const std::size_t n = sweep % 2 == 0 ? i : p.nodes.size() - 1 - i;
      int best = ways[n];
      double least = local_ns(n);
      for (int w = 0; w < static_cast<int>(p.nodes[n].size()); ++w) {
        ways[n] = w;
        if (const double ns = local_ns(n); ns < least) {
          least = ns;
          best = w;
          better = true;
        }
      }
      ways[n] = best;
    }
  }
}

/// The start in which every node takes its fastest way; of those that give `wanted`, where some do.
inline std::vector<int> start(const layout_problem& p, std::optional<layout> preferred) {
  std::vector<int> out;
  for (const std::vector<way>& ways : p.nodes) {
    // Ways that keep the layout throughout come first, then those that at least give it.
    const auto strange = [&](const way& w) {
      if (!preferred) return 0;
      const bool reads = std::all_of(w.wants.begin(), w.wants.end(),
                                     [&](const laid_tensor& t) { return t.as == *preferred; });
      return w.gives != *preferred ? 2 : reads ? 0 : 1;
    };
    const auto best = std::min_element(ways.begin(), ways.end(), [&](const way& a, const way& b) {
      return std::pair(strange(a), a.ns) < std::pair(strange(b), b.ns);
    });
    out.push_back(static_cast<int>(best - ways.begin()));
  }
  return out;
}
} // namespace detail

/// The fastest assignment; `limit` is how many entries a table of the exact method may have.
inline assignment cheapest(const layout_problem& p, std::size_t limit = std::size_t{1} << 18) {
  assignment out;
  if (auto values = detail::tables(p).minimise(limit)) {
    values->resize(p.nodes.size());
    out.way = std::move(*values);
    out.ns = total_ns(p, out.way);
    return out;
  }
  out.exact = false;
  const auto readers = detail::readers(p);
  std::vector<std::optional<layout>> starts{std::nullopt};
  starts.insert(starts.end(), std::begin(all_layouts), std::end(all_layouts));
  for (const std::optional<layout>& s : starts) {
    std::vector<int> ways = detail::start(p, s);
    detail::improve(p, readers, ways);
    const double ns = total_ns(p, ways);
    if (out.way.empty() || ns < out.ns) {
      out.way = std::move(ways);
      out.ns = ns;
    }
  }
  return out;
}

} // namespace benanza::bound
