// SPDX-License-Identifier: Apache-2.0
// What is measured, in which way, and on what? An experiment is one file that says it: models by
// what they are, types, threads, libraries, effort, scenarios, and what software and machine it
// expects. Anyone who has it measures the same, and can say whether a result is what it asked for.
//
//   experiment e = read_experiment(text, "experiment.json");
//   for (const deviation& d : deviations(e, run)) d.what, d.asked, d.found
#pragma once

#include "../core/checksum.hpp"
#include "../core/nesting.hpp"
#include "../core/printable.hpp"
#include "../core/text.hpp"
#include "../model/operands.hpp"
#include "backends.hpp"
#include "effort.hpp"
#include "input_text.hpp"
#include "json.hpp"
#include "run.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <filesystem>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::result {

inline constexpr int experiment_schema = 1;

/// A model, by what it is: `content` is the checksum of its layers and of what reads what.
struct experiment_model {
  std::string name{}, content{};
};

struct experiment {
  std::string name{}, note{};
  std::vector<experiment_model> models{};
  std::string graphs{}; ///< the file of these models, next to the experiment; empty: the program's
  std::vector<std::string> types{}, states{}, backends{}; ///< empty: as the program likes
  std::vector<int> threads{1};
  std::string effort = "normal";
  std::vector<std::string> scenarios{}; ///< of the whole models
  /// Facts of a result's sections and what they have to be: "2.6.3", or ">=2.6 <4".
  std::map<std::string, std::map<std::string, std::string>> expects{};
};

/// The checksum of what a model is: neither its name nor those of its nodes.
inline std::string content_of(const model::graph& g) {
  std::string text = std::to_string(g.batch) + ' ' + std::string(name(g.type));
  for (const model::node& n : g.nodes) {
    text += '\n';
    text += n.layer == model::no_layer ? n.op + " unresolved"
                                       : op::name(g.layers[static_cast<std::size_t>(n.layer)]);
    for (const model::operand& o : model::known_operands(n))
      text += ' ' + std::to_string(o.node) + '.' + std::to_string(o.output);
  }
  return fnv1a(text);
}

/// True for a name that leads to no other folder than those below: an experiment from others must
/// not name a file of the reader's own.
inline bool is_beside(const std::filesystem::path& file) {
  return file.is_relative() && file.native().find('\0') == std::string::npos &&
         std::find(file.begin(), file.end(), "..") == file.end();
}

namespace detail {
inline constexpr const char* experiment_again = "write one with benanza_bench --write-experiment";

/// The numbers of a version, up to the first that is none: "2.6.3" is {2, 6, 3}.
inline std::vector<long> version_numbers(std::string_view text) {
  std::vector<long> out;
  for (const std::string_view part : split_at(text, ".")) {
    long n = 0;
    const auto [end, bad] = std::from_chars(part.data(), part.data() + part.size(), n);
    if (bad != std::errc{} || end != part.data() + part.size()) break;
    out.push_back(n);
  }
  return out;
}

/// Below zero, zero or above, as `a` is older than `b`, the same, or newer; 2.6 and 2.6.0 are the
/// same.
inline int compare_versions(std::string_view a, std::string_view b) {
  const std::vector<long> x = version_numbers(a), y = version_numbers(b);
  for (std::size_t i = 0; i < std::max(x.size(), y.size()); ++i) {
    const long p = i < x.size() ? x[i] : 0, q = i < y.size() ? y[i] : 0;
    if (p != q) return p < q ? -1 : 1;
  }
  return 0;
}
} // namespace detail

/// True where a fact is what is expected: words of comparisons that all hold, or the text itself.
inline bool holds(std::string_view expected, std::string_view fact) {
  if (expected == fact) return true;
  bool any = false;
  for (const std::string_view word : split_at(expected, " ")) {
    if (word.empty()) continue;
    const std::size_t end = word.find_first_not_of("<>=");
    if (end == 0 || end == std::string_view::npos) return false;
    const std::string_view how = word.substr(0, end);
    if (detail::version_numbers(fact).empty()) return false;
    const int c = detail::compare_versions(fact, word.substr(end));
    const bool fine = how == ">="   ? c >= 0
                      : how == "<=" ? c <= 0
                      : how == ">"  ? c > 0
                      : how == "<"  ? c < 0
                                    : (how == "==" || how == "=") && c == 0;
    if (!fine) return false;
    any = true;
  }
  return any;
}

