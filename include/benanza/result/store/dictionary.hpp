// SPDX-License-Identifier: Apache-2.0
// Which number does a text have that many results share? Each such text (a layer, a setting, a
// variant ...) has one row in a table of its own, and rows refer to it by its number. A dictionary
// remembers the numbers that it gave; they are to be forgotten when a transaction was undone.
//
//   dictionary layers(c, "layer", {"family", "key"});   layers.of({"Relu", "1x64x56x56"})   // 17
#pragma once

#include "../../core/text.hpp"
#include "connection.hpp"

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::result::store {

/// The numbers of the rows of a table that `Columns` texts identify.
template <std::size_t Columns>
class dictionary {
public:
  using texts = std::array<std::string_view, Columns>;

  dictionary(const connection& c, std::string_view table, const texts& columns)
      : select_(c, select_text(table, columns))
      , insert_(c, insert_text(table, columns)) {}

  /// The number of these texts; nothing where the table lacks them.
  std::optional<std::int64_t> find(const texts& values) {
    const std::string joined = text_of(values);
    if (const auto known = known_.find(joined); known != known_.end()) return known->second;
    bind(select_, values);
    std::optional<std::int64_t> id;
    select_.first([&](const statement& row) { id = row.integer(0); });
    if (id) known_.emplace(joined, *id);
    return id;
  }

  /// The number of these texts, which are added where the table lacks them. Another program may be
  /// faster.
  std::int64_t of(const texts& values) {
    std::optional<std::int64_t> id = find(values);
    if (id) return *id;
    bind(insert_, values);
    insert_.first([&](const statement& row) { id = row.integer(0); });
    if (!id) id = find(values);
    if (!id) throw undone("two programs add the same texts at once");
    known_.emplace(text_of(values), *id);
    return *id;
  }

  /// Forgets the numbers, for an undone transaction takes those back that it gave.
  void forget() { known_.clear(); }

private:
  static std::string text_of(const texts& values) {
    return join(values, std::string_view("\0", 1));
  }
  static void bind(statement& s, const texts& values) {
    std::apply([&](const auto&... v) { s.with(v...); }, values);
  }
  static std::string select_text(std::string_view table, const texts& columns) {
    return "SELECT id FROM " + std::string(table) + " WHERE " + join(columns, " = ? AND ") + " = ?";
  }
  static std::string insert_text(std::string_view table, const texts& columns) {
    return "INSERT INTO " + std::string(table) + " (" + join(columns, ", ") + ") VALUES (" +
           join(std::vector<std::string_view>(Columns, "?"), ", ") +
           ") ON CONFLICT DO NOTHING RETURNING id";
  }

  statement select_, insert_;
  std::unordered_map<std::string, std::int64_t> known_;
};

} // namespace benanza::result::store
