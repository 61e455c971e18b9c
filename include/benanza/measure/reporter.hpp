// SPDX-License-Identifier: Apache-2.0
// What goes to the console and into the JSON? `named<Base>` makes Google Benchmark's own reporters
// show our case names and figures; `json_reporter` writes Google Benchmark's schema with our fields
// added (result/schema.hpp), so that its tools and our analyzer both read it.
//
//   json_reporter r(context, cases);   benchmark::RunSpecifiedBenchmarks(&r);
#pragma once

#include "../result/json.hpp"
#include "bench_case.hpp"

#include <benchmark/benchmark.h>

#include <chrono>
#include <ctime>
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

inline std::string iso_date() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[40];
  std::tm parts{};
  localtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts);
  return text;
}
} // namespace detail

/// One of Google Benchmark's reporters, with our names.
template <class Base>
class named : public Base {
public:
  template <class... Arguments>
  explicit named(const case_table& cases, Arguments... arguments)
      : Base(arguments...)
      , cases_(cases) {}
  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    std::vector<benchmark_run> shown;
    for (const benchmark_run& r : runs)
      shown.push_back(detail::presented(r, cases_));
    Base::ReportRuns(shown);
  }

private:
  const case_table& cases_;
};

/// Writes the result JSON. Each case is written as soon as it is reported.
class json_reporter : public benchmark::BenchmarkReporter {
public:
  /// `context` is what result/schema.hpp puts under context.benanza.
  json_reporter(nlohmann::ordered_json context, const case_table& cases)
      : ours_(std::move(context))
      , cases_(cases) {}

  bool ReportContext(const Context& context) override {
    using nlohmann::ordered_json;
    ordered_json c;
    c["date"] = detail::iso_date();
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
    c["benanza"] = ours_;
    GetOutputStream() << "{\n\"context\": " << text(c) << ",\n\"benchmarks\": [";
    return true;
  }

  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    for (const benchmark_run& run : runs) {
      GetOutputStream() << (first_ ? "\n" : ",\n") << text(entry(detail::presented(run, cases_)));
      first_ = false;
    }
    GetOutputStream().flush();
  }

  void Finalize() override { GetOutputStream() << "\n]\n}\n"; }

private:
  static std::string text(const nlohmann::ordered_json& j) {
    return j.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  nlohmann::ordered_json entry(const benchmark_run& run) {
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

  nlohmann::ordered_json ours_;
  const case_table& cases_;
  bool first_ = true;
};

} // namespace benanza::measure
