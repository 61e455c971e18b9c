// SPDX-License-Identifier: Apache-2.0
// What is to be measured? Layers of which models, by which libraries, in which types, on how many
// threads, with what in the caches.
//
//   selection s;   s.filter = "Conv";   s.threads = {1, 2};   list_cases(layers, graphs, libraries,
//   s)
#pragma once

#include "../../core/dtype.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace benanza::measure {

struct selection {
  std::string filter{};         ///< of case names (name_filter.hpp); empty: all
  std::string model{};          ///< only layers of models whose names contain it
  std::vector<numeric> types{}; ///< empty: each model's own
  std::vector<int> threads{1};  ///< each number is a case of its own
  std::vector<std::string> states{"hot", "llcw", "coldw"};
  bool states_given = false;   ///< else `llcw` is left out where no model fits the last cache
  std::int64_t llc_bytes = 0;  ///< of the last-level cache, behind a core's own; 0: there is none
  bool all_algorithms = false; ///< also reference loops and outdated instruction sets
  bool proposed = false;       ///< only what each library would try first
  bool quick = false;          ///< of the machine's own cases not those that take longest
  /// Files of layers and of graphs, in place of the models compiled in.
  std::vector<std::string> layer_files{}, graph_files{};
  std::map<std::string, int> crashed{}; ///< what libraries are not asked for, and its signal
};

} // namespace benanza::measure
