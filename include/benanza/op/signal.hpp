// SPDX-License-Identifier: Apache-2.0
// The discrete Fourier transform (ONNX DFT-17..20) and the determinant (Det-11..22). A transform's
// last dim holds real or real and imaginary parts; along its axis the input is cut off or filled
// with zeros to `length`. `onesided` gives only the frequencies that decide the others of a real
// signal, or with `inverse` the real signal that those decide.
//
//   dft{.input = {8, 512, 1}, .axis = 1, .length = 512, .onesided = true}   key:
//   8x512x1-a1-n512-one det{.input = {64, 4, 4}} key: 64x4x4
#pragma once

#include "key.hpp"
#include "work.hpp"

#include <bit>
#include <optional>

namespace benanza::op {

struct dft {
  shape input{};
  int axis = 0;
  std::int64_t length = 0;
  bool inverse = false;
  bool onesided = false;

  static constexpr std::optional<dft> of(std::string_view family) {
    return family == "DFT" ? std::optional(dft{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "DFT"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
    a.number("length", "n", length, 0, true);
    a.flag("inverse", "inverse", inverse);
    a.flag("onesided", "one", onesided);
  }
  constexpr void validate() const {
    if (input.size < 2 || (input.back() != 1 && input.back() != 2))
      throw error("a DFT's last dim holds one or two parts of a number");
    if (axis < 0 || axis > input.size - 2) throw error("a DFT's axis lies outside its dims");
    if (length < 1 || length > std::int64_t{1} << 24)
      throw error("a DFT takes a length of 1 to 2^24");
    if (onesided && !inverse && complex_input())
      throw error("a DFT of complex numbers has two sides");
    check_dims(input);
    check_dims(output());
    (void)cost();
  }
  constexpr bool complex_input() const { return input.back() == 2; }
  constexpr bool real_result() const { return inverse && onesided; }
  /// Entries along the axis that count.
  constexpr std::int64_t wanted() const { return real_result() ? length / 2 + 1 : length; }
  constexpr shape output() const {
    shape out = input;
    out[axis] = onesided && !inverse ? length / 2 + 1 : length;
    out[out.size - 1] = real_result() ? 1 : 2;
    return out;
  }
  /// Lines that are transformed.
  constexpr std::int64_t lines() const {
    return checked_multiply(elements(input, 0, axis), elements(input, axis + 1, input.size - 1));
  }
  /// 5 n log2 n of a radix-2 transform, half of that where one side is real.
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input), elements(output()));
    const auto bits =
        static_cast<std::int64_t>(std::bit_width(static_cast<std::uint64_t>(length))) - 1;
    const std::int64_t whole = checked_multiply(lines(), checked_multiply(5 * bits, length));
    w.other = onesided || !complex_input() ? whole / 2 : whole;
    return w;
  }
  constexpr dft canonical_form() const { return *this; }
  constexpr bool operator==(const dft&) const = default;
};

struct det {
  shape input{};

  static constexpr std::optional<det> of(std::string_view family) {
    return family == "Det" ? std::optional(det{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Det"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
  }
  constexpr void validate() const {
    if (input.size < 2 || input[input.size - 1] != input[input.size - 2])
      throw error("a Det takes square matrices");
    check_dims(input);
    (void)cost();
  }
  constexpr std::int64_t side() const { return input.back(); }
  constexpr shape output() const {
    shape out = input;
    out.size -= 2;
    out.at[out.size] = out.at[out.size + 1] = 0;
    return out;
  }
  /// A third of n^3 multiply-accumulates of an elimination.
  constexpr work cost() const {
    const std::int64_t count = elements(output()), n = side();
    work w = moved(dtype::real, elements(input), count);
    w.macs = checked_multiply(count, checked_multiply(n, checked_multiply(n, n)) / 3);
    w.other = checked_multiply(count, n);
    return w;
  }
  constexpr det canonical_form() const { return *this; }
  constexpr bool operator==(const det&) const = default;
};

} // namespace benanza::op
