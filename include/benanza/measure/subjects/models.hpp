// SPDX-License-Identifier: Apache-2.0
// Which models and layers is a run about? Those compiled into the program, or in their place those
// of the files that --graphs and --layers name. Files are read once: what they held is kept in
// memory that the program hands to itself when it starts again, and to its workers, so that all of
// them list the same, whatever becomes of a file or a pipe meanwhile.
//
//   share_models(selection);   const model_set m = models_of(selection);   m.graphs, m.layers
#pragma once

#include "../../model/registry.hpp"
#include "../../model/sequence.hpp"
#include "../../result/graph_file.hpp"
#include "../../result/layer_file.hpp"
#include "selection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace benanza::measure {

/// What a run is about.
struct model_set {
  std::vector<op::registered_layer> layers{};
  std::vector<model::graph> graphs{};
};

/// The models of the generated folder that the program was built from.
inline model_set compiled_models() {
  model_set out{.layers = op::registered_layers()};
  for (const model::table& t : model::registered_tables())
    out.graphs.push_back(model::to_graph(t, out.layers));
  return out;
}

/// The models of a list, as if they had been compiled in.
inline model_set models_of(result::graph_list l) {
  std::map<std::string, const op::layer*> unique;
  for (const model::graph& g : l.graphs)
    for (const op::layer& layer : g.layers)
      unique.emplace(op::name(layer), &layer);
  model_set out;
  for (const auto& [name, layer] : unique)
    out.layers.push_back(
        {static_cast<int>(out.layers.size()), *layer, op::cost(*layer), l.known.contains(name)});
  out.graphs = std::move(l.graphs);
  return out;
}

namespace detail {
/// The number of the open file that holds what the files held.
inline constexpr const char* models_variable = "BENANZA_MODELS";

inline bool has_model_files(const selection& s) {
  return !s.graph_files.empty() || !s.layer_files.empty();
}

/// What the files of the options hold; refuses them if that is nothing to measure.
inline result::graph_list read_model_files(const selection& s) {
  std::vector<result::graph_list> lists;
  for (const std::string& file : s.graph_files)
    lists.push_back(result::read_graph_file(file));
  for (const std::string& file : s.layer_files)
    lists.push_back({.graphs = {result::as_chain(result::read_layers(file), file)}});
  result::graph_list all = result::together(std::move(lists));
  bool any = false;
  for (const model::graph& g : all.graphs)
    any = any || model::is_sequence(g) ||
          std::any_of(g.layers.begin(), g.layers.end(), [&](const op::layer& l) {
            return !op::is_view(l) && !all.known.contains(op::name(l));
          });
  if (!any)
    throw error("the models hold no layer that is to be measured",
                s.graph_files.empty() ? s.layer_files[0] : s.graph_files[0],
                "write the file again with benanza_generate");
  return all;
}
} // namespace detail

/// Reads the files that the options name, once for all processes of the run.
inline void share_models(const selection& s) {
  if (!detail::has_model_files(s) || std::getenv(detail::models_variable) != nullptr) return;
  const std::string text = result::to_text(detail::read_model_files(s));
  const int memory = memfd_create("benanza_models", 0);
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t n = memory < 0 ? -1 : write(memory, text.data() + done, text.size() - done);
    if (n < 0) throw error(std::string("the models cannot be kept: ") + std::strerror(errno));
    done += static_cast<std::size_t>(n);
  }
  setenv(detail::models_variable, std::to_string(memory).c_str(), 1);
}

/// The models of the run.
inline model_set models_of(const selection& s) {
  if (!detail::has_model_files(s)) return compiled_models();
  const char* shared = std::getenv(detail::models_variable);
  if (shared == nullptr) return models_of(detail::read_model_files(s));
  try {
    const std::string place = std::string("/proc/self/fd/") + shared;
    return models_of(result::read_graph_file(place));
  } catch (const error&) {
    throw error("this variable is only for the program itself", detail::models_variable,
                "unset it");
  }
}

} // namespace benanza::measure
