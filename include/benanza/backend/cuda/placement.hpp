// SPDX-License-Identifier: Apache-2.0
// How do operands get to where a library wants them? From ONNX order and the case's storage into
// the strides, padding and type that a tensor has in the GPU's memory, and results back. Padding is
// zero.
//
//   tensor_bytes there = spread(operand, stored);   gather(stored, bytes, out);
#pragma once

#include "../number.hpp"
#include "../operands.hpp"

#include <type_traits>

namespace benanza::backend::cuda {

/// A tensor in the GPU's memory: how its elements, in the order of ONNX, lie there.
struct stored {
  shape dims{}, strides{};
  dtype type = dtype::f32;
  std::int64_t elements = 0; ///< of memory, padding included

  std::int64_t bytes() const { return elements * size_bytes(type); }
  /// Where the element stands that has this number in ONNX order.
  std::int64_t place_of(std::int64_t number) const {
    std::int64_t place = 0;
    for (int d = dims.size - 1; d >= 0; --d) {
      place += number % dims[d] * strides[d];
      number /= dims[d];
    }
    return place;
  }
};

namespace detail {
/// Calls `f` with the number of each element in the order of ONNX and its place in memory.
template <class F>
void each_place(const shape& dims, const shape& strides, F&& f) {
  const std::int64_t count = elements(dims);
  shape at = shape::filled(dims.size, 0);
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    f(i, place);
    for (int d = dims.size - 1; d >= 0; --d) {
      place += strides[d];
      if (++at[d] < dims[d]) break;
      place -= strides[d] * dims[d];
      at[d] = 0;
    }
  }
}
} // namespace detail

/// The bytes of an operand as `p` says; reals are multiplied by `factor` on the way.
inline tensor_bytes spread(const tensor& from, const stored& p, double factor = 1) {
  if (from.count() != elements(p.dims))
    throw error("an operand has " + std::to_string(from.count()) + " elements in place of " +
                std::to_string(elements(p.dims)));
  if (from.type == p.type && factor == 1 && p.strides == packed(p.dims) &&
      p.elements == from.count())
    return from.bytes;
  tensor_bytes out(static_cast<std::size_t>(p.bytes()));
  with_element(p.type, [&](auto to) {
    auto* const there = reinterpret_cast<typename decltype(to)::storage*>(out.data());
    with_element(from.type, [&](auto e) {
      const auto* const here =
          reinterpret_cast<const typename decltype(e)::storage*>(from.bytes.data());
      detail::each_place(p.dims, p.strides, [&](std::int64_t i, std::int64_t place) {
        if constexpr (std::is_same_v<decltype(e), decltype(to)>)
          if (factor == 1) {
            there[place] = here[i];
            return;
          }
        there[place] = to.store(factor * e.load(here[i]));
      });
    });
  });
  return out;
}

/// The elements of a result in ONNX order.
inline void gather(const stored& p, std::span<const std::byte> bytes, std::vector<double>& out) {
  out.resize(static_cast<std::size_t>(elements(p.dims)));
  with_element(p.type, [&](auto e) {
    const auto* const there = reinterpret_cast<const typename decltype(e)::storage*>(bytes.data());
    detail::each_place(p.dims, p.strides, [&](std::int64_t i, std::int64_t place) {
      out[static_cast<std::size_t>(i)] = e.load(there[place]);
    });
  });
}

} // namespace benanza::backend::cuda
