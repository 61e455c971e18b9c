// SPDX-License-Identifier: Apache-2.0
// Layers on 8-bit codes: ONNX QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger, and QGemm,
// QLinearAdd and QLinearMul as ONNX Runtime has them. Operands have scales and zero points; a
// result is rounded to codes of its own, or kept as the whole number that was summed (s32), or
// becomes a real number. The types of the operands are part of the layer, whatever type the model
// has; so is which zero points are there and not zero, because they cost. Values never are.
//
//   on_codes<conv>{.base = conv{...}, .types = code_types::u8s8u8}
//   QLinearConv/1x64x56x56-64x3x3-s1-p1-b-u8s8u8-pc     pc: a scale for each channel of the weights
#pragma once

#include "conv.hpp"
#include "eltwise.hpp"
#include "gemm.hpp"
#include "results.hpp"

#include <array>

namespace benanza::op {

// clang-format off
/// Storage of the first operand, the second and the result.
enum class code_types : std::uint8_t {
  u8u8u8, u8u8s8, u8u8s32, u8u8real, u8s8u8, u8s8s8, u8s8s32, u8s8real,
  s8u8u8, s8u8s8, s8u8s32, s8u8real, s8s8u8, s8s8s8, s8s8s32, s8s8real,
};
inline constexpr std::string_view code_type_names[] = {
  "u8u8u8", "u8u8s8", "u8u8s32", "u8u8real", "u8s8u8", "u8s8s8", "u8s8s32", "u8s8real",
  "s8u8u8", "s8u8s8", "s8u8s32", "s8u8real", "s8s8u8", "s8s8s8", "s8s8s32", "s8s8real",
};
// clang-format on

namespace detail {
inline constexpr std::array<dtype, 4> code_results{dtype::u8, dtype::s8, dtype::s32, dtype::real};

/// Families of the layers on codes of a base; the second, if any, gives the sums themselves.
template <class Base>
inline constexpr std::array<std::string_view, 2> quantised_families{};
template <>
inline constexpr std::array<std::string_view, 2> quantised_families<conv>{"QLinearConv",
                                                                          "ConvInteger"};
template <>
inline constexpr std::array<std::string_view, 2> quantised_families<matmul>{"QLinearMatMul",
                                                                            "MatMulInteger"};
template <>
inline constexpr std::array<std::string_view, 2> quantised_families<gemm>{"QGemm", ""};
} // namespace detail

/// The types of two operands and a result; nothing where no such layer is.
constexpr std::optional<code_types> code_types_of(dtype a, dtype b, dtype result) {
  int r = 0;
  while (r < 4 && detail::code_results[static_cast<std::size_t>(r)] != result)
    ++r;
  const bool bytes = (a == dtype::u8 || a == dtype::s8) && (b == dtype::u8 || b == dtype::s8);
  if (!bytes || r == 4) return std::nullopt;
  return static_cast<code_types>((a == dtype::s8 ? 8 : 0) + (b == dtype::s8 ? 4 : 0) + r);
}

/// Places of the operands among those of the ONNX operator; -1: it has none.
struct code_places {
  int a = 0, a_scale = 1, a_zero = 2, b = 3, b_scale = 4, b_zero = 5, bias = -1;
  int scale = 6, zero = 7; ///< of the result
};

template <class Base>
struct on_codes {
  Base base{};
  code_types types = code_types::u8s8u8;
  bool integer = false;     ///< gives the sums: operands have no scales
  bool per_channel = false; ///< of the second operand: each channel or column has its own scale
  bool zero_a = false, zero_b = false, zero_result = false; ///< zero points that are not zero
  bool rectified = false; ///< a Relu comes before the result is rounded

  static constexpr bool adds = std::is_same_v<Base, binary>;

  static constexpr std::optional<on_codes> of(std::string_view family) {
    if constexpr (adds) {
      if (family == "QLinearAdd") return on_codes{.base = {.function = binary_function::add}};
      if (family == "QLinearMul") return on_codes{.base = {.function = binary_function::mul}};
    } else {
      const auto& names = detail::quantised_families<Base>;
      if (family == names[0]) return on_codes{};
      if (!names[1].empty() && family == names[1])
        return on_codes{.types = code_types::u8s8s32, .integer = true};
    }
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    if constexpr (adds)
      return base.function == binary_function::mul ? "QLinearMul" : "QLinearAdd";
    else
      return detail::quantised_families<Base>[integer ? 1 : 0];
  }

