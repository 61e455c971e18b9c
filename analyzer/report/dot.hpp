// SPDX-License-Identifier: Apache-2.0
// How does a model look as a graph of Graphviz? The form that should run, a box a node with its
// time by the bound: a red frame on the longest path, filled the more of the time above the
// roofline is lost in it; branches are what has no red frame. A graph a model.
//
//   std::string text = dot_report(in);   // dot -Tsvg report.dot -O
#pragma once

#include "input.hpp"

#include <string>

namespace benanza::report {

/// The models as graphs of Graphviz.
std::string dot_report(const input& in);

} // namespace benanza::report
