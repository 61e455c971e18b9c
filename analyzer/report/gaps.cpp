// SPDX-License-Identifier: Apache-2.0
#include "gaps.hpp"

#include "heading.hpp"
#include "limit_figures.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/view/enumerate.hpp>

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

namespace benanza::report {

namespace {
gap_cell gap_cell_of(const advice::comparison& c) {
  const limit_value v = gap_value(c);
  gap_cell out{.run = &c, .unsure = v.why};
  if (advice::has_gap(c)) out.gap = advice::gap_of(c);
  return out;
}

/// Adds the means of one type on some threads, unless there is nothing to take a mean of.
void add_means(gap_table& t, numeric type, int threads) {
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
} // namespace

gap_table gaps_of(const std::vector<advice::advised>& all) {
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
      column->cells[i] = gap_cell_of(c);
    }
  }
  std::set<std::pair<numeric, int>> settings;
  for (const bound::model_bound* b : out.models)
    if (settings.emplace(b->type, b->threads).second) add_means(out, b->type, b->threads);
  return out;
}

std::string run_text(const gap_cell& c) {
  return c.run == nullptr || c.run->latency.ns <= 0 ? "-" : show_time(c.run->latency.ns);
}

std::string gap_text(const gap_cell& c) {
  return c.gap.value > 0 ? fmt::format("{:.2f}", c.gap.value) : "-";
}

std::string_view mark_of(const gap_cell& c) {
  return c.run == nullptr || c.unsure.empty() ? "" : "!";
}

std::string interval_text(const advice::factor& f) {
  return fmt::format("[{:.2f}, {:.2f}]", f.low, f.high);
}

std::string unsure_note(const gap_table& t) {
  for (const gap_column& c : t.columns)
    for (const auto& [i, cell] : ranges::views::enumerate(c.cells))
      if (cell.run != nullptr && !cell.unsure.empty())
        return fmt::format("!: not sure, and in no mean, such as of {}: {}.",
                           printable(t.models[i]->graph->name), printable(cell.unsure));
  return {};
}

namespace {
/// The columns from `first` on, at most `gaps_a_line`, of the table in text.
constexpr std::size_t gaps_a_line = 3;
std::string gap_rows(const gap_table& t, std::size_t first) {
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
} // namespace

std::string gaps_text(const std::vector<advice::advised>& all, bool quiet) {
  const gap_table t = gaps_of(all);
  if (t.columns.empty()) return {};
  std::string out = "Frameworks' runs\n";
  for (const auto& [i, c] : ranges::views::enumerate(t.columns))
    out += wrapped(fmt::format("  ({}) ", i + 1), c.name);
  for (std::size_t first = 0; first < t.columns.size(); first += gaps_a_line)
    out += '\n' + gap_rows(t, first);
  if (quiet) return out;
  return out + '\n' + wrapped("  ", std::string(gap_means_what) + unsure_note(t));
}

} // namespace benanza::report