  constexpr code_places places() const {
    if (integer) return {0, -1, 2, 1, -1, 3, -1, -1, -1};
    if constexpr (std::is_same_v<Base, conv>)
      return {.bias = 8};
    else if constexpr (std::is_same_v<Base, gemm>)
      return {.bias = 6, .scale = 7, .zero = 8};
    else
      return {};
  }
  /// How many scales the second operand has.
  constexpr std::int64_t scales_of_b() const {
    if constexpr (std::is_same_v<Base, conv>)
      return per_channel ? base.outputs : 1;
    else if constexpr (adds)
      return 1;
    else
      return per_channel ? output().back() : 1;
  }
  constexpr bool biased() const {
    if constexpr (std::is_same_v<Base, conv>)
      return base.bias;
    else if constexpr (std::is_same_v<Base, gemm>)
      return !base.c.empty();
    else
      return false;
  }

  constexpr dtype a_type() const { return index() & 8 ? dtype::s8 : dtype::u8; }
  constexpr dtype b_type() const { return index() & 4 ? dtype::s8 : dtype::u8; }
  constexpr dtype result_type() const {
    return detail::code_results[static_cast<std::size_t>(index() & 3)];
  }
  /// The class of the arithmetic that it needs.
  constexpr numeric computes_in() const {
    return a_type() == dtype::u8 ? numeric::u8s8u8 : numeric::s8s8s8;
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    if constexpr (adds) {
      a.dims("a", base.a);
      a.dims_or("b", base.b, base.a);
    } else {
      base.fields(a);
    }
    a.word("types", "code_types", types, code_type_names);
    if (!adds) a.flag("per_channel", "pc", per_channel);
    a.flag("zero_a", "za", zero_a);
    a.flag("zero_b", "zb", zero_b);
    a.flag("zero_result", "zr", zero_result);
    a.flag("rectified", "relu", rectified);
  }

  constexpr void validate() const {
    base.validate();
    if (integer && result_type() != dtype::s32)
      throw error("the result of an integer layer is s32");
    if (!integer && result_type() == dtype::s32)
      throw error("a layer on codes gives codes, or real numbers");
    if (integer && (biased() || zero_result || rectified))
      throw error("an integer layer has neither bias nor scales");
    if (result_type() == dtype::real && zero_result) throw error("only codes have a zero point");
    if constexpr (adds) {
      if (base.operands != 2 || base.element != dtype::real ||
          (base.function != binary_function::add && base.function != binary_function::mul))
        throw error(
            "of elementwise layers on codes there are additions and multiplications of two");
      if (per_channel) throw error("an elementwise layer on codes has one scale an operand");
    }
    (void)cost();
  }

  constexpr shape output() const { return base.output(); }
  constexpr result_list results() const { return {{output(), result_type()}}; }

  /// The base's products; each result is scaled and, to become a code, shifted, rounded, clamped.
  constexpr work cost() const {
    work w = base.cost();
    const std::int64_t constant = w.weights * size_bytes(b_type()) + w.vectors * 4;
    std::int64_t moved = w.sources; // both operands are of one byte an element
    if (result_type() == dtype::real) {
      w.fixed_bytes = moved;
    } else {
      w.fixed_bytes = moved + checked_multiply(w.results, size_bytes(result_type()));
      w.other += integer ? 0 : checked_multiply(4, w.results);
      w.results = 0;
    }
    w.constant_fixed_bytes = constant;
    w.sources = w.weights = w.vectors = 0;
    return w;
  }
  constexpr std::int64_t direct_flops() const {
    if constexpr (requires { base.direct_flops(); })
      return cost().flops() - base.cost().flops() + base.direct_flops();
    else
      return cost().flops();
  }

  /// Codes from zero up are no less than zero already.
  constexpr on_codes canonical_form() const {
    on_codes p = *this;
    p.base = base.canonical_form();
    if (rectified && result_type() == dtype::u8 && !zero_result) p.rectified = false;
    return p;
  }
  constexpr bool operator==(const on_codes&) const = default;

private:
  constexpr int index() const { return static_cast<int>(types); }
};

/// True for layers on codes of any base.
template <class Layer>
inline constexpr bool is_on_codes = false;
template <class Base>
inline constexpr bool is_on_codes<on_codes<Base>> = true;

} // namespace benanza::op
