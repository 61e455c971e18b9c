// SPDX-License-Identifier: Apache-2.0
// Where are results kept as soon as they exist, and where do earlier ones come from? A keeper: a
// journal next to the output file, or a store. What it keeps survives whatever becomes of the run.
//
//   k->recall(g);   k->keep(g, {0, 2});   k->finish();
#pragma once

#include "runner.hpp"

#include <string>

namespace benanza::measure {

/// Keeps results of a run.
class keeper {
public:
  virtual ~keeper() = default;
  /// Fills in the results of the cases that are kept already.
  virtual void recall(group& g) = 0;
  /// Keeps the results of the cases `which`, durable when it returns. Throws benanza::error where
  /// that cannot be; what was kept before is kept still.
  virtual void keep(const group& g, const case_list& which) = 0;
  /// Keeps rows that say that nothing runs a layer, or that a library could not list its algorithms
  /// for one, where such results have a use; durable too.
  virtual void note(const std::vector<result::measurement>& /*without*/) {}
  /// The run is complete and its output is written.
  virtual void finish() {}
  /// The file, for messages.
  virtual std::string place() const = 0;
};

} // namespace benanza::measure
