// SPDX-License-Identifier: Apache-2.0
// How does a graph run of which nothing was measured yet? Each layer by what a library would take
// first: of its exact algorithms that can be in a chain the first one, own plain kernels where no
// library has any; or by the one that is named for it. Activations have the layout that this
// algorithm wants; that in which they come where it takes any, or is listed for each. So a whole
// model and a part of it run each layer alike. A part gets what other parts make in the layout in
// which such layers mostly get it in the whole models.
//
//   first_choice choice(libraries, {.threads = 1});   chain c(choice.plan(graph, type), libraries);
//   choice.learn(graph, type);   choice.plan(sequence_of(graph, {4, 5, 6}), type)
#pragma once

#include "../../core/text.hpp"
#include "../../model/dims.hpp"
#include "../../model/operands.hpp"
#include "../../op/kinds.hpp"
#include "../../result/plan.hpp"
#include "../subjects/offers.hpp"
#include "plan_words.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::measure {

/// By which algorithm a layer shall run.
struct named_choice {
  std::string backend{}, algorithm{};
  bool operator==(const named_choice&) const = default;
};

/// Named choices, by layer (its name) and type.
using named_choices = std::map<std::pair<std::string, numeric>, named_choice>;

/// True for a layer that goes through what it reads once, line by line.
inline bool reads_in_order(const op::layer& l) {
  return op::is<op::unary, op::binary, op::batch_norm, op::cast, op::fused<op::unary>,
                op::fused<op::binary>, op::fused<op::batch_norm>>(l);
}

/// Under which circumstances layers are chosen for.
struct choice_setting {
  int threads = 1;
  bool on_device = false;               ///< by libraries of a device, else by those of the host
  named_choices named{};                ///< taken where the library still offers them
  std::map<std::string, int> crashed{}; ///< what libraries are not asked for (offers_for)
};

/// Makes plans; asks the libraries once for each layer.
class first_choice {
public:
  explicit first_choice(const library_list& libraries, choice_setting s = {})
      : libraries_(libraries)
      , setting_(std::move(s)) {}

  /// The plan of `g` in a type. Refuses a graph with a layer that nothing runs, and names it.
  result::plan plan(const model::graph& g, numeric type) {
    result::plan out;
    out.graph = g;
    out.type = type;
    out.threads = setting_.threads;
    for (const char* section : result::identity_sections)
      out.provenance[section];
    std::vector<layout> lies; // the results of each node
    for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
      const op::layer& l = layer_at(g, i);
      result::plan_step s;
      const layout come = first_operand(g, i, lies, s.given_layout);
      if (const auto* v = op::as<op::view>(l)) {
        lies.push_back(v->input == v->result ? come : layout::plain);
        if (v->input == v->result) s.operand_layouts = s.result_layout = benanza::name(come);
      } else {
        step(l, type, come, node_place(g, i), s);
        lies.push_back(*parse_layout(s.result_layout));
      }
      out.steps.push_back(std::move(s));
    }
    return out;
  }

  /// Learns from a whole model in which layouts its layers get what they read, and how what they
  /// make is read.
  void learn(const model::graph& g, numeric type) {
    const result::plan p = plan(g, type);
    for (int i = 0; i < static_cast<int>(g.nodes.size()); ++i) {
      const op::layer& l = layer_at(g, i);
      bool first = true; // the first one that is made says how the others are wanted
      for (const model::operand& o : model::known_operands(g.nodes[static_cast<std::size_t>(i)])) {
        if (o.node < 0) continue;
        if (!op::is_view(l)) in_order_[op::name(layer_at(g, o.node))] += reads_in_order(l) ? 1 : -1;
        const auto dims = model::result_dims(g, o);
        if (!std::exchange(first, false) || !dims || dims->size < 3) continue;
        const std::string& lies = p.steps[static_cast<std::size_t>(o.node)].result_layout;
        const layout its =
            o.output == 0 ? parse_layout(lies).value_or(layout::plain) : layout::plain;
        ++seen_[op::name(l)][its];
        ++seen_[rank_text(dims->size)][its];
      }
    }
  }

  /// True if the layers that read what `l` makes mostly do so line by line.
  bool read_in_order(const op::layer& l) const {
    const auto found = in_order_.find(op::name(l));
    return found != in_order_.end() && found->second > 0;
  }

  /// What runs a layer; null: nothing does.
  const offer* of(const op::layer& l, numeric type) {
    const auto [at, fresh] = known_.try_emplace({op::name(l), type});
    if (fresh) at->second = choose(at->first.first, l, type);
    return at->second ? &*at->second : nullptr;
  }

