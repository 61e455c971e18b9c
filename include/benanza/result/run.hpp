// SPDX-License-Identifier: Apache-2.0
// What does a run of the benchmark say? The provenance of the figures, the graphs of the models,
// and one measurement a case. The JSON is Google Benchmark's, with these fields added under
// context.benanza.
//
//   {"context": {..., "benanza": {"schema": 1, "provenance": {...}, "graphs": [...]}},
//    "benchmarks": [{"name": "Conv/1x64x56x56-64x3x3-s1-p1/f32/onednn/ref:any/hot/t1", ...}]}
#pragma once

#include "../model/graph.hpp"
#include "measurement.hpp"

#include <map>
#include <string>
#include <vector>

namespace benanza::result {

inline constexpr int schema_version = 1;

/// Everything that one run says.
struct run {
  std::string source{}; ///< the file it came from, for messages
  /// Sections `machine`, `software` and `measuring`, each a table of facts as text.
  std::map<std::string, std::map<std::string, std::string>> provenance;
  std::vector<model::graph> graphs{};
  std::vector<measurement> measurements{};
  std::vector<refused_case> refused{}; ///< where they were asked for
};

/// The facts of a run's `measuring` section that say how slowly a core began instructions when it
/// was calibrated; and at its best later, if that is so much faster that the calibration was
/// disturbed.
inline constexpr const char *begin_fact = "begin_ratio", *begin_after_fact = "begin_ratio_after";

/// The fact of a run's `measuring` section that says which profiler saw the kernels, or why none
/// did.
inline constexpr const char* kernels_fact = "kernels";

/// The fact of a run's `measuring` section that names the files of its models, as its command line
/// did; and what is between several of them.
inline constexpr const char *graphs_fact = "graphs", *between_facts = "; ";

/// The fact of a run's `measuring` section that says whose energy its cases have, or why none.
inline constexpr const char* energy_fact = "energy";

/// The sections that say on what a run was measured; the first must agree before two are merged.
inline constexpr const char *machine_section = "machine", *software_section = "software";
inline constexpr const char* identity_sections[] = {machine_section, software_section};

} // namespace benanza::result
