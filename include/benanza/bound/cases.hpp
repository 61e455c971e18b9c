// SPDX-License-Identifier: Apache-2.0
// Which algorithms may run a layer, and with what times? An index of a run's cases by layer; asked
// for a layer, a type and a number of threads, it answers with the algorithms of which a case
// succeeded and that compute exactly that layer in that type, and with the cases that failed.
//
//   case_table cases(run);   cases.of("Conv/1x64x56x56-64x3x3-s1-p1", numeric::f32, 1).algorithms
#pragma once

#include "../core/rounded.hpp"
#include "../core/winograd.hpp"
#include "../result/fields.hpp"
#include "../result/planned.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::bound {

using result::measurement;

/// One algorithm with its cases in the cache states that bounds rest on; null: not measured.
struct candidate {
  const measurement* hot = nullptr;
  const measurement* llcw = nullptr;
  const measurement* coldw = nullptr;

  const measurement& any() const {
    return hot != nullptr ? *hot : llcw != nullptr ? *llcw : *coldw;
  }
};

/// What a run holds about one layer in one type on some threads.
struct layer_cases {
  std::vector<candidate> algorithms; ///< ordered by place in the library's list, backend and name
  std::vector<candidate> rounded;    ///< likewise those that round what they multiply
  std::vector<const measurement*> failed;
  std::vector<const measurement*> left;  ///< rows of what was not measured, or not to its end
  const measurement* nothing = nullptr;  ///< says that nothing runs it; null: none says so
  bool inexact = false;                  ///< there are algorithms of another equivalence class
  const measurement* winograd = nullptr; ///< of these the fastest Winograd, hot; null: none

  /// True if nothing was tried to its end, and nothing says that there is nothing to try.
  bool empty() const {
    return algorithms.empty() && failed.empty() && nothing == nullptr && !inexact;
  }
};

/// A type and a number of threads in which layers were measured.
using setting = std::pair<numeric, int>;

/// The cases of a run by layer. Refers to the run, which has to outlive it.
class case_table {
public:
  explicit case_table(const result::run& r) {
    for (const measurement& m : r.measurements)
      by_layer_[m.family + '/' + m.key].push_back(&m);
  }

  /// What is known of the layer of that name.
  layer_cases of(const std::string& layer, numeric type, int threads) const {
    layer_cases out;
    const auto found = by_layer_.find(layer);
    if (found == by_layer_.end()) return out;
    using places = std::map<std::pair<std::string_view, std::string_view>, std::size_t>;
    places exact, rounded;
    const auto put = [](const measurement* m, std::vector<candidate>& to, places& place) {
      if (m->state != "hot" && m->state != "llcw" && m->state != "coldw") return;
      const auto [at, fresh] = place.try_emplace({m->backend, m->algorithm}, to.size());
      if (fresh) to.emplace_back();
      candidate& c = to[at->second];
      (m->state == "hot" ? c.hot : m->state == "llcw" ? c.llcw : c.coldw) = m;
    };
    for (const measurement* m : found->second) {
      if (m->type != name(type) || m->threads != threads) continue;
      if (result::nothing_runs(*m)) {
        out.nothing = m;
      } else if (result::not_reached(*m)) {
        out.left.push_back(m);
      } else if (!m->error.empty()) {
        out.failed.push_back(m);
      } else if (m->equivalence != name(type)) {
        out.inexact = true;
        const bool faster = out.winograd == nullptr || m->min_ns < out.winograd->min_ns;
        if (m->state == "hot" && faster && is_winograd_class(m->equivalence, type))
          out.winograd = m;
        if (is_rounded_class(m->equivalence, type)) put(m, out.rounded, rounded);
      } else {
        put(m, out.algorithms, exact);
      }
    }
    for (std::vector<candidate>* all : {&out.algorithms, &out.rounded})
      std::sort(all->begin(), all->end(),
                [](const candidate& a, const candidate& b) { return order(a) < order(b); });
    return out;
  }

  /// The settings in which a layer of `g` has cases: by type (the model's own first), then threads.
  std::vector<setting> settings(const model::graph& g) const {
    std::set<std::tuple<bool, numeric, int>> found;
    for (const op::layer& l : g.layers)
      if (const auto cases = by_layer_.find(op::name(l)); cases != by_layer_.end())
        for (const measurement* m : cases->second)
          if (const auto type = parse_numeric(m->type); type && !result::nothing_runs(*m))
            found.emplace(*type != g.type, *type, m->threads);
    std::vector<setting> out;
    for (const auto& [other, type, threads] : found)
      out.emplace_back(type, threads);
    return out;
  }

private:
  static std::tuple<int, std::string_view, std::string_view> order(const candidate& c) {
    return {c.any().algorithm_index, c.any().backend, c.any().algorithm};
  }
  std::unordered_map<std::string, std::vector<const measurement*>> by_layer_;
};

} // namespace benanza::bound
