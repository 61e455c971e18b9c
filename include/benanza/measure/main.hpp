// SPDX-License-Identifier: Apache-2.0
// The benchmark program: what the three-line main of a generated folder calls. Lists the cases that
// the build's backends offer for the folder's layers, has them measured here or in a worker
// process, through Google Benchmark, and writes the result. Exit status: 0 complete, 1 some cases
// failed, 2 refused, 130 interrupted.
//
//   int main(int argc, char** argv) { return benanza::measure::run(argc, argv); }
#pragma once

#include "../core/version.hpp"
#include "../result/output_file.hpp"
#include "../result/store/version.hpp"
#include "crash_guard.hpp"
#include "entry.hpp"
#include "interrupt.hpp"
#include "last_cache.hpp"
#include "run.hpp"
#include "store_keeper.hpp"
#include "supervisor.hpp"
#include "team.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <unistd.h>

namespace benanza::measure {
namespace detail {

/// Where results are kept while the run lasts; null for nowhere.
inline std::unique_ptr<keeper> make_keeper(const options& o, const result::output_file* out,
                                           const result::run& header) {
  if (!o.campaign.store.empty()) return open_store(o.campaign.store, header);
  if (out == nullptr || !out->regular()) return nullptr;
  return std::make_unique<journal>(o.out + ".unfinished", setting_of(header.provenance),
                                   o.campaign.again == again_mode::everything);
}

inline std::unique_ptr<runner> make_runner(char** argv, const environment& e, const options& o,
                                           group_runner& here) {
  if (!o.campaign.isolated()) return std::make_unique<local_runner>(here);
  widen(e);
  backend::page_store::get().release(); // what this process has tried out; the worker needs it
  return std::make_unique<isolated_runner>(argv, e, o);
}

/// Prints the names of the cases, and what could not be listed on stderr.
inline status print_names(const listing& l) {
  status ended = status::complete;
  for (const group& g : l.groups)
    for (const bench_case& c : g.cases)
      if (c.results.empty()) {
        std::cout << c.name << '\n';
      } else {
        ended = status::partial;
        std::fprintf(stderr, "benanza_bench: not listed, %s: %s\n", c.name.c_str(),
                     c.results[0].error.c_str());
      }
  return ended;
}

/// Says how the run ended, where it did not end well, and gives the exit status.
inline status verdict(const listing& l, const campaign& c, const keeper* k) {
  std::size_t failed = 0, missing = 0;
  const bench_case* first = nullptr;
  for (const group& g : l.groups)
    for (const bench_case& one : g.cases) {
      if (not_measured(one))
        ++missing;
      else if (!one.results[0].error.empty() && failed++ == 0)
        first = &one;
    }
  if (!c.failure().empty()) {
    std::fprintf(stderr, "benanza_bench: %s\n", c.failure().c_str());
    return status::refused;
  }
  if (interrupted) {
    std::fprintf(stderr, "benanza_bench: interrupted, %zu of %zu cases are missing%s\n", missing,
                 l.cases,
                 k == nullptr ? "" : ("; the same command goes on from " + k->place()).c_str());
    return status::interrupted;
  }
  if (failed == 0) return status::complete;
  std::fprintf(stderr, "benanza_bench: %zu of %zu cases failed, the first: %s: %s\n", failed,
               l.cases, first->name.c_str(), first->results[0].error.c_str());
  return status::partial;
}

inline void refuse_cut_off(const std::string& problem, const std::string& place) {
  if (!problem.empty())
    throw error("the result cannot be written: " + problem, place,
                "make room, then give the same command again");
}

/// What --version prints.
inline std::string versions() {
  std::vector<named_version> libraries{{"Google Benchmark", BENANZA_BENCHMARK_VERSION}};
  for (const auto& [name, make] : backend::registered_backends())
    if (const auto facts = make()->facts(); facts.contains("version"))
      libraries.emplace_back(name, facts.at("version"));
  for (const named_version& v : result::store::sqlite_version())
    libraries.push_back(v);
  libraries.emplace_back("nlohmann-json",
                         nlohmann::json::meta()["version"]["string"].get<std::string>());
  return version_text("benanza_bench", libraries);
}

/// Prints how cuDNN describes this machine's GPU.
inline status describe_device() {
  for (const auto& [name, make] : backend::registered_backends())
    if (const std::string text = make()->device_description(); !text.empty()) {
      std::cout << text << '\n';
      return status::complete;
    }
  throw error("no library of this program knows devices", "--describe-device",
              "build it with cuDNN installed");
}

inline status run_checked(int argc, char** argv) {
  options o = parse_options(argc, argv);
  if (o.help) {
    std::cout << help_text << campaign_help_text << benchmark_help_text;
    return status::complete;
  }
  if (o.version || o.list_models) {
    std::cout << (o.version ? versions() : models_table(models_of(o).graphs));
    return status::complete;
  }
  const std::vector<result::plan> plans = read_plans(o);
  const int threads = most_threads(o, plans);
  if (threads > 1 && !has_teams)
    throw error("this program runs on one thread, not on " + std::to_string(threads), "",
                "build one with OpenMP");
  share_models(o);
  const environment e = enter_environment(argv, threads);
  const auto supervisor = worker_link::from_environment();
  o.crashed = crashed_before();
  if (o.describe_device) {
    const crash_guard guard(argv, e);
    return describe_device();
  }
  const std::int64_t second = detail::cache_bytes(2);
  const std::int64_t private_bytes = second > 0 ? second : last_level_cache_bytes();
  const bool cold = std::any_of(o.states.begin(), o.states.end(),
                                [](const std::string& s) { return s == "coldw" || s == "llcw"; });
  const last_cache cache = plans.empty() && cold
                               ? own_last_cache(last_level_cache_bytes(), private_bytes)
                               : last_cache{{}, last_level_cache_bytes()};
  o.own_cache = cache.own;
  o.shares_last_cache = cache.is_shared(last_level_cache_bytes());
  auto guard = supervisor ? nullptr : std::make_unique<crash_guard>(argv, e);
  listing l(o, e, plans);
  guard.reset();
  group_runner here(cache.gone_bytes, o, nullptr, private_bytes,
                    cache.outlasting_bytes(last_level_cache_bytes()));
  if (supervisor) {
    local_runner r(here);
    return static_cast<status>(serve(*supervisor, l.groups, r));
  }
  if (o.list_only) return print_names(l);

  catch_interrupts();
  const int most = *std::max_element(o.threads.begin(), o.threads.end());
  result::run header{.provenance = provenance(e, o, l.libraries), .graphs = l.graphs};
  // A run of a plan belongs to the result that the plan came from, on however many cores.
  if (!plans.empty())
    if (const auto& its = plans.front().provenance.at("machine"); its.contains("cores"))
      header.provenance["machine"]["cores"] = its.at("cores");
  for (const std::string& why : l.left_out) {
    std::string& all = header.provenance["measuring"]["left_out"];
    all += (all.empty() ? "" : "; ") + why;
    // In a terminal a person may wonder where it is; elsewhere a line on stderr is a fault.
    if (isatty(STDERR_FILENO) == 1 && !o.quiet)
      std::fprintf(stderr, "benanza_bench: left out, %s\n", why.c_str());
  }
  if (!o.quiet)
    for (const std::string& why : l.in_f32)
      std::fprintf(stderr, "benanza_bench: measured in f32, %s\n", why.c_str());
  const auto out = o.out.empty() ? nullptr : std::make_unique<result::output_file>(o.out);
  const auto kept = make_keeper(o, out.get(), header);
  if (kept) kept->note(l.without);
  if (l.groups.empty())
    throw error("no backend has an algorithm for the selected layers", l.without.front().name,
                "build it with a backend that has one");
  const auto measuring = make_runner(argv, e, o, here);
  campaign c(*measuring, kept.get(), o, l.groups);
  if (c.recalled() > 0 && !o.quiet)
    std::fprintf(stderr, "benanza_bench: %zu of %zu cases are in %s already\n", c.recalled(),
                 l.cases, kept->place().c_str());
  // Others on the host come and go: what the last cache holds is not the same at both ends of it.
  constexpr std::chrono::seconds long_run{8};
  const auto began = std::chrono::steady_clock::now();
  bool look_again = o.own_cache.known();
  const auto context = [&] {
    if (look_again && !c.stopped() && std::chrono::steady_clock::now() - began >= long_run) {
      look_again = false;
      note_own_cache(header.provenance["measuring"],
                     look_if_possible(last_level_cache_bytes(), private_bytes).own);
    }
    if (c.stopped()) header.provenance["measuring"]["interrupted"] = "yes";
    if (const std::string after = device_condition(l.libraries); !after.empty())
      header.provenance["measuring"][device_condition_after_fact] = after;
    if (const double clock_ns = here.best_clock_ns(most); clock_ns > 0)
      header.provenance["measuring"][clock_fact] = std::to_string(clock_ns);
    const auto [first, best] = here.begin_ratios(most);
    if (std::isfinite(first))
      header.provenance["measuring"][result::begin_fact] = std::to_string(first);
    if (baseline_was_off(first, best))
      header.provenance["measuring"][result::begin_after_fact] = std::to_string(best);
    return result::context_to_json(header);
  };
  const report_problems problems =
      run_benchmarks(argv[0], o, l, c, context, out ? out->written_to() : "");
  c.finish();
  if (c.failure().empty()) {
    refuse_cut_off(problems.file, o.out);
    if (out) out->commit();
    refuse_cut_off(problems.display, "standard output");
  }
  if (kept && !c.stopped()) kept->finish();
  return verdict(l, c, kept.get());
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
