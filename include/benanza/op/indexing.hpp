// SPDX-License-Identifier: Apache-2.0
// Layers that read or write where other operands say: GatherElements-13, GatherND-13,
// ScatterElements-18 (and Scatter-9), ScatterND-18, and TensorScatter-24, which writes new places
// of a sequence into a cache. Which places indices name is no part of the layer; without a
// reduction each is written once.
//
//   indexing{.function = indexing_function::gather_elements, .data = {4, 9}, .indices = {4, 3},
//            .axis = 1}                                                       key: 4x9-4x3-a1
//   tensor_scatter{.cache = {2, 8, 512, 64}, .axis = 2, .length = 1}          key: 2x8x512x64-a2-n1
#pragma once

#include "move.hpp"

namespace benanza::op {

/// Which ONNX operator it is; the order is that of `indexing_families`.
enum class indexing_function : std::uint8_t {
  gather_elements,
  gather_nd,
  scatter_elements,
  scatter_nd
};
inline constexpr std::string_view indexing_families[] = {"GatherElements", "GatherND",
                                                         "ScatterElements", "ScatterND"};

/// What becomes of the number that was there; the order is that of `scatter_names`.
enum class scatter_reduction : std::uint8_t { none, add, mul, max, min };
inline constexpr std::string_view scatter_names[] = {"none", "add", "mul", "max", "min"};

struct indexing {
  indexing_function function = indexing_function::gather_elements;
  shape data{};
  shape indices{};
  int axis = 0;       ///< of those that take elements
  int batch_dims = 0; ///< of GatherND: leading dims that data and indices share
  scatter_reduction reduction = scatter_reduction::none;
  dtype element = dtype::real;
  dtype index = dtype::s64;

  static constexpr std::optional<indexing> of(std::string_view family) {
    if (const auto f = detail::find_family<indexing_function>(indexing_families, family))
      return indexing{.function = *f};
    return std::nullopt;
  }
  constexpr std::string_view family() const {
    return indexing_families[static_cast<std::size_t>(function)];
  }
  constexpr bool scatters() const { return function >= indexing_function::scatter_elements; }
  /// Indices name elements along an axis; else each row of them names a place.
  constexpr bool of_elements() const {
    return function == indexing_function::gather_elements ||
           function == indexing_function::scatter_elements;
  }

  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("data", data);
    a.dims("indices", indices);
    if (of_elements()) a.number("axis", "a", axis, 0);
    if (function == indexing_function::gather_nd) a.number("batch_dims", "b", batch_dims, 0);
    if (scatters()) a.choice("reduction", "scatter_reduction", reduction, scatter_names);
    bool narrow = index == dtype::s32;
    a.flag("", "i32", narrow);
    index = narrow ? dtype::s32 : dtype::s64;
    a.element("element", element);
  }

  constexpr void validate() const {
    check_dims(data);
    check_dims(indices);
    if (index != dtype::s32 && index != dtype::s64) throw error("indices are of type s32 or s64");
    of_elements() ? validate_elements() : validate_places();
    if (elements(indices) > 0)
      for (std::int64_t bound : index_bounds())
        if (bound < 1) throw error("indices name places of an empty axis");
    check_dims(output());
    (void)cost();
  }

  /// How many numbers name a place.
  constexpr std::int64_t named() const { return of_elements() ? 1 : indices.back(); }
  /// Neighbours that one place holds.
  constexpr std::int64_t run() const {
    if (of_elements()) return 1;
    return elements(data, batch_dims + static_cast<int>(named()), data.size);
  }
  /// Dims of what is gathered, or of the updates that are scattered.
  constexpr shape taken() const {
    if (of_elements()) return indices;
    shape out;
    for (int i = 0; i + 1 < indices.size; ++i)
      out.push(indices[i]);
    for (int i = batch_dims + static_cast<int>(named()); i < data.size; ++i)
      out.push(data[i]);
    return out;
  }
  constexpr shape output() const { return scatters() ? data : taken(); }
  /// As Gather's.
  constexpr shape index_bounds() const {
    if (of_elements()) return {data[axis]};
    shape bounds;
    for (int i = 0; i < static_cast<int>(named()); ++i)
      bounds.push(data[batch_dims + i]);
    return bounds;
  }

