// SPDX-License-Identifier: Apache-2.0
// What goes into the JSON? Google Benchmark's schema with our fields added (result/run.hpp), so
// that its tools and our analyzer both read it.
//
//   json_reporter r(source, problem);   benchmark::RunSpecifiedBenchmarks(&r);
#pragma once

#include "provenance.hpp"
#include "report_row.hpp"

namespace benanza::bench {

/// Writes the result JSON, all at once in the end: only then it is known whether the run is whole.
class json_reporter final : public benchmark::BenchmarkReporter {
public:
  /// `problem` says in the end why the JSON could not be written, if it could not.
  json_reporter(const report_source& from, std::string& problem)
      : from_(from)
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
    const auto build = [](bool debug) { return debug ? "debug" : "release"; };
    // Google Benchmark's own, as it says itself; then that of what takes the times.
    c["library_build_type"] = build(detail::lines_of(context).debug_library);
    c["program_build_type"] = build(detail::debug_program);
    if (const auto* custom = benchmark::internal::GetGlobalContext(); custom != nullptr)
      for (const auto& [key, value] : *custom)
        c[key] = value;
    return true;
  }

  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    for (const benchmark_run& run : runs)
      rows_ += (rows_.empty() ? "\n" : ",\n") + text(report_row(run, from_.cases));
  }

  void Finalize() override {
    context_["benanza"] = from_.context();
    from_.make_room();
    errno = 0;
    GetOutputStream() << "{\n\"context\": " << text(context_) << ",\n\"benchmarks\": [" << rows_
                      << "\n]\n}\n";
    detail::close_report(GetOutputStream(), problem_);
  }

private:
  /// In ASCII: nothing in it steers a terminal.
  static std::string text(const nlohmann::ordered_json& j) {
    return j.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  }

  const report_source& from_;
  std::string& problem_;
  nlohmann::ordered_json context_;
  std::string rows_;
};

} // namespace benanza::bench
