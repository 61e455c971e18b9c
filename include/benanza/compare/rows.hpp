// SPDX-License-Identifier: Apache-2.0
// What does a comparison say? A row for each model's figure, each layer and each algorithm, with
// its verdict; what is there on one side only; which advice came and went; and which facts differ.
//
//   comparison c = compare(before, after, limits{});   c.layers[0].row.verdict   c.worst()
#pragma once

#include "difference.hpp"
#include "facts.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace benanza::compare {

/// One time on both sides.
struct row {
  std::string subject{}; ///< a model, or a layer
  std::string what{};    ///< bound, expected, run ...; alone, in a run; a cache state
  std::string type{};
  int threads = 1;
  std::string algorithm{}; ///< `backend/algorithm`, of an algorithm's row
  difference of{};
  double adjusted = 1; ///< the chance, corrected for all rows of its kind
  verdict says = verdict::unsure;
  /// What the change comes to in the model where it weighs most, and as a share of that one's time.
  double effect_ns = 0, effect_share = 0;
  std::string in_model{};
  std::string before_by{}, after_by{}; ///< `backend/algorithm`, of a layer
  bool at_one_clock = false;
  std::size_t layers = 0; ///< of a kernel, that it runs on both sides
  /// It would be a change, but is one layer's time of one visit, with interference, and the other
  /// layers of its kernel do not say the same.
  bool uncorroborated = false;
};

/// What only one side has.
struct one_sided {
  std::string kind{};    ///< model, layer, algorithm, failure
  std::string subject{}; ///< which one
  std::string why{};     ///< of a failure
  bool came = false;     ///< the new side has it; else the old one
};

/// Advice that changed.
struct advice_change {
  std::string model{}, id{}, what{};
  double before_ns = 0, after_ns = 0; ///< that it saves; 0: it is not given
};

/// What a side is.
struct side_facts {
  std::string source{}, cpu{}, software{}, dates{};
  std::size_t visits = 0, disturbed = 0, cases = 0;
  double clock_ns = 0; ///< the median of its cases; 0: unknown

  double disturbed_share() const {
    return cases == 0 ? 0 : static_cast<double>(disturbed) / static_cast<double>(cases);
  }
};

struct comparison {
  side_facts before{}, after{};
  limits asked{};
  bool operators = false; ///< of a framework, in place of layers
  bool one_clock = false; ///< times are compared at one clock
  double clock_ns = 0;    ///< which one
  std::array<double, pools> scatter{};
  /// Kernels are algorithms over all layers that they run.
  std::vector<row> models{}, kernels{}, layers{}, algorithms{};
  std::vector<one_sided> alone{};
  std::vector<advice_change> advice{};
  std::vector<fact_change> facts{};
  std::vector<row> machine{}; ///< the machine's own cases that differ by a tenth
  std::vector<std::string> notes{};

  /// How many rows of a kind have a verdict.
  static std::size_t count(const std::vector<row>& rows, verdict v) {
    return static_cast<std::size_t>(
        std::count_if(rows.begin(), rows.end(), [v](const row& r) { return r.says == v; }));
  }
  /// How many figures of models, kernels and layers have a verdict.
  std::size_t count(verdict v) const {
    return count(models, v) + count(kernels, v) + count(layers, v);
  }
  /// True where it is not known of a model's figure (of a layer, without models) whether it
  /// changed.
  bool unsure() const { return count(models.empty() ? layers : models, verdict::unsure) != 0; }
  /// The verdict on all: slower if anything is, else faster if anything is.
  verdict worst() const {
    if (count(verdict::slower) != 0) return verdict::slower;
    if (count(verdict::faster) != 0) return verdict::faster;
    return unsure() ? verdict::unsure : verdict::same;
  }
  /// How many of the layers that changed a fact can explain.
  std::size_t explained(const fact_change& f) const {
    return static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), [&](const row& r) {
      const auto backend = [](const std::string& by) { return by.substr(0, by.find('/')); };
      return (r.says == verdict::slower || r.says == verdict::faster) && f.explains_any() &&
             (f.explains(backend(r.before_by)) || f.explains(backend(r.after_by)));
    }));
  }
};

} // namespace benanza::compare
