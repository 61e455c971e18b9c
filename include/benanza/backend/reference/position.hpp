// SPDX-License-Identifier: Apache-2.0
// Where in a tensor is a flat index, and which flat index has a place? Row-major, outermost dim
// first. `broadcast_place` is the place in an operand that NumPy's broadcasting reads.
//
//   place_of({2, 3}, 5) == shape{1, 2};   index_of({2, 3}, {1, 2}) == 5
#pragma once

#include "../number.hpp"
#include "../operands.hpp"

namespace benanza::backend::reference {

/// The place of element `flat` of a tensor.
inline shape place_of(const shape& dims, std::int64_t flat) {
  shape place = dims;
  for (int i = dims.size - 1; i >= 0; --i) {
    place[i] = flat % dims[i];
    flat /= dims[i];
  }
  return place;
}

/// The flat index of a place.
inline std::int64_t index_of(const shape& dims, const shape& place) {
  std::int64_t flat = 0;
  for (int i = 0; i < dims.size; ++i)
    flat = flat * dims[i] + place[i];
  return flat;
}

/// The flat index in an operand of `dims` of what broadcasts to `place`.
inline std::int64_t broadcast_index(const shape& dims, const shape& place) {
  std::int64_t flat = 0;
  const int skipped = place.size - dims.size;
  for (int i = 0; i < dims.size; ++i)
    flat = flat * dims[i] + (dims[i] == 1 ? 0 : place[i + skipped]);
  return flat;
}

/// Element `i` of operand `k`.
inline double element(const operands& o, std::size_t k, std::int64_t i) {
  return load(o.inputs[k].type, o.inputs[k].bytes.data(), i);
}

/// Three spatial dims of any one to three, with ones put before them.
struct window {
  std::int64_t input[3]{1, 1, 1}, output[3]{1, 1, 1}, kernel[3]{1, 1, 1};
  std::int64_t stride[3]{1, 1, 1}, dilation[3]{1, 1, 1}, begin[3]{}, end[3]{};
  std::int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }

  template <class Parameters>
  window(const Parameters& p, const extents& shown, const shape& out) {
    const int n = shown.size;
    for (int i = 0; i < n; ++i) {
      const int d = 3 - n + i;
      input[d] = p.input[i + 2];
      output[d] = out[i + 2];
      kernel[d] = shown[i];
      stride[d] = op::entry(p.strides, i, 1);
      dilation[d] = op::entry(p.dilations, i, 1);
      begin[d] = op::entry(p.pads, i, 0);
      end[d] = op::entry(p.pads, i + n, 0);
    }
  }
};

} // namespace benanza::backend::reference
