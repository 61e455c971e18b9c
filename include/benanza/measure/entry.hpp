// SPDX-License-Identifier: Apache-2.0
// How does Google Benchmark come by our times? Each case is one of its entries: the first that it
// calls has the whole group measured; every call hands over the time of one pass of sampling. Its
// reporters then write what our own show.
//
//   run_benchmarks(argv[0], options, listing, campaign, context, "run.json.part");
#pragma once

#include "campaign.hpp"
#include "listing.hpp"
#include "reporter.hpp"

#include <memory>

namespace benanza::measure {

/// Google Benchmark's entry for a case.
class entry {
public:
  entry(group& g, std::size_t index, campaign& c)
      : group_(&g)
      , index_(index)
      , campaign_(&c) {}

  void operator()(benchmark::State& state) {
    campaign_->measure(*group_);
    const bench_case& c = group_->cases[index_];
    const result::measurement& m = c.results[std::min(pass_++, c.results.size() - 1)];
    if (!m.error.empty()) {
      state.SkipWithError(m.error.c_str());
      for (auto _ : state) {
      }
      return;
    }
    for (auto _ : state)
      state.SetIterationTime(m.median_ns * 1e-9);
    state.counters["min_s"] = m.min_ns * 1e-9;
    if (const std::int64_t flops = group_->what->direct_flops; flops > 0)
      state.counters["GFLOP/s"] = static_cast<double>(flops) / std::max(m.min_ns, 1e-3);
    else
      state.counters["GB/s"] = static_cast<double>(m.bytes) / std::max(m.min_ns, 1e-3);
  }

private:
  group* group_;
  std::size_t index_;
  campaign* campaign_;
  std::size_t pass_ = 0;
};

inline std::unique_ptr<benchmark::BenchmarkReporter>
make_reporter(const std::string& format, bool console_colour, const context_source& context,
              const case_table& cases, std::string& problem) {
  if (format == "json") return std::make_unique<json_reporter>(context, cases, problem);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
  if (format == "csv") return std::make_unique<named<benchmark::CSVReporter>>(cases, problem);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
  return std::make_unique<named<benchmark::ConsoleReporter>>(
      cases, problem,
      console_colour ? benchmark::ConsoleReporter::OO_ColorTabular
                     : benchmark::ConsoleReporter::OO_Tabular);
}

/// Why an output could not be written; empty where it could.
struct report_problems {
  std::string display{}, file{};
};

/// Runs all cases through Google Benchmark; `out` is the file to write, empty for none.
inline report_problems run_benchmarks(char* program, const options& o, listing& l, campaign& c,
                                      const context_source& context, const std::string& out) {
  case_table table;
  for (group& g : l.groups)
    for (std::size_t i = 0; i < g.cases.size(); ++i) {
      table.emplace(g.cases[i].name, &g.cases[i]);
      benchmark::RegisterBenchmark(g.cases[i].name.c_str(), entry(g, i, c))
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }
  std::vector<std::string> words{program};
  words.insert(words.end(), o.passed_on.begin(), o.passed_on.end());
  if (!out.empty()) words.push_back("--benchmark_out=" + out);
  std::vector<char*> arguments;
  for (std::string& w : words)
    arguments.push_back(w.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw error("unknown option \"" + std::string(arguments[1]) + "\"");

  report_problems problems;
  const auto display =
      make_reporter(o.format, isatty(STDOUT_FILENO) != 0, context, table, problems.display);
  const auto file =
      out.empty() ? nullptr : make_reporter(o.out_format, false, context, table, problems.file);
  benchmark::RunSpecifiedBenchmarks(display.get(), file.get(), "all");
  benchmark::Shutdown();
  return problems;
}

} // namespace benanza::measure
