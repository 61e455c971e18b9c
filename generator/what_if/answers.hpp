// SPDX-License-Identifier: Apache-2.0
// Which algorithm, what to fuse, which numbers: what is known of that for a GPU that is not here
// (--what-if)? What cuDNN lists, and rooflines of the GPU's data sheet. Nothing here was measured,
// and what neither knows is left open.
//
//   answers a = answer(all, graphs, {.wanted = true, .target = "h100", .what_if = true});
//   a.models[0].types[2].fused->ns
#pragma once

#include "../algorithms.hpp"
#include "data_sheet.hpp"

#ifdef BENANZA_WITH_CUDNN

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

/// Below this a layer does not gain.
inline constexpr double least_gain = 1.05;

/// May a layer's products run on tensor cores, by what the libraries list?
enum class tensor_cores : std::uint8_t { listed, not_told, none };

/// What is known of a layer in a type.
struct layer_answer {
  const layer_algorithms* list = nullptr;
  std::optional<roof> least{};                ///< by the data sheet
  std::optional<roof> without_tensor_cores{}; ///< the same at the rate of f32
  int engines = 0; ///< different ones that cuDNN lists, of exactly this class of numbers
  std::vector<std::string> first{}; ///< what its heuristics put first, for each way of writing it
  std::string refused{};            ///< why cuDNN lists none
  bool multiplies = false;
  tensor_cores on = tensor_cores::none;

  /// How many times faster than without tensor cores, by the data sheet; 1 where there are none.
  double gain() const {
    if (on == tensor_cores::none || !least || !without_tensor_cores || !(least->ns > 0)) return 1;
    return without_tensor_cores->ns / least->ns;
  }
};

/// Layers of a model, and nodes that use them.
struct tally {
  std::int64_t layers = 0, nodes = 0;
  void add(std::int64_t uses) { ++layers, nodes += uses; }
};

/// Rooflines of all nodes.
struct roof_sum {
  double ns = 0;
  double arithmetic_ns = 0; ///< of it in nodes that arithmetic limits
  std::int64_t bytes = 0;
  std::int64_t unknown = 0; ///< nodes without a roofline
};

/// Nodes of the fused form that replace several, of one family.
struct fused_group {
  std::string family{};
  tally all{}, listed{}; ///< listed: cuDNN has an engine for them
  double saved_ns = 0;   ///< by rooflines
  std::int64_t saved_bytes = 0;
  std::string refused{}; ///< why cuDNN lists none for one of them
};

/// A model in a type.
struct type_answer {
  numeric type = numeric::f32;
  roof_sum unfused{};
  std::optional<roof_sum> fused{};
  std::vector<std::pair<const layer_answer*, std::int64_t>> layers{}; ///< with uses, heaviest first
  tally several{}, one{}, none{};                                     ///< of cuDNN's engines
  std::vector<fused_group> groups{};                                  ///< what saves most first
  tally on_listed{}, on_not_told{}, on_none{}, no_gain{};
  double without_ns = 0, with_ns = 0; ///< products without and with tensor cores
};

struct model_answer {
  const model::graph* it = nullptr;
  const model::graph* fused = nullptr;
  std::int64_t unresolved = 0;
  std::vector<type_answer> types{};
};

/// All of it. It points into itself and into the graphs it was made from: it may be moved, not
/// copied.
struct answers {
  algorithm_list list{};
  std::optional<data_sheet> sheet{};
  std::vector<layer_answer> layers{};
  std::vector<model_answer> models{};
};

