// SPDX-License-Identifier: Apache-2.0
// Under which circumstances was it measured? Three tables of facts for the result: `machine` and
// `software`, which two results must share to be merged, and `measuring`. Those of them that a run
// must share with what it goes on from are its setting.
//
//   const run_facts p = provenance(environment, options, libraries);   p.at("machine").at("cpu")
#pragma once

#include "../core/text.hpp"
#include "../core/version.hpp"
#include "../machine/facts.hpp"
#include "../machine/package_energy.hpp"
#include "../measure/cache/llc_share.hpp"
#include "../measure/campaign/journal.hpp"
#include "../measure/ceilings/list.hpp"
#include "../measure/noise/hand_off_probe.hpp"
#include "../measure/sampling/energy.hpp"
#include "../measure/subjects/layer_subject.hpp"
#include "../result/store/identity.hpp"
#include "options.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <iterator>
#include <range/v3/view/transform.hpp>
#include <string_view>

#ifndef BENANZA_BENCHMARK_VERSION
#define BENANZA_BENCHMARK_VERSION "unknown"
#endif

namespace benanza::bench {

/// Facts by section and name.
using run_facts = run_setting;

/// Now, as "2026-11-21T11:53:12+0000", in UTC (result/date.hpp).
inline std::string iso_date() {
  const std::time_t now = std::time(nullptr);
  char text[40];
  std::tm parts{};
  gmtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S+0000", &parts);
  return text;
}

/// The facts of a run's `measuring` section that hold which device it was, what it was like, before
/// and after, and what was found when its cache was emptied and its clock read.
inline constexpr const char *device_uuid_fact = "device_uuid",
                            *device_condition_fact = "device_condition",
                            *device_condition_after_fact = "device_condition_after",
                            *device_flush_fact = "device_l2_flush",
                            *device_clock_fact = "device_sm_clock";
/// True for such of a library's facts: of the card and the moment, another one of its kind will do.
inline bool of_the_card(std::string_view fact) {
  return fact == "condition" || fact == "uuid" || fact == "l2_flush" || fact == "sm_clock";
}

/// Adds what one more measurement has found out about our share of the last-level cache.
inline void note_own_cache(std::map<std::string, std::string>& measuring,
                           const result::own_cache& c) {
  if (!c.known()) return;
  for (const auto& [fact, value] : {std::pair(result::own_cache_bytes_fact, c.bytes),
                                    std::pair(result::own_cache_ns_fact, c.ns)}) {
    std::string& all = measuring[fact];
    all += (all.empty() ? "" : "; ") + std::to_string(std::llround(value));
  }
}

/// All that is known about a run before it begins; what is measured for it is noted later.
inline run_facts provenance(const machine::environment& e, const options& o,
                            const library_list& libs) {
  run_facts p;
  p["machine"] = machine::machine_facts(e);
  p["measuring"]["absent_ceilings"] = ceilings::absent_ceilings(ceilings::numbers(e.processor_list),
                                                                libs, o.all_algorithms, o.filter);
  auto& software = p["software"];
  software["benanza"] = BENANZA_VERSION;
  software["compiler"] = compiler;
  software["kernel"] = machine::kernel();
  software["benchmark"] = BENANZA_BENCHMARK_VERSION;
  for (const auto& library : libs)
    for (const auto& [key, value] : library->facts()) {
      if (of_the_card(key)) {
        p["measuring"]["device_" + key] = value;
        continue;
      }
      software[std::string(library->name()) + "_" + key] = value;
    }
  auto& measuring = p["measuring"];
  measuring["date"] = iso_date();
  measuring["revision"] = revision(); // of another one, results are still the same cases
  measuring["threads"] = join(o.threads, ",");
  measuring["types"] =
      o.types.empty()
          ? "own"
          : join(o.types | ranges::views::transform([](numeric t) { return name(t); }), ",");
  measuring["states"] = join(o.states, ",");
  if (!o.graph_files.empty()) // the commands of a page have to name them
    measuring[result::graphs_fact] = join(o.graph_files, result::between_facts);
  measuring["effort"] = name(o.effort);
  measuring["min_time_s"] = std::to_string(plan_of(o).seconds);
  if (const std::string changed = o.parameters.changed(); !changed.empty())
    measuring["parameters"] = changed;
  measuring["repetitions"] = std::to_string(o.repetitions);
  measuring["processors"] = e.processor_list;
  measuring["bound_to"] = e.bound;
  measuring["isolated"] = o.campaign.isolated() ? "yes" : "no";
  if (o.campaign.shards > 1)
    measuring["shard"] = std::to_string(o.campaign.shard) + "/" + std::to_string(o.campaign.shards);
  measuring["load_average"] = machine::load_average();
  measuring["microcode"] = machine::microcode();
  for (const auto& [variable, value] : machine::detail::openmp_settings) {
    const char* now = std::getenv(variable);
    measuring[variable] = now != nullptr ? now : "unset";
  }
  const char* allocator = std::getenv(machine::detail::allocator_variable);
  measuring["allocator"] = allocator != nullptr ? allocator : "unset";
  measuring["addresses"] = machine::detail::addresses();
  measuring["transparent_hugepage"] =
      machine::detail::first_line("/sys/kernel/mm/transparent_hugepage/enabled");
  return p;
}

/// What the device is like now, as its library says it; empty where there is none, or it is lost.
inline std::string device_condition(const library_list& libs) {
  for (const auto& library : libs)
    if (library->on_device() && library->unavailable().empty()) try {
        if (const auto all = library->facts(); all.contains("condition"))
          return all.at("condition");
      } catch (const std::exception&) {
        return {};
      }
  return {};
}

/// Why cases have no energy that are sampled for a shorter time than its counter needs; empty: they
/// are not.
inline std::string too_short_for_energy(const sampling_request& o, double step_ns) {
  const double has_s = plan_of(o).seconds, needs_s = on_end_ns(step_ns) / 1e9;
  if (has_s >= needs_s) return {};
  char text[120];
  std::snprintf(text, sizeof text,
                "none: cases are sampled for %.3g s, and the counter needs %.3g s: "
                "--benchmark_min_time=%.3g",
                has_s, needs_s, needs_s);
  return text;
}

/// Whose energy the cases of a processor have, or why they have none.
inline std::string energy_of_packages(const sampling_request& o,
                                      const machine::package_energy& packages) {
  if (!packages.why_not().empty()) return "none: " + packages.why_not();
  const std::string why = too_short_for_energy(o, machine::package_energy::step_ns);
  if (!why.empty()) return why;
  return packages.packages() == 1
             ? "of the processor's package (RAPL)"
             : "of " + std::to_string(packages.packages()) + " packages of the processor (RAPL)";
}

/// The same of a device, whose condition says whether its energy is known.
inline std::string energy_of_devices(const sampling_request& o) {
  const std::string why = too_short_for_energy(o, device_energy_step_ns);
  return why.empty() ? "of the whole GPU (NVML), where it tells it" : why;
}

/// The facts that decide whether results of two starts make one run: not the time of day, nor what
/// is in the names of the cases; and for cases of devices alone no facts of the host.
inline run_setting setting_of(run_facts p, bool devices_alone = false) {
  if (devices_alone) {
    p.erase("machine");
    std::erase_if(p["measuring"], [](const auto& fact) {
      static constexpr std::string_view of_devices[] = {"effort", "min_time_s", "parameters",
                                                        "repetitions"};
      return std::find(std::begin(of_devices), std::end(of_devices), fact.first) ==
             std::end(of_devices);
    });
  }
  for (const char* changing : {"date",
                               "load_average",
                               "threads",
                               "types",
                               "states",
                               "bound_to",
                               "shard",
                               result::planned_fact,
                               result::store::by_fact,
                               "isolated",
                               "revision",
                               "absent_ceilings",
                               clock_fact,
                               result::own_cache_bytes_fact,
                               result::own_cache_ns_fact,
                               hand_off_fact,
                               result::begin_fact,
                               result::begin_after_fact,
                               device_condition_fact,
                               device_condition_after_fact,
                               device_uuid_fact,
                               device_flush_fact,
                               device_clock_fact,
                               result::kernels_fact,
                               result::energy_fact})
    p["measuring"].erase(changing);
  return p;
}

} // namespace benanza::bench
