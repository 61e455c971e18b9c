// SPDX-License-Identifier: Apache-2.0
// Which cases are there? Layer x type x backend x algorithm x state x threads, each with the name
// that people read and filter by. All cases of one layer, type and number of threads form a group:
// they are prepared, checked and sampled together.
//
//   auto groups = list_cases(layers, graphs, libraries, selection);   groups[0].cases[0].name
#pragma once

#include "../../model/footprint.hpp"
#include "../../model/registry.hpp"
#include "../../result/fields.hpp"
#include "name_filter.hpp"
#include "offers.hpp"
#include "reorders.hpp"

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

namespace benanza::measure {

namespace detail {
/// A name must survive as one part of a case name.
inline std::string name_part(std::string text) {
  for (char& c : text)
    if (c == '/' || c == ' ') c = '_';
  return text;
}
} // namespace detail

/// In which cache states layers are measured. Weights may come from the last-level cache where some
/// model of the layer fits it, and from memory always: others may share the cache.
class state_choice {
public:
  state_choice(const std::vector<model::graph>& graphs, const selection& s)
      : selection_(s) {
    for (const model::graph& g : graphs) {
      all_.push_back(&g);
      for (const op::layer& l : g.layers)
        users_[op::name(l)].push_back(&g);
    }
  }

  /// The states of a layer in type `t`. A device has caches of its own, which hold no weights from
  /// run to run.
  std::vector<std::string> states(const op::layer& l, numeric t, bool on_device) {
    std::vector<std::string> out;
    for (const std::string& s : selection_.states) {
      const bool from_llc = s == "llcw";
      if (from_llc && (on_device || (!selection_.states_given && !some_model_fits(l, t)))) continue;
      out.push_back(s);
    }
    return out;
  }

private:
  bool some_model_fits(const op::layer& l, numeric t) {
    const std::vector<const model::graph*>& all = users(l);
    return std::any_of(all.begin(), all.end(), [&](const model::graph* g) {
      const auto [at, is_new] = footprints_.try_emplace({g, t});
      if (is_new) at->second = model::footprint_bytes(*g, t);
      return at->second <= selection_.llc_bytes;
    });
  }

  /// The models that may run a layer. Reorders are none of a model's own layers: any may need them.
  const std::vector<const model::graph*>& users(const op::layer& l) {
    return op::is_reorder(l) ? all_ : users_[op::name(l)];
  }

  const selection& selection_;
  std::vector<const model::graph*> all_{};
  std::map<std::string, std::vector<const model::graph*>> users_{};
  std::map<std::pair<const model::graph*, numeric>, std::int64_t> footprints_{};
};

/// The row of a layer in a type on so many threads that a library could not list, as `error` says,
/// or that none runs: then that is called "none" too.
inline result::measurement row_of_nothing(const op::layer& l, numeric type, int threads,
                                          const std::string& library, const std::string& error) {
  const std::string none(result::nothing_name);
  result::measurement m;
  m.family = op::family(l);
  m.key = op::key(l);
  m.type = m.equivalence = name(type);
  m.backend = library;
  m.algorithm = m.state = none;
  m.threads = threads;
  m.name = m.family + '/' + m.key + '/' + m.type + '/' + library + '/' + none + '/' + none + "/t" +
           std::to_string(threads);
  m.error = error;
  return m;
}

/// The case that represents what a library could not list.
inline bench_case failed_at_listing(const result::measurement& row) {
  bench_case c{.name = row.name, .backend = row.backend, .algorithm = {}, .state = row.state};
  c.algorithm.id = row.algorithm;
  c.results = {row};
  return c;
}

namespace detail {
/// Lists the cases of a selection, layer by layer.
class case_lister {
public:
  case_lister(const std::vector<model::graph>& graphs, const library_list& libraries,
              const selection& s, std::vector<result::measurement>* without, const parameters& p)
      : graphs_(graphs)
      , libraries_(libraries)
      , selection_(s)
      , without_(without)
      , parameters_(p)
      , selected_(s.filter)
      , states_(graphs, s) {
    for (const model::graph& g : graphs) {
      const numeric type = measured_type(g, libraries, s);
      model_types_.insert(type);
      for (const op::layer& l : g.layers)
        own_types_[op::name(l)].insert(type);
    }
  }