namespace detail {
using layer_book = std::map<std::pair<std::string, numeric>, const layer_answer*>;

/// The reason that cuDNN has most often for listing nothing.
inline std::string refusal_of(const backend::cudnn::lister& lister, const layer_algorithms& l) {
  std::map<std::string, int> reasons;
  for (const auto& r : lister.refused(l.layer, l.type))
    ++reasons[r.why];
  const auto most = std::max_element(reasons.begin(), reasons.end(),
                                     [](auto& a, auto& b) { return a.second < b.second; });
  return most == reasons.end()
             ? "no graph is written for it; cuDNN's other calls are known on the GPU alone"
             : most->first;
}

/// True for what competes in the type itself, and not as a less exact class.
inline bool is_equivalent(const backend::cudnn::offer& o, const layer_algorithms& l) {
  return o.what.equivalence == name(l.type);
}

/// True where the GPU has arithmetic of a type, or that is not known.
inline bool may_have(const answers& a, numeric t) {
  return !a.sheet || a.sheet->flops_per_ns(t) > 0;
}

inline tensor_cores tensor_cores_for(const answers& a, const layer_algorithms& l, int capability) {
  if (l.type == numeric::f32 || !may_have(a, l.type)) return tensor_cores::none;
  for (const backend::cudnn::offer& o : l.offers)
    if (is_equivalent(o, l) && o.how.tensor_cores()) return tensor_cores::listed;
  return has_product(l, capability) ? tensor_cores::not_told : tensor_cores::none;
}

inline layer_answer answer_for(const answers& a, const layer_algorithms& l,
                               const backend::cudnn::lister& lister, int capability) {
  layer_answer out{.list = &l};
  std::int64_t flops = op::direct_flops(l.layer);
  std::set<std::pair<std::string, std::int64_t>> engines;
  const backend::cudnn::recipe* way = nullptr;
  for (const backend::cudnn::offer& o : l.offers) {
    if (!is_equivalent(o, l)) continue;
    flops = std::min(flops, o.what.flops);
    engines.emplace(o.made_by->before, o.how.choice.engine);
    if (std::exchange(way, o.made_by.get()) != o.made_by.get() && o.how.proposed_by == "A")
      out.first.push_back(o.what.id);
  }
  out.engines = static_cast<int>(engines.size());
  if (l.offers.empty())
    out.refused = refusal_of(lister, l);
  else if (out.engines == 0)
    out.refused = "only as " + l.offers.front().what.equivalence;
  out.multiplies = op::cost(l.layer).macs > 0;
  if (out.multiplies) out.on = tensor_cores_for(a, l, capability);
  if (a.sheet) {
    out.least = roofline(*a.sheet, l.layer, l.type, flops);
    if (out.least && !quantised(l.type))
      out.without_tensor_cores = roofline(*a.sheet, a.sheet->flops_per_ns(numeric::f32),
                                          out.least->flops, out.least->bytes);
  }
  return out;
}

/// What is known of a node's layer; null for views and what is not resolved.
inline const layer_answer* at(const layer_book& book, const model::graph& g, const model::node& n,
                              numeric t) {
  const op::layer* l = model::layer_of(g, n);
  const auto found = l == nullptr ? book.end() : book.find({op::name(*l), t});
  return found == book.end() ? nullptr : found->second;
}

inline roof_sum sum_of(const layer_book& book, const model::graph& g, numeric t) {
  roof_sum out;
  for (const model::node& n : g.nodes) {
    const layer_answer* l = at(book, g, n, t);
    const op::layer* layer = model::layer_of(g, n);
    if (layer != nullptr && op::is_view(*layer)) continue;
    if (l == nullptr || !l->least) {
      ++out.unknown;
      continue;
    }
    out.ns += l->least->ns;
    if (!l->least->by_memory()) out.arithmetic_ns += l->least->ns;
    out.bytes += l->least->bytes;
  }
  return out;
}

/// Question 5: what the nodes of the fused form replace.
inline std::vector<fused_group> groups_of(const layer_book& book, const model_answer& m,
                                          numeric t) {
  std::map<std::string, fused_group> groups;
  std::set<const layer_answer*> seen;
  for (const model::node& n : m.fused->nodes) {
    const layer_answer* whole = at(book, *m.fused, n, t);
    if (whole == nullptr || n.parts.size() < 2) continue;
    fused_group& g = groups[std::string(op::family(whole->list->layer))];
    const bool listed = whole->engines > 0, fresh = seen.insert(whole).second;
    g.all.layers += fresh, ++g.all.nodes;
    g.listed.layers += fresh && listed, g.listed.nodes += listed;
    if (!listed) g.refused = whole->refused;
    if (!whole->least) continue;
    double ns = -whole->least->ns;
    std::int64_t bytes = -whole->least->bytes;
    for (const int part : n.parts)
      if (const layer_answer* l = at(book, *m.it, m.it->nodes[static_cast<std::size_t>(part)], t))
        if (l->least) ns += l->least->ns, bytes += l->least->bytes;
    g.saved_ns += ns, g.saved_bytes += bytes;
  }
  std::vector<fused_group> out;
  for (auto& [family, g] : groups) {
    g.family = family;
    out.push_back(std::move(g));
  }
  std::stable_sort(out.begin(), out.end(),
                   [](auto& a, auto& b) { return a.saved_ns > b.saved_ns; });
  return out;
}

/// Questions 3 and 6: what is listed for the layers of the model as it is.
inline void count_layers(const layer_book& book, const model_answer& m, type_answer& out) {
  std::map<const layer_answer*, std::int64_t> uses;
  for (const model::node& n : m.it->nodes)
    if (const layer_answer* l = at(book, *m.it, n, out.type)) ++uses[l];
  for (const auto& [l, n] : uses) {
    out.layers.emplace_back(l, n);
    const auto times = static_cast<double>(n);
    (l->engines == 0 ? out.none : l->engines == 1 ? out.one : out.several).add(n);
    if (!l->multiplies) continue;
    (l->on == tensor_cores::listed     ? out.on_listed
     : l->on == tensor_cores::not_told ? out.on_not_told
                                       : out.on_none)
        .add(n);
    if (!l->least || !l->without_tensor_cores) continue;
    out.without_ns += times * l->without_tensor_cores->ns;
    out.with_ns += times * l->without_tensor_cores->ns / l->gain();
    if (l->on != tensor_cores::none && l->gain() < least_gain) out.no_gain.add(n);
  }
  const auto weight = [](const auto& e) {
    const auto& [l, n] = e;
    const double each = l->least
                            ? l->least->ns
                            : static_cast<double>(op::cost(l->list->layer).bytes(l->list->type));
    return std::pair(-each * static_cast<double>(n), op::name(l->list->layer));
  };
  std::sort(out.layers.begin(), out.layers.end(),
            [&](const auto& a, const auto& b) { return weight(a) < weight(b); });
}
} // namespace detail

