// SPDX-License-Identifier: Apache-2.0
#include "totals.hpp"

#include "units.hpp"

#include <fmt/format.h>
#include <range/v3/action/stable_sort.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/take.hpp>
#include <range/v3/view/transform.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
/// A row with a figure for each form; empty if there is none.
std::string
totals_row(const bound::model_bound& b, std::string_view what,
           const std::function<std::optional<bound::figure>(const bound::form_figures&)>& of) {
  const auto cell = [&](const bound::form_figures& f) -> std::string {
    const auto figure = of(f);
    if (!figure || figure->ns <= 0) return "-";
    return figure->low_ns == figure->high_ns ? show_time(figure->ns) : show(*figure);
  };
  const std::string left = cell(b), right = b.fused ? cell(*b.fused) : "";
  if (left == "-" && (right.empty() || right == "-")) return {};
  std::string out = fmt::format("  {:<20}{:<29}{}", what, left, right);
  return out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
}

/// Roofline, bound and prediction of one kind of total.
std::string totals_rows(const bound::model_bound& b, bound::figure bound::totals::*kind) {
  return totals_row(b, "roofline", [&](const auto& f) { return f.roofline.*kind; }) +
         totals_row(b, "bound", [&](const auto& f) { return f.bound.*kind; }) +
         totals_row(b, "prediction", [&](const auto& f) { return f.prediction.*kind; });
}
} // namespace

const bound::layout_figures* layouts(const bound::form_figures& f) {
  return f.layouts && f.layouts->prediction ? &*f.layouts : nullptr;
}

namespace {
std::string layout_rows(const bound::model_bound& b) {
  using maybe = std::optional<bound::figure>;
  const auto of = [](const std::optional<bound::layout_solution>& l) {
    return l ? maybe(l->total) : std::nullopt;
  };
  std::string out = totals_row(
      b, "bound", [&](const auto& f) { return f.layouts ? of(f.layouts->bound) : std::nullopt; });
  out += totals_row(b, "expected", [&](const auto& f) {
    return f.layouts ? of(f.layouts->prediction) : std::nullopt;
  });
  if (out.empty() && b.layouts)
    out = b.missing.empty() ? "  no expected run: a reorder that is needed has no time\n"
                            : "  no expected run: reorders were not measured\n";
  if (out.empty()) return out;
  return "layouts paid for\n" + out + totals_row(b, "  all plain", [](const auto& f) {
           return f.layouts ? f.layouts->plain_prediction : std::nullopt;
         });
}

std::string path_line(const bound::model_bound& b) {
  const bound::totals& t = b.bound;
  std::string out =
      fmt::format("the longest path, {} of {}; assumes that {}.", t.longest.nodes.size(),
                  counted(b.covered.nodes, "node"),
                  b.threads == 1 ? "there are unbounded workers" : std::string(b.assumption()));
  if (t.paths > 1)
    out += fmt::format(
        " Drawn again, it stays the longest in {} of cases, {} {} the rest.", percent(t.path_share),
        counted(static_cast<std::int64_t>(t.paths) - 1, "other"), t.paths == 2 ? "wins" : "win");
  return out;
}
} // namespace

std::string totals_table(const bound::model_bound& b) {
  std::string out = fmt::format("{:<22}{:<29}{}", "", "unfused", b.fused ? "fused" : "");
  out = out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
  const std::string sequential = totals_rows(b, &bound::totals::sequential);
  const std::string parallel = totals_rows(b, &bound::totals::parallel);
  out += "sequential\n" + sequential + layout_rows(b);
  out += parallel == sequential ? "parallel: the same as sequential\n" : "parallel\n" + parallel;
  if (b.workers <= 1) return out;
  out += "on " + counted(b.workers, "worker");
  const std::string reachable = totals_rows(b, &bound::totals::reachable);
  return out + (reachable == sequential ? ": the same as sequential\n"
                : reachable == parallel ? ": the same as parallel\n"
                                        : '\n' + reachable);
}

std::string per_item(const bound::model_bound& b) {
  if (b.graph->batch <= 1 || !b.sure()) return {};
  const auto n = static_cast<double>(b.graph->batch);
  std::vector<std::string> all;
  const auto add = [&](std::string_view what, double ns) {
    if (ns > 0)
      all.push_back(
          fmt::format("{} {}, {} items/s", what, show_time(ns / n), show_rate(1e9 * n / ns)));
  };
  add("bound", b.best_form().bound.sequential.ns);
  if (const auto expected = bound::expected(b.fastest_form())) add("expected", expected->ns);
  return all.empty() ? std::string()
                     : wrapped("each item   ", fmt::format("{}", fmt::join(all, "; ")));
}