// ---- the file
// -------------------------------------------------------------------------------------

inline ordered_json to_json(const experiment& e) {
  ordered_json models = ordered_json::array();
  for (const experiment_model& m : e.models)
    models.push_back({{"name", m.name}, {"content", m.content}});
  ordered_json out{{"benanza_experiment", experiment_schema}, {"name", e.name}};
  if (!e.note.empty()) out["note"] = e.note;
  out["models"] = std::move(models);
  if (!e.graphs.empty()) out["graphs"] = e.graphs;
  out["types"] = e.types;
  out["states"] = e.states;
  out["backends"] = e.backends;
  out["threads"] = e.threads;
  out["effort"] = e.effort;
  out["scenarios"] = e.scenarios;
  out["expects"] = e.expects;
  return out;
}

/// The experiment that `text` holds; refuses what is none, in one line.
inline experiment read_experiment(std::string_view text, const std::string& source) {
  refuse_nested(text, source);
  const auto j = nlohmann::json::parse(text, nullptr, false);
  const auto refuse = [&](const std::string& what) {
    throw error(what, source, detail::experiment_again);
  };
  if (j.is_discarded()) refuse("the experiment is not valid JSON");
  if (!j.is_object() || !j.contains("benanza_experiment")) refuse("this is no experiment");
  if (j["benanza_experiment"] != experiment_schema)
    refuse("the experiment has another schema than " + std::to_string(experiment_schema));
  experiment e;
  const std::set<std::string_view> known{
      "benanza_experiment", "name",    "note",   "models",    "graphs", "types", "states",
      "backends",           "threads", "effort", "scenarios", "expects"};
  for (const auto& [key, value] : j.items())
    if (!known.contains(key)) refuse("an experiment says nothing by \"" + printable(key) + '"');
  const auto text_of = [&](const nlohmann::json& from, std::string_view key) {
    if (!from.is_string()) refuse('"' + std::string(key) + "\" is not a text");
    return from.get<std::string>();
  };
  const auto read_text = [&](const char* key, std::string& to) {
    if (j.contains(key)) to = text_of(j[key], key);
  };
  const auto read_texts = [&](const char* key, std::vector<std::string>& to) {
    if (!j.contains(key)) return;
    if (!j[key].is_array()) refuse('"' + std::string(key) + "\" is not a list");
    for (const auto& one : j[key])
      to.push_back(text_of(one, key));
  };
  read_text("name", e.name);
  read_text("note", e.note);
  read_text("graphs", e.graphs);
  if (!is_beside(e.graphs)) refuse("\"graphs\" is no file beside the experiment or below");
  read_text("effort", e.effort);
  if (!parse_effort(e.effort)) refuse("\"effort\" is none");
  read_texts("types", e.types);
  read_texts("states", e.states);
  read_texts("backends", e.backends);
  read_texts("scenarios", e.scenarios);
  for (const std::string& t : e.types)
    if (!parse_numeric(t)) refuse("\"" + printable(t) + "\" is no type");
  if (j.contains("threads")) {
    e.threads.clear();
    if (!j["threads"].is_array() || j["threads"].empty())
      refuse("\"threads\" is not a list of numbers");
    for (const auto& one : j["threads"]) {
      if (!one.is_number_integer() || one < 1 || one > 1 << 16)
        refuse("\"threads\" holds what is no number of threads");
      e.threads.push_back(one.get<int>());
    }
  }
  if (!j.contains("models") || !j["models"].is_array() || j["models"].empty())
    refuse("the experiment names no models");
  for (const auto& one : j["models"]) {
    if (!one.is_object() || !one.contains("name") || !one.contains("content"))
      refuse("a model has no \"name\" and \"content\"");
    e.models.push_back({text_of(one["name"], "name"), text_of(one["content"], "content")});
  }
  if (j.contains("expects")) {
    if (!j["expects"].is_object()) refuse("\"expects\" is not a table");
    for (const auto& [section, facts] : j["expects"].items()) {
      if (!facts.is_object()) refuse("\"expects\" does not hold tables of facts");
      for (const auto& [fact, value] : facts.items())
        e.expects[section][fact] = text_of(value, fact);
    }
  }
  return e;
}

