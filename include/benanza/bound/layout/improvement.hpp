// SPDX-License-Identifier: Apache-2.0
// How good can an assignment of layouts be made where the best one is too hard to find? Node by
// node (iterated conditional modes), along the graph and back, from several starts, until no change
// of a single node helps or so much work was done as is given to one start. What is found is never
// said to be the best.
//
//   std::vector<int> ways = improved(problem, readers);   // a way a node
#pragma once

#include "problem.hpp"

#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/min_element.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace benanza::bound::detail {

/// How often a way of a node may be compared at one of its tensors, from one start.
inline constexpr std::int64_t most_looks = std::int64_t{1} << 23;

/// Improves an assignment. A node is looked at again only once something next to it has changed.
class improver {
public:
  improver(const layout_problem& p, const reader_table& readers, std::vector<int>& ways)
      : p_(p)
      , readers_(readers)
      , ways_(ways)
      , near_(p.nodes.size())
      , wanted_(p.tensors.size())
      , to_look_(p.nodes.size(), 1) {
    for (std::size_t t = 0; t < p.tensors.size(); ++t) {
      const int tensor = static_cast<int>(t);
      for (layout l : all_layouts)
        wanted_[t][static_cast<std::size_t>(l)] = holds(at_end(p.tensors[t]), l);
      for (const reader_table::reader& r : readers.of(tensor)) {
        near_[at(r.node)].push_back({tensor, &r});
        count(tensor, readers.wanted(r, ways[at(r.node)]), 1);
      }
      if (const int maker = p.tensors[t].maker; maker != no_maker)
        near_[at(maker)].push_back({tensor, nullptr});
    }
  }

  void run() {
    constexpr int sweeps = 50;
    bool better = true;
    for (int sweep = 0; better && sweep < sweeps; ++sweep) {
      better = false;
      for (std::size_t i = 0; i < p_.nodes.size() && looks_ < most_looks; ++i) {
        // Forwards and backwards in turns, so that a layout spreads along the graph either way.
        const std::size_t n = sweep % 2 == 0 ? i : p_.nodes.size() - 1 - i;
        if (std::exchange(to_look_[n], char{0}) != 0) better = improve(n) || better;
      }
    }
  }

private:
  /// A tensor that a node reads, or makes: no reader.
  struct link {
    int tensor;
    const reader_table::reader* reads;
  };
  /// A tensor as the other nodes want it and make it.
  struct view {
    const passed_tensor* tensor;
    const reader_table::reader* reads;
    layout_set others;
    layout from;
  };

  bool improve(std::size_t n) {
    const int before = ways_[n];
    around_.clear();
    for (const link& l : near_[n]) {
      const layout_set own = l.reads == nullptr ? layout_set{0} : readers_.wanted(*l.reads, before);
      layout_set others = 0;
      for (layout as : all_layouts)
        if (wanted_[at(l.tensor)][static_cast<std::size_t>(as)] > (holds(own, as) ? 1 : 0))
          others = static_cast<layout_set>(others | set_of(as));
      around_.push_back({&p_.tensors[at(l.tensor)], l.reads, others, made_as(p_, ways_, l.tensor)});
    }
    const auto local_ns = [&](int w) {
      const way& as = p_.nodes[n][at(w)];
      double ns = as.ns;
      for (const view& v : around_)
        ns += v.reads == nullptr
                  ? changes_ns(*v.tensor, as.gives, v.others)
                  : changes_ns(*v.tensor, v.from,
                               static_cast<layout_set>(v.others | readers_.wanted(*v.reads, w)));
      return ns;
    };
    int best = before;
    double least = local_ns(before);
    for (int w = 0; w < static_cast<int>(p_.nodes[n].size()); ++w)
      if (const double ns = w == before ? least : local_ns(w); ns < least) {
        least = ns;
        best = w;
      }
    looks_ += static_cast<std::int64_t>(around_.size() * p_.nodes[n].size());
    if (best == before) return false;
    change(n, best);
    return true;
  }

  /// Runs a node in another way; those that see a difference are to be looked at again.
  void change(std::size_t n, int to) {
    const int before = std::exchange(ways_[n], to);
    for (const link& l : near_[n]) {
      bool seen = false;
      if (l.reads == nullptr) {
        seen = p_.nodes[n][at(before)].gives != p_.nodes[n][at(to)].gives;
      } else {
        seen = count(l.tensor, readers_.wanted(*l.reads, before), -1);
        seen = count(l.tensor, readers_.wanted(*l.reads, to), 1) || seen;
      }
      if (!seen) continue;
      for (const reader_table::reader& r : readers_.of(l.tensor))
        to_look_[at(r.node)] = r.node != static_cast<int>(n) || to_look_[n] != 0;
      looks_ += std::ssize(readers_.of(l.tensor));
      if (const int maker = p_.tensors[at(l.tensor)].maker;
          maker != no_maker && maker != static_cast<int>(n))
        to_look_[at(maker)] = 1;
    }
  }

  /// Counts who wants a tensor in those layouts; true if that may matter to another node.
  bool count(int tensor, layout_set wanted, int more) {
    bool matters = false;
    for (layout l : all_layouts)
      if (holds(wanted, l)) {
        int& n = wanted_[at(tensor)][static_cast<std::size_t>(l)];
        matters = matters || n <= 1 || n + more <= 1;
        n += more;
      }
    return matters;
  }

  const layout_problem& p_;
  const reader_table& readers_;
  std::vector<int>& ways_;
  std::vector<std::vector<link>> near_;    ///< by tensor, ascending
  std::vector<std::array<int, 4>> wanted_; ///< how many want a tensor in each layout
  std::vector<char> to_look_;
  std::vector<view> around_{};
  std::int64_t looks_ = 0;
};

/// The start in which every node takes its fastest way; of those that give `preferred`, where some
/// do.
inline std::vector<int> start(const layout_problem& p, std::optional<layout> preferred) {
  std::vector<int> out;
  for (const std::vector<way>& ways : p.nodes) {
    // Ways that keep the layout throughout come first, then those that at least give it.
    const auto strange = [&](const way& w) {
      if (!preferred) return 0;
      const bool reads = ranges::all_of(
          w.wants, [&](layout as) { return as == *preferred; }, &laid_tensor::as);
      return w.gives != *preferred ? 2 : reads ? 0 : 1;
    };
    const auto best = ranges::min_element(
        ways, ranges::less{}, [&](const way& w) { return std::pair(strange(w), w.ns); });
    out.push_back(static_cast<int>(best - ways.begin()));
  }
  return out;
}

/// The best assignment that any start leads to.
inline std::vector<int> improved(const layout_problem& p, const reader_table& readers) {
  std::vector<int> out;
  double least = impossible_ns;
  std::vector<std::optional<layout>> starts{std::nullopt};
  starts.insert(starts.end(), std::begin(all_layouts), std::end(all_layouts));
  for (const std::optional<layout>& s : starts) {
    std::vector<int> ways = start(p, s);
    improver(p, readers, ways).run();
    const double ns = total_ns(p, readers, ways);
    if (out.empty() || ns < least) {
      out = std::move(ways);
      least = ns;
    }
  }
  return out;
}

} // namespace benanza::bound::detail
