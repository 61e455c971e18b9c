// SPDX-License-Identifier: Apache-2.0
// How many new layers did the models of each year bring? Of the zoo's models, whose years are
// known, by their names: how many layers they have, how many of these are unique, how many no model
// of an earlier year has, and how many there are by then.
//
//   report::tables::chapter answer = years_answer(graphs);
#pragma once

#include "../analyzer/report/tables/page.hpp"
#include "zoo/zoo.hpp"

#include <benanza/model/graph.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

/// The models of one year. Views are no layers here.
struct year_row {
  int year = 0;
  std::int64_t models = 0, layers = 0, unique = 0;
  std::int64_t added = 0;  ///< unique ones that no model of an earlier year has
  std::int64_t so_far = 0; ///< of this year's models and all earlier ones
};

/// A row a year, ascending. Models that are none of the zoo's have no year, and are left out.
inline std::vector<year_row> rows_by_year(std::span<const model::graph> graphs) {
  std::map<int, std::vector<const model::graph*>> by_year;
  for (const model::graph& g : graphs)
    if (const int year = zoo::year_of(g.model)) by_year[year].push_back(&g);
  std::vector<year_row> out;
  std::set<std::string> known;
  for (const auto& [year, models] : by_year) {
    year_row r{.year = year, .models = std::ssize(models)};
    std::set<std::string> own;
    for (const model::graph* g : models)
      for (const model::node& n : g->nodes)
        if (const op::layer* l = model::layer_of(*g, n); l != nullptr && !op::is_view(*l)) {
          ++r.layers;
          own.insert(op::name(*l));
        }
    r.unique = std::ssize(own);
    r.added = -std::ssize(known);
    known.merge(own);
    r.so_far = std::ssize(known);
    r.added += r.so_far;
    out.push_back(r);
  }
  return out;
}

inline report::tables::chapter years_answer(std::span<const model::graph> graphs) {
  using report::tables::unit, report::tables::whole;
  report::tables::table years{
      .key = "years",
      .columns = {{"year", "year", unit::count},
                  {"models", "models", unit::count},
                  {"layers", "layers", unit::count},
                  {"unique", "unique", unit::count},
                  {"new", "new", unit::count},
                  {"so_far", "so far", unit::count}},
      .note = "new: unique layers that no model of an earlier year has; views are left out"};
  std::int64_t models = 0;
  for (const year_row& r : rows_by_year(graphs)) {
    years.rows.push_back({whole(r.year), r.models, r.layers, r.unique, r.added, r.so_far});
    models += r.models;
  }
  report::tables::chapter out{.fields = {{"left_out", std::ssize(graphs) - models}}};
  out.add(std::move(years));
  if (models < std::ssize(graphs))
    out.say(fmt::format("left out, as the year is known of the zoo's models alone: {} of {}",
                        std::ssize(graphs) - models, graphs.size()));
  return out;
}

} // namespace benanza::generator
