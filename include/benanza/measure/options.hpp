// SPDX-License-Identifier: Apache-2.0
// What was asked for on the command line? Our own options and Google Benchmark's flags. An option
// that nobody knows is refused.
//
//   options o = parse_options(argc, argv);   o.types, o.threads, o.filter
#pragma once

#include "../core/dtype.hpp"
#include "../core/error.hpp"
#include "../result/own_cache.hpp"
#include "benchmark_flags.hpp"
#include "campaign_options.hpp"
#include "defaults.hpp"
#include "effort.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::measure {

/// When progress is shown on stderr.
enum class progress_mode { automatic, always, never };

struct options : benchmark_flags {
  std::vector<numeric> types{}; ///< empty: each model's own
  std::vector<int> threads{1};
  std::vector<std::string> states{"hot", "coldw"};
  bool states_given = false;        ///< else `coldw` stands for what the models leave in the caches
  result::own_cache own_cache{};    ///< how long the last cache keeps what a network leaves there
  bool shares_last_cache = false;   ///< others hold more of it than we do
  std::vector<std::string> plans{}; ///< files of plans to run in place of layers
  std::vector<std::string> backends{}; ///< to measure; empty: all that can run here
  std::string target{};                ///< GPU to list cases for, where there is none
  bool describe_device = false;
  bool list_models = false;
  /// Files of layers and of graphs, in place of the models compiled in.
  std::vector<std::string> layer_files{}, graph_files{};
  std::string model{};         ///< only layers of models whose names contain it
  bool all_algorithms = false; ///< also reference loops and outdated instruction sets
  bool help = false, version = false;
  bool quiet = false; ///< only rows and errors
  progress_mode progress = progress_mode::automatic;
  measure::effort effort = measure::effort::normal;
  /// Seconds that a case may lose to noise before it is taken as it comes; 0: as the effort says.
  double wait_s = 0;
  campaign_options campaign{};
  std::map<std::string, int> crashed{}; ///< what libraries are not asked for, and its signal
};

/// The GPU that cases are listed for where there is none, and none was named.
inline constexpr const char* usual_target = "h200";

/// How a group is sampled whose cases get `share` of the time; with more time comes more patience.
inline sampling_plan plan_of(const options& o, double share = 1) {
  const double seconds = o.seconds > 0 ? o.seconds : plan_of(o.effort).seconds;
  sampling_plan p = plan_of(o.effort, share * seconds, o.repetitions);
  if (o.wait_s > 0) p.extra_share = o.wait_s / seconds;
  // Others use the last cache for a second or so, which no look sees: not to settle on that.
  constexpr int longer = 4;
  if (share > 1) p.patience *= longer;
  return p;
}

