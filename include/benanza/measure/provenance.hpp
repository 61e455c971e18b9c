// SPDX-License-Identifier: Apache-2.0
// Under which circumstances was it measured? Three tables of facts for the result: `machine` and
// `software`, which two results must share to be merged, and `measuring`. Those of them that a run
// must share with what it goes on from are its setting.
//
//   const run_facts p = provenance(environment, options, libraries);   p.at("machine").at("cpu")
#pragma once

#include "../core/version.hpp"
#include "ceilings/list.hpp"
#include "crowd_probe.hpp"
#include "hand_off_probe.hpp"
#include "journal.hpp"
#include "last_cache.hpp"
#include "layer_subject.hpp"
#include "machine.hpp"
#include "options.hpp"

#include <chrono>
#include <cmath>
#include <ctime>

#ifndef BENANZA_BENCHMARK_VERSION
#define BENANZA_BENCHMARK_VERSION "unknown"
#endif

namespace benanza::measure {

/// Facts by section and name.
using run_facts = run_setting;

/// The local time, as "2026-11-21T11:53:12+0000".
inline std::string iso_date() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  char text[40];
  std::tm parts{};
  localtime_r(&now, &parts);
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S%z", &parts);
  return text;
}

/// The facts of a run's `measuring` section that hold what the device was like, before and after.
inline constexpr const char *device_condition_fact = "device_condition",
                            *device_condition_after_fact = "device_condition_after";

namespace detail {
inline std::string joined(const auto& items, const auto& text) {
  std::string out;
  for (const auto& i : items)
    out += (out.empty() ? "" : ",") + text(i);
  return out;
}
} // namespace detail

/// Adds what one more look has found out about the last cache.
inline void note_own_cache(std::map<std::string, std::string>& measuring,
                           const result::own_cache& c) {
  if (!c.known()) return;
  for (const auto& [fact, value] : {std::pair(result::own_cache_bytes_fact, c.bytes),
                                    std::pair(result::own_cache_ns_fact, c.ns)}) {
    std::string& all = measuring[fact];
    all += (all.empty() ? "" : "; ") + std::to_string(std::llround(value));
  }
}

/// All that is known about a run before it begins.
inline run_facts provenance(const environment& e, const options& o, const library_list& libs) {
  run_facts p;
  p["machine"] = machine_facts(e);
  p["measuring"]["absent_ceilings"] =
      ceilings::absent_ceilings(ceilings::numbers(e.processor_list), libs);
  auto& software = p["software"];
  software["benanza"] = BENANZA_VERSION;
  software["compiler"] = compiler;
  software["benchmark"] = BENANZA_BENCHMARK_VERSION;
  for (const auto& library : libs)
    for (const auto& [key, value] : library->facts()) {
      if (key == "condition") {
        p["measuring"][device_condition_fact] = value;
        continue;
      }
      software[std::string(library->name()) + "_" + key] = value;
      if (key == "instruction_set") p["machine"]["isa"] = value;
    }
  auto& measuring = p["measuring"];
  measuring["date"] = iso_date();
  measuring["revision"] = revision(); // of another one, results are still the same cases
  measuring["threads"] = detail::joined(o.threads, [](int t) { return std::to_string(t); });
  measuring["types"] =
      o.types.empty() ? "own"
                      : detail::joined(o.types, [](numeric t) { return std::string(name(t)); });
  measuring["states"] = detail::joined(o.states, [](const std::string& s) { return s; });
  note_own_cache(measuring, o.own_cache);
  measuring["effort"] = name(o.effort);
  measuring["min_time_s"] = std::to_string(plan_of(o).seconds);
  measuring["repetitions"] = std::to_string(o.repetitions);
  measuring["processors"] = e.processor_list;
  measuring["bound_to"] = e.bound;
  measuring["isolated"] = o.campaign.isolated() ? "yes" : "no";
  if (o.campaign.shards > 1)
    measuring["shard"] = std::to_string(o.campaign.shard) + "/" + std::to_string(o.campaign.shards);
  measuring["load_average"] = load_average();
  for (const auto& [variable, value] : detail::openmp_settings) {
    const char* now = std::getenv(variable);
    measuring[variable] = now != nullptr ? now : "unset";
  }
  const int most = *std::max_element(o.threads.begin(), o.threads.end());
  if (most > 1) measuring[hand_off_fact] = std::to_string(best_hand_off_ns(most));
  const char* allocator = std::getenv(detail::allocator_variable);
  measuring["allocator"] = allocator != nullptr ? allocator : "unset";
  measuring["addresses"] = detail::addresses();
  measuring["transparent_hugepage"] =
      detail::first_line("/sys/kernel/mm/transparent_hugepage/enabled");
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

/// The facts that decide whether results of two starts make one run: not the time of day, nor what
/// is in the names of the cases.
inline run_setting setting_of(run_facts p) {
  for (const char* changing :
       {"date", "load_average", "threads", "types", "states", "bound_to", "shard", "isolated",
        "revision", clock_fact, result::own_cache_bytes_fact, result::own_cache_ns_fact,
        hand_off_fact, result::begin_fact, result::begin_after_fact, device_condition_fact,
        device_condition_after_fact})
    p["measuring"].erase(changing);
  return p;
}

} // namespace benanza::measure
