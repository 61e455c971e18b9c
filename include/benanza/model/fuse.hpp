// SPDX-License-Identifier: Apache-2.0
// How does a model look to a framework that fuses? Pieces become the layer that they are together;
// then runs of nodes that match a pattern become one node: a batch normalization, also one that is
// written out as constant rows multiplied and added, behind a convolution or a Gemm goes into its
// weights and bias, as does one behind another; other elementwise nodes become steps, also behind
// views. Only what one node reads is fused into it, so nothing is computed twice. The fused node
// stands where the last of its parts stood.
//
//   graph f = fuse(g, default_patterns());   f.nodes[3].parts   // {4, 5, 6}: Conv+Add+Relu
#pragma once

#include "graph.hpp"
#include "patterns.hpp"

#include <optional>

namespace benanza::model {

/// The fused form of `g`; nothing if no pattern fits anywhere.
std::optional<graph> fuse(const graph& g, const patterns& by);

} // namespace benanza::model

#ifndef BENANZA_COMPILED
#include "fuser.hpp"
#endif
