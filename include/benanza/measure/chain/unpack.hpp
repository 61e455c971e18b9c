// SPDX-License-Identifier: Apache-2.0
// What stands in a tensor that lies in memory in some layout? Its elements in ONNX order, copied by
// the layout's definition alone, so that no library vouches for itself.
//
//   tensor_bytes plain = unpack(data, layout::blocked16, {1, 64, 56, 56}, dtype::f32);
#pragma once

#include "../../backend/operands.hpp"
#include "../../core/dtype.hpp"
#include "../../core/layout.hpp"

#include <cstddef>
#include <cstring>

namespace benanza::measure {

/// The elements of a tensor in ONNX order.
inline backend::tensor_bytes unpack(const std::byte* data, layout l, const shape& dims,
                                    dtype type) {
  const std::int64_t width = size_bytes(type);
  backend::tensor_bytes out(static_cast<std::size_t>(bytes_of(type, elements(dims))));
  if (l == layout::plain || dims.size < 3) {
    std::memcpy(out.data(), data, out.size());
    return out;
  }
  const std::int64_t block = l == layout::blocked8 ? 8 : l == layout::blocked16 ? 16 : dims[1];
  const std::int64_t channels = dims[1], plane = elements(dims, 2, dims.size);
  const std::int64_t blocks = (channels + block - 1) / block;
  std::byte* to = out.data();
  for (std::int64_t n = 0; n < dims[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < plane; ++p, to += width) {
        const std::int64_t at = ((n * blocks + c / block) * plane + p) * block + c % block;
        std::memcpy(to, data + at * width, static_cast<std::size_t>(width));
      }
  return out;
}

} // namespace benanza::measure
