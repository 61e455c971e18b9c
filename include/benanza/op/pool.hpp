// SPDX-License-Identifier: Apache-2.0
// Pooling: ONNX MaxPool-12, AveragePool-19, LpPool-18 and the global ones, one to three spatial
// dims.
// `include_pad` and `ceil` change the result and so the key; so does a second result, where in the
// whole input each maximum is. Maxima of codes of 8 bits have the codes' type in their key.
//
//   pool{.function = pooling::max, .input = {1, 64, 112, 112}, .kernel = {3, 3}, .strides = {2, 2}}
//   key: 1x64x112x112-3x3-s2
#pragma once

#include "key.hpp"
#include "results.hpp"
#include "window.hpp"
#include "work.hpp"

#include <optional>

namespace benanza::op {

/// What a pooling layer computes; the order is that of `pooling_families`.
enum class pooling : std::uint8_t { max, average, global_max, global_average, lp, global_lp };

inline constexpr std::string_view pooling_families[] = {
    "MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool", "LpPool", "GlobalLpPool"};

/// Whether a maximum's place is a result too, and how places count; the order is that of
/// `pool_index_names`.
enum class pool_index : std::uint8_t { none, row_major, column_major };
inline constexpr std::string_view pool_index_names[] = {"none", "indices", "cindices"};

struct pool {
  pooling function = pooling::max;
  shape input{};
  std::int64_t power = 2; ///< of a norm: the root of the sum of these powers of sizes
  extents kernel{};       ///< empty for the global ones
  extents strides{};
  paddings pads{};
  extents dilations{};
  bool ceil = false;
  bool include_pad = false; ///< averages count padding as zeros
  pool_index indices = pool_index::none;
  dtype element = dtype::real; ///< of MaxPool: u8 or s8 too

  static constexpr std::optional<pool> of(std::string_view family) {
    for (std::size_t i = 0; i < std::size(pooling_families); ++i)
      if (pooling_families[i] == family) return pool{.function = static_cast<pooling>(i)};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return pooling_families[static_cast<std::size_t>(function)];
  }
  constexpr bool global() const {
    return function == pooling::global_max || function == pooling::global_average ||
           function == pooling::global_lp;
  }
  constexpr bool norm() const { return function == pooling::lp || function == pooling::global_lp; }
  constexpr bool maximum() const {
    return function == pooling::max || function == pooling::global_max;
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    if (norm()) a.number("power", "power", power, 2);
    if (global()) return;
    a.dims("kernel", kernel);
    const int n = kernel.size;
    a.tagged("strides", "s", strides, n, 1, true);
    a.tagged("pads", "p", pads, 2 * n, 0);
    a.tagged("dilations", "d", dilations, n, 1);
    a.flag("ceil", "ceil", ceil);
    a.flag("include_pad", "ip", include_pad);
    a.choice("indices", "pool_index", indices, pool_index_names);
    if (function == pooling::max) a.element("element", element);
  }

  constexpr void validate() const {
    if (input.size < 3 || input.size > 5) throw error("pooling takes one to three spatial dims");
    check_dims(input);
    if (!global()) check_window(input, kernel, strides, pads, dilations);
    for (int i = 0; !global() && i < 2 * kernel.size; ++i) {
      const int dim = i % kernel.size;
      if (entry(pads, i, 0) >= window_span(kernel[dim], entry(dilations, dim, 1)))
        throw error("a pooling window lies in the padding alone");
    }
    if (norm() && (power < 1 || power > 1024)) throw error("a norm's power is 1 to 1024");
    if (indices != pool_index::none && function != pooling::max)
      throw error("places are a result of MaxPool alone");
    if (element != dtype::real && element != dtype::u8 && element != dtype::s8)
      throw error("a pooling is of real numbers or of codes of 8 bits");
    if (element != dtype::real && (function != pooling::max || indices != pool_index::none))
      throw error("of codes there are maxima alone, without their places");
    check_dims(output());
    (void)cost();
  }

  constexpr shape output() const {
    shape out{input[0], input[1]};
    for (int i = 0; i < input.size - 2; ++i)
      out.push(global() ? 1
                        : window_output(input[i + 2], kernel[i], entry(strides, i, 1),
                                        entry(dilations, i, 1), entry(pads, i, 0),
                                        entry(pads, i + kernel.size, 0), ceil));
    return out;
  }
  constexpr result_list results() const {
    if (indices == pool_index::none) return {{output(), element}};
    return {{output()}, {output(), dtype::s64}};
  }

  /// Elements of the source that are never read: a stride larger than the kernel steps over them.
  constexpr std::int64_t unread() const { return global() ? 0 : unread_by(*this); }

  constexpr work cost() const {
    work w = moved(element, elements(input), elements(output()));
    if (indices != pool_index::none) w.fixed_bytes = checked_multiply(8, w.results);
    std::int64_t taps = 1;
    for (int i = 0; i < input.size - 2; ++i)
      taps = checked_multiply(taps, global() ? input[i + 2] : kernel[i]);
    w.other = checked_multiply(elements(output()), taps);
    return w;
  }

  /// One way to write each pooling: what changes nothing is left out, of a global one all but its
  /// input.
  constexpr pool canonical_form() const {
    const std::int64_t its_power = norm() ? power : 2;
    if (global()) return {.function = function, .input = input, .power = its_power};
    pool p = *this;
    p.power = its_power;
    p.strides = canonical(strides, 1);
    p.pads = canonical(pads, 0);
    p.dilations = used_dilations(kernel, dilations);
    if (ceil && input.size == kernel.size + 2) {
      p.ceil = false;
      p.ceil = p.output() != output();
    }
    p.include_pad = include_pad && !maximum() && !norm() && (!p.pads.empty() || p.ceil);
    return p;
  }
  constexpr bool operator==(const pool&) const = default;
};

} // namespace benanza::op
