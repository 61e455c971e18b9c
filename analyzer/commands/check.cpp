// SPDX-License-Identifier: Apache-2.0
// benanza_analyze check EXPERIMENT RESULT [RESULT...]: is a result what the experiment asked for,
// and how do the figures of several compare? The first result is the record that the others are
// held against.
#include "../answer.hpp"
#include "../select.hpp"
#include "all.hpp"

#include <benanza/report/units.hpp>
#include <benanza/result/experiment.hpp>
#include <benanza/result/reader.hpp>
#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
using report::printable;

/// A figure of a result: a model's bound, or what a scenario of it showed.
struct checked_figure {
  std::string what;
  bound::figure at{};
  double clock_ns = 0; ///< at which it was taken; 0: not known
};

std::vector<checked_figure> figures_of(result::run& run) {
  std::vector<checked_figure> out;
  if (run.graphs.empty()) return out;
  const bound::source source(run);
  for (const bound::model_bound& b : select(source, {})) {
    const std::string where = fmt::format("{} {} t{}", b.graph->name, name(b.type), b.threads);
    const bound::form_figures& form = b.fastest_form();
    if (form.bound.sequential.ns > 0)
      out.push_back({where + " bound", form.bound.sequential, b.clock_ns});
    if (const auto expected = bound::expected(form); expected && expected->ns > 0)
      out.push_back({where + " expected", *expected, b.clock_ns});
    for (const bound::scenario_run& l : b.scenarios)
      out.push_back({where + ' ' + l.run->state,
                     {l.run->scenario.percentile_ns, l.run->p10_ns, l.run->p90_ns},
                     l.run->clock_ns});
  }
  return out;
}

/// How a figure compares with the record's, both at one clock: within both intervals and 3 %, the
/// same.
struct comparison_row {
  std::string what;
  double record_ns = 0, now_ns = 0, ratio = 1;
  std::string verdict;
};

std::vector<comparison_row> compare(const std::vector<checked_figure>& record,
                                    const std::vector<checked_figure>& now) {
  constexpr double alike = 0.03;
  std::vector<comparison_row> out;
  for (const checked_figure& f : now) {
    const auto at = std::find_if(record.begin(), record.end(),
                                 [&](const checked_figure& r) { return r.what == f.what; });
    if (at == record.end()) continue;
    const double clock = f.clock_ns > 0 && at->clock_ns > 0 ? at->clock_ns / f.clock_ns : 1;
    comparison_row row{f.what, at->at.ns, f.at.ns, f.at.ns * clock / at->at.ns, "SAME"};
    const double low = f.at.low_ns * clock, high = f.at.high_ns * clock;
    const bool apart = low > at->at.high_ns || high < at->at.low_ns;
    if (apart && row.ratio > 1 + alike) row.verdict = "SLOWER";
    if (apart && row.ratio < 1 - alike) row.verdict = "FASTER";
    out.push_back(std::move(row));
  }
  return out;
}

/// Facts of machine and software in which two results differ.
std::vector<result::deviation> different_facts(const result::run& record, const result::run& now) {
  std::vector<result::deviation> out;
  for (const char* section : result::identity_sections) {
    const auto a = record.provenance.find(section), b = now.provenance.find(section);
    std::map<std::string, std::pair<std::string, std::string>> all;
    if (a != record.provenance.end())
      for (const auto& [fact, value] : a->second)
        all[fact].first = value;
    if (b != now.provenance.end())
      for (const auto& [fact, value] : b->second)
        all[fact].second = value;
    for (const auto& [fact, both] : all)
      if (both.first != both.second)
        out.push_back({std::string(section) + '.' + fact, both.first, both.second});
  }
  return out;
}

struct checked_result {
  std::string source;
  std::vector<result::deviation> deviations, facts;
  std::vector<comparison_row> rows;
};

