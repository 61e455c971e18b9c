// SPDX-License-Identifier: Apache-2.0
// Where are the ceilings' loops compiled? Wherever this header is included: once in a program, in a
// translation unit of its own that is compiled for the processor (-O3 -march=native).
//
//   #include <benanza/measure/ceilings/compiled.hpp>
//   namespace benanza::measure::ceilings {
//   const kernel_table& kernels() { return compiled_kernels; }
//   }
#pragma once

#include "arithmetic_loops.hpp"
#include "memory_loops.hpp"

namespace benanza::measure::ceilings {

/// The loops as this translation unit compiles them.
inline constexpr kernel_table compiled_kernels{detail::sweeps, detail::loops};

} // namespace benanza::measure::ceilings
