// SPDX-License-Identifier: Apache-2.0
// How fast is a model if every change of a tensor's layout is paid for? Each algorithm reads and
// writes its own layouts; between a result and an operand of unlike layouts there is a measured
// reorder. The cheapest assignment of algorithms to nodes is found, and with fusion also which
// nodes run fused. The caller gives and takes plain tensors. Times in ns.
//
//   layout_model m(question, graph, layers, &fusion, fused_layers);
//   if (auto l = m.cheapest(purpose::prediction, {.fused = true})) l->total.ns   l->steps
#pragma once

#include "../fusion.hpp"
#include "assignment.hpp"
#include "choices.hpp"
#include "joint_ways.hpp"
#include "solution.hpp"
#include "tensors.hpp"

#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/view/zip.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::bound {

/// The layouts that a graph, and its fused form where there is one, can run in. Refers to all that
/// it is made of.
class layout_model {
public:
  /// What is asked for: with fused nodes where they are faster, and with plain tensors only.
  struct wish {
    bool fused = false;
    bool plain_only = false;
  };

  /// `layers` and `fused_layers` are the answers for the layers of the two graphs, in their order.
  layout_model(const question& q, const model::graph& g,
               const std::vector<const layer_answer*>& layers, const fusion* f,
               const std::vector<const layer_answer*>& fused_layers)
      : reorders_(q)
      , graph_(g)
      , fusion_(f)
      , tensors_(g) {
    for (const layer_answer* l : layers)
      choices_.push_back(choices_of(q, *l));
    for (const layer_answer* l : fused_layers)
      fused_choices_.push_back(choices_of(q, *l));
    const std::vector<std::int64_t> counts = model::counts(g);
    for (const auto& [choices, uses] : ranges::views::zip(choices_, counts))
      if (!choices.said) silent_nodes_ += uses;
    for (std::size_t i = 0; i < g.nodes.size(); ++i)
      if (const int l = g.nodes[i].layer; l != model::no_layer)
        note_used(static_cast<int>(i), choices_[detail::at(l)], tensors_.reads[i]);
    if (f == nullptr) return;
    for (const model::node& n : f->fused->nodes)
      if (const auto tensors = tensors_of_fused(n); tensors && n.layer != model::no_layer)
        note_used(n.parts.back(), fused_choices_[detail::at(n.layer)], *tensors);
  }

  /// False if no algorithm says in which layouts it works.
  bool known() const { return said_; }
  /// Nodes whose algorithms do not say in which layouts they work, and so are taken as plain.
  std::int64_t silent_nodes() const { return silent_nodes_; }
  /// Changes of layout that were looked at and are modelled, not measured, each with its reason.
  const std::vector<std::string>& modelled_changes() const { return reorders_.modelled(); }
  /// Changes of layout that were looked at and that no case was tried of.
  const std::vector<std::string>& untried_changes() const { return reorders_.untried(); }

  /// The cheapest assignment; nothing if none is possible with the changes that are known.
  std::optional<layout_solution> cheapest(purpose p, wish w) {
    origins_.clear();
    const layout_problem unfused = problem(p, w.plain_only);
    std::vector<std::vector<joint_way>> joint;
    const layout_problem asked = w.fused ? fuse(unfused, joint, p, w.plain_only) : unfused;
    if (ranges::any_of(asked.nodes, [](const auto& ways) { return ways.empty(); }))
      return std::nullopt;
    const assignment found = bound::cheapest(asked);
    if (!std::isfinite(found.ns)) return std::nullopt;

    steps all{.asked_for = p, .place = std::vector<int>(graph_.nodes.size(), 0)};
    const auto add_unfused = [&](int node, int chosen) {
      all.place[detail::at(node)] = static_cast<int>(all.flat.nodes.size());
      all.add(false, node, unfused.nodes[detail::at(node)][detail::at(chosen)],
              origins_[detail::at(node)][detail::at(chosen)]);
    };
    for (std::size_t i = 0; i < found.way.size(); ++i) {
      const int chosen = found.way[i];
      if (!w.fused) {
        add_unfused(static_cast<int>(i), chosen);
        continue;
      }
      const std::vector<int>& parts = fusion_->fused->nodes[i].parts;
      const auto own = static_cast<int>(asked.nodes[i].size() - joint[i].size());
      if (chosen >= own) {
        for (const auto& [part, its_way] :
             ranges::views::zip(parts, joint[i][detail::at(chosen - own)].ways))
          add_unfused(part, its_way);
        continue;
      }
      for (int part : parts)
        all.place[detail::at(part)] = static_cast<int>(all.flat.nodes.size());
      all.add(true, static_cast<int>(i), asked.nodes[i][detail::at(chosen)],
              origins_[graph_.nodes.size() + i][detail::at(chosen)]);
    }
    all.found.exact = found.exact;
    all.flat.tensors = unfused.tensors;
    return with_changes(std::move(all));
  }

private:
  struct layer_choices {
    std::vector<layout_choice> all;
    bool said = true; ///< in which layouts it works
  };

