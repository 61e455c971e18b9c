// SPDX-License-Identifier: Apache-2.0
// Which way of running each node makes a whole graph fastest, when a way says in which layout it
// reads and writes, and changing a tensor's layout takes time? A tensor that several nodes want in
// the same other layout is changed once. Exact where variable elimination can do it within its
// limits; otherwise improved node by node from several starts, and said to be so. Times in ns.
//
//   assignment a = cheapest(problem);   a.way[node]   a.ns   a.exact
#pragma once

#include "elimination.hpp"
#include "improvement.hpp"

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace benanza::bound {

/// A way for each node.
struct assignment {
  std::vector<int> way;
  double ns = impossible_ns; ///< of all ways and changes together; infinite: nothing is possible
  bool exact = true;         ///< no other assignment is faster
};

namespace detail {
/// The problem as a sum of tables. A tensor that several take gets a variable of its own: the set
/// of layouts in which it is there, so that no table has to span all of its readers.
inline cost_sum tables(const layout_problem& p, const reader_table& readers) {
  cost_sum out;
  for (const std::vector<way>& ways : p.nodes)
    out.add(ways | ranges::views::transform(&way::ns) | ranges::to<std::vector>);
  for (std::size_t i = 0; i < p.tensors.size(); ++i) {
    const passed_tensor& t = p.tensors[i];
    const int maker = t.maker;
    const std::vector<reader_table::reader>& all_readers = readers.of(static_cast<int>(i));
    const layout_set end = at_end(t);
    if (all_readers.empty() && end == 0) continue;
    const auto made = [&](const std::vector<layout_set>& sets) { // a row a way of its maker
      std::vector<double> ns;
      const auto add_row = [&](layout from) {
        for (layout_set s : sets)
          ns.push_back(changes_ns(t, from, s));
      };
      if (maker == no_maker) add_row(layout::plain);
      if (maker != no_maker)
        for (const way& w : p.nodes[at(maker)])
          add_row(w.gives);
      return ns;
    };
    const auto with_maker = [&](std::vector<int> variables) {
      if (maker != no_maker) variables.insert(variables.begin(), maker);
      return variables;
    };
    const auto wanted_by = [&](const reader_table::reader& r) { // of each of its ways
      std::vector<layout_set> wants;
      for (std::size_t w = 0; w < p.nodes[at(r.node)].size(); ++w)
        wants.push_back(readers.wanted(r, static_cast<int>(w)));
      return wants;
    };
    if (all_readers.empty()) {
      out.add(with_maker({}), made({end}));
      continue;
    }
    if (all_readers.size() == 1 && end == 0) {
      out.add(with_maker({all_readers[0].node}), made(wanted_by(all_readers[0])));
      continue;
    }
    unsigned all = end;
    for (const reader_table::reader& r : all_readers)
      for (layout_set s : wanted_by(r))
        all |= s;
    std::vector<layout_set> sets;
    for (unsigned s = 1; s <= all; ++s)
      if ((s & ~all) == 0 && (s & end) == end) sets.push_back(static_cast<layout_set>(s));
    const int there = out.add(std::vector<double>(sets.size(), 0.0));
    out.add(with_maker({there}), made(sets));
    for (const reader_table::reader& r : all_readers) {
      const std::vector<layout_set> wants = wanted_by(r);
      std::vector<double> ns;
      for (layout_set s : sets)
        for (layout_set w : wants)
          ns.push_back((w & ~s) == 0 ? 0 : impossible_ns);
      out.add({there, r.node}, std::move(ns));
    }
  }
  return out;
}
} // namespace detail

/// The limits of the exact method for so many variables: long graphs that are narrow keep them.
inline elimination_limits usual_limits(std::size_t variables) {
  elimination_limits out;
  constexpr std::size_t for_each = 256;
  out.all += for_each * variables;
  return out;
}

/// The fastest assignment that can be found within these limits of the exact method.
inline assignment cheapest(const layout_problem& p, const elimination_limits& most) {
  const detail::reader_table readers(p);
  assignment out;
  auto exact = detail::tables(p, readers).minimise(most);
  out.exact = exact.has_value();
  if (exact) exact->resize(p.nodes.size());
  out.way = exact ? std::move(*exact) : detail::improved(p, readers);
  out.ns = detail::total_ns(p, readers, out.way);
  return out;
}
inline assignment cheapest(const layout_problem& p) {
  return cheapest(p, usual_limits(p.nodes.size() + p.tensors.size()));
}

} // namespace benanza::bound
