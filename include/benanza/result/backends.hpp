// SPDX-License-Identifier: Apache-2.0
// Whose algorithms compete? All that a run holds, or those of some backends. Besides the libraries
// that benanza_bench calls there may be frameworks, whose own kernels benanza_measure_framework has
// measured: their versions are a section of the provenance. No plan can name them.
//
//   keep_backends(run, {"onednn", "host"});   leave_out_frameworks(run);
#pragma once

#include "fields.hpp"
#include "versions.hpp"

#include <range/v3/algorithm/any_of.hpp>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::result {

inline std::map<std::string, std::string> frameworks_of(const run& r) {
  const auto found = r.provenance.find(frameworks_section);
  return found == r.provenance.end() ? std::map<std::string, std::string>{} : found->second;
}

/// The backends of which a run holds cases of layers.
inline std::set<std::string_view> backends(const run& r) {
  std::set<std::string_view> out;
  for (const measurement& m : r.measurements)
    if (of_a_layer(m) && !nothing_runs(m)) out.insert(m.backend);
  return out;
}

/// Leaves of layers only the cases of these backends, or of all versions of these libraries, and
/// what nothing runs.
inline void keep_backends(run& r, const std::vector<std::string>& wanted) {
  const auto left = [&](std::string_view backend) {
    return ranges::any_of(wanted, [&](const std::string& w) { return means(w, backend); });
  };
  std::erase_if(r.measurements, [&](const measurement& m) {
    return of_a_layer(m) && !nothing_runs(m) && !left(m.backend);
  });
  std::erase_if(r.refused, [&](const auto& x) { return !left(x.backend); });
}

/// Leaves out what frameworks ran.
inline void leave_out_frameworks(run& r) {
  const auto frameworks = frameworks_of(r);
  std::erase_if(r.measurements, [&](const measurement& m) {
    return of_a_layer(m) && frameworks.contains(m.backend);
  });
}

} // namespace benanza::result
