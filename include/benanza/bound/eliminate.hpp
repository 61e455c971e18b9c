// SPDX-License-Identifier: Apache-2.0
// Which values of many small variables make a sum of tables least? Exactly, by variable elimination
// (Dechter, Artificial Intelligence 113, 1999): the variable whose neighbours make the smallest
// table is minimised away first. Gives up, with nothing, where a table would pass a limit.
//
//   cost_sum s;  int x = s.add({0, 3});  int y = s.add({0, 0});      // costs of their values
//   s.add({x, y}, {5, 1, 0, 7});                                     // y runs fastest
//   s.minimise(1 << 20)   // {0, 1}
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace benanza::bound {

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
    tables_.push_back({std::move(variables), std::move(costs)});
  }

  /// The values with the least sum; nothing if a table of more than `limit` entries were needed.
  std::optional<std::vector<int>> minimise(std::size_t limit) const {
    elimination e(*this);
    return e.run(limit);
  }

private:
  struct table {
    std::vector<int> variables;
    std::vector<double> costs;
  };

  /// The state of one minimisation.
  class elimination {
  public:
    explicit elimination(const cost_sum& s)
        : sizes_(s.sizes_)
        , tables_(s.tables_)
        , tables_of_(s.sizes_.size())
        , near_(s.sizes_.size()) {
      for (std::size_t t = 0; t < tables_.size(); ++t)
        enter(static_cast<int>(t));
    }

    std::optional<std::vector<int>> run(std::size_t limit) {
      const std::size_t n = sizes_.size();
      std::vector<double> weight(n);
      std::vector<char> gone(n, 0);
      for (std::size_t v = 0; v < n; ++v)
        weight[v] = entries(v);
      std::vector<step> steps;
      for (std::size_t round = 0; round < n; ++round) {
        std::size_t v = n;
        for (std::size_t i = 0; i < n; ++i)
          if (!gone[i] && (v == n || weight[i] < weight[v])) v = i;
        if (weight[v] > static_cast<double>(limit)) return std::nullopt;
        const std::set<int> touched = near_[v];
        steps.push_back(eliminate(static_cast<int>(v)));
        gone[v] = 1;
        for (int i : touched)
          weight[at(i)] = entries(at(i));
      }
      std::vector<int> values(n, 0);
      for (auto s = steps.rbegin(); s != steps.rend(); ++s) {
        std::size_t place = 0;
        for (int v : s->given)
          place = place * sizes_[at(v)] + at(values[at(v)]);
        values[at(s->variable)] = s->best[place];
      }
      return values;
    }

  private:
    /// A variable that was minimised away: its best value for each choice of its neighbours.
    struct step {
      int variable;
      std::vector<int> given;
      std::vector<std::uint16_t> best;
    };

    static std::size_t at(int i) { return static_cast<std::size_t>(i); }

    void enter(int t) {
      const std::vector<int>& all = tables_[at(t)].variables;
      for (int v : all) {
        tables_of_[at(v)].push_back(t);
        for (int other : all)
          if (other != v) near_[at(v)].insert(other);
      }
    }
    /// Entries that are looked at when `v` is eliminated.
    double entries(std::size_t v) const {
      double out = static_cast<double>(sizes_[v]);
      for (int i : near_[v])
        out *= static_cast<double>(sizes_[at(i)]);
      return out;
    }

    step eliminate(int v) {
      step out{v, {near_[at(v)].begin(), near_[at(v)].end()}, {}};
      const std::vector<int>& given = out.given;
      // How far each table's place moves with `v` and with each of the given variables.
      struct moving {
        const double* costs;
        std::size_t place = 0, own = 0;
        std::vector<std::size_t> with;
      };
      std::vector<moving> parts;
      for (int t : tables_of_[at(v)]) {
        moving m{.costs = tables_[at(t)].costs.data(),
                 .with = std::vector<std::size_t>(given.size())};
        std::size_t stride = 1;
        const std::vector<int>& order = tables_[at(t)].variables;
        for (auto i = order.rbegin(); i != order.rend(); ++i) {
          if (*i == v)
            m.own = stride;
          else
            m.with[at(static_cast<int>(std::find(given.begin(), given.end(), *i) -
                                       given.begin()))] = stride;
          stride *= sizes_[at(*i)];
        }
        parts.push_back(std::move(m));
      }
      std::size_t places = 1;
      for (int g : given)
        places *= sizes_[at(g)];
      table left{given, std::vector<double>(places)};
      out.best.resize(places);
      std::vector<std::size_t> values(given.size(), 0);
      for (std::size_t p = 0; p < places; ++p) {
        double least = std::numeric_limits<double>::infinity();
        std::size_t best = 0;
        for (std::size_t x = 0; x < sizes_[at(v)]; ++x) {
          double sum = 0;
          for (const moving& m : parts)
            sum += m.costs[m.place + x * m.own];
          if (sum < least) {
            least = sum;
            best = x;
          }
        }
        left.costs[p] = least;
        out.best[p] = static_cast<std::uint16_t>(best);
        for (std::size_t g = given.size(); g-- > 0;) {
          const std::size_t size = sizes_[at(given[g])];
          const bool wraps = ++values[g] == size;
          for (moving& m : parts)
            m.place = wraps ? m.place - (size - 1) * m.with[g] : m.place + m.with[g];
          if (!wraps) break;
          values[g] = 0;
        }
      }
      const std::vector<int> done = tables_of_[at(v)];
      for (int t : done)
        for (int i : tables_[at(t)].variables)
          std::erase(tables_of_[at(i)], t);
      for (int i : given)
        near_[at(i)].erase(v);
      near_[at(v)].clear();
      if (!given.empty()) {
        tables_.push_back(std::move(left));
        enter(static_cast<int>(tables_.size()) - 1);
      }
      return out;
    }

    const std::vector<std::size_t>& sizes_;
    std::vector<table> tables_;
    std::vector<std::vector<int>> tables_of_;
    std::vector<std::set<int>> near_;
  };

  std::vector<std::size_t> sizes_;
  std::vector<table> tables_;
};

} // namespace benanza::bound
