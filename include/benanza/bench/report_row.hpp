// SPDX-License-Identifier: Apache-2.0
// What do all reports say of a run of Google Benchmark's? Our case's name, our samples as its
// iterations, our median as its time; and, for JSON and CSV alike, a row: Google Benchmark's fields
// with ours added (result/fields.hpp), so that its tools and our analyzer both read it.
//
//   nlohmann::ordered_json row = report_row(run, cases);   row["median_ns"]
#pragma once

#include "../core/printable.hpp"
#include "../measure/process/interrupt.hpp"
#include "../measure/subjects/subject.hpp"
#include "../result/fields.hpp"
#include "../result/json.hpp"
#include "options.hpp"

#include <benchmark/benchmark.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <ostream>
#include <sstream>
#include <string>
#include <unordered_map>

namespace benanza::bench {

using benchmark_run = benchmark::BenchmarkReporter::Run;

/// Our case behind each of Google Benchmark's names.
using case_table = std::unordered_map<std::string, const bench_case*>;

/// What result/run.hpp puts under context.benanza, asked for when all cases are done.
using context_source = std::function<nlohmann::ordered_json()>;

/// What the reports of a run are made from.
struct report_source {
  const options& asked;
  const case_table& cases;
  context_source context;
  std::function<void()> make_room; ///< takes the progress line off the terminal
};

namespace detail {
/// The passes of sampling behind a run; null where there are none.
inline const std::vector<result::measurement>* passes_of(const benchmark_run& run,
                                                         const case_table& cases) {
  const auto found = cases.find(run.run_name.function_name);
  return found == cases.end() || found->second->results.empty() ? nullptr : &found->second->results;
}

/// The pass of sampling that a run handed over; null for aggregates.
inline const result::measurement* measurement_of(const benchmark_run& run,
                                                 const case_table& cases) {
  const auto* passes = passes_of(run, cases);
  if (run.run_type == benchmark_run::RT_Aggregate || passes == nullptr) return nullptr;
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(run.repetition_index, 0));
  return &(*passes)[std::min(index, passes->size() - 1)];
}

/// The run as people should see it: without what Google Benchmark adds to a name
/// ("/iterations:1/manual_time"), and with our samples as its iterations. The processor is ours
/// while we sample: its time is the time. What Google Benchmark took for it, also in aggregates, is
/// the time of handing over.
inline benchmark_run presented(benchmark_run run, const case_table& cases) {
  run.run_name.iterations.clear();
  run.run_name.time_type.clear();
  run.run_name.repetitions.clear();
  run.run_name.min_time.clear();
  if (const result::measurement* m = measurement_of(run, cases); m != nullptr && m->count > 0) {
    run.iterations = m->count;
    run.real_accumulated_time = m->median_ns * 1e-9 * static_cast<double>(m->count);
  }
  run.cpu_accumulated_time = run.real_accumulated_time;
  return run;
}

/// Why a run failed, empty if it did not; the field's name changed in Google Benchmark 1.8.
template <class Run>
std::string& failure_of(Run& run) {
  if constexpr (requires { run.error_message; })
    return run.error_message;
  else
    return run.skip_message;
}

/// Ends a report: what is left in the buffers is written, and the reason kept if it could not be.
inline void close_report(std::ostream& out, std::string& problem) {
  if (out) errno = 0;
  out.flush();
  if (!out) problem = errno != 0 ? std::strerror(errno) : "it was cut off";
}

/// Google Benchmark's lines about the machine, and whether its own library is one for debugging,
/// which only these lines say.
struct context_lines {
  std::string text{};
  bool debug_library = false;
};

/// Without its warning that times may suffer from that: it takes none here.
inline context_lines lines_of(const benchmark::BenchmarkReporter::Context& context) {
  std::ostringstream all;
  benchmark::BenchmarkReporter::PrintBasicContext(&all, context);
  context_lines out;
  std::istringstream lines(all.str());
  for (std::string line; std::getline(lines, line);)
    if (line.find("Library was built as DEBUG") != std::string::npos)
      out.debug_library = true;
    else
      out.text += printable(line) + '\n';
  return out;
}

/// Whether this program, which samples, is one for debugging.
inline constexpr bool debug_program =
#ifdef NDEBUG
    false;
#else
    true;
#endif

/// The head of what a person reads.
inline void print_context(std::ostream& out, const benchmark::BenchmarkReporter::Context& context) {
  out << lines_of(context).text;
  if (debug_program) out << "***WARNING*** This program was built as DEBUG. Times are affected.\n";
}
} // namespace detail

/// A run as JSON and CSV hold it.
inline nlohmann::ordered_json report_row(const benchmark_run& original, const case_table& cases) {
  benchmark_run run = detail::presented(original, cases);
  nlohmann::ordered_json j;
  const bool aggregate = run.run_type == benchmark_run::RT_Aggregate;
  j["name"] = run.benchmark_name();
  j["family_index"] = run.family_index;
  j["per_family_instance_index"] = run.per_family_instance_index;
  j["run_name"] = run.run_name.str();
  j["run_type"] = aggregate ? "aggregate" : "iteration";
  j["repetitions"] = run.repetitions;
  if (!aggregate) j["repetition_index"] = run.repetition_index;
  j["threads"] = run.threads;
  if (aggregate) {
    j["aggregate_name"] = run.aggregate_name;
    j["aggregate_unit"] = run.aggregate_unit == benchmark::kTime ? "time" : "percentage";
  }
  if (const std::string& failure = detail::failure_of(run); !failure.empty()) {
    j["error_occurred"] = true;
    j["error_message"] = failure;
  }
  j["iterations"] = run.iterations;
  const bool share = aggregate && run.aggregate_unit == benchmark::kPercentage;
  j["real_time"] = share ? run.real_accumulated_time : run.GetAdjustedRealTime();
  j["cpu_time"] = share ? run.cpu_accumulated_time : run.GetAdjustedCPUTime();
  j["time_unit"] = benchmark::GetTimeUnitString(run.time_unit);
  for (const auto& [name, counter] : run.counters)
    j[name] = counter.value;
  if (const result::measurement* m = detail::measurement_of(run, cases); m != nullptr)
    j.update(result::to_json(*m));
  else if (const auto* passes = detail::passes_of(run, cases); passes != nullptr)
    result::fields(passes->front(),
                   [&]<class T>(std::string_view name, const T& value, result::field_kind kind) {
                     if constexpr (std::is_same_v<T, std::string> || std::is_integral_v<T>)
                       if (kind == result::field_kind::identity) j[std::string(name)] = value;
                   });
  return j;
}

} // namespace benanza::bench
