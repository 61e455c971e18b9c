// SPDX-License-Identifier: Apache-2.0
// What does a file of benanza_measure_framework say? Whole runs without a profiler, the traces of
// the framework's profiler, as it wrote them, and the graph that it made of the model.
//
//   profile p = read_framework_file(value, "ort.json");   p.latency_ns   p.operators
#pragma once

#include "ggml_nodes.hpp"
#include "join.hpp"
#include "onnxruntime.hpp"
#include "openvino.hpp"
#include "openvino_graph.hpp"
#include "optimized_graph.hpp"
#include "pytorch.hpp"

namespace benanza::trace {

inline constexpr std::string_view framework_schema = "benanza-framework";
inline constexpr std::int64_t framework_schema_version = 3;

namespace detail {
inline constexpr std::string_view record_framework = "write one with benanza_measure_framework";

inline std::vector<graph_node> graph_nodes_in(const json& graph, const char* key) {
  std::vector<graph_node> out;
  const json* all = member(graph, key);
  if (all == nullptr || !all->is_array()) return out;
  for (const json& one : *all)
    out.push_back({.name = text_in(one, "name"),
                   .type = text_in(one, "type"),
                   .inputs = texts_in(one, "inputs"),
                   .outputs = texts_in(one, "outputs"),
                   .originals = texts_in(one, "originals"),
                   .activation = text_in(one, "activation")});
  return out;
}

/// The operators of the graph in the file, with the nodes that they stand for.
inline std::vector<profiled_operator> framework_operators(const json& value) {
  const json* graph = member(value, "graph");
  if (graph == nullptr) return {};
  return operators_of({.inputs = texts_in(*graph, "inputs"),
                       .nodes = graph_nodes_in(*graph, "nodes"),
                       .operators = graph_nodes_in(*graph, "operators")});
}

/// One of the file's traces.
inline profile framework_trace(const json& trace, const std::vector<profiled_operator>& operators,
                               const std::string& source) {
  const std::string format = text_in(trace, "format");
  const json *value = member(trace, "json"), *text = member(trace, "text");
  if (format == "onnxruntime-profile") {
    if (value != nullptr) return read_onnxruntime_value(*value, source);
    // What is no valid JSON can only be kept as a text.
    if (text != nullptr && text->is_string())
      return read_onnxruntime(text->get_ref<const std::string&>(), source);
  }
  if (format == "pytorch-trace" && value != nullptr) { // each module ran in a range of its name
    std::set<std::string> names;
    for (const profiled_operator& o : operators)
      names.insert(o.name);
    return read_pytorch_value(*value, source, std::move(names));
  }
  if (format == "openvino-profiling" && value != nullptr)
    return read_openvino_profiling(*value, source);
  if (format == "openvino-exec-graph" && text != nullptr && text->is_string())
    return read_openvino_graph(text->get_ref<const std::string&>(), source);
  if (format == "ggml-nodes" && value != nullptr) return read_ggml_nodes(*value, source);
  throw error("a trace is of the format " + (format.empty() ? "\"\"" : format) +
                  ", or not as that is kept",
              source, record_framework);
}
} // namespace detail

/// The profile of a file that was parsed already.
inline profile read_framework_file(const nlohmann::json& value, const std::string& source) {
  using namespace detail;
  if (text_in(value, "schema") != framework_schema)
    throw error("this is no file of measure_framework", source, record_framework);
  const auto version = number_in(value, "schema_version");
  if (!version || *version < 1)
    throw error("the file has no version of its schema", source, record_framework);
  if (constexpr auto known = static_cast<double>(framework_schema_version); *version != known)
    throw error("the file is of schema version " + text_in(value, "schema_version") +
                    ", and this program knows " + std::to_string(framework_schema_version),
                source, *version > known ? "use a newer benanza_analyze" : record_framework);
  profile own{.source = source, .format = "measure_framework's file"};
  own.framework = text_in(value, "framework");
  own.version = text_in(value, "framework_version");
  if (own.framework.empty()) throw error("the file names no framework", source, record_framework);
  own.device = "cpu";
  if (const json* model = member(value, "model")) {
    own.model = stem_of(text_in(*model, "file"));
    own.structure = text_in(*model, "structure");
  }
  if (const json* machine = member(value, "machine")) {
    own.processor = text_in(*machine, "processor");
    if (own.processor == "unknown") own.processor.clear();
    if (const json* n = member(*machine, "cpus")) own.processors = count_of(*n).value_or(0);
  }
  if (const json* options = member(value, "options")) {
    own.precision = type_token(text_in(*options, "precision"));
    if (text_in(*options, "device") == "gpu") own.device = "gpu";
    if (const json* n = member(*options, "threads"))
      own.threads = static_cast<int>(std::min<std::int64_t>(count_of(*n).value_or(0), 1 << 20));
    if (const json* n = member(*options, "batch")) own.batch = count_of(*n).value_or(0);
    if (const json* dims = member(*options, "dims"); dims != nullptr && dims->is_object())
      for (const auto& [symbol, n] : dims->items())
        if (const auto count = count_of(n)) own.dims.emplace(symbol, *count);
    if (const json* set = member(*options, "set"); set != nullptr && set->is_object())
      for (const auto& [key, chosen] : set->items())
        if (chosen.is_string()) own.settings.emplace(key, chosen.get<std::string>());
  }
  if (const json* samples = member(value, "samples_ns"); samples && samples->is_array())
    for (const json& one : *samples)
      if (const auto ns = ns_of(number_of(one), 1)) own.latency_ns.push_back(*ns);
  if (const json* empty = member(value, "empty_operator")) {
    const auto of = [empty](const char* key) { return ns_of(number_in(*empty, key), 1); };
    if (const auto profiled = of("profiled_ns"), alone = of("ns"); profiled && alone)
      own.empty_operator = {.profiled_ns = *profiled, .ns = *alone};
  }
  const std::vector<profiled_operator> operators = framework_operators(value);
  std::vector<profile> parts{std::move(own)};
  if (const json* traces = member(value, "traces"); traces != nullptr && traces->is_array())
    for (std::size_t i = 0; i < traces->size(); ++i)
      parts.push_back(
          framework_trace((*traces)[i], operators, source + ", trace " + std::to_string(i)));
  if (parts[0].latency_ns.empty() && parts.size() == 1)
    throw error("neither runs nor traces are in the file", source, record_framework);
  profile p = join_profiles(std::move(parts));
  p.source = source;
  // It was found in the model's own graph, where frameworks name nodes of theirs.
  fill_by_name(p.operators, operators, stands_for_of::filler);
  return p;
}

} // namespace benanza::trace
