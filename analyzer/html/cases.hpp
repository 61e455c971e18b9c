// SPDX-License-Identifier: Apache-2.0
// Which algorithms does each layer have, and why has one no time? A table a layer, type and number
// of threads of one machine, with samples as dots; models share the tables of their layers.
//
//   case_book book(run, known_ways);   book.of("Conv/1x64x56x56-...", "f32", 1)   book.json(24)
#pragma once

#include "../report/algorithms.hpp"
#include "numbers.hpp"

#include <benanza/result/fields.hpp>
#include <benanza/result/json.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::report::html {

/// By what a layer may run, each listed once: [library, algorithm, remark, layouts], as texts.
class ways {
public:
  explicit ways(texts& known)
      : known_(known) {}

  std::size_t of(std::string_view backend, std::string_view algorithm, std::string_view remark,
                 std::string_view layouts = {}) {
    return all_.of(
        {known_.of(backend), known_.of(algorithm), known_.of(remark), known_.of(layouts)});
  }
  std::size_t of(const result::measurement& m) {
    return of(m.backend, m.algorithm, report::remark_of(m), m.layouts);
  }
  texts& known() const { return known_; }
  const result::ordered_json& all() const { return all_.all(); }

private:
  texts& known_;
  told_once all_;
};

/// The tables of the layers that were asked for. Refers to the run.
class case_book {
public:
  case_book(const result::run& r, ways& known)
      : ways_(known) {
    for (const result::measurement& m : r.measurements)
      if (result::of_a_layer(m)) cases_[m.family + '/' + m.key].push_back(&m);
    for (const result::refused_case& x : r.refused)
      refused_[x.family + '/' + x.key].push_back(&x);
  }

  /// The number of a layer's table.
  std::size_t of(const std::string& layer, std::string_view type, int threads) {
    std::string key = fmt::format("{}\n{}\n{}", layer, type, threads);
    const auto [found, fresh] = places_.try_emplace(std::move(key), asked_.size());
    if (fresh) asked_.push_back({layer, std::string(type), threads});
    return found->second;
  }

  /// How many cases have samples to show.
  std::size_t sampled() const {
    std::size_t n = 0;
    for (const auto& asked : asked_)
      for (const row& one : rows_of(asked))
        n += (one.hot != nullptr) + (one.cold != nullptr);
    return n;
  }

  /// All tables: [layer, type, threads, ways, hot cases, cases with cold weights, samples thrown
  /// away, [what disturbed cases, 2 * row + 1 where the weights are cold, ...] ..., ways without a
  /// time].
  result::ordered_json json(std::size_t most_dots) const {
    result::ordered_json out = result::ordered_json::array();
    for (const auto& asked : asked_)
      out.push_back(table(asked, most_dots));
    return out;
  }

private:
  using layer_in = std::tuple<std::string, std::string, int>;

  const std::vector<const result::measurement*>& cases_of(const std::string& layer) const {
    static const std::vector<const result::measurement*> none;
    const auto found = cases_.find(layer);
    return found == cases_.end() ? none : found->second;
  }

  struct row {
    const result::measurement *any = nullptr, *hot = nullptr, *cold = nullptr;
  };

  /// The rows of a table, in the libraries' order.
  std::vector<row> rows_of(const layer_in& asked) const {
    const auto& [layer, type, threads] = asked;
    std::vector<row> rows;
    std::unordered_map<std::string, std::size_t> places;
    for (const result::measurement* m : cases_of(layer)) {
      if (m->type != type || m->threads != threads) continue;
      const auto [found, fresh] = places.try_emplace(m->backend + '\n' + m->algorithm, rows.size());
      if (fresh) rows.emplace_back();
      row& one = rows[found->second];
      if (one.any == nullptr) one.any = m;
      if (m->error.empty() && m->state == "hot") one.hot = m;
      if (m->error.empty() && m->state == "coldw") one.cold = m;
    }
    return rows;
  }

  /// Least, median, samples taken, and dots; as long for each case, and zeros where there is none.
  static std::string case_text(const result::measurement* m, std::size_t most_dots) {
    if (m == nullptr) return std::string(10 + most_dots, letters[0]);
    return packed(m->min_ns) + packed(m->median_ns) + packed(static_cast<double>(m->count)) +
           dots(m->samples_ns, m->min_ns, most_dots);
  }

  result::ordered_json table(const layer_in& asked, std::size_t most_dots) const {
    const auto& [layer, type, threads] = asked;
    result::ordered_json timed = result::ordered_json::array(),
                         others = result::ordered_json::array();
    std::string hot, cold;
    std::int64_t thrown = 0;
    std::map<std::size_t, result::ordered_json> disturbed; // by what
    const std::vector<row> rows = rows_of(asked);
    for (const row& one : rows) {
      const std::size_t way = ways_.of(*one.any);
      if (one.hot == nullptr && one.cold == nullptr) {
        others.push_back(way);
        continue;
      }
      for (const result::measurement* m : {one.hot, one.cold}) {
        if (m == nullptr) continue;
        thrown += m->rejected;
        if (m->disturbed.empty()) continue;
        const std::size_t what = ways_.known().of(m->disturbed);
        result::ordered_json& places = disturbed[what];
        if (places.empty()) places.push_back(what);
        places.push_back(2 * timed.size() + (m == one.cold));
      }
      timed.push_back(way);
      hot += case_text(one.hot, most_dots);
      cold += case_text(one.cold, most_dots);
    }
    if (const auto found = refused_.find(layer); found != refused_.end())
      for (const result::refused_case* x : found->second)
        if (x->type == type && std::none_of(rows.begin(), rows.end(), [&](const row& one) {
              return one.any->backend == x->backend && one.any->algorithm == x->algorithm;
            }))
          others.push_back(ways_.of(x->backend, x->algorithm, "refused: " + x->why));
    result::ordered_json disturbances = result::ordered_json::array();
    for (auto& [what, places] : disturbed)
      disturbances.push_back(std::move(places));
    return result::ordered_json::array({printable(layer), ways_.known().of(type), threads,
                                        std::move(timed), hot, cold, thrown, disturbances,
                                        std::move(others)});
  }

  ways& ways_;
  std::unordered_map<std::string, std::vector<const result::measurement*>> cases_;
  std::unordered_map<std::string, std::vector<const result::refused_case*>> refused_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<layer_in> asked_;
};

} // namespace benanza::report::html
