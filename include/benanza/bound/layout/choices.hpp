// SPDX-License-Identifier: Apache-2.0
// How fast is a layer in given layouts? Its algorithms, sorted by the layouts in which they read
// and write activations, with a choice among those that share them; and what changing the layout of
// a tensor takes, measured or, with ceilings, modelled.
//
//   for (const layout_choice& c : layout_choices(cases.of(layer, type, threads), warmth{})) ...
//   const choice* c = reorders.find({1, 64, 56, 56}, layout::plain, layout::blocked16);
#pragma once

#include "../../core/layout.hpp"
#include "../answers.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace benanza::bound {

/// Algorithms of a layer that read and write the same layouts; no layout: whatever the operands
/// share.
struct layout_choice {
  std::vector<std::optional<layout>> operands; ///< the last holds for all further ones
  std::optional<layout> result;
  choice algorithms;

  std::optional<layout> operand(std::size_t i) const {
    return operands.empty() ? result : operands[std::min(i, operands.size() - 1)];
  }
};

namespace detail {
/// Reads a list of layouts; false if one is of no use to other layers.
inline bool read_layouts(std::string_view text, std::vector<std::optional<layout>>& out) {
  for (bool more = !text.empty(); more;) {
    const std::size_t end = text.find(',');
    const std::string_view token = text.substr(0, end);
    const auto known = parse_layout(token);
    if (!known && token != any_layout_name) return false;
    out.push_back(known);
    more = end != std::string_view::npos;
    if (more) text.remove_prefix(end + 1);
  }
  return true;
}
} // namespace detail

/// The choice in each pair of layouts that some algorithm has; algorithms whose layouts are of no
/// use to others are left out.
inline std::vector<layout_choice> layout_choices(const layer_cases& known, const warmth& w) {
  std::map<std::pair<std::string_view, std::string_view>, layer_cases> by_layouts;
  for (const candidate& c : known.algorithms)
    if (!c.any().result_layout.empty())
      by_layouts[{c.any().operand_layouts, c.any().result_layout}].algorithms.push_back(c);
  std::vector<layout_choice> out;
  for (const auto& [layouts, cases] : by_layouts) {
    layout_choice c;
    std::vector<std::optional<layout>> result;
    if (!detail::read_layouts(layouts.first, c.operands) ||
        !detail::read_layouts(layouts.second, result) || result.size() != 1)
      continue;
    c.result = result.front();
    c.algorithms = choose(cases, w);
    out.push_back(std::move(c));
  }
  return out;
}

/// What changing a tensor's layout takes.
class reorder_table {
public:
  explicit reorder_table(const question& q)
      : q_(q) {}

  /// The choice for that change; null if it is neither measured nor modelled.
  const choice* find(const shape& dims, dtype element, layout from, layout to) {
    if (dims.size < 3 || dims.size > 5) return nullptr;
    auto [found, fresh] =
        known_.try_emplace(std::tuple(std::vector(dims.begin(), dims.end()), element, from, to));
    if (fresh) {
      layer_answer a = answer(q_, op::reorder_of(dims, element, from, to), 1);
      if (a.left > 0 || (!a.timed() && a.untried)) untried_.push_back(a.name);
      if (a.known()) {
        found->second = std::move(a.algorithms);
        if (a.rests_on == basis::modelled) modelled_.push_back(a.name + ": " + a.reason);
      }
    }
    return found->second ? &*found->second : nullptr;
  }
  /// The changes that were asked for and are modelled, each with the reason.
  const std::vector<std::string>& modelled() const { return modelled_; }
  /// The changes that were asked for and of which no case was tried, or not all were.
  const std::vector<std::string>& untried() const { return untried_; }

private:
  question q_;
  std::map<std::tuple<std::vector<std::int64_t>, dtype, layout, layout>, std::optional<choice>>
      known_;
  std::vector<std::string> modelled_, untried_;
};

} // namespace benanza::bound
