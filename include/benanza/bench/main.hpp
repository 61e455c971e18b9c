// SPDX-License-Identifier: Apache-2.0
// The benchmark program: what the three-line main of a generated folder calls. Lists the cases that
// the build's backends offer for the folder's layers, has them measured here or in a worker
// process, through Google Benchmark, and writes the result. Exit status: 0 complete, 1 some cases
// failed, 2 refused, 130 interrupted.
//
//   int main(int argc, char** argv) { return benanza::bench::run(argc, argv); }
#pragma once

#include "../core/stopwatch.hpp"
#include "../core/version.hpp"
#include "../machine/facts.hpp"
#include "../machine/own_program.hpp"
#include "../machine/team.hpp"
#include "../measure/cache/llc_share.hpp"
#include "../measure/campaign/kept_ceilings.hpp"
#include "../measure/campaign/kernel_look.hpp"
#include "../measure/campaign/kernel_pass.hpp"
#include "../measure/campaign/store_keeper.hpp"
#include "../measure/campaign/supervisor.hpp"
#include "../measure/process/crash_guard.hpp"
#include "../measure/process/interrupt.hpp"
#include "../result/output_file.hpp"
#include "../result/store/identity.hpp"
#include "../result/store/version.hpp"
#include "command_line.hpp"
#include "experiment.hpp"
#include "google_benchmark.hpp"
#include "level_lines.hpp"
#include "printed.hpp"
#include "run.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <set>
#include <string_view>
#include <unistd.h>

namespace benanza::bench {
namespace detail {

/// True where each case runs on a device.
inline bool devices_alone(const listing& l) {
  std::set<std::string_view> devices;
  for (const auto& library : l.libraries)
    if (library->on_device()) devices.insert(library->name());
  return std::all_of(l.groups.begin(), l.groups.end(), [&](const group& g) {
    return std::all_of(g.cases.begin(), g.cases.end(),
                       [&](const bench_case& c) { return devices.contains(c.backend); });
  });
}

/// Where results are kept while the run lasts; null for nowhere.
inline std::unique_ptr<keeper> make_keeper(const options& o, const result::output_file* out,
                                           const result::run& header, const listing& l) {
  if (!o.campaign.store.empty()) return open_store(o.campaign.store, header);
  if (out == nullptr || !out->regular()) return nullptr;
  return std::make_unique<journal>(o.out + ".unfinished",
                                   setting_of(header.provenance, devices_alone(l)),
                                   o.campaign.again == again_mode::everything);
}

inline std::unique_ptr<runner> make_runner(char** argv, const machine::environment& e,
                                           const options& o, group_runner& here) {
  if (!o.campaign.isolated()) return std::make_unique<local_runner>(here);
  machine::widen(e);
  machine::page_store::get().release(); // what this process has tried out; the worker needs it
  return std::make_unique<isolated_runner>(argv, e, o.parameters, o.campaign.case_timeout_s);
}

/// What looks at the kernels of a device; null: nothing does. `fact` gets the profiler, or why
/// there is none.
inline std::unique_ptr<kernel_pass> make_kernel_pass(char** argv, const machine::environment& e,
                                                     const options& o, const listing& l,
                                                     std::string& fact) {
  const kernel_choice whose = o.campaign.kernels.value_or(kernel_choice::winners);
  if (whose == kernel_choice::none || o.campaign.dry_run || !o.campaign.on_device) return nullptr;
  std::string why = "no profiler of the device is known";
  for (const auto& library : l.libraries)
    if (backend::device_library* devices = library->own_devices()) try {
        fact = devices->profiler();
        return std::make_unique<kernel_pass>(argv, e, o.parameters, o.campaign.case_timeout_s,
                                             whose, fact);
      } catch (const std::exception& failure) {
        why = failure.what();
      }
  fact = "not seen: " + why;
  if (o.campaign.kernels) // it was asked for
    std::fprintf(stderr, "benanza_bench: kernels are not seen: %s\n", why.c_str());
  return nullptr;
}

/// Our share of the last-level cache, as this process or the one that started it has measured it;
/// if it is not to be `probed`, and was not, all of it.
inline llc_share share_of_llc(std::int64_t reported_bytes, std::int64_t private_bytes,
                              bool probed) {
  constexpr const char* variable = "BENANZA_LAST_CACHE";
  if (const auto known = parse_llc_share(std::getenv(variable))) return *known;
  if (!probed) return {{}, reported_bytes};
  const llc_share found = probe_llc_if_possible(reported_bytes, private_bytes);
  setenv(variable, to_text(found).c_str(), 1); // a worker process must sweep alike
  return found;
}

/// The caches of this machine, and what of the last one is ours.
struct known_caches {
  std::int64_t reported_bytes = machine::last_level_cache_bytes();
  std::int64_t private_bytes = 0;
  llc_share share{};

