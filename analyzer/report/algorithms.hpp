// SPDX-License-Identifier: Apache-2.0
// Every algorithm of a layer: how long it takes, at which share of the layer's roofline, or why it
// was not timed. The fastest first; then those that failed, and those that a library has by name
// and refuses.
//
//   const auto all = algorithms_of(run, "Conv/1x64x56x56");   to.write(algorithms_answer(all,
//   false))
#pragma once

#include "tables/page.hpp"

#include <benanza/bound/ceilings/limits.hpp>
#include <benanza/bound/clock.hpp>
#include <benanza/result/run.hpp>

#include <string>
#include <vector>

namespace benanza::report {

/// One algorithm of a layer.
struct algorithm_row {
  std::string backend{}, algorithm{}, layouts{};
  double hot_ns = 0, coldw_ns = 0; ///< least hot time, and median with cold weights; 0: none
  double hot_nj = 0, coldw_nj = 0; ///< the energy of both; 0: not known
  double clock_ns = 0;             ///< at which the least hot time was taken; 0: not known
  std::string remark{};            ///< what a reader should know; of what has no time, why

  bool timed() const { return hot_ns > 0 || coldw_ns > 0; }
  double by() const { return hot_ns > 0 ? hot_ns : coldw_ns; }
};

/// All that is known of the algorithms of a layer in one type on some threads.
struct layer_algorithms {
  std::string layer{}, type{};
  int threads = 1;
  std::vector<algorithm_row> timed{}, others{};
  bound::roof roofline{}; ///< of zero: not known
  double work = 0;        ///< that sets it: bytes, or operations

  /// How much of what the machine can do a hot run gets; 0: not known.
  double share(const algorithm_row& row) const {
    return row.hot_ns > 0
               ? roofline.ns * bound::at_higher_clock(roofline.clock_ns, row.clock_ns) / row.hot_ns
               : 0;
  }
};

std::string remark_of(const result::measurement& m);

/// The algorithms of all layers with `text` in their names, as `family/key`. `threads`: 0 for all.
std::vector<layer_algorithms> algorithms_of(const result::run& r, const std::string& text,
                                            const std::string& type = {}, int threads = 0);

/// A chapter a layer. Without refusals in the result it says how they are asked for.
tables::chapter algorithms_answer(const std::vector<layer_algorithms>& all, bool asked_refusals);

} // namespace benanza::report
