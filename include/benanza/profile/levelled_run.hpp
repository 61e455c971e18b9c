// SPDX-License-Identifier: Apache-2.0
// What is known of one run of a model at all levels of its stack? The model as a whole, its layers,
// and within these the calls of libraries or the kernels of a GPU, ours or a framework's. Each
// level's times come from the run in which it is the deepest one whose events were taken: events of
// a deeper level would be in them. What is not known is empty, and never guessed. Times in ns.
//
//   levelled_run r = ...;   r.model_ns   r.layers[3].ns   r.calls[5].layer == 3
#pragma once

#include "../trace/profile/span.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace benanza::profile {

/// A working set in bytes that no cache holds.
inline constexpr double beyond_caches = 1e12;

/// A call of a library within a layer, or a kernel of a GPU.
struct call {
  std::string name{}, kind{}; ///< "brgconv:avx512_core", "convolution"
  std::string told{};         ///< what the library says of it
  int layer = -1;             ///< that it is in; -1: that is not known
  double ns = 0;
  bool has_ns = true; ///< false: only its name is known
};

/// A layer, as it ran: a node of the model, a change of layout, an operator of a framework.
struct layer {
  std::string name{}, type{}; ///< of the node, and its operator
  std::string what{};         ///< the layer's key, or what is known of its dims
  std::string ran{};          ///< the algorithm or kernel that it was run by
  double ns = 0;
  std::optional<double> begin_ns{};       ///< since the run began; nothing: it was laid out
  std::optional<double> alone_ns{};       ///< the same algorithm, measured alone
  std::optional<double> with_calls_ns{};  ///< in the run with the events of calls
  std::optional<double> flops{}, bytes{}; ///< counted from its dims, not measured
  std::optional<double> result_bytes{}, constant_bytes{}; ///< of results, and of weights
  std::optional<double> roof_ns{};                        ///< its roofline
  bool by_memory = false;                                 ///< that is set by memory
  std::vector<double> counted{}; ///< by the processor, in the order of `counters`
};

/// A run of a model.
struct levelled_run {
  std::string who{};      ///< "benanza", "onnxruntime"
  std::string model{};    ///< its name, without its batch
  std::string graph{};    ///< its full name; of a framework as it says
  std::int64_t batch = 0; ///< 0: not known
  std::string type{}, device{};
  int threads = 0; ///< 0: not known
  double model_ns = 0;
  bool free_of_events = false; ///< `model_ns` is of runs in which no other event was taken
  /// What the events of layers, and of calls, add to a run; nothing: it was not run so.
  std::optional<double> layer_events_ns{}, call_events_ns{};
  std::vector<layer> layers{}; ///< in the order in which they ran
  std::vector<call> calls{};
  std::vector<std::string> counters{}; ///< names of what the processor counted of each layer
  std::string not_counted{};           ///< why it counted nothing; empty: it did
  /// The machine's most, as measured: arithmetic and memory; nothing: it was not.
  std::optional<double> peak_flops_per_ns{}, memory_bytes_per_ns{};
  std::vector<std::string> notes{}; ///< what is odd or missing, a line each
  std::string failed{};             ///< a level that failed, and why; empty: none did
  std::string no_calls{};           ///< why there are none; empty: there are
  bool laid_out = false;            ///< layers have no times at which they began
  std::vector<trace::span> spans{}; ///< one run event by event, as a profiler saw it; may be empty

  double layers_ns() const {
    double sum = 0;
    for (const layer& l : layers)
      sum += l.ns;
    return sum;
  }
  /// The calls of a layer that have a time; nothing: none is known of it.
  std::optional<double> calls_ns(int of) const {
    std::optional<double> sum;
    for (const call& c : calls)
      if (c.layer == of && c.has_ns) sum = sum.value_or(0) + c.ns;
    return sum;
  }
};

} // namespace benanza::profile