std::string text_of(const result::experiment& e, const std::vector<checked_result>& all) {
  std::string out = fmt::format("experiment  {} ({} models)\n", printable(e.name), e.models.size());
  if (!e.note.empty()) out += report::wrapped("            ", printable(e.note, 1000));
  for (const checked_result& r : all) {
    out += fmt::format("\n{}\n", printable(r.source));
    if (r.deviations.empty())
      out += "  is what the experiment asked for\n";
    else
      out += fmt::format("  {:<34} {:<20} {}\n", "is not what was asked for", "asked", "found");
    for (const result::deviation& d : r.deviations)
      out += fmt::format("  {:<34.34} {:<20.20} {}\n", printable(d.what), printable(d.asked),
                         printable(d.found));
    if (!r.facts.empty()) {
      out += fmt::format("  {:<34} {:<20} {}\n", "differs from the record", "record", "here");
      for (const result::deviation& d : r.facts)
        out += fmt::format("  {:<34.34} {:<20.20} {}\n", printable(d.what), printable(d.asked),
                           printable(d.found));
    }
    if (!r.rows.empty())
      out += fmt::format("  {:<44} {:>9} {:>9} {:>6}\n", "at one clock", "record", "here", "ratio");
    for (const comparison_row& row : r.rows)
      out += fmt::format("  {:<44} {:>9} {:>9} {:>6.3f} {}\n", printable(row.what),
                         report::show_time(row.record_ns), report::show_time(row.now_ns), row.ratio,
                         row.verdict);
  }
  return out;
}

std::string json_of(const result::experiment& e, const std::vector<checked_result>& all) {
  using nlohmann::ordered_json;
  const auto list = [](const std::vector<result::deviation>& some, const char* first,
                       const char* second) {
    ordered_json out = ordered_json::array();
    for (const result::deviation& d : some)
      out.push_back({{"what", d.what}, {first, d.asked}, {second, d.found}});
    return out;
  };
  ordered_json results = ordered_json::array();
  for (const checked_result& r : all) {
    ordered_json rows = ordered_json::array();
    for (const comparison_row& row : r.rows)
      rows.push_back({{"what", row.what},
                      {"record_ns", row.record_ns},
                      {"ns", row.now_ns},
                      {"ratio_at_one_clock", row.ratio},
                      {"verdict", row.verdict}});
    results.push_back({{"source", r.source},
                       {"as_asked", r.deviations.empty()},
                       {"deviations", list(r.deviations, "asked", "found")},
                       {"differences", list(r.facts, "record", "here")},
                       {"figures", std::move(rows)}});
  }
  const ordered_json out{{"experiment", e.name}, {"results", std::move(results)}};
  return out.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}
} // namespace

status check_results(std::vector<std::string> arguments, const streams& to) {
  CLI::App app(
      "Is a result what an experiment asked for? Of several, the first is the record that\n"
      "the others are held against. Status 1 where one is not what was asked for.",
      "benanza_analyze check");
  std::string file, format = "text", output;
  std::vector<std::string> results;
  app.add_option("experiment", file, "what was asked for: benanza_bench --write-experiment")
      ->required();
  app.add_option("results", results, "results of benanza_bench --experiment")->required();
  app.add_option("--format", format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("-o,--output", output, "write there, whole or not at all");
  if (const std::string told = parse_command(app, std::move(arguments)); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  const result::experiment e = result::read_experiment_file(file);
  std::vector<checked_result> all;
  result::run record;
  std::vector<checked_figure> figures;
  for (const std::string& path : results) {
    result::run run = result::read_file(path);
    checked_result& c = all.emplace_back(checked_result{path, result::deviations(e, run), {}, {}});
    std::vector<checked_figure> its = figures_of(run);
    if (all.size() == 1) {
      record = std::move(run);
      figures = std::move(its);
      continue;
    }
    c.facts = different_facts(record, run);
    c.rows = compare(figures, its);
  }
  const std::string text = format == "json" ? json_of(e, all) : text_of(e, all);
  deliver(to.out, output, format, text);
  const bool fine = std::all_of(all.begin(), all.end(),
                                [](const checked_result& r) { return r.deviations.empty(); });
  if (fine) return status::complete;
  to.err << "benanza_analyze: a result is not what the experiment asked for\n";
  return status::partial;
}

} // namespace benanza::analyzer
