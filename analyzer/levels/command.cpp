// SPDX-License-Identifier: Apache-2.0
// Where does a model's time go at every level of its stack? From a result with levels, and from
// what frameworks' profilers wrote.
//
//   benanza_analyze profile run.json --framework ort.json --only A2,A6 --timeline t.pftrace
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../frameworks/framework_runs.hpp"
#include "../read_results.hpp"
#include "page.hpp"

#include <CLI/CLI.hpp>
#include <benanza/profile/analyses.hpp>
#include <benanza/profile/chrome_trace.hpp>
#include <benanza/profile/from_profile.hpp>
#include <benanza/profile/from_result.hpp>
#include <benanza/profile/perfetto_trace.hpp>
#include <benanza/profile/timeline.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
struct profile_request {
  request of_results{};
  std::string only{}, rows = "10", timeline{};
  bool explain = false;
};

/// What is to be printed in place of an answer; empty: nothing.
std::string parse_profile(std::vector<std::string> arguments, profile_request& asked) {
  CLI::App app("Where does a model's time go: model, layers, calls within them?",
               "benanza_analyze profile");
  app.add_option("results", asked.of_results.files,
                 "results of benanza_bench --plan plan.json --levels call; also those with the "
                 "machine's limits");
  app.add_option("--framework", asked.of_results.frameworks,
                 "what a framework's profiler wrote of the same model; may be given again")
      ->allow_extra_args(false);
  app.add_option("--only", asked.only, "these analyses: A1 to A15, T (thirds of the model), or all")
      ->default_str(std::string(profile::first_analyses));
  app.add_option("--model", asked.of_results.wanted.model, "only models with this in their name");
  app.add_option("--rows", asked.rows, "of a table: a number, or all");
  app.add_flag("--explain", asked.explain, "what each column means");
  app.add_option("--timeline", asked.timeline,
                 "write there what Perfetto opens: all runs side by side; as Chrome's trace events "
                 "where the name ends in .json");
  add_output(app, asked.of_results.format, asked.of_results.output);
  return parse_command(app, std::move(arguments));
}

/// The graph that a framework's profile is about; null: the result holds none that is.
const model::graph* graph_of(const result::run& r, const trace::profile& p) {
  const model::graph* found = nullptr;
  for (const model::graph& g : r.graphs) {
    if (model::is_form(g) || (!p.model.empty() && g.model != p.model) ||
        (p.batch > 0 && g.batch != p.batch))
      continue;
    if (found != nullptr) return nullptr; // of several none is known to be it
    found = &g;
  }
  return found;
}
} // namespace

status answer_profile(std::vector<std::string> arguments, const streams& to) {
  profile_request asked;
  if (const std::string told = parse_profile(std::move(arguments), asked); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  const std::size_t rows = layer_limit(asked.rows, "--rows");
  const std::vector<std::string> ids = profile::analyses_named(
      asked.only.empty() ? asked.of_results.json() ? "all" : profile::first_analyses : asked.only);
  const bool frameworks_alone =
      asked.of_results.files.empty() && !asked.of_results.frameworks.empty();
  result::run run;
  std::vector<profile::levelled_run> runs;
  if (!frameworks_alone) {
    run = read_all(asked.of_results, to.in);
    runs = profile::levelled_runs(run);
    std::erase_if(runs, [&](const profile::levelled_run& r) {
      return r.graph.find(asked.of_results.wanted.model) == std::string::npos;
    });
    if (runs.empty())
      throw error("no run with levels is of such a model",
                  "--model " + asked.of_results.wanted.model, "leave it out to see all");
  }
  const bound::ceilings most(run);
  for (const trace::profile& p : read_framework_runs(asked.of_results.frameworks)) {
    runs.push_back(profile::levelled_run_of(p, graph_of(run, p), most));
    if (runs.back().model_ns <= 0)
      throw error("the profile has no times", p.source, "give what the framework's profiler wrote");
  }
  if (!asked.timeline.empty())
    write_file(asked.timeline, asked.timeline.ends_with(".json")
                                   ? profile::chrome_trace(profile::timeline(runs))
                                   : profile::perfetto_trace(profile::timeline(runs)));
  const answer page{asked.of_results, to.out, to.err};
  page.write(report::profile_answer(runs, ids, {.rows = rows, .explain = asked.explain}));
  const auto failed = std::find_if(
      runs.begin(), runs.end(), [](const profile::levelled_run& r) { return !r.failed.empty(); });
  return page.partial(failed == runs.end() ? std::string() : failed->graph + ", " + failed->failed);
}

} // namespace benanza::analyzer
