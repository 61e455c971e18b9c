// SPDX-License-Identifier: Apache-2.0
#include "screen.hpp"

#include "../frameworks/page.hpp"
#include "../rewrite/page.hpp"
#include "../scenario/page.hpp"
#include "../training/page.hpp"
#include "below_bound.hpp"
#include "changes.hpp"
#include "heading.hpp"
#include "layers.hpp"
#include "warnings.hpp"

#include <benanza/advice/energy.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace benanza::report {

namespace {
constexpr std::size_t most_kinds = 5;
} // namespace

std::string measured_share(const bound::model_bound& b) {
  return b.partial() && !b.covered.partial() ? "partly" : percent(b.covered.measured());
}

std::string rate_of(const bound::model_bound& b, double ns, std::string_view unit) {
  if (!b.sure()) return "-";
  return report::show_rate(1e9 * static_cast<double>(b.graph->batch) / ns) + std::string(unit);
}

namespace {
std::string interval_of(const bound::figure& f) {
  const time_scale s = scale_of(f.ns);
  return fmt::format("[{:.{}f}, {:.{}f}]", f.low_ns / s.ns, s.decimals, f.high_ns / s.ns,
                     s.decimals);
}

/// One line of the head: what, how long, items a second, and what it means.
std::string head_line(const bound::model_bound& b, const head_row& r) {
  std::string out =
      fmt::format("  {:<28.28}{:>8}  {:>10}  {}", r.what, r.shown(), r.rate(b, "/s"), r.means);
  return out.substr(0, out.find_last_not_of(' ') + 1) + '\n';
}
} // namespace

std::vector<head_row> head_rows(const advice::advised& a) {
  const bound::model_bound& b = *a.model;
  const bound::form_figures &form = b.fastest_form(), &best = b.best_form();
  const auto expected = bound::expected(form), rewritten = bound::expected(best);
  std::vector<head_row> out;
  for (const advice::comparison& c : a.frameworks)
    if (c.latency.ns > 0)
      out.push_back({framework_name(*c.from), c.latency.ns,
                     c.latency_profiled ? "with its profiler on"
                                        : fmt::format("least {}", show_time(c.least_ns))});
  if (a.list.run.supposed && expected && a.list.run.ns > 1.0005 * expected->ns)
    out.push_back({"by libraries' first choices", a.list.run.ns, "supposed: nobody ran it"});
  if (expected && expected->ns > 0)
    out.push_back({model::is_training_step(*b.graph) ? "expected, products alone" : "expected run",
                   expected->ns, interval_of(*expected)});
  if (const advice::layers_energy e = advice::energy_of(b); expected && e.whole())
    out.push_back({.what = "  energy of its layers",
                   .means = e.on_device ? "GPU, idle power too" : "processor, idle power too",
                   .nj = e.nj});
  if (expected && rewritten && rewritten->ns < expected->ns)
    out.push_back({"  by the best graph", rewritten->ns, interval_of(*rewritten)});
  for (const bound::chain_run& w : b.runs)
    if (w.run->disturbed.empty() && w.fused == b.fused.has_value())
      out.push_back({w.side_by_side() ? "  branches side by side" : "measured as one chain",
                     w.run->median_ns,
                     fmt::format("least {}{}", show_time(w.run->min_ns),
                                 w.run->energy_nj > 0 ? ", " + show_energy(w.run->energy_nj)
                                                      : std::string())});
  if (best.bound.sequential.ns > 0)
    out.push_back({"lower bound", best.bound.sequential.ns,
                   b.set_by_memory() ? "what it reads from memory"
                   : b.rewritten     ? "the best graph's layers alone"
                                     : "layers alone, hot caches"});
  if (const auto step = step_times_of(b)) {
    const auto part = [&](const char* what, double ns) {
      out.push_back({.what = what, .ns = ns, .means = percent(ns / best.layers_ns), .part = true});
    };
    part("  products forward", step->forward_ns);
    part("  gradients by activations", step->by_activations_ns);
    part("  gradients by weights", step->by_weights_ns);
  }
  if (best.winograd_ns > 0)
    out.push_back({"  with " + winograd_class(b.type), best.winograd_ns, "less exact, no bound"});
  if (b.has_bound() && best.roofline.sequential.ns > 0)
    out.push_back({"the machine's limits", best.roofline.sequential.ns, "roofline"});
  return out;
}

