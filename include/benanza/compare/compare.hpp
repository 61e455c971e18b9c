// SPDX-License-Identifier: Apache-2.0
// What became faster, and what slower? Compares two sides, each of one visit or several: every
// algorithm, every layer, and the models' bounds, predictions and runs, at one clock where both
// sides are of one processor. Rows that weigh most in the models come first.
//
//   comparison c = compare(before, after, {.min_change = 0.02});   c.worst() == verdict::slower
#pragma once

#include "collect.hpp"
#include "sides.hpp"
#include "verdicts.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::compare {

namespace detail {
/// A comparison in the making.
class comparing {
public:
  comparing(const side& before, const side& after, const limits& l)
      : before_(before)
      , after_(after)
      , names_(before, after)
      , forms_(forms_on_both(before, after))
      , weights_(weights_of(after, forms_)) {
    out_.asked = l;
    out_.before = facts_of(before);
    out_.after = facts_of(after);
    if (std::max(out_.before.disturbed_share(), out_.after.disturbed_share()) > most_disturbed)
      single_df_ = noisy_df;
    out_.one_clock =
        out_.before.cpu == out_.after.cpu && out_.before.clock_ns > 0 && out_.after.clock_ns > 0;
    out_.clock_ns = out_.one_clock ? out_.after.clock_ns : 0;
  }

  comparison made() && {
    compare_cases(); // first: all others rest on how they scatter
    compare_models();
    compare_layers();
    compare_machine();
    compare_advice();
    if (unpaired_ > 0) out_.notes.push_back(unpaired_note(unpaired_));
    out_.facts = different_facts(runs_of(before_), runs_of(after_));
    for (const pool p : {pool::hot, pool::cold, pool::run})
      out_.scatter[static_cast<std::size_t>(p)] = scatter_.of(p);
    return std::move(out_);
  }

private:
  static std::vector<result::run> runs_of(const side& s) {
    std::vector<result::run> out; // without what is large
    for (const visit& v : s.visits) {
      result::run& r = out.emplace_back();
      r.provenance = v.run->provenance;
      std::set<std::string> backends;
      for (const measurement& m : v.run->measurements)
        if (backends.insert(m.backend).second) r.measurements.push_back({.backend = m.backend});
    }
    return out;
  }

  twin twin_of(pool p, const std::vector<clocked_value>& before,
               const std::vector<clocked_value>& after) {
    twin t = compare::twin_of(p, before, after, out_.clock_ns);
    t.pairs = out_.asked.in_turns && before.size() == before_.visits.size() &&
              after.size() == after_.visits.size();
    if (out_.asked.in_turns && !t.pairs) ++unpaired_;
    return t;
  }
  row row_of(const twin& t, const std::vector<clocked_value>& before,
             const std::vector<clocked_value>& after, double df) const {
    row r;
    r.of = difference_of(t, scatter_, df);
    const auto known = [](const clocked_value& v) { return v.knows_clock(); };
    r.at_one_clock = out_.one_clock && std::all_of(before.begin(), before.end(), known) &&
                     std::all_of(after.begin(), after.end(), known);
    return r;
  }
  void weigh(row& r, const layer_key& key) const {
    const auto found = weights_.find(key);
    if (found == weights_.end()) return;
    r.in_model = found->second.model;
    const double ns = r.of.after_ns - r.of.before_ns;
    const bool alone = r.what == "alone" || r.what == "hot";
    r.effect_ns = found->second.uses * ns;
    r.effect_share = (alone ? found->second.share_of_ns : found->second.share_of_run_ns) * ns;
  }

