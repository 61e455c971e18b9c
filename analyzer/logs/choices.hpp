// SPDX-License-Identifier: Apache-2.0
// What did a framework choose? Each layer of the model with its call and the fastest that was
// measured; then what has no partner: calls that are no layer, layers that no call computed, calls
// that failed.
//
//   to.write(framework_answer(run, choices, false, 10));
#pragma once

#include "../report/tables/page.hpp"

#include <benanza/advice/framework.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

/// Logs compared with a model; for people at most `limit` rows a table.
tables::chapter framework_answer(const result::run& r, const advice::framework_choices& c,
                                 bool partial, std::size_t limit);

} // namespace benanza::report
