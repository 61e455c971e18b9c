// SPDX-License-Identifier: Apache-2.0
// What did a framework run, and how long did each of its operators take? One value for what all
// profilers write: the operators in the order in which they ran, each with its time in every
// profiled run, and what the framework says of the model's nodes that it represents. A profiler
// slows a model down, so the times of operators are never added up to that of the model:
// `latency_ns` are runs without one. Times in ns.
//
//   profile p = read_profile_file("ort.json");   p.operators[3].type   // "Conv"
#pragma once

#include "../../core/shape.hpp"
#include "span.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace benanza::trace {

/// A tensor that an operator reads or makes, as far as the profile says.
struct profiled_tensor {
  std::string type{}; ///< "f32", or as the framework calls a type of its own; empty: not known
  std::optional<shape> dims{}; ///< nothing: not known
  bool operator==(const profiled_tensor&) const = default;
};

/// One operator of a framework's own graph.
struct profiled_operator {
  std::string name{};      ///< as the framework calls it; not always unique
  std::string type{};      ///< its operator: "Conv", "ReorderOutput", "FusedMatMul"
  std::string kernel{};    ///< what ran it: "brgconv_avx512_f32", a tactic; empty: not known
  std::string precision{}; ///< in which it computed: "f32", "bf16"; empty: not known
  /// Nodes of the ONNX file that it represents, where the framework says so.
  std::vector<std::string> stands_for{};
  /// Tensors that it makes, as the ONNX file calls them, where that is known.
  std::vector<std::string> makes{};
  std::vector<profiled_tensor> operands{}, results{};
  /// A time for each run after the first one, which is cold; for that where there is no other,
  /// which a warning says. One that did not run in a run has 0.
  std::vector<double> ns{};
  bool operator==(const profiled_operator&) const = default;
};

/// An operator that does nothing, as measure_framework times it: what the profiler says of it, and
/// what one more of it takes in runs without the profiler. On average.
struct empty_operator_times {
  double profiled_ns = 0, ns = 0;
  bool operator==(const empty_operator_times&) const = default;
};

/// What is known of a framework's runs of one model.
struct profile {
  std::string source{};    ///< the files
  std::string format{};    ///< "ONNX Runtime's profile"
  std::string framework{}; ///< "onnxruntime", "openvino", "llamacpp"; empty: not known
  std::string version{};
  std::string device{};        ///< "cpu" or "gpu"; empty: not known
  std::string model{};         ///< the file's name, without its folder and ending; empty: not known
  std::string structure{};     ///< hash of that file's (onnx/structure.hpp); empty: not known
  std::string precision{};     ///< that was asked for or found: "f32"; empty: not known
  std::string processor{};     ///< "AMD EPYC"; empty: not known
  std::int64_t processors = 0; ///< that its machine has; 0: not known
  int threads = 0;             ///< 0: not known
  std::int64_t batch = 0;      ///< 0: not known
  std::map<std::string, std::int64_t> dims{};    ///< that were said of symbolic ones
  std::map<std::string, std::string> settings{}; ///< of the framework, that somebody chose
  std::vector<profiled_operator> operators{};    ///< in the order in which they ran
  std::vector<double> latency_ns{};  ///< whole runs without a profiler, in the order measured
  std::vector<double> profiled_ns{}; ///< whole runs with it, without the first
  double step_ns = 0;                ///< times of operators are whole ones of these, cut; 0: not so
  std::optional<empty_operator_times> empty_operator{}; ///< nothing: not measured
  double first_ns = 0; ///< the first profiled run, which is cold; 0: not known
  /// One run event by event, the one of median length, where the file says when events began; the
  /// model first. With parents (span.hpp).
  std::vector<span> spans{};
  std::optional<bool> overlapping{};   ///< operators ran at the same time; nothing: not known
  std::vector<std::string> warnings{}; ///< what is missing or was mended, a line each
};

} // namespace benanza::trace
