// SPDX-License-Identifier: Apache-2.0
// How far are frameworks' runs of several models from their lower bounds? A column for each
// framework: its run of each model and the gap, and below them the geometric means of each type on
// so many threads. What is not sure is marked and left out of the means.
//
//   gap_table t = gaps_of(all);   t.columns[0].name   t.means[0].of[0].mean.value
#pragma once

#include "../advice/gap.hpp"
#include "limit_figures.hpp"
#include "warnings.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/view/enumerate.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::report {

/// A run of a model; null: there is none.
struct gap_cell {
  const advice::comparison* run = nullptr;
  advice::factor gap{}; ///< 0: unknown
  std::string unsure{}; ///< why; empty: it is sure
  bool counts() const { return gap.value > 0 && unsure.empty(); }
};

/// The runs of a framework, in the order of the models.
struct gap_column {
  std::string name{};
  std::vector<gap_cell> cells{};
};

/// The geometric mean of a column, in one type on some threads.
struct gap_mean {
  std::size_t models = 0;
  advice::factor mean{};
};
struct gap_means {
  numeric type = numeric::f32;
  int threads = 1;
  std::vector<gap_mean> of{}; ///< each column
};

struct gap_table {
  std::vector<const model_bound*> models{};
  std::vector<gap_column> columns{};
  std::vector<gap_means> means{}; ///< where a framework ran two models or more
};

namespace detail {
inline gap_cell gap_cell_of(const advice::comparison& c) {
  const limit_value v = gap_value(c);
  gap_cell out{.run = &c, .unsure = v.why};
  if (advice::has_gap(c)) out.gap = advice::gap_of(c);
  return out;
}

/// Adds the means of one type on some threads, unless there is nothing to take a mean of.
inline void add_means(gap_table& t, numeric type, int threads) {
  gap_means out{type, threads, {}};
  std::size_t most = 0;
  for (const gap_column& c : t.columns) {
    std::vector<const advice::comparison*> runs;
    for (const auto& [i, cell] : ranges::views::enumerate(c.cells))
      if (cell.counts() && t.models[i]->type == type && t.models[i]->threads == threads)
        runs.push_back(cell.run);
    most = std::max(most, runs.size());
    out.of.push_back({runs.size(), runs.empty() ? advice::factor{} : advice::mean_gap(runs)});
  }
  if (most > 1) t.means.push_back(std::move(out));
}
} // namespace detail

/// All frameworks' runs of some models; without columns: there are none.
inline gap_table gaps_of(const std::vector<advice::advised>& all) {
  gap_table out;
  for (const auto& [i, a] : ranges::views::enumerate(all)) {
    out.models.push_back(a.model);
    for (const advice::comparison& c : a.frameworks) {
      const std::string name = printable(advice::run_title(c), 200);
      auto column = ranges::find_if(out.columns, [&, at = i](const gap_column& known) {
        return known.name == name && known.cells[at].run == nullptr;
      });
      if (column == out.columns.end()) {
        out.columns.push_back({name, std::vector<gap_cell>(all.size())});
        column = std::prev(out.columns.end());
      }
      column->cells[i] = detail::gap_cell_of(c);
    }
  }
  std::set<std::pair<numeric, int>> settings;
  for (const model_bound* b : out.models)
    if (settings.emplace(b->type, b->threads).second) detail::add_means(out, b->type, b->threads);
  return out;
}

namespace detail {
inline constexpr std::string_view gap_means_what =
    "gap: the median of a framework's runs over the lower bound; means are geometric, their 95 % "
    "intervals of the samples. ";

inline std::string run_text(const gap_cell& c) {
  return c.run == nullptr || c.run->latency.ns <= 0 ? "-" : show_time(c.run->latency.ns);
}
inline std::string gap_text(const gap_cell& c) {
  return c.gap.value > 0 ? fmt::format("{:.2f}", c.gap.value) : "-";
}
inline std::string_view mark_of(const gap_cell& c) {
  return c.run == nullptr || c.unsure.empty() ? "" : "!";
}
inline std::string interval_text(const advice::factor& f) {
  return fmt::format("[{:.2f}, {:.2f}]", f.low, f.high);
}

/// What the marks mean, with the first of their reasons; empty: there are none.
inline std::string unsure_note(const gap_table& t) {
  for (const gap_column& c : t.columns)
    for (const auto& [i, cell] : ranges::views::enumerate(c.cells))
      if (cell.run != nullptr && !cell.unsure.empty())
        return fmt::format("!: not sure, and in no mean, such as of {}: {}.",
                           printable(t.models[i]->graph->name), printable(cell.unsure));
  return {};
}

/// The columns from `first` on, at most `gaps_a_line`, of the table in text.
inline constexpr std::size_t gaps_a_line = 3;
inline std::string gap_rows(const gap_table& t, std::size_t first) {
  constexpr std::size_t width = 20;
  const std::size_t last = std::min(first + gaps_a_line, t.columns.size());
  const auto line = [&](std::string model, std::string_view type, const std::string& threads,
                        const auto& cell) {
    std::string out = model.size() > width ? std::exchange(model, "") + '\n' : "";
    out += fmt::format("{:<{}} {:<6} {:>2}", model, width, type, threads);
    for (std::size_t c = first; c < last; ++c)
      out += cell(c); // of 16 columns
    return out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
  };
  std::string out = line("model", "type", "t", [](std::size_t c) {
    return fmt::format(" {:>8}{:>6} ", fmt::format("({})", c + 1), "gap");
  });
  for (const auto& [i, b] : ranges::views::enumerate(t.models))
    out += line(printable(b->graph->name), type_shown(*b), std::to_string(b->threads),
                [&, at = i](std::size_t c) {
                  const gap_cell& cell = t.columns[c].cells[at];
                  return fmt::format(" {:>8}{:>6}{:<1}", run_text(cell), gap_text(cell),
                                     mark_of(cell));
                });
  for (const gap_means& m : t.means) {
    const auto of_means = [&](const char* what, const auto& text) {
      out += line(what, name(m.type), std::to_string(m.threads), [&](std::size_t c) {
        return fmt::format(" {:>14} ", m.of[c].models == 0 ? "-" : text(m.of[c]));
      });
    };
    of_means("geometric mean",
             [](const gap_mean& g) { return fmt::format("{:.2f}", g.mean.value); });
    of_means("  95 % interval", [](const gap_mean& g) { return interval_text(g.mean); });
    of_means("  of so many models", [](const gap_mean& g) { return std::to_string(g.models); });
  }
  return out;
}
} // namespace detail

/// The table in text, in parts of three frameworks; empty: there are none.
inline std::string gaps_text(const std::vector<advice::advised>& all, bool quiet = false) {
  const gap_table t = gaps_of(all);
  if (t.columns.empty()) return {};
  std::string out = "Frameworks' runs\n";
  for (const auto& [i, c] : ranges::views::enumerate(t.columns))
    out += wrapped(fmt::format("  ({}) ", i + 1), c.name);
  for (std::size_t first = 0; first < t.columns.size(); first += detail::gaps_a_line)
    out += '\n' + detail::gap_rows(t, first);
  if (quiet) return out;
  return out + '\n' + wrapped("  ", std::string(detail::gap_means_what) + detail::unsure_note(t));
}

} // namespace benanza::report
