// SPDX-License-Identifier: Apache-2.0
// Layers that only move data: Concat, Split, Transpose, Pad, Slice, Gather, Resize, DepthToSpace
// and SpaceToDepth. Concat and Split hold what decides their cost, the whole, the axis and the
// number of parts, which are measured as equal as they can be.
//
//   concat{.whole = {1, 256, 28, 28}, .axis = 1, .parts = 4}       key: 1x256x28x28-a1-n4
//   transpose{.input = {1, 2, 58, 28}, .order = {0, 2, 1, 3}}      key: 1x2x58x28-o0x2x1x3
#pragma once

#include "eltwise.hpp"

#include <algorithm>
#include <numeric>

namespace benanza::op {

namespace detail {
constexpr void check_axis(int axis, const shape& s) {
  if (axis < 0 || axis >= s.size) throw error("an axis lies outside the dims");
}
} // namespace detail

/// Dims of part `i` of `whole` cut into `parts` along `axis`, as equal as they can be.
constexpr shape part_of(const shape& whole, int axis, std::int64_t parts, std::int64_t i) {
  shape s = whole;
  s[axis] = whole[axis] / parts + (i < whole[axis] % parts ? 1 : 0);
  return s;
}

struct concat {
  shape whole{}; ///< the output
  int axis = 0;
  std::int64_t parts = 0;
  dtype element = dtype::real;

  static constexpr std::optional<concat> of(std::string_view family) {
    return family == "Concat" ? std::optional(concat{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Concat"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("whole", whole);
    a.number("axis", "a", axis, 0, true);
    a.number("parts", "n", parts, 0, true);
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, whole);
    if (parts < 1 || parts > std::max<std::int64_t>(1, whole[axis]))
      throw error("a Concat has more parts than its axis is long");
    check_dims(whole);
    (void)cost();
  }
  constexpr shape output() const { return whole; }
  constexpr work cost() const { return moved(element, elements(whole), elements(whole)); }
  constexpr concat canonical_form() const { return *this; }
  constexpr bool operator==(const concat&) const = default;
};

struct split {
  shape whole{}; ///< the input
  int axis = 0;
  std::int64_t parts = 0;
  dtype element = dtype::real;

  static constexpr std::optional<split> of(std::string_view family) {
    return family == "Split" ? std::optional(split{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Split"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("whole", whole);
    a.number("axis", "a", axis, 0, true);
    a.number("parts", "n", parts, 0, true);
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, whole);
    if (parts < 1 || parts > std::max<std::int64_t>(1, whole[axis]))
      throw error("a Split has more parts than its axis is long");
    check_dims(whole);
    (void)cost();
  }
  /// All parts together, one after the other.
  constexpr shape output() const { return whole; }
  constexpr work cost() const { return moved(element, elements(whole), elements(whole)); }
  constexpr split canonical_form() const { return *this; }
  constexpr bool operator==(const split&) const = default;
};

struct transpose {
  shape input{};
  shape order{}; ///< output dim i is input dim order[i]
  dtype element = dtype::real;

