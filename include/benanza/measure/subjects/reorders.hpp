// SPDX-License-Identifier: Apache-2.0
// Which changes of layout may a model need? Tensors of the same dims are made and read in some set
// of layouts, by whatever algorithms there are; every change between two of them is a case of its
// own, so that the cheapest way through a model can be found from measured times.
//
//   layout_table t;   t.add("Conv/...", algorithm);   reorders(graphs, t)   // op::reorder layers
#pragma once

#include "../../backend/concept.hpp"
#include "../../core/layout.hpp"
#include "../../core/text.hpp"
#include "../../model/dims.hpp"
#include "../../model/operands.hpp"

#include <map>
#include <optional>
#include <range/v3/view/cartesian_product.hpp>
#include <range/v3/view/zip.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace benanza::measure {

/// The layouts in which each layer's algorithms read and write.
class layout_table {
public:
  void add(const std::string& layer, const backend::algorithm& a) {
    if (a.result_layout.empty()) return;
    entry& e = layers_[layer];
    insert(e.results, a.result_layout);
    if (a.operand_layouts.empty()) return;
    const auto words = split_at(a.operand_layouts, ",");
    if (e.operands.size() < words.size()) e.operands.resize(words.size());
    for (const auto& [word, to] : ranges::views::zip(words, e.operands))
      insert(to, word);
  }
  const std::set<layout>& results(const std::string& layer) const { return of(layer).results; }
  /// Of activation `k`; the last one listed is that of all further ones.
  const std::set<layout>& operands(const std::string& layer, std::size_t k) const {
    static const std::set<layout> none;
    const entry& e = of(layer);
    return e.operands.empty() ? none : e.operands[std::min(k, e.operands.size() - 1)];
  }

private:
  struct entry {
    std::set<layout> results;
    std::vector<std::set<layout>> operands;
  };
  static void insert(std::set<layout>& to, std::string_view word) {
    if (const auto l = parse_layout(word)) to.insert(*l);
  }
  const entry& of(const std::string& layer) const {
    static const entry nothing;
    const auto found = layers_.find(layer);
    return found == layers_.end() ? nothing : found->second;
  }
  std::map<std::string, entry> layers_;
};

/// All changes of layout that the graphs may need, by name.
inline std::map<std::string, op::reorder> reorders(const std::vector<model::graph>& graphs,
                                                   const layout_table& table) {
  std::map<std::pair<std::vector<std::int64_t>, dtype>, std::set<layout>> by_dims;
  const auto add = [&](const std::optional<shape>& dims, const std::set<layout>& layouts,
                       dtype element = dtype::real) {
    if (!dims || dims->size < 3 || dims->size > 5) return;
    auto& all = by_dims[{std::vector<std::int64_t>(dims->begin(), dims->end()), element}];
    all.insert(layout::plain);
    all.insert(layouts.begin(), layouts.end());
  };
  const auto made = [&](const model::graph& g, const model::operand& o,
                        const std::set<layout>& wanted) {
    const int from = g.nodes[static_cast<std::size_t>(o.node)].layer;
    if (from == model::no_layer) return;
    const auto dims = model::result_dims(g, o);
    const dtype element = model::result_element(g, o);
    add(dims, table.results(op::name(g.layers[static_cast<std::size_t>(from)])), element);
    add(dims, wanted, element);
  };
  for (const model::graph& g : graphs)
    for (std::size_t i = 0; i < g.nodes.size(); ++i) {
      const model::node& n = g.nodes[i];
      if (n.layer == model::no_layer) continue;
      const op::layer& l = g.layers[static_cast<std::size_t>(n.layer)];
      const std::string name = op::name(l);
      made(g, {static_cast<int>(i)}, {});
      std::size_t place = 0;
      for (const model::operand& o : model::known_operands(n)) {
        if (o.node == model::constant) continue;
        const auto& wanted = table.operands(name, place);
        if (o.node == model::model_input)
          add(op::operand_dims(l, place), wanted);
        else
          made(g, o, wanted);
        ++place;
      }
    }
  std::map<std::string, op::reorder> out;
  for (const auto& [tensor, layouts] : by_dims) {
    shape dims;
    for (std::int64_t d : tensor.first)
      dims.push(d);
    for (const auto& [from, to] : ranges::views::cartesian_product(layouts, layouts))
      if (!same_memory(from, to, dims)) {
        const op::reorder r{.input = dims, .from = from, .to = to, .element = tensor.second};
        out.emplace(op::name(r), r);
      }
  }
  return out;
}

} // namespace benanza::measure
