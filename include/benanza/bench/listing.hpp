// SPDX-License-Identifier: Apache-2.0
// What is there to measure? Models and layers, the algorithms that the build's libraries have for
// them, and from that the groups of cases that the options select. A worker process lists them too,
// and must come to the same.
//
//   listing l(options, environment, {});   l.groups[0].cases[0].name
#pragma once

#include "../backend/level.hpp"
#include "../core/printable.hpp"
#include "../measure/campaign/shard.hpp"
#include "../measure/ceilings/list.hpp"
#include "../measure/chain/plans.hpp"
#include "../measure/levels/level_subject.hpp"
#include "../measure/load/load_subject.hpp"
#include "../measure/scenario/cases.hpp"
#include "../measure/subjects/case_list.hpp"
#include "../measure/subjects/models.hpp"
#include "provenance.hpp"

#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/move.hpp>
#include <range/v3/algorithm/none_of.hpp>
#include <range/v3/iterator/insert_iterators.hpp>
#include <range/v3/numeric/accumulate.hpp>
#include <range/v3/view/map.hpp>

#include <set>

namespace benanza::bench {

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

/// The models that --model names.
inline std::vector<model::graph> selected_graphs(const model_set& models, const options& o) {
  std::vector<model::graph> graphs;
  for (const model::graph& g : models.graphs)
    if (o.model.empty() || model::is_sequence(g) || g.name.find(o.model) != std::string::npos)
      graphs.push_back(g);
  if (!o.model.empty() && std::all_of(graphs.begin(), graphs.end(), model::is_sequence))
    throw error("no model of this program is called so", "--model " + o.model,
                detail::held_models(models.graphs));
  return graphs;
}

/// The libraries that --backends names, or all that can run here but those behind a "-"; `left_out`
/// gets the others. One that was named and cannot run here lists its cases for a described device;
/// so does any, if only a list for a named device is wanted.
inline library_list selected_libraries(const options& o, std::vector<std::string>& left_out) {
  backend::require_levels();
  const auto& makers = backend::registered_backends();
  std::set<std::string> without;
  for (const std::string& word : o.backends) {
    const std::string name = word.starts_with('-') ? word.substr(1) : word;
    if (!makers.contains(name))
      throw error("this program has no library called \"" + name + '"', "--backends",
                  "it has " + join(makers | ranges::views::keys, ","));
    if (word.starts_with('-')) without.insert(name);
  }
  if (!without.empty() && without.size() < o.backends.size())
    throw error("some libraries are named, and others left out", "--backends",
                "name those that are wanted, or leave out the others");
  if (without.size() == makers.size())
    throw error("no library is left", "--backends", "leave out fewer");
  library_list out;
  bool described = false;
  for (const auto& [name, make] : makers) {
    const bool named = ranges::contains(o.backends, name);
    if (without.empty() ? !o.backends.empty() && !named : without.contains(name)) continue;
    auto made = make();
    if (const std::string why = made->unavailable(); !why.empty()) {
      if (!named && !(o.list_only && !o.target.empty())) {
        left_out.push_back(name + ": " + why);
        continue;
      }
      if (backend::device_library* devices = made->own_devices())
        devices->describe_device(o.target.empty() ? usual_target : o.target);
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
      types.insert({op::computes_in(l, g.type), op::may_round_to(l, g.type)});
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
  std::vector<std::string> in_own;   ///< types asked for in which some layers are not computed here
  std::vector<result::measurement> without; ///< rows of layers that no library runs, or lists
  std::size_t cases = 0;
  result::planned_cases planned; ///< of layers all, of the rest what is selected; in all shards

  /// Asks the libraries. Refuses a selection without any case.
  listing(const options& o, const machine::environment& e, const std::vector<result::plan>& plans) {
    if (backend::registered_backends().empty())
      throw error("this program was built without any backend", "",
                  "build it with oneDNN installed");
    libraries = selected_libraries(o, left_out);
    if (o.proposed && ranges::none_of(libraries, [](const auto& l) { return l->on_device(); }))
      throw error("the libraries here propose no algorithms before others", "--algorithms proposed",
                  "leave it out: it is for a GPU's");
    if (plans.empty())
      list_layers(o, e);
    else
      list_plans(o, e, plans);
    if (groups.empty() && without.empty())
      throw error("no case is selected", o.filter.empty() ? "" : "--benchmark_filter=" + o.filter,
                  "--benchmark_list_tests prints the names of all");
    for (const group& g : groups) {
      planned.insert(g.offered.begin(), g.offered.end());
      if (g.offered.empty())
        for (const bench_case& c : g.cases)
          ++planned[result::setting_name(c.name)];
    }
    keep_shard(groups, o.campaign.shard, o.campaign.shards, o);
    cases = ranges::accumulate(groups, std::size_t{0}, std::plus{},
                               [](const group& g) { return g.cases.size(); });
  }
  listing(const listing&) = delete; // the groups refer to the libraries
  listing& operator=(const listing&) = delete;

private:
  void list_plans(const options& o, const machine::environment& e,
                  const std::vector<result::plan>& plans) {
    const auto here = provenance(e, o, libraries);
    for (const result::plan& p : plans) {
      if (o.levels != level::none) {
        groups.push_back(level_group(p, libraries, here, o.levels, o.parameters));
        continue;
      }
      groups.push_back(plan_group(p, libraries, here, o.parameters));
      add_scenarios(groups.back(), p, o.scenarios);
    }
    refuse_twins(groups);
    if (!o.load) return;
    for (std::size_t i = 0; i < plans.size(); ++i)
      groups.push_back(load::load_group(plans[i], libraries, static_cast<int>(i)));
  }

  void list_layers(const options& o, const machine::environment& e) {
    const model_set models = models_of(o);
    graphs = selected_graphs(models, o);
    std::vector<model::graph> whole;
    for (const model::graph& g : graphs)
      if (!model::is_sequence(g)) whole.push_back(g);
    groups = list_cases(models.layers, whole, libraries, o, &without, o.parameters);
    look_for_types(o);
    const auto choices = [&o](int threads) {
      return o.choices.empty() ? named_choices{} : read_choices(o.choices, threads);
    };
    if (whole.size() < graphs.size())
      ranges::move(sequence_groups(graphs, libraries, o, choices, &without, o.parameters),
                   ranges::back_inserter(groups));
    if (!o.scenarios.empty())
      ranges::move(scenario_groups(graphs, libraries, o, o.scenarios, choices, o.parameters),
                   ranges::back_inserter(groups));
    for (const model::graph& g : whole)
      if (!model::is_form(g) && measured_type(g, libraries, o) != g.type)
        in_f32.push_back(printable(g.name) + ": no library here computes all of it in " +
                         std::string(name(g.type)));
    selection of_machine = o;
    of_machine.quick = o.effort == result::effort::quick;
    ranges::move(ceilings::list_machine_cases(libraries, measured_types(graphs, o),
                                              ceilings::numbers(e.processor_list), of_machine),
                 ranges::back_inserter(groups));
  }

  /// Notes types that were asked for in which some layers are not computed here.
  void look_for_types(const options& o) {
    for (const numeric t : o.types) {
      std::set<std::string> lacking;
      for (const result::measurement& m : without)
        if (m.type == name(t) && m.family != "reorder") lacking.insert(m.family + '/' + m.key);
      if (!lacking.empty())
        in_own.push_back(std::to_string(lacking.size()) + " of them, such as " + *lacking.begin() +
                         ": no library here computes them in " + std::string(name(t)));
    }
  }
};

} // namespace benanza::bench
