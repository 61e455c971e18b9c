// SPDX-License-Identifier: Apache-2.0
// How do operands get to where a library wants them? From ONNX order and the case's storage into
// the strides, padding and type that a tensor has in the GPU's memory, and results back. Padding is
// zero.
//
//   tensor_bytes there = spread(operand, stored);   gather(stored, bytes, out);
#pragma once

#include "../number.hpp"
#include "../operands.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

namespace benanza::backend::cuda {

/// A tensor in the GPU's memory: how its elements, in the order of ONNX, are stored.
struct stored {
  shape dims{}, strides{};
  dtype type = dtype::f32;
  std::int64_t elements = 0; ///< of memory, padding included

  std::int64_t bytes() const { return elements * size_bytes(type); }
  /// The place of the element that has this number in ONNX order.
  std::int64_t place_of(std::int64_t number) const {
    std::int64_t place = 0;
    for (int d = dims.size - 1; d >= 0; --d) {
      place += number % dims[d] * strides[d];
      number /= dims[d];
    }
    return place;
  }
};

/// The prefix of the ids of algorithms whose weights have rows and columns exchanged, compared with
/// the model's file: they are brought there once, which is packing.
inline constexpr std::string_view turned_weights_prefix = "wt:";

/// True where a matrix and its transpose differ in memory: where it is no vector.
constexpr bool lies_two_ways(std::int64_t rows, std::int64_t columns) {
  return rows > 1 && columns > 1;
}

/// Strides of a stack of matrices; of transposed ones rows and columns are exchanged in memory.
inline shape matrix_strides(const shape& dims, bool transposed) {
  shape s = packed(dims);
  if (transposed) {
    s[dims.size - 1] = dims[dims.size - 2];
    s[dims.size - 2] = 1;
  }
  return s;
}

namespace detail {
/// Calls `f` with the number of each element in the order of ONNX and its place in memory; in the
/// order of places, so that what is written is written once.
template <class F>
void each_place(const shape& dims, const shape& strides, F&& f) {
  if (elements(dims) == 0) return;
  const shape numbers = packed(dims);
  std::array<int, 8> order{};
  std::iota(order.begin(), order.begin() + dims.size, 0);
  std::stable_sort(order.begin(), order.begin() + dims.size,
                   [&](int a, int b) { return strides[a] > strides[b]; });
  if (dims.size == 0) return f(std::int64_t{0}, std::int64_t{0});
  const int last = order[static_cast<std::size_t>(dims.size - 1)];
  shape at = shape::filled(dims.size, 0);
  std::int64_t number = 0, place = 0;
  while (true) {
    for (std::int64_t i = 0; i < dims[last]; ++i)
      f(number + i * numbers[last], place + i * strides[last]);
    int k = dims.size - 2;
    for (; k >= 0; --k) {
      const int d = order[static_cast<std::size_t>(k)];
      number += numbers[d];
      place += strides[d];
      if (++at[d] < dims[d]) break;
      number -= numbers[d] * dims[d];
      place -= strides[d] * dims[d];
      at[d] = 0;
    }
    if (k < 0) return;
  }
}
/// Calls `f` with a whole number as wide as an element.
template <class F>
void with_width(std::int64_t bytes, F&& f) {
  switch (bytes) {
  case 1: return f(std::uint8_t{});
  case 2: return f(std::uint16_t{});
  case 4: return f(std::uint32_t{});
  default: return f(std::uint64_t{});
  }
}
} // namespace detail

/// A tensor in another type, its elements multiplied by `factor`.
inline tensor converted(const tensor& from, dtype type, double factor) {
  tensor out{.dims = from.dims, .type = type, .part = from.part};
  out.bytes.resize(static_cast<std::size_t>(from.count() * size_bytes(type)));
  for (std::int64_t i = 0; i < from.count(); ++i)
    store(type, out.bytes.data(), i, factor * load(from.type, from.bytes.data(), i));
  return out;
}

/// The bytes of an operand as `p` says; reals are multiplied by `factor` on the way.
inline tensor_bytes spread(const tensor& from, const stored& p, double factor = 1) {
  if (from.count() != elements(p.dims))
    throw error("an operand has " + std::to_string(from.count()) + " elements in place of " +
                std::to_string(elements(p.dims)));
  if (from.type == p.type && factor == 1 && p.strides == packed(p.dims) &&
      p.elements == from.count())
    return from.bytes;
  if (from.type != p.type || factor != 1) return spread(converted(from, p.type, factor), p);
  tensor_bytes out(static_cast<std::size_t>(p.bytes()));
  detail::with_width(size_bytes(p.type), [&](auto element) {
    auto* const there = reinterpret_cast<decltype(element)*>(out.data());
    const auto* const here = reinterpret_cast<const decltype(element)*>(from.bytes.data());
    detail::each_place(p.dims, p.strides,
                       [&](std::int64_t i, std::int64_t place) { there[place] = here[i]; });
  });
  return out;
}

/// The elements of a result in ONNX order.
inline void gather(const stored& p, std::span<const std::byte> bytes, std::vector<double>& out) {
  const std::int64_t count = elements(p.dims);
  std::vector<std::byte> packed_bytes(static_cast<std::size_t>(count * size_bytes(p.type)));
  detail::with_width(size_bytes(p.type), [&](auto element) {
    const auto* const there = reinterpret_cast<const decltype(element)*>(bytes.data());
    auto* const here = reinterpret_cast<decltype(element)*>(packed_bytes.data());
    detail::each_place(p.dims, p.strides,
                       [&](std::int64_t i, std::int64_t place) { here[i] = there[place]; });
  });
  load_all(p.type, packed_bytes.data(), count, out);
}

} // namespace benanza::backend::cuda
