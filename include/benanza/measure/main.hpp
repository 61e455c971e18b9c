// SPDX-License-Identifier: Apache-2.0
// The benchmark program: what the three-line main of a generated folder calls. Lists the cases that
// the build's backends offer for the folder's layers, hands them to Google Benchmark, and writes
// the result. Exit status: 0 complete, 1 some cases failed, 2 refused, 130 interrupted.
//
//   int main(int argc, char** argv) { return benanza::measure::run(argc, argv); }
#pragma once

#include "bench_case.hpp"
#include "environment.hpp"
#include "group_run.hpp"
#include "machine.hpp"
#include "progress.hpp"
#include "reporter.hpp"
#include "run.hpp"

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <iostream>

#ifndef BENANZA_VERSION
#define BENANZA_VERSION "unknown"
#endif
#ifndef BENANZA_REVISION
#define BENANZA_REVISION "unknown"
#endif
#ifndef BENANZA_BENCHMARK_VERSION
#define BENANZA_BENCHMARK_VERSION "unknown"
#endif

namespace benanza::measure {
namespace detail {

inline std::atomic<bool> interrupted{false};

inline std::string joined(const auto& items, const auto& text) {
  std::string out;
  for (const auto& i : items)
    out += (out.empty() ? "" : ",") + text(i);
  return out;
}

/// The models of the folder, those that --model names.
inline std::vector<model::graph> selected_graphs(const options& o) {
  std::vector<model::graph> graphs;
  for (const model::table& t : model::registered_tables())
    if (o.model.empty() || t.name.find(o.model) != std::string_view::npos)
      graphs.push_back(model::to_graph(t, op::registered_layers()));
  if (!o.model.empty() && graphs.empty())
    throw error("no model of this program is called so", "--model " + o.model,
                "it holds " + joined(model::registered_tables(),
                                     [](const model::table& t) { return std::string(t.name); }));
  return graphs;
}

inline nlohmann::ordered_json provenance(const environment& e, const options& o,
                                         const library_list& libs) {
  std::map<std::string, std::map<std::string, std::string>> p;
  p["machine"] = machine_facts(e);
  auto& software = p["software"];
  software["benanza"] = BENANZA_VERSION;
  software["revision"] = BENANZA_REVISION;
#ifdef __clang__
  software["compiler"] = "clang " __clang_version__;
#else
  software["compiler"] = "gcc " __VERSION__;
#endif
  software["benchmark"] = BENANZA_BENCHMARK_VERSION;
  for (const auto& library : libs)
    for (const auto& [key, value] : library->facts()) {
      software[std::string(library->name()) + "_" + key] = value;
      if (key == "instruction_set") p["machine"]["isa"] = value;
    }
  auto& measuring = p["measuring"];
  measuring["date"] = iso_date();
  measuring["threads"] = joined(o.threads, [](int t) { return std::to_string(t); });
  measuring["types"] =
      o.types.empty() ? "own" : joined(o.types, [](numeric t) { return std::string(name(t)); });
  measuring["states"] = joined(o.states, [](const std::string& s) { return s; });
  measuring["effort"] = name(o.effort);
  measuring["min_time_s"] = std::to_string(plan_of(o.effort, o.seconds).seconds);
  measuring["repetitions"] = std::to_string(o.repetitions);
  measuring["processors"] = e.processor_list;
  measuring["bound_to"] = e.bound;
  measuring["load_average"] = load_average();
  for (const auto& [variable, value] : openmp_settings) {
    const char* now = std::getenv(variable);
    measuring[variable] = now != nullptr ? now : "unset";
  }
  return p;
}

/// Google Benchmark's entry for a case: measures the case's group when the first of it comes, and
/// hands over the time of one pass of sampling a call.
class entry {
public:
  entry(group& g, std::size_t index, group_runner& runner, progress& shown, std::size_t& done)
      : group_(&g)
      , index_(index)
      , runner_(&runner)
      , progress_(&shown)
      , done_(&done) {}

