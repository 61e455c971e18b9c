// SPDX-License-Identifier: Apache-2.0
// What do the visits of a side say, case by case, layer by layer, and of each model? And how much
// does each layer weigh in the models?
//
//   values_by<algorithm_key> all = case_values(side, names);   all[key][2]   // of the third visit
#pragma once

#include "rows.hpp"
#include "values.hpp"

#include "../advice/advised.hpp"
#include "../core/text.hpp"
#include "../result/fields.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::compare {

/// A visit: a run, and the figures of its models. Refers to the run.
struct visit {
  const result::run* run = nullptr;
  std::vector<model_bound> models{};
  double raised = 0; ///< by interference that was there all the time
};

/// What is compared. Refers to the runs and the models.
struct side {
  std::string source{};
  std::vector<visit> visits{};
  std::vector<advice::advised> advised{}; ///< of its last visit
};

namespace detail {
/// How slowly a core began instructions when a visit was calibrated; 0: it does not say.
inline double begin_ratio(const visit& v, const char* fact) {
  const auto facts = v.run->provenance.find("measuring");
  if (facts == v.run->provenance.end()) return 0;
  const auto found = facts->second.find(fact);
  return found == facts->second.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

/// Interference that is there all the time shows only against another visit, in which a core began
/// its instructions sooner. The visit with it says how fast something is at least.
inline void find_hidden_interference(std::vector<visit>& before, std::vector<visit>& after) {
  constexpr double within = 1.15, raised_by_it = 0.5;
  double best = 0;
  for (const auto* side : {&before, &after})
    for (const visit& v : *side)
      for (const char* fact : {result::begin_fact, result::begin_after_fact})
        if (const double ratio = begin_ratio(v, fact); ratio > 0)
          best = best > 0 ? std::min(best, ratio) : ratio;
  for (auto* side : {&before, &after})
    for (visit& v : *side)
      if (begin_ratio(v, result::begin_fact) > within * best) v.raised = raised_by_it;
}

/// The median clock of a side's cases; 0: half of them or more do not say it.
inline double clock_of(const side& s) {
  std::vector<double> clocks;
  std::size_t cases = 0;
  for (const visit& v : s.visits)
    for (const measurement& m : v.run->measurements)
      if (m.error.empty() && result::of_a_layer(m)) {
        ++cases;
        if (m.clock_ns > 0) clocks.push_back(m.clock_ns);
      }
  return 2 * clocks.size() > cases ? result::median(std::move(clocks)) : 0;
}

inline std::string fact_of(const side& s, const std::string& section, const std::string& fact) {
  std::set<std::string> all;
  for (const visit& v : s.visits)
    if (const auto facts = v.run->provenance.find(section); facts != v.run->provenance.end())
      if (const auto found = facts->second.find(fact); found != facts->second.end())
        all.insert(found->second);
  return join(all, "; ");
}

inline side_facts facts_of(const side& s) {
  side_facts out{.source = s.source,
                 .cpu = fact_of(s, "machine", "cpu"),
                 .software = {},
                 .dates = fact_of(s, "measuring", "date"),
                 .visits = s.visits.size(),
                 .clock_ns = clock_of(s)};
  if (const std::string gpu = fact_of(s, "machine", "gpu"); !gpu.empty()) out.cpu = gpu;
  if (const auto facts = s.visits.front().run->provenance.find("software");
      facts != s.visits.front().run->provenance.end())
    for (const auto& [fact, told] : facts->second)
      if (fact.ends_with("_version"))
        out.software += (out.software.empty() ? "" : ", ") +
                        fact.substr(0, fact.size() - std::string("_version").size()) + ' ' + told;
  for (const visit& v : s.visits)
    for (const measurement& m : v.run->measurements)
      if (m.error.empty() && result::of_a_layer(m)) {
        ++out.cases;
        out.disturbed += !m.disturbed.empty() || v.raised > 0;
      }
  return out;
}

/// Names of backends of which both sides have one version each are those of their libraries.
class backend_names {
public:
  backend_names(const side& a, const side& b)
      : first_(versions_of(a))
      , second_(versions_of(b)) {}

  std::string of(const std::string& backend) const {
    const std::string library(result::library_of(backend));
    const auto one = [&](const versions& all) {
      const auto found = all.find(library);
      return found == all.end() || found->second.size() < 2;
    };
    return one(first_) && one(second_) ? library : backend;
  }

private:
  using versions = std::map<std::string, std::set<std::string>>;
  static versions versions_of(const side& s) {
    versions out;
    for (const visit& v : s.visits)
      for (const measurement& m : v.run->measurements)
        out[std::string(result::library_of(m.backend))].insert(m.backend);
    return out;
  }
  versions first_, second_;
};

/// A layer in a type on some threads.
using layer_key = std::tuple<std::string, std::string, int>;
/// An algorithm of it in a cache state.
using algorithm_key = std::tuple<layer_key, std::string, std::string>;
/// A figure of a model in a type on some threads.
using figure_key = std::tuple<std::string, std::string, int, std::string>;

/// A value, with what was there all the time.
inline clocked_value of_visit(const visit& from, clocked_value v) {
  v.raised = std::max(v.raised, from.raised);
  return v;
}

/// What the visits of a side say, by key.
template <class Key>
using values_by = std::map<Key, std::vector<clocked_value>>;

inline std::string by(const backend_names& names, const measurement& m) {
  return names.of(m.backend) + '/' + m.algorithm;
}

/// All cases of layers; and how many each layer has in a visit.
inline values_by<algorithm_key> case_values(const side& s, const backend_names& names) {
  values_by<algorithm_key> out;
  for (const visit& v : s.visits) {
    std::map<algorithm_key, const measurement*> all;
    for (const measurement& m : v.run->measurements)
      if (m.error.empty() && result::of_a_layer(m) && !result::nothing_runs(m))
        all[{{m.family + '/' + m.key, m.type, m.threads}, by(names, m), m.state}] = &m;
    for (const auto& [key, m] : all) {
      const auto hot = all.find({std::get<0>(key), std::get<1>(key), "hot"});
      out[key].push_back(of_visit(v, of_case(*m, hot == all.end() ? nullptr : hot->second)));
    }
  }
  return out;
}

/// What a side says of a layer.
struct layer_values {
  std::vector<clocked_value> alone{}, in_a_run{};
  std::string by{}; ///< what its bound rests on, in the last visit
};

/// All layers. A visit that has fewer algorithms of one than another visit is left out for it.
inline std::map<layer_key, layer_values> layer_values_of(const side& s,
                                                         const backend_names& names) {
  std::vector<std::map<layer_key, int>> counts;
  std::map<layer_key, int> most;
  for (const visit& v : s.visits) {
    std::map<layer_key, int>& its = counts.emplace_back();
    for (const measurement& m : v.run->measurements)
      if (m.error.empty() && result::of_a_layer(m))
        ++its[{m.family + '/' + m.key, m.type, m.threads}];
    for (const auto& [key, n] : its)
      most[key] = std::max(most[key], n);
  }
  std::map<layer_key, layer_values> out;
  for (std::size_t i = 0; i < s.visits.size(); ++i) {
    std::set<layer_key> seen; // in another model of this visit
    for (const model_bound& b : s.visits[i].models)
      for (const layer_answer& l : b.layers) {
        const layer_key key{l.name, std::string(name(l.type)), b.threads};
        if (!l.timed() || !seen.insert(key).second || counts[i][key] != most[key]) continue;
        layer_values& its = out[key];
        its.alone.push_back(of_visit(s.visits[i], alone(l)));
        its.in_a_run.push_back(of_visit(s.visits[i], in_a_run(l)));
        its.by = by(names, *l.algorithms.best);
      }
  }
  return out;
}

inline constexpr const char *fused_form = "fused", *rewritten_form = "rewritten";

/// All figures of models, in the forms that both sides hold. Of a partial one the sums mean
/// something else; `lacking` names those of which no visit is whole.
inline values_by<figure_key> model_values(const side& s, const std::set<figure_key>& forms,
                                          std::set<std::string>& lacking) {
  values_by<figure_key> out;
  std::set<std::string> whole;
  for (const visit& v : s.visits)
    for (const model_bound& b : v.models) {
      if (b.graph->model.empty()) continue; // loose layers
      const auto key = [&](std::string what) {
        return figure_key{b.graph->name, std::string(name(b.type)), b.threads, std::move(what)};
      };
      for (const bound::chain_run& r : b.runs) {
        std::string what = r.run->algorithm == "plan" ? "run" : "run " + r.run->algorithm;
        if (!r.fused && b.fused) what += " unfused";
        out[key(std::move(what))].push_back(of_visit(v, run_of(r, b)));
      }
      for (const bound::scenario_run& r : b.scenarios)
        out[key(r.run->state + ' ' + r.run->algorithm)].push_back(of_visit(v, scenario_of(r)));
      const std::string title = b.graph->name + ' ' + std::string(name(b.type));
      if (b.covered.partial() || b.left() > 0 || !(b.bound.sequential.ns > 0)) {
        lacking.insert(title);
        continue;
      }
      whole.insert(title);
      const bool as_fused = b.fused && forms.contains(key(fused_form));
      const model_bound& best = forms.contains(key(rewritten_form)) ? b.best_graph() : b;
      out[key("bound")].push_back(
          of_visit(v, bound_of(best, best.fused && forms.contains(key(fused_form)))));
      if (const auto expected = prediction_of(b, as_fused))
        out[key("expected")].push_back(of_visit(v, *expected));
    }
  for (const std::string& title : whole)
    lacking.erase(title);
  return out;
}

/// The models of which both sides hold a fused form, or a rewritten graph.
inline std::set<figure_key> forms_on_both(const side& a, const side& b) {
  const auto all = [](const side& s) {
    std::map<figure_key, bool> out;
    for (const visit& v : s.visits)
      for (const model_bound& m : v.models)
        for (const auto& [form, held] : {std::pair(fused_form, m.fused.has_value()),
                                         std::pair(rewritten_form, m.equivalent != nullptr)}) {
          const figure_key key{m.graph->name, std::string(name(m.type)), m.threads, form};
          out[key] = held && (!out.contains(key) || out[key]);
        }
    return out;
  };
  const auto first = all(a), second = all(b);
  std::set<figure_key> out;
  for (const auto& [key, held] : first)
    if (const auto found = second.find(key); held && found != second.end() && found->second)
      out.insert(key);
  return out;
}

/// Of each layer the model of a side in which it takes the greatest share, with its uses there.
struct weight {
  std::string model{};
  double uses = 0;
  double share_of_ns = 0,
         share_of_run_ns = 0; ///< uses by the model's bound, by what it should take
};
inline std::map<layer_key, weight> weights_of(const side& s, const std::set<figure_key>& forms) {
  std::map<layer_key, weight> out;
  for (const model_bound& b : s.visits.back().models) {
    const bool as_fused = b.fused && forms.contains({b.graph->name, std::string(name(b.type)),
                                                     b.threads, fused_form});
    const double sum = b.form(as_fused).bound.sequential.ns;
    const std::optional<bound::figure> expected = bound::expected(b.form(as_fused));
    const double run_ns = expected && expected->ns > 0 ? expected->ns : sum;
    const std::vector<double> uses = uses_in(b, as_fused);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      if (uses[i] == 0 || !b.layers[i].timed() || !(sum > 0)) continue;
      weight& w = out[{b.layers[i].name, std::string(name(b.layers[i].type)), b.threads}];
      if (uses[i] / sum > w.share_of_ns)
        w = {b.graph->name, uses[i], uses[i] / sum, uses[i] / run_ns};
    }
  }
  return out;
}
} // namespace detail

} // namespace benanza::compare
