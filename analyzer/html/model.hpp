// SPDX-License-Identifier: Apache-2.0
// What does the page know of a model? All that the text report says of it, with every layer, as
// small JSON: figures, steps down, advice, layers, the graph, frameworks' runs.
//
//   ordered_json j = model_json(input, 0, 0, shared);   // of the machine 0
#pragma once

#include "../report/input.hpp"
#include "cases.hpp"
#include "graph.hpp"

#include <benanza/result/json.hpp>

#include <cstddef>

namespace benanza::report::html {

/// A framework's run: what each layer and each node of the drawn graph took in it, and the best of
/// the same work.
result::ordered_json framework_json(const advice::comparison& c, const drawn_graph& graph,
                                    texts& known);

/// What all models of a page, and of a machine, share.
struct shared {
  texts& known;
  ways& by;
  case_book book;
  told_once layers{};
};

/// A model of the machine `machine`: the one in that place of the report. Its layers are columns:
/// numbers of the machine's layers, nodes, and nodes in the form that should run.
result::ordered_json model_json(const input& in, std::size_t place, std::size_t machine,
                                shared& told);

} // namespace benanza::report::html
