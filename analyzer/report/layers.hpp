// SPDX-License-Identifier: Apache-2.0
// Where does a model's time go? Its layers sorted by their share of the sequential bound, as rows
// for a table; where the best kernels stay far above the roofline; how fast its arithmetic runs.
//
//   for (const bound::layer_answer* l : by_time(model)) ...   rate(*l).gflops
#pragma once

#include <benanza/bound/figures.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::report {

using bound::layer_answer;

/// What a layer adds to the sequential bound.
double bound_ns(const bound::layer_answer& l);

/// Layers with a time, those that add most to the sequential bound first.
std::vector<const bound::layer_answer*> by_time(const bound::model_bound& b);

/// A layer of the form that should run, by the algorithms that this run takes, with caches as a run
/// has them. With the changes of layout between them they add up to what the run should take.
struct layer_in_run {
  const bound::layer_answer* layer = nullptr;
  std::int64_t uses = 0;
  double ns = 0;                          ///< of all uses
  const bound::measurement* by = nullptr; ///< in the longest of them; null: its roofline
  double longest_ns = 0;
  double each_ns() const { return ns / static_cast<double>(uses); }
};

/// Layers of the form that should run, those that take most of it first.
std::vector<layer_in_run> layers_in_run(const bound::model_bound& b);

/// Arithmetic per time, in GFLOP/s.
double gflops_in_run(const layer_in_run& l);

/// True where tables of these layers have a column for energy.
bool has_energy(const std::vector<layer_in_run>& layers);

/// What the layers of a run and the changes of layout between them take together.
double sum_of_run(const bound::model_bound& b, const std::vector<layer_in_run>& layers);

/// A layer whose best algorithm stays far above the layer's roofline.
struct far_layer {
  const bound::layer_answer* layer = nullptr;
  std::int64_t uses = 0; ///< in the fused form, or else the only one
  double lost_ns = 0;    ///< what a kernel at the roofline would save in all of them
};

/// From so many times its roofline on, a layer's best algorithm is far above it.
inline constexpr double far_above = 3;

/// The layers of a model that are far above their rooflines, those that lose most first.
std::vector<far_layer> by_lost_time(const bound::model_bound& b);

/// Arithmetic per time of a layer's bound.
struct arithmetic_rate {
  double gflops = 0;              ///< of a direct algorithm: GFLOP/s
  bool less_than_nominal = false; ///< the algorithm itself needs fewer operations (Winograd, FFT)
};

/// The rate of a layer that was measured; none of others.
arithmetic_rate rate(const bound::layer_answer& l);

/// An algorithm's name without the instruction set after its last colon: `brgconv:avx512_core` is
/// `brgconv`.
std::string_view short_name(std::string_view algorithm);

/// Views of a model that cost nothing, as operator and number of nodes.
std::map<std::string, std::int64_t> views(const bound::model_bound& b);

/// Names of the layers for which `is` holds.
template <class Predicate>
std::vector<std::string> names_of(const bound::model_bound& b, Predicate is) {
  return b.layers | ranges::views::filter(is) |
         ranges::views::transform(&bound::layer_answer::name) | ranges::to<std::vector>;
}

/// Layers whose deciding cases were disturbed, with what disturbed them.
std::vector<std::pair<std::string, std::string>> disturbed(const bound::model_bound& b);

} // namespace benanza::report
