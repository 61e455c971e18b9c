// SPDX-License-Identifier: Apache-2.0
// Which analyses are there? The fifteen of across-stack profiling, A1 to A15, and T, the thirds of
// a model. Each is asked for by its name.
//
//   std::vector<std::string> ids = analyses_named("A2,A6");
//   for (const table& t : analyse(ids, all, all[0])) ...
#pragma once

#include "../core/error.hpp"
#include "../core/text.hpp"
#include "of_calls.hpp"
#include "of_layers.hpp"
#include "of_model.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::profile {

struct analysis {
  std::string_view id;
  table (*make)(const std::vector<levelled_run>& all, const levelled_run& r);
};

inline constexpr std::array<analysis, 16> analyses{{
    {"A1", model_information},
    {"A2", [](const auto&, const levelled_run& r) { return layer_table(r); }},
    {"A3", [](const auto&, const levelled_run& r) { return latency_per_layer(r); }},
    {"A4", [](const auto&, const levelled_run& r) { return memory_per_layer(r); }},
    {"A5", [](const auto&, const levelled_run& r) { return count_by_type(r); }},
    {"A6", [](const auto&, const levelled_run& r) { return latency_by_type(r); }},
    {"A7", [](const auto&, const levelled_run& r) { return memory_by_type(r); }},
    {"A8", [](const auto&, const levelled_run& r) { return call_table(r); }},
    {"A9", [](const auto&, const levelled_run& r) { return call_roofline(r); }},
    {"A10", [](const auto&, const levelled_run& r) { return calls_by_name(r); }},
    {"A11", [](const auto&, const levelled_run& r) { return calls_by_layer(r); }},
    {"A12", [](const auto&, const levelled_run& r) { return metrics_by_layer(r); }},
    {"A13", [](const auto&, const levelled_run& r) { return other_time_by_layer(r); }},
    {"A14", [](const auto&, const levelled_run& r) { return layer_roofline(r); }},
    {"A15", [](const auto&, const levelled_run& r) { return calls_by_model(r); }},
    {"T", [](const auto&, const levelled_run& r) { return thirds(r); }},
}};

/// What a person sees first.
inline constexpr std::string_view first_analyses = "A1,T,A6,A10,A15";

/// The names in a list such as "A2,A6", or all; refuses what is none.
inline std::vector<std::string> analyses_named(std::string_view list) {
  std::vector<std::string> out;
  if (list == "all") {
    for (const analysis& a : analyses)
      out.emplace_back(a.id);
    return out;
  }
  for (const std::string_view word : split_at(list, ",")) {
    if (std::none_of(analyses.begin(), analyses.end(),
                     [&](const analysis& a) { return a.id == word; }))
      throw error("there is no analysis called so", "--only " + std::string(word),
                  "they are A1 to A15, T, and all");
    if (std::find(out.begin(), out.end(), word) == out.end()) out.emplace_back(word);
  }
  return out;
}

/// The analyses of a run; `all`: those that it is compared with.
inline std::vector<table> analyse(const std::vector<std::string>& ids,
                                  const std::vector<levelled_run>& all, const levelled_run& r) {
  std::vector<table> out;
  for (const std::string& id : ids)
    for (const analysis& a : analyses)
      if (a.id == id) out.push_back(a.make(all, r));
  return out;
}

} // namespace benanza::profile
