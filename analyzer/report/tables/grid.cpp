// SPDX-License-Identifier: Apache-2.0
#include "grid.hpp"

#include "../units.hpp"

#include <algorithm>

namespace benanza::report::tables {

grid grid_of(const table& t) {
  grid out{.columns = {}, .rows = {}, .note = t.note};
  for (const column& c : t.columns)
    if (c.for_people()) out.columns.push_back(&c);
  const std::size_t shown_rows = std::min(t.rows.size(), t.shown);
  for (std::size_t r = 0; r < shown_rows; ++r) {
    std::vector<std::string>& row = out.rows.emplace_back();
    for (std::size_t c = 0; c < t.columns.size(); ++c)
      if (t.columns[c].for_people()) row.push_back(shown(t.rows[r].at(c), t.columns[c].in));
  }
  if (shown_rows < t.rows.size())
    out.note += (out.note.empty() ? "" : " ") +
                counted(static_cast<std::int64_t>(t.rows.size() - shown_rows), "more row") + ": " +
                t.all_by + " shows them.";
  return out;
}

} // namespace benanza::report::tables
