// SPDX-License-Identifier: Apache-2.0
// The answers for a GPU that is not here as JSON: all layers, and all models. Each object with
// figures says by `mark` what they are: `listed`, `roofline of data sheet` or `estimate`. What is
// not known is not there.
//
//   say(json_of(answer(all, graphs, arguments)).dump());
#pragma once

#include "answers.hpp"

#ifdef BENANZA_WITH_CUDNN

namespace benanza::generator {

namespace detail {
using json = nlohmann::ordered_json;
inline constexpr const char *marked_listed = "listed", *marked_roofline = "roofline of data sheet";

inline json json_of(const tally& t) {
  return {{"layers", t.layers}, {"nodes", t.nodes}};
}

inline std::string_view text_of(tensor_cores t) {
  return t == tensor_cores::listed ? "listed" : t == tensor_cores::not_told ? "not told" : "none";
}

inline json sheet_json(const data_sheet& d) {
  json peaks = json::object();
  for (const numeric t :
       {numeric::f32, numeric::tf32, numeric::f16, numeric::bf16, numeric::e4m3, numeric::s8s8s8})
    if (const double rate = d.flops_per_ns(t); rate > 0)
      peaks[std::string(quantised(t) ? "s8" : name(t))] = rate / 1e3;
  return {{"mark", "data sheet"},
          {"board", d.board},
          {"dense_tflop_per_s", std::move(peaks)},
          {"memory_gb_per_s", d.gb_per_s}};
}

inline json layer_json(const layer_answer& l) {
  json out{{"family", op::family(l.list->layer)},
           {"key", op::key(l.list->layer)},
           {"type", name(l.list->type)}};
  json listed{{"mark", marked_listed},
              {"algorithms", l.list->offers.size()},
              {"engines", l.engines},
              {"first", l.first}};
  if (!l.refused.empty()) listed["refused"] = printable(l.refused);
  if (l.multiplies) listed["tensor_cores"] = text_of(l.on);
  out["cudnn"] = std::move(listed);
  if (l.least) {
    out["roofline"] = {{"mark", marked_roofline},
                       {"us", l.least->ns / 1e3},
                       {"limited_by", l.least->by_memory() ? "memory" : "arithmetic"},
                       {"flops", l.least->flops},
                       {"bytes", l.least->bytes}};
    if (l.multiplies && l.on != tensor_cores::none && l.without_tensor_cores) {
      out["roofline"]["without_tensor_cores_us"] = l.without_tensor_cores->ns / 1e3;
      out["roofline"]["tensor_cores_gain"] = l.gain();
    }
  }
  return out;
}

inline json sum_json(const roof_sum& s) {
  json out{{"us", s.ns / 1e3}, {"by_arithmetic_us", s.arithmetic_ns / 1e3}, {"bytes", s.bytes}};
  if (s.unknown > 0) out["nodes_unknown"] = s.unknown;
  return out;
}

inline json type_json(const answers& a, const type_answer& t) {
  json out{{"type", name(t.type)}};
  if (a.sheet && a.sheet->flops_per_ns(t.type) > 0) {
    out["roofline"] = {{"mark", marked_roofline}, {"unfused", sum_json(t.unfused)}};
    if (t.fused) out["roofline"]["fused"] = sum_json(*t.fused);
  }
  out["algorithms"] = {{"mark", marked_listed},
                       {"several_engines", json_of(t.several)},
                       {"one_engine", json_of(t.one)},
                       {"no_engine", json_of(t.none)}};
  json groups = json::array();
  for (const fused_group& g : t.groups) {
    json one{{"family", g.family},
             {"all", json_of(g.all)},
             {"cudnn", {{"mark", marked_listed}, {"engine_for", json_of(g.listed)}}}};
    if (!g.refused.empty()) one["cudnn"]["refused"] = printable(g.refused);
    if (a.sheet && a.sheet->flops_per_ns(t.type) > 0)
      one["roofline"] = {{"mark", marked_roofline},
                         {"saves_us", g.saved_ns / 1e3},
                         {"bytes_not_moved", g.saved_bytes}};
    groups.push_back(std::move(one));
  }
  out["fusion"] = std::move(groups);
  if (t.type == numeric::f32) return out;
  out["tensor_cores"] = {{"mark", marked_listed},
                         {"by_cudnn", json_of(t.on_listed)},
                         {"by_cublas_not_told", json_of(t.on_not_told)},
                         {"none", json_of(t.on_none)}};
  if (t.without_ns > 0)
    out["tensor_cores"]["roofline"] = {{"mark", marked_roofline},
                                       {"without_us", t.without_ns / 1e3},
                                       {"with_us", t.with_ns / 1e3},
                                       {"gain_nothing", json_of(t.no_gain)}};
  return out;
}
} // namespace detail

/// All fields.
inline nlohmann::ordered_json json_of(const answers& a) {
  using detail::json;
  json out{{"target", a.list.target.name},
           {"device", json::parse(a.list.target.json)},
           {"measured", false},
           {"cudnn", detail::version_text()}};
  if (const std::string w = detail::warning_of(a.list); !w.empty()) out["warning"] = w;
  if (a.sheet) out["data_sheet"] = detail::sheet_json(*a.sheet);
  out["models"] = json::array();
  for (const model_answer& m : a.models) {
    json one{{"model", m.it->name}, {"unresolved", m.unresolved}, {"types", json::array()}};
    for (const type_answer& t : m.types)
      one["types"].push_back(detail::type_json(a, t));
    out["models"].push_back(std::move(one));
  }
  out["layers"] = json::array();
  for (const layer_answer& l : a.layers)
    out["layers"].push_back(detail::layer_json(l));
  return out;
}

} // namespace benanza::generator

#endif
