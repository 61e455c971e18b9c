// SPDX-License-Identifier: Apache-2.0
// How do two sides of results compare? One comparison for all commands that ask.
//
//   side_runs a = made("a.json", {result::read_file("a.json")}, ""), b = ...;
//   compare::comparison c = compare::compare(figures_of(a, {}), figures_of(b, {}), {});
#pragma once

#include "../read_results.hpp"
#include "../select.hpp"

#include <benanza/advice/advised.hpp>
#include <benanza/compare/collect.hpp>
#include <benanza/compare/sides.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

/// The runs of a side, and what it is called.
struct side_runs {
  std::string source{};
  std::vector<result::run> visits{};
};

/// Refuses the results of several machines as one side.
inline side_runs made(std::string source, std::vector<result::run> runs,
                      const std::string& device) {
  for (result::run& r : runs) {
    choose_device(r, device);
    std::erase_if(r.graphs, model::is_sequence);
  }
  if (runs.empty()) throw error("there are no results", source, "measure some");
  return {std::move(source), compare::visits_of(std::move(runs))};
}

/// A side with the figures of its models. What a visit lacks that was asked for, another may have.
inline compare::side figures_of(side_runs& from, const selection& wanted) {
  compare::side out{.source = from.source, .visits = {}, .advised = {}};
  std::optional<error> lacks;
  for (result::run& r : from.visits) {
    compare::visit v{.run = &r, .models = {}};
    if (r.graphs.empty()) r.graphs.push_back(loose_layers(r));
    const bound::source source(r);
    try {
      v.models = select(source, wanted);
    } catch (const error& e) {
      lacks = e;
      continue;
    }
    if (&r == &from.visits.back()) {
      const std::vector<bound::model_bound> others = related(source, v.models);
      out.visits.push_back(std::move(v));
      out.advised = advice::advise_all(source, out.visits.back().models, {}, {.others = &others});
      continue;
    }
    out.visits.push_back(std::move(v));
  }
  if (out.visits.empty()) throw lacks.value_or(error("there are no results", from.source));
  return out;
}

} // namespace benanza::analyzer
