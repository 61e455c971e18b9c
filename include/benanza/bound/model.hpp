// SPDX-License-Identifier: Apache-2.0
// How fast could a model run, and how long should a run of it take? Puts together all figures of
// one model in one type on some threads, from a run's cases and what its machine cannot beat, and
// names those that cannot be right.
//
//   model_bound b = analyse(source(run), run.graphs[0], {numeric::f32, 1});
//   b.bound.sequential.ns   b.fused->prediction.sequential.ns   b.partial()
#pragma once

#include "figures.hpp"

namespace benanza::bound {

/// A run, and what is looked up in it again and again. Refers to the run.
struct source {
  const result::run& run;
  case_table cases;
  limits machine;

  explicit source(const result::run& r);
  source(const result::run& r, limits l);
};

/// What can be asked for in addition to a model, a type and a number of threads.
struct analysis_options {
  int workers = 0; ///< that run layers at the same time; 0: as many as the cores leave room for
};

/// The fused forms of `g` in a run.
inline std::vector<const model::graph*> fused_forms(const result::run& r, const model::graph& g) {
  std::vector<const model::graph*> out;
  for (const model::graph& f : r.graphs)
    if (!g.name.empty() && f.unfused == g.name) out.push_back(&f);
  return out;
}

/// The rewritten forms of `g` in a run, unfused.
inline std::vector<const model::graph*> rewritten_forms(const result::run& r,
                                                        const model::graph& g) {
  std::vector<const model::graph*> out;
  for (const model::graph& f : r.graphs)
    if (!g.name.empty() && f.original == g.name && f.unfused.empty()) out.push_back(&f);
  return out;
}

/// All figures of the model `g` of the run, and of its fused form if the run holds one, in a type
/// on some threads. Of several fused forms it is the one with the least bound; a rewritten graph is
/// there too where its bound is lower. Refers to the run.
model_bound analyse(const source& s, const model::graph& g, setting in,
                    const analysis_options& options = {});

} // namespace benanza::bound

#ifndef BENANZA_COMPILED_BOUND
#include "analysis.hpp"
#endif
