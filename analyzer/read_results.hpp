// SPDX-License-Identifier: Apache-2.0
// Which run do the files of a command line hold together? Result files and stores are merged, and
// a layer that several models share has the samples of all; two runs of one model are refused,
// unless --merge asks for that.
#pragma once

#include "request.hpp"

#include <benanza/model/sequence.hpp>
#include <benanza/result/backends.hpp>
#include <benanza/result/device.hpp>
#include <benanza/result/merge.hpp>
#include <benanza/result/reader.hpp>

#include <algorithm>
#include <istream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// Refuses a choice of a system where no file is a store.
inline void check_system(const std::vector<std::string>& files, const std::string& system) {
  if (!system.empty() && std::none_of(files.begin(), files.end(), is_store))
    throw error("--system chooses from a store, and no store was given", system);
}

/// The runs that some files hold: result files, stores (of which `system` chooses), and `in` where
/// one is called "-", or none is named.
inline std::vector<result::run> read_each(const std::vector<std::string>& files,
                                          const std::string& system, const std::string& model,
                                          std::istream& in) {
  std::vector<result::run> runs;
  bool taken = false;
  for (const std::string& f : files.empty() ? std::vector<std::string>{"-"} : files) {
    if (f != "-") {
      runs.push_back(is_store(f) ? read_from_store(f, system, model) : result::read_file(f));
      continue;
    }
    if (std::exchange(taken, true))
      throw error("standard input is named twice", "-", "name it once");
    runs.push_back(result::read(in, "standard input"));
  }
  return runs;
}

/// The run that several are together.
inline result::run put_together(std::vector<result::run> runs, const request& asked) {
  result::tell_versions_apart(runs);
  const result::overlap both = result::overlap_of(runs);
  if (both.again != 0 && !asked.merge)
    throw error(
        "two runs of the same cases, " + std::to_string(both.again) + " of them, such as " +
            both.example,
        both.one + " and " + both.another,
        "compare them: benanza_analyze compare A B; or --merge puts their samples together, and "
        "bounds take the better of both");
  result::run out = result::merge(std::move(runs));
  out.provenance["measuring"].erase(result::planned_fact); // rows represent what is absent
  if (both.cases != 0)
    out.provenance["measuring"][result::merged_cases_fact] = std::to_string(both.cases);
  std::erase_if(out.graphs, model::is_sequence); // compose is about them
  return out;
}

/// The run that all files hold together; without files, standard input.
inline result::run read_all(const request& asked, std::istream& in) {
  check_system(asked.files, asked.store.system);
  return put_together(read_each(asked.files, asked.store.system, asked.wanted.model, in), asked);
}

/// Leaves the cases of the backends that were asked for, if any were. A plan is what benanza_bench
/// runs: no framework is in it.
inline void choose_backends(result::run& run, const request& asked) {
  const std::set<std::string_view> known = result::backends(run);
  for (const std::string& b : asked.backends)
    if (std::none_of(known.begin(), known.end(),
                     [&](std::string_view k) { return result::means(b, k); }))
      detail::refuse_choice("nothing was measured of the backend \"" + b + '"', known);
  if (!asked.backends.empty()) result::keep_backends(run, asked.backends);
  if (!asked.plan.empty()) result::leave_out_frameworks(run);
}

/// Leaves the cases of the device that was asked for, or of the only one there is. For the page of
/// the machine its ceilings count too: of a device that was asked for, or where there is no layer.
inline void choose_device(result::run& run, const std::string& device, bool of_machine = false) {
  std::set<std::string_view> known = result::devices(run);
  if (of_machine && (known.empty() || !device.empty())) known.merge(result::ceiling_devices(run));
  if (device.empty()) {
    if (known.size() > 1)
      throw error("the result holds times of the CPU and of a GPU", run.source,
                  "choose with --device cpu or --device gpu");
    // What was measured of the machine with it may be another device's.
    if (known.size() == 1) result::keep_device(run, *known.begin());
    return;
  }
  if (!known.contains(device)) detail::refuse_choice("nothing was measured on a " + device, known);
  result::keep_device(run, device);
}

} // namespace benanza::analyzer
