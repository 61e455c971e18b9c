// SPDX-License-Identifier: Apache-2.0
// The normalization of a sum, as it is between the parts of a transformer
// (SkipLayerNormalization of ONNX Runtime): what a part gives is added to the residual stream,
// and the rows of the sum are normalized. Where others read the sum too, it is a second result.
// Operands are those of the normalization, of which the source is one addend, and behind them
// the other addend.
//
//   residual<rms_norm>{.base = {.input = {1, 128, 4096}, .axis = 2}, .sum = true}
//   family Add+RMSNormalization; the key is the normalization's; behind it: -sum
#pragma once

#include "fused.hpp"
#include "layer_norm.hpp"

namespace benanza::op {

template <class Norm>
struct residual {
  Norm base{};
  bool sum = false; ///< a further result: what was normalized

  static std::optional<residual> of(std::string_view family) {
    constexpr std::string_view before = "Add+";
    if (!family.starts_with(before)) return std::nullopt;
    const auto norm = Norm::of(family.substr(before.size()));
    return norm ? std::optional(residual{.base = *norm}) : std::nullopt;
  }
  std::string_view family() const { return detail::kept("Add+" + std::string(base.family())); }

  template <class Archive>
  constexpr void fields(Archive& a) {
    base.fields(a);
    a.flag("sum", "sum", sum);
  }
  constexpr void validate() const {
    base.validate();
    if constexpr (requires { base.statistics; })
      if (base.statistics) throw error("a normalized sum does not show its statistics");
    (void)cost();
  }

  constexpr shape output() const { return base.output(); }
  constexpr std::int64_t row() const { return base.row(); }
  constexpr result_list results() const {
    return sum ? result_list{{output()}, {output()}} : result_list{{output()}};
  }
  /// Dims of the other addend.
  constexpr shape addend() const { return base.input; }

  constexpr work cost() const {
    work w = base.cost();
    const std::int64_t n = elements(base.input);
    w.other += n;
    w.sources += n;
    if (sum) w.results += n;
    return w;
  }
  constexpr residual canonical_form() const { return {.base = base.canonical_form(), .sum = sum}; }
  constexpr bool operator==(const residual&) const = default;
};

/// True for sums that are normalized, by any normalization.
template <class Layer>
inline constexpr bool is_residual = false;
template <class Norm>
inline constexpr bool is_residual<residual<Norm>> = true;

} // namespace benanza::op