  /// An assignment as steps: every node by itself, with the one way that was chosen for it.
  struct steps {
    purpose asked_for;
    layout_solution found{};
    layout_problem flat{};
    std::vector<int> place{}; ///< of each unfused node in `flat`
    std::vector<const timing*> times{};

    void add(bool fused, int node, const way& chosen, const choice* how) {
      layout_step s{.fused = fused, .node = node, .operands = {}, .result = chosen.gives};
      if (how != nullptr) {
        s.runs = asked_for == purpose::bound ? how->best : how->chosen;
        times.push_back(&reported(*how, asked_for));
        s.ns = times.back()->ns;
        s.clocked = times.back()->clocked;
      }
      for (const laid_tensor& t : chosen.wants)
        s.operands.push_back(t.as);
      found.steps.push_back(std::move(s));
      flat.nodes.push_back({chosen});
    }
  };

  /// The solution, with the changes of layout between its steps.
  layout_solution with_changes(steps all) {
    for (passed_tensor& t : all.flat.tensors)
      if (t.maker != no_maker) t.maker = all.place[detail::at(t.maker)];
    const std::size_t nodes = all.times.size();
    for (const layout_change& c : changes(all.flat, std::vector<int>(all.flat.nodes.size(), 0))) {
      const shape& dims = *tensors_.dims[detail::at(c.tensor)];
      const dtype element = tensors_.elements[detail::at(c.tensor)];
      all.times.push_back(&reported(*reorders_.find(dims, element, c.from, c.to), all.asked_for));
    }
    detail::add_figures(all.found, all.times, nodes, all.asked_for);
    return std::move(all.found);
  }

  layer_choices choices_of(const question& q, const layer_answer& l) {
    layer_choices out;
    if (!l.timed()) {
      out.all.push_back({.operands = {}, .result = std::nullopt, .algorithms = l.algorithms});
      return out;
    }
    out.all = layout_choices(q.cases.of(l.name, l.type, q.threads), q.weights);
    if (l.algorithms.bound_from_roofline())
      for (layout_choice& c : out.all)
        c.algorithms.bound = l.algorithms.bound;
    out.said = !out.all.empty();
    said_ = said_ || out.said;
    if (!out.said)
      out.all.push_back(
          {.operands = {layout::plain}, .result = layout::plain, .algorithms = l.algorithms});
    return out;
  }

  /// Notes in which layouts a node reads `tensors`, and the results of `maker` are made.
  void note_used(int maker, const layer_choices& choices, const std::vector<int>& tensors) {
    for (int t : tensors_.makes[detail::at(maker)])
      for (const layout_choice& c : choices.all)
        used_.add(tensors_.dims[detail::at(t)], tensors_.elements[detail::at(t)], c.result);
    for (std::size_t i = 0; i < tensors.size(); ++i)
      for (const layout_choice& c : choices.all)
        used_.add(tensors_.dims[detail::at(tensors[i])], tensors_.elements[detail::at(tensors[i])],
                  c.operand(i));
  }

  /// The ways of a layer that reads `tensors`. Where an algorithm takes any layout, it goes through
  /// memory element by element: so only layouts without gaps will do. A view that changes dims
  /// needs plain ones.
  void add_ways(const op::layer* l, const layer_choices& choices, const std::vector<int>& tensors,
                purpose p, bool plain_only, std::vector<way>& ways,
                std::vector<const choice*>& origins) const {
    const std::optional<shape> dims = l == nullptr ? std::nullopt : std::optional(op::output(*l));
    const bool keeps = l == nullptr || !op::is_view(*l) || op::operand_dims(*l, 0) == dims;
    const dtype element = l == nullptr ? dtype::real : op::results(*l)[0].element;
    for (const layout_choice& c : choices.all) {
      const bool any = !c.result || ranges::any_of(c.operands, [](const auto& o) { return !o; });
      for (const layout lies : used_.of(dims, element)) {
        const bool fits = keeps && dims && dims->size >= 3 && dims->size <= 5 && dense(lies, *dims);
        if (lies != layout::plain && !(any && fits)) continue;
        way w{.wants = {}, .gives = c.result.value_or(lies), .ns = deciding_ns(c.algorithms, p)};
        bool plain = w.gives == layout::plain;
        for (std::size_t i = 0; i < tensors.size(); ++i) {
          w.wants.push_back({tensors[i], c.operand(i).value_or(lies)});
          plain = plain && w.wants.back().as == layout::plain;
        }
        if (plain_only && !plain) continue;
        ways.push_back(std::move(w));
        origins.push_back(c.algorithms.bound.ns > 0 ? &c.algorithms : nullptr);
      }
    }
  }

