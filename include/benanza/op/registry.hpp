// SPDX-License-Identifier: Apache-2.0
// How do generated sources hand their layers to the benchmark? Each unique layer is one thin class
// template, so its arithmetic and traffic are compile-time constants; a generated file names its
// layers in a BENANZA_LAYERS block. Nothing here knows a backend, a type or an algorithm.
//
//   BENANZA_LAYERS {
//     unique_layer<conv{.input = {1, 64, 56, 56}, .outputs = 64, .kernel = {3, 3}}>::add(7);
//   }
#pragma once

#include "kinds.hpp"

#include <vector>

namespace benanza::op {

/// A layer of the benchmark, with the number by which the graphs refer to it.
struct registered_layer {
  int id;
  layer parameters;
  work cost;
  bool known = false; ///< its times are known from elsewhere: a part of models, not to be measured
};

/// All layers that the program's generated sources named.
inline std::vector<registered_layer>& registered_layers() {
  static std::vector<registered_layer> layers;
  return layers;
}

/// Adds a layer to the program's list. Never inlined: a generated file calls it for every layer,
/// and only what is left in the file itself costs compile time there.
template <class Kind>
[[gnu::noinline]] void register_layer(int id, const Kind& parameters, const work& cost,
                                      bool known) {
  registered_layers().push_back({id, layer(parameters), cost, known});
}

/// One unique layer, known at compile time.
template <auto Layer>
struct unique_layer {
  static constexpr work cost = Layer.cost();
  static constexpr std::int64_t macs = cost.macs;
  static constexpr std::int64_t flops = cost.flops();

  /// Adds the layer to the program's list under the number `id`.
  static void add(int id) { register_layer(id, Layer, cost, false); }
  /// Adds a layer that models use, and that need not be measured again.
  static void known(int id) { register_layer(id, Layer, cost, true); }
};

/// Runs a function at start-up; what BENANZA_LAYERS expands to.
struct registration {
  explicit registration(void (*add)()) { add(); }
};

} // namespace benanza::op

/// Opens the block in which a generated source names its layers; one a file.
#define BENANZA_LAYERS                                                                             \
  static void benanza_add_layers();                                                                \
  static const benanza::op::registration benanza_layers_added{benanza_add_layers};                 \
  static void benanza_add_layers()
