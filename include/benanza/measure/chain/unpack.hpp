// SPDX-License-Identifier: Apache-2.0
// What does a tensor in memory in some layout hold? Its elements in ONNX order, copied by the
// layout's definition alone, so that no library vouches for itself; and the other way round.
//
//   tensor_bytes plain = unpack(data, layout::blocked16, {1, 64, 56, 56}, dtype::f32);
//   pack(plain, layout::blocked16, {1, 64, 56, 56}, dtype::f32)   // padded to whole blocks
#pragma once

#include "../../backend/operands.hpp"
#include "../../core/dtype.hpp"
#include "../../core/layout.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace benanza::measure {

namespace detail {
/// Calls `copy(plain, lying)` with the places of each element, in bytes, in the two.
template <class Copy>
void each_place(layout l, const shape& dims, std::int64_t width, Copy&& copy) {
  const std::int64_t block = l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : dims[1];
  const std::int64_t channels = dims[1], plane = elements(dims, 2, dims.size);
  const std::int64_t blocks = (channels + block - 1) / block;
  std::int64_t plain = 0;
  for (std::int64_t n = 0; n < dims[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < plane; ++p, plain += width)
        copy(plain, (((n * blocks + c / block) * plane + p) * block + c % block) * width);
}
} // namespace detail

/// The elements of a tensor in ONNX order.
inline backend::tensor_bytes unpack(const std::byte* data, layout l, const shape& dims,
                                    dtype type) {
  const std::int64_t width = size_bytes(type);
  backend::tensor_bytes out(static_cast<std::size_t>(bytes_of(type, elements(dims))));
  if (l == layout::plain || dims.size < 3) {
    std::memcpy(out.data(), data, out.size());
    return out;
  }
  detail::each_place(l, dims, width, [&](std::int64_t plain, std::int64_t lying) {
    std::memcpy(out.data() + plain, data + lying, static_cast<std::size_t>(width));
  });
  return out;
}

/// What `plain` holds in ONNX order, in a layout; what pads blocks is zero.
inline backend::tensor_bytes pack(const backend::tensor_bytes& plain, layout l, const shape& dims,
                                  dtype type) {
  if (l == layout::plain || dims.size < 3) return plain;
  const std::int64_t width = size_bytes(type);
  const std::int64_t block = l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : 1;
  const std::int64_t padded = (dims[1] + block - 1) / block * block;
  backend::tensor_bytes out(static_cast<std::size_t>(
      bytes_of(type, elements(dims) / std::max<std::int64_t>(1, dims[1]) * padded)));
  detail::each_place(l, dims, width, [&](std::int64_t from, std::int64_t lying) {
    std::memcpy(out.data() + lying, plain.data() + from, static_cast<std::size_t>(width));
  });
  return out;
}

} // namespace benanza::measure
