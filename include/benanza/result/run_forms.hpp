// SPDX-License-Identifier: Apache-2.0
// How is the document of a result read? Case by case, each checked as it comes. Where
// BENANZA_COMPILED_RESULT is defined, one file of the program includes this for all.
#pragma once

#include "../core/out_of_memory.hpp"
#include "date.hpp"
#include "device.hpp"
#include "document.hpp"
#include "json_forms.hpp"
#include "reader.hpp"
#include "store_address.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <istream>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

namespace benanza::result {

namespace detail {
/// The object under context.benanza.
inline const json& own_context(const json& document, const std::string& source) {
  if (!document.is_object() || !document.contains("benchmarks") ||
      !document["benchmarks"].is_array() || !document.contains("context"))
    throw error("this is not a benchmark result", source,
                "give what benanza_bench --benchmark_format=json wrote");
  const json& context = document["context"];
  if (!context.is_object() || !context.contains("benanza") || !context["benanza"].is_object())
    throw error("the result has no provenance", source,
                "give what benanza_bench --benchmark_format=json wrote, unchanged");
  const json& own = context["benanza"];
  const json& schema = member(own, "schema", source);
  if (schema != schema_version)
    throw error("the result has schema " + schema.dump() + ", this program reads " +
                    std::to_string(schema_version),
                source, "use benanza_bench and benanza_analyze of one version");
  return own;
}

/// The provenance; every section that identifies a run has to be there.
inline auto provenance_from_json(const json& own, const std::string& source) {
  decltype(run::provenance) out;
  const auto found = own.find("provenance");
  if (found != own.end() && found->is_object())
    for (const auto& [section, facts] : found->items()) {
      auto& table = out[section];
      if (!facts.is_object()) continue;
      for (const auto& [key, value] : facts.items())
        table[key] = value.is_string() ? value.get<std::string>() : value.dump();
    }
  put_date_in_utc(out);
  for (const char* section : identity_sections)
    if (!out.contains(section) || out[section].empty())
      throw error("the result's provenance lacks its section \"" + std::string(section) + "\"",
                  source, write_again);
  return out;
}

/// Checks that a layer's case is one, and gives its key the canonical form. Each name is parsed
/// once.
class layer_check {
public:
  void operator()(measurement& m, const std::string& source) {
    if (!of_a_layer(m)) return;
    const std::string where = source + ", case \"" + m.name + "\"";
    if (!parse_numeric(m.type)) refuse_value("one of the types that Benanza knows", "type", where);
    if (m.state != "hot" && m.state != "llcw" && m.state != "coldw" && m.state != "cold" &&
        m.algorithm != nothing_name)
      refuse_value("hot, llcw, coldw or cold", "state", where);
    if (!m.device.empty() && m.device != cpu_device && m.device != gpu_device)
      refuse_value("cpu or gpu", "device", where);
    std::string name = m.family + '/' + m.key;
    const auto known = canonical_.find(name);
    if (known != canonical_.end()) {
      m.key = known->second;
      return;
    }
    m.key = op::key(layer_at(m.family, m.key, where));
    canonical_.emplace(std::move(name), m.key);
  }

private:
  std::unordered_map<std::string, std::string> canonical_;
};

inline run read_stream(std::istream& in, const std::string& source) {
  run out;
  out.source = source;
  bool aggregates = false;
  std::optional<error> bad; // reported once it is known that the document is a result
  layer_check check;
  const json document = read_document(in, source, [&](json&& entry) {
    const bool aggregate =
        entry.is_object() && entry.contains("run_type") && entry["run_type"] == "aggregate";
    aggregates = aggregates || aggregate;
    if (aggregate || bad) return;
    try {
      check(out.measurements.emplace_back(measurement_from_json(entry, source)), source);
    } catch (const error& e) {
      bad = e;
    }
  });
  const json& own = own_context(document, source);
  out.provenance = provenance_from_json(own, source);
  std::set<std::string> names;
  const json& graphs = list_member(own, "graphs", source);
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    out.graphs.push_back(graph_from_json(graphs[i], source + ", graph " + std::to_string(i)));
    if (!names.insert(out.graphs.back().name).second)
      throw error("two graphs have the same name \"" + out.graphs.back().name + "\"", source,
                  write_again);
  }
  if (own.contains("refused"))
    for (const json& row : list_member(own, "refused", source)) {
      if (!row.is_array() || row.size() != 6 ||
          !std::all_of(row.begin(), row.end(), [](const json& x) { return x.is_string(); }))
        throw error("an entry of \"refused\" is not six texts", source, write_again);
      out.refused.push_back({row[0], row[1], row[2], row[3], row[4], row[5]});
    }
  if (bad) throw *bad;
  if (out.measurements.empty() && aggregates)
    throw error("the result holds aggregates only", source,
                "run benanza_bench without --benchmark_report_aggregates_only");
  return out;
}
} // namespace detail

BENANZA_INLINE run read(std::istream& in, const std::string& source) {
  try {
    return detail::read_stream(in, source);
  } catch (const std::bad_alloc&) {
    throw out_of_memory("reading " + source);
  }
}

BENANZA_INLINE run read(std::string_view text, const std::string& source) {
  detail::text_buffer buffer(text);
  std::istream in(&buffer);
  return read(in, source);
}

BENANZA_INLINE run read_file(const std::string& path) {
  if (store::is_address(path))
    throw error("this is the address of a store, and a result file is wanted", store::shown(path),
                "write one with: benanza_analyze postgresql://... --export run.json");
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored))
    throw error("this is a directory, not a result", path, "name the JSON file in it");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw error("the file cannot be opened", path, "check its name and your rights");
  return read(in, path);
}

} // namespace benanza::result
