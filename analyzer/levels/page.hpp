// SPDX-License-Identifier: Apache-2.0
// What does a reader see of a profile? For each run a heading with what its events cost, then the
// tables that were asked for, each with what it cannot have, and what columns mean if asked.
// Programs get every row.
//
//   to.write(profile_answer(runs, ids, {.rows = 10}));
#pragma once

#include "../report/tables/page.hpp"

#include <benanza/profile/levelled_run.hpp>
#include <benanza/profile/table.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace benanza::report {

struct profile_page {
  std::size_t rows = 10; ///< of a table; further ones are counted
  bool explain = false;  ///< what each column means
};

/// A name's end says more than its beginning.
std::string cut(std::string text);
std::string heading(const profile::column& c);

/// A chapter a run, with a table an analysis; and what the columns mean.
tables::chapter profile_answer(const std::vector<profile::levelled_run>& runs,
                               const std::vector<std::string>& ids, const profile_page& page);

} // namespace benanza::report
