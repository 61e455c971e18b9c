// SPDX-License-Identifier: Apache-2.0
// How does a person read what a framework chose? Each layer of the model with its call and, below,
// the fastest that was measured; then what has no partner: calls that are no layer, layers that no
// call computed, calls that failed. 80 columns.
//
//   std::string page = framework_page(run, choices, 10);
#pragma once

#include <benanza/advice/framework.hpp>

#include <cstddef>
#include <string>

namespace benanza::report {

/// The page of logs compared with a model; `limit` is the most rows that a table has.
std::string framework_page(const result::run& r, const advice::framework_choices& c,
                           std::size_t limit);

} // namespace benanza::report