  static constexpr std::optional<transpose> of(std::string_view family) {
    return family == "Transpose" ? std::optional(transpose{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Transpose"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.tagged_list("order", "o", order);
    a.element("element", element);
  }
  constexpr void validate() const {
    if (order.size != input.size)
      throw error("a Transpose names another number of dims than it has");
    unsigned seen = 0;
    for (std::int64_t d : order) {
      if (d < 0 || d >= input.size || (seen >> d & 1u))
        throw error("a Transpose's order is not one");
      seen |= 1u << d;
    }
    check_dims(input);
    (void)cost();
  }
  constexpr shape output() const {
    shape out;
    for (std::int64_t d : order)
      out.push(input[static_cast<int>(d)]);
    return out;
  }
  constexpr work cost() const { return moved(element, elements(input), elements(input)); }
  constexpr transpose canonical_form() const { return *this; }
  constexpr bool operator==(const transpose&) const = default;
};

/// How Pad fills; the order is that of `pad_names`.
enum class pad_mode : std::uint8_t { constant, edge, reflect, wrap };
inline constexpr std::string_view pad_names[] = {"constant", "edge", "reflect", "wrap"};

struct pad {
  shape input{};
  shape begins{}; ///< may be negative: elements cut off
  shape ends{};
  pad_mode mode = pad_mode::constant;
  dtype element = dtype::real;

  static constexpr std::optional<pad> of(std::string_view family) {
    return family == "Pad" ? std::optional(pad{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Pad"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    if (!input.empty()) { // of a scalar there are none, and "e4m3" would read as ends
      a.tagged_list("begins", "b", begins);
      a.tagged_list("ends", "e", ends);
    }
    a.choice("mode", "pad_mode", mode, pad_names);
    a.element("element", element);
  }
  constexpr void validate() const {
    if (begins.size != input.size || ends.size != input.size)
      throw error("a Pad names another number of dims than it has");
    check_dims(input);
    for (const shape* side : {&begins, &ends})
      for (std::int64_t d : *side)
        if (d < -dim_limit || d > dim_limit) throw error("a Pad adds or cuts off more than 2^40");
    const shape in = kept(), out = output();
    for (int i = 0; i < input.size; ++i) {
      if (in[i] < 0) throw error("a Pad cuts off more than there is");
      if (in[i] == 0 && out[i] > 0 && mode != pad_mode::constant)
        throw error("a Pad has nothing to fill with");
    }
    check_dims(out);
    (void)cost();
  }
  /// Dims of the part of the input that is still there in the output.
  constexpr shape kept() const {
    shape s = input;
    for (int i = 0; i < input.size; ++i)
      s[i] += (begins[i] < 0 ? begins[i] : 0) + (ends[i] < 0 ? ends[i] : 0);
    return s;
  }
  constexpr shape output() const {
    shape out = input;
    for (int i = 0; i < input.size; ++i)
      out[i] += begins[i] + ends[i];
    return out;
  }
  constexpr work cost() const { return moved(element, elements(kept()), elements(output())); }
  constexpr pad canonical_form() const { return *this; }
  constexpr bool operator==(const pad&) const = default;
};

struct slice {
  shape input{};
  shape sizes{};  ///< the output's dims
  shape starts{}; ///< first element taken along each dim; empty: 0
  shape steps{};  ///< may be negative; empty: 1
  dtype element = dtype::real;

  static constexpr std::optional<slice> of(std::string_view family) {
    return family == "Slice" ? std::optional(slice{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Slice"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.dims("sizes", sizes);
    // Tags that no element type begins with: `s64` and `f32` are some.
    a.tagged("starts", "from", starts, input.size, 0);
    a.tagged("steps", "by", steps, input.size, 1);
    a.element("element", element);
  }
  constexpr std::int64_t start(int i) const { return starts.empty() ? 0 : starts[i]; }
  constexpr std::int64_t step(int i) const { return steps.empty() ? 1 : steps[i]; }
  constexpr void validate() const {
    if (sizes.size != input.size || (!starts.empty() && starts.size != input.size) ||
        (!steps.empty() && steps.size != input.size))
      throw error("a Slice names another number of dims than it has");
    check_dims(input);
    check_dims(sizes);
    for (int i = 0; i < input.size; ++i) {
      if (start(i) < 0 || start(i) > dim_limit || step(i) == 0 || step(i) < -dim_limit ||
          step(i) > dim_limit)
        throw error("a Slice starts before its input, or steps by 0 or more than 2^40");
      if (sizes[i] == 0) continue;
      const std::int64_t room = step(i) > 0 ? input[i] - 1 - start(i) : start(i);
      const std::int64_t stride = step(i) > 0 ? step(i) : -step(i);
      if (start(i) >= input[i] || sizes[i] - 1 > room / stride)
        throw error("a Slice reaches outside its input");
    }
    (void)cost();
  }
  constexpr shape output() const { return sizes; }
  constexpr work cost() const { return moved(element, elements(sizes), elements(sizes)); }
  constexpr slice canonical_form() const {
    slice s = *this;
    for (int i = 0; i < sizes.size && i < starts.size; ++i)
      if (sizes[i] == 0) s.starts[i] = 0;
    for (int i = 0; i < sizes.size && i < steps.size; ++i)
      if (sizes[i] < 2) s.steps[i] = 1;
    if (s.starts.all(0)) s.starts = {};
    if (s.steps.all(1)) s.steps = {};
    return s;
  }
  constexpr bool operator==(const slice&) const = default;
};

struct gather {
  shape data{};
  shape indices{};
  int axis = 0;
  dtype element = dtype::real;
  dtype index = dtype::s64;

  static constexpr std::optional<gather> of(std::string_view family) {
    return family == "Gather" ? std::optional(gather{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "Gather"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("data", data);
    a.dims("indices", indices);
    a.number("axis", "a", axis, 0);
    bool narrow = index == dtype::s32;
    a.flag("", "i32", narrow);
    index = narrow ? dtype::s32 : dtype::s64;
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, data);
    check_dims(data);
    check_dims(indices);
    if (data[axis] < 1 && elements(indices) > 0) throw error("a Gather takes from an empty axis");
    if (index != dtype::s32 && index != dtype::s64)
      throw error("a Gather's indices are of type s32 or s64");
    (void)cost();
  }
  constexpr shape output() const {
    shape out;
    for (int i = 0; i < axis; ++i)
      out.push(data[i]);
    for (std::int64_t d : indices)
      out.push(d);
    for (int i = axis + 1; i < data.size; ++i)
      out.push(data[i]);
    return out;
  }
  /// Indices are less than these, those from the end not less than minus these: each row of them
  /// (their last dim) holds one for each bound; a single bound is that of all.
  constexpr shape index_bounds() const { return {data[axis]}; }
  /// Only what is taken is read, and what is taken twice only once.
  constexpr work cost() const {
    const std::int64_t out = elements(output()), in = elements(data);
    work w = moved(element, in < out ? in : out, out);
    w.fixed_bytes += elements(indices) * size_bytes(index);
    return w;
  }
  constexpr gather canonical_form() const { return *this; }
  constexpr bool operator==(const gather&) const = default;
};

/// How Resize interpolates; the order is that of `resize_names`.
enum class interpolation : std::uint8_t { nearest, linear, cubic };
inline constexpr std::string_view resize_names[] = {"nearest", "linear", "cubic"};

/// Where Resize places its samples; the order is that of `sampling_names`.
enum class sampling : std::uint8_t {
  half_pixel,
  asymmetric,
  align_corners,
  pytorch_half_pixel,
  tf_half_pixel_for_nn,
  tf_crop_and_resize
};
inline constexpr std::string_view sampling_names[] = {"half_pixel",           "asymmetric",
                                                      "align_corners",        "pytorch_half_pixel",
                                                      "tf_half_pixel_for_nn", "tf_crop_and_resize"};

/// Which neighbour is the nearest; the order is that of `nearest_names`. `usual` rounds halves
/// down, but `asymmetric` down in all cases: so say most models.
enum class nearest : std::uint8_t { usual, floor, ceil, round_prefer_floor, round_prefer_ceil };
inline constexpr std::string_view nearest_names[] = {"usual", "floor", "ceil", "round_prefer_floor",
                                                     "round_prefer_ceil"};

struct resize {
  shape input{};
  shape sizes{}; ///< the output's dims
  interpolation mode = interpolation::nearest;
  sampling coordinates = sampling::half_pixel;
  bool upsample = false; ///< the older ONNX operator of that name
  nearest rounding = nearest::usual;
  bool antialias = false; ///< a dim that shrinks takes all that an output covers
  bool exclude = false;   ///< neighbours beyond the edge have no weight, in place of the edge's
  shape axes{};           ///< of a crop: the dims in the order of its bounds; empty: all

  static constexpr std::optional<resize> of(std::string_view family) {
    if (family == "Resize") return resize{};
    if (family == "Upsample") return resize{.upsample = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const { return upsample ? "Upsample" : "Resize"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.dims("sizes", sizes);
    a.choice("mode", "interpolation", mode, resize_names);
    a.choice("coordinates", "sampling", coordinates, sampling_names);
    a.choice("rounding", "nearest", rounding, nearest_names);
    a.flag("antialias", "antialias", antialias);
    a.flag("exclude", "exclude", exclude);
    if (crops()) a.tagged_list("axes", "axes", axes);
  }
  constexpr bool crops() const { return coordinates == sampling::tf_crop_and_resize; }
  /// True for the forms that every version of the operator has.
  constexpr bool plain() const {
    return rounding == nearest::usual && !antialias && !exclude &&
           coordinates <= sampling::pytorch_half_pixel;
  }
  /// Bounds of a crop: where it begins and ends along each of its axes.
  constexpr std::int64_t bounds() const {
    return crops() ? 2 * (axes.empty() ? input.size : axes.size) : 0;
  }
  /// Where the begin of a crop along a dim is among its bounds; -1: it is not cropped.
  constexpr int bound_of(int dim) const {
    if (!crops()) return -1;
    for (int i = 0; i < axes.size; ++i)
      if (axes[i] == dim) return i;
    return axes.empty() ? dim : -1;
  }
  constexpr void validate() const {
    if (sizes.size != input.size) throw error("a Resize names another number of dims than it has");
    for (int i = 0; i < input.size; ++i)
      if (sizes[i] < 1 || input[i] < 1) throw error("a Resize takes dims of 1 or more");
    for (int i = 0; i < axes.size; ++i) {
      if (axes[i] < 0 || axes[i] >= input.size || bound_of(static_cast<int>(axes[i])) != i)
        throw error("a Resize names an axis twice, or one that it does not have");
    }
    if (mode != interpolation::nearest && rounding != nearest::usual)
      throw error("a Resize rounds, but blends");
    check_dims(input);
    check_dims(sizes);
    (void)cost();
  }
  constexpr shape output() const { return sizes; }
  constexpr work cost() const {
    work w = moved(dtype::real, elements(input), elements(sizes));
    int resized = 0;
    for (int i = 0; i < input.size; ++i)
      resized += input[i] != sizes[i];
    const std::int64_t taps = mode == interpolation::nearest  ? 0
                              : mode == interpolation::linear ? std::int64_t{1} << resized
                                                              : std::int64_t{1} << (2 * resized);
    w.other = checked_multiply(w.results, 2 * taps);
    w.vectors = bounds();
    if (!narrows()) return w;
    w.other = 0; // dim by dim, the last one at least
    for (int i = 0; i < input.size; ++i)
      if (sizes[i] < input[i])
        w.other = checked_multiply(w.results,
                                   input[i] / sizes[i] * (mode == interpolation::cubic ? 8 : 4));
    return w;
  }
  /// True where a dim shrinks, and takes all that an output covers.
  constexpr bool narrows() const {
    bool shrinks = false;
    for (int i = 0; i < input.size && i < sizes.size; ++i)
      shrinks = shrinks || sizes[i] < input[i];
    return antialias && shrinks && mode != interpolation::nearest;
  }
  /// What makes no difference is left out.
  constexpr resize canonical_form() const {
    resize r = *this;
    const bool picks = mode == interpolation::nearest;
    const bool floors = coordinates == sampling::asymmetric;
    if (!picks || rounding == (floors ? nearest::floor : nearest::round_prefer_floor))
      r.rounding = nearest::usual;
    r.antialias = narrows();
    r.exclude = exclude && (mode == interpolation::cubic || r.antialias);
    if (!crops()) r.axes = {};
    // Where all places are whole or halves, rounding halves down is rounding down.
    bool halves = true;
    for (int i = 0; i < input.size && i < sizes.size; ++i)
      halves =
          halves && input[i] > 0 && sizes[i] > 0 && sizes[i] / std::gcd(input[i], sizes[i]) <= 2;
    if (floors && halves && r.rounding == nearest::round_prefer_floor) r.rounding = nearest::usual;
    return r;
  }
  constexpr bool operator==(const resize&) const = default;
};

struct depth_to_space {
  shape input{};
  std::int64_t block = 0;
  bool column_row_depth = false; ///< ONNX mode CRD in place of DCR
  bool inverse = false;          ///< SpaceToDepth

  static constexpr std::optional<depth_to_space> of(std::string_view family) {
    if (family == "DepthToSpace") return depth_to_space{};
    if (family == "SpaceToDepth") return depth_to_space{.inverse = true};
    return std::nullopt;
  }
  constexpr std::string_view family() const { return inverse ? "SpaceToDepth" : "DepthToSpace"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("input", input);
    a.number("block", "k", block, 0, true);
    a.flag("column_row_depth", "crd", column_row_depth);
  }
  constexpr void validate() const {
    if (input.size != 4 || block < 1 || block > dim_limit)
      throw error("DepthToSpace takes four dims and a block of 1 or more");
    check_dims(input);
    const bool fits = inverse ? input[2] % block == 0 && input[3] % block == 0
                              : input[1] % block == 0 && input[1] / block % block == 0;
    if (!fits) throw error("a DepthToSpace block does not divide its input");
    check_dims(output());
    (void)cost();
  }
  constexpr shape output() const {
    if (inverse)
      return {input[0], checked_multiply(checked_multiply(input[1], block), block),
              input[2] / block, input[3] / block};
    return {input[0], input[1] / block / block, checked_multiply(input[2], block),
            checked_multiply(input[3], block)};
  }
  constexpr work cost() const { return moved(dtype::real, elements(input), elements(input)); }
  constexpr depth_to_space canonical_form() const { return *this; }
  constexpr bool operator==(const depth_to_space&) const = default;
};

} // namespace benanza::op
