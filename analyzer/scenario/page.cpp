// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/units.hpp"

#include <benanza/advice/batch.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/max_element.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <string_view>

namespace benanza::report {

namespace {
/// True for a scenario; else it is a run of the model by other choices than the prediction's.
bool is_scenario(const bound::scenario_run& l) {
  return l.run->scenario.percentile > 0;
}
} // namespace

double items_per_s(const bound::scenario_run& l) {
  const double runs_per_s =
      is_scenario(l) ? l.run->scenario.completed_per_s : 1e9 / std::max(1.0, l.run->median_ns);
  return runs_per_s * static_cast<double>(l.batch);
}

std::vector<bound::scenario_run> at_all_batches(const bound::scenario_run& l,
                                                const bound::model_bound& b) {
  std::vector<bound::scenario_run> out;
  for (const bound::scenario_run& o : b.at_all_batches)
    if (o.run->state == l.run->state && o.run->algorithm == l.run->algorithm && o.fused == l.fused)
      out.push_back(o);
  return out;
}

double limit_ns(const bound::scenario_run& l) {
  constexpr std::string_view key = "limit=";
  const std::string& state = l.run->state;
  const std::size_t at = state.find(key);
  double ms = 0;
  if (at != std::string::npos)
    std::from_chars(state.data() + at + key.size(), state.data() + state.size(), ms);
  return 1e6 * ms;
}

namespace {
/// True where the queries that were played took longer than their limit, at a load that keeps it.
bool limit_missed(const bound::scenario_run& l) {
  const result::scenario_figures& f = l.run->scenario;
  return f.highest_per_s > 0 && f.percentile_ns > limit_ns(l);
}
/// How many queries a percentile rests on: with few, one late query moves it past a limit.
std::string deciding(const bound::scenario_run& l) {
  const double percentile = l.run->scenario.percentile;
  const double slowest = static_cast<double>(l.run->count) * (100 - percentile) / 100;
  return fmt::format("p{:g} rests on the slowest {:.0f} of {} queries", percentile,
                     std::max(1.0, slowest), l.run->count);
}
/// The command that puts the model at twice a batch in that scenario.
std::string larger_batch_command(const bound::scenario_run& largest, const bound::model_bound& b) {
  return advice::larger_batch_command(b.graph->model, largest.batch,
                                      bound::bench_setting({}, b) + " --scenario " +
                                          bound::shell_word(largest.run->state),
                                      bound::dims_options(*b.graph));
}
/// Of `offline` a row a batch; and what measures larger ones where the largest gives most.
std::string batch_lines(const bound::scenario_run& l, const bound::model_bound& b) {
  const std::vector<bound::scenario_run> all = at_all_batches(l, b);
  if (all.empty()) return {};
  const auto best = ranges::max_element(all, ranges::less{}, items_per_s);
  std::string out;
  if (all.size() > 1)
    for (const bound::scenario_run& o : all)
      out += fmt::format("    {:<40}{:>6}{:>10}{:>9}/s{}\n",
                         fmt::format("batch {}{}", o.batch, &o == &*best ? ", gives most" : ""),
                         fmt::format("p{:g}", o.run->scenario.percentile),
                         show_time(o.run->scenario.percentile_ns), show_rate(items_per_s(o)),
                         o.run->disturbed.empty() ? "" : " ~");
  if (best->batch == all.back().batch)
    out += fmt::format("    {} not measured. This does:\n    {}\n",
                       all.size() > 1 ? "larger batches were" : "other batches were",
                       larger_batch_command(all.back(), b));
  return out;
}
/// How it is called: its scenario, and by what its layers ran where that is not the plan's choice.
std::string scenario_title(const bound::scenario_run& l, const bound::model_bound& b) {
  std::string out = printable(l.run->state);
  if (l.run->algorithm == result::by_first_choice) out += ", first choices";
  if (l.run->algorithm == result::by_named_choice) out += ", named choices";
  return out + (l.fused || !b.fused ? "" : ", unfused");
}
} // namespace

std::string scenario_table(const bound::model_bound& b) {
  if (b.scenarios.empty()) return {};
  std::string out = fmt::format("{:<44}{:>6}{:>10}{:>11}\n", "Under load", "", "latency", "items");
  for (const bound::scenario_run& l : b.scenarios) {
    const result::scenario_figures& f = l.run->scenario;
    std::string what = scenario_title(l, b);
    if (what.size() > 42) {
      out += "  " + what + '\n';
      what.clear();
    }
    const bool played = is_scenario(l);
    out += fmt::format(
        "  {:<42}{:>6}{:>10}{:>9}/s", what, played ? fmt::format("p{:g}", f.percentile) : "median",
        show_time(played ? f.percentile_ns : l.run->median_ns), show_rate(items_per_s(l)));
    if (limit_missed(l)) out += " over";
    if (!l.run->disturbed.empty()) out += " ~";
    out += '\n';
    if (f.highest_per_s > 0)
      out += fmt::format("    a queue of one server keeps it up to {} queries a second [{}, {}]\n",
                         show_rate(f.highest_per_s), show_rate(f.highest_from_per_s),
                         show_rate(f.highest_to_per_s));
    if (f.offered_per_s > 0)
      out += fmt::format("    {} queries a second came; a queue of one server: {}\n    {}\n",
                         show_rate(f.offered_per_s), show_time(f.queued_ns), deciding(l));
    else if (l.run->state.starts_with("server"))
      out += "    one query alone does not keep that limit\n";
    out += batch_lines(l, b);
  }
  if (ranges::any_of(b.scenarios, limit_missed))
    out += wrapped("  over  ", "the queries that were played took longer than the limit, which a "
                               "long queue of the same load keeps. More queries show which is "
                               "right: add seconds=30.");
  for (const bound::scenario_run& l : b.scenarios)
    if (!l.run->disturbed.empty()) {
      out += wrapped("  ~ ", printable(l.run->disturbed) + ".");
      break;
    }
  return out;
}

result::ordered_json scenarios_json(const bound::model_bound& b) {
  result::ordered_json out = result::ordered_json::array();
  for (const bound::scenario_run& l : b.scenarios) {
    const result::scenario_figures& f = l.run->scenario;
    out.push_back({{"name", l.run->name},
                   {"scenario", l.run->state},
                   {"algorithm", l.run->algorithm},
                   {"fused", l.fused},
                   {"queries", l.run->count},
                   {"median_ns", l.run->median_ns},
                   {"percentile", f.percentile},
                   {"percentile_ns", f.percentile_ns},
                   {"limit_ns", limit_ns(l)},
                   {"queued_ns", f.queued_ns},
                   {"offered_per_s", f.offered_per_s},
                   {"highest_per_s", f.highest_per_s},
                   {"highest_from_per_s", f.highest_from_per_s},
                   {"highest_to_per_s", f.highest_to_per_s},
                   {"items_per_s", items_per_s(l)},
                   {"disturbed", l.run->disturbed}});
    for (const bound::scenario_run& o : at_all_batches(l, b))
      out.back()["batches"].push_back(
          {{"batch", o.batch}, {"name", o.run->name}, {"items_per_s", items_per_s(o)}});
  }
  return out;
}

} // namespace benanza::report
