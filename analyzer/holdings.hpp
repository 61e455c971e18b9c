// SPDX-License-Identifier: Apache-2.0
// What does a result or a store hold (--models)? A row for each model, type and number of threads:
// how many unique layers the model has, fused ones too, of how many there is a time, and how many
// cases were measured and failed.
//
//   std::string text = holdings_text(holdings(run));   // or holdings_json
#pragma once

#include <benanza/bound/cases.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// What is held of a model in one type on some threads.
struct holding {
  const model::graph* graph = nullptr;
  bound::setting in{};
  bool fused = false; ///< the fused form is there too
  std::int64_t layers = 0, timed = 0, cases = 0, failed = 0;
};

/// The settings of each model of `r`; one without a case where the model was not measured.
std::vector<holding> holdings(const result::run& r);

/// The rows as a table; a name that does not fit has a line of its own.
std::string holdings_text(const std::vector<holding>& rows);

/// The rows as JSON text.
std::string holdings_json(const std::vector<holding>& rows);

} // namespace benanza::analyzer
