// SPDX-License-Identifier: Apache-2.0
// A made-up run, analysed: what tests of a model's figures have in common.
//
//   model_bound b = analysed::analyse(synthetic::small_run());
#pragma once

#include "result/synthetic.hpp"

#include <benanza/bound/model.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace analysed {

using benanza::numeric;
namespace op = benanza::op;
using benanza::bound::model_bound;
using benanza::result::measurement;
using benanza::result::run;

/// The figures of the run's first model.
inline model_bound analyse(const run& r, numeric type = numeric::f32, int threads = 1) {
  return benanza::bound::analyse(benanza::bound::source(r), r.graphs[0], {type, threads});
}
/// The same on a machine with these limits.
inline model_bound analyse(const run& r, const benanza::bound::limits& machine) {
  return benanza::bound::analyse(benanza::bound::source(r, machine), r.graphs[0],
                                 {numeric::f32, 1});
}

inline bool holds(const std::vector<std::string>& lines, const std::string& part) {
  return std::any_of(lines.begin(), lines.end(),
                     [&](const std::string& l) { return l.find(part) != std::string::npos; });
}

/// Leaves out all cases of a family.
inline void drop(run& r, const std::string& family) {
  std::erase_if(r.measurements, [&](const measurement& m) { return m.family == family; });
}

} // namespace analysed
