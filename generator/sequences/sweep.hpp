// SPDX-License-Identifier: Apache-2.0
// Which granularity is worth measuring? For each length how many sequences there are, how many of
// them are unique, how long they really are, and how much less the unique ones take than the
// models: by what a result says of their layers, or by a roofline of a usual core. Nothing runs.
//
//   say(sweep_text(graphs, {1, 10}, model::cut::chain, {}))
#pragma once

#include <benanza/core/printable.hpp>
#include <benanza/model/footprint.hpp>
#include <benanza/model/sequences.hpp>
#include <benanza/result/fields.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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

/// Which granularity to take, and by what rule.
inline std::string recommendation(const std::vector<model::sweep_row>& rows) {
  const model::sweep_row* best = model::recommended(rows);
  if (best == nullptr) return "none to take: no G above 1 was seen to save anything\n";
  return fmt::format("take --granularity {}: the longest that saves {:.0f} % or more of what the "
                     "best G above 1 does;\nlonger sequences hold more of what layers do to each "
                     "other\n",
                     best->length, 100 * model::about_the_most);
}

inline std::string sweep_text(const std::vector<model::sweep_row>& rows,
                              const std::vector<model::graph>& graphs, const std::string& source) {
  const std::size_t models = graphs.size();
  constexpr double much = 1.25;
  std::string out = fmt::format("{:>3} {:>10} {:>7} {:>7} {:>8}\n", "G", "sequences", "unique",
                                "length", "saving");
  for (const model::sweep_row& r : rows)
    out += fmt::format("{:>3} {:>10} {:>7} {:>7.2f} {:>7.2f}x\n", r.length, r.sequences, r.unique,
                       r.mean_length, r.saving);
  out +=
      fmt::format("{} model{}; length: layers a sequence; saving: what the models take over what "
                  "the unique\nsequences take, by {}\n",
                  models, models == 1 ? "" : "s", source);
  if (const model::sweep_row& r = rows.front(); r.saving_without > much * r.saving && models > 1)
    out += fmt::format("without {}, most of whose time no other model shares: {:.2f}x at G = {}\n",
                       printable(graphs[r.without].name), r.saving_without, r.length);
  return out + recommendation(rows);
}

inline std::string sweep_json(const std::vector<model::sweep_row>& rows,
                              const std::vector<model::graph>& graphs, const std::string& source) {
  nlohmann::ordered_json out{{"models", graphs.size()}, {"times", source}};
  for (const model::sweep_row& r : rows)
    out["granularities"].push_back({{"granularity", r.length},
                                    {"sequences", r.sequences},
                                    {"unique", r.unique},
                                    {"mean_length", r.mean_length},
                                    {"saving", r.saving},
                                    {"without", graphs[r.without].name},
                                    {"saving_without", r.saving_without}});
  if (const model::sweep_row* best = model::recommended(rows)) out["recommended"] = best->length;
  return out.dump(1, ' ', true, nlohmann::json::error_handler_t::replace) + '\n';
}

} // namespace benanza::generator
