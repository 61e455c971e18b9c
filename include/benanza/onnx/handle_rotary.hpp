// SPDX-License-Identifier: Apache-2.0
// Rotary embeddings: ONNX RotaryEmbedding-23, and ONNX Runtime's, whose places come second and may
// be a single number that the first place has.
//
//   handle_rotary(call)   // RotaryEmbedding/1x32x128x64-t2048-bshd
#pragma once

#include "call.hpp"

namespace benanza::onnx {

namespace detail {
inline answer rotary_of(const call& c, int cosines, int places) {
  const shape &x = c.dims(0), &angles = c.dims(cosines);
  if (!(c.dims(cosines + 1) == angles) || angles.empty())
    throw error("its cosines " + text(angles) + " and sines " + text(c.dims(cosines + 1)) +
                " do not fit");
  op::rotary p{.interleaved = c.integer("interleaved", 0) != 0, .sequence_major = x.size == 3};
  p.rotated = c.integer("rotary_embedding_dim", 0);
  if (x.size == 4) {
    p.sizes = x;
  } else if (x.size == 3) {
    // Where the number of heads is not given, all numbers of a head are turned.
    std::int64_t heads = c.integer("num_heads", 0);
    if (heads == 0 && angles.back() > 0 && angles.back() < dim_limit)
      heads = x[2] / (2 * angles.back());
    if (heads < 1 || x[2] % heads != 0) throw error("its num_heads does not divide " + text(x));
    p.sizes = {x[0], heads, x[1], x[2] / heads};
  } else {
    throw error("its input is " + text(x) + ", not of three or four dims");
  }
  if (c.has(places)) {
    if (angles.size != 2) throw error("its cosines " + text(angles) + " are not a matrix");
    const shape& named = c.dims(places);
    if (!(named == shape{p.batch(), p.length()}) && !(named == shape{1}))
      throw error("its places are " + text(named) + ", not one of each number");
    if (c.type(places) != dtype::s64) throw error("its places are not int64");
    p.table = angles[0];
  } else {
    p.own_places = angles[0] != 1;
  }
  p.validate();
  shape asked = p.angles();
  if (!(asked == angles)) throw error("its cosines are " + text(angles) + ", not " + text(asked));
  return of_layer(c, p, x);
}
} // namespace detail

inline answer handle_rotary(const call& c) {
  return detail::rotary_of(c, 1, 3);
}
inline answer handle_runtime_rotary(const call& c) {
  if (c.integer("is_packed_batching", 0) != 0)
    throw error("its batches are packed (is_packed_batching)");
  return detail::rotary_of(c, 2, 1);
}

} // namespace benanza::onnx
