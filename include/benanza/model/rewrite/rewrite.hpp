// SPDX-License-Identifier: Apache-2.0
// Which equivalent graph of a model computes less? Rules, one a file of this folder, each give a
// graph in which one place is changed, until none fits. The rewritten graph is one more form of the
// model: it is fused and measured like the model itself, and the bound is the least of both.
//
//   if (auto r = rewritten_form(g)) r->rewrites   // {{"strides moved back", {17}, 231211008, ...}}
#pragma once

#include "averages.hpp"
#include "before_upsampling.hpp"
#include "rewritten.hpp"
#include "rows.hpp"
#include "strides.hpp"
#include "upsampling.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

namespace benanza::model {

/// A rule gives `g` changed in one place, with that as the last of `rewrites`; nothing: it fits
/// nowhere.
struct rewrite_rule {
  std::string_view name;
  std::optional<graph> (*apply)(const graph& g);
};

inline constexpr rewrite_rule rewrite_rules[] = {
    {strides_rule, strides_moved_back},
    {averages_rule, averages_moved_forward},
    {rows_rule, only_rows_read},
    {upsampling_rule, upsampling_folded},
    {before_upsampling_rule, convolved_before_upsampling},
};

/// `g` rewritten wherever a rule fits; nothing: none fits. Each change takes operations away, so
/// that comes to an end.
inline std::optional<graph> rewritten_form(const graph& g) {
  std::optional<graph> out;
  // What an unresolved node reads may not be known.
  if (std::any_of(g.nodes.begin(), g.nodes.end(),
                  [](const node& n) { return n.layer == no_layer; }))
    return out;
  for (bool changed = true; changed;) {
    changed = false;
    for (const rewrite_rule& rule : rewrite_rules)
      while (auto next = rule.apply(out ? *out : g)) {
        out = std::move(next);
        changed = true;
      }
  }
  return out;
}

} // namespace benanza::model
