// SPDX-License-Identifier: Apache-2.0
// How does a model look to a framework that fuses? Pieces become the layer that they are together;
// then runs of nodes that match a pattern become one node: a batch normalization, also one that is
// written out as constant rows multiplied and added, behind a convolution or a Gemm goes into its
// weights and bias, as does one behind another; other elementwise nodes become steps, also behind
// views. Only what one node reads is fused into it, so nothing is computed twice; but a sum that is
// normalized may have other readers, who get it as a second result. The fused node takes the place
// of the last of its parts.
// A sum can be fused with the product before it or with the normalization behind it, a gate with
// its product or apart from it, and no rule says which is faster: there is a form for each.
//
//   graph f = fuse(g, default_patterns());   f.nodes[3].parts   // {4, 5, 6}: Conv+Add+Relu
#pragma once

#include "graph.hpp"
#include "patterns.hpp"

#include <optional>
#include <utility>
#include <vector>

namespace benanza::model {

/// The fused forms of `g`, none if no pattern fits anywhere: by the patterns in their order, and
/// where these are others, with normalizations first (",fused-norms"), and with these and gates
/// first, SwiGLU's `Swish+Mul` apart from its products (",fused-gates").
std::vector<graph> fused_forms(const graph& g, const patterns& by);

/// The first fused form of `g`; nothing if no pattern fits anywhere.
inline std::optional<graph> fuse(const graph& g, const patterns& by) {
  std::vector<graph> forms = fused_forms(g, by);
  return forms.empty() ? std::nullopt : std::optional(std::move(forms.front()));
}

} // namespace benanza::model

#ifndef BENANZA_COMPILED
#include "fuser.hpp"
#endif
