// SPDX-License-Identifier: Apache-2.0
// What was asked for on the command line? Our own options, those of Google Benchmark that mean
// something to the sampling, and the rest, which goes to Google Benchmark as it is. An option that
// nobody knows is refused.
//
//   options o = parse_options(argc, argv);   o.types, o.threads, o.filter, o.passed_on
#pragma once

#include "../core/dtype.hpp"
#include "../core/error.hpp"
#include "../result/own_cache.hpp"
#include "campaign_options.hpp"
#include "effort.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::measure {

/// When progress is shown on stderr.
enum class progress_mode { automatic, always, never };

struct options {
  std::vector<numeric> types{}; ///< empty: each model's own
  std::vector<int> threads{1};
  std::vector<std::string> states{"hot", "coldw"};
  bool states_given = false;        ///< else `coldw` stands for what the models leave in the caches
  result::own_cache own_cache{};    ///< how long the last cache keeps what a network leaves there
  bool shares_last_cache = false;   ///< others hold more of it than we do
  std::vector<std::string> plans{}; ///< files of plans to run in place of layers
  std::vector<std::string> backends{}; ///< to measure; empty: all that can run here
  std::string target = "h200";         ///< to list cases for, where there is no GPU
  bool describe_device = false;
  std::string model{};         ///< only layers of models whose names contain it
  bool all_algorithms = false; ///< also reference loops and outdated instruction sets
  bool help = false;
  progress_mode progress = progress_mode::automatic;

  std::string filter{};
  measure::effort effort = measure::effort::normal;
  double seconds = 0; ///< of sampling a case, at most; 0: as the effort says
  /// Seconds that a case may lose to noise before it is taken as it comes; 0: as the effort says.
  double wait_s = 0;
  int repetitions = 1;
  bool list_only = false;
  std::string format = "console", out{}, out_format = "json";
  std::vector<std::string> passed_on{}; ///< for Google Benchmark
  campaign_options campaign{};
};

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
  --model TEXT             only the layers of models whose names contain TEXT
  --backends NAME,...      only these libraries: host, onednn, cudnn, cuda, cublas
                           (default: all that can run here)
  --target GPU             where there is no GPU, list its cases as if there were this
                           one: a name, or a file with a description (default h200)
  --describe-device        print the description of this GPU, and end
  --all                    also reference loops and outdated instruction sets
  --progress auto|always|never   on stderr (default: only on a terminal)

Google Benchmark's flags work; here they mean:
  --benchmark_filter=REGEX         cases by name; a leading '-' leaves them out
  --benchmark_min_time=SECONDS     of sampling a case, at most (default 0.1; quick
                                   0.03, thorough 0.3, exhaustive 0.5)
  --benchmark_repetitions=N        independent passes of sampling
  --benchmark_list_tests           print the names of the cases, and end
  --benchmark_format=console|json|csv
  --benchmark_out=FILE, --benchmark_out_format=...
)";

namespace detail {
inline std::vector<std::string> split_commas(std::string_view text) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    if (comma != 0) out.emplace_back(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : text.substr(comma + 1);
  }
  return out;
}

inline int positive_number(std::string_view text, std::string_view option) {
  int n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size() || n < 1)
    throw error("a whole number of 1 or more is needed, not \"" + std::string(text) + "\"",
                std::string(option));
  return n;
}

inline bool truth(std::string_view text, std::string_view option) {
  if (text == "true" || text == "1" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "0" || text == "no" || text == "off") return false;
  throw error("true or false is needed, not \"" + std::string(text) + "\"", std::string(option));
}

inline double seconds(std::string_view text, std::string_view option) {
  std::string number(text);
  if (!number.empty() && number.back() == 's') number.pop_back();
  char* end = nullptr;
  const double value = std::strtod(number.c_str(), &end);
  if (number.empty() || *end != 0 || !(value > 0) || value > 3600)
    throw error("seconds are needed, not \"" + std::string(text) + "\"", std::string(option),
                "write " + std::string(option) + "=0.1");
  return value;
}

/// Google Benchmark's flags that we hand on as they are.
inline bool passes_on(std::string_view flag) {
  for (std::string_view known :
       {"--benchmark_report_aggregates_only", "--benchmark_display_aggregates_only",
        "--benchmark_enable_random_interleaving", "--benchmark_counters_tabular",
        "--benchmark_color", "--benchmark_context", "--benchmark_time_unit"})
    if (flag == known) return true;
  return flag == "--v";
}

inline std::string one_of(std::string_view value, std::initializer_list<std::string_view> choices,
                          std::string_view option) {
  std::string all;
  for (std::string_view c : choices) {
    if (c == value) return std::string(value);
    all += (all.empty() ? "" : ", ") + std::string(c);
  }
  throw error("\"" + std::string(value) + "\" is not one of " + all, std::string(option));
}
} // namespace detail

/// Reads the command line; refuses unknown options and values that mean nothing.
inline options parse_options(int argc, char** argv) {
  options o;
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
    } else if (name == "--benchmark_filter") {
      o.filter = value;
    } else if (name == "--benchmark_min_time") {
      o.seconds = detail::seconds(value, name);
    } else if (name == "--wait-for-quiet") {
      o.wait_s = detail::seconds(value, name);
    } else if (name == "--benchmark_repetitions") {
      o.repetitions = detail::positive_number(value, name);
    } else if (name == "--benchmark_format") {
      o.format = detail::one_of(value, {"console", "json", "csv"}, name);
    } else if (name == "--benchmark_out") {
      o.out = value;
    } else if (name == "--benchmark_out_format") {
      o.out_format = detail::one_of(value, {"console", "json", "csv"}, name);
    } else {
      return o.campaign.read(name, value);
    }
    return true;
  };

  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::size_t equals = word.find('=');
    const std::string_view name = word.substr(0, equals);
    const bool valued = equals != std::string_view::npos;
    if (word == "--help" || word == "-h") {
      o.help = true;
    } else if (word == "--describe-device") {
      o.describe_device = true;
    } else if (name == "--all") {
      o.all_algorithms = !valued || detail::truth(word.substr(equals + 1), name);
    } else if (name == "--isolate") {
      o.campaign.isolate = !valued || detail::truth(word.substr(equals + 1), name);
    } else if (word == "--again") {
      o.campaign.again = again_mode::everything;
    } else if (name == "--benchmark_list_tests") {
      o.list_only = !valued || detail::truth(word.substr(equals + 1), name);
    } else if (detail::passes_on(name)) {
      o.passed_on.emplace_back(word);
    } else if (valued && read(name, word.substr(equals + 1))) {
      continue;
    } else if (!valued && name.substr(0, 2) == "--" && i + 1 < argc && read(name, argv[i + 1])) {
      ++i;
    } else {
      throw error("unknown option \"" + std::string(word) + "\"", "", "see benanza_bench --help");
    }
  }
  if (o.repetitions > 1)
    o.passed_on.push_back("--benchmark_repetitions=" + std::to_string(o.repetitions));
  return o;
}

} // namespace benanza::measure
