// SPDX-License-Identifier: Apache-2.0
// How do graphs and measurements become JSON, and JSON them? Where BENANZA_COMPILED_RESULT is
// defined, one file of the program includes this for all.
#pragma once

#include "../model/operands.hpp"
#include "document.hpp"
#include "fields.hpp"
#include "json.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace benanza::result {

BENANZA_INLINE ordered_json to_json(const model::graph& g) {
  ordered_json layers = ordered_json::array();
  for (const op::layer& l : g.layers)
    layers.push_back(ordered_json::array({op::family(l), op::key(l)}));
  ordered_json nodes = ordered_json::array();
  for (const model::node& n : g.nodes) {
    ordered_json operands = ordered_json::array();
    for (const model::operand& o : model::known_operands(n))
      operands.push_back(o.output == 0 ? ordered_json(o.node)
                                       : ordered_json::array({o.node, o.output}));
    ordered_json row = ordered_json::array({n.name, n.op, n.layer, std::move(operands)});
    if (!n.problem.empty() || !n.parts.empty()) row.push_back(n.problem);
    if (!n.parts.empty()) row.push_back(n.parts);
    nodes.push_back(std::move(row));
  }
  ordered_json out = {{"name", g.name},
                      {"model", g.model},
                      {"batch", g.batch},
                      {"type", name(g.type)},
                      {"parameters", g.parameters},
                      {"parameter_bytes", g.parameter_bytes},
                      {"streamed_weight_bytes", g.streamed_weight_bytes},
                      {"folded", g.folded}};
  if (!g.dims.empty()) out["dims"] = g.dims;
  if (const model::token_cache& c = g.cache; c)
    out["cache"] = {
        {"bytes", c.bytes}, {"sequences", c.sequences}, {"past", c.past}, {"added", c.added}};
  if (!g.unfused.empty()) out["unfused"] = g.unfused;
  if (!g.original.empty()) {
    out["original"] = g.original;
    ordered_json& all = out["rewrites"] = ordered_json::array();
    for (const model::rewrite& w : g.rewrites)
      all.push_back({{"rule", w.rule}, {"nodes", w.nodes}, {"flops", w.flops}, {"bytes", w.bytes}});
  }
  if (!g.structure.empty()) out["structure"] = g.structure;
  out["repairs"] = g.repairs;
  if (!g.assumptions.empty()) out["assumptions"] = g.assumptions;
  out["layers"] = std::move(layers);
  out["nodes"] = std::move(nodes);
  return out;
}

BENANZA_INLINE ordered_json to_json(const std::vector<device_kernel>& kernels) {
  ordered_json out = ordered_json::array();
  for (const device_kernel& k : kernels) {
    ordered_json& one = out.emplace_back(ordered_json{{"name", k.name}});
    if (k.grid != device_kernel{}.grid) {
      one["grid"] = k.grid;
      one["block"] = k.block;
      one["registers"] = k.registers;
      one["shared_bytes"] = k.shared_bytes;
    }
    one["ns"] = k.ns;
    if (k.part >= 0) one["part"] = k.part;
  }
  return out;
}

BENANZA_INLINE ordered_json to_json(const std::vector<timed_part>& parts) {
  ordered_json out = ordered_json::array();
  for (const timed_part& p : parts) {
    ordered_json& one = out.emplace_back(ordered_json{{"name", p.name}, {"ns", p.ns}});
    if (!p.layer.empty()) one["layer"] = p.layer;
    if (!p.counted.empty()) one["counted"] = p.counted;
  }
  return out;
}

BENANZA_INLINE ordered_json to_json(const std::vector<std::string>& names) {
  return names;
}

BENANZA_INLINE ordered_json to_json(const std::vector<timed_call>& calls) {
  ordered_json out = ordered_json::array();
  for (const timed_call& c : calls) {
    ordered_json& one = out.emplace_back(ordered_json{{"text", c.text}, {"ns", c.ns}});
    if (c.part >= 0) one["part"] = c.part;
  }
  return out;
}

BENANZA_INLINE ordered_json to_json(const measurement& m) {
  ordered_json out = ordered_json::object();
  if (!m.name.empty()) out["name"] = m.name;
  const bool failed = !m.error.empty();
  fields(m, [&](std::string_view name, const auto& value, field_kind kind) {
    if (failed && kind == field_kind::time) return;
    using type = std::decay_t<decltype(value)>;
    if (kind == field_kind::remark && value == type{}) return;
    if constexpr (is_list<type>)
      out[std::string(name)] = to_json(value);
    else
      out[std::string(name)] = value;
  });
  if (failed) {
    out["error_occurred"] = true;
    out["error_message"] = m.error;
  }
  return out;
}

