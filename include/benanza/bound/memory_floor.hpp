// SPDX-License-Identifier: Apache-2.0
// How long does a run take at least because of what it must read? Nothing in a run makes its
// weights and the keys and values of earlier tokens, and each run reads all of them again. Together
// they are a working set, and no working set of that size is read faster than the machine was
// measured to read it, with as much as the caches hold staying there from run to run. Layers that
// are measured alone find theirs in a cache: the sum of their times can be far lower. Times in ns.
//
//   memory_floor f = floor_of(graph, numeric::f32, 1, machine);   f.bytes() / f.ns   // GB/s
#pragma once

#include "../model/graph.hpp"
#include "../result/run.hpp"
#include "ceilings/limits.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace benanza::bound {

/// Neighbours on the same memory come and go for minutes: a machine may read by so much faster than
/// when its limits were measured.
inline constexpr double reads_faster = 1.1;

/// What a run must read that nothing in it makes, and how long that takes at least.
struct memory_floor {
  std::int64_t weight_bytes = 0; ///< each weight once, as small as the file or the type has it
  std::int64_t cache_bytes = 0;  ///< keys and values of earlier tokens
  double rate = 0;               ///< bytes a ns that were read on the model's threads; 0: unknown
  double ns = 0;                 ///< on these threads; 0: unknown
  double all_threads_ns = 0;     ///< on all cores; 0: their rate is unknown

  std::int64_t bytes() const { return weight_bytes + cache_bytes; }
};

namespace detail {
/// Bytes of `stored` in a type that may be narrower than that of the file, never more.
inline std::int64_t in_type(std::int64_t stored, numeric own, numeric t) {
  const std::int64_t from = size_bytes(dtype::real, own), to = size_bytes(dtype::real, t);
  return to < from ? stored / from * to : stored;
}

/// Weights that the nodes of `g` read in type `t`, by what their layers cost.
inline std::int64_t weights_by_layers(const model::graph& g, numeric t) {
  std::int64_t sum = 0;
  const std::vector<std::int64_t> uses = model::counts(g);
  for (std::size_t i = 0; i < g.layers.size(); ++i)
    sum = capped_add(sum, capped_multiply(uses[i], op::cost(g.layers[i]).constant_bytes(t)));
  return sum;
}
} // namespace detail

/// The fastest that any layer of a run read weights that were in no cache, on some threads: memory
/// was at least as fast then, whatever the ceilings found at another time.
inline double fastest_cold_weights(const result::run& r, int threads) {
  constexpr std::int64_t enough = std::int64_t{8}
                                  << 20; // a call and the operands are no part of it
  double rate = 0;
  for (const result::measurement& m : r.measurements)
    if (m.threads == threads && m.state == "coldw" && m.weight_bytes >= enough && m.min_ns > 0 &&
        m.error.empty())
      rate = std::max(rate, static_cast<double>(m.weight_bytes) / m.min_ns);
  return rate;
}

/// The floor of a model's graph in a type on some threads of a machine with so many cores (0:
/// unknown), where weights were read at `seen_rate` at least.
inline memory_floor floor_of(const model::graph& g, numeric t, int threads, const limits& machine,
                             std::int64_t cores, double seen_rate = 0) {
  memory_floor out{.weight_bytes = std::min(detail::in_type(g.streamed_weight_bytes, g.type, t),
                                            detail::weights_by_layers(g, t)),
                   .cache_bytes = detail::in_type(g.cache.bytes, g.type, t)};
  const auto bytes = static_cast<double>(out.bytes());
  if (!machine.bytes_read_per_ns || out.bytes() == 0) return out;
  out.rate = machine.bytes_read_per_ns(bytes, threads);
  if (out.rate > 0) {
    out.rate = std::max(out.rate, seen_rate);
    out.ns = bytes / (reads_faster * out.rate);
  }
  if (cores <= 0 || machine.measured_threads.empty() || *machine.measured_threads.rbegin() < cores)
    return out;
  double fastest = seen_rate;
  for (const int n : machine.measured_threads)
    fastest = std::max(fastest, machine.bytes_read_per_ns(bytes, n));
  out.all_threads_ns = fastest > 0 ? bytes / (reads_faster * fastest) : 0;
  return out;
}

} // namespace benanza::bound
