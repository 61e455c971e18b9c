// SPDX-License-Identifier: Apache-2.0
// What do --backends and --types mean where the command line does not say? All that can run, and
// the models' own types, unless this program was built with others (BACKENDS and TYPES of
// benanza_add_benchmarks).
//
//   const defaults set("onednn,host", "f32,bf16");   // before main
#pragma once

#include <string>
#include <string_view>

namespace benanza::bench {

struct defaults {
  std::string backends{}, types{}; ///< as the options take them; empty: unset

  defaults() = default;
  /// Sets those of this program.
  defaults(std::string_view b, std::string_view t)
      : backends(b)
      , types(t) {
    of_program() = *this;
  }

  static defaults& of_program() {
    static defaults set;
    return set;
  }
};

} // namespace benanza::bench
