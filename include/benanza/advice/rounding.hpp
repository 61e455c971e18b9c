// SPDX-License-Identifier: Apache-2.0
// What would a language model win if activations were rounded, to 8 bits or half floats, beside
// weights in codes? llama.cpp does that; by kernels of its library that were measured beside exact
// ones (core/rounded.hpp).
//
//   advice_of_kind a = rounding_advice(grounds);   a.items[0].id   // "rounding/ggml"
#pragma once

#include "kernels.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace benanza::advice {

/// Advice on rounding; none beside a framework's run, whose own kernels round or do not.
inline advice_of_kind rounding_advice(const grounds& g) {
  advice_of_kind out;
  if (g.framework != nullptr) return out;
  const std::vector<std::vector<std::vector<int>>> used = nodes_as_fused(g.model);
  const auto uses = [&](const bound::layer_answer& l) {
    return std::ssize(used[static_cast<std::size_t>(&l - g.model.layers.data())]);
  };
  const auto gain = [&](const bound::layer_answer& l) {
    return l.rounded == nullptr
               ? 0.0
               : static_cast<double>(uses(l)) * (l.algorithms.prediction.ns - l.rounded_ns);
  };
  item one{.id = "rounding/ggml", .kind = "rounding"};
  std::int64_t nodes = 0;
  for (const bound::layer_answer* l : ranked(g.model.layers, gain)) {
    const double scatter = l->rounded->mad_ns + l->algorithms.chosen->mad_ns;
    const auto count = static_cast<double>(uses(*l));
    one.saves.ns += gain(*l);
    one.saves.low_ns += gain(*l) - count * scatter;
    one.saves.high_ns += gain(*l) + count * scatter;
    nodes += uses(*l);
    if (one.evidence.size() < most_evidence)
      one.evidence.push_back(fmt::format(
          "{} x {}: {} by {} of {}, {} by {} of {}", uses(*l), l->name,
          detail::time_text(l->algorithms.prediction.ns), l->algorithms.chosen->algorithm,
          l->algorithms.chosen->backend, detail::time_text(l->rounded_ns), l->rounded->algorithm,
          l->rounded->backend));
    if (one.check.empty()) one.check = detail::layer_command(g, l->name);
  }
  if (nodes == 0) return out;
  one.what = fmt::format("products with activations that are rounded, as llama.cpp does, {} node{}",
                         nodes, nodes == 1 ? "" : "s");
  one.assumes = "results are good enough with them";
  one.how = detail::by_makers(
      g, one.what, detail::who_is_asked(g) + " has to take ggml's kernels, as llama.cpp does",
      one.evidence);
  out.items.push_back(std::move(one));
  return out;
}

} // namespace benanza::advice
