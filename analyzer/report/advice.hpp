// SPDX-License-Identifier: Apache-2.0
// What is advised of a model, in full? Each change with what it saves, how it is done and by whom,
// on which nodes, the rows it rests on, what it assumes, what it costs, and the command that checks
// it; what is not worth doing; and what was not measured. As text and as JSON.
//
//   std::string text = advice_section(advised, 10);   ordered_json j = advice_json(advised);
#pragma once

#include <benanza/advice/advised.hpp>
#include <benanza/advice/gap.hpp>
#include <benanza/result/json.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

/// The heading of what `by` can do.
std::string part_title(const advice::advised& a, advice::doer by);

/// What the run is called that changes start from.
std::string baseline_name(const advice::advised& a);

/// All advice; at most `limit` names and rows in each list.
std::string advice_section(const advice::advised& a, std::size_t limit);
result::ordered_json gap_json(const advice::factor& f);

/// The same for programs.
result::ordered_json advice_json(const advice::advised& a);

/// A framework's run for programs: bars, operators with their nodes, and what it added.
result::ordered_json framework_run_json(const advice::comparison& c);

} // namespace benanza::report
