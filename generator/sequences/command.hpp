// SPDX-License-Identifier: Apache-2.0
// What does benanza_generate do about sequences of layers? It prints a sweep, or writes a suite in
// place of single layers.
//
//   do_sequences(arguments, models, decoys, {.folder = "generated/mine"});
#pragma once

#include "../../analyzer/delivery.hpp"
#include "../folder.hpp"
#include "../messages.hpp"
#include "arguments.hpp"
#include "suite.hpp"
#include "sweep.hpp"

#include <benanza/core/printable.hpp>
#include <benanza/result/reader.hpp>

#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

/// Where sequences go.
struct sequence_output {
  std::string folder{};        ///< of a sweep the file that it is written to, if any
  std::string format = "text"; ///< of a sweep
  bool quiet = false;
  emit_options emitting{};
};

namespace detail {
inline void print_sweep(const sequence_arguments& a, const std::vector<model::graph>& models,
                        const sequence_output& to) {
  layer_times times;
  if (!a.times.empty()) {
    times = layer_times(result::read_file(a.times));
    if (!times.given())
      throw error("no layer was measured on one thread", a.times, "give a result of layers");
  }
  const auto rows = sweep_rows(models, a.range(), *model::parse_cut(a.split), times);
  analyzer::deliver(std::cout, to.folder, to.format,
                    sweep_answer(rows, models, times_text(models, times, a.times)));
}

/// FOLDER.map.json, next to the folder.
inline std::string map_file(const sequence_arguments& a, const std::string& folder) {
  const std::string beside = meant_by(folder).string();
  const std::string file = a.map.empty() ? beside + ".map.json" : a.map;
  if (meant_by(std::filesystem::path(file).parent_path().empty()
                   ? std::filesystem::path(".")
                   : std::filesystem::path(file).parent_path()) == meant_by(folder))
    throw error("the private map would lie in the folder that is given away", file,
                "write --map to another place");
  return file;
}
} // namespace detail

/// Prints or writes what the arguments ask for, of models and, with `--fused`, their fused forms
/// behind each.
inline void do_sequences(const sequence_arguments& a, std::vector<model::graph> models,
                         std::vector<model::graph> decoys, const sequence_output& to) {
  std::vector<model::graph> forms = a.forms(models);
  if (!a.sweep.empty()) return detail::print_sweep(a, forms, to);
  const std::size_t own = forms.size();
  for (model::graph& g : a.forms(decoys))
    forms.push_back(std::move(g));
  const std::size_t mixed = forms.size() - own;
  for (model::graph& g : decoys)
    models.push_back(std::move(g));
  const suite s = suite_of(models, forms, a.how(), a.anonymise, mixed, to.emitting);
  if (s.unique == s.views + s.unresolved)
    throw error("the models hold no sequence that could be measured");
  // The map is the only key to its suite: it takes the place of an older one only with it.
  const std::string map = a.anonymise ? detail::map_file(a, to.folder) : std::string();
  const auto key = map.empty() ? nullptr : detail::written(map, s.map, result::for_owner);
  write_folder(to.folder, s.files);
  if (key) key->commit();
  if (to.quiet) return;
  if (key) say(fmt::format("what the sequences are stands in {}\n", printable(map)));
  say(fmt::format(
      "{} layers of {} model{}{}: {} sequences, {} unique ones to measure{}, written to "
      "{}\n",
      s.layers, own, own == 1 ? "" : "s", mixed == 0 ? "" : fmt::format(" and {} decoys", mixed),
      s.sequences, s.unique - s.views - s.unresolved,
      s.unresolved == 0 ? "" : fmt::format(" ({} cannot be run)", s.unresolved),
      printable(to.folder)));
}

} // namespace benanza::generator