std::string legend(const bound::model_bound& b) {
  std::string out;
  if (b.fused)
    out += wrapped("  fused: ",
                   fmt::format("{} of {} run as one layer, where that is faster.",
                               b.fused->faster_fused, counted(b.fused->fused_nodes, "group")));
  else
    out +=
        wrapped("  unfused: ", "each layer by itself; a fusing framework can beat an unfused sum.");
  if (b.roofline.sequential.ns > 0)
    out += wrapped("  roofline: ", "arithmetic and bytes over the machine's measured ceilings.");
  out += wrapped("  bound: ", "per layer the least time of any algorithm, caches hot.");
  out +=
      wrapped("  prediction: ",
              b.weights.hot ? "from hot times: the weights fit a core's own cache."
              : b.fewest_gone < b.most_gone
                  ? fmt::format("from times with weights of which {:.0f} % left the last cache; "
                                "{:.0f} to {:.0f} % if others use half or twice as much of it, "
                                "which the intervals hold.",
                                100 * b.weights.gone, 100 * b.fewest_gone, 100 * b.most_gone)
              : b.weights.mixed()
                  ? fmt::format("from times with weights of which {:.0f} % left the last cache.",
                                100 * b.weights.gone)
              : b.weights.gone > 0 ? "from times with cold weights, as in a real run."
                                   : "from times with weights that left all but the last cache.");
  if (const auto* l = layouts(b.fastest_form())) {
    const bound::layout_solution& p = *l->prediction;
    std::string text = fmt::format("the prediction holds {}, {}; {}.",
                                   counted(p.change_count, "reorder"), show_time(p.changes.ns),
                                   p.exact ? "no assignment of layouts is faster"
                                           : "the best assignment of layouts that was found");
    if (l->plain_prediction) text += " all plain: tensors as ONNX has them.";
    out += wrapped("  layouts paid for: ", text);
  }
  out += wrapped("  parallel: ", path_line(b));
  if (b.workers > 1)
    out += wrapped(
        fmt::format("  on {}: ", counted(b.workers, "worker")),
        fmt::format("max(parallel, sequential / {}), which a good schedule reaches.", b.workers));
  return out;
}

namespace {
/// Where a run took longest beyond what was predicted, the largest first; empty: nowhere by much.
std::string slower_parts(const bound::chain_run& w) {
  constexpr double by_much = 0.01; // of the whole run
  constexpr std::ptrdiff_t most = 5;
  const auto excess_ns = [](const bound::run_part& p) { return p.ns - p.expected_ns; };
  const auto slower = w.parts | ranges::views::filter([&](const bound::run_part& p) {
                        return excess_ns(p) > by_much * w.run->median_ns;
                      }) |
                      ranges::to<std::vector> |
                      ranges::actions::stable_sort(ranges::greater{}, excess_ns);
  const auto lines = slower | ranges::views::take(most) |
                     ranges::views::transform([](const bound::run_part& p) {
                       return fmt::format("{} took {}, not {}", printable(p.name), show_time(p.ns),
                                          show_time(p.expected_ns));
                     }) |
                     ranges::to<std::vector>;
  return fmt::format("{}", fmt::join(lines, "; "));
}

/// What a run with branches side by side gained.
std::string against_in_order(const bound::chain_run& w, const bound::model_bound& b) {
  std::string out = "branches side by side";
  for (const bound::chain_run& other : b.runs)
    if (other.fused == w.fused && !other.side_by_side())
      out += fmt::format(", {:.2f} times as fast as one step after the other",
                         other.run->median_ns / w.run->median_ns);
  if (!w.run->disturbed.empty()) out += "; disturbed: " + printable(w.run->disturbed);
  return out;
}
} // namespace

std::string failed_runs(const bound::model_bound& b) {
  std::string out;
  for (const bound::measurement* m : b.failed_runs)
    out += wrapped("run         ",
                   fmt::format("FAILED, {}: {}.", m->key == b.graph->name ? "unfused" : "fused",
                               printable(m->error)));
  return out;
}

std::string runs(const bound::model_bound& b) {
  std::string out = failed_runs(b);
  for (const bound::chain_run& w : b.runs) {
    const bound::form_figures& f = b.form(w.fused);
    const double took = w.run->median_ns;
    std::string what = show_time(took);
    if (b.graph->batch > 1)
      what +=
          fmt::format(" ({} items/s)", show_rate(1e9 * static_cast<double>(b.graph->batch) / took));
    what += fmt::format(" as one chain, {}; ", w.fused ? "fused" : "unfused");
    if (w.side_by_side()) {
      out += wrapped("run         ", what + against_in_order(w, b) + '.');
      continue;
    }
    const std::optional<bound::figure> expected = bound::expected(f);
    if (!expected) {
      out += wrapped("run         ", what + "no expected run: reorders were not measured.");
      continue;
    }
    const double predicted = expected->ns;
    what += "expected " + show_time(predicted);
    if (!w.run->disturbed.empty()) {
      out += wrapped("run         ", what + "; no comparison, the run was disturbed: " +
                                         printable(w.run->disturbed) + ".");
      continue;
    }
    std::string compared = fmt::format("{} ({:+.1f} %)", what, 100 * (predicted / took - 1));
    if (const auto at_clock = bound::expected_at_clock(f, *w.run))
      compared += fmt::format(", {} at the clock of the run ({:+.1f} %)", show_time(*at_clock),
                              100 * (*at_clock / took - 1));
    out += wrapped("run         ", compared);
    if (const std::string slower = slower_parts(w); !slower.empty())
      out += wrapped("  slower than expected: ", slower + ".");
  }
  return out;
}

} // namespace benanza::report