  std::vector<group> list(const std::vector<op::registered_layer>& layers) {
    std::map<std::string, const op::registered_layer*> sorted;
    for (const op::registered_layer& l : layers)
      if (!op::is_view(l.parameters) && !l.known) sorted.emplace(op::name(l.parameters), &l);
    // Reorders rest on what is listed for all layers.
    const bool reorders_too = selected_.may_select("reorder/");
    for (const auto& [name, l] : sorted)
      if (reorders_too || selected_.may_select(name + '/')) add_all(name, *l);
    const auto of_layers = layouts_;
    for (const auto& [setting, table] : of_layers)
      for (const auto& [name, r] : reorders(graphs_, table))
        add_reorder(name, r, setting.first, setting.second);
    return std::move(groups_);
  }

private:
  /// A layer in the types asked for, or else in those of its models.
  void add_all(const std::string& name, const op::registered_layer& l) {
    const auto own = own_types_.find(name);
    if (!selection_.model.empty() && own == own_types_.end()) return;
    const std::set<numeric> of_models =
        own == own_types_.end() ? std::set{numeric::f32} : own->second;
    std::set<numeric> types(selection_.types.begin(), selection_.types.end());
    if (types.empty()) types = of_models;
    for (int threads : selection_.threads) {
      bool all_types = true;
      for (numeric type : types)
        all_types = add(name, l, type, threads) && all_types;
      // What no library has in the type asked for runs in the model's own.
      if (!all_types)
        for (numeric type : of_models)
          if (!types.contains(type)) add(name, l, type, threads);
    }
  }

  /// A change of layout in a type; or in the models' own, as layers: of tf32 there are none, for
  /// its numbers are kept as f32.
  void add_reorder(const std::string& name, const op::reorder& r, numeric type, int threads) {
    const auto is_new = [&](numeric t) { return reorders_.emplace(name, t, threads).second; };
    const op::registered_layer l{model::no_layer, r, r.cost()};
    if (!is_new(type) || add(name, l, type, threads)) return;
    for (const numeric own : model_types_)
      if (is_new(own)) add(name, l, own, threads);
  }

  /// A layer in a type on so many threads; false if nothing runs it so.
  bool add(const std::string& layer_name, const op::registered_layer& l, numeric type,
           int threads) {
    const std::string title = layer_name + '/' + std::string(name(type));
    const auto [found, failed] =
        offers_for(title, l.parameters, type, threads, libraries_, selection_.crashed,
                   selection_.all_algorithms, selection_.proposed, parameters_);
    const auto what = std::make_shared<layer_subject>(l.parameters, l.cost, type, threads,
                                                      libraries_, parameters_);
    group g{what};
    for (const offer& f : found) {
      layouts_[{type, threads}].add(layer_name, f.algorithm);
      for (const std::string& state : states_.states(l.parameters, type, f.library->on_device())) {
        bench_case c = named(title, f, state, threads);
        ++g.offered[result::setting_name(c.name)];
        if (selected_(c.name)) g.cases.push_back(std::move(c));
      }
    }
    if (!g.cases.empty()) groups_.push_back(std::move(g));
    for (const auto& [library, why] : failed)
      if (const auto row = row_of_nothing(l.parameters, type, threads, library, why); note(row))
        groups_.push_back({.what = what, .cases = {failed_at_listing(row)}, .measured = true});
    if (found.empty() && failed.empty())
      note(row_of_nothing(l.parameters, type, threads, std::string(result::nothing_name),
                          "no backend has an algorithm for it in " + std::string(name(type))));
    return !found.empty();
  }

  static bench_case named(const std::string& title, const offer& f, const std::string& state,
                          int threads) {
    return {.name = title + '/' + std::string(f.library->name()) + '/' + name_part(f.algorithm.id) +
                    '/' + state + "/t" + std::to_string(threads),
            .backend = std::string(f.library->name()),
            .algorithm = f.algorithm,
            .state = state,
            .on_device = f.library->on_device()};
  }

  /// Keeps the row of what is not measured; false if it is not selected.
  bool note(const result::measurement& row) {
    if (!selected_(row.name)) return false;
    if (without_ != nullptr) without_->push_back(row);
    return true;
  }

  const std::vector<model::graph>& graphs_;
  const library_list& libraries_;
  const selection& selection_;
  std::vector<result::measurement>* without_;
  parameters parameters_;
  name_filter selected_;
  state_choice states_;
  std::map<std::string, std::set<numeric>> own_types_{}; ///< in which models use each layer
  std::set<numeric> model_types_{};
  std::map<std::pair<numeric, int>, layout_table> layouts_{};
  std::set<std::tuple<std::string, numeric, int>> reorders_{}; ///< that were asked for
  std::vector<group> groups_{};
};
} // namespace detail

/// All groups of cases of a selection, sorted by layer, type and threads. `without` gets a row for
/// each setting of a selected layer in which there is no case, or that a library could not list.
/// The latter is a case too, which has failed already.
inline std::vector<group> list_cases(const std::vector<op::registered_layer>& layers,
                                     const std::vector<model::graph>& graphs,
                                     const library_list& libraries, const selection& s,
                                     std::vector<result::measurement>* without = nullptr,
                                     const parameters& p = usual_parameters) {
  return detail::case_lister(graphs, libraries, s, without, p).list(layers);
}

} // namespace benanza::measure
