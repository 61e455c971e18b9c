// SPDX-License-Identifier: Apache-2.0
// What benanza_bench would have written of a run.
//
//   std::string text = synthetic::text(synthetic::small_run());
#pragma once

#include "synthetic.hpp"

#include <benanza/result/json.hpp>

#include <nlohmann/json.hpp>

#include <string>
#include <utility>

namespace synthetic {

using benanza::result::ordered_json;

/// Google Benchmark's row of a case, with our fields.
inline ordered_json row(const measurement& m) {
  ordered_json out{{"name", m.name},           {"run_name", m.name},      {"run_type", "iteration"},
                   {"repetitions", 1},         {"repetition_index", 0},   {"iterations", 100},
                   {"real_time", m.median_ns}, {"cpu_time", m.median_ns}, {"time_unit", "ns"}};
  out.update(benanza::result::to_json(m));
  return out;
}

/// The document that benanza_bench would have written.
inline ordered_json document(const run& r) {
  ordered_json rows = ordered_json::array();
  for (const measurement& m : r.measurements)
    rows.push_back(row(m));
  return {{"context",
           {{"date", "2024-01-02T03:04:05+00:00"},
            {"num_cpus", 2},
            {"benanza", benanza::result::context_to_json(r)}}},
          {"benchmarks", std::move(rows)}};
}

/// Its text.
inline std::string text(const run& r) {
  return document(r).dump(1);
}

} // namespace synthetic
