// SPDX-License-Identifier: Apache-2.0
// Normalizations of each image by itself, with a scale and a bias for each channel: ONNX
// GroupNormalization-21 (over groups of neighbouring channels; version 18, which has one scale a
// group, costs the same but for some bytes of it) and InstanceNormalization-6 (over each channel).
//
//   group_norm{.input = {1, 320, 64, 64}, .groups = 32}    key: 1x320x64x64-g32
//   instance_norm{.input = {1, 32, 224, 224}}              key: 1x32x224x224
#pragma once

#include "layer_norm.hpp"

namespace benanza::op {

struct group_norm {
  shape input{};
  std::int64_t groups = 1;

  static constexpr std::optional<group_norm> of(std::string_view family) {
    return family == "GroupNormalization" ? std::optional(group_norm{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "GroupNormalization"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("groups", "g", groups, 1);
  }
  constexpr void validate() const {
    if (input.size < 2) throw error("a group normalization takes two dims or more");
    check_dims(input);
    if (groups < 1 || groups > dim_limit || input[1] % groups != 0)
      throw error("a group normalization's groups do not divide its channels");
    (void)cost();
  }
  constexpr shape output() const { return input; }
  /// Elements that share a mean and a deviation.
  constexpr std::int64_t row() const {
    return checked_multiply(input[1] / groups, elements(input, 2, input.size));
  }

  /// As a layer normalization up to the difference; then one multiply and one add, because each
  /// channel's scale and its group's deviation are one factor.
  constexpr work cost() const {
    return detail::normalized(input, checked_multiply(2, input[1]), 6);
  }
  constexpr group_norm canonical_form() const { return *this; }
  constexpr bool operator==(const group_norm&) const = default;
};

struct instance_norm {
  shape input{};

  static constexpr std::optional<instance_norm> of(std::string_view family) {
    return family == "InstanceNormalization" ? std::optional(instance_norm{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "InstanceNormalization"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
  }
  constexpr void validate() const {
    if (input.size < 3) throw error("an instance normalization takes three dims or more");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  /// Elements that share a mean and a deviation.
  constexpr std::int64_t row() const { return elements(input, 2, input.size); }

  /// Counted as a group normalization is.
  constexpr work cost() const {
    return detail::normalized(input, checked_multiply(2, input[1]), 6);
  }
  constexpr instance_norm canonical_form() const { return *this; }
  constexpr bool operator==(const instance_norm&) const = default;
};

} // namespace benanza::op
