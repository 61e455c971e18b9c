// SPDX-License-Identifier: Apache-2.0
// Reductions along a set of axes (ONNX Reduce*-18). Whether reduced dims are kept changes the shape
// but not the work, so it is not part of the layer: `output()` keeps them as ones.
//
//   reduce{.function = reduction::mean, .input = {1, 64, 56, 56}, .axes = {2, 3}}
//   key: 1x64x56x56-a2x3
#pragma once

#include "eltwise.hpp"

namespace benanza::op {

// clang-format off
/// What is computed; the order is that of `reduction_families`.
enum class reduction : std::uint8_t {
  mean, sum, max, min, product, l1, l2, sum_square, log_sum, log_sum_exp,
};

inline constexpr std::string_view reduction_families[] = {
    "ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1",
    "ReduceL2", "ReduceSumSquare", "ReduceLogSum", "ReduceLogSumExp",
};
// clang-format on

struct reduce {
  reduction function = reduction::mean;
  shape input{};
  shape axes{}; ///< ascending, never negative; empty: nothing is reduced
  dtype element = dtype::real;

  static constexpr std::optional<reduce> of(std::string_view family) {
    if (const auto f = detail::find_family<reduction>(reduction_families, family))
      return reduce{.function = *f};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return reduction_families[static_cast<std::size_t>(function)];
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.tagged_list("axes", "a", axes);
    a.element("element", element);
  }
  constexpr void validate() const {
    std::int64_t last = -1;
    for (std::int64_t axis : axes) {
      if (axis <= last || axis >= input.size)
        throw error("a reduction's axes must ascend and lie within its dims");
      last = axis;
    }
    check_dims(input);
    (void)cost();
  }
  constexpr bool reduces(int axis) const {
    for (std::int64_t a : axes)
      if (a == axis) return true;
    return false;
  }
  constexpr shape output() const {
    shape out = input;
    for (std::int64_t axis : axes)
      out[static_cast<int>(axis)] = 1;
    return out;
  }
  constexpr work cost() const {
    work w = moved(element, elements(input), elements(output()));
    w.other = elements(input);
    return w;
  }
  constexpr reduce canonical_form() const { return *this; }
  constexpr bool operator==(const reduce&) const = default;
};

} // namespace benanza::op
