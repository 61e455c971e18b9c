// SPDX-License-Identifier: Apache-2.0
// Which whole models are put in scenarios where no plan says how they run? Each of the run's, in
// its fused form where there is one, by first choices or by named ones: a case for the model
// itself, `model/lenet@batch=1,fused/f32/chain/first/run/t1`, and one for each scenario.
//
//   auto groups = scenario_groups(graphs, libraries, selection, {parse_scenario("offline")},
//   choices);
#pragma once

#include "../../model/forms.hpp"
#include "../chain/sequence_cases.hpp"
#include "run.hpp"

#include <string>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Adds to the group of a plan a case for each scenario.
inline void add_scenarios(group& g, const result::plan& p, const std::vector<scenario>& all) {
  for (const scenario& s : all) {
    g.cases.push_back(chain_case(p, *g.what, result::in_order, name(s)));
    g.cases.back().unsampled = std::make_shared<scenario_run>(s);
  }
}

/// The groups of whole models under scenarios, each in one type on some threads. `choices` says by
/// what layers run on so many threads. Refuses a model with a layer that nothing runs.
template <class Choices>
std::vector<group> scenario_groups(const std::vector<model::graph>& graphs,
                                   const library_list& libraries, const selection& s,
                                   const std::vector<scenario>& scenarios, Choices&& choices,
                                   const parameters& p = usual_parameters) {
  const name_filter selected(s.filter);
  std::vector<group> out;
  for (const int threads : s.threads) {
    const named_choices named = choices(threads);
    const std::string how(named.empty() ? result::by_first_choice : result::by_named_choice);
    const bool on_device = std::none_of(libraries.begin(), libraries.end(),
                                        [](const auto& l) { return !l->on_device(); });
    first_choice choice(
        libraries,
        {.threads = threads, .on_device = on_device, .named = named, .crashed = s.crashed});
    for (const model::graph* g : model::one_form_each(graphs, model::form::fused)) {
      std::vector<numeric> types = s.types;
      if (types.empty()) types.push_back(measured_type(*g, libraries, s));
      for (const numeric type : types) {
        group made;
        const auto add = [&](const std::string& state,
                             const std::shared_ptr<const other_run>& unsampled) {
          bench_case c{.name = chain_case_name(*g, type, how, state, threads),
                       .backend = "chain",
                       .algorithm = {.id = how, .equivalence = std::string(name(type))},
                       .state = state,
                       .unsampled = unsampled,
                       .on_device = on_device};
          if (selected(c.name)) made.cases.push_back(std::move(c));
        };
        add(result::whole_run, {});
        for (const scenario& l : scenarios)
          add(name(l), std::make_shared<scenario_run>(l));
        if (made.cases.empty()) continue;
        made.what = std::make_shared<plan_subject>(choice.plan(*g, type), libraries, p);
        for (bench_case& c : made.cases)
          c.algorithm.flops = made.what->flops;
        out.push_back(std::move(made));
      }
    }
  }
  return out;
}

} // namespace benanza::measure
