// SPDX-License-Identifier: Apache-2.0
// benanza_analyze check EXPERIMENT RESULT [RESULT...]: is a result what the experiment asked for,
// and how do the figures of several compare? The first result is the record that the others are
// compared with.
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../compare/compared.hpp"
#include "../compare/text.hpp"

#include <CLI/CLI.hpp>
#include <benanza/compare/compare.hpp>
#include <benanza/result/experiment.hpp>
#include <benanza/result/reader.hpp>
#include <fmt/format.h>

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

using report::tables::unit;

/// Facts that are not as they were asked for, or as the record has them.
report::tables::table facts_of(const char* key, const char* title, const char* before,
                               const char* now, const std::vector<result::deviation>& all) {
  report::tables::table out{.key = key, .columns = {{"what", title}, {before, before}, {now, now}}};
  for (const result::deviation& d : all)
    out.rows.push_back({d.what, d.asked, d.found});
  return out;
}

report::tables::table figures_beside(const compare::comparison& c) {
  report::tables::table out{
      .key = "figures",
      .columns = {{"what", c.one_clock ? "at one clock" : "each at its own clock"},
                  {"record_ns", "record", unit::time},
                  {"ns", "here", unit::time},
                  {"", "change", unit::share},
                  {"", "95 % sure"},
                  {"change", "", unit::share},
                  {"change_low", "", unit::share},
                  {"change_high", "", unit::share},
                  {"at_one_clock", "", unit::flag},
                  {"verdict", ""},
                  {"", ""}}};
  for (const compare::row& r : c.models) {
    const std::string verdict(compare::name(r.says));
    out.rows.push_back({title_of(r), r.of.before_ns, r.of.after_ns,
                        report::signed_percent(r.of.change), report::interval_text(r.of),
                        r.of.change, r.of.low, r.of.high, r.at_one_clock, verdict, verdict});
  }
  return out;
}

report::tables::chapter answer_of(const result::experiment& e,
                                  const std::vector<checked_result>& all) {
  report::tables::chapter out{.fields = {{"experiment", e.name}}};
  out.say("experiment", fmt::format("{} ({} models)", e.name, e.models.size()));
  if (!e.note.empty()) out.say("note", e.note);
  for (const checked_result& r : all) {
    report::tables::chapter its{.key = "results",
                                .title = r.source,
                                .fields = {{"source", r.source, true},
                                           {"as_asked", r.deviations.empty()},
                                           {"not_compared", r.not_compared}}};
    if (r.deviations.empty()) its.say("is what the experiment asked for");
    its.add(facts_of("deviations", "is not what was asked for", "asked", "found", r.deviations));
    its.add(facts_of("differences", "differs from the record", "record", "here", r.facts));
    its.add(figures_beside(r.compared));
    if (!r.not_compared.empty()) its.warn("not compared: " + r.not_compared);
    out.chapters.push_back(std::move(its));
  }
  return out;
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
  add_output(app, format, output);
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
  deliver(to.out, output, format, answer_of(e, all));
  const bool fine = std::all_of(all.begin(), all.end(),
                                [](const checked_result& r) { return r.deviations.empty(); });
  if (fine) return status::complete;
  to.err << "benanza_analyze: a result is not what the experiment asked for\n";
  return status::partial;
}

} // namespace benanza::analyzer
