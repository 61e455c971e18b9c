// SPDX-License-Identifier: Apache-2.0
// Which frameworks' runs do the files of --framework hold? Those of one framework are put together:
// its latency, its trace and what it says of its graph may be files of their own. Compiled once, as
// the readers of all formats take long to compile.
//
//   std::vector<trace::profile> runs = read_framework_runs({"ort.json", "openvino.json"});
#pragma once

#include <benanza/trace/profile/profile.hpp>

#include <string>
#include <vector>

namespace benanza::analyzer {

/// The runs that the files hold, a framework each, in the order in which they are named.
std::vector<trace::profile> read_framework_runs(const std::vector<std::string>& files);

} // namespace benanza::analyzer
