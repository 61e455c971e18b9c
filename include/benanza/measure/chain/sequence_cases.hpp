// SPDX-License-Identifier: Apache-2.0
// Which sequences of layers are there to time? Each that a generated folder holds is a case in one
// cache state, or in those that were asked for:
// `sequence/3-9ae16a3b2f90404f/f32/chain/first/coldw/t1`, run as a chain by first choices, or by
// named ones. What only views memory has no case, as it takes no time, unless the layout has to be
// changed for it.
//
//   auto groups = sequence_groups(graphs, libraries, selection, {});   groups[0].cases[0].name
#pragma once

#include "../../model/sequence.hpp"
#include "../../op/kinds.hpp"
#include "../../result/fields.hpp"
#include "../subjects/case_list.hpp"
#include "choices.hpp"
#include "plan_subject.hpp"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace benanza::measure {

/// Longer sequences drive their own weights out of the caches, and what is there before each run
/// matters for few of their layers.
inline constexpr std::size_t longest_among_others = 16;

/// The cache states of a sequence: one, so that pieces take less time to measure than models do.
inline std::vector<std::string> sequence_states(const model::graph& g, const selection& s,
                                                bool on_device) {
  if (on_device) return {"hot"}; // a device's caches are emptied for single layers
  if (s.states_given) return s.states;
  return {g.nodes.size() > longest_among_others ? "hot" : "coldw"};
}

namespace detail {
/// The row of a sequence that nothing runs.
inline result::measurement row_without(const model::graph& g, numeric type, int threads,
                                       const std::string& why) {
  const std::string none(result::nothing_name);
  result::measurement m;
  m.family = model::sequence_family;
  m.key = g.name.substr(model::sequence_prefix.size());
  m.type = m.equivalence = name(type);
  m.backend = m.algorithm = m.state = none;
  m.threads = threads;
  m.name =
      g.name + '/' + m.type + '/' + none + '/' + none + '/' + none + "/t" + std::to_string(threads);
  m.error = why;
  return m;
}

/// True if a plan only views memory, as it comes.
inline bool runs_nothing(const result::plan& p) {
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const auto* v = op::as<op::view>(layer_at(p.graph, static_cast<int>(i)));
    if (v == nullptr) return false;
    const auto its = parse_layout(p.steps[i].given_layout);
    if (its && !(v->input == v->result) && !same_memory(*its, layout::plain, v->input))
      return false;
  }
  return true;
}

/// What cannot be run as a whole teaches nothing.
inline void learn_if_runnable(first_choice& choice, const model::graph& g, numeric type) {
  try {
    choice.learn(g, type);
  } catch (const error&) {
  }
}
} // namespace detail

/// The groups of the sequences among `graphs`, each of one sequence in one type on some threads,
/// run by what `choices` says on so many threads. `without` gets a row for each that nothing runs.
template <class Choices>
std::vector<group> sequence_groups(const std::vector<model::graph>& graphs,
                                   const library_list& libraries, const selection& s,
                                   Choices&& choices,
                                   std::vector<result::measurement>* without = nullptr,
                                   const parameters& p = usual_parameters) {
  const name_filter selected(s.filter);
  const bool on_device = std::any_of(libraries.begin(), libraries.end(),
                                     [](const auto& l) { return l->on_device(); }) &&
                         std::none_of(libraries.begin(), libraries.end(),
                                      [](const auto& l) { return !l->on_device(); });
  std::vector<group> out;
  for (const int threads : s.threads) {
    const named_choices named = choices(threads);
    const std::string_view how = named.empty() ? result::by_first_choice : result::by_named_choice;
    first_choice choice(
        libraries,
        {.threads = threads, .on_device = on_device, .named = named, .crashed = s.crashed});
    for (const model::graph& g : graphs)
      if (!model::is_sequence(g))
        detail::learn_if_runnable(choice, g, measured_type(g, libraries, s));
    for (const model::graph& g : graphs) {
      if (!model::is_sequence(g)) continue;
      std::vector<numeric> types = s.types;
      if (types.empty()) types.push_back(measured_type(g, libraries, s));
      for (const numeric type : types) {
        const std::string title = g.name + '/' + std::string(name(type));
        group made;
        for (const std::string& state : sequence_states(g, s, on_device)) {
          bench_case c{
              .name = title + "/chain/" + std::string(how) + '/' + state + "/t" +
                      std::to_string(threads),
              .backend = "chain",
              .algorithm = {.id = std::string(how), .equivalence = std::string(name(type))},
              .state = state,
              .on_device = on_device};
          if (selected(c.name)) made.cases.push_back(std::move(c));
        }
        if (made.cases.empty()) continue;
        try {
          result::plan plan = choice.plan(g, type);
          if (detail::runs_nothing(plan)) continue;
          made.what = std::make_shared<plan_subject>(std::move(plan), libraries, p);
          made.what->read_in_order =
              choice.read_in_order(layer_at(g, static_cast<int>(g.nodes.size()) - 1));
          for (bench_case& c : made.cases)
            c.algorithm.flops = made.what->flops;
          out.push_back(std::move(made));
        } catch (const error& e) {
          if (without != nullptr)
            without->push_back(detail::row_without(g, type, threads, e.what()));
        }
      }
    }
  }
  return out;
}

} // namespace benanza::measure
