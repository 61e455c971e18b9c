// SPDX-License-Identifier: Apache-2.0
// In which order are variables minimised away, and how much does that take? Always the one next
// whose neighbours make the smallest table; its neighbours are neighbours of each other from then
// on. Only the order is found, no table is made: whether the limits are kept is known before.
//
//   elimination_order o({2, 3, 2});   o.together({0, 1});   o.together({1, 2});
//   if (o.find({.table = 100, .all = 1000})) ...   // o.steps(): {0, {1}}, {1, {2}}, {2, {}}
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>
#include <vector>

namespace benanza::bound {

/// How many entries an elimination may look at: for one variable, and for all of them.
struct elimination_limits {
  std::size_t table = std::size_t{1} << 18;
  std::size_t all = std::size_t{1} << 24;
};

/// One variable that is minimised away, and those that a table is left over: ascending.
struct elimination_step {
  int variable = 0;
  std::vector<int> given{};
};

/// The order of an elimination. Variables with one value are in no step.
class elimination_order {
public:
  /// How many values each variable has.
  explicit elimination_order(const std::vector<std::size_t>& sizes)
      : sizes_(sizes)
      , near_(sizes.size())
      , weight_(sizes.size(), 0)
      , gone_(sizes.size(), 0) {}

  /// Says that these variables share a table.
  void together(const std::vector<int>& variables) {
    for (int v : variables)
      for (int other : variables)
        if (other != v) near_[at(v)].all.push_back(other);
  }

  /// Finds the order; false if it takes more than the limits.
  bool find(const elimination_limits& most) {
    for (std::size_t v = 0; v < sizes_.size(); ++v)
      if (sizes_[v] > 1) weigh(static_cast<int>(v));
    double all = 0;
    while (!queue_.empty()) {
      const auto [weight, v] = queue_.top();
      queue_.pop();
      if (gone_[at(v)] || weight != weight_[at(v)]) continue; // weighed again since
      all += weight;
      if (weight > static_cast<double>(most.table) || all > static_cast<double>(most.all))
        return false;
      take(v);
    }
    return true;
  }
  const std::vector<elimination_step>& steps() const { return steps_; }

private:
  /// The neighbours of a variable; some may be named twice, or gone, until they are tidied up.
  struct neighbours {
    std::vector<int> all{};
    std::size_t known = 0; ///< how many there were when they were tidied up
    std::size_t lost = 0;  ///< how many of those are gone since
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void take(int v) {
    tidy_up(v);
    const std::vector<int>& given =
        steps_.emplace_back(elimination_step{v, std::move(near_[at(v)].all)}).given;
    gone_[at(v)] = 1;
    for (int a : given) {
      neighbours& n = near_[at(a)];
      ++n.lost;
      for (int b : given)
        if (b != a) n.all.push_back(b);
    }
    for (int a : given)
      weigh(a);
  }

  void tidy_up(int v) {
    neighbours& n = near_[at(v)];
    std::erase_if(n.all, [&](int i) { return gone_[at(i)] != 0; });
    std::sort(n.all.begin(), n.all.end());
    n.all.erase(std::unique(n.all.begin(), n.all.end()), n.all.end());
    n.known = n.all.size();
    n.lost = 0;
  }

  /// Finds how many entries are looked at when `v` is minimised away.
  void weigh(int v) {
    constexpr std::size_t many = 64; // whose table passes any limit
    const neighbours& n = near_[at(v)];
    double weight = std::numeric_limits<double>::infinity();
    if (n.known - n.lost <= many) {
      tidy_up(v); // pays for itself: all but `many` of them are gone, or new
      if (n.known <= many) {
        weight = static_cast<double>(sizes_[at(v)]);
        for (int i : n.all)
          weight *= static_cast<double>(sizes_[at(i)]);
      }
    }
    if (weight == weight_[at(v)]) return;
    weight_[at(v)] = weight;
    queue_.emplace(weight, v);
  }

  using entry = std::pair<double, int>;

  const std::vector<std::size_t>& sizes_;
  std::vector<neighbours> near_;
  std::vector<double> weight_;
  std::vector<char> gone_;
  std::priority_queue<entry, std::vector<entry>, std::greater<>> queue_{};
  std::vector<elimination_step> steps_{};
};

} // namespace benanza::bound