  /// Only what is taken is read; what is scattered goes into a copy of the data.
  constexpr work cost() const {
    const std::int64_t all = elements(data), some = elements(taken());
    work w = scatters() ? moved(element, all + some, all)
                        : moved(element, all < some ? all : some, some);
    w.fixed_bytes += elements(indices) * size_bytes(index);
    if (reduction != scatter_reduction::none) w.other = some;
    return w;
  }

  constexpr indexing canonical_form() const {
    indexing p = *this;
    if (!of_elements()) p.axis = 0;
    if (function != indexing_function::gather_nd) p.batch_dims = 0;
    if (!scatters()) p.reduction = scatter_reduction::none;
    return p;
  }
  constexpr bool operator==(const indexing&) const = default;

private:
  constexpr void validate_elements() const {
    detail::check_axis(axis, data);
    if (indices.size != data.size) throw error("indices of elements lack dims of their data");
    for (int i = 0; i < data.size; ++i)
      if (i != axis && indices[i] > data[i])
        throw error("indices of elements reach outside their data");
  }
  constexpr void validate_places() const {
    if (indices.empty() || data.empty()) throw error("places of a scalar cannot be named");
    if (batch_dims < 0 || batch_dims >= indices.size || batch_dims >= data.size)
      throw error("a GatherND shares more dims than it has");
    if (indices.back() < 1 || indices.back() > data.size - batch_dims)
      throw error("a place has more numbers, or fewer, than its data has dims");
    for (int i = 0; i < batch_dims; ++i)
      if (indices[i] != data[i]) throw error("a GatherND's shared dims differ");
  }
};

/// New places of a sequence written into a copy of its cache.
struct tensor_scatter {
  shape cache{};
  int axis = 0;            ///< of the sequence
  std::int64_t length = 0; ///< how many places are new
  bool offsets = false;    ///< each batch says where its own begin; else they are the first ones
  bool circular = false;   ///< behind the last place comes the first
  dtype element = dtype::real;

  static constexpr std::optional<tensor_scatter> of(std::string_view family) {
    return family == "TensorScatter" ? std::optional(tensor_scatter{}) : std::nullopt;
  }
  static constexpr std::string_view family() { return "TensorScatter"; }
  template <class Archive>
  constexpr void fields(Archive& a) {
    a.dims("cache", cache);
    a.number("axis", "a", axis, 0, true);
    a.number("length", "n", length, 0, true);
    a.flag("offsets", "at", offsets);
    a.flag("circular", "circular", circular);
    a.element("element", element);
  }
  constexpr void validate() const {
    detail::check_axis(axis, cache);
    check_dims(cache);
    if (axis == 0) throw error("a TensorScatter's sequence cannot be its batch");
    if (length < 1 || length > cache[axis])
      throw error("a TensorScatter writes no place, or more than its cache has");
    (void)cost();
  }
  constexpr shape output() const { return cache; }
  constexpr shape updates() const {
    shape s = cache;
    s[axis] = length;
    return s;
  }
  /// Where new places may begin.
  constexpr shape index_bounds() const {
    return {circular ? cache[axis] : cache[axis] - length + 1};
  }
  /// What is written anew need not be read from the cache.
  constexpr work cost() const {
    work w = moved(element, elements(cache), elements(cache));
    if (offsets) w.fixed_bytes += cache[0] * size_bytes(dtype::s64);
    return w;
  }
  constexpr tensor_scatter canonical_form() const {
    tensor_scatter p = *this;
    if (!offsets) p.circular = false;
    return p;
  }
  constexpr bool operator==(const tensor_scatter&) const = default;
};

} // namespace benanza::op
