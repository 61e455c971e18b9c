// SPDX-License-Identifier: Apache-2.0
// What do the three files of trtexec say? --exportTimes whole queries, --exportProfile a time for
// each layer of the engine, --exportLayerInfo (with --profilingVerbosity=detailed) what each layer
// is and which nodes of the ONNX file it represents: its metadata say so from TensorRT 10 on, its
// name before. Join all three. Names may repeat; the order is that of execution.
//
//   profile p = read_tensorrt_layers(value, "layers.json");
//   p.operators[0].stands_for   // {"/conv1/Conv", "/relu/Relu"}
#pragma once

#include "values.hpp"

namespace benanza::trace {

namespace detail {
inline constexpr std::string_view record_tensorrt =
    "run trtexec with --exportProfile=FILE, --exportLayerInfo=FILE --profilingVerbosity=detailed "
    "or "
    "--exportTimes=FILE";

inline profile tensorrt_profile(const std::string& source, std::string format) {
  return {.source = source, .format = std::move(format), .framework = "tensorrt", .device = "gpu"};
}

/// The nodes in `[ONNX Layer: /conv1/Conv]\x1f[ONNX Layer: /relu]\x1e...`.
inline std::vector<std::string> nodes_in_metadata(std::string_view text) {
  constexpr std::string_view mark = "[ONNX Layer: ";
  std::vector<std::string> out;
  while (!text.empty()) {
    const std::size_t end = text.find_first_of("\x1e\x1f");
    const std::string_view part = text.substr(0, end);
    const std::size_t at = part.find(mark);
    const std::size_t close = part.rfind(']');
    if (at != part.npos && close != part.npos && close > at + mark.size())
      out.emplace_back(part.substr(at + mark.size(), close - at - mark.size()));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return out;
}

/// The nodes in the name of a layer: `conv1 + PWN(relu1) || conv2`. What TensorRT made itself, and
/// a range of nodes (`{ForeignNode[a...z]}`), names none.
inline std::vector<std::string> nodes_in_name(std::string_view name) {
  std::vector<std::string> out;
  for (const std::string_view beside : split_at(name, " || "))
    for (std::string_view part : split_at(beside, " + ")) {
      part = stripped(part);
      while (part.starts_with("PWN(") && part.ends_with(')')) {
        part.remove_prefix(4);
        part.remove_suffix(1);
      }
      for (const std::string_view node : split_at(part, ", ")) {
        std::string_view one = stripped(node);
        while (one.starts_with("PWN(")) { // within another
          one.remove_prefix(4);
          if (one.ends_with(')')) one.remove_suffix(1);
        }
        if (one.empty() || one.starts_with('{') || one.starts_with("__my") ||
            one.starts_with("(Unnamed Layer") || one.starts_with("Reformatting CopyNode") ||
            one.starts_with("reformatted ") || one.ends_with(" copy"))
          continue;
        out.emplace_back(one);
      }
    }
  return out;
}

/// The type in `Row major linear FP32`, `Channel major FP16 format where channel % 8 == 0`, `Half`.
inline std::string type_in_format(std::string_view text) {
  for (const std::string_view word : split_at(text, " ")) {
    const std::string token = type_token(word);
    if (parse_dtype(token)) return token;
  }
  return {};
}

inline std::vector<profiled_tensor> tensorrt_tensors(const json& layer, const char* side) {
  std::vector<profiled_tensor> out;
  const json* all = member(layer, side);
  if (all == nullptr || !all->is_array()) return out;
  for (const json& one : *all) {
    profiled_tensor& t = out.emplace_back();
    for (const char* key : {"Format/Datatype", "Datatype", "DataType", "Format"})
      if (t.type.empty()) t.type = type_in_format(text_in(one, key));
    if (const json* dims = member(one, "Dimensions")) t.dims = dims_of(*dims);
  }
  return out;
}
} // namespace detail

/// --exportTimes.
inline profile read_tensorrt_times(const nlohmann::json& value, const std::string& source) {
  profile p = detail::tensorrt_profile(source, "TensorRT's times");
  if (value.is_array())
    for (const nlohmann::json& one : value)
      if (const auto ns = detail::ns_of(detail::number_in(one, "latencyMs"), detail::ns_of_ms))
        p.latency_ns.push_back(*ns);
  if (p.latency_ns.empty())
    throw error("no latency is in these times of TensorRT", source, detail::record_tensorrt);
  return p;
}

/// --exportProfile.
inline profile read_tensorrt_profile(const nlohmann::json& value, const std::string& source) {
  profile p = detail::tensorrt_profile(source, "TensorRT's profile");
  std::size_t left_out = 0, averages = 0;
  if (value.is_array())
    for (const nlohmann::json& one : value) {
      const std::string name = detail::text_in(one, "name");
      if (name.empty()) continue; // how many runs there were
      const auto median = detail::number_in(one, "medianMs");
      const auto ns =
          detail::ns_of(median ? median : detail::number_in(one, "averageMs"), detail::ns_of_ms);
      if (!ns) {
        ++left_out;
        continue;
      }
      averages += !median;
      p.operators.push_back({.name = name, .stands_for = detail::nodes_in_name(name), .ns = {*ns}});
    }
  if (p.operators.empty())
    throw error("no layer is in this profile of TensorRT", source, detail::record_tensorrt);
  if (averages != 0)
    p.warnings.push_back("times of layers are averages, not medians: the profile has no others");
  if (left_out != 0)
    p.warnings.push_back(detail::counted(left_out, "layer") + " without a time left out");
  return p;
}

/// --exportLayerInfo.
inline profile read_tensorrt_layers(const nlohmann::json& value, const std::string& source) {
  using namespace detail;
  profile p = tensorrt_profile(source, "TensorRT's layers");
  std::string stream;
  bool names_only = false;
  const json* layers = member(value, "Layers");
  if (layers != nullptr && layers->is_array())
    for (const json& one : *layers) {
      profiled_operator o;
      o.name = one.is_string() ? one.get<std::string>() : text_in(one, "Name");
      if (o.name.empty()) continue;
      names_only |= one.is_string();
      o.type = text_in(one, "LayerType");
      o.kernel = text_in(one, "TacticName");
      o.operands = tensorrt_tensors(one, "Inputs");
      o.results = tensorrt_tensors(one, "Outputs");
      for (const std::vector<profiled_tensor>* side : {&o.operands, &o.results})
        if (o.precision.empty() && !side->empty()) o.precision = side->front().type;
      o.stands_for = nodes_in_metadata(text_in(one, "Metadata"));
      if (o.stands_for.empty() && member(one, "Metadata") == nullptr)
        o.stands_for = nodes_in_name(o.name);
      if (const std::string its = text_in(one, "StreamId"); !its.empty()) {
        p.overlapping = p.overlapping == true || (!stream.empty() && stream != its);
        stream = its;
      }
      p.operators.push_back(std::move(o));
    }
  if (p.operators.empty())
    throw error("no layer is in these layers of TensorRT", source, record_tensorrt);
  if (names_only)
    p.warnings.push_back("names of layers alone are told: build the engine with "
                         "--profilingVerbosity=detailed");
  if (p.overlapping == true)
    p.warnings.push_back("layers run in several streams: their times do not add up to that of the "
                         "model");
  return p;
}

} // namespace benanza::trace
