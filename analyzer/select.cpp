// SPDX-License-Identifier: Apache-2.0
#include "select.hpp"

#include <range/v3/view/addressof.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>
#include <range/v3/view/zip.hpp>

#include <set>
#include <utility>

namespace benanza::analyzer {

std::vector<const model::graph*> models_named(const result::run& r, const std::string& wanted) {
  const auto all = r.graphs | ranges::views::transform(&model::graph::name) |
                   ranges::to<std::set<std::string>>();
  // A fused or rewritten form is reported with the model that it is the form of.
  auto unfused = r.graphs | ranges::views::filter([&](const model::graph& g) {
                   return !all.contains(g.unfused) && !all.contains(g.original);
                 });
  const auto those = [&](auto is) {
    return unfused | ranges::views::filter(is) | ranges::views::addressof | ranges::to<std::vector>;
  };
  const auto exact =
      those([&](const model::graph& g) { return g.name == wanted || g.model == wanted; });
  if (!exact.empty()) return exact;
  const auto part =
      those([&](const model::graph& g) { return g.name.find(wanted) != std::string::npos; });
  if (part.empty())
    refuse_choice("no model is called \"" + wanted + "\"",
                  unfused | ranges::views::transform(&model::graph::name) |
                      ranges::to<std::set<std::string>>());
  return part;
}

model::graph loose_layers(const result::run& r) {
  model::graph g;
  g.name = "layers";
  std::set<std::string> names;
  std::set<numeric> types;
  for (const bound::measurement& m : r.measurements)
    if (result::of_a_layer(m) && m.family != "reorder") {
      names.insert(m.family + '/' + m.key);
      types.insert(parse_numeric(m.type).value_or(numeric::f32));
    }
  if (names.empty())
    throw error("the result holds no model and no layer", r.source, "measure some");
  g.type = *types.begin();
  for (const std::string& name : names) {
    model::node n;
    n.name = name;
    n.op = name.substr(0, name.find('/'));
    n.layer = static_cast<int>(g.layers.size());
    g.layers.push_back(op::parse(name));
    g.nodes.push_back(std::move(n));
  }
  return g;
}

namespace {
std::string setting_text(const bound::setting& s) {
  return std::string(name(s.first)) + " on " + std::to_string(s.second) +
         (s.second == 1 ? " thread" : " threads");
}

/// Refuses a type and a number of threads in which no layer of `graphs` was measured; says in which
/// any was.
void refuse_setting(const bound::case_table& cases, const std::vector<const model::graph*>& graphs,
                    const selection& wanted) {
  std::set<std::string> known;
  for (const model::graph* g : graphs)
    for (const bound::setting& s : cases.settings(*g))
      known.insert(setting_text(s));
  std::string what = "nothing was measured";
  if (graphs.size() == 1) what += " of " + graphs.front()->name;
  if (!wanted.type.empty()) what += " in type \"" + wanted.type + '"';
  if (wanted.threads)
    what +=
        " on " + std::to_string(*wanted.threads) + (*wanted.threads == 1 ? " thread" : " threads");
  refuse_choice(what, known);
}
} // namespace

std::vector<bound::model_bound> select(const bound::source& source, const selection& wanted) {
  const result::run& r = source.run;
  const std::optional<numeric> type = parse_numeric(wanted.type);
  const std::vector<const model::graph*> graphs = models_named(r, wanted.model);
  const auto asked_for = [&](const bound::setting& s) {
    return (!type || s.first == *type) && (!wanted.threads || s.second == *wanted.threads);
  };
  std::vector<std::vector<bound::setting>> settings;
  bool any = wanted.type.empty() && !wanted.threads;
  for (const model::graph* g : graphs) {
    std::vector<bound::setting>& of_model = settings.emplace_back(source.cases.settings(*g));
    std::erase_if(of_model, [&](const bound::setting& s) { return !asked_for(s); });
    any = any || !of_model.empty();
    if (of_model.empty()) of_model.emplace_back(type.value_or(g->type), wanted.threads.value_or(1));
  }
  if (!any || (!wanted.type.empty() && !type)) refuse_setting(source.cases, graphs, wanted);

  std::vector<bound::model_bound> out;
  for (const auto& [graph, of_model] : ranges::views::zip(graphs, settings))
    for (const bound::setting& s : of_model)
      out.push_back(bound::analyse(source, *graph, s, {.workers = wanted.workers}));
  return out;
}

std::vector<bound::model_bound> related(const bound::source& source,
                                        const std::vector<bound::model_bound>& models) {
  std::set<std::pair<const model::graph*, bound::setting>> known;
  std::set<std::pair<std::string, int>> wanted; // model and threads
  std::set<std::pair<const model::graph*, numeric>> on_threads;
  for (const bound::model_bound& b : models) {
    known.insert({b.graph, {b.type, b.threads}});
    if (b.graph->model.empty()) continue;
    wanted.emplace(model::variant_of(b.graph->model).of, b.threads);
    on_threads.insert({b.graph, b.type});
  }
  std::vector<bound::model_bound> out;
  if (wanted.empty()) return out;
  for (const model::graph* g : models_named(source.run, "")) {
    for (const bound::setting& s : source.cases.settings(*g))
      if ((wanted.contains({std::string(model::variant_of(g->model).of), s.second}) ||
           on_threads.contains({g, s.first})) &&
          known.insert({g, s}).second)
        out.push_back(bound::analyse(source, *g, s));
  }
  return out;
}

} // namespace benanza::analyzer