  layout_problem problem(purpose p, bool plain_only) {
    static const layer_choices unknown{
        .all = {{.operands = {}, .result = std::nullopt, .algorithms = {}}}};
    layout_problem out;
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const int l = graph_.nodes[i].layer;
      const bool none = l == model::no_layer;
      add_ways(none ? nullptr : &graph_.layers[detail::at(l)],
               none ? unknown : choices_[detail::at(l)], tensors_.reads[i], p, plain_only,
               out.nodes.emplace_back(), origins_.emplace_back());
    }
    for (std::size_t t = 0; t < tensors_.dims.size(); ++t) {
      passed_tensor tensor{.maker = tensors_.maker[t], .plain_at_end = tensors_.at_end[t] != 0};
      for (const layout from : all_layouts)
        for (const layout to : all_layouts)
          tensor.change_ns[static_cast<std::size_t>(from)][static_cast<std::size_t>(to)] =
              change_ns(tensors_.dims[t], tensors_.elements[t], from, to, p);
      out.tensors.push_back(tensor);
    }
    return out;
  }

  double change_ns(const std::optional<shape>& dims, dtype element, layout from, layout to,
                   purpose p) {
    if (from == to || (dims && same_memory(from, to, *dims))) return 0;
    const std::set<layout>& used = used_.of(dims, element);
    const bool worth = dims && used.contains(from) && used.contains(to);
    const choice* c = worth ? reorders_.find(*dims, element, from, to) : nullptr;
    return c == nullptr ? impossible_ns : deciding_ns(*c, p);
  }

  /// The problem of the fused graph: a fused node has the ways of its own layer and, behind them,
  /// those of its parts. Tensors keep their numbers.
  layout_problem fuse(const layout_problem& unfused, std::vector<std::vector<joint_way>>& joint,
                      purpose p, bool plain_only) {
    const model::graph& f = *fusion_->fused;
    layout_problem out{.nodes = {}, .tensors = unfused.tensors};
    for (passed_tensor& t : out.tensors)
      if (t.maker != no_maker) t.maker = fusion_->owner[detail::at(t.maker)];
    for (std::size_t i = 0; i < f.nodes.size(); ++i) {
      std::vector<way>& ways = out.nodes.emplace_back();
      std::vector<const choice*>& origins = origins_.emplace_back();
      const int l = f.nodes[i].layer;
      if (l != model::no_layer && fusion_->differs(i)) {
        const layer_choices& own = fused_choices_[detail::at(l)];
        const auto tensors = tensors_of_fused(f.nodes[i]);
        if (tensors && (own.all.front().algorithms.best != nullptr || fusion_->is_view(i)))
          add_ways(&f.layers[detail::at(l)], own, *tensors, p, plain_only, ways, origins);
      }
      joint.push_back(together(unfused, tensors_.reads, f.nodes[i].parts));
      if (fusion_->shows_sum(i)) // both results are read outside, in one layout
        std::erase_if(joint.back(), [&](const joint_way& j) {
          const auto sum = detail::at(f.nodes[i].parts.front());
          return unfused.nodes[sum][detail::at(j.ways.front())].gives != j.seen.gives;
        });
      for (const joint_way& j : joint.back())
        ways.push_back(j.seen);
    }
    return out;
  }

  /// The tensors that a fused node reads, in its order; nothing if its parts read others.
  std::optional<std::vector<int>> tensors_of_fused(const model::node& n) const {
    std::vector<int> given; // by the caller, in the order in which the parts read them
    for (int part : n.parts)
      for (int t : tensors_.reads[detail::at(part)])
        if (tensors_.maker[detail::at(t)] == no_maker) given.push_back(t);
    std::vector<int> out;
    std::size_t taken = 0;
    for (const model::operand& o : activations(n)) {
      if (o.node == model::model_input) {
        if (taken == given.size()) return std::nullopt;
        out.push_back(given[taken++]);
        continue;
      }
      out.push_back(tensors_.find(fusion_->unfused_result(o)));
      if (out.back() < 0) return std::nullopt;
    }
    return out;
  }

  reorder_table reorders_;
  const model::graph& graph_;
  const fusion* fusion_;
  tensor_table tensors_;
  std::vector<layer_choices> choices_, fused_choices_;
  bool said_ = false;
  std::int64_t silent_nodes_ = 0;
  layouts_in_use used_;
  std::vector<std::vector<const choice*>> origins_; ///< of the ways of all nodes, then fused ones
};

} // namespace benanza::bound
