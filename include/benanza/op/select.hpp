// SPDX-License-Identifier: Apache-2.0
// Layers that find elements: ArgMax-13 and ArgMin-13, TopK-11, NonZero-13, Compress-11, Unique-11.
// Of equal ones the first counts. Where what is read decides how many are found, a layer gives as
// many as there can be: what was found comes first, zeros come behind it.
//
//   arg{.input = {8, 1000}, .axis = 1}                                   key: 8x1000-a1
//   top_k{.input = {1, 8400}, .axis = 1, .k = 100}                       key: 1x8400-a1-k100
//   compress{.input = {20, 4}, .axis = 0, .length = 20, .kept = 7}       key: 20x4-n20-k7-a0
#pragma once

#include "move.hpp"
#include "results.hpp"

namespace benanza::op {

/// Where along an axis the largest or smallest element is. As of a reduction, `output()` keeps the
/// axis as one.
struct arg {
  bool smallest = false; ///< ArgMin
  shape input{};
  int axis = 0;
  bool last = false; ///< of equal ones the last counts
  dtype element = dtype::real;

  static constexpr std::optional<arg> of(std::string_view family) {
    if (family == "ArgMax") return arg{};
    if (family == "ArgMin") return arg{.smallest = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const { return smallest ? "ArgMin" : "ArgMax"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
    a.flag("last", "last", last);
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, input);
    check_dims(input);
    if (input[axis] < 1) throw error("an empty axis has no largest element");
    (void)cost();
  }
  constexpr shape output() const {
    shape out = input;
    out[axis] = 1;
    return out;
  }
  constexpr result_list results() const { return {{output(), dtype::s64}}; }
  constexpr work cost() const {
    work w = moved(element, elements(input), 0);
    w.fixed_bytes += elements(output()) * size_bytes(dtype::s64);
    w.other = elements(input);
    return w;
  }
  constexpr arg canonical_form() const {
    arg p = *this;
    if (axis >= 0 && axis < input.size && input[axis] == 1) p.last = false;
    return p;
  }
  constexpr bool operator==(const arg&) const = default;
};

/// The k largest or smallest along an axis, and where they are.
struct top_k {
  shape input{};
  int axis = 0;
  std::int64_t k = 0;
  bool smallest = false;
  bool unsorted = false; ///< their order does not matter
  dtype element = dtype::real;

  static constexpr std::optional<top_k> of(std::string_view family) {
    return family == "TopK" ? std::optional(top_k{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "TopK"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, 0, true);
    a.number("k", "k", k, 0, true);
    a.flag("smallest", "smallest", smallest);
    a.flag("unsorted", "unsorted", unsorted);
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, input);
    check_dims(input);
    if (k < 0 || k > input[axis]) throw error("a TopK takes more than its axis has");
    (void)cost();
  }
  constexpr shape output() const {
    shape out = input;
    out[axis] = k;
    return out;
  }
  constexpr result_list results() const { return {{output(), element}, {output(), dtype::s64}}; }
  /// At least one comparison for each element.
  constexpr work cost() const {
    work w = moved(element, elements(input), elements(output()));
    w.fixed_bytes += elements(output()) * size_bytes(dtype::s64);
    w.other = elements(input);
    return w;
  }
  constexpr top_k canonical_form() const {
    top_k p = *this;
    if (k < 2) p.unsorted = false;
    return p;
  }
  constexpr bool operator==(const top_k&) const = default;
};

/// The places of all elements that are not zero: a row for each dim, at most a column for each
/// element.
struct non_zero {
  shape input{};
  dtype element = dtype::real;

