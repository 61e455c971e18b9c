// SPDX-License-Identifier: Apache-2.0
// Normalizations at inference: ONNX BatchNormalization-15 (per channel: scale, shift, mean,
// variance) and LRN-13 (across channels). The values of epsilon, alpha and beta do not change the
// cost.
//
//   batch_norm{.input = {1, 64, 56, 56}}        key: 1x64x56x56
//   lrn{.input = {1, 96, 55, 55}, .size = 5}    key: 1x96x55x55-n5
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

struct batch_norm {
  shape input{};

  static constexpr std::optional<batch_norm> of(std::string_view family) {
    return family == "BatchNormalization" ? std::optional(batch_norm{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "BatchNormalization"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
  }
  constexpr void validate() const {
    if (input.size < 2) throw error("a batch normalization takes two dims or more");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }

  /// Scale and shift are folded from the four vectors: one multiply and one add an element.
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input), elements(input));
    w.vectors = checked_multiply(4, input[1]);
    w.other = checked_multiply(2, w.results);
    return w;
  }
  constexpr batch_norm canonical_form() const { return *this; }
  constexpr bool operator==(const batch_norm&) const = default;
};

struct lrn {
  shape input{};
  std::int64_t size = 0; ///< channels in the window

  static constexpr std::optional<lrn> of(std::string_view family) {
    return family == "LRN" ? std::optional(lrn{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "LRN"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("size", "n", size, 0, true);
  }
  constexpr void validate() const {
    if (input.size < 3 || size < 1 || size > dim_limit)
      throw error("LRN takes three dims or more and a size of 1 to 2^40");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }

  /// Each element: `size` squares added, then scale, shift, power, division.
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input), elements(input));
    w.other = checked_multiply(w.results, 2 * size + 4);
    return w;
  }
  constexpr lrn canonical_form() const { return *this; }
  constexpr bool operator==(const lrn&) const = default;
};

} // namespace benanza::op