BENANZA_INLINE ordered_json context_to_json(const run& r) {
  ordered_json graphs = ordered_json::array();
  for (const model::graph& g : r.graphs)
    graphs.push_back(to_json(g));
  ordered_json out{
      {"schema", schema_version}, {"provenance", r.provenance}, {"graphs", std::move(graphs)}};
  if (r.refused.empty()) return out;
  ordered_json& refused = out["refused"] = ordered_json::array();
  for (const refused_case& x : r.refused)
    refused.push_back({x.family, x.key, x.type, x.backend, x.algorithm, x.why});
  return out;
}

namespace detail {
/// The member `key` of `j`, which is at `where`.
inline const json& member(const json& j, std::string_view key, const std::string& where) {
  const auto found = j.find(key);
  if (found == j.end()) throw error("\"" + std::string(key) + "\" is missing", where, write_again);
  return *found;
}

/// The list `key` of `j`.
inline const json& list_member(const json& j, std::string_view key, const std::string& where) {
  const json& found = member(j, key, where);
  if (!found.is_array())
    throw error("\"" + std::string(key) + "\" is not a list", where, write_again);
  return found;
}

/// The layer of that family and key, which is at `where`.
inline op::layer layer_at(std::string_view family, std::string_view key, const std::string& where) {
  try {
    return op::parse(family, key);
  } catch (const error& e) {
    throw error("no layer is \"" + std::string(family) + '/' + std::string(key) + "\": " + e.what(),
                where);
  }
}

[[noreturn]] inline void refuse_value(std::string_view what, std::string_view key,
                                      const std::string& where) {
  throw error("\"" + std::string(key) + "\" is not " + std::string(what), where, write_again);
}

inline void assign(std::string& to, const json& from, std::string_view key,
                   const std::string& where) {
  if (!from.is_string()) refuse_value("a text", key, where);
  to = from.get_ref<const std::string&>();
}

/// A whole number, not below `least`.
template <class Integer>
void assign_integer(Integer& to, const json& from, std::string_view key, const std::string& where,
                    std::int64_t least) {
  const bool whole = from.is_number_integer() &&
                     (!from.is_number_unsigned() ||
                      from.get<std::uint64_t>() <=
                          static_cast<std::uint64_t>(std::numeric_limits<Integer>::max()));
  if (!whole || from.get<std::int64_t>() < least)
    refuse_value(least == 0 ? "a whole number that is not negative" : "a whole number in range",
                 key, where);
  to = static_cast<Integer>(from.get<std::int64_t>());
}

/// A time in ns; `zero` says whether it may be zero.
inline double to_ns(const json& from, std::string_view key, const std::string& where, bool zero) {
  const double v = from.is_number() ? from.get<double>() : -1.0;
  if (!possible_ns(v, zero))
    refuse_value(zero ? "a time in ns that is not negative, and of days at most"
                      : "a time in ns above zero, and of days at most",
                 key, where);
  return v;
}
} // namespace detail

namespace detail {
/// The entries of a list of objects, each read by `read`.
template <class Entry, class Read>
void read_entries(std::vector<Entry>& to, const json& from, std::string_view key,
                  const std::string& where, Read&& read) {
  if (!from.is_array()) refuse_value("a list", key, where);
  to.reserve(from.size());
  for (const json& one : from) {
    if (!one.is_object()) refuse_value("a list of objects", key, where);
    read(to.emplace_back(), one);
  }
}
} // namespace detail

BENANZA_INLINE void from_json(std::vector<device_kernel>& to, const json& from,
                              const std::string& where) {
  detail::read_entries(to, from, "kernels", where, [&](device_kernel& k, const json& one) {
    detail::assign(k.name, detail::member(one, "name", where), "name", where);
    k.ns = detail::to_ns(detail::member(one, "ns", where), "ns", where, true);
    if (const auto part = one.find("part"); part != one.end())
      detail::assign_integer(k.part, *part, "part", where, 0);
    if (!one.contains("grid")) return;
    for (const auto& [name, three] : {std::pair("grid", &k.grid), std::pair("block", &k.block)}) {
      const json& list = detail::list_member(one, name, where);
      if (list.size() != three->size()) detail::refuse_value("three numbers", name, where);
      for (std::size_t i = 0; i < three->size(); ++i)
        detail::assign_integer((*three)[i], list[i], name, where, 0);
    }
    detail::assign_integer(k.registers, detail::member(one, "registers", where), "registers", where,
                           0);
    detail::assign_integer(k.shared_bytes, detail::member(one, "shared_bytes", where),
                           "shared_bytes", where, 0);
  });
}

