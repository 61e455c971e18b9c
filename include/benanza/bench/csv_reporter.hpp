// SPDX-License-Identifier: Apache-2.0
// How does a result look as a table? CSV as RFC 4180 has it, and `pandas.read_csv` reads: one
// header, which is the same for all results, then a row a case, failed ones too. Google Benchmark's
// columns come first, then every field that the JSON has for a case. Texts are quoted, lists are as
// in JSON, and what a row lacks is empty.
//
//   csv_reporter r(source, true, problem);   benchmark::RunSpecifiedBenchmarks(&r);
#pragma once

#include "../result/fields.hpp"
#include "report_row.hpp"

#include <nlohmann/json.hpp>

namespace benanza::bench {

/// The columns, in their order.
inline std::vector<std::string> csv_columns() {
  std::vector<std::string> out{"name",           "iterations",       "real_time",        "cpu_time",
                               "time_unit",      "bytes_per_second", "items_per_second", "label",
                               "error_occurred", "error_message"};
  const result::measurement any;
  result::fields(any, [&out](std::string_view name, const auto&, result::field_kind) {
    out.emplace_back(name);
  });
  out.insert(out.end(),
             {"GFLOP/s", "GB/s", "min_s", "run_type", "run_name", "repetitions", "repetition_index",
              "aggregate_name", "aggregate_unit", "family_index", "per_family_instance_index"});
  return out;
}

namespace detail {
inline std::string csv_quoted(std::string_view text) {
  const std::string shown = printable(text, std::numeric_limits<std::size_t>::max());
  const std::size_t first = shown.find_first_not_of(' ');
  const bool formula = first != std::string::npos &&
                       std::string_view("=+-@|%").find(shown[first]) != std::string::npos;
  std::string out = formula ? "\"'" : "\""; // for a spreadsheet
  for (char c : shown)
    out.append(c == '"' ? 2 : 1, c);
  return out + '"';
}

inline std::string csv_cell(const nlohmann::ordered_json& value) {
  if (value.is_null()) return {};
  if (value.is_string()) return csv_quoted(value.get_ref<const std::string&>());
  const std::string text = value.dump();
  return value.is_structured() ? csv_quoted(text) : text;
}

/// A row with its columns.
inline std::string csv_line(nlohmann::ordered_json row, const std::vector<std::string>& columns) {
  if (row.contains("error_occurred")) // Google Benchmark gives these zeros
    for (const char* none : {"iterations", "real_time", "cpu_time"})
      row.erase(none);
  std::string out;
  for (const std::string& c : columns) {
    if (&c != &columns.front()) out += ',';
    if (const auto found = row.find(c); found != row.end()) out += csv_cell(*found);
  }
  return out + '\n';
}
} // namespace detail

class csv_reporter final : public benchmark::BenchmarkReporter {
public:
  /// The head is `shown` on standard error, or not at all: a file is to be a table. `problem` says
  /// in the end why the report could not be written, if it could not.
  csv_reporter(const report_source& from, bool shown, std::string& problem)
      : from_(from)
      , shown_(shown)
      , problem_(problem) {}

  bool ReportContext(const Context& context) override {
    if (shown_ && !from_.asked.quiet) detail::print_context(GetErrorStream(), context);
    for (const std::string& c : columns_)
      GetOutputStream() << (&c == &columns_.front() ? "" : ",") << c;
    GetOutputStream() << '\n';
    return true;
  }

  void ReportRuns(const std::vector<benchmark_run>& runs) override {
    if (shown_) from_.make_room();
    for (const benchmark_run& run : runs)
      GetOutputStream() << detail::csv_line(report_row(run, from_.cases), columns_);
  }

  void Finalize() override { detail::close_report(GetOutputStream(), problem_); }

private:
  const report_source& from_;
  bool shown_;
  std::string& problem_;
  std::vector<std::string> columns_ = csv_columns();
};

} // namespace benanza::bench
