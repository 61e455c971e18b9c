// SPDX-License-Identifier: Apache-2.0
// How much of the last-level cache was ours while a run was measured? As the run found it; of runs
// that were put together what they say together.
//
//   own_cache_of(run).gone(footprint_bytes, run_ns)   // the share of a model that has left it
#pragma once

#include "../result/own_cache.hpp"
#include "facts.hpp"

#include <cstdint>
#include <vector>

namespace benanza::bound {

/// Our share of the last-level cache.
inline result::own_cache own_cache_of(const result::run& r) {
  const auto typical = [&r](const char* fact) {
    const std::vector<std::int64_t> found = numbers_of(r, "measuring", fact);
    return result::typical({found.begin(), found.end()});
  };
  return {.bytes = typical(result::own_cache_bytes_fact), .ns = typical(result::own_cache_ns_fact)};
}

} // namespace benanza::bound