  static constexpr std::optional<non_zero> of(std::string_view family) {
    return family == "NonZero" ? std::optional(non_zero{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "NonZero"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.element("element", element);
  }
  constexpr void validate() const {
    if (input.empty()) throw error("a NonZero takes one dim or more");
    check_dims(input);
    check_dims(output());
    (void)cost();
  }
  constexpr shape output() const { return {input.size, elements(input)}; }
  constexpr result_list results() const { return {{output(), dtype::s64}}; }
  constexpr work cost() const {
    work w = moved(element, elements(input), 0);
    w.fixed_bytes += elements(output()) * size_bytes(dtype::s64);
    w.other = elements(input);
    return w;
  }
  constexpr non_zero canonical_form() const { return *this; }
  constexpr bool operator==(const non_zero&) const = default;
};

/// The slices along an axis, or of all elements in order, for which a condition holds.
struct compress {
  shape input{};
  std::int64_t length = 0; ///< of the condition
  std::int64_t kept = 0;   ///< how often it holds
  int axis = -1;           ///< -1: all elements in order
  dtype element = dtype::real;

  static constexpr std::optional<compress> of(std::string_view family) {
    return family == "Compress" ? std::optional(compress{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Compress"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("length", "n", length, 0, true);
    a.number("kept", "k", kept, 0, true);
    a.number("axis", "a", axis, -1);
    a.element("element", element);
  }
  constexpr void validate() const {
    check_dims(input);
    if (axis < -1 || axis >= input.size) throw error("an axis lies outside the dims");
    if (length < 0 || length > dim_limit || kept < 0 || kept > length || kept > size())
      throw error("a Compress keeps more than its condition or its axis is long");
    check_dims(output());
    (void)cost();
  }
  /// How many slices there are.
  constexpr std::int64_t size() const { return axis < 0 ? elements(input) : input[axis]; }
  constexpr shape output() const {
    if (axis < 0) return {kept};
    shape out = input;
    out[axis] = kept;
    return out;
  }
  constexpr work cost() const {
    work w = moved(element, elements(output()), elements(output()));
    w.fixed_bytes += length;
    return w;
  }
  constexpr compress canonical_form() const {
    compress p = *this;
    if (input.size == 1) p.axis = -1;
    return p;
  }
  constexpr bool operator==(const compress&) const = default;
};

/// Each element, or slice along an axis, once; with `wanted` of them also where each first occurs,
/// which of them every one is, and how often each occurs.
struct unique {
  shape input{};
  int axis = -1;         ///< -1: all elements in order
  int wanted = 1;        ///< results: values, first places, inverse, counts
  bool unsorted = false; ///< in the order in which they are first met
  dtype element = dtype::real;

  static constexpr std::optional<unique> of(std::string_view family) {
    return family == "Unique" ? std::optional(unique{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Unique"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("axis", "a", axis, -1);
    a.number("wanted", "n", wanted, 1);
    a.flag("unsorted", "unsorted", unsorted);
    a.element("element", element);
  }
  constexpr void validate() const {
    check_dims(input);
    if (axis < -1 || axis >= input.size) throw error("an axis lies outside the dims");
    if (wanted < 1 || wanted > 4) throw error("a Unique has one to four results");
    check_dims(output());
    (void)cost();
  }
  /// How many slices are compared with each other.
  constexpr std::int64_t size() const { return axis < 0 ? elements(input) : input[axis]; }
  constexpr shape output() const { return axis < 0 ? shape{elements(input)} : input; }
  constexpr result_list results() const {
    result_list out{{output(), element}};
    for (int i = 1; i < wanted; ++i)
      out.push({{size()}, dtype::s64});
    return out;
  }
  /// Sorted by comparisons.
  constexpr work cost() const {
    const std::int64_t n = elements(input);
    work w = moved(element, n, n);
    w.fixed_bytes += checked_multiply(checked_multiply(wanted - 1, size()), 8);
    std::int64_t rounds = 0;
    while ((std::int64_t{1} << rounds) < size())
      ++rounds;
    w.other = checked_multiply(n, rounds);
    return w;
  }
  constexpr unique canonical_form() const {
    unique p = *this;
    if (input.size == 1) p.axis = -1;
    if (axis < input.size && size() < 2) p.unsorted = false;
    return p;
  }
  constexpr bool operator==(const unique&) const = default;
};

} // namespace benanza::op
