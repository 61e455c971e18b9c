// SPDX-License-Identifier: Apache-2.0
// How does a list become an array of JSON?
//
//   array_of(rows, [](const row& r) -> ordered_json { return {r.name, r.ns}; })
#pragma once

#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

namespace benanza::report {

/// An array with what `entry` makes of each of `all`.
template <class All, class Entry>
result::ordered_json array_of(const All& all, Entry entry) {
  result::ordered_json out = result::ordered_json::array();
  for (const auto& one : all)
    out.push_back(entry(one));
  return out;
}

} // namespace benanza::report