  void operator()(benchmark::State& state) {
    if (!group_->measured) {
      progress_->at(*done_, group_->what->title());
      runner_->measure(*group_, interrupted);
      *done_ += group_->cases.size();
      progress_->at(*done_, "");
    }
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
  group_runner* runner_;
  progress* progress_;
  std::size_t* done_;
  std::size_t pass_ = 0;
};

inline std::unique_ptr<benchmark::BenchmarkReporter>
make_reporter(const std::string& format, bool console_colour, const nlohmann::ordered_json& context,
              const case_table& cases) {
  if (format == "json") return std::make_unique<json_reporter>(context, cases);
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#endif
  if (format == "csv") return std::make_unique<named<benchmark::CSVReporter>>(cases);
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
  return std::make_unique<named<benchmark::ConsoleReporter>>(
      cases, console_colour ? benchmark::ConsoleReporter::OO_ColorTabular
                            : benchmark::ConsoleReporter::OO_Tabular);
}

inline status run_checked(int argc, char** argv) {
  const options o = parse_options(argc, argv);
  if (o.help) {
    std::fwrite(help_text.data(), 1, help_text.size(), stdout);
    return status::complete;
  }
  const environment e =
      enter_environment(argv, *std::max_element(o.threads.begin(), o.threads.end()));
  if (backend::registered_backends().empty())
    throw error("this program was built without any backend", "", "build it with oneDNN installed");
  library_list libraries;
  for (const auto& [name, make] : backend::registered_backends())
    libraries.push_back(make());

  const std::vector<model::graph> graphs = selected_graphs(o);
  std::vector<group> groups = list_cases(op::registered_layers(), graphs, libraries, o);
  std::size_t cases = 0;
  for (const group& g : groups)
    cases += g.cases.size();
  if (cases == 0)
    throw error("no case is selected", o.filter.empty() ? "" : "--benchmark_filter=" + o.filter,
                "--benchmark_list_tests prints the names of all");
  if (o.list_only) {
    for (const group& g : groups)
      for (const bench_case& c : g.cases)
        std::cout << c.name << '\n';
    return status::complete;
  }

  group_runner runner(last_level_cache_bytes(), o);
  progress shown(o.progress, cases);
  std::size_t done = 0;
  case_table table;
  for (group& g : groups)
    for (std::size_t i = 0; i < g.cases.size(); ++i) {
      table.emplace(g.cases[i].name, &g.cases[i]);
      benchmark::RegisterBenchmark(g.cases[i].name.c_str(), entry(g, i, runner, shown, done))
          ->UseManualTime()
          ->Iterations(1)
          ->Unit(benchmark::kMicrosecond);
    }

  nlohmann::ordered_json context;
  context["schema"] = result::schema_version;
  context["provenance"] = provenance(e, o, libraries);
  context["graphs"] = nlohmann::ordered_json::array();
  for (const model::graph& g : graphs)
    context["graphs"].push_back(result::to_json(g));

  const std::string unfinished = o.out + ".unfinished";
  std::vector<std::string> words{argv[0]};
  words.insert(words.end(), o.passed_on.begin(), o.passed_on.end());
  if (!o.out.empty()) {
    if (std::FILE* f = std::fopen(unfinished.c_str(), "w"); f != nullptr)
      std::fclose(f);
    else
      throw error("cannot be written", o.out, "give a place that can");
    words.push_back("--benchmark_out=" + unfinished);
  }
  std::vector<char*> arguments;
  for (std::string& w : words)
    arguments.push_back(w.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (count > 1) throw error("unknown option \"" + std::string(arguments[1]) + "\"");

  std::signal(SIGINT, [](int) { interrupted = true; });
  const auto display = make_reporter(o.format, isatty(STDOUT_FILENO) != 0, context, table);
  const auto file = o.out.empty() ? nullptr : make_reporter(o.out_format, false, context, table);
  benchmark::RunSpecifiedBenchmarks(display.get(), file.get(), "all");
  benchmark::Shutdown();
  shown.finish();
  if (!o.out.empty()) std::filesystem::rename(unfinished, o.out);

  if (interrupted) return status::interrupted;
  std::size_t failed = 0;
  const bench_case* first = nullptr;
  for (const group& g : groups)
    for (const bench_case& c : g.cases)
      if (!c.results.empty() && !c.results[0].error.empty() && failed++ == 0) first = &c;
  if (failed == 0) return status::complete;
  std::fprintf(stderr, "benanza_bench: %zu of %zu cases failed, the first: %s: %s\n", failed, cases,
               first->name.c_str(), first->results[0].error.c_str());
  return status::partial;
}

} // namespace detail

/// The whole program. Never throws; prints a refusal on one line.
inline int run_program(int argc, char** argv) {
  try {
    return static_cast<int>(detail::run_checked(argc, argv));
  } catch (const std::exception& e) {
    std::fprintf(stderr, "benanza_bench: %s\n", e.what());
    return static_cast<int>(status::refused);
  }
}

} // namespace benanza::measure
