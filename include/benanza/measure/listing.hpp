// SPDX-License-Identifier: Apache-2.0
// What is there to measure? Models and layers, the algorithms that the build's libraries have for
// them, and from that the groups of cases that the options select. A worker process lists them too,
// and must come to the same.
//
//   listing l(options, environment, {});   l.groups[0].cases[0].name
#pragma once

#include "../core/printable.hpp"
#include "bench_case.hpp"
#include "ceilings/list.hpp"
#include "models.hpp"
#include "plans.hpp"
#include "provenance.hpp"
#include "shard.hpp"

namespace benanza::measure {

namespace detail {
/// "it holds "lenet@batch=1" and "lenet@batch=1,fused"": names have commas of their own.
inline std::string held_models(const std::vector<model::graph>& all) {
  constexpr std::size_t most = 6;
  if (all.empty()) return "it holds none";
  std::string out = "it holds ";
  for (std::size_t i = 0; i < std::min(all.size(), most); ++i)
    out += (i == 0 ? "\"" : " and \"") + printable(all[i].name) + '"';
  if (all.size() > most)
    out += " and " + std::to_string(all.size() - most) + " more, which --models lists";
  return out;
}
} // namespace detail

/// What --models prints: a line for each model.
inline std::string models_table(const std::vector<model::graph>& graphs) {
  std::size_t width = std::string_view("name").size();
  for (const model::graph& g : graphs)
    width = std::max(width, printable(g.name).size());
  const auto line = [width](std::string name, std::string_view batch, std::string_view type,
                            std::string_view nodes, std::string_view layers) {
    name.resize(std::max(width, name.size()), ' ');
    for (const auto& [text, columns] :
         {std::pair(batch, std::size_t{7}), std::pair(type, std::size_t{8}),
          std::pair(nodes, std::size_t{8}), std::pair(layers, std::size_t{8})})
      name.append(columns > text.size() ? columns - text.size() : 1, ' ').append(text);
    return name + '\n';
  };
  std::string out = line("name", "batch", "type", "nodes", "layers");
  for (const model::graph& g : graphs)
    out += line(printable(g.name), std::to_string(g.batch), name(g.type),
                std::to_string(g.nodes.size()), std::to_string(g.layers.size()));
  return out;
}

/// The models that --model names.
inline std::vector<model::graph> selected_graphs(const model_set& models, const options& o) {
  std::vector<model::graph> graphs;
  for (const model::graph& g : models.graphs)
    if (o.model.empty() || g.name.find(o.model) != std::string::npos) graphs.push_back(g);
  if (!o.model.empty() && graphs.empty())
    throw error("no model of this program is called so", "--model " + o.model,
                detail::held_models(models.graphs));
  return graphs;
}

/// The libraries that --backends names, or all that can run here; `left_out` gets the others. One
/// that was named and cannot run here lists its cases for a described device; so does any, if only
/// a list for a named device is wanted.
inline library_list selected_libraries(const options& o, std::vector<std::string>& left_out) {
  const auto& makers = backend::registered_backends();
  for (const std::string& name : o.backends)
    if (!makers.contains(name))
      throw error("this program has no library called \"" + name + '"', "--backends",
                  "it has " + detail::joined(makers, [](const auto& m) { return m.first; }));
  library_list out;
  bool described = false;
  for (const auto& [name, make] : makers) {
    const bool named = std::find(o.backends.begin(), o.backends.end(), name) != o.backends.end();
    if (!o.backends.empty() && !named) continue;
    auto made = make();
    if (const std::string why = made->unavailable(); !why.empty()) {
      if (!named && !(o.list_only && !o.target.empty())) {
        left_out.push_back(name + ": " + why);
        continue;
      }
      made->describe_device(o.target.empty() ? usual_target : o.target);
      described = true;
    } else if (made->on_device() && !o.target.empty()) {
      throw error("this machine has a GPU, and its cases are listed", "--target " + o.target,
                  "hide it with CUDA_VISIBLE_DEVICES=none");
    }
    out.push_back(std::move(made));
  }
  if (!o.target.empty() && !described)
    throw error("no case is listed for this GPU", "--target " + o.target,
                "add --benchmark_list_tests, or --backends cudnn");
  return out;
}

/// The types whose arithmetic the machine is asked for: those asked for, the models' own, and
/// those of layers on codes.
inline std::set<numeric> measured_types(const std::vector<model::graph>& graphs, const options& o) {
  std::set<numeric> types(o.types.begin(), o.types.end());
  for (const model::graph& g : graphs) {
    types.insert(g.type);
    for (const op::layer& l : g.layers)
      types.insert(op::computes_in(l, g.type));
  }
  if (types.empty()) types.insert(numeric::f32);
  return types;
}

/// Everything that a run is about.
struct listing {
  library_list libraries;
  std::vector<model::graph> graphs;
  std::vector<group> groups;
  std::vector<std::string> left_out; ///< libraries that cannot run here, and why
  std::vector<std::string> in_f32;   ///< models that no library here computes in their own type
  std::vector<result::measurement> without; ///< rows of layers that no library runs, or lists
  std::size_t cases = 0;

  /// Asks the libraries. Refuses a selection without any case.
  listing(const options& o, const environment& e, const std::vector<result::plan>& plans) {
    if (backend::registered_backends().empty())
      throw error("this program was built without any backend", "",
                  "build it with oneDNN installed");
    libraries = selected_libraries(o, left_out);
    if (plans.empty()) {
      const model_set models = models_of(o);
      graphs = selected_graphs(models, o);
      groups = list_cases(models.layers, graphs, libraries, o, &without);
      for (const model::graph& g : graphs)
        if (g.unfused.empty() && measured_type(g, libraries, o) != g.type)
          in_f32.push_back(printable(g.name) + ": no library here computes all of it in " +
                           std::string(name(g.type)));
      for (group& g : ceilings::list_machine_cases(libraries, measured_types(graphs, o),
                                                   ceilings::numbers(e.processor_list), o))
        groups.push_back(std::move(g));
    } else {
      groups = groups_of(plans, libraries, provenance(e, o, libraries));
    }
    if (groups.empty() && without.empty())
      throw error("no case is selected", o.filter.empty() ? "" : "--benchmark_filter=" + o.filter,
                  "--benchmark_list_tests prints the names of all");
    keep_shard(groups, o.campaign.shard, o.campaign.shards, o);
    for (const group& g : groups)
      cases += g.cases.size();
  }
  listing(const listing&) = delete; // the groups refer to the libraries
  listing& operator=(const listing&) = delete;
};

} // namespace benanza::measure