/// Asks cuDNN and the data sheet.
inline answers answer(const model::catalogue& all, std::span<const model::graph> graphs,
                      const target_arguments& arguments) {
  answers a{.list = list_algorithms(all, graphs, arguments)};
  a.sheet = find_data_sheet(a.list.target.name);
  const backend::cudnn::lister lister(a.list.target);
  const int capability = detail::capability_of(a.list.target.json);
  detail::layer_book book;
  a.layers.reserve(a.list.layers.size()); // what is pointed to must stay
  for (const layer_algorithms& l : a.list.layers) {
    a.layers.push_back(detail::answer_for(a, l, lister, capability));
    book[{op::name(l.layer), l.type}] = &a.layers.back();
  }
  for (const model::graph& g : graphs) {
    if (model::is_form(g)) continue;
    model_answer m{.it = &g};
    for (const model::graph& f : graphs)
      if (f.unfused == g.name && m.fused == nullptr) m.fused = &f; // the usual one
    for (const model::node& n : g.nodes)
      m.unresolved += n.layer == model::no_layer;
    for (const numeric t : detail::types_of(g, arguments)) {
      type_answer one{.type = t, .unfused = detail::sum_of(book, g, t)};
      if (m.fused != nullptr) {
        one.fused = detail::sum_of(book, *m.fused, t);
        one.groups = detail::groups_of(book, m, t);
      }
      detail::count_layers(book, m, one);
      m.types.push_back(std::move(one));
    }
    a.models.push_back(std::move(m));
  }
  return a;
}

} // namespace benanza::generator

#endif
