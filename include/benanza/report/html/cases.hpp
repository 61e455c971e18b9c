// SPDX-License-Identifier: Apache-2.0
// Which algorithms does each layer have, and why has one no time? A table a layer, type and number
// of threads of one machine, with samples as dots; models share the tables of their layers.
//
//   case_book book(run, known_texts);   book.of("Conv/1x64x56x56-...", "f32", 1)   book.json(24)
#pragma once

#include "../../result/fields.hpp"
#include "../algorithms.hpp"
#include "numbers.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace benanza::report::html {

/// The tables of the layers that were asked for. Refers to the run.
class case_book {
public:
  case_book(const result::run& r, texts& known)
      : known_(known) {
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
    for (const auto& [layer, type, threads] : asked_)
      for (const result::measurement* m : cases_of(layer))
        n += m->type == type && m->threads == threads && !m->samples_ns.empty();
    return n;
  }

  /// All tables: [layer, type, threads, algorithms, those without a time].
  ordered_json json(std::size_t most_dots) const {
    ordered_json out = ordered_json::array();
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

  /// [least, median, samples taken, thrown away, what disturbed them, low where that is not the
  /// least, high, dots]
  ordered_json times(const result::measurement& m, std::size_t most_dots) const {
    const dotted d = dots(m.samples_ns, most_dots);
    return ordered_json::array({number(m.min_ns), number(m.median_ns), m.count, m.rejected,
                                known_.of(m.disturbed), number(d.low_ns == m.min_ns ? 0 : d.low_ns),
                                number(d.high_ns), d.letters});
  }

  ordered_json table(const layer_in& asked, std::size_t most_dots) const {
    const auto& [layer, type, threads] = asked;
    struct row {
      const result::measurement *any = nullptr, *hot = nullptr, *cold = nullptr;
    };
    std::vector<row> rows; // in the libraries' order
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
    ordered_json timed = ordered_json::array(), others = ordered_json::array();
    for (const row& one : rows) {
      const result::measurement& m = *one.any;
      const std::string remark = report::detail::remark_of(m);
      if (one.hot == nullptr && one.cold == nullptr) {
        others.push_back({known_.of(m.backend), known_.of(m.algorithm), known_.of(remark)});
        continue;
      }
      timed.push_back({known_.of(m.backend), known_.of(m.algorithm), known_.of(remark),
                       known_.of(m.layouts), number(static_cast<double>(m.workspace_bytes)),
                       one.hot == nullptr ? ordered_json(0) : times(*one.hot, most_dots),
                       one.cold == nullptr ? ordered_json(0) : times(*one.cold, most_dots)});
    }
    if (const auto found = refused_.find(layer); found != refused_.end())
      for (const result::refused_case* x : found->second)
        if (x->type == type && !places.contains(x->backend + '\n' + x->algorithm))
          others.push_back(
              {known_.of(x->backend), known_.of(x->algorithm), known_.of("refused: " + x->why)});
    return ordered_json::array(
        {printable(layer), known_.of(type), threads, std::move(timed), std::move(others)});
  }

  texts& known_;
  std::unordered_map<std::string, std::vector<const result::measurement*>> cases_;
  std::unordered_map<std::string, std::vector<const result::refused_case*>> refused_;
  std::unordered_map<std::string, std::size_t> places_;
  std::vector<layer_in> asked_;
};

} // namespace benanza::report::html
