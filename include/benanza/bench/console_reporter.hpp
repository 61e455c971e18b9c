// SPDX-License-Identifier: Apache-2.0
// What does a person see of a run? Google Benchmark's table, with our names and figures: its rows
// as its tools know them, with the least time of a case in seconds (`min_s=18.8m`: it writes 1000
// as k, and a thousandth as m). What is not known yet because the run was stopped has no row.
//
//   console_reporter r(source, columns, problem);   benchmark::RunSpecifiedBenchmarks(&r);
#pragma once

#include "report_row.hpp"

namespace benanza::bench {

class console_reporter final : public benchmark::ConsoleReporter {
public:
  /// `problem` says in the end why the report could not be written, if it could not.
  console_reporter(const report_source& from, OutputOptions look, std::string& problem)
      : ConsoleReporter(look)
      , from_(from)
      , problem_(problem) {}

  bool ReportContext(const Context& context) override {
    constexpr std::size_t of_aggregates = std::string_view("_median").size();
    std::size_t width = 10;
    for (const auto& [name, one] : from_.cases)
      width = std::max(width, printable(name).size());
    name_field_width_ = width + (from_.asked.repetitions > 1 ? of_aggregates : 0);
    if (!from_.asked.quiet) detail::print_context(GetErrorStream(), context);
    return true;
  }

  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    std::vector<benchmark_run> shown;
    for (const benchmark_run& r : runs) {
      benchmark_run run = detail::presented(r, from_.cases);
      std::string& failure = detail::failure_of(run);
      if (failure == interrupted_error) continue;
      failure = printable(failure);
      run.run_name.function_name = printable(run.run_name.function_name);
      shown.push_back(std::move(run));
    }
    if (shown.empty()) return;
    from_.make_room();
    ConsoleReporter::ReportRuns(shown);
    GetOutputStream().flush();
  }

  void Finalize() override { detail::close_report(GetOutputStream(), problem_); }

private:
  const report_source& from_;
  std::string& problem_;
};

} // namespace benanza::bench
