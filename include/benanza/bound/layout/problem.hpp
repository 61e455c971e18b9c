// SPDX-License-Identifier: Apache-2.0
// In which layouts can the nodes of a graph run, and what does it take? A way of running a node
// says in which layouts it reads and writes; changing a tensor's layout takes time, once for all
// that want it in the same other layout. Times in ns.
//
//   layout_problem p{.nodes = {...}, .tensors = {...}};   total_ns(p, {0, 2, 1})   // a way a node
#pragma once

#include "../../core/layout.hpp"
#include "../paths.hpp"

#include <array>
#include <cstddef>
#include <limits>
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

/// A tensor whose layout is changed.
struct layout_change {
  int tensor = 0;
  layout from = layout::plain, to = layout::plain;
};

namespace detail {
/// A set of layouts, as bits.
using layout_set = unsigned char;
inline layout_set set_of(layout l) {
  return static_cast<layout_set>(1u << static_cast<unsigned>(l));
}
inline bool holds(layout_set s, layout l) {
  return (s & set_of(l)) != 0;
}

/// Who reads each tensor, and in which layouts each of its ways wants it.
class reader_table {
public:
  struct reader {
    int node = 0;
    std::size_t first = 0; ///< where the sets of its ways begin
  };

  explicit reader_table(const layout_problem& p)
      : of_(p.tensors.size()) {
    for (std::size_t n = 0; n < p.nodes.size(); ++n)
      for (std::size_t w = 0; w < p.nodes[n].size(); ++w)
        for (const laid_tensor& t : p.nodes[n][w].wants) {
          std::vector<reader>& known = of_[at(t.tensor)];
          if (known.empty() || known.back().node != static_cast<int>(n)) {
            known.push_back({static_cast<int>(n), sets_.size()});
            sets_.resize(sets_.size() + p.nodes[n].size(), 0);
          }
          layout_set& set = sets_[known.back().first + w];
          set = static_cast<layout_set>(set | set_of(t.as));
        }
  }

  /// The readers of a tensor: nodes, ascending, each once.
  const std::vector<reader>& of(int tensor) const { return of_[at(tensor)]; }
  layout_set wanted(const reader& r, int way) const { return sets_[r.first + at(way)]; }

private:
  std::vector<std::vector<reader>> of_;
  std::vector<layout_set> sets_{};
};

/// What it takes to have a tensor that is made in layout `from` in all layouts of a set.
inline double changes_ns(const passed_tensor& t, layout from, layout_set wanted) {
  double ns = 0;
  for (layout to : all_layouts)
    if (holds(wanted, to))
      ns += t.change_ns[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)];
  return ns;
}

inline layout_set at_end(const passed_tensor& t) {
  return t.plain_at_end ? set_of(layout::plain) : layout_set{0};
}

inline layout_set wanted_by_all(const layout_problem& p, const reader_table& readers,
                                const std::vector<int>& ways, int tensor) {
  layout_set out = at_end(p.tensors[at(tensor)]);
  for (const reader_table::reader& r : readers.of(tensor))
    out = static_cast<layout_set>(out | readers.wanted(r, ways[at(r.node)]));
  return out;
}

inline layout made_as(const layout_problem& p, const std::vector<int>& ways, int tensor) {
  const int maker = p.tensors[at(tensor)].maker;
  return maker == no_maker ? layout::plain : p.nodes[at(maker)][at(ways[at(maker)])].gives;
}

inline double total_ns(const layout_problem& p, const reader_table& readers,
                       const std::vector<int>& ways) {
  double ns = 0;
  for (std::size_t n = 0; n < p.nodes.size(); ++n)
    ns += p.nodes[n][at(ways[n])].ns;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const int tensor = static_cast<int>(t);
    ns +=
        changes_ns(p.tensors[t], made_as(p, ways, tensor), wanted_by_all(p, readers, ways, tensor));
  }
  return ns;
}
} // namespace detail

/// What the graph takes when each node runs in that way.
inline double total_ns(const layout_problem& p, const std::vector<int>& ways) {
  return detail::total_ns(p, detail::reader_table(p), ways);
}

/// The changes of layout, those that take no time left out, when each node runs in that way.
inline std::vector<layout_change> changes(const layout_problem& p, const std::vector<int>& ways) {
  const detail::reader_table readers(p);
  std::vector<layout_change> out;
  for (std::size_t t = 0; t < p.tensors.size(); ++t) {
    const int tensor = static_cast<int>(t);
    const layout from = detail::made_as(p, ways, tensor);
    const detail::layout_set wanted = detail::wanted_by_all(p, readers, ways, tensor);
    for (layout to : all_layouts)
      if (detail::holds(wanted, to) &&
          p.tensors[t].change_ns[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] > 0)
        out.push_back({tensor, from, to});
  }
  return out;
}

} // namespace benanza::bound
