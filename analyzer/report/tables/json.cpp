// SPDX-License-Identifier: Apache-2.0
#include "formats.hpp"

#include <benanza/result/json.hpp>
#include <nlohmann/json.hpp>

#include <type_traits>

namespace benanza::report::tables {

namespace {
using result::ordered_json;

ordered_json value_of(const cell& c) {
  return std::visit(
      []<class T>(const T& v) {
        if constexpr (std::is_same_v<T, nothing>)
          return ordered_json();
        else
          return ordered_json(v);
      },
      c);
}

void add_rows(const table& t, ordered_json& out) {
  for (const std::vector<cell>& row : t.rows) {
    ordered_json one = ordered_json::object();
    for (std::size_t c = 0; c < t.columns.size(); ++c)
      if (t.columns[c].for_programs()) one[t.columns[c].key] = value_of(row.at(c));
    out.push_back(std::move(one));
  }
}

/// What a chapter holds; without a key it is of the one around it.
void add_chapter(const chapter& c, ordered_json& out) {
  for (const field& f : c.fields)
    out[f.key] = value_of(f.is);
  for (const auto& part : c.parts)
    if (const auto* t = std::get_if<table>(&part); t != nullptr && !t->key.empty())
      add_rows(*t, out.emplace(t->key, ordered_json::array()).first.value());
  for (const chapter& within : c.chapters) {
    if (within.key.empty()) {
      add_chapter(within, out);
      continue;
    }
    ordered_json its = ordered_json::object();
    add_chapter(within, its);
    if (within.only_one)
      out[within.key] = std::move(its);
    else
      out[within.key].push_back(std::move(its));
  }
}
} // namespace

std::string json_of(const chapter& answer) {
  ordered_json out = ordered_json::object();
  add_chapter(answer, out);
  return out.dump(1, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

} // namespace benanza::report::tables
