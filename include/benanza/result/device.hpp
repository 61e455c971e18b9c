// SPDX-License-Identifier: Apache-2.0
// On which device did a case run? What a CPU takes and what a GPU takes for a layer are two
// answers: they never compete, and no bound is made of both.
//
//   device_of(measurement) == "gpu";   keep_device(run, "gpu");
#pragma once

#include "fields.hpp"
#include "machine_key.hpp"
#include "own_cache.hpp"
#include "run.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

namespace benanza::result {

inline constexpr std::string_view cpu_device = "cpu", gpu_device = "gpu";

/// The device of a case of a result that does not say it.
inline std::string_view device_of_older(const measurement& m) {
  return m.backend == "cudnn" || m.backend == "cublas" || m.backend == "cuda" ? gpu_device
                                                                              : cpu_device;
}

/// The device of a case.
inline std::string_view device_of(const measurement& m) {
  if (m.device.empty()) return device_of_older(m);
  return m.device == gpu_device ? gpu_device : cpu_device;
}

/// The devices on which layers of a run were measured.
inline std::set<std::string_view> devices(const run& r) {
  std::set<std::string_view> out;
  for (const measurement& m : r.measurements)
    if (of_a_layer(m) && !nothing_runs(m)) out.insert(device_of(m));
  return out;
}

/// The devices whose ceilings a run holds.
inline std::set<std::string_view> ceiling_devices(const run& r) {
  std::set<std::string_view> out;
  for (const measurement& m : r.measurements)
    if (m.family == machine_family) out.insert(device_of(m));
  return out;
}

/// The GPUs by name that a run with cases of one says; empty: it has none.
inline std::set<std::string_view> gpus_of(const run& r) {
  std::set<std::string_view> out;
  const auto software = r.provenance.find("software");
  if (software == r.provenance.end() ||
      std::none_of(r.measurements.begin(), r.measurements.end(),
                   [](const measurement& m) { return device_of(m) == gpu_device; }))
    return out;
  for (const auto& [fact, value] : software->second)
    if (fact.ends_with("_gpu")) out.insert(value);
  return out;
}

/// Leaves only the cases of one device, and what nothing runs; of the machine what belongs to that
/// device, by name.
inline void keep_device(run& r, std::string_view device) {
  std::erase_if(r.measurements,
                [&](const measurement& m) { return device_of(m) != device && !nothing_runs(m); });
  if (device != gpu_device) return;
  auto& machine = r.provenance["machine"];
  machine["cores"] = "1"; // it takes one layer after the other
  for (const char* of_the_host : {"cpu", "l1d_bytes", "l2_bytes", "llc_bytes"})
    machine.erase(of_the_host);
  for (const char* of_the_host : {own_cache_bytes_fact, own_cache_ns_fact})
    r.provenance["measuring"].erase(of_the_host);
  for (const auto& [name, value] : r.provenance["software"]) // facts of a library's device
    for (const char* fact : {"gpu", "l2_bytes"})
      if (name.ends_with(std::string("_") + fact)) machine[fact] = value;
}

} // namespace benanza::result
