// SPDX-License-Identifier: Apache-2.0
// Which of Google Benchmark's flags were given, and what do they mean here? What they mean there,
// of its versions 1.7 to 1.9; the few that cannot are refused with the reason. As there, each may
// stand in the environment too: BENCHMARK_FILTER is --benchmark_filter.
//
//   benchmark_flags f;   f.read_environment();   f.read_flag("--benchmark_time_unit", "ms");
//   f.for_the_library("run.json.part")   // what its own runner has to be told
#pragma once

#include "../core/error.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::measure {
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
  std::string small(text);
  for (char& c : small)
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (std::string_view yes : {"true", "1", "yes", "on", "t", "y"})
    if (small == yes) return true;
  for (std::string_view no : {"false", "0", "no", "off", "f", "n"})
    if (small == no) return false;
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

inline std::string one_of(std::string_view value, std::initializer_list<std::string_view> choices,
                          std::string_view option) {
  std::string all;
  for (std::string_view c : choices) {
    if (c == value) return std::string(value);
    all += (all.empty() ? "" : ", ") + std::string(c);
  }
  throw error("\"" + std::string(value) + "\" is not one of " + all, std::string(option));
}

/// Refuses a number of iterations as a time.
inline double sampling_seconds(std::string_view text, std::string_view option) {
  const bool iterations = text.size() > 1 && text.back() == 'x' &&
                          text.find_first_not_of("0123456789") == text.size() - 1;
  if (iterations)
    throw error("a number of iterations is not taken: a case is sampled until its figure stands "
                "still, at most so many seconds",
                std::string(option) + "=" + std::string(text),
                "write " + std::string(option) + "=0.1s");
  return seconds(text, option);
}

/// Facts as KEY=VALUE,KEY=VALUE.
inline std::string key_value_pairs(std::string_view text, std::string_view option) {
  for (const std::string& pair : split_commas(text))
    if (std::count(pair.begin(), pair.end(), '=') != 1 || pair.front() == '=')
      throw error("KEY=VALUE is needed, not \"" + pair + "\"", std::string(option));
  return std::string(text);
}

/// A flag that has no meaning here, unless it asks for nothing.
struct refused_flag {
  std::string_view flag, nothing, why;
};
inline constexpr std::string_view no_log =
    "its log tells of Google Benchmark's own loop, and that times nothing here";
inline constexpr refused_flag refused_flags[] = {
    {"--benchmark_min_warmup_time", "0", "a case is warmed up until that makes it no faster"},
    {"--benchmark_perf_counters", "", "no counters of the processor are read"},
    {"--v", "0", no_log},
    {"--benchmark_v", "0", no_log},
};

/// True for a value that says "none": 0, or nothing where that is the flag's way to say so.
inline bool asks_for_nothing(std::string_view value, const refused_flag& f) {
  if (f.nothing.empty() || value.empty()) return value == f.nothing;
  const std::string text(value);
  char* end = nullptr;
  return std::strtod(text.c_str(), &end) == 0 && *end == 0;
}
} // namespace detail

struct benchmark_flags {
  std::string filter{};
  double seconds = 0; ///< of sampling a case, at most; 0: as the effort says
  int repetitions = 1;
  bool list_only = false;
  bool dry_run = false; ///< every case runs, as shortly as can be
  std::string format = "console", out{}, out_format = "json";
  bool aggregates_only = false, aggregates_only_displayed = false;
  bool random_order = false;
  std::optional<bool> colour{}; ///< unset: as the terminal likes it
  bool tabular = true;
  std::string time_unit = "us";
  std::string context{}; ///< further facts, as they were given

  /// True for a flag that may stand without a value.
  static bool is_switch(std::string_view flag) {
    for (std::string_view s :
         {"--benchmark_list_tests", "--benchmark_dry_run", "--benchmark_enable_random_interleaving",
          "--benchmark_report_aggregates_only", "--benchmark_display_aggregates_only",
          "--benchmark_counters_tabular"})
      if (flag == s) return true;
    return false;
  }

  /// Takes a flag with its value; false if it is none of Google Benchmark's.
  bool read_flag(std::string_view flag, std::string_view value) {
    return read_flag(flag, value, flag);
  }

