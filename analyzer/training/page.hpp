// SPDX-License-Identifier: Apache-2.0
// What is the lower bound of a step of training made of? Products forward, their gradients by what
// they read, and those by weights (model/training.hpp).
//
//   if (const auto s = step_times_of(model)) s->by_weights_ns
#pragma once

#include <benanza/bound/figures.hpp>

#include <optional>

namespace benanza::report {

struct step_times {
  double forward_ns = 0, by_activations_ns = 0, by_weights_ns = 0;
};

/// Nothing: the model is not a step of training.
std::optional<step_times> step_times_of(const bound::model_bound& b);

} // namespace benanza::report
