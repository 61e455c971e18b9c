// SPDX-License-Identifier: Apache-2.0
// What does OpenVINO's execution graph say (-exec_graph_path, or get_runtime_model)? Each layer as
// it runs, with the layers of the model that it represents, kernel, precision and dims. Names that
// OpenVINO made itself are among those of the model: BatchNormalization folded into a convolution
// makes that "Multiply_3870". Times are those of one run, in whole us; a graph that was written
// before a run has none.
//
//   profile p = read_openvino_graph("<net name=...", "exec_graph.xml");
//   p.operators[0].stands_for   // {"Multiply_3870", "bn1", "relu1"}
#pragma once

#include "join.hpp"
#include "openvino.hpp"

#ifdef BENANZA_WITH_PUGIXML
#include <pugixml.hpp>
#endif

#include <set>

namespace benanza::trace {

#ifdef BENANZA_WITH_PUGIXML
namespace detail {
inline std::vector<profiled_tensor> openvino_ports(const pugi::xml_node& side) {
  std::vector<profiled_tensor> out;
  for (const pugi::xml_node port : side.children("port")) {
    profiled_tensor& t = out.emplace_back();
    t.type = type_token(port.attribute("precision").value());
    json dims = json::array();
    for (const pugi::xml_node dim : port.children("dim"))
      dims.push_back(dim.child_value());
    t.dims = dims_of(dims);
  }
  return out;
}

/// The numbers of layers that are constants, or computed from these alone: once, before any run.
inline std::set<std::string> openvino_constants(const pugi::xml_node& net) {
  std::map<std::string, std::vector<std::string>> readers;
  std::map<std::string, std::size_t> others; // inputs of a layer that are not known to be constant
  for (const pugi::xml_node edge : net.child("edges").children("edge")) {
    const std::string to = edge.attribute("to-layer").value();
    readers[edge.attribute("from-layer").value()].push_back(to);
    ++others[to];
  }
  std::vector<std::string> open;
  for (const pugi::xml_node layer : net.child("layers").children("layer"))
    if (std::string_view(layer.attribute("type").value()) == "Const")
      open.emplace_back(layer.attribute("id").value());
  std::set<std::string> out;
  while (!open.empty()) {
    const std::string one = std::move(open.back());
    open.pop_back();
    if (!out.insert(one).second) continue;
    for (const std::string& to : readers[one])
      if (--others[to] == 0) open.push_back(to);
  }
  return out;
}

/// Layers that compute nothing.
inline bool openvino_data(std::string_view type) {
  for (const std::string_view one : {"Input", "Const", "Output", "Parameter", "Constant", "Result"})
    if (type == one) return true;
  return false;
}
} // namespace detail

inline profile read_openvino_graph(std::string_view text, const std::string& source) {
  pugi::xml_document document;
  const pugi::xml_parse_result parsed = document.load_buffer(text.data(), text.size());
  const pugi::xml_node layers = document.child("net").child("layers");
  profile p{
      .source = source, .format = std::string(detail::graph_of_openvino), .framework = "openvino"};
  struct row {
    double order;
    profiled_operator told;
  };
  std::vector<row> rows;
  bool executed = false;
  std::size_t computing = 0;
  const std::set<std::string> constants = detail::openvino_constants(document.child("net"));
  for (const pugi::xml_node layer : layers.children("layer")) {
    const pugi::xml_node data = layer.child("data");
    const std::string type = layer.attribute("type").value();
    if (!data || detail::openvino_data(type) || constants.contains(layer.attribute("id").value()))
      continue;
    ++computing;
    row& r = rows.emplace_back();
    r.order = detail::number_in_text(data.attribute("execOrder").value())
                  .value_or(static_cast<double>(rows.size()));
    r.told.name = layer.attribute("name").value();
    r.told.type = type;
    r.told.kernel = data.attribute("primitiveType").value();
    r.told.precision = detail::type_token(data.attribute("runtimePrecision").value());
    for (const std::string_view one :
         items(std::string_view(data.attribute("originalLayersNames").value()), ","))
      r.told.stands_for.emplace_back(one);
    r.told.operands = detail::openvino_ports(layer.child("input"));
    r.told.results = detail::openvino_ports(layer.child("output"));
    if (const auto ns = detail::ns_of(detail::number_in_text(data.attribute("execTimeMcs").value()),
                                      detail::ns_of_us)) {
      r.told.ns = {*ns};
      executed = true;
    }
  }
  if (computing == 0)
    throw error("no layer that ran is in this graph of OpenVINO" +
                    (parsed ? std::string() : std::string(" (") + parsed.description() + ")"),
                source, "write one with benchmark_app -pc -exec_graph_path FILE");
  if (!parsed) p.warnings.push_back("the graph is cut off: later layers are missing");
  std::stable_sort(rows.begin(), rows.end(),
                   [](const row& a, const row& b) { return a.order < b.order; });
  for (row& r : rows)
    if (!executed || !r.told.ns.empty()) p.operators.push_back(std::move(r.told));
  if (!executed)
    p.warnings.push_back("the graph has no times: it was written before a run, or without -pc");
  p.precision = detail::main_precision(p.operators);
  return p;
}
#else
inline profile read_openvino_graph(std::string_view, const std::string& source) {
  throw error("this is a graph of OpenVINO, and this program was built without pugixml", source,
              "install libpugixml-dev and build it again");
}
#endif

} // namespace benanza::trace
