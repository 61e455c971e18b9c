// SPDX-License-Identifier: Apache-2.0
// What does a model's bound rest on? The share of its sum that each kind of measurement gives, what
// is only modelled by rooflines, and the nodes that nothing gives a time for. The shares of a bound
// add up to 1: a layer in another type counts there, else by the kind of kernel that set its bound.
//
//   coverage c = cover(layers, unresolved(graph));   c.native   c.missing_nodes
#pragma once

#include "answers.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::bound {

/// A row of nodes that were not measured.
struct hole {
  std::string name; ///< of the layer, or the operator of nodes that are none
  std::int64_t nodes = 0;
  std::string reason;
  std::string command; ///< measures it; empty: no command can
  bool failed = false; ///< it was tried, and all of its cases failed
};

/// What a sequential bound rests on, as shares of it.
struct coverage {
  double native = 0;     ///< optimised kernels in the asked type
  double reference = 0;  ///< reference loops of a library (`ref`)
  double host = 0;       ///< our own plain kernels
  double old_isa = 0;    ///< kernels for an older instruction set
  double other_type = 0; ///< in the model's own type instead of the asked one
  double modelled = 0;   ///< rooflines: of layers not measured, or where these are the bound
  std::int64_t nodes = 0, view_nodes = 0, modelled_nodes = 0, missing_nodes = 0;
  std::int64_t slow_nodes = 0; ///< measured by slow plain kernels only: bounded by rooflines
  std::vector<hole> holes;     ///< without a time
  std::vector<hole> rooflines; ///< with no time but their roofline

  /// The share that was measured, by any kernel in any type.
  double measured() const { return native + reference + host + old_isa + other_type; }
  /// True if a node that costs something was not measured, whether or not it is modelled.
  bool partial() const { return unmeasured_nodes() != 0; }
  std::int64_t unmeasured_nodes() const { return modelled_nodes + missing_nodes; }
};

namespace detail {
inline hole hole_of(const layer_answer& l) {
  return {l.name, l.uses, l.reason, l.nothing_runs ? std::string() : measuring_command(l.name),
          l.failed > 0};
}
} // namespace detail

/// The coverage of a model whose layers are `layers`, and whose nodes without a layer `unresolved`
/// counts by operator and reason.
inline coverage
cover(const std::vector<layer_answer>& layers,
      const std::map<std::pair<std::string, std::string>, std::int64_t>& unresolved) {
  coverage out;
  double sum = 0;
  for (const layer_answer& l : layers) {
    out.nodes += l.uses;
    if (l.rests_on == basis::view) out.view_nodes += l.uses;
    if (l.rests_on == basis::missing && l.uses != 0) {
      out.missing_nodes += l.uses;
      out.holes.push_back(detail::hole_of(l));
    }
    const double ns = static_cast<double>(l.uses) * l.algorithms.bound.ns;
    if (l.rests_on == basis::modelled && l.uses != 0) {
      sum += ns;
      out.modelled += ns;
      out.modelled_nodes += l.uses;
      out.rooflines.push_back(detail::hole_of(l));
    }
    if (!l.timed()) continue;
    const std::string& fallback = l.algorithms.best->fallback;
    sum += ns;
    if (l.algorithms.bound_from_roofline()) {
      out.modelled += ns;
      if (l.algorithms.why_roofline == roofline_for::slow_kernels) out.slow_nodes += l.uses;
      continue;
    }
    (l.rests_on == basis::other_type ? out.other_type
     : fallback == "ref"             ? out.reference
     : fallback == "host"            ? out.host
     : fallback == "old-isa"         ? out.old_isa
                                     : out.native) += ns;
  }
  for (const auto& [what, nodes] : unresolved) {
    out.nodes += nodes;
    out.missing_nodes += nodes;
    out.holes.push_back({what.first, nodes, what.second.empty() ? "unresolved" : what.second, {}});
  }
  if (sum > 0)
    for (double* share :
         {&out.native, &out.reference, &out.host, &out.old_isa, &out.other_type, &out.modelled})
      *share /= sum;
  return out;
}

} // namespace benanza::bound
