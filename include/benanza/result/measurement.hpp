// SPDX-License-Identifier: Apache-2.0
// What is known of one case of a run? Which case it is, its times, and what else was seen; these
// are a case's fields in the JSON (fields.hpp), next to Google Benchmark's own. Units are in the
// names.
//
//   {"name": "Conv/1x64x56x56-64x3x3-s1-p1/f32/onednn/ref:any/hot/t1", "min_ns": 1234.5, ...}
#pragma once

#include "../core/device_counters.hpp"
#include "../core/device_kernel.hpp"
#include "../core/timed_parts.hpp"

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

namespace benanza::result {

/// What a whole model did in a scenario (measure/scenario/); 0: was no such figure.
struct scenario_figures {
  double percentile = 0;    ///< which one of the latencies
  double percentile_ns = 0; ///< and that
  /// The same in a queue of one server, of the same arrivals and executions.
  double queued_ns = 0;
  double offered_per_s = 0;   ///< queries that came
  double completed_per_s = 0; ///< executions that ended
  /// The load that keeps a limit in such a queue, and its range with other chances of the arrivals.
  double highest_per_s = 0, highest_from_per_s = 0, highest_to_per_s = 0;
  bool operator==(const scenario_figures&) const = default;
};

/// The state of a case that runs a whole model again and again; other states of it are scenarios.
inline constexpr const char *whole_run = "run", *chain_backend = "chain"; ///< and what runs them

/// One case: a layer in one type, by one algorithm, in one cache state, on some threads.
struct measurement {
  std::string name{}; ///< the case's name, for people
  std::string family{}, key{}, type{}, backend{}, algorithm{};
  int algorithm_index = 0; ///< place in the library's own list; 0 is its first choice
  std::string state{};     ///< hot, llcw, coldw or cold; of a model `run`, or a scenario
  int threads = 1;
  std::string device{};  ///< cpu or gpu (result/device.hpp); empty: older results do not say it
  std::string layouts{}; ///< of source, weights and result, as the library names them
  /// Layouts (core/layout.hpp) of the activations read, one each in ONNX order, the last for all
  /// further ones, and of the result; "any": whatever the operands share; empty: of no use to
  /// others.
  std::string operand_layouts{}, result_layout{};
  std::string equivalence{}; ///< only algorithms of equal ones compete; `type` for the exact ones
  std::string fallback{};    ///< "", "ref" (reference loop), "host" (own plain kernel), "old-isa"
  std::string notes{};       ///< what the library says of the algorithm, and how it was timed
  /// What the library itself keeps of the algorithm (cublasLtMatmulAlgo_t), in hexadecimal.
  std::string opaque{};
  double min_ns = 0, p10_ns = 0, median_ns = 0, p90_ns = 0, mad_ns = 0;
  std::vector<double> samples_ns{}; ///< in the order taken, thinned out
  std::int64_t count = 0;           ///< samples taken
  std::string stop_reason{};        ///< one of result/stop_reason.hpp
  std::string disturbed{};          ///< what disturbed the samples, and what to do; empty: nothing
  std::int64_t rejected = 0;        ///< samples thrown away because something disturbed them
  /// The processor's clock directly after the samples, as what a chain on registers took, or a
  /// device's meanwhile, as what 1000 of its cycles took: of the median sample and of the least
  /// one; 0: not known.
  double clock_ns = 0, min_clock_ns = 0;
  /// Of one execution: what all packages of the processor drew, or the whole device, while the case
  /// ran on end, idle power included, times the median; 0: not known.
  double energy_nj = 0;
  std::int64_t workspace_bytes = 0, weight_bytes = 0, pool_bytes = 0;
  double setup_ns = 0;
  double sampling_ns = 0; ///< of wall time for all its samples, thrown away ones too; 0: unknown
  /// Of a run of a whole model its parts (result/parts.hpp); with levels, each with its layer. Of
  /// clients, each one.
  std::vector<timed_part> parts{};
  std::vector<timed_call> calls{}; ///< of a run with the level of calls
  /// Of a run with the level of layers: the names of what was counted of each part in an execution
  /// that was not timed, or why nothing was.
  std::vector<std::string> counters_of_parts{};
  std::string not_counted{};
  double overhead_ns = 0; ///< of a level: what its run took longer than that without it
  /// Of a device, where a profiler looked: the kernels of one execution, in their order.
  std::vector<device_kernel> kernels{};
  device_counters counters{}; ///< and what the device counted of one execution
  scenario_figures scenario{};
  std::int64_t flops = 0;           ///< as a textbook counts them
  std::int64_t algorithm_flops = 0; ///< the algorithm's own arithmetic
  std::int64_t bytes = 0;
  std::string error{}; ///< why the case failed; empty: it did not
};

/// An algorithm that a library has by name and does not offer for a layer.
struct refused_case {
  std::string family{}, key{}, type{}, backend{}, algorithm{};
  std::string why{};
  auto operator<=>(const refused_case&) const = default;
};

} // namespace benanza::result
