// SPDX-License-Identifier: Apache-2.0
// What is an analysis of a profile? A table whose columns say what they are, with lines for what it
// cannot have. A cell that is not known is empty.
//
//   table t{.id = "A6", .title = "Latency by type", .columns = {{"type", "", "..."}}, .rows =
//   {...}};
#pragma once

#include "../core/nothing.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace benanza::profile {

struct column {
  std::string name{}, unit{}; ///< of a time "us", of a share "%"
  std::string meaning{};
};

/// Nothing, a text, a count, or a figure.
using cell = std::variant<nothing, std::string, std::int64_t, double>;

struct table {
  std::string id{}, title{};
  std::vector<column> columns{};
  std::vector<std::vector<cell>> rows{};
  std::vector<std::string> notes{}; ///< what is missing and why, a line each
};

/// A figure where it is known.
template <class Optional>
cell known(const Optional& v, double per = 1) {
  return v ? cell(*v / per) : cell();
}

inline constexpr double us = 1e3, mib = 1048576;

} // namespace benanza::profile
