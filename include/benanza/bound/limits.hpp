// SPDX-License-Identifier: Apache-2.0
// What can no algorithm beat on this machine? The roofline of a layer: its arithmetic and its bytes
// over ceilings that were measured. A run without ceilings gives no limits, and then a layer that
// was not measured has no time at all. Times in ns.
//
//   limits l = limits_of(run);   if (auto r = l.roofline(layer, numeric::f32, 1, flops)) r->ns ...
#pragma once

#include "roofline.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

namespace benanza::bound {

/// Lower limits of times, as far as a machine's ceilings are known.
struct limits {
  /// Of a layer in a type on some threads, by an algorithm that needs no fewer than so many
  /// operations; nothing: no ceiling is known.
  std::function<std::optional<roof>(const op::layer&, numeric, int threads,
                                    std::int64_t least_flops)>
      of;

  std::optional<roof> roofline(const op::layer& l, numeric type, int threads,
                               std::int64_t least_flops) const {
    return of ? of(l, type, threads, least_flops) : std::nullopt;
  }
};

/// The limits that the ceilings measured in a run set.
inline limits limits_of(const result::run& r) {
  const auto measured = std::make_shared<const ceilings>(r);
  if (measured->empty()) return {};
  return {[measured](const op::layer& l, numeric type, int threads,
                     std::int64_t least_flops) -> std::optional<roof> {
    const roof least = roofline(*measured, l, type, threads, least_flops);
    return least.ns > 0 ? std::optional(least) : std::nullopt;
  }};
}

} // namespace benanza::bound
