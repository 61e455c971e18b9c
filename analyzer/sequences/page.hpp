// SPDX-License-Identifier: Apache-2.0
// What is reported of models that were put together from sequences? A line a model: the estimate
// with its interval, the longest path, and where the whole model was run too, n = constructed /
// measured; below, how good that is over all models and what it saves.
//
//   to.write(composed_answer(page));
#pragma once

#include "../report/tables/page.hpp"

#include <benanza/bound/compose/accuracy.hpp>
#include <benanza/bound/compose/compose.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace benanza::report {

/// A model, and its run as a whole; null: there is none.
struct composed_row {
  bound::composed made;
  const bound::measurement* whole = nullptr;

  double whole_ns() const { return bound::whole_ns(*whole); }
  double n() const { return made.sequential.ns / whole_ns(); }
  bool disturbed() const { return whole != nullptr && !whole->disturbed.empty(); }
};

/// All that is reported.
struct composed_page {
  std::vector<composed_row> rows{};
  std::string cut{}; ///< "G = 6, chain", or "best tiling, chain"
  std::string type{};
  int threads = 1;
  std::size_t unique = 0;                 ///< sequences with times that the models use
  bound::saving by_latency{}, by_clock{}; ///< zero: the wholes were not run, or it was not noted
  std::string estimate{};                 ///< how warm caches are taken to be, in words

  std::vector<std::pair<std::string, double>> n_of_models() const {
    std::vector<std::pair<std::string, double>> out;
    for (const composed_row& r : rows)
      if (r.whole != nullptr) out.emplace_back(r.made.graph->name, r.n());
    return out;
  }
};

tables::chapter composed_answer(const composed_page& p);

} // namespace benanza::report
