// SPDX-License-Identifier: Apache-2.0
// What goes to the console and into the JSON? `named<Base>` makes Google Benchmark's own reporters
// show our case names and figures; `json_reporter` writes Google Benchmark's schema with our fields
// added (result/schema.hpp), so that its tools and our analyzer both read it.
//
//   json_reporter r(context, cases, problem);   benchmark::RunSpecifiedBenchmarks(&r);
#pragma once

#include "../result/json.hpp"
#include "bench_case.hpp"
#include "provenance.hpp"

#include <benchmark/benchmark.h>

#include <cerrno>
#include <cstring>
#include <functional>
#include <ostream>
#include <string>
#include <unordered_map>
#include <utility>

namespace benanza::measure {

using benchmark_run = benchmark::BenchmarkReporter::Run;

/// Our case behind each of Google Benchmark's names.
using case_table = std::unordered_map<std::string, const bench_case*>;

namespace detail {
/// The pass of sampling that a run handed over; null for aggregates.
inline const result::measurement* measurement_of(const benchmark_run& run,
                                                 const case_table& cases) {
  const auto found = cases.find(run.run_name.function_name);
  if (run.run_type == benchmark_run::RT_Aggregate || found == cases.end()) return nullptr;
  const auto& passes = found->second->results;
  const auto index = static_cast<std::size_t>(std::max<std::int64_t>(run.repetition_index, 0));
  return passes.empty() ? nullptr : &passes[std::min(index, passes.size() - 1)];
}

/// The run as people should see it: without what Google Benchmark adds to a name
/// ("/iterations:1/manual_time"), and with our samples as its iterations.
inline benchmark_run presented(benchmark_run run, const case_table& cases) {
  run.run_name.iterations.clear();
  run.run_name.time_type.clear();
  run.run_name.repetitions.clear();
  run.run_name.min_time.clear();
  if (const result::measurement* m = measurement_of(run, cases); m != nullptr && m->count > 0) {
    run.iterations = m->count;
    run.real_accumulated_time = m->median_ns * 1e-9 * static_cast<double>(m->count);
  }
  if (run.run_type != benchmark_run::RT_Aggregate)
    run.cpu_accumulated_time = run.real_accumulated_time;
  return run;
}

/// Why a run failed, if it did; the field's name changed in Google Benchmark 1.8.
template <class Run>
std::string failure_of(const Run& run) {
  if constexpr (requires { run.error_occurred; })
    return run.error_occurred ? run.error_message : std::string{};
  else
    return run.skipped ? run.skip_message : std::string{};
}

/// Ends a report: what is left in the buffers is written, and the reason kept if it could not be.
inline void close_report(std::ostream& out, std::string& problem) {
  if (out) errno = 0;
  out.flush();
  if (!out) problem = errno != 0 ? std::strerror(errno) : "it was cut off";
}
} // namespace detail

/// One of Google Benchmark's reporters, with our names.
template <class Base>
class named : public Base {
public:
  /// `problem` tells in the end why the report could not be written, if it could not.
  template <class... Arguments>
  named(const case_table& cases, std::string& problem, Arguments... arguments)
      : Base(arguments...)
      , cases_(cases)
      , problem_(problem) {}
  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    std::vector<benchmark_run> shown;
    for (const benchmark_run& r : runs)
      shown.push_back(detail::presented(r, cases_));
    Base::ReportRuns(shown);
  }
  void Finalize() override {
    Base::Finalize();
    detail::close_report(this->GetOutputStream(), problem_);
  }

private:
  const case_table& cases_;
  std::string& problem_;
};

/// What result/schema.hpp puts under context.benanza, asked for when all cases are done.
using context_source = std::function<nlohmann::ordered_json()>;

/// Writes the result JSON, all at once in the end: only then it is known whether the run is whole.
class json_reporter : public benchmark::BenchmarkReporter {
public:
  /// `problem` tells in the end why the JSON could not be written, if it could not.
  json_reporter(context_source context, const case_table& cases, std::string& problem)
      : ours_(std::move(context))
      , cases_(cases)
      , problem_(problem) {}

  bool ReportContext(const Context& context) override {
    using nlohmann::ordered_json;
    ordered_json& c = context_;
    c["date"] = iso_date();
    c["host_name"] = context.sys_info.name;
    c["executable"] = Context::executable_name != nullptr ? Context::executable_name : "";
    c["num_cpus"] = context.cpu_info.num_cpus;
    c["mhz_per_cpu"] = static_cast<std::int64_t>(context.cpu_info.cycles_per_second / 1e6 + 0.5);
    c["caches"] = ordered_json::array();
    for (const auto& cache : context.cpu_info.caches)
      c["caches"].push_back({{"type", cache.type},
                             {"level", cache.level},
                             {"size", cache.size},
                             {"num_sharing", cache.num_sharing}});
    c["load_avg"] = context.cpu_info.load_avg;
    c["library_build_type"] = "release";
    if (const auto* custom = benchmark::internal::GetGlobalContext(); custom != nullptr)
      for (const auto& [key, value] : *custom)
        c[key] = value;
    return true;
  }

  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    for (const benchmark_run& run : runs)
      rows_ += (rows_.empty() ? "\n" : ",\n") + text(entry_of(detail::presented(run, cases_)));
  }

  void Finalize() override {
    context_["benanza"] = ours_();
    errno = 0;
    GetOutputStream() << "{\n\"context\": " << text(context_) << ",\n\"benchmarks\": [" << rows_
                      << "\n]\n}\n";
    detail::close_report(GetOutputStream(), problem_);
  }

private:
  static std::string text(const nlohmann::ordered_json& j) {
    return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  nlohmann::ordered_json entry_of(const benchmark_run& run) {
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
    const std::string failure = detail::failure_of(run);
    if (!failure.empty()) {
      j["error_occurred"] = true;
      j["error_message"] = failure;
    }
    j["iterations"] = run.iterations;
    if (aggregate && run.aggregate_unit == benchmark::kPercentage) {
      j["real_time"] = run.real_accumulated_time;
      j["cpu_time"] = run.cpu_accumulated_time;
    } else {
      j["real_time"] = run.GetAdjustedRealTime();
      j["cpu_time"] = run.GetAdjustedCPUTime();
      j["time_unit"] = benchmark::GetTimeUnitString(run.time_unit);
    }
    for (const auto& [name, counter] : run.counters)
      j[name] = counter.value;
    if (const result::measurement* m = detail::measurement_of(run, cases_); m != nullptr)
      j.update(result::to_json(*m));
    return j;
  }

  context_source ours_;
  const case_table& cases_;
  std::string& problem_;
  nlohmann::ordered_json context_;
  std::string rows_;
};

} // namespace benanza::measure
