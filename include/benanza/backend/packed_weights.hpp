// SPDX-License-Identifier: Apache-2.0
// What has an algorithm made of the model's weights? They are in the layout that it reads fastest,
// and bringing them there is a good part of what loading a model takes. If they are kept so, in a
// file or in memory that processes share, it need not be done again.
//
//   if (const auto* w = packed_weights::of(*prepared)) w->copy_weights(to);   // weight_bytes() of
//   them prepared->rotate_weights(to, 0, 1);   // from now on it reads those
#pragma once

#include "prepared.hpp"

#include <cstddef>

namespace benanza::backend {

/// An interface that something prepared may have.
class packed_weights {
public:
  virtual ~packed_weights() = default;
  /// How long it took to bring the weights into the algorithm's layout, with fresh memory for them.
  virtual double packing_ns() const = 0;
  /// And to bring them into the memory of a device, where they are there.
  virtual double moving_ns() const { return 0; }
  /// Writes them to memory, in the order in which `rotate_weights` takes them.
  virtual void copy_weights(std::byte* to) const = 0;

  /// That of `p`; null: it has none.
  static const packed_weights* of(const prepared& p) {
    return dynamic_cast<const packed_weights*>(&p);
  }
};

} // namespace benanza::backend