  void compare_cases() {
    const auto before = case_values(before_, names_), after = case_values(after_, names_);
    std::vector<twin> twins;
    std::vector<algorithm_key> keys;
    for (const auto& [key, its] : before)
      if (const auto found = after.find(key); found != after.end()) {
        twins.push_back(
            twin_of(std::get<2>(key) == "hot" ? pool::hot : pool::cold, its, found->second));
        keys.push_back(key);
      }
    if (twins.empty()) refuse_nothing_common(before, after);
    scatter_ = scatter(twins);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      row r = row_of(twins[i], before.at(keys[i]), after.at(keys[i]), single_df_);
      std::tie(r.subject, r.type, r.threads) = std::get<0>(keys[i]);
      r.algorithm = std::get<1>(keys[i]);
      r.what = std::get<2>(keys[i]);
      out_.algorithms.push_back(std::move(r));
    }
    compare_kernels(keys, twins);
    note_one_sided(before, after);
  }

  /// An algorithm over all layers that it runs: a library's change of it shows in all of them,
  /// interference hardly does.
  void compare_kernels(const std::vector<algorithm_key>& keys, const std::vector<twin>& twins) {
    constexpr std::size_t fewest = 3;
    std::map<std::tuple<std::string, std::string, int>, std::vector<twin>> kernels;
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (const auto& [layer, algorithm, state] = keys[i]; state == "hot")
        kernels[{algorithm, std::get<1>(layer), std::get<2>(layer)}].push_back(twins[i]);
    for (const auto& [key, its] : kernels) {
      if (its.size() < fewest) continue;
      row r;
      std::tie(r.subject, r.type, r.threads) = key;
      r.what = "kernel";
      r.layers = its.size();
      r.at_one_clock = out_.one_clock;
      r.of = together(its, scatter_);
      out_.kernels.push_back(std::move(r));
    }
    give_verdicts(out_.kernels, out_.asked);
    sort_rows(out_.kernels);
  }

  /// Of one visit a single layer is believed if its kernel or its model's bound says the same: the
  /// place of its memory changes a short one by a tenth and more from start to start, on a quiet
  /// machine too.
  void corroborate(std::vector<row>& rows) const {
    for (row& r : rows) {
      if (r.says == verdict::same || r.says == verdict::unsure ||
          std::min(r.of.before_visits, r.of.after_visits) > 1)
        continue;
      const auto says_so = [&](const row& k) {
        return k.says == r.says && k.type == r.type && k.threads == r.threads &&
               (k.subject == r.algorithm || k.subject == r.before_by || k.subject == r.after_by);
      };
      const auto bound_says_so = [&](const row& m) {
        return m.says == r.says && m.what == "bound" && m.subject == r.in_model &&
               m.type == r.type && m.threads == r.threads;
      };
      if (std::any_of(out_.kernels.begin(), out_.kernels.end(), says_so) ||
          std::any_of(out_.models.begin(), out_.models.end(), bound_says_so))
        continue;
      r.uncorroborated = true;
      r.says = verdict::unsure;
    }
  }

  /// Layers and algorithms that only one side has a time of; and those that fail now.
  void note_one_sided(const values_by<algorithm_key>& before,
                      const values_by<algorithm_key>& after) {
    const auto layers = [](const values_by<algorithm_key>& all) {
      std::map<layer_key, std::set<std::string>> out;
      for (const auto& [key, its] : all)
        out[std::get<0>(key)].insert(std::get<1>(key));
      return out;
    };
    const auto text = [](const layer_key& k) {
      const auto& [layer, type, threads] = k;
      return layer + ' ' + type + (threads == 1 ? "" : " on " + std::to_string(threads));
    };
    const auto first = layers(before), second = layers(after);
    const auto add = [&](const auto& its, const auto& others, bool came) {
      for (const auto& [key, algorithms] : its) {
        const auto found = others.find(key);
        if (found == others.end()) {
          out_.alone.push_back({"layer", text(key), {}, came});
          continue;
        }
        for (const std::string& a : algorithms)
          if (!found->second.contains(a))
            out_.alone.push_back({"algorithm", a + " of " + text(key), {}, came});
      }
    };
    add(first, second, false);
    add(second, first, true);
    for (const visit& v : after_.visits)
      for (const measurement& m : v.run->measurements) {
        const layer_key layer{m.family + '/' + m.key, m.type, m.threads};
        if (m.error.empty() || !before.contains({layer, by(names_, m), m.state})) continue;
        out_.alone.push_back(
            {"failure", by(names_, m) + " of " + text(layer) + ", " + m.state, m.error, true});
      }
  }

