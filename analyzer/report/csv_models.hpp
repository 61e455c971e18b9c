// SPDX-License-Identifier: Apache-2.0
// How do several models look as one table? A row for each model and each framework's run of it,
// times in ns, and behind them a row for each geometric mean of the gaps; what is not known is
// empty.
//
//   std::string text = csv_models_report(in);   // model,batch,type,...
#pragma once

#include "input.hpp"

#include <string>

namespace benanza::report {

/// The table over models as CSV.
std::string csv_models_report(const input& in);

} // namespace benanza::report
