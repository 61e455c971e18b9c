// SPDX-License-Identifier: Apache-2.0
// How does an experiment become a run? It says in place of the command line what is measured and
// how; a machine or software that it does not expect is refused, or noted. And how do the options
// of a run become an experiment?
//
//   take_experiment(options);   check_experiment(options, listing.graphs, provenance);
#pragma once

#include "../result/experiment.hpp"
#include "../result/output_file.hpp"
#include "option_values.hpp"
#include "options.hpp"
#include "provenance.hpp"

#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

namespace benanza::bench {

/// The facts of a run's `measuring` section that name its experiment, and what is not as it asked.
inline constexpr const char *experiment_fact = "experiment",
                            *deviations_fact = "experiment_deviations";

namespace detail {
/// Refuses an option that an experiment says too.
inline void not_both(bool given, const char* option) {
  if (given)
    throw error("an experiment says that", option, "leave it out, or change the experiment's file");
}
} // namespace detail

/// Takes from the experiment that the options name what else they would say.
inline void take_experiment(options& o) {
  if (!o.experiment_out.empty() && !o.filter.empty())
    throw error("an experiment is of all cases", "--benchmark_filter", "leave it out");
  if (o.experiment_file.empty()) return;
  const options usual;
  detail::not_both(!o.types.empty(), "--types");
  detail::not_both(o.threads != usual.threads, "--threads");
  detail::not_both(o.states_given, "--states");
  detail::not_both(o.effort != usual.effort, "--effort");
  detail::not_both(!o.backends.empty(), "--backends");
  detail::not_both(!o.scenarios.empty(), "--scenario");
  detail::not_both(!o.filter.empty(), "--benchmark_filter");
  detail::not_both(!o.model.empty(), "--model");
  detail::not_both(!o.layer_files.empty(), "--layers");
  detail::not_both(o.seconds > 0, "--benchmark_min_time");
  o.asked = result::read_experiment_file(o.experiment_file);
  const result::experiment& e = *o.asked;
  if (!e.graphs.empty() && o.graph_files.empty()) {
    const auto file = std::filesystem::path(o.experiment_file).parent_path() / e.graphs;
    std::error_code ignored;
    if (!std::filesystem::is_regular_file(file, ignored))
      throw error("the experiment's graphs are not there", file.string(),
                  "put them there, or give them with --graphs");
    o.graph_files = {file.string()};
  }
  for (const std::string& t : e.types)
    o.types.push_back(numeric_class(t, o.experiment_file));
  o.threads = e.threads;
  std::sort(o.threads.begin(), o.threads.end());
  o.threads.erase(std::unique(o.threads.begin(), o.threads.end()), o.threads.end());
  if (!e.states.empty()) {
    o.states.clear();
    for (const std::string& s : e.states)
      o.states.push_back(one_of(s, {"hot", "llcw", "coldw", "cold"}, o.experiment_file));
    o.states_given = true;
  }
  o.effort = *result::parse_effort(e.effort);
  o.backends = e.backends;
  for (const std::string& s : e.scenarios)
    o.scenarios.push_back(parse_scenario(s));
}

/// Refuses what the experiment does not expect, naming it; notes it in the run's facts where that
/// was asked for.
inline void check_experiment(const options& o, const std::vector<model::graph>& graphs,
                             std::map<std::string, std::map<std::string, std::string>>& facts) {
  if (!o.asked) return;
  auto& measuring = facts["measuring"];
  measuring[experiment_fact] = o.asked->name + ' ' + fnv1a(result::to_json(*o.asked).dump());
  std::vector<result::deviation> all = result::other_models(*o.asked, graphs);
  if (!all.empty()) // to measure something else is no deviation
    throw error("the models are not those of the experiment: " + printable(all[0].what) + " is " +
                    printable(all[0].found),
                o.experiment_file, "give the file of its models with --graphs");
  all = result::unexpected(*o.asked, facts);
  std::string text;
  for (const result::deviation& d : all)
    text += (text.empty() ? "" : "; ") + printable(d.what) + " is " + printable(d.found) +
            " and not " + printable(d.asked);
  if (text.empty()) return;
  if (!o.deviating)
    throw error("the experiment expects otherwise: " + text, o.experiment_file,
                "--deviating goes on, and the result says so");
  measuring[deviations_fact] = text;
}

/// The experiment that a run with these options is.
inline result::experiment experiment_of(const options& o, const std::vector<model::graph>& graphs,
                                        const run_facts& facts) {
  const auto file = std::filesystem::path(o.experiment_out);
  result::experiment e{.name = file.stem().string()};
  for (const model::graph& g : graphs)
    if (!model::is_form(g)) e.models.push_back({g.name, result::content_of(g)});
  if (o.graph_files.size() == 1) {
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file, ignored).parent_path();
    const auto relative = std::filesystem::relative(
        std::filesystem::absolute(o.graph_files[0], ignored), folder, ignored);
    e.graphs = relative.string();
    if (e.graphs.empty() || !result::is_beside(e.graphs))
      throw error("the models' file does not lie beside the experiment or below", o.experiment_out,
                  "write the experiment into the folder of " + printable(o.graph_files[0]));
  }
  for (numeric t : o.types)
    e.types.emplace_back(name(t));
  if (o.states_given) e.states = o.states;
  e.backends = o.backends;
  e.threads = o.threads;
  e.effort = name(o.effort);
  for (const scenario& l : o.scenarios)
    e.scenarios.push_back(name(l));
  if (const auto software = facts.find("software"); software != facts.end())
    for (const auto& [fact, value] : software->second)
      if (fact == "benanza" || fact.ends_with("_version")) e.expects["software"][fact] = value;
  return e;
}

/// Writes that experiment in place of measuring.
inline void write_experiment(const options& o, const std::vector<model::graph>& graphs,
                             const run_facts& facts) {
  const std::string text =
      result::to_json(experiment_of(o, graphs, facts))
          .dump(2, ' ', true, nlohmann::ordered_json::error_handler_t::replace) +
      '\n';
  result::output_file file(o.experiment_out);
  std::ofstream out(file.written_to(), std::ios::binary | std::ios::trunc);
  if (!(out << text << std::flush))
    throw error("the experiment cannot be written", o.experiment_out);
  out.close();
  file.commit();
}

} // namespace benanza::bench