std::string head_table(const advice::advised& a) {
  std::string out;
  for (const head_row& r : head_rows(a))
    out += head_line(*a.model, r);
  return out;
}

std::string distance_lines(const advice::advised& a) {
  const bound::form_figures& form = a.model->best_form();
  const auto expected = bound::expected(a.model->fastest_form());
  std::string out;
  if (const std::string rewrites = best_graph_line(*a.model); !rewrites.empty())
    out += wrapped("  best graph: ", rewrites + ".");
  for (const advice::comparison& c : a.frameworks) {
    if (c.latency.ns <= 0 || form.bound.sequential.ns <= 0 || !a.model->sure()) continue;
    if (const std::string below = below_bound(c); !below.empty())
      out += wrapped("! ", fmt::format("{} {}.", framework_name(*c.from), below));
    else if (expected && expected->ns > 0)
      out +=
          wrapped("  ", fmt::format("{}: {:.2f} times the expected run, {:.2f} times the bound{}.",
                                    framework_name(*c.from), c.latency.ns / expected->ns,
                                    c.latency.ns / form.bound.sequential.ns,
                                    c.disturbed ? "; its runs were disturbed" : ""));
  }
  return out;
}

std::vector<std::string> doubts(const advice::advised& a) {
  constexpr std::size_t most_rows = 10;
  std::vector<std::string> out;
  for (const bound::fault& f : a.model->faults)
    out.push_back(f.what + ": " + f.name);
  for (const advice::comparison& c : a.frameworks) {
    const std::string who = framework_name(*c.from);
    if (const std::string below = below_bound(c); !below.empty() && a.model->sure())
      out.push_back(who + ' ' + below);
    if (const std::string blurred = blurred_text(c); !blurred.empty()) out.push_back(blurred);
    for (const advice::compared_row& r : first_of(c.faster, most_rows))
      out.push_back(
          fmt::format("{} is faster than all that was measured here: {} in place of {} for "
                      "{} x {}",
                      who, show_time(r.ns), show_time(r.best_ns), r.count, r.layer));
    if (c.faster.size() > most_rows)
      out.push_back(
          fmt::format("and {} more where {} is faster", c.faster.size() - most_rows, who));
  }
  return out;
}

std::vector<std::string> doubts_of(const input& in, const bound::model_bound& b) {
  std::vector<std::string> out;
  if (!b.unmeasurable.empty()) out.push_back("no verdict: " + b.unmeasurable);
  for (const advice::advised& a : in.advised)
    if (a.model == &b)
      for (std::string& doubt : doubts(a))
        out.push_back(std::move(doubt));
  return out;
}

std::string cut(std::string text, std::size_t most) {
  return most == 0 || text.size() <= most ? text : text.substr(0, most - 3) + "...";
}

std::string rates_of(const operator_kind& k) {
  std::string rate = "-";
  if (k.most_gflops >= 1)
    rate = k.most_gflops < 1.1 * k.least_gflops
               ? fmt::format("{:.0f}", k.most_gflops)
               : fmt::format("{:.0f}-{:.0f}", k.least_gflops, k.most_gflops);
  if (k.fewer_operations) rate += 'w';
  return rate;
}

std::string_view kinds_title(const bound::model_bound& b) {
  return b.partial() ? "Where the time of what was measured goes"
                     : "Where the time of the best run goes";
}

std::string_view run_table_title(const bound::model_bound& b) {
  return b.fused ? "Layers of that run, fused, with caches as in a run"
                 : "Layers of that run, with caches as in a run";
}

