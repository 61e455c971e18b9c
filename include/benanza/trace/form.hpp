// SPDX-License-Identifier: Apache-2.0
// When is a call the same work as a layer, although both are not written alike? Frameworks pad
// beforehand, add a bias afterwards, run one-dimensional layers as two-dimensional ones, flatten
// batches into rows, and the log of a matrix product names no third operand. `form_of` is a text
// that is equal where dims and arithmetic are; what is done on the result is apart, in `steps`.
//
//   form_of(op::parse("Conv/1x64x56x56-64x3x3-s1-p1-b")).base
//     == form_of(op::parse("Conv/1x64x58x58-64x3x3-s1")).base
#pragma once

#include "../op/fused.hpp"
#include "../op/layer.hpp"

#include <optional>
#include <string>
#include <vector>

namespace benanza::trace {

/// The work of a layer.
struct form {
  std::string base;              ///< equal for equal work, bias and steps left out
  std::optional<bool> bias{};    ///< whether a row is added to the products; nothing: not known
  std::vector<op::step> steps{}; ///< what is done on the result
  bool operator==(const form&) const = default;
};

/// The work that a layer is.
form form_of(const op::layer& l);

/// That of adding the bias of a layer with that result.
form form_of_bias(const shape& result);

/// True for a layer that does what the step does.
bool is_step(const op::step& s, const op::layer& l);

/// True for what weights and bias can hold: a normalization, and arithmetic with constants.
bool folds_into_weights(const op::layer& l, bool constant_operand);

/// True if the layers are equal, but for what no log says of a matrix product.
bool same_but_unsaid(const op::layer& a, const op::layer& b);

/// True if the two steps do the same, whatever the dims of what they join.
inline bool same_step(const op::step& a, const op::step& b) {
  if (a.joins != b.joins) return false;
  if (!a.joins) return a.function == b.function;
  const auto plain = [](op::binary_function f) {
    return f == op::binary_function::sum ? op::binary_function::add : f;
  };
  return plain(a.join) == plain(b.join);
}

} // namespace benanza::trace

#ifndef BENANZA_COMPILED_TRACE
#include "form_functions.hpp"
#endif
