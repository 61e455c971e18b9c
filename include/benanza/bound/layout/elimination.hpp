// SPDX-License-Identifier: Apache-2.0
// Which values of many small variables make a sum of tables least? Exactly, by variable elimination
// (Dechter, Artificial Intelligence 113, 1999): the variable whose neighbours make the smallest
// table is minimised away first. What that takes is known before any table is made: nothing is
// said where it would pass a limit.
//
//   cost_sum s;  int x = s.add({0, 3});  int y = s.add({0, 0});      // costs of their values
//   s.add({x, y}, {5, 1, 0, 7});                                     // y runs fastest
//   s.minimise({.table = 1 << 18, .all = 1 << 24})                   // {0, 1}
#pragma once

#include <range/v3/action/sort.hpp>
#include <range/v3/action/unique.hpp>
#include <range/v3/view/reverse.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
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

/// The order of an elimination: always the variable next whose neighbours make the smallest table;
/// its neighbours are neighbours of each other from then on. Only the order is found, no table is
/// made. Variables with one value are in no step.
///
///   elimination_order o({2, 3, 2});   o.together({0, 1});   o.together({1, 2});
///   if (o.find({.table = 100, .all = 1000})) ...   // o.steps(): {0, {1}}, {1, {2}}, {2, {}}
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
    n.all |= ranges::actions::sort | ranges::actions::unique;
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

/// A sum of tables over variables with few values each.
class cost_sum {
public:
  /// Adds a variable with a cost for each of its values (at least one, at most 65535) and returns
  /// its number.
  int add(std::vector<double> costs) {
    const int v = static_cast<int>(sizes_.size());
    sizes_.push_back(costs.size());
    add({v}, std::move(costs));
    return v;
  }
  /// Adds a table over different variables; the last of them runs fastest.
  void add(std::vector<int> variables, std::vector<double> costs) {
    // What has one value only is no choice.
    std::erase_if(variables, [&](int v) { return sizes_[at(v)] == 1; });
    if (!variables.empty()) tables_.push_back({std::move(variables), std::move(costs)});
  }

  /// The values with the least sum; nothing if that took more than the limits. Uses the sum up.
  std::optional<std::vector<int>> minimise(const elimination_limits& most) && {
    elimination_order order(sizes_);
    for (const table& t : tables_)
      order.together(t.variables);
    if (!order.find(most)) return std::nullopt;
    return elimination(sizes_, std::move(tables_), order.steps()).run();
  }

private:
  struct table {
    std::vector<int> variables;
    std::vector<double> costs;
  };
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  /// One minimisation. Each table waits at the step that takes the first of its variables.
  class elimination {
  public:
    elimination(const std::vector<std::size_t>& sizes, std::vector<table> tables,
                const std::vector<elimination_step>& steps)
        : sizes_(sizes)
        , steps_(steps)
        , step_of_(sizes.size(), 0)
        , waiting_(steps.size()) {
      for (std::size_t i = 0; i < steps.size(); ++i)
        step_of_[at(steps[i].variable)] = i;
      for (table& t : tables)
        enter(std::move(t));
    }

    std::vector<int> run() {
      std::vector<std::vector<std::uint16_t>> best; // a value for each choice of the given ones
      best.reserve(steps_.size());
      for (std::size_t i = 0; i < steps_.size(); ++i)
        best.push_back(eliminate(steps_[i], std::exchange(waiting_[i], {})));
      std::vector<int> values(sizes_.size(), 0);
      for (std::size_t i = steps_.size(); i-- > 0;) {
        std::size_t place = 0;
        for (int v : steps_[i].given)
          place = place * sizes_[at(v)] + at(values[at(v)]);
        values[at(steps_[i].variable)] = best[i][place];
      }
      return values;
    }

  private:
    void enter(table t) {
      std::size_t first = steps_.size();
      for (int v : t.variables)
        first = std::min(first, step_of_[at(v)]);
      if (first < steps_.size()) waiting_[first].push_back(std::move(t));
    }

    /// How far a table's place moves with the variable that goes, and with each given one.
    struct moving {
      const double* costs;
      std::size_t place = 0, own = 0;
      std::vector<std::size_t> with;
    };
    moving movement(const table& t, const elimination_step& s) const {
      moving out{.costs = t.costs.data(), .with = std::vector<std::size_t>(s.given.size())};
      std::size_t stride = 1;
      for (int v : t.variables | ranges::views::reverse) {
        const auto given = std::lower_bound(s.given.begin(), s.given.end(), v) - s.given.begin();
        (v == s.variable ? out.own : out.with[static_cast<std::size_t>(given)]) = stride;
        stride *= sizes_[at(v)];
      }
      return out;
    }

    std::vector<std::uint16_t> eliminate(const elimination_step& s,
                                         const std::vector<table>& tables) {
      std::vector<moving> parts;
      for (const table& t : tables)
        parts.push_back(movement(t, s));
      std::size_t places = 1;
      for (int g : s.given)
        places *= sizes_[at(g)];
      table left{s.given, std::vector<double>(places)};
      std::vector<std::uint16_t> out(places);
      std::vector<std::size_t> values(s.given.size(), 0);
      for (std::size_t p = 0; p < places; ++p) {
        double least = std::numeric_limits<double>::infinity();
        std::size_t best = 0;
        for (std::size_t x = 0; x < sizes_[at(s.variable)]; ++x) {
          double sum = 0;
          for (const moving& m : parts)
            sum += m.costs[m.place + x * m.own];
          if (sum < least) {
            least = sum;
            best = x;
          }
        }
        left.costs[p] = least;
        out[p] = static_cast<std::uint16_t>(best);
        for (std::size_t g = s.given.size(); g-- > 0;) {
          const std::size_t size = sizes_[at(s.given[g])];
          const bool wraps = ++values[g] == size;
          for (moving& m : parts)
            m.place = wraps ? m.place - (size - 1) * m.with[g] : m.place + m.with[g];
          if (!wraps) break;
          values[g] = 0;
        }
      }
      if (!s.given.empty()) enter(std::move(left));
      return out;
    }

    const std::vector<std::size_t>& sizes_;
    const std::vector<elimination_step>& steps_;
    std::vector<std::size_t> step_of_;
    std::vector<std::vector<table>> waiting_;
  };

  std::vector<std::size_t> sizes_;
  std::vector<table> tables_;
};

} // namespace benanza::bound
