// SPDX-License-Identifier: Apache-2.0
// Which version of a library is the faster one? Of each model, its bound by each version alone and
// by all of them; of each layer, how the versions compare, and what that is in the models.
//
//   const library_versions v = compare_versions(names, models_by_version, models_of_all);
#pragma once

#include "tables/page.hpp"

#include <benanza/bound/figures.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace benanza::report {

/// A backend of a library, and the version of it.
struct library_version {
  std::string backend{}, version{};
};

/// The versions of each library of which a run has several, by the library's name, the oldest
/// first.
std::map<std::string, std::vector<library_version>> versions_in(const result::run& r);

/// The bounds of one model: by each version without the others, and by all of them.
struct versions_of_model {
  std::string model{}, type{};
  int threads = 1;
  std::vector<double> alone_ns{}; ///< 0: that version leaves the bound partial
  double together_ns = 0;
  std::vector<std::int64_t> wins{};       ///< nodes of which that version has the fastest algorithm
  std::int64_t others_win = 0, nodes = 0; ///< another library has it; all with a time
};

/// One layer by two versions.
struct version_change {
  std::string layer{}, type{};
  std::size_t older = 0, newer = 0; ///< among the versions
  double older_ns = 0, newer_ns = 0;
  std::int64_t uses = 0; ///< in all models
  double factor() const { return newer_ns / older_ns; }
  double cost_ns() const { return static_cast<double>(uses) * (newer_ns - older_ns); }
};

/// What there is to say of the versions of one library.
struct library_versions {
  std::string library{};
  std::vector<library_version> versions{};
  std::vector<versions_of_model> models{};
  std::vector<version_change> changes{}; ///< what costs most first, what saves most last
};

double bound_of(const bound::model_bound& b);

/// `alone[v]`: the models by version `v` without the others, in the order of `together`.
library_versions compare_versions(std::string library, std::vector<library_version> versions,
                                  const std::vector<std::vector<bound::model_bound>>& alone,
                                  const std::vector<bound::model_bound>& together);

/// One library's versions: for people at most `rows` layers that became slower, and as many that
/// became faster.
tables::chapter versions_answer(const library_versions& v, std::size_t rows);

} // namespace benanza::report
