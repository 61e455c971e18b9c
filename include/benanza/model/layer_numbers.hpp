// SPDX-License-Identifier: Apache-2.0
// How are layers numbered? The functions of layer_table.hpp. Where BENANZA_COMPILED is defined, one
// file of the program includes this for all.
#pragma once

#include "layer_table.hpp"

#include <range/v3/action/sort.hpp>
#include <range/v3/action/unique.hpp>
#include <range/v3/algorithm/lower_bound.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/move.hpp>
#include <range/v3/view/transform.hpp>

#include <string>
#include <utility>
#include <vector>

namespace benanza::model {

BENANZA_INLINE layer_table::layer_table(const std::vector<op::layer>& layers)
    : entries_(layers | ranges::views::transform([](const op::layer& l) { return entry_of(l); }) |
               ranges::to<std::vector> | ranges::actions::sort(ranges::less{}, &entry::name) |
               ranges::actions::unique(ranges::equal_to{}, &entry::name)) {}

BENANZA_INLINE layer_table::entry layer_table::entry_of(const op::layer& l) {
  op::layer its = op::canonical_form(l);
  return {op::name(its), std::move(its)};
}

BENANZA_INLINE int layer_table::number_of(const op::layer& l) const {
  const auto found =
      ranges::lower_bound(entries_, op::name(op::canonical_form(l)), ranges::less{}, &entry::name);
  return static_cast<int>(found - entries_.begin());
}

BENANZA_INLINE std::vector<op::layer> layer_table::layers() && {
  return entries_ | ranges::views::transform(&entry::layer) | ranges::views::move |
         ranges::to<std::vector>;
}

BENANZA_INLINE void number_layers(graph& g, const std::vector<op::layer>& layers) {
  layer_table table(layers);
  for (node& n : g.nodes)
    if (n.layer != no_layer) n.layer = table.number_of(layers[static_cast<std::size_t>(n.layer)]);
  g.layers = std::move(table).layers();
}

} // namespace benanza::model
