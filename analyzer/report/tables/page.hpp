// SPDX-License-Identifier: Apache-2.0
// What is an answer made of? Chapters with paragraphs, fields and tables, whose columns say what
// they hold. It is made once; each format writes it in its own way (formats.hpp), and escapes its
// texts, which are as they came.
//
//   table t{.key = "models", .columns = {{"model", "model", unit::name}, {"ns", "time",
//   unit::time}},
//           .rows = {{g.name, 26.3e6}}};
#pragma once

#include <benanza/core/nothing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace benanza::report::tables {

/// What a column or a field holds: a time in ns, an energy in nJ, a share of 1. People read it in
/// the unit that suits it (an amount as 25.6 M), programs as it is.
enum class unit {
  text,
  name,
  flag,
  count,
  amount,
  number,
  time,
  energy,
  bytes,
  share,
  factor,
  rate
};

/// Nothing, words, a truth, a count, a figure, or a list of words. Words in a column of figures are
/// shown as they are.
using cell =
    std::variant<nothing, std::string, bool, std::int64_t, double, std::vector<std::string>>;

/// A figure, or nothing where it is not above zero.
inline cell above_zero(double v) {
  return v > 0 ? cell(v) : cell();
}

/// A cell of any whole number.
template <class Integer>
cell whole(Integer n) {
  return static_cast<std::int64_t>(n);
}

/// A column: by its key for programs, by its title for people. Without a key it is for people
/// alone, with a key and no title for programs alone.
struct column {
  std::string key{}, title{};
  unit in = unit::text;

  bool for_people() const { return key.empty() || !title.empty(); }
  bool for_programs() const { return !key.empty(); }
  bool right() const { return in > unit::flag; } ///< aligned so
};

/// Columns for programs alone.
inline std::vector<column> keys(std::initializer_list<const char*> names) {
  std::vector<column> out;
  for (const char* name : names)
    out.push_back({.key = name});
  return out;
}

struct table {
  std::string key{}, title{}; ///< for programs, tables of one key in a chapter are one
  std::vector<column> columns{};
  std::vector<std::vector<cell>> rows{};                       ///< a cell for each column
  std::string note{};                                          ///< behind the table
  std::size_t shown = std::numeric_limits<std::size_t>::max(); ///< rows for people, at most
  std::string all_by{"--rows all"};                            ///< what shows the others

  /// Without rows, or with columns for programs alone, people do not see it.
  bool for_people() const {
    const auto seen = [](const column& c) { return c.for_people(); };
    return !rows.empty() && std::any_of(columns.begin(), columns.end(), seen);
  }
};

/// A figure that is in no table. People read it in a paragraph.
struct field {
  std::string key{};
  cell is{};
  bool identifies = false; ///< rows of the chapter's tables begin with it where they stand alone
};

/// Words for people.
struct paragraph {
  enum class kind { plain, warning, command };
  std::string label{}, text{};
  kind is = kind::plain;
};

struct chapter {
  std::string key{}; ///< chapters of one key are a list; without one it is of the one around it
  std::string title{};
  bool title_is_name = false; ///< of a model
  bool only_one = false;      ///< it is no list, but itself
  std::vector<field> fields{};
  std::vector<std::variant<paragraph, table>> parts{};
  std::vector<chapter> chapters{};

  void say(std::string text) { parts.emplace_back(paragraph{.text = std::move(text)}); }
  void say(std::string label, std::string text) {
    parts.emplace_back(paragraph{std::move(label), std::move(text)});
  }
  void warn(std::string text) {
    parts.emplace_back(paragraph{{}, std::move(text), paragraph::kind::warning});
  }
  void add(table t) { parts.emplace_back(std::move(t)); }
};

/// What people read of a cell.
std::string shown(const cell& c, unit in);

} // namespace benanza::report::tables
