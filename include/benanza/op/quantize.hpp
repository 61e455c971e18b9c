// SPDX-License-Identifier: Apache-2.0
// From real numbers to codes and back: ONNX QuantizeLinear-10..24, DequantizeLinear-10..24 and
// DynamicQuantizeLinear-11. One scale for all elements, one for each place of an axis, or one for
// each block along it. Codes of 4 and 2 bits are packed. The values of scales and zero points do
// not change the cost. A function of one number between both is a table on codes of 8 bits.
//
//   quantize{.input = {1, 64, 56, 56}, .code = dtype::u8}                        key: 1x64x56x56-u8
//   quantize{.input = {64, 256}, .code = dtype::s8, .axis = 1, .block = 32}  key: 64x256-s8-a1-k32
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

/// QuantizeLinear, and with `inverse` DequantizeLinear.
struct quantize {
  bool inverse = false;
  shape input{};
  dtype code = dtype::u8;  ///< storage of the codes
  int axis = -1;           ///< along which scales differ; -1: there is one scale
  std::int64_t block = 0;  ///< neighbours along the axis that share a scale; 0: each has its own
  bool zero_point = false; ///< each scale has a zero point that is not zero

  static constexpr std::optional<quantize> of(std::string_view family) {
    if (family == "QuantizeLinear") return quantize{};
    if (family == "DequantizeLinear") return quantize{.inverse = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return inverse ? "DequantizeLinear" : "QuantizeLinear";
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.element("code", code);
    a.number("axis", "a", axis, -1);
    a.number("block", "k", block, 0);
    a.flag("zero_point", "z", zero_point);
  }

  constexpr void validate() const {
    if (code < dtype::e4m3 || code == dtype::e8m0 || code >= dtype::boolean)
      throw error("a quantization's codes are whole numbers or floats of 8 or 4 bits");
    if (axis < -1 || axis >= input.size) throw error("a quantization's axis lies outside its dims");
    if (block < 0 || (axis < 0 && block != 0) || block > dim_limit)
      throw error("a quantization's blocks are of 1 to 2^40 elements along an axis");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  constexpr result_list results() const { return {{input, inverse ? dtype::real : code}}; }
  /// Dims of the scales, and of the zero points.
  constexpr shape scales() const {
    if (axis < 0) return {};
    if (block == 0) return {input[axis]};
    shape s = input;
    s[axis] = (s[axis] + block - 1) / block;
    return s;
  }

  /// Each element: scaled, shifted, and on the way to codes rounded and clamped.
  constexpr work cost() const {
    const std::int64_t n = elements(input), scaled = elements(scales());
    work w;
    (inverse ? w.results : w.sources) = n;
    w.fixed_bytes =
        bytes_of(code, n) + checked_multiply(scaled, 4) + (zero_point ? bytes_of(code, scaled) : 0);
    w.other = checked_multiply(inverse ? 2 : 4, n);
    return w;
  }
  constexpr quantize canonical_form() const { return *this; }
  constexpr bool operator==(const quantize&) const = default;
};

/// Codes of a range that is found first; scale and zero point are results too.
struct dynamic_quantize {
  shape input{};

  static constexpr std::optional<dynamic_quantize> of(std::string_view family) {
    return family == "DynamicQuantizeLinear" ? std::optional(dynamic_quantize{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "DynamicQuantizeLinear"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
  }
  constexpr void validate() const {
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  constexpr result_list results() const {
    return {{input, dtype::u8}, {{}, dtype::f32}, {{}, dtype::u8}};
  }
  /// Each element: smallest and largest so far, then scaled, shifted, rounded and clamped.
  constexpr work cost() const {
    work w;
    w.sources = elements(input);
    w.fixed_bytes = w.sources + 5;
    w.other = checked_multiply(6, w.sources);
    return w;
  }
  constexpr dynamic_quantize canonical_form() const { return *this; }
  constexpr bool operator==(const dynamic_quantize&) const = default;
};

/// Codes of 8 bits to others by a table of 256: what a function of one number is between a
/// DequantizeLinear and a QuantizeLinear, whichever it is.
struct lookup_table {
  shape input{};
  dtype element = dtype::u8; ///< of the codes that are read
  dtype to = dtype::u8;

  static constexpr std::optional<lookup_table> of(std::string_view family) {
    return family == "LookupTable" ? std::optional(lookup_table{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "LookupTable"; }

  template <class Archive>
  constexpr void fields(Archive& a) {
    constexpr auto missing = static_cast<dtype>(0xff); // both are always written
    a.dims("input", input);
    a.element("element", element, missing);
    a.element("to", to, missing);
  }
  constexpr void validate() const {
    for (const dtype t : {element, to})
      if (t != dtype::u8 && t != dtype::s8) throw error("a LookupTable is of codes of 8 bits");
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const { return input; }
  constexpr result_list results() const { return {{input, to}}; }
  constexpr work cost() const {
    work w;
    w.fixed_bytes = checked_multiply(2, elements(input)) + 256;
    return w;
  }
  constexpr lookup_table canonical_form() const { return *this; }
  constexpr bool operator==(const lookup_table&) const = default;
};

} // namespace benanza::op
