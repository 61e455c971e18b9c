// SPDX-License-Identifier: Apache-2.0
// How does CI see which limits are broken? As a JUnit file: a suite a model, a case a limit, and
// one that is skipped, with why, where not all was measured. A limit that is kept by a figure that
// rests on less than it should is skipped too: it is not shown to be kept.
//
//   std::string xml = junit_report(in);
#pragma once

#include "input.hpp"

#include <string>

namespace benanza::report {

/// The limits as a JUnit file.
std::string junit_report(const input& in);

} // namespace benanza::report
