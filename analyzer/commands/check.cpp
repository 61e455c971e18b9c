// SPDX-License-Identifier: Apache-2.0
// benanza_analyze check EXPERIMENT RESULT [RESULT...]: is a result what the experiment asked for,
// and how do the figures of several compare? The first result is the record that the others are
// compared with.
#include "../answer.hpp"
#include "../report/units.hpp"
#include "all.hpp"
#include "compared.hpp"

#include <CLI/CLI.hpp>
#include <benanza/compare/compare.hpp>
#include <benanza/result/experiment.hpp>
#include <benanza/result/reader.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {

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
  compare::comparison compared{};
  std::string not_compared{}; ///< why
};

std::string title_of(const compare::row& r) {
  return fmt::format("{} {} t{} {}", r.subject, r.type, r.threads, r.what);
}

/// The result compared with the record, as `compare` does it.
void compare_with(const result::run& record, const std::string& source, result::run run,
                  checked_result& c) {
  if (record.graphs.empty() || run.graphs.empty()) return;
  side_runs before = made(source, {record}, ""), after = made(c.source, {std::move(run)}, "");
  try {
    c.compared = compare::compare(figures_of(before, {}), figures_of(after, {}), {});
  } catch (const error& e) {
    c.not_compared = e.what();
  }
}

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
    if (!r.compared.models.empty())
      out += fmt::format("  {:<44} {:>9} {:>9} {:>7}\n",
                         r.compared.one_clock ? "at one clock" : "each at its own clock", "record",
                         "here", "change");
    for (const compare::row& row : r.compared.models)
      out += fmt::format("  {:<44} {:>9} {:>9} {:>+6.1f}% [{:+.1f}, {:+.1f}] {}\n",
                         printable(title_of(row)), report::show_time(row.of.before_ns),
                         report::show_time(row.of.after_ns), 100 * row.of.change, 100 * row.of.low,
                         100 * row.of.high, compare::name(row.says));
    if (!r.not_compared.empty())
      out += report::wrapped("  not compared: ", printable(r.not_compared, 1000));
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
    for (const compare::row& row : r.compared.models)
      rows.push_back({{"what", title_of(row)},
                      {"record_ns", row.of.before_ns},
                      {"ns", row.of.after_ns},
                      {"change", row.of.change},
                      {"change_low", row.of.low},
                      {"change_high", row.of.high},
                      {"at_one_clock", row.at_one_clock},
                      {"verdict", compare::name(row.says)}});
    results.push_back({{"source", r.source},
                       {"as_asked", r.deviations.empty()},
                       {"deviations", list(r.deviations, "asked", "found")},
                       {"differences", list(r.facts, "record", "here")},
                       {"figures", std::move(rows)},
                       {"not_compared", r.not_compared}});
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
  for (const std::string& path : results) {
    result::run run = result::read_file(path);
    all.push_back({path, result::deviations(e, run), {}});
    if (all.size() == 1) {
      record = std::move(run);
      continue;
    }
    all.back().facts = different_facts(record, run);
    compare_with(record, results.front(), std::move(run), all.back());
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