  known_caches() {
    const std::int64_t second = machine::detail::cache_bytes(2);
    private_bytes = second > 0 ? second : reported_bytes;
  }
  /// Measures our share, which takes a second or more, if `probed`.
  void find_share(bool probed) { share = share_of_llc(reported_bytes, private_bytes, probed); }
  cache_sizes sizes() const {
    return {share.gone_bytes, private_bytes, share.outlasting_bytes(reported_bytes)};
  }
};

/// What a result says of its run, before anything is measured.
inline result::run header_of(const options& o, const machine::environment& e, const listing& l,
                             const std::vector<result::plan>& plans, const known_caches& caches) {
  result::run header{.provenance = provenance(e, o, l.libraries), .graphs = l.graphs};
  auto& measuring = header.provenance["measuring"];
  note_own_cache(measuring, caches.share.own);
  measuring[result::planned_fact] = result::planned_text(l.planned);
  if (!o.by.empty()) measuring[result::store::by_fact] = o.by;
  const int most = *std::max_element(o.threads.begin(), o.threads.end());
  if (most > 1) measuring[hand_off_fact] = std::to_string(best_hand_off_ns(most));
  // A run of a plan belongs to the result that the plan came from, on however many cores; a plan of
  // a GPU does not depend on them.
  if (!plans.empty())
    if (const auto& its = plans.front().provenance.at("machine");
        its.contains("cores") && !its.contains("gpu"))
      header.provenance["machine"]["cores"] = its.at("cores");
  if (!l.left_out.empty()) measuring["left_out"] = join(l.left_out, "; ");
  return header;
}

/// Adds what was found out about the machine while it was measured.
inline void note_seen(std::map<std::string, std::string>& measuring, const machine_seen& s,
                      const parameters& p) {
  if (s.clock_ns > 0) measuring[clock_fact] = std::to_string(s.clock_ns);
  if (std::isfinite(s.calibrated_nop_ratio))
    measuring[result::begin_fact] = std::to_string(s.calibrated_nop_ratio);
  if (calibration_was_disturbed(s.calibrated_nop_ratio, s.best_nop_ratio, p))
    measuring[result::begin_after_fact] = std::to_string(s.best_nop_ratio);
}

/// Measures what is not kept yet, and writes the result.
inline status measure_and_report(char** argv, const options& o, const machine::environment& e,
                                 listing& l, result::run header, const known_caches& caches,
                                 group_runner& here) {
  if (machine::is_emulated())
    std::fputs("benanza_bench: an emulator runs this program: its times mean nothing\n", stderr);
  std::string kernels;
  const auto pass = make_kernel_pass(argv, e, o, l, kernels);
  if (!kernels.empty()) header.provenance["measuring"][result::kernels_fact] = kernels;
  const auto out = o.out.empty() ? nullptr : std::make_unique<result::output_file>(o.out);
  const auto kept = make_keeper(o, out.get(), header, l);
  if (kept) kept->note(l.without);
  if (l.groups.empty())
    throw error("no backend has an algorithm for the selected layers", l.without.front().name,
                "build it with a backend that has one");
  const auto measuring = make_runner(argv, e, o, here);
  // Ceilings with other thresholds, or of a dry run, are not kept for other runs.
  const auto ceilings = o.campaign.dry_run || !o.parameters.changed().empty()
                            ? nullptr
                            : with_kept_ceilings(kept.get(), header);
  campaign c(*measuring, ceilings ? ceilings.get() : kept.get(), o.campaign, o, l.groups,
             pass.get());
  const std::size_t of_machine = ceilings ? ceilings->recalled() : 0;
  if (c.recalled() > of_machine && !o.quiet)
    say_recalled(c.recalled() - of_machine, l.cases, kept->place());
  if (of_machine > 0) {
    header.provenance["measuring"][kept_ceilings_fact] =
        std::to_string(of_machine) + " cases, since " + ceilings->since();
    if (!o.quiet) say_kept_ceilings(of_machine, ceilings->since());
  }

  const stopwatch timer;
  bool probe_again = caches.share.own.known();
  const auto context = [&] {
    auto& facts = header.provenance["measuring"];
    // Others on the host come and go: our share of the cache is not the same at both ends of a run.
    constexpr double long_run_s = 8;
    if (std::exchange(probe_again, false) && !c.stopped() && timer.seconds() >= long_run_s)
      note_own_cache(facts, probe_llc_if_possible(caches.reported_bytes, caches.private_bytes).own);
    if (c.stopped()) facts["interrupted"] = "yes";
    if (pass) facts[result::kernels_fact] = pass->told();
    if (const std::string after = device_condition(l.libraries); !after.empty())
      facts[device_condition_after_fact] = after;
    note_seen(facts, measuring->seen(*std::max_element(o.threads.begin(), o.threads.end())),
              o.parameters);
    return result::context_to_json(header);
  };
  const report_problems problems =
      run_benchmarks(argv[0], o, l, c, context, out ? out->written_to() : "");
  c.finish();
  if (!o.quiet)
    for (const std::string& line : level_lines(l.groups))
      std::fprintf(stderr, "benanza_bench: %s\n", printable(line).c_str());
  if (c.failure().empty()) {
    refuse_cut_off(problems.file, o.out);
    if (out && !c.stopped()) out->commit(); // what is left of a stopped run is its journal
    refuse_cut_off(problems.display, "standard output");
  }
  if (kept && !c.stopped()) kept->finish();
  return verdict(l, c, kept.get(), out && out->regular() ? o.out : "");
}

/// True where the weights of a case are to come from somewhere else than a core's own caches.
inline bool needs_llc(const std::vector<group>& groups) {
  const auto cold = [](const bench_case& c) { return c.state == "coldw" || c.state == "llcw"; };
  return std::any_of(groups.begin(), groups.end(), [&](const group& g) {
    return std::any_of(g.cases.begin(), g.cases.end(), cold);
  });
}

inline status run_checked(int argc, char** argv) {
  options o = parse_options(argc, argv);
  take_experiment(o);
  if (const auto text = printed_without_cases(o)) {
    std::cout << *text;
    return status::complete;
  }
  const std::vector<result::plan> plans = read_plans(o.plans);
  const int threads = most_threads(o.threads, plans);
  if (threads > 1 && !machine::has_teams)
    throw error("this program runs on one thread, not on " + std::to_string(threads), "",
                "build one with OpenMP");
  share_models(o);
  const machine::environment e = machine::enter_environment(argv, threads);
  if (const auto client = load::client_link::from_environment()) {
    std::vector<std::string> left_out;
    return static_cast<status>(load::serve_client(*client,
                                                  plans.at(static_cast<std::size_t>(client->plan)),
                                                  selected_libraries(o, left_out)));
  }
  const auto supervisor = worker_link::from_environment();
  o.crashed = crashed_before();
  auto guard = supervisor ? nullptr : std::make_unique<crash_guard>(argv, e);
  if (o.describe_device) return describe_device();

  const bool names_only = o.list_only && !supervisor;
  known_caches caches;
  if (caches.reported_bytes > caches.private_bytes) o.llc_bytes = caches.reported_bytes;
  std::vector<result::refused_case> refused;
  if (o.refused && names_only) tell_reasons();
  if (o.refused && !names_only && !supervisor)
    refused = refusals_apart([&] { return listing(o, e, plans); });
  listing l(o, e, plans);
  guard.reset();
  if (names_only) return print_names(l, o);
  caches.find_share(plans.empty() && needs_llc(l.groups));
  machine::package_energy packages;
  group_runner here(caches.sizes(), o, nullptr, &packages);
  if (supervisor) {
    local_runner r(here);
    return static_cast<status>(serve(*supervisor, l.groups, r, {{"kernels", answer_kernels}}));
  }
  o.campaign.on_device =
      std::any_of(l.libraries.begin(), l.libraries.end(), [](const auto& library) {
        return library->on_device() && library->unavailable().empty();
      });
  catch_interrupts();
  say_left_out(l, o.quiet);
  result::run header = header_of(o, e, l, plans, caches);
  header.provenance["measuring"][result::energy_fact] =
      devices_alone(l) ? energy_of_devices(o) : energy_of_packages(o, packages);
  check_experiment(o, l.graphs, header.provenance);
  if (!o.experiment_out.empty()) {
    write_experiment(o, l.graphs, header.provenance);
    return status::complete;
  }
  header.refused = std::move(refused);
  say_flush(header, o.quiet);
  return measure_and_report(argv, o, e, l, std::move(header), caches, here);
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

} // namespace benanza::bench
