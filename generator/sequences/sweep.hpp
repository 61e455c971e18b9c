// SPDX-License-Identifier: Apache-2.0
// Which granularity is worth measuring? For each length how many sequences there are, how many of
// them are unique, how long they really are, and how much less the unique ones take than the
// models: by what a result says of their layers, or by a roofline of a usual core. Nothing runs.
//
//   sweep_answer(sweep_rows(graphs, {1, 10}, model::cut::chain, times), graphs, "rooflines")
#pragma once

#include "../../analyzer/report/tables/page.hpp"

#include <benanza/model/footprint.hpp>
#include <benanza/model/sequences.hpp>
#include <benanza/result/fields.hpp>

#include <fmt/format.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace benanza::generator {

/// What layers take, where it was measured.
class layer_times {
public:
  layer_times() = default;
  /// The least median of a layer over all that ran it exactly in one type on one thread: with cold
  /// weights where it was measured so, else hot.
  explicit layer_times(const result::run& r) {
    const auto rank = [](const std::string& state) {
      return state == "coldw" ? 0 : state == "llcw" ? 1 : state == "hot" ? 2 : 3;
    };
    for (const result::measurement& m : r.measurements) {
      if (!result::of_a_layer(m) || !m.error.empty() || m.equivalence != m.type || m.threads != 1)
        continue;
      const std::pair its(rank(m.state), m.median_ns);
      const auto [at, fresh] = known_.try_emplace(m.family + '/' + m.key, its);
      if (!fresh) at->second = std::min(at->second, its);
    }
  }

  bool given() const { return !known_.empty(); }
  bool knows(const op::layer& l) const { return known_.contains(op::name(l)); }
  double operator()(const op::layer& l, numeric type) const {
    const auto found = known_.find(op::name(l));
    return found == known_.end() ? model::layer_about_ns(l, type) : found->second.second;
  }

private:
  std::map<std::string, std::pair<int, double>> known_{};
};

/// Where the times of a sweep come from, in words.
inline std::string times_text(const std::vector<model::graph>& graphs, const layer_times& times,
                              const std::string& file) {
  std::size_t all = 0, known = 0;
  for (const model::catalogue_entry& e : model::unique_layers(graphs).layers)
    if (!op::is_view(e.layer)) {
      ++all;
      known += times.knows(e.layer);
    }
  if (!times.given())
    return fmt::format("rooflines of {:g} flops and {:g} bytes a ns", model::flops_a_ns,
                       model::pace_of_networks);
  return fmt::format("times of {} of {} layers in {}{}", known, all, file,
                     known == all ? "" : ", rooflines of the others");
}

inline std::vector<model::sweep_row> sweep_rows(const std::vector<model::graph>& graphs,
                                                std::pair<std::int64_t, std::int64_t> range,
                                                model::cut by, const layer_times& times) {
  const auto layer_ns = [&](const op::layer& l) { return times(l, numeric::f32); };
  std::vector<model::sweep_row> out;
  for (std::int64_t length = range.first; length <= range.second; ++length)
    out.push_back(model::sweep(graphs, {.length = length, .by = by}, layer_ns));
  return out;
}

/// A row a length, and which one to take, by what rule.
inline report::tables::chapter sweep_answer(const std::vector<model::sweep_row>& rows,
                                            const std::vector<model::graph>& graphs,
                                            const std::string& source) {
  using report::tables::unit, report::tables::whole;
  constexpr double much = 1.25;
  const model::sweep_row* const best = model::recommended(rows);
  report::tables::chapter out{.fields = {{"models", whole(graphs.size())}, {"times", source}}};
  if (best != nullptr) out.fields.push_back({"recommended", whole(best->length)});
  report::tables::table sweep{
      .key = "granularities",
      .columns = {{"granularity", "G", unit::count},
                  {"sequences", "sequences", unit::count},
                  {"unique", "unique", unit::count},
                  {"mean_length", "length", unit::number},
                  {"saving", "saving", unit::number},
                  {"without", ""},
                  {"saving_without", "", unit::number}},
      .note = fmt::format("{} model{}; length: layers a sequence; saving: so many times what the "
                          "unique sequences take the models take, by {}",
                          graphs.size(), graphs.size() == 1 ? "" : "s", source)};
  for (const model::sweep_row& r : rows)
    sweep.rows.push_back({whole(r.length), whole(r.sequences), whole(r.unique), r.mean_length,
                          r.saving, graphs[r.without].name, r.saving_without});
  out.add(std::move(sweep));
  if (const model::sweep_row& r = rows.front();
      r.saving_without > much * r.saving && graphs.size() > 1)
    out.say(fmt::format("without {}, most of whose time no other model shares: {:.2f}x at G = {}",
                        graphs[r.without].name, r.saving_without, r.length));
  out.say(
      best == nullptr
          ? "none to take: no G above 1 was seen to save anything"
          : fmt::format("take --granularity {}: the longest that saves {:.0f} % or more of what "
                        "the best G above 1 does; longer sequences hold more of what layers do "
                        "to each other",
                        best->length, 100 * model::about_the_most));
  return out;
}

} // namespace benanza::generator