/// The experiment in a file.
inline experiment read_experiment_file(const std::string& path) {
  return read_experiment(input_text(path, std::size_t{16} << 20, "the experiment"), path);
}

// ---- is a result what was asked for?
// --------------------------------------------------------------

/// What an experiment asked for and a result does not have, or has otherwise.
struct deviation {
  std::string what{}, asked{}, found{};
  bool operator==(const deviation&) const = default;
};

/// What the facts of a result are, against what is expected.
inline std::vector<deviation>
unexpected(const experiment& e,
           const std::map<std::string, std::map<std::string, std::string>>& facts) {
  std::vector<deviation> out;
  for (const auto& [section, expected] : e.expects)
    for (const auto& [fact, asked] : expected) {
      const auto its = facts.find(section);
      const bool there = its != facts.end() && its->second.contains(fact);
      const std::string found = there ? its->second.at(fact) : "not told";
      if (!there || !holds(asked, found)) out.push_back({section + '.' + fact, asked, found});
    }
  return out;
}

/// The models of an experiment that are not among some graphs, or are others.
inline std::vector<deviation> other_models(const experiment& e,
                                           const std::vector<model::graph>& graphs) {
  std::vector<deviation> out;
  for (const experiment_model& m : e.models) {
    const auto same = std::find_if(graphs.begin(), graphs.end(),
                                   [&](const model::graph& g) { return g.name == m.name; });
    const bool elsewhere = std::any_of(graphs.begin(), graphs.end(), [&](const model::graph& g) {
      return content_of(g) == m.content;
    });
    if (elsewhere) continue;
    out.push_back({"model " + m.name, m.content,
                   same == graphs.end() ? "not there" : "another model, " + content_of(*same)});
  }
  return out;
}

/// All in which a result is not what the experiment asked for.
inline std::vector<deviation> deviations(const experiment& e, const run& r) {
  std::vector<deviation> out = unexpected(e, r.provenance);
  for (deviation& d : other_models(e, r.graphs))
    out.push_back(std::move(d));
  const auto measuring = r.provenance.find("measuring");
  const auto fact = [&](const char* name) -> std::string {
    return measuring == r.provenance.end() || !measuring->second.contains(name)
               ? "not told"
               : measuring->second.at(name);
  };
  // Where several runs are one, each has its effort.
  if (const std::string effort = fact("effort"); effort != e.effort)
    out.push_back({"effort", e.effort, effort});
  std::set<std::string> types, states, backends, loads, threads;
  std::size_t failed = 0;
  for (const measurement& m : r.measurements) {
    failed += !m.error.empty() && of_a_layer(m) && !nothing_runs(m);
    if (!m.error.empty()) continue;
    if (m.family == "model") {
      loads.insert(m.state);
      continue;
    }
    if (!of_a_layer(m)) continue;
    types.insert(m.type);
    states.insert(m.state);
    backends.insert(m.backend);
    threads.insert(std::to_string(m.threads));
  }
  const auto lacking = [&](const char* what, const auto& asked,
                           const std::set<std::string>& there) {
    for (const auto& one : asked) {
      std::string text;
      if constexpr (std::is_integral_v<std::decay_t<decltype(one)>>)
        text = std::to_string(one);
      else
        text = one;
      if (!there.contains(text))
        out.push_back({what, text, there.empty() ? "nothing" : join(there, ", ")});
    }
  };
  lacking("type", e.types, types);
  lacking("state", e.states, states);
  const auto asked_for = [&](const std::string& its) {
    return std::any_of(e.backends.begin(), e.backends.end(),
                       [&](const std::string& b) { return means(b, its); });
  };
  for (const std::string& b : e.backends)
    if (std::none_of(backends.begin(), backends.end(),
                     [&](const std::string& its) { return means(b, its); }))
      out.push_back({"backend", b, backends.empty() ? "nothing" : join(backends, ", ")});
  lacking("threads", e.threads, threads);
  lacking("scenario", e.scenarios, loads);
  for (const std::string& b : backends)
    if (!e.backends.empty() && !asked_for(b))
      out.push_back({"backend", join(e.backends, ", "), b + " too"});
  if (failed > 0) out.push_back({"cases", "all measured", std::to_string(failed) + " failed"});
  if (fact("interrupted") == "yes") out.push_back({"run", "whole", "interrupted"});
  return out;
}

} // namespace benanza::result
