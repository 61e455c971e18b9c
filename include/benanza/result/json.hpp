// SPDX-License-Identifier: Apache-2.0
// How do graphs and measurements look as JSON? A graph's layers are [family, key] pairs, its nodes
// [name, operator, layer, [operands], problem?, [parts]?] rows (operands: -1 an input, -2 a
// constant); a measurement is its fields under their own names. Used by the benchmark's reporter to
// write and by the reader to read, so that both agree. What does not fit is refused with its place.
//
//   ordered_json j = to_json(graph);                     // context.benanza.graphs[i]
//   graph g = graph_from_json(j, "run.json, graph 0");
#pragma once

#include "run.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace benanza::result {

using nlohmann::json;
using nlohmann::ordered_json;

/// A graph as the context of a result holds it.
ordered_json to_json(const model::graph& g);

/// A measurement's fields under their own names; a failed one has Google Benchmark's
/// error_occurred and error_message in place of times.
ordered_json to_json(const measurement& m);

/// The lists of a measurement, and back; what never was a kernel has name and time alone.
ordered_json to_json(const std::vector<device_kernel>& kernels);
ordered_json to_json(const std::vector<timed_part>& parts);
ordered_json to_json(const std::vector<timed_call>& calls);
ordered_json to_json(const std::vector<std::string>& names);
void from_json(std::vector<device_kernel>& to, const json& from, const std::string& where);
void from_json(std::vector<timed_part>& to, const json& from, const std::string& where);
void from_json(std::vector<timed_call>& to, const json& from, const std::string& where);
void from_json(std::vector<std::string>& to, const json& from, const std::string& where);

/// The object under context.benanza: schema, provenance and graphs of `r`.
ordered_json context_to_json(const run& r);

/// The measurement of one entry of "benchmarks"; refuses one that lacks a field or holds what no
/// field can hold. Only the fields that say which case it is are asked of a failed one.
measurement measurement_from_json(const json& entry, const std::string& source);

/// The graph of one entry of context.benanza.graphs; refuses indices that point nowhere and inputs
/// that do not come before the node that reads them, and so every cycle.
model::graph graph_from_json(const json& j, const std::string& source);

} // namespace benanza::result

#ifndef BENANZA_COMPILED_RESULT
#include "json_forms.hpp"
#endif
