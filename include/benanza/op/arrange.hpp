// SPDX-License-Identifier: Apache-2.0
// Layers that fill a tensor by place: Trilu-14 (one half of a matrix, zeros elsewhere),
// ReverseSequence-10 (each batch's first places the other way round), OneHot-11 (a number becomes
// a row of two values).
//
//   trilu{.input = {1, 128, 128}, .k = 1}                                 key: 1x128x128-k1
//   one_hot{.indices = {8, 128}, .depth = 50, .axis = 2}                  key: 8x128-k50-a2
#pragma once

#include "move.hpp"

namespace benanza::op {

/// Of each matrix (the last two dims) what is on and above a diagonal, or on and below it.
struct trilu {
  shape input{};
  bool lower = false;
  std::int64_t k = 0; ///< the diagonal: so far right of the main one
  dtype element = dtype::real;

  static constexpr std::optional<trilu> of(std::string_view family) {
    return family == "Trilu" ? std::optional(trilu{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Trilu"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.flag("lower", "lower", lower);
    a.number("k", "k", k, 0);
    a.element("element", element);
  }
  constexpr void validate() const {
    if (input.size < 2) throw error("a Trilu takes two dims or more");
    check_dims(input);
    if (k < -dim_limit || k > dim_limit) throw error("a Trilu's diagonal lies over 2^40 away");
    (void)cost();
  }
  constexpr std::int64_t rows() const { return input[input.size - 2]; }
  constexpr std::int64_t columns() const { return input[input.size - 1]; }
  constexpr shape output() const { return input; }
  /// Only what stays is read.
  constexpr work cost() const {
    const std::int64_t all = elements(input);
    if (all == 0) return moved(element, 0, 0);
    const std::int64_t matrix = rows() * columns();
    const std::int64_t kept = lower ? matrix - above(k + 1) : above(k);
    return moved(element, all / matrix * kept, all);
  }
  /// Diagonals outside the matrix are all one.
  constexpr trilu canonical_form() const {
    trilu p = *this;
    if (input.size < 2 || rows() < 0) return p;
    if (k < -rows()) p.k = -rows();
    if (k > columns()) p.k = columns();
    return p;
  }
  constexpr bool operator==(const trilu&) const = default;

private:
  /// Elements on and above diagonal `d` of a matrix that is not empty.
  constexpr std::int64_t above(std::int64_t d) const {
    const auto within = [this](std::int64_t n) { return n < 0 ? 0 : n > rows() ? rows() : n; };
    const std::int64_t whole = within(1 - d), some = within(columns() - d) - whole;
    const std::int64_t first = columns() - d - whole; // of the rows that lose some
    return whole * columns() + (some > 0 ? some * (2 * first - some + 1) / 2 : 0);
  }
};

/// The first places of each batch, as many as it says, in reverse.
struct reverse_sequence {
  shape input{};
  bool batch_first = false; ///< dims begin with batch and time, not time and batch
  dtype element = dtype::real;

  static constexpr std::optional<reverse_sequence> of(std::string_view family) {
    return family == "ReverseSequence" ? std::optional(reverse_sequence{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "ReverseSequence"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.flag("batch_first", "bt", batch_first);
    a.element("element", element);
  }
  constexpr void validate() const {
    if (input.size < 2) throw error("a ReverseSequence takes two dims or more");
    check_dims(input);
    (void)cost();
  }
  constexpr std::int64_t batch() const { return input[batch_first ? 0 : 1]; }
  constexpr std::int64_t steps() const { return input[batch_first ? 1 : 0]; }
  constexpr shape output() const { return input; }
  constexpr work cost() const {
    work w = moved(element, elements(input), elements(input));
    w.fixed_bytes += checked_multiply(batch(), size_bytes(dtype::s64));
    return w;
  }
  constexpr reverse_sequence canonical_form() const { return *this; }
  constexpr bool operator==(const reverse_sequence&) const = default;
};

/// In which type a OneHot's numbers are given; the order is that of `one_hot_names`.
enum class one_hot_index : std::uint8_t { whole, narrow, number };
inline constexpr std::string_view one_hot_names[] = {"i64", "i32", "ireal"};

/// Along a new axis one of two values, the second where the axis has the number's place. Numbers
/// from the end are negative, and those outside have no place.
struct one_hot {
  shape indices{};
  std::int64_t depth = 0;
  int axis = 0; ///< of the result
  one_hot_index index = one_hot_index::whole;
  dtype element = dtype::real; ///< of the values

  static constexpr std::optional<one_hot> of(std::string_view family) {
    return family == "OneHot" ? std::optional(one_hot{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "OneHot"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("indices", indices);
    a.number("depth", "k", depth, 0, true);
    a.number("axis", "a", axis, 0, true);
    a.choice("index", "one_hot_index", index, one_hot_names);
    a.element("element", element);
  }
  constexpr void validate() const {
    check_dims(indices);
    if (axis < 0 || axis > indices.size) throw error("an axis lies outside the dims");
    if (depth < 0 || depth > dim_limit) throw error("a OneHot's depth is negative or over 2^40");
    check_dims(output());
    (void)cost();
  }
  /// Storage of the numbers.
  constexpr dtype index_type() const {
    return index == one_hot_index::whole    ? dtype::s64
           : index == one_hot_index::narrow ? dtype::s32
                                            : dtype::real;
  }
  constexpr shape output() const {
    shape out;
    for (int i = 0; i <= indices.size; ++i)
      out.push(i < axis ? indices[i] : i == axis ? depth : indices[i - 1]);
    return out;
  }
  constexpr work cost() const {
    work w = moved(element, 2, elements(output()));
    const work read = moved(index_type(), elements(indices), 0);
    w.sources += read.sources;
    w.fixed_bytes += read.fixed_bytes;
    return w;
  }
  constexpr one_hot canonical_form() const { return *this; }
  constexpr bool operator==(const one_hot&) const = default;
};

} // namespace benanza::op