private:
  /// The layout of the first operand of a node that is made by another one; `given` gets that of
  /// what another part of the model makes.
  layout first_operand(const model::graph& g, int node, const std::vector<layout>& lies,
                       std::string& given) const {
    const std::vector<model::operand> all =
        model::known_operands(g.nodes[static_cast<std::size_t>(node)]);
    std::optional<layout> out;
    for (const model::operand& o : all) {
      if (o.node >= 0 && !out)
        out = o.output == 0 ? lies[static_cast<std::size_t>(o.node)] : layout::plain;
      if (o.node == model::model_input && o.output == model::made_elsewhere && given.empty()) {
        const layout its = usual(layer_at(g, node), out);
        given = benanza::name(its);
        if (!out) out = its;
      }
    }
    return out.value_or(layout::plain);
  }

  static std::string rank_text(int rank) { return "rank " + std::to_string(rank); }

  /// The layout in which a layer mostly gets what it reads; of one that no model holds, the one in
  /// which tensors of such a rank mostly are; next to an operand that is there, that of this one.
  layout usual(const op::layer& l, std::optional<layout> beside) const {
    if (beside) return *beside;
    const shape dims = op::operand_dims(l, 0).value_or(op::output(l));
    auto found = seen_.find(op::name(l));
    if (found == seen_.end()) found = seen_.find(rank_text(dims.size));
    if (found == seen_.end() || dims.size < 3) return layout::plain;
    const auto& counts = found->second;
    const layout most =
        std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
          return a.second < b.second;
        })->first;
    return dense(most, dims) ? most : layout::plain;
  }

  void step(const op::layer& l, numeric type, layout come, const std::string& where,
            result::plan_step& s) {
    const offer* o = of(l, type);
    if (o == nullptr)
      throw error("no library here runs it exactly in " + std::string(benanza::name(type)) +
                      " so that others can follow",
                  where, "leave that model out, or take another type");
    const backend::algorithm& a = as_they_come(l, type, *o, come);
    s.backend = o->library->name();
    s.algorithm = a.id;
    s.operand_layouts = a.operand_layouts;
    s.result_layout = a.result_layout;
    if (a.result_layout == any_layout_name) {
      const layout its = dense(come, op::output(l)) ? come : layout::plain;
      s.operand_layouts = s.result_layout = benanza::name(its);
    }
  }

  /// A library that lists a layer for each layout (then names end with `@nhwc`) leaves it to its
  /// caller which: the first one for that in which operands come. Else the choice itself.
  const backend::algorithm& as_they_come(const op::layer& l, numeric type, const offer& o,
                                         layout come) const {
    const std::vector<backend::algorithm>& all = alike_.at({op::name(l), type});
    const auto for_a_layout = [](const backend::algorithm& a) {
      return a.id.find('@') != std::string::npos;
    };
    if (std::none_of(all.begin(), all.end(), for_a_layout)) return o.algorithm;
    for (const backend::algorithm& a : all)
      if (a.operand_layouts.substr(0, a.operand_layouts.find(',')) == benanza::name(come)) return a;
    return o.algorithm;
  }

  std::optional<offer> choose(const std::string& layer, const op::layer& l, numeric type) {
    const std::string token(benanza::name(type));
    std::vector<offer> list = offers_for(layer + '/' + token, l, type, setting_.threads, libraries_,
                                         setting_.crashed, false, setting_.on_device)
                                  .list;
    std::erase_if(list, [&](const offer& o) {
      return o.library->on_device() != setting_.on_device || o.algorithm.equivalence != token ||
             o.algorithm.result_layout.empty();
    });
    if (const auto wanted = setting_.named.find({layer, type}); wanted != setting_.named.end())
      for (const offer& o : list)
        if (named_choice{std::string(o.library->name()), o.algorithm.id} == wanted->second) {
          alike_[{layer, type}] = {};
          return o;
        }
    const auto best =
        std::min_element(list.begin(), list.end(),
                         [](const offer& x, const offer& y) { return place(x) < place(y); });
    if (best == list.end()) return std::nullopt;
    std::vector<backend::algorithm>& alike = alike_[{layer, type}];
    for (const offer& o : list)
      if (o.library == best->library) alike.push_back(o.algorithm);
    return *best;
  }
  /// Plain kernels, products with ones in place of a sum, and bf16 by kernels of f32 come behind
  /// what libraries have for the layer; of equal ones the first library's is taken.
  static std::tuple<bool, int> place(const offer& o) {
    const std::string& id = o.algorithm.id;
    return {!o.algorithm.fallback.empty() || id.starts_with("ones:") || id.starts_with(by_f32),
            o.algorithm.index};
  }

  const library_list& libraries_;
  choice_setting setting_;
  std::map<std::pair<std::string, numeric>, std::optional<offer>> known_{};
  /// All that the library of the choice has; empty where the choice was named.
  std::map<std::pair<std::string, numeric>, std::vector<backend::algorithm>> alike_{};
  std::map<std::string, std::map<layout, std::int64_t>> seen_{}; ///< by layer, and by rank
  /// By layer, how many more read its result line by line than otherwise.
  std::map<std::string, std::int64_t> in_order_{};
};

} // namespace benanza::measure