inline constexpr std::string_view help_text =
    R"(benanza_bench: measures every unique layer by every algorithm of every library

  --types T,...            numeric classes: f32, bf16, u8s8u8, s8s8s8 ... (default: the models' own)
  --threads N,...          threads (default 1); each number is a case of its own
  --states hot,llcw,coldw,cold
                           what the caches hold (default: hot, and as a network leaves them, with
                           weights from the last cache, llcw, or from memory, coldw, or both, as
                           the layer's models need)
  --effort quick|normal|thorough|exhaustive
                           how long to sample (default: normal); exhaustive stops no case early
  --wait-for-quiet SECONDS how long a case may take samples again that noise has disturbed
                           (default: twice its time limit)
  --plan FILE,...          whole models as benanza_analyze --plan wrote them, in place of layers
  --layers FILE            measure the layers of a file, one a line, such as
                           Conv/1x64x56x56-64x3x3-s1-p1, in place of those compiled in; may be
                           given again
  --graphs FILE            measure the models of a file in place of those compiled in: graphs.json,
                           which benanza_generate writes into each folder (--no-sources: alone);
                           may be given again
  --model TEXT             only the layers of models whose names contain TEXT
  --models                 print the models that this program holds, and end
  --backends NAME,...      only these libraries: host, onednn, cudnn, cuda, cublas
                           (default: all that can run here)
  --target GPU             where there is no GPU, list the cases of this one too: a name, or a
                           file with a description (default for --backends cudnn: h200)
  --describe-device        print the description of this GPU, and end
  --all                    also reference loops and outdated instruction sets
  --progress auto|always|never   on stderr (default: only on a terminal)
  -q, --quiet              only rows and errors
  --version                print the version of this program and of its libraries, and end
)";

/// Reads the command line; refuses unknown options and values that mean nothing.
inline options parse_options(int argc, char** argv) {
  options o;
  o.read_environment();
  const auto read = [&o](std::string_view name, std::string_view value) {
    if (name == "--types") {
      o.types.clear();
      for (const std::string& t : detail::split_commas(value)) {
        const auto type = parse_numeric(t);
        if (!type)
          throw error("\"" + t + "\" is no numeric class", "--types",
                      "take from f32, tf32, f16, bf16, u8s8u8, s8s8s8, e4m3");
        if (std::find(o.types.begin(), o.types.end(), *type) == o.types.end())
          o.types.push_back(*type);
      }
    } else if (name == "--threads") {
      o.threads.clear();
      for (const std::string& t : detail::split_commas(value))
        o.threads.push_back(detail::positive_number(t, "--threads"));
      std::sort(o.threads.begin(), o.threads.end());
      o.threads.erase(std::unique(o.threads.begin(), o.threads.end()), o.threads.end());
      if (o.threads.empty()) throw error("a number of threads is needed", "--threads");
    } else if (name == "--states") {
      o.states.clear();
      for (const std::string& s : detail::split_commas(value))
        o.states.push_back(detail::one_of(s, {"hot", "llcw", "coldw", "cold"}, "--states"));
      if (o.states.empty()) throw error("hot, llcw, coldw or cold is needed", "--states");
      o.states_given = true;
    } else if (name == "--plan") {
      o.plans = detail::split_commas(value);
      if (o.plans.empty()) throw error("a file is needed", "--plan", "write --plan plan.json");
    } else if (name == "--effort") {
      o.effort = *parse_effort(
          detail::one_of(value, {"quick", "normal", "thorough", "exhaustive"}, "--effort"));
    } else if (name == "--layers" || name == "--graphs") {
      if (value.empty()) throw error("a file is needed", std::string(name));
      (name == "--layers" ? o.layer_files : o.graph_files).emplace_back(value);
    } else if (name == "--model") {
      o.model = value;
    } else if (name == "--backends") {
      o.backends = detail::split_commas(value);
      if (o.backends.empty()) throw error("the name of a library is needed", "--backends");
    } else if (name == "--target") {
      o.target = value;
    } else if (name == "--progress") {
      const std::string mode = detail::one_of(value, {"auto", "always", "never"}, "--progress");
      o.progress = mode == "always"  ? progress_mode::always
                   : mode == "never" ? progress_mode::never
                                     : progress_mode::automatic;
    } else if (name == "--wait-for-quiet") {
      o.wait_s = detail::seconds(value, name);
    } else {
      return o.read_flag(name, value) || o.campaign.read(name, value);
    }
    return true;
  };

  const defaults& usual = defaults::of_program();
  if (!usual.types.empty()) read("--types", usual.types);
  if (!usual.backends.empty()) read("--backends", usual.backends);
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool valued = equals != std::string_view::npos;
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--version") {
      o.version = true;
    } else if (word == "--quiet" || word == "-q") {
      o.quiet = true;
    } else if (word == "--models") {
      o.list_models = true;
    } else if (word == "--describe-device") {
      o.describe_device = true;
    } else if (name == "--all") {
      o.all_algorithms = !valued || detail::truth(word.substr(equals + 1), name);
    } else if (name == "--isolate") {
      o.campaign.isolate = !valued || detail::truth(word.substr(equals + 1), name);
    } else if (word == "--again") {
      o.campaign.again = again_mode::everything;
    } else if (benchmark_flags::is_switch(name)) {
      o.read_flag(name, valued ? word.substr(equals + 1) : "true");
    } else if (valued && read(name, word.substr(equals + 1))) {
      continue;
    } else if (!valued && name.substr(0, 2) == "--" && i + 1 < argc && read(name, argv[i + 1])) {
      ++i;
    } else {
      throw error("unknown option \"" + std::string(word) + "\"", "", "see benanza_bench --help");
    }
  }
  if (o.quiet) o.progress = progress_mode::never;
  if (o.dry_run) {
    if (!o.campaign.store.empty())
      throw error("the times of --benchmark_dry_run mean nothing, and are not kept", "--store",
                  "leave out one of the two");
    constexpr double hardly_any = 1e-9;
    o.seconds = o.wait_s = hardly_any;
    o.effort = effort::quick;
    o.repetitions = 1;
  }
  if (!o.plans.empty() && (!o.layer_files.empty() || !o.graph_files.empty()))
    throw error("a plan is run in place of layers", "--plan", "leave out --layers and --graphs");
  return o;
}

} // namespace benanza::measure
