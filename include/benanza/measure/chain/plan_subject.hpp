// SPDX-License-Identifier: Apache-2.0
// How is a whole model timed? As a subject with one case, `model/<graph>/<type>/chain/plan/run/t1`:
// the chain of a plan, verified node by node before it is timed. On a device there is another one,
// `chain/streams`: branches side by side. A sequence of layers is timed alike, in cache states.
//
//   group g = plan_group(plan, libraries);   runner.measure(g, stop);
#pragma once

#include "../../model/sequence.hpp"
#include "../noise/hand_off_probe.hpp"
#include "../noise/smt_probe.hpp"
#include "chain.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace benanza::measure {

/// The chain of a plan as the subject of a group.
class plan_subject : public subject {
public:
  plan_subject(result::plan p, const library_list& libraries, const parameters& thresholds)
      : libraries_(libraries)
      , plan_(std::move(p))
      , parameters_(thresholds) {
    family = "model";
    key = plan_.graph.name;
    sequence_ = model::is_sequence(plan_.graph);
    if (sequence_) {
      family = model::sequence_family;
      key.erase(0, model::sequence_prefix.size());
    }
    // One case represents all layers.
    constexpr double of_a_model = 20, layers_a_share = 5;
    const double layers = static_cast<double>(plan_.graph.nodes.size());
    time_share = sequence_ ? std::clamp(layers / layers_a_share, 1.0, of_a_model) : of_a_model;
    type = plan_.type;
    threads = team = plan_.threads;
    known = {.hand_off_ns = known_fact(hand_off_fact),
             .nop_ratio = known_fact(result::begin_fact),
             .clock_ns = known_fact(clock_fact)};
    const std::vector<std::int64_t> uses = model::counts(plan_.graph);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      const op::layer& l = plan_.graph.layers[i];
      if (op::is_view(l)) continue;
      const auto add = [&](std::int64_t& sum, std::int64_t of_one) {
        sum = capped_add(sum, capped_multiply(uses[i], of_one));
      };
      add(flops, op::cost(l).flops());
      add(direct_flops, op::direct_flops(l));
      add(bytes, op::cost(l).bytes(type));
    }
  }

  ready_case ready(const bench_case& c) override {
    auto [made, took_ns] = verified(c);
    return {std::move(made), took_ns};
  }

protected:
  /// The case's chain, its nodes found right, and how long it took to make it.
  std::pair<std::unique_ptr<chain>, double> verified(const bench_case& c) const {
    const stopwatch timer;
    auto made = std::make_unique<chain>(plan_, libraries_, parameters_,
                                        c.algorithm.id == result::side_by_side);
    const double took_ns = timer.ns();
    sequence_ ? made->verify_nodes() : made->verify();
    // Between two probes of the machine; what takes longer is looked at between its steps.
    constexpr double short_ns = 0.5e6;
    if (sequence_ && made->time(1) < short_ns) made->time_as_one();
    return {std::move(made), took_ns};
  }

  const library_list& libraries_;

private:
  /// A figure that was written down when the layers were measured; 0 where it was not.
  double known_fact(const char* fact) const {
    const auto measuring = plan_.provenance.find("measuring");
    if (measuring == plan_.provenance.end()) return 0;
    const auto at = measuring->second.find(fact);
    return at == measuring->second.end() ? 0 : std::strtod(at->second.c_str(), nullptr);
  }

  result::plan plan_;
  bool sequence_ = false;
  parameters parameters_;
};

namespace detail {
/// True for a plan of which something runs on a device.
inline bool on_device(const result::plan& p, const library_list& libraries) {
  return std::any_of(p.steps.begin(), p.steps.end(), [&](const result::plan_step& s) {
    return std::any_of(libraries.begin(), libraries.end(),
                       [&](const auto& l) { return l->name() == s.backend && l->on_device(); });
  });
}
/// True where a result has several readers.
inline bool has_branches(const model::graph& g) {
  std::set<std::pair<int, int>> read;
  for (const model::node& n : g.nodes) {
    std::set<std::pair<int, int>> its;
    for (const model::operand& o : model::known_operands(n))
      if (o.node >= 0) its.emplace(o.node, o.output);
    for (const auto& r : its)
      if (!read.insert(r).second) return true;
  }
  return false;
}
} // namespace detail

/// What a case of a whole model is called.
inline std::string chain_case_name(const model::graph& g, numeric type, std::string_view how,
                                   const std::string& state, int threads) {
  return "model/" + g.name + '/' + std::string(name(type)) + "/chain/" + std::string(how) + '/' +
         state + "/t" + std::to_string(threads);
}

/// A case of a plan's model.
inline bench_case chain_case(const result::plan& p, const subject& what, std::string_view how,
                             const std::string& state) {
  return {.name = chain_case_name(p.graph, p.type, how, state, p.threads),
          .backend = "chain",
          .algorithm = {.id = std::string(how),
                        .equivalence = std::string(name(p.type)),
                        .flops = what.flops},
          .state = state};
}

/// Refuses a plan whose times come from another machine or other software: its prediction says
/// nothing here. How many cores were allowed does not matter, as long as there is one for each of
/// its threads.
inline void
refuse_from_elsewhere(const result::plan& p, const library_list& libraries,
                      const std::map<std::string, std::map<std::string, std::string>>& here) {
  const bool on_device = detail::on_device(p, libraries); // the host around it does not matter then
  for (const char* section : result::identity_sections)
    for (const auto& [fact, value] : p.provenance.at(section)) {
      if (fact == "cores" || (on_device && section == std::string_view("machine"))) continue;
      const auto& ours_of = here.at(section);
      const auto own = ours_of.find(fact);
      const std::string ours = own == ours_of.end() ? "not known" : own->second;
      if (ours != value)
        throw error("the plan is from elsewhere: " + fact + " was \"" + value + "\" and is \"" +
                        ours + "\"",
                    p.graph.name, "measure here, and write the plan from that result");
    }
}

/// The group of a plan: one case, on a device another one with its branches side by side.
inline group plan_group(const result::plan& p, const library_list& libraries,
                        const std::map<std::string, std::map<std::string, std::string>>& here,
                        const parameters& thresholds = usual_parameters) {
  refuse_from_elsewhere(p, libraries, here);
  group g{.what = std::make_shared<plan_subject>(p, libraries, thresholds)};
  g.cases.push_back(chain_case(p, *g.what, result::in_order, result::whole_run));
  if (detail::on_device(p, libraries) && detail::has_branches(p.graph))
    g.cases.push_back(chain_case(p, *g.what, result::side_by_side, result::whole_run));
  return g;
}

} // namespace benanza::measure