  [[noreturn]] void refuse_nothing_common(const values_by<algorithm_key>& before,
                                          const values_by<algorithm_key>& after) const {
    const auto settings = [](const values_by<algorithm_key>& all) {
      std::set<std::string> out;
      for (const auto& [key, its] : all)
        out.insert(std::get<1>(std::get<0>(key)) + " on " +
                   std::to_string(std::get<2>(std::get<0>(key))) +
                   (std::get<2>(std::get<0>(key)) == 1 ? " thread" : " threads"));
      return out.empty() ? std::string("no layer") : join(out, ", ");
    };
    const std::string a = settings(before), b = settings(after);
    throw error("the two sides have no case in common: " +
                    (a == b ? "their layers or algorithms are others"
                            : "the old one holds " + a + ", the new one " + b),
                before_.source + " and " + after_.source,
                "measure the same models, types and threads for both");
  }

  void compare_layers() {
    const auto before = layer_values_of(before_, names_), after = layer_values_of(after_, names_);
    for (const auto& [key, its] : before) {
      const auto found = after.find(key);
      if (found == after.end()) continue;
      const auto add = [&, &layer = key, &was = its](const char* what, pool p,
                                                     const std::vector<clocked_value>& a,
                                                     const std::vector<clocked_value>& b) {
        row r = row_of(twin_of(p, a, b), a, b, single_df_);
        std::tie(r.subject, r.type, r.threads) = layer;
        r.what = what;
        r.before_by = was.by;
        r.after_by = found->second.by;
        weigh(r, layer);
        out_.layers.push_back(std::move(r));
      };
      add("alone", pool::hot, its.alone, found->second.alone);
      add("in a run", pool::cold, its.in_a_run, found->second.in_a_run);
    }
    give_verdicts(out_.layers, out_.asked);
    corroborate(out_.layers);
    sort_rows(out_.layers);
    // An algorithm weighs as much as its layer, if that is run by it.
    std::map<layer_key, const row*> by_layer;
    for (const row& r : out_.layers)
      if (r.what == "alone") by_layer[{r.subject, r.type, r.threads}] = &r;
    for (row& r : out_.algorithms) {
      const layer_key key{r.subject, r.type, r.threads};
      const auto found = by_layer.find(key);
      if (found != by_layer.end() &&
          (found->second->before_by == r.algorithm || found->second->after_by == r.algorithm))
        weigh(r, key);
    }
    give_verdicts(out_.algorithms, out_.asked);
    corroborate(out_.algorithms);
    sort_rows(out_.algorithms);
  }

  void compare_models() {
    std::set<std::string> lacking;
    const auto before = model_values(before_, forms_, lacking),
               after = model_values(after_, forms_, lacking);
    for (const std::string& title : lacking)
      out_.notes.push_back(title + ": its bound is not compared, as layers of it have no time "
                                   "(benanza_analyze names them)");
    for (const auto& [key, its] : before) {
      const auto found = after.find(key);
      if (found == after.end()) continue;
      const auto& [model, type, threads, what] = key;
      const pool p = what == "bound" ? pool::hot : what == "expected" ? pool::cold : pool::run;
      row r = row_of(twin_of(p, its, found->second), its, found->second, quiet_df);
      r.subject = r.in_model = model;
      r.what = what;
      r.type = type;
      r.threads = threads;
      r.effect_ns = r.of.after_ns - r.of.before_ns;
      r.effect_share = r.of.change;
      out_.models.push_back(std::move(r));
    }
    give_verdicts(out_.models, out_.asked);
    sort_rows(out_.models);
    std::stable_partition(out_.models.begin(), out_.models.end(),
                          [](const row& r) { return r.what == "bound"; });
    const auto names = [](const side& s) {
      std::set<std::string> out;
      for (const visit& v : s.visits)
        for (const model_bound& b : v.models)
          if (!b.graph->model.empty())
            out.insert(b.graph->name + ' ' + std::string(name(b.type)) +
                       (b.threads == 1 ? "" : " on " + std::to_string(b.threads)));
      return out;
    };
    const std::set<std::string> first = names(before_), second = names(after_);
    for (const std::string& n : first)
      if (!second.contains(n)) out_.alone.push_back({"model", n, {}, false});
    for (const std::string& n : second)
      if (!first.contains(n)) out_.alone.push_back({"model", n, {}, true});
  }

