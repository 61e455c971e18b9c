// SPDX-License-Identifier: Apache-2.0
// Which fields does a measurement have in a result? One list, for the writer and for the reader:
// the name of each field, the member that holds it, and what it is for.
//
//   fields(m, [](std::string_view name, auto& value, field_kind kind) { ... });
#pragma once

#include "measurement.hpp"
#include "parts.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace benanza::result {

/// What a field is for, and so when it may be left out of a result.
enum class field_kind {
  identity, ///< says which case it is: always there
  time,     ///< a failed case has none; all but the deviation are above zero
  fact,     ///< a failed case may lack it
  remark,   ///< left out when empty or zero
};

/// True for fields that are lists of other things than times.
template <class Field>
inline constexpr bool is_list = false;
template <class Entry>
inline constexpr bool is_list<std::vector<Entry>> = !std::is_same_v<Entry, double>;

/// Calls `visit(name, member, kind)` for each field of `m`, in the order in which they are written.
template <class Measurement, class Visit>
void fields(Measurement& m, Visit&& visit) {
  using enum field_kind;
  visit("family", m.family, identity);
  visit("key", m.key, identity);
  visit("type", m.type, identity);
  visit("backend", m.backend, identity);
  visit("algorithm", m.algorithm, identity);
  visit("algorithm_index", m.algorithm_index, fact);
  visit("state", m.state, identity);
  visit("threads", m.threads, identity);
  visit("device", m.device, remark);
  visit("layouts", m.layouts, fact);
  visit("operand_layouts", m.operand_layouts, remark);
  visit("result_layout", m.result_layout, remark);
  visit("equivalence", m.equivalence, fact);
  visit("fallback", m.fallback, remark);
  visit("notes", m.notes, remark);
  visit("opaque", m.opaque, remark);
  visit("min_ns", m.min_ns, time);
  visit("p10_ns", m.p10_ns, time);
  visit("median_ns", m.median_ns, time);
  visit("p90_ns", m.p90_ns, time);
  visit("mad_ns", m.mad_ns, time);
  visit("samples_ns", m.samples_ns, time);
  visit("count", m.count, fact);
  visit("stop_reason", m.stop_reason, fact);
  visit("disturbed", m.disturbed, remark);
  visit("rejected", m.rejected, remark);
  visit("clock_ns", m.clock_ns, remark);
  visit("min_clock_ns", m.min_clock_ns, remark);
  visit("energy_nj", m.energy_nj, remark);
  visit("workspace_bytes", m.workspace_bytes, fact);
  visit("weight_bytes", m.weight_bytes, fact);
  visit("pool_bytes", m.pool_bytes, fact);
  visit("setup_ns", m.setup_ns, fact);
  visit("sampling_ns", m.sampling_ns, remark);
  visit("parts", m.parts, remark);
  visit("calls", m.calls, remark);
  visit("counters_of_parts", m.counters_of_parts, remark);
  visit("not_counted", m.not_counted, remark);
  visit("overhead_ns", m.overhead_ns, remark);
  visit("kernels", m.kernels, remark);
  visit("tensor_pipe_percent", m.counters.tensor_pipe_percent, remark);
  visit("dram_read_bytes", m.counters.dram_read_bytes, remark);
  visit("dram_written_bytes", m.counters.dram_written_bytes, remark);
  visit("active_cycles", m.counters.active_cycles, remark);
  visit("percentile", m.scenario.percentile, remark);
  visit("percentile_ns", m.scenario.percentile_ns, remark);
  visit("queued_ns", m.scenario.queued_ns, remark);
  visit("offered_per_s", m.scenario.offered_per_s, remark);
  visit("completed_per_s", m.scenario.completed_per_s, remark);
  visit("highest_per_s", m.scenario.highest_per_s, remark);
  visit("highest_from_per_s", m.scenario.highest_from_per_s, remark);
  visit("highest_to_per_s", m.scenario.highest_to_per_s, remark);
  visit("flops", m.flops, fact);
  visit("algorithm_flops", m.algorithm_flops, fact);
  visit("bytes", m.bytes, fact);
}

/// No time is longer, in ns: eleven days. Sums of any number of them are finite.
inline constexpr double longest_ns = 1e15;

/// And no time above zero is shorter: light moves 0.3 mm in it. Only a deviation, and what is zero
/// where it is not known, may be shorter.
inline constexpr double shortest_ns = 1e-3;

/// True for what a time (or an energy) of a result can be; `zero` says whether it may be zero.
inline bool possible_ns(double v, bool zero) {
  return v <= longest_ns && v >= (zero ? 0 : shortest_ns);
}

/// No package of a processor and no GPU takes more, in W; a result with more is refused.
inline constexpr double most_watts = 2000;

/// True for an energy that is possible in the time of the same execution; zero: it is not known.
inline bool possible_energy(const measurement& m) {
  return m.energy_nj == 0 || (m.median_ns > 0 && m.energy_nj <= most_watts * m.median_ns);
}

/// A field of `m` that holds a number that no time or count can be; empty: none does. What is not
/// known is zero.
inline std::string_view impossible_field(const measurement& m) {
  std::string_view out;
  fields(m, [&](std::string_view name, const auto& value, field_kind) {
    using type = std::decay_t<decltype(value)>;
    bool fine = true;
    if constexpr (std::is_same_v<type, double>)
      fine = possible_ns(value, true);
    else if constexpr (std::is_integral_v<type>)
      fine = value >= 0;
    else if constexpr (std::is_same_v<type, std::vector<double>>)
      fine =
          std::all_of(value.begin(), value.end(), [](double v) { return possible_ns(v, false); });
    else if constexpr (requires { value.front().ns; })
      fine = std::all_of(value.begin(), value.end(),
                         [](const auto& one) { // only kernels may take no time
                           return possible_ns(one.ns,
                                              std::is_same_v<type, std::vector<device_kernel>>);
                         });
    if (!fine) out = name;
  });
  if (out.empty() && !possible_energy(m)) out = "energy_nj";
  return out;
}

/// True for a case that times a layer (fused ones and reorders too), and not a sequence of them, a
/// whole model or the machine.
inline bool of_a_layer(const measurement& m) {
  return m.family != "machine" && m.family != "model" && m.family != "sequence";
}

/// True for a case that is a scenario of a whole model.
inline bool of_a_scenario(const measurement& m) {
  return m.family == "model" && m.backend == chain_backend && m.state != whole_run;
}

/// True for a case that runs a whole model again and again, without events within it.
inline bool of_a_whole_run(const measurement& m) {
  return m.family == "model" && m.backend == chain_backend && m.state == whole_run &&
         !of_a_level(m.algorithm);
}

/// The algorithm and state of a row that is no case, as its library could not say what it has for
/// the layer; and the backend too, where nothing runs the layer.
inline constexpr std::string_view nothing_name = "none";

/// True for a row that says, by its error, that no backend has an algorithm for a layer.
inline bool nothing_runs(const measurement& m) {
  return m.backend == nothing_name;
}

/// What makes two entries the same case: the fields that its name is made of.
inline auto identity(const measurement& m) {
  return std::tie(m.family, m.key, m.type, m.backend, m.algorithm, m.state, m.threads);
}

} // namespace benanza::result
