// SPDX-License-Identifier: Apache-2.0
// What do people see of a table? The columns that are for them, and rows up to a number, as words.
#pragma once

#include "page.hpp"

#include <string>
#include <vector>

namespace benanza::report::tables {

/// A table as people see it.
struct grid {
  std::vector<const column*> columns{};
  std::vector<std::vector<std::string>> rows{};
  std::string note{}; ///< with how many rows are left out
};

grid grid_of(const table& t);

} // namespace benanza::report::tables