  /// The machine's own cases: they run no library's code, so what differs there is no library's.
  void compare_machine() {
    if (out_.before.cpu != out_.after.cpu) return;
    const auto values = [](const side& s) {
      std::map<std::string, std::vector<clocked_value>> out;
      for (const visit& v : s.visits)
        for (const measurement& m : v.run->measurements)
          if (m.error.empty() && m.family == "machine" && m.backend == "machine" &&
              m.threads == 1 && m.state == "hot" && m.disturbed.empty())
            out[m.key].push_back(of_case(m, &m));
      return out;
    };
    const auto before = values(before_), after = values(after_);
    for (const auto& [key, its] : before) {
      const auto found = after.find(key);
      if (found == after.end()) continue;
      row r = row_of(twin_of(pool::run, its, found->second), its, found->second, quiet_df);
      r.subject = key;
      if (std::abs(r.of.change) >= 0.1) out_.machine.push_back(std::move(r));
    }
    std::stable_sort(out_.machine.begin(), out_.machine.end(), [](const row& a, const row& b) {
      return std::abs(a.of.change) > std::abs(b.of.change);
    });
  }

  void compare_advice() {
    using key = std::pair<std::string, std::string>;
    std::map<key, advice_change> all;
    std::map<std::string, double> run_ns;
    std::set<std::string> unmeasurable; // what is advised then is chance
    const auto title = [](const advice::advised& a) {
      return a.model->graph->name + ' ' + std::string(name(a.model->type));
    };
    for (const side* s : {&before_, &after_})
      for (const advice::advised& a : s->advised)
        if (!a.model->unmeasurable.empty()) unmeasurable.insert(title(a));
    const auto take = [&](const side& s, double advice_change::*saves) {
      for (const advice::advised& a : s.advised) {
        const std::string model = title(a);
        if (unmeasurable.contains(model)) continue;
        run_ns[model] = std::max(run_ns[model], advice::changed_run_ns(a));
        for (const advice::item& i : a.list.items) {
          advice_change& c = all[{model, i.id}];
          c.model = model;
          c.id = i.id;
          c.what = i.what;
          c.*saves = i.saves.ns;
        }
      }
    };
    take(before_, &advice_change::before_ns);
    take(after_, &advice_change::after_ns);
    // Savings scatter more than times; what comes to less than a twentieth of a run is left out.
    constexpr double least_share = 0.05;
    for (auto& [k, c] : all)
      if (std::abs(c.after_ns - c.before_ns) > least_share * run_ns[c.model])
        out_.advice.push_back(std::move(c));
    std::stable_sort(out_.advice.begin(), out_.advice.end(), [](const auto& a, const auto& b) {
      return std::abs(a.after_ns - a.before_ns) > std::abs(b.after_ns - b.before_ns);
    });
  }

  const side &before_, &after_;
  backend_names names_;
  std::set<figure_key> forms_; ///< that both hold
  std::map<layer_key, weight> weights_;
  scatter scatter_;
  double single_df_ = quiet_df; ///< of the times of single layers
  std::size_t unpaired_ = 0;    ///< times that lack in a turn
  comparison out_;
};
} // namespace detail

/// Compares `after` with `before`; refuses two sides without a case in common.
inline comparison compare(side before, side after, const limits& l = {}) {
  if (l.in_turns)
    detail::check_turns(before.visits.size(), after.visits.size(),
                        before.source + " and " + after.source);
  detail::find_hidden_interference(before.visits, after.visits);
  return detail::comparing(before, after, l).made();
}

} // namespace benanza::compare
