// SPDX-License-Identifier: Apache-2.0
// What does a result or a store hold (--models)? A row for each model, type and number of threads:
// how many unique layers the model has, fused ones too, of how many there is a time, and how many
// cases were measured and failed.
//
//   to.write(holdings_answer(holdings(run)));
#pragma once

#include "report/tables/page.hpp"

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

report::tables::chapter holdings_answer(const std::vector<holding>& rows);

} // namespace benanza::analyzer
