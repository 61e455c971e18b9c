// SPDX-License-Identifier: Apache-2.0
// How is an answer written? Each format writes all answers, by one function.
//
//   std::string page = text_of(answer);
//   for (const auto& [name, rows] : csv_of(answer)) ...   // a file a table
#pragma once

#include "page.hpp"

#include <string>
#include <utility>
#include <vector>

namespace benanza::report::tables {

std::string text_of(const chapter& answer);
std::string markdown_of(const chapter& answer);
std::string latex_of(const chapter& answer);

/// An object: fields, tables as arrays of objects, and chapters within.
std::string json_of(const chapter& answer);

/// The tables, each with its name. A list of chapters is a table too, where their fields say more
/// than which they are. Rows begin with what identifies the chapters that they are of.
std::vector<std::pair<std::string, std::string>> csv_of(const chapter& answer);

} // namespace benanza::report::tables
