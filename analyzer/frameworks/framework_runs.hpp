// SPDX-License-Identifier: Apache-2.0
// Which frameworks' runs do the files of --framework hold, and on which machine was each measured?
// Those of one framework and model are put together: its latency, its trace and what it says of its
// graph may be files of their own. Its machine is that whose processor its file names.
//
//   std::vector<trace::profile> runs = read_framework_runs({"ort.json", "openvino.json"});
#pragma once

#include <benanza/result/run.hpp>
#include <benanza/trace/profile/profile.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::analyzer {

/// The runs that the files hold, a framework, model, machine, precision, batch and number of
/// threads each, in the order in which they are named.
std::vector<trace::profile> read_framework_runs(const std::vector<std::string>& files);

/// `AMD EPYC with 2 processors`, of the machine that a framework's run is of.
std::string machine_of(const trace::profile& p);

/// True where a framework's run may be of a result's machine: what both say of it is the same.
bool fits(const trace::profile& p, const result::run& r);

/// The place of the only machine that a framework's run fits. Refuses one that does not say where
/// it was measured, fits none or several.
std::size_t machine_for(const trace::profile& p,
                        const std::vector<std::vector<result::run>>& machines);

/// Warns where a framework's run is of another machine than the result.
void check_machine(trace::profile& p, const result::run& r);

} // namespace benanza::analyzer
