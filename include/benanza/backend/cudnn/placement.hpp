// SPDX-License-Identifier: Apache-2.0
// How do operands get to where a graph wants them? From ONNX order and the case's storage into the
// strides, padding and type of a placed tensor, and results back. Padding is zero.
//
//   std::vector<std::byte> there = spread(operand, placed);   gather(placed, bytes, out);
#pragma once

#include "../number.hpp"
#include "../operands.hpp"
#include "recipe.hpp"

#include <cmath>

namespace benanza::backend::cudnn {

namespace detail {
/// Calls `f` with the place in memory of each element, in the order of ONNX.
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

/// The bytes of an operand as `p` says.
inline std::vector<std::byte> spread(const tensor& from, const placed& p) {
  if (from.count() != elements(p.dims))
    throw error("an operand has " + std::to_string(from.count()) + " elements in place of " +
                std::to_string(elements(p.dims)));
  std::vector<std::byte> out(static_cast<std::size_t>(p.elements * size_bytes(p.type)));
  if (from.type == p.type && p.strides == packed(p.dims) && p.elements == from.count())
    return from.bytes;
  with_element(p.type, [&](auto to) {
    auto* const there = reinterpret_cast<typename decltype(to)::storage*>(out.data());
    with_element(from.type, [&](auto e) {
      const auto* const here =
          reinterpret_cast<const typename decltype(e)::storage*>(from.bytes.data());
      detail::each_place(p.dims, p.strides, [&](std::int64_t i, std::int64_t place) {
        if constexpr (std::is_same_v<decltype(e), decltype(to)>)
          there[place] = here[i];
        else
          there[place] = to.store(e.load(here[i]));
      });
    });
  });
  return out;
}

/// The elements of a result in ONNX order.
inline void gather(const placed& p, const std::vector<std::byte>& bytes, std::vector<double>& out) {
  out.resize(static_cast<std::size_t>(elements(p.dims)));
  with_element(p.type, [&](auto e) {
    const auto* const there = reinterpret_cast<const typename decltype(e)::storage*>(bytes.data());
    detail::each_place(p.dims, p.strides, [&](std::int64_t i, std::int64_t place) {
      out[static_cast<std::size_t>(i)] = e.load(there[place]);
    });
  });
}

/// Scale and shift of a batch normalization, folded from its vectors.
inline tensor folded(const operands& o, bool shift) {
  const auto scale = o.inputs.at(1).as<float>(), bias = o.inputs.at(2).as<float>(),
             mean = o.inputs.at(3).as<float>(), variance = o.inputs.at(4).as<float>();
  tensor out{.dims = o.inputs[1].dims, .type = dtype::f32, .part = role::vector};
  out.bytes.resize(o.inputs[1].bytes.size());
  const auto to = out.as<float>();
  for (std::size_t i = 0; i < to.size(); ++i) {
    const double factor = scale[i] / std::sqrt(variance[i] + attribute::epsilon);
    to[i] = static_cast<float>(shift ? bias[i] - mean[i] * factor : factor);
  }
  return out;
}

} // namespace benanza::backend::cudnn
