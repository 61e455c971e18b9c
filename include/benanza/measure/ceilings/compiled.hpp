// SPDX-License-Identifier: Apache-2.0
// Where are the ceilings' loops compiled? Wherever this header is included: once in a program, in a
// translation unit of its own that is compiled for the processor (-O3 -march=native).
//
//   #include <benanza/measure/ceilings/compiled.hpp>
//   namespace benanza::measure::ceilings {
//   const kernel_table& kernels() { return compiled_kernels; }
//   }
#pragma once

#include "memory_loops.hpp"
#include "sme_loops.hpp"
#include "sve_loops.hpp"

namespace benanza::measure::ceilings {

namespace detail {
/// One loop a type: of the widest instructions that this processor has.
inline std::span<const loop> widest_loops() {
  static const std::vector<loop> all = [] {
    std::vector<loop> out(std::begin(loops), std::end(loops));
    for (const std::vector<loop>& wider : {sve_loops(), sme_loops()})
      for (const loop& w : wider) {
        std::erase_if(out, [&w](const loop& l) { return l.type == w.type; });
        out.push_back(w);
      }
    return out;
  }();
  return all;
}
} // namespace detail

/// The loops as this translation unit compiles them.
inline const kernel_table compiled_kernels{detail::sweeps, detail::widest_loops()};

} // namespace benanza::measure::ceilings