  /// What stands in the environment, as if it were at the front of the command line.
  void read_environment() {
    for (std::string_view flag :
         {"--benchmark_filter", "--benchmark_list_tests", "--benchmark_min_time",
          "--benchmark_min_warmup_time", "--benchmark_repetitions", "--benchmark_dry_run",
          "--benchmark_enable_random_interleaving", "--benchmark_report_aggregates_only",
          "--benchmark_display_aggregates_only", "--benchmark_format", "--benchmark_out",
          "--benchmark_out_format", "--benchmark_color", "--benchmark_counters_tabular",
          "--benchmark_perf_counters", "--benchmark_context", "--benchmark_time_unit"}) {
      std::string variable(flag.substr(2));
      for (char& c : variable)
        c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
      if (const char* value = std::getenv(variable.c_str()); value != nullptr)
        read_flag(flag, value, variable);
    }
  }

  /// What Google Benchmark's own runner is told, which writes to `file`; also what it would
  /// otherwise take from the environment.
  std::vector<std::string> for_the_library(const std::string& file) const {
    const auto is = [](bool b) { return b ? "=true" : "=false"; };
    std::vector<std::string> words{
        "--benchmark_repetitions=" + std::to_string(repetitions),
        std::string("--benchmark_report_aggregates_only") + is(aggregates_only),
        std::string("--benchmark_display_aggregates_only") + is(aggregates_only_displayed),
        std::string("--benchmark_enable_random_interleaving") + is(random_order),
        "--benchmark_list_tests=false",
        "--benchmark_out=" + file,
        "--v=0"};
    if (!context.empty()) words.push_back("--benchmark_context=" + context);
    return words;
  }

private:
  bool read_flag(std::string_view flag, std::string_view value, std::string_view where) {
    for (const detail::refused_flag& f : detail::refused_flags)
      if (flag == f.flag) {
        if (!detail::asks_for_nothing(value, f))
          throw error("this flag means nothing here: " + std::string(f.why),
                      std::string(where) + "=" + std::string(value), "leave it out");
        return true;
      }
    if (flag == "--benchmark_filter")
      filter = value;
    else if (flag == "--benchmark_list_tests")
      list_only = detail::truth(value, where);
    else if (flag == "--benchmark_min_time")
      seconds = detail::sampling_seconds(value, where);
    else if (flag == "--benchmark_repetitions")
      repetitions = detail::positive_number(value, where);
    else if (flag == "--benchmark_dry_run")
      dry_run = detail::truth(value, where);
    else if (flag == "--benchmark_enable_random_interleaving")
      random_order = detail::truth(value, where);
    else if (flag == "--benchmark_report_aggregates_only")
      aggregates_only = detail::truth(value, where);
    else if (flag == "--benchmark_display_aggregates_only")
      aggregates_only_displayed = detail::truth(value, where);
    else if (flag == "--benchmark_format")
      format = detail::one_of(value, {"console", "json", "csv"}, where);
    else if (flag == "--benchmark_out")
      out = value;
    else if (flag == "--benchmark_out_format")
      out_format = detail::one_of(value, {"console", "json", "csv"}, where);
    else if (flag == "--benchmark_color")
      colour = value == "auto" ? std::nullopt : std::optional(detail::truth(value, where));
    else if (flag == "--benchmark_counters_tabular")
      tabular = detail::truth(value, where);
    else if (flag == "--benchmark_context")
      context = detail::key_value_pairs(value, where);
    else if (flag == "--benchmark_time_unit")
      time_unit = detail::one_of(value, {"ns", "us", "ms", "s"}, where);
    else
      return false;
    return true;
  }
};

inline constexpr std::string_view benchmark_help_text = R"(
Google Benchmark's flags, also from the environment (BENCHMARK_FILTER is --benchmark_filter):
  --benchmark_filter=REGEX         cases by name; a leading '-' leaves them out
  --benchmark_list_tests           print the names of the cases that would run, and end
  --benchmark_min_time=SECONDS     of sampling a case, at most (default 0.1; quick
                                   0.03, thorough 0.3, exhaustive 0.5)
  --benchmark_repetitions=N        independent passes of sampling, and what they have in common
  --benchmark_report_aggregates_only, --benchmark_display_aggregates_only
                                   only that; the second: in files all the same
  --benchmark_enable_random_interleaving
                                   layers in random order; the algorithms of one take turns anyway
  --benchmark_dry_run              run every case as shortly as can be: the times mean nothing
  --benchmark_format=console|json|csv
  --benchmark_out=FILE, --benchmark_out_format=console|json|csv
  --benchmark_time_unit=ns|us|ms|s (default us)
  --benchmark_color=auto|true|false
                                   auto: on a terminal, unless NO_COLOR is set
  --benchmark_counters_tabular=true|false   (default true)
  --benchmark_context=KEY=VALUE,...   further facts for the head of a result
Refused: a number of iterations as --benchmark_min_time, and --benchmark_min_warmup_time,
--benchmark_perf_counters and --v, which mean nothing here.
)";

} // namespace benanza::measure