BENANZA_INLINE void from_json(std::vector<timed_part>& to, const json& from,
                              const std::string& where) {
  detail::read_entries(to, from, "parts", where, [&](timed_part& p, const json& one) {
    detail::assign(p.name, detail::member(one, "name", where), "name", where);
    p.ns = detail::to_ns(detail::member(one, "ns", where), "ns", where, false);
    if (const auto layer = one.find("layer"); layer != one.end())
      detail::assign(p.layer, *layer, "layer", where);
    if (!one.contains("counted")) return;
    for (const json& n : detail::list_member(one, "counted", where))
      detail::assign_integer(p.counted.emplace_back(), n, "counted", where, 0);
  });
}

BENANZA_INLINE void from_json(std::vector<timed_call>& to, const json& from,
                              const std::string& where) {
  detail::read_entries(to, from, "calls", where, [&](timed_call& c, const json& one) {
    detail::assign(c.text, detail::member(one, "text", where), "text", where);
    c.ns = detail::to_ns(detail::member(one, "ns", where), "ns", where, false);
    if (const auto part = one.find("part"); part != one.end())
      detail::assign_integer(c.part, *part, "part", where, 0);
  });
}

BENANZA_INLINE void from_json(std::vector<std::string>& to, const json& from,
                              const std::string& where) {
  if (!from.is_array()) detail::refuse_value("a list", "counters_of_parts", where);
  for (const json& one : from)
    detail::assign(to.emplace_back(), one, "counters_of_parts", where);
}

BENANZA_INLINE measurement measurement_from_json(const json& entry, const std::string& source) {
  if (!entry.is_object())
    throw error("an entry of \"benchmarks\" is not an object", source, detail::write_again);
  measurement m;
  if (const auto n = entry.find("name"); n != entry.end() && n->is_string())
    m.name = n->get<std::string>();
  const std::string where = source + ", case \"" + m.name + "\"";
  if (const auto e = entry.find("error_occurred"); e != entry.end() && *e == true) {
    const auto message = entry.find("error_message");
    m.error = message != entry.end() && message->is_string() ? message->get<std::string>() : "";
    if (m.error.empty()) m.error = "failed without a reason";
  }
  fields(m, [&](std::string_view name, auto& value, field_kind kind) {
    const auto found = entry.find(name);
    if (found == entry.end()) {
      if (kind == field_kind::remark || (!m.error.empty() && kind != field_kind::identity)) return;
      (void)detail::member(entry, name, where);
    }
    using type = std::decay_t<decltype(value)>;
    if (!m.error.empty() && kind == field_kind::time) return;
    if constexpr (std::is_same_v<type, std::string>) {
      detail::assign(value, *found, name, where);
    } else if constexpr (std::is_same_v<type, double>) {
      value = detail::to_ns(*found, name, where, kind != field_kind::time || name == "mad_ns");
    } else if constexpr (std::is_integral_v<type>) {
      detail::assign_integer(value, *found, name, where, name == "threads" ? 1 : 0);
    } else if constexpr (is_list<type>) {
      from_json(value, *found, where);
    } else {
      if (!found->is_array() || found->empty())
        detail::refuse_value("a list of times", name, where);
      value.reserve(found->size());
      for (const json& v : *found)
        value.push_back(detail::to_ns(v, name, where, false));
    }
  });
  if (!possible_energy(m))
    detail::refuse_value("an energy in nJ that is none of more than 2 kW", "energy_nj", where);
  return m;
}

