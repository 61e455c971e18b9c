// SPDX-License-Identifier: Apache-2.0
// How does Google Benchmark come by our times? Each case is one of its entries: the first that it
// calls has the whole group measured; every call hands over the time of one pass of sampling. Its
// reporters then write what our own show.
//
//   run_benchmarks(argv[0], options, listing, campaign, context, "run.json.part");
#pragma once

#include "../machine/colours.hpp"
#include "../measure/campaign/campaign.hpp"
#include "console_reporter.hpp"
#include "csv_reporter.hpp"
#include "json_reporter.hpp"
#include "listing.hpp"

#include <memory>
#include <string_view>

namespace benanza::bench {

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
    // For the time that is shown next to it.
    if (const std::int64_t flops = group_->what->direct_flops; flops > 0)
      state.counters["GFLOP/s"] = static_cast<double>(flops) / std::max(m.median_ns, 1e-3);
    else
      state.counters["GB/s"] = static_cast<double>(m.bytes) / std::max(m.median_ns, 1e-3);
  }

private:
  group* group_;
  std::size_t index_;
  campaign* campaign_;
  std::size_t pass_ = 0;
};

namespace detail {
/// Whether the table on standard output is coloured: as the flag says, or where that shows colours.
inline bool coloured(const options& o) {
  if (o.colour) return *o.colour;
  return shows_colours(STDOUT_FILENO);
}

inline benchmark::TimeUnit time_unit(std::string_view name) {
  return name == "ns"   ? benchmark::kNanosecond
         : name == "ms" ? benchmark::kMillisecond
         : name == "s"  ? benchmark::kSecond
                        : benchmark::kMicrosecond;
}

/// A report on standard output if `shown`, else into a file.
inline std::unique_ptr<benchmark::BenchmarkReporter> make_reporter(const std::string& format,
                                                                   bool shown,
                                                                   const report_source& from,
                                                                   std::string& problem) {
  if (format == "json") return std::make_unique<json_reporter>(from, problem);
  if (format == "csv") return std::make_unique<csv_reporter>(from, shown, problem);
  using look = benchmark::ConsoleReporter::OutputOptions;
  const int colour = shown && coloured(from.asked) ? look::OO_Color : look::OO_None;
  const int columns = from.asked.tabular ? look::OO_Tabular : look::OO_None;
  return std::make_unique<console_reporter>(from, static_cast<look>(colour | columns), problem);
}
} // namespace detail

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
          ->Unit(detail::time_unit(o.time_unit));
    }
  std::vector<std::string> words = for_google_benchmark(o, out);
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  for (std::string& w : words)
    arguments.push_back(w.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw error("unknown option \"" + std::string(arguments[1]) + "\"");

  report_problems problems;
  const report_source from{o, table, context, [&c] { c.make_room(); }};
  const auto display = detail::make_reporter(o.format, true, from, problems.display);
  const auto file =
      out.empty() ? nullptr : detail::make_reporter(o.out_format, false, from, problems.file);
  benchmark::RunSpecifiedBenchmarks(display.get(), file.get(), "all");
  benchmark::Shutdown();
  return problems;
}

} // namespace benanza::bench
