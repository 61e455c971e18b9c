// SPDX-License-Identifier: Apache-2.0
// What runs in a chain? One step after the other: a layer, a change of layout, or a copy, each
// reading and writing places of the storage that all share.
//
//   chain_step s{.node = 3, .run = std::move(prepared)};   s.connect(storage); s.execute(storage);
#pragma once

#include "../../backend/concept.hpp"
#include "tensor_places.hpp"

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

namespace benanza::measure {

/// One step.
struct chain_step {
  int node = -1; ///< of the graph; -1: a reorder or a copy
  std::shared_ptr<backend::prepared> run{};
  std::vector<std::pair<int, tensor_place>> reads{}; ///< operand, and where it is
  tensor_place writes{};
  std::int64_t copied_bytes = 0; ///< of a copy from the one place read to the one written
  backend::operands values{};    ///< operands that are no activations, for checks

  /// The places that the backend lets us choose; only steps that run a layer have them.
  backend::chainable& places() const { return *run->chain(); }

  void connect(const activation_storage& s) {
    if (!run) return;
    for (const auto& [operand, place] : reads)
      places().connect(operand, s.at(place.room) + place.offset);
    places().connect_result(s.at(writes.room));
  }
  /// Puts it on the queue of the device.
  void start(const activation_storage& s, backend::device_space& device) {
    if (run)
      places().start();
    else
      device.start_copy(s.at(writes.room), s.at(reads[0].second.room) + reads[0].second.offset,
                        copied_bytes);
  }
  void execute(const activation_storage& s) {
    if (run)
      run->run(1);
    else
      std::memcpy(s.at(writes.room), s.at(reads[0].second.room) + reads[0].second.offset,
                  static_cast<std::size_t>(copied_bytes));
  }
};

} // namespace benanza::measure
