// SPDX-License-Identifier: Apache-2.0
// Which layers is a model made of, at this batch? Nodes are visited one at a time, producers first.
// What follows from constants and shapes alone is folded; every other node becomes a layer, or
// keeps its place and says why it is none. Whose word counts: our handlers, then libonnx, then what
// the file itself says of the value.
//
//   model::graph g = onnx::resolve(onnx::load("resnet50.onnx"), {.batch = 8});
//   g.name == "resnet50@batch=8";   model::unresolved(g).empty()
#pragma once

#include "../model/graph.hpp"
#include "inputs.hpp"
#include "load.hpp"

#include <map>
#include <string>

namespace benanza::onnx {

/// The layers of a model. Refuses what no graph can be made of; a layer that cannot be resolved is
/// a node with a problem.
model::graph resolve(const source& s, const options& o);

/// The dims of every value of a model by its name, those that are not known left out.
std::map<std::string, shape> known_dims(const source& s, const options& o);

} // namespace benanza::onnx

#ifndef BENANZA_COMPILED_ONNX
#include "resolver.hpp"
#endif
