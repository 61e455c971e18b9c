// SPDX-License-Identifier: Apache-2.0
// How do a model's runs look side by side in Perfetto? The bound as one schedule on its workers,
// the chain's run where the result has its parts, with levels or without, and each framework's run:
// a process each, a track a worker. In Perfetto's own format, or as Chrome's trace events.
//
//   std::string bytes = perfetto_report(in);   // open it at ui.perfetto.dev
#pragma once

#include "../report/input.hpp"

#include <string>

namespace benanza::report {

std::string trace_report(const input& in);
std::string perfetto_report(const input& in);

} // namespace benanza::report
