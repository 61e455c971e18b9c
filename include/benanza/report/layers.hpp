// SPDX-License-Identifier: Apache-2.0
// Where does a model's time go? Its layers sorted by their share of the sequential bound, as rows
// for a table; what choosing algorithms wins at each; how fast its arithmetic runs.
//
//   for (const layer_answer* l : by_time(model)) ...   rate(*l).gflops
#pragma once

#include "../bound/model.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::report {

using bound::layer_answer;
using bound::model_bound;

/// What a layer adds to the sequential bound.
inline double bound_ns(const layer_answer& l) {
  return static_cast<double>(l.uses) * l.algorithms.bound.ns;
}

/// What the chosen algorithm saves over the library's first choice, in all uses of the layer; zero
/// where they are the same.
inline double gain_ns(const layer_answer& l) {
  const bound::choice& c = l.algorithms;
  if (c.first == nullptr || c.first == c.chosen) return 0;
  return static_cast<double>(l.uses) * (c.first_choice.ns - c.prediction.ns);
}

namespace detail {
template <class Value>
std::vector<const layer_answer*> descending(const model_bound& b, Value value) {
  std::vector<const layer_answer*> out;
  for (const layer_answer& l : b.layers)
    if (l.known() && value(l) > 0) out.push_back(&l);
  std::sort(out.begin(), out.end(), [&](const layer_answer* x, const layer_answer* y) {
    return std::pair(-value(*x), std::string_view(x->name)) <
           std::pair(-value(*y), std::string_view(y->name));
  });
  return out;
}
} // namespace detail

/// How often each of `b.layers` runs in the fused form, or else the only one.
inline std::vector<std::int64_t> uses_as_fused(const model_bound& b) {
  std::vector<std::int64_t> out;
  std::map<std::string_view, std::size_t> places;
  for (const layer_answer& l : b.layers) {
    places.emplace(l.name, out.size());
    out.push_back(b.fused ? 0 : l.uses);
  }
  if (!b.fused) return out;
  const auto add = [&](const model::graph& g, const model::node& n) {
    if (n.layer == model::no_layer) return;
    const auto found = places.find(op::name(g.layers[static_cast<std::size_t>(n.layer)]));
    if (found != places.end()) ++out[found->second];
  };
  const bound::fusion& pair = b.fused->pair;
  for (std::size_t i = 0; i < pair.fused->nodes.size(); ++i) {
    const model::node& n = pair.fused->nodes[i];
    if (n.parts.size() > 1 && b.fused->as_one[i] != 0)
      add(*pair.fused, n);
    else
      for (int part : n.parts)
        add(*pair.unfused, pair.unfused->nodes[static_cast<std::size_t>(part)]);
  }
  return out;
}

/// A layer whose best algorithm stays far above the layer's roofline.
struct far_layer {
  const layer_answer* layer = nullptr;
  std::int64_t uses = 0; ///< in the fused form, or else the only one
  double lost_ns = 0;    ///< what a kernel at the roofline would save in all of them
};

/// From so many times its roofline on, a layer's best algorithm is far above it.
inline constexpr double far_above = 3;

/// The layers of a model that are far above their rooflines, those that lose most first.
inline std::vector<far_layer> by_lost_time(const model_bound& b) {
  std::vector<far_layer> out;
  const std::vector<std::int64_t> uses = uses_as_fused(b);
  for (std::size_t i = 0; i < b.layers.size(); ++i) {
    const layer_answer& l = b.layers[i];
    const double took = bound::measured_ns(l.algorithms), roof = l.roofline ? l.roofline->ns : 0;
    if (uses[i] == 0 || !(roof > 0) || took < far_above * roof + bound::call_ns) continue;
    out.push_back({&l, uses[i], static_cast<double>(uses[i]) * (took - roof)});
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const far_layer& x, const far_layer& y) { return x.lost_ns > y.lost_ns; });
  return out;
}

/// Layers with a time, those that add most to the sequential bound first.
inline std::vector<const layer_answer*> by_time(const model_bound& b) {
  return detail::descending(b, bound_ns);
}

/// Layers at which another algorithm than the library's first choice wins, the largest gain first.
inline std::vector<const layer_answer*> by_gain(const model_bound& b) {
  return detail::descending(b, gain_ns);
}

/// Arithmetic per time of a layer's bound.
struct arithmetic_rate {
  double gflops = 0;              ///< of a direct algorithm: GFLOP/s
  bool less_than_nominal = false; ///< the algorithm itself needs fewer operations (Winograd, FFT)
};

/// The rate of a layer that was measured; nothing of others.
inline arithmetic_rate rate(const layer_answer& l) {
  if (!l.timed()) return {};
  const bound::measurement& m = *l.algorithms.best;
  return {.gflops = static_cast<double>(l.flops) / l.algorithms.bound.ns,
          .less_than_nominal = m.algorithm_flops > 0 && m.algorithm_flops < l.flops};
}

/// An algorithm's name without the instruction set after its last colon: `brgconv:avx512_core` is
/// `brgconv`.
inline std::string_view short_name(std::string_view algorithm) {
  return algorithm.substr(0, algorithm.rfind(':'));
}

/// Views of a model that cost nothing, as operator and number of nodes.
inline std::map<std::string, std::int64_t> views(const model_bound& b) {
  std::map<std::string, std::int64_t> out;
  for (const layer_answer& l : b.layers)
    if (l.rests_on == bound::basis::view) out[l.name.substr(0, l.name.find('/'))] += l.uses;
  return out;
}

/// Layers whose deciding cases were disturbed, with what disturbed them.
inline std::vector<std::pair<std::string, std::string>> disturbed(const model_bound& b) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const layer_answer& l : b.layers) {
    if (!l.timed()) continue;
    const bound::choice& c = l.algorithms;
    for (const bound::measurement* m : {c.best, c.chosen, c.chosen_warmer})
      if (m != nullptr && !m->disturbed.empty()) {
        out.emplace_back(l.name, m->disturbed);
        break;
      }
  }
  return out;
}

} // namespace benanza::report
