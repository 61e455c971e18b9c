// SPDX-License-Identifier: Apache-2.0
// How is a whole model timed? As a subject with one case, `model/<graph>/<type>/chain/plan/run/t1`:
// the chain of a plan, verified node by node before it is timed. On a device there is another one,
// `chain/streams`: branches side by side. A sequence of layers is timed alike, in cache states.
// With levels (levels.hpp) there are their runs instead: `chain/level-model`, `chain/level-layer`,
// `chain/level-call`.
//
//   group g = plan_group(plan, libraries);   runner.measure(g, stop);
#pragma once

#include "../../machine/processor_counters.hpp"
#include "../../model/sequence.hpp"
#include "../noise/hand_off_probe.hpp"
#include "../noise/smt_probe.hpp"
#include "levels.hpp"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace benanza::measure {

/// The chain of a plan as the subject of a group.
class plan_subject final : public subject {
public:
  plan_subject(result::plan p, const library_list& libraries, const parameters& thresholds)
      : plan_(std::move(p))
      , libraries_(libraries)
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
    const stopwatch timer;
    const level deepest = level_of(c.algorithm.id);
    if (deepest != level::none && of_levels_)
      return {std::make_unique<level_run>(of_levels_, libraries_, deepest, threads), timer.ns()};
    auto made = std::make_unique<chain>(plan_, libraries_, parameters_,
                                        c.algorithm.id == result::side_by_side);
    const double took_ns = timer.ns();
    sequence_ ? made->verify_nodes() : made->verify();
    // Between two probes of the machine; what takes longer is looked at between its steps.
    constexpr double short_ns = 0.5e6;
    if (sequence_ && made->time(1) < short_ns) made->time_as_one();
    if (deepest == level::none) return {std::move(made), took_ns};
    of_levels_ = std::move(made);
    return {std::make_unique<level_run>(of_levels_, libraries_, deepest, threads), took_ns};
  }
  void end() override { of_levels_.reset(); }

  /// What the events of each level cost: its run's time less that of the level before. One that is
  /// lost in the noise is 0. And what the processor counts of each layer, in a run of its own.
  void conclude(std::vector<bench_case>& cases) const override {
    const std::vector<result::measurement>* before = nullptr;
    for (bench_case& c : cases) {
      if (level_of(c.algorithm.id) == level::none) continue;
      for (std::size_t i = 0; before != nullptr && i < c.results.size(); ++i)
        if (i < before->size() && c.results[i].error.empty() && (*before)[i].error.empty())
          c.results[i].overhead_ns = std::max(0.0, c.results[i].median_ns - (*before)[i].median_ns);
      before = &c.results;
      if (level_of(c.algorithm.id) != level::layer || !of_levels_ || of_levels_->on_device())
        continue;
      count_parts(*of_levels_, c.results);
    }
  }

private:
  /// Notes what the processor counts of each part in a run that is not timed.
  static void count_parts(chain& c, std::vector<result::measurement>& of) {
    machine::processor_counters counters;
    std::string why = counters.refused();
    std::vector<std::vector<std::int64_t>> counted;
    if (why.empty()) c.run(1);
    for (std::size_t k = 0; why.empty() && k < c.steps(); ++k) {
      counters.begin();
      c.execute(k);
      const std::vector<double> values = counters.end();
      if (values.empty()) why = "others had the counters";
      counted.emplace_back(values.begin(), values.end());
    }
    for (result::measurement& m : of) {
      m.not_counted = !why.empty() || m.parts.size() == counted.size()
                          ? why
                          : "the times of its parts are not known";
      if (!m.not_counted.empty()) continue;
      const auto& names = counters.names();
      m.counters_of_parts.assign(names.begin(), names.end());
      for (std::size_t k = 0; k < counted.size(); ++k)
        m.parts[k].counted = counted[k];
    }
  }

  /// A figure that was written down when the layers were measured; 0 where it was not.
  double known_fact(const char* fact) const {
    const auto measuring = plan_.provenance.find("measuring");
    if (measuring == plan_.provenance.end()) return 0;
    const auto at = measuring->second.find(fact);
    return at == measuring->second.end() ? 0 : std::strtod(at->second.c_str(), nullptr);
  }

  result::plan plan_;
  bool sequence_ = false;
  const library_list& libraries_;
  parameters parameters_;
  std::shared_ptr<chain> of_levels_{}; ///< that all levels run
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

/// What is asked of whole models besides their run.
struct chain_request {
  std::vector<scenario> scenarios{};
  level deepest = level::none; ///< events up to this level, in place of the run
};

/// What a case of a whole model is called.
inline std::string chain_case_name(const model::graph& g, numeric type, std::string_view how,
                                   const std::string& state, int threads) {
  return "model/" + g.name + '/' + std::string(name(type)) + "/chain/" + std::string(how) + '/' +
         state + "/t" + std::to_string(threads);
}

/// The group of a plan: one case, on a device another one with its branches side by side, and one
/// for each load. Refuses a plan whose times come from another machine or other software: its
/// prediction says nothing here. How many cores were allowed does not matter, as long as there is
/// one for each of its threads.
inline group plan_group(const result::plan& p, const library_list& libraries,
                        const std::map<std::string, std::map<std::string, std::string>>& here,
                        const parameters& thresholds = usual_parameters,
                        const chain_request& asked = {}) {
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
  group g{.what = std::make_shared<plan_subject>(p, libraries, thresholds)};
  const auto add = [&](std::string_view how, const std::string& state,
                       const std::optional<scenario>& under = {}, std::string_view what = {}) {
    g.cases.push_back({.name = chain_case_name(p.graph, p.type, how, state, p.threads),
                       .backend = "chain",
                       .algorithm = {.id = std::string(how),
                                     .equivalence = std::string(name(p.type)) + std::string(what),
                                     .flops = g.what->flops},
                       .state = state,
                       .under = under});
  };
  for (const named_level& l : named_levels) // they do not compete
    if (l.what <= asked.deepest) add(l.algorithm, result::whole_run, {}, " " + std::string(l.word));
  if (asked.deepest != level::none) return g;
  add(result::in_order, result::whole_run);
  if (on_device && detail::has_branches(p.graph)) add(result::side_by_side, result::whole_run);
  for (const scenario& s : asked.scenarios)
    add(result::in_order, name(s), s);
  return g;
}

} // namespace benanza::measure
