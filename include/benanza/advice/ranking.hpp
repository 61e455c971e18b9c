// SPDX-License-Identifier: Apache-2.0
// Which rows does a person read first? Those where most can be gained: layers, or what is advised
// of them, by a figure, the largest first.
//
//   for (const layer_answer* l : ranked(model.layers, gain_ns)) ...
#pragma once

#include "../bound/answers.hpp"

#include <range/v3/action/sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/addressof.hpp>
#include <range/v3/view/filter.hpp>

#include <string_view>
#include <utility>
#include <vector>

namespace benanza::advice {

/// The layers of which a figure is above zero, the largest first; layers without a time are left
/// out.
template <class Figure>
std::vector<const bound::layer_answer*> ranked(const std::vector<bound::layer_answer>& layers,
                                               Figure figure) {
  return layers | ranges::views::filter([&](const bound::layer_answer& l) {
           return l.known() && figure(l) > 0;
         }) |
         ranges::views::addressof | ranges::to<std::vector> |
         ranges::actions::sort(ranges::less{}, [&](const bound::layer_answer* l) {
           return std::pair(-figure(*l), std::string_view(l->name));
         });
}

} // namespace benanza::advice
