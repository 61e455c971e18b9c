// SPDX-License-Identifier: Apache-2.0
// What does a reader see of a profile? For each run a heading with what its events cost, then the
// tables that were asked for, each with what it cannot have; as text, with what columns mean if
// asked, and as JSON with all of it.
//
//   std::string page = profile_text(runs, ids, {.rows = 10});   profile_json(runs, ids);
#pragma once

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

/// The page of runs.
std::string profile_text(const std::vector<profile::levelled_run>& runs,
                         const std::vector<std::string>& ids, const profile_page& page);

/// The same as JSON, with every row.
std::string profile_json(const std::vector<profile::levelled_run>& runs,
                         const std::vector<std::string>& ids);

} // namespace benanza::report
