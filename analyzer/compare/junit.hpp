// SPDX-License-Identifier: Apache-2.0
// How does a comparison look in a system that runs tests? A test case a row: SLOWER fails, UNSURE
// is skipped.
//
//   comparison_junit(c)
#pragma once

#include <benanza/compare/rows.hpp>

#include <string>

namespace benanza::report {

std::string comparison_junit(const compare::comparison& c);

} // namespace benanza::report
