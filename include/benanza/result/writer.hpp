// SPDX-License-Identifier: Apache-2.0
// How does a run become a result file again? As the document that benanza_bench writes: Google
// Benchmark's schema with our fields, so that its tools and result::read both take it.
//
//   write(std::cout, run);   // {"context": {...}, "benchmarks": [{...}, ...]}
#pragma once

#include "json.hpp"

#include <nlohmann/json.hpp>

#include <ostream>
#include <string>

namespace benanza::result {

/// One entry of "benchmarks".
inline ordered_json entry_of(const measurement& m) {
  ordered_json out{{"name", m.name},        {"run_name", m.name},       {"run_type", "iteration"},
                   {"repetitions", 1},      {"repetition_index", 0},    {"threads", m.threads},
                   {"iterations", m.count}, {"real_time", m.median_ns}, {"cpu_time", m.median_ns},
                   {"time_unit", "ns"}};
  out.update(to_json(m));
  return out;
}

/// Writes the result file of `r`, one entry a line.
inline void write(std::ostream& out, const run& r) {
  const auto text = [](const ordered_json& j) {
    return j.dump(-1, ' ', true, ordered_json::error_handler_t::replace);
  };
  ordered_json context = ordered_json::object();
  if (const auto measuring = r.provenance.find("measuring"); measuring != r.provenance.end())
    if (const auto date = measuring->second.find("date"); date != measuring->second.end())
      context["date"] = date->second;
  context["benanza"] = context_to_json(r);
  out << "{\n\"context\": " << text(context) << ",\n\"benchmarks\": [";
  const char* separator = "\n";
  for (const measurement& m : r.measurements) {
    out << separator << text(entry_of(m));
    separator = ",\n";
  }
  out << "\n]\n}\n";
}

} // namespace benanza::result
