// SPDX-License-Identifier: Apache-2.0
// What can no algorithm beat on this machine? A function that answers for each layer, or nothing
// where no ceiling is known: then a layer that was not measured has no time at all. What ceilings
// make of a layer is in roofline.hpp. Times in ns.
//
//   limits l = limits_of(run);   if (auto r = l.roofline(layer, numeric::f32, 1, flops)) r->ns ...
#pragma once

#include "../../op/layer.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <set>

namespace benanza::bound {

/// The least time of a layer, and what sets it.
struct roof {
  double ns = 0; ///< 0: unknown, the machine was not measured, or nothing is to be done
  bool by_memory = false;
  double clock_ns = 0; ///< of the ceiling: what a chain on registers took; 0: unknown
  /// How many times as fast as in the layer's narrow type arithmetic in f32 is, where it is that.
  double wider_gain = 1;
};

/// A time may lie below its roofline by this much by noise alone.
inline constexpr double roofline_noise = 0.99;

/// Lower limits of times, as far as a machine's ceilings are known.
struct limits {
  /// Of a layer in a type on some threads, by an algorithm that needs no fewer than so many
  /// operations; nothing: no ceiling is known.
  std::function<std::optional<roof>(const op::layer&, numeric, int threads,
                                    std::int64_t least_flops)>
      of;
  /// The most bytes a ns at which a working set of so many bytes was read again and again, on some
  /// threads; 0 or no function: unknown.
  std::function<double(double bytes, int threads)> bytes_read_per_ns{};
  std::set<int> measured_threads{}; ///< numbers of threads on which that was measured

  std::optional<roof> roofline(const op::layer& l, numeric type, int threads,
                               std::int64_t least_flops) const {
    return of ? of(l, type, threads, least_flops) : std::nullopt;
  }
};

} // namespace benanza::bound
