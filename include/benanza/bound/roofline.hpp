// SPDX-License-Identifier: Apache-2.0
// How fast could a layer run on this machine, whatever the algorithm? No faster than its least
// arithmetic at the machine's measured peak of that type, or of f32 where that is higher than one
// of 16 bits, or of that to which frameworks round its operands, and no faster than its operands
// move at the best rate measured for a working set of their size. Nothing may beat that: what does
// is a fault of the measuring, and is named; at a higher clock than the ceilings' own they hold for
// less. Times in ns.
//
//   roof r = roofline(ceilings(run), layer, numeric::f32, 1, least_flops);   r.ns, r.by_memory
//   limits l = limits_of(run);
//   for (const std::string& fault : ceiling_faults(run, ceilings(run))) ...
#pragma once

#include "../result/fields.hpp"
#include "ceilings/ceilings.hpp"
#include "ceilings/limits.hpp"
#include "clock.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::bound {

/// The roofline of a layer that needs `least_flops` at least, by whichever equivalent algorithm.
/// Unknown where the arithmetic of the type (for a layer that has any) or the bandwidth was not
/// measured on so many threads.
inline roof roofline(const ceilings& c, const op::layer& layer, numeric type, int threads,
                     std::int64_t least_flops) {
  if (op::is_view(layer)) return {};
  auto [arithmetic, wider_gain] = c.fastest_arithmetic(op::computes_in(layer, type), threads);
  double peak_rate = c.peak_flops_per_ns(arithmetic, threads);
  const numeric rounded = op::may_round_to(layer, type);
  if (const double its = c.peak_flops_per_ns(rounded, threads); its > peak_rate) {
    arithmetic = rounded;
    peak_rate = its;
  }
  const auto bytes = static_cast<double>(op::least_bytes(layer, type));
  const double rate = c.bytes_per_ns(bytes, threads);
  if (!(rate > 0) || (least_flops > 0 && !(peak_rate > 0))) return {};
  const double memory_ns = bytes / rate;
  const double arithmetic_ns = least_flops > 0 ? static_cast<double>(least_flops) / peak_rate : 0;
  if (memory_ns > arithmetic_ns) return {memory_ns, true, c.bandwidth_clock_ns(threads)};
  return {arithmetic_ns, false, c.peak_clock_ns(arithmetic, threads), wider_gain};
}

/// The limits that the ceilings measured in a run set.
inline limits limits_of(const result::run& r) {
  const auto measured = std::make_shared<const ceilings>(r);
  if (measured->empty()) return {};
  return {.of = [measured](const op::layer& l, numeric type, int threads,
                           std::int64_t least_flops) -> std::optional<roof> {
            const roof least = roofline(*measured, l, type, threads, least_flops);
            return least.ns > 0 ? std::optional(least) : std::nullopt;
          },
          .bytes_read_per_ns =
              [measured](double bytes, int threads) {
                return measured->bytes_read_per_ns(bytes, threads);
              },
          .measured_threads = measured->threads()};
}

namespace detail {
inline std::string fault_text(const std::string& what, double ns, const char* limit, double least) {
  char numbers[96];
  std::snprintf(numbers, sizeof numbers, ": %.4g us is below %s of %.4g us", ns / 1e3, limit,
                least / 1e3);
  return what + numbers;
}
} // namespace detail

/// What beats the ceilings, each by name: algorithms whose own arithmetic would run above the peak,
/// and layers whose best time lies below their roofline. Only hot minima of algorithms that compute
/// exactly the layer in its type are held to them.
inline std::vector<std::string> ceiling_faults(const result::run& r, const ceilings& c) {
  struct best {
    const result::measurement* fastest = nullptr;
    std::int64_t least_flops = 0;
  };
  std::map<std::tuple<std::string, std::string, int>, best> layers;
  std::vector<std::string> faults;
  for (const result::measurement& m : r.measurements) {
    if (!result::of_a_layer(m) || !m.error.empty() || m.state != "hot" || m.equivalence != m.type)
      continue;
    const auto type = parse_numeric(m.type);
    if (!type || !(m.min_ns > 0)) continue;
    const numeric arithmetic = op::computes_in(op::parse(m.family, m.key), *type);
    const double peak_rate = c.peak_flops_per_ns(arithmetic, m.threads);
    if (peak_rate > 0) {
      const double least = static_cast<double>(m.algorithm_flops) / peak_rate *
                           at_higher_clock(c.peak_clock_ns(arithmetic, m.threads), m.min_clock_ns);
      if (m.min_ns < roofline_noise * least) {
        faults.push_back(
            detail::fault_text(m.name, m.min_ns, "its own arithmetic at the peak", least));
        continue;
      }
    }
    best& b = layers[{m.family + '/' + m.key, m.type, m.threads}];
    b.least_flops =
        b.fastest == nullptr ? m.algorithm_flops : std::min(b.least_flops, m.algorithm_flops);
    if (b.fastest == nullptr || m.min_ns < b.fastest->min_ns) b.fastest = &m;
  }
  for (const auto& [where, b] : layers) {
    const auto& [layer, type, threads] = where;
    const roof least = roofline(c, op::parse(layer), *parse_numeric(type), threads, b.least_flops);
    const double ns = least.ns * at_higher_clock(least.clock_ns, b.fastest->min_clock_ns);
    if (b.fastest->min_ns < roofline_noise * ns)
      faults.push_back(detail::fault_text(b.fastest->name, b.fastest->min_ns,
                                          least.by_memory ? "its memory roofline" : "its roofline",
                                          ns));
  }
  return faults;
}

} // namespace benanza::bound
