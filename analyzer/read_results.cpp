// SPDX-License-Identifier: Apache-2.0
#include "read_results.hpp"

#include "select.hpp"
#include "store/store_commands.hpp"

#include <benanza/model/sequence.hpp>
#include <benanza/result/backends.hpp>
#include <benanza/result/merge.hpp>
#include <benanza/result/reader.hpp>

#include <algorithm>
#include <istream>
#include <set>
#include <string_view>
#include <utility>

namespace benanza::analyzer {

void check_system(const std::vector<std::string>& files, const std::string& system) {
  if (!system.empty() && std::none_of(files.begin(), files.end(), is_store))
    throw error("--system chooses from a store, and no store was given", system);
}

std::vector<result::run> read_each(const std::vector<std::string>& files, const std::string& system,
                                   const std::string& model, std::istream& in) {
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

result::run put_together(std::vector<result::run> runs, const request& asked) {
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

result::run read_all(const request& asked, std::istream& in) {
  check_system(asked.files, asked.store.system);
  return put_together(read_each(asked.files, asked.store.system, asked.wanted.model, in), asked);
}

void choose_backends(result::run& run, const request& asked) {
  const std::set<std::string_view> known = result::backends(run);
  for (const std::string& b : asked.backends)
    if (std::none_of(known.begin(), known.end(),
                     [&](std::string_view k) { return result::means(b, k); }))
      refuse_choice("nothing was measured of the backend \"" + b + '"', known);
  if (!asked.backends.empty()) result::keep_backends(run, asked.backends);
  if (!asked.plan.empty()) result::leave_out_frameworks(run);
}

void choose_device(result::run& run, const std::string& device, bool of_machine) {
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
  if (!known.contains(device)) refuse_choice("nothing was measured on a " + device, known);
  result::keep_device(run, device);
}

} // namespace benanza::analyzer
