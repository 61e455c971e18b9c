// SPDX-License-Identifier: Apache-2.0
// What can be asked for on the command line? Plain data, handed down to the code that needs a part
// of it: what is to be measured, how it is sampled, how a long run is kept, and what is printed.
//
//   const options o = parse_options(argc, argv);   // command_line.hpp
#pragma once

#include "../measure/campaign/settings.hpp"
#include "../measure/levels/level.hpp"
#include "../measure/sampling/plan.hpp"
#include "../measure/scenario/scenario.hpp"
#include "../measure/subjects/selection.hpp"
#include "../result/experiment.hpp"

#include <optional>
#include <string>
#include <vector>

namespace benanza::bench {

using namespace measure; // the program is made of its parts

struct options : selection, sampling_request {
  campaign_settings campaign{};
  std::vector<std::string> backends{};       ///< to measure; empty: all that can run here
  std::string target{};                      ///< GPU to list cases for, where there is none
  std::vector<std::string> plans{};          ///< files of plans to run in place of layers
  std::vector<scenario> scenarios{};         ///< that are put on these
  std::string experiment_file{};             ///< that says what is measured
  std::optional<result::experiment> asked{}; ///< what it says
  bool deviating = false;       ///< the run goes on where machine or software are not as it expects
  std::string experiment_out{}; ///< where the experiment that these options are is written
  std::string choices{};      ///< a result or a plan that says what runs the layers of whole models
  bool load = false;          ///< also what it takes to load their models
  level levels = level::none; ///< of events to take of plans

  // What is only printed.
  std::string help{}; ///< the text, if it was asked for
  bool version = false, list_models = false, list_parameters = false, describe_device = false;
  bool list_only = false; ///< the names of the cases
  bool refused = false;   ///< also what libraries have by name and refuse

  // What the report is.
  bool quiet = false; ///< only rows and errors
  std::string format = "console", out{}, out_format = "json", time_unit = "us";
  std::string by{};      ///< who measures
  std::string context{}; ///< further facts, as they were given
  bool aggregates_only = false, aggregates_only_displayed = false;
  bool random_order = false, tabular = true;
  std::optional<bool> colour{}; ///< unset: as the terminal likes it
};

/// The GPU that cases are listed for where there is none, and none was named.
inline constexpr const char* usual_target = "h200";

/// The arguments of Google Benchmark's own runner, which writes to `file`; also those that it would
/// otherwise take from the environment.
inline std::vector<std::string> for_google_benchmark(const options& o, const std::string& file) {
  const auto is = [](bool b) { return b ? "=true" : "=false"; };
  std::vector<std::string> out{
      "--benchmark_repetitions=" + std::to_string(o.repetitions),
      std::string("--benchmark_report_aggregates_only") + is(o.aggregates_only),
      std::string("--benchmark_display_aggregates_only") + is(o.aggregates_only_displayed),
      std::string("--benchmark_enable_random_interleaving") + is(o.random_order),
      "--benchmark_list_tests=false",
      "--benchmark_out=" + file,
      "--v=0"};
  if (!o.context.empty()) out.push_back("--benchmark_context=" + o.context);
  return out;
}

} // namespace benanza::bench