namespace {
std::string kinds_table(const bound::model_bound& b) {
  const std::vector<operator_kind> all = operator_kinds(b);
  double sum = 0;
  for (const operator_kind& k : all)
    sum += k.ns;
  if (all.empty() || sum <= 0) return {};
  std::string out = fmt::format("{:<47}{:>12}  {}\n", kinds_title(b), "GFLOP/s", "limited by");
  const auto row = [&](std::string_view what, double ns, const std::string& rate,
                       std::string_view limit) {
    const std::string bars(static_cast<std::size_t>(18 * ns / all.front().ns + 0.5), '#');
    std::string line = fmt::format("  {:<18.18} {:>7} {:<18}{:>12}  {}", what, percent(ns / sum),
                                   bars, rate, limit);
    out += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  };
  double rest = 0;
  std::size_t shown = 0;
  for (const operator_kind& k : all) {
    if (shown == most_kinds && all.size() > most_kinds + 1) {
      rest += k.ns;
      continue;
    }
    ++shown;
    row(printable(k.what), k.ns, rates_of(k), k.limit());
  }
  if (rest > 0) row("other kinds", rest, "", "");
  if (std::any_of(all.begin(), all.end(), [](const auto& k) { return k.fewer_operations; }))
    out += "  w: with fewer operations than are counted (Winograd)\n";
  return out;
}
} // namespace

std::string run_table(const bound::model_bound& b, std::size_t limit) {
  const std::vector<layer_in_run> rows = layers_in_run(b);
  const double sum = sum_of_run(b, rows);
  if (rows.empty() || sum <= 0 || limit == 0) return {};
  const bool energy = has_energy(rows);
  std::string out = std::string(run_table_title(b)) + ":\n" +
                    fmt::format("{:>7} {:>7} {:>4} {:>7}  {}{:<14} {}\n", "share", "each", "uses",
                                "GFLOP/s", energy ? " energy  " : "", "algorithm", "layer");
  for (const layer_in_run& l : first_of(rows, limit)) {
    const double rate = gflops_in_run(l);
    const std::string algorithm =
        l.by == nullptr ? "(roofline)" : printable(short_name(l.by->algorithm));
    std::string row = fmt::format(
        "{:>7} {:>7} {:>4} {:>7}  {}{:<14.14} ", percent(l.ns / sum), show_time(l.each_ns()),
        l.uses, rate > 0 ? fmt::format("{:.{}f}", rate, rate < 10 ? 1 : 0) : "-",
        energy ? fmt::format("{:>7}  ", energy_cell(advice::energy_nj(*l.layer))) : "", algorithm);
    if (row.size() + l.layer->name.size() > columns)
      row = row.substr(0, row.find_last_not_of(' ') + 1) + "\n        ";
    out += row + l.layer->name + '\n';
  }
  return out + left_out(limit, rows.size(), "layers");
}

std::string sure_text(const bound::model_bound& b) {
  std::vector<std::string> all;
  if (!b.sure())
    all.push_back("No: " + (b.partial() ? lacks(b) : "it was disturbed while measured"));
  else
    all.push_back(fmt::format("{} of the bound is measured", percent(b.covered.measured())));
  if (b.covered.modelled > 0)
    all.push_back(fmt::format("{} is a roofline", percent(b.covered.modelled)));
  if (const auto n = std::ssize(disturbed(b)); n > 0)
    all.push_back(
        fmt::format("{} disturbed", n == 1 ? "1 layer was" : fmt::format("{} layers were", n)));
  if (const auto n = b.failed() - b.lost(); n > 0)
    all.push_back(counted(n, "case") + " gave a wrong result or took too long");
  if (!b.faults.empty())
    all.push_back(counted(std::ssize(b.faults), "contradiction") + " between figures, such as " +
                  printable(b.faults.front().what) + ": " + printable(b.faults.front().name));
  return fmt::format("{}.", fmt::join(all, ", "));
}

std::string first_screen(const result::run& r, const advice::advised& a, std::size_t terminal) {
  const bound::model_bound& b = *a.model;
  std::string out = title(b) + '\n' + cut(where_measured(r), terminal) + "\n\n";
  out += merged_line(r);
  if (!b.unmeasurable.empty())
    out += wrapped("NO VERDICT  ", printable(b.unmeasurable) + ".") + '\n';
  if (const std::string lacking = lacks(b); !lacking.empty())
    out += wrapped("PARTIAL     ", lacking + ".") + '\n';
  out += head_table(a) + distance_lines(a);
  for (const std::string& remark : head_remarks(b))
    out += wrapped("  ", printable(remark) + '.');
  if (b.has_bound()) {
    out += '\n' + changes_table(a) + '\n' + kinds_table(b) + '\n';
    out += wrapped("Sure?  ", sure_text(b));
  }
  const std::string loads = scenario_table(b);
  return loads.empty() ? out : out + '\n' + loads;
}

} // namespace benanza::report