BENANZA_INLINE model::graph graph_from_json(const json& j, const std::string& source) {
  using detail::member;
  model::graph g;
  detail::assign(g.name, member(j, "name", source), "name", source);
  const std::string where = source + ", graph \"" + g.name + "\"";
  detail::assign(g.model, member(j, "model", where), "model", where);
  detail::assign_integer(g.batch, member(j, "batch", where), "batch", where, 1);
  std::string type;
  detail::assign(type, member(j, "type", where), "type", where);
  if (const auto t = parse_numeric(type))
    g.type = *t;
  else
    detail::refuse_value("one of the types that Benanza knows", "type", where);
  detail::assign_integer(g.parameters, member(j, "parameters", where), "parameters", where, 0);
  detail::assign_integer(g.parameter_bytes, member(j, "parameter_bytes", where), "parameter_bytes",
                         where, 0);
  if (const auto streamed = j.find("streamed_weight_bytes"); streamed != j.end())
    detail::assign_integer(g.streamed_weight_bytes, *streamed, "streamed_weight_bytes", where, 0);
  if (const auto dims = j.find("dims"); dims != j.end()) {
    if (!dims->is_object()) detail::refuse_value("an object of numbers", "dims", where);
    for (const auto& [symbol, n] : dims->items())
      detail::assign_integer(g.dims[symbol], n, "dims", where, 0);
  }
  if (const auto cache = j.find("cache"); cache != j.end()) {
    detail::assign_integer(g.cache.bytes, member(*cache, "bytes", where), "bytes", where, 0);
    detail::assign_integer(g.cache.sequences, member(*cache, "sequences", where), "sequences",
                           where, 1);
    detail::assign_integer(g.cache.past, member(*cache, "past", where), "past", where, 0);
    detail::assign_integer(g.cache.added, member(*cache, "added", where), "added", where, 1);
  }
  detail::assign_integer(g.folded, member(j, "folded", where), "folded", where, 0);
  if (const auto unfused = j.find("unfused"); unfused != j.end())
    detail::assign(g.unfused, *unfused, "unfused", where);
  if (const auto original = j.find("original"); original != j.end()) {
    detail::assign(g.original, *original, "original", where);
    for (const json& w : detail::list_member(j, "rewrites", where)) {
      model::rewrite& one = g.rewrites.emplace_back();
      detail::assign(one.rule, member(w, "rule", where), "rule", where);
      for (const json& n : detail::list_member(w, "nodes", where))
        detail::assign_integer(one.nodes.emplace_back(), n, "nodes", where, 0);
      detail::assign_integer(one.flops, member(w, "flops", where), "flops", where, 0);
      detail::assign_integer(one.bytes, member(w, "bytes", where), "bytes", where, -count_limit);
    }
  }
  if (const auto structure = j.find("structure"); structure != j.end())
    detail::assign(g.structure, *structure, "structure", where);
  for (const json& line : detail::list_member(j, "repairs", where))
    detail::assign(g.repairs.emplace_back(), line, "repairs", where);
  if (j.contains("assumptions"))
    for (const json& line : detail::list_member(j, "assumptions", where))
      detail::assign(g.assumptions.emplace_back(), line, "assumptions", where);

  for (const json& l : detail::list_member(j, "layers", where)) {
    if (!l.is_array() || l.size() != 2 || !l[0].is_string() || !l[1].is_string())
      throw error("a layer is not [family, key]", where, detail::write_again);
    g.layers.push_back(detail::layer_at(l[0].get_ref<const std::string&>(),
                                        l[1].get_ref<const std::string&>(), where));
  }
  for (const json& row : detail::list_member(j, "nodes", where)) {
    if (!row.is_array() || row.size() < 4 || row.size() > 6 || !row[3].is_array())
      throw error("a node is not [name, operator, layer, [operands], problem, [parts]]", where,
                  detail::write_again);
    model::node n;
    detail::assign(n.name, row[0], "name", where);
    const std::string here = where + ", node \"" + n.name + "\"";
    detail::assign(n.op, row[1], "op", here);
    detail::assign_integer(n.layer, row[2], "layer", here, model::no_layer);
    if (n.layer >= static_cast<int>(g.layers.size()))
      throw error("a node names a layer that the graph does not have", here, detail::write_again);
    for (const json& operand : row[3]) {
      model::operand o;
      const bool pair = operand.is_array() && operand.size() == 2;
      detail::assign_integer(o.node, pair ? operand[0] : operand, "operands", here,
                             model::constant);
      if (pair) detail::assign_integer(o.output, operand[1], "operands", here, 0);
      if (o.node >= static_cast<int>(g.nodes.size()))
        throw error("a node reads from one that does not come before it", here,
                    detail::write_again);
      n.operands.push_back(o);
    }
    n.inputs = model::inputs_of(n.operands);
    if (row.size() > 4) detail::assign(n.problem, row[4], "problem", here);
    if (row.size() > 5) {
      if (!row[5].is_array()) detail::refuse_value("a list", "parts", here);
      for (const json& part : row[5])
        detail::assign_integer(n.parts.emplace_back(), part, "parts", here, 0);
    }
    g.nodes.push_back(std::move(n));
  }
  return g;
}

} // namespace benanza::result
