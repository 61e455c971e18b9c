// SPDX-License-Identifier: Apache-2.0
// Are the indices that a layer reads inside what they index? Kernels do not look: they would read
// or write elsewhere. Indices that others compute are only known when these have run.
//
//   check_indices(op::parse("Gather/10x7-3"), operands);   // refuses one of 10 or more
#pragma once

#include "../op/kinds.hpp"
#include "number.hpp"
#include "operands.hpp"

namespace benanza::backend {

/// Refuses operands with an index outside.
inline void check_indices(const op::layer& l, const operands& o) {
  const shape bounds = op::visit(
      [](const auto& p) {
        if constexpr (requires { p.index_bounds(); })
          return p.index_bounds();
        else
          return shape{};
      },
      l);
  if (bounds.empty()) return;
  for (const tensor& t : o.inputs) {
    if (t.part != role::index || t.bytes.empty()) continue;
    for (std::int64_t i = 0; i < t.count(); ++i) {
      const double bound = static_cast<double>(bounds[static_cast<int>(i % bounds.size)]);
      const double at = load(t.type, t.bytes.data(), i);
      if (at < -bound || at >= bound)
        throw error("index " + std::to_string(static_cast<std::int64_t>(at)) +
                        " lies outside what it indexes",
                    op::name(l), "give it indices in range");
    }
  }
}

} // namespace benanza::backend
