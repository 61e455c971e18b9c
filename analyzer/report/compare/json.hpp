// SPDX-License-Identifier: Apache-2.0
// What does a program read of a comparison? All of it, with fixed names: changes and shares are of
// 1, times in ns at `clock_ns` where `at_one_clock` says so.
//
//   {"schema": 1, "verdict": "SLOWER", "models": [{"subject": "resnet50@batch=1", "what": "bound",
//    "change": 0.051, "low": 0.031, "high": 0.07, "verdict": "SLOWER", ...}], "layers": [...], ...}
#pragma once

#include <benanza/compare/rows.hpp>

#include <string>

namespace benanza::report {

/// The comparison as JSON text.
std::string comparison_json(const compare::comparison& c);

} // namespace benanza::report
