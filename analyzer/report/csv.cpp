// SPDX-License-Identifier: Apache-2.0
#include "csv.hpp"

#include "algorithms.hpp"
#include "layers.hpp"
#include "screen.hpp"
#include "warnings.hpp"

#include <fmt/format.h>

#include <map>
#include <tuple>

namespace benanza::report {

namespace {
constexpr std::string_view csv_head =
    "model,batch,type,threads,layer,uses,uses_fused,rests_on,on_longest_path,flops,bound_ns,"
    "prediction_ns,roofline_ns,share_of_bound,backend,algorithm,layouts,least_hot_ns,"
    "median_coldw_ns,hot_nj,coldw_nj,sets_bound,sets_prediction,first_choice,remark,partial,"
    "doubts\n";

/// What all rows of a layer begin with.
csv_row csv_layer(const bound::model_bound& b, const bound::layer_answer& l) {
  const double sum = b.layers_ns;
  csv_row row;
  row.text(b.graph->name).number(static_cast<double>(b.graph->batch)).text(name(b.type));
  row.number(b.threads).text(l.name).number(static_cast<double>(l.uses));
  row.number(static_cast<double>(l.fused_uses)).text(name(l.rests_on)).flag(l.on_path);
  row.number(static_cast<double>(l.flops));
  row.number(l.algorithms.bound.ns, l.known()).number(l.algorithms.prediction.ns, l.known());
  row.number(l.roofline ? l.roofline->ns : 0, b.has_bound() && l.roofline.has_value());
  return row.number(sum > 0 ? bound_ns(l) / sum : 0, l.known() && sum > 0);
}
} // namespace

std::string csv_report(const input& in) {
  std::map<std::tuple<std::string, std::string, int>, layer_algorithms> known;
  for (layer_algorithms& l : algorithms_of(in.run, ""))
    known.insert_or_assign({l.layer, l.type, l.threads}, std::move(l));
  std::string out(csv_head);
  for (const bound::model_bound& b : in.models) {
    const std::string doubts = fmt::format("{}", fmt::join(doubts_of(in, b), "; "));
    std::string partial = lacks(b);
    if (!b.missing_command.empty()) partial += ": " + missing_line(b);
    for (const bound::layer_answer& l : b.layers) {
      const auto found = known.find({l.name, std::string(name(l.type)), b.threads});
      if (found == known.end()) {
        csv_row row = csv_layer(b, l);
        for (int empty = 0; empty < 10; ++empty)
          row.text("");
        out += row.text(l.reason).text(partial).text(doubts).take();
        continue;
      }
      for (const auto* part : {&found->second.timed, &found->second.others})
        for (const algorithm_row& a : *part) {
          const auto is = [&](const bound::measurement* m) {
            return m != nullptr && m->backend == a.backend && m->algorithm == a.algorithm;
          };
          const bound::choice& c = l.algorithms;
          csv_row row = csv_layer(b, l);
          row.text(a.backend).text(a.algorithm).text(a.layouts);
          row.number(a.hot_ns, a.hot_ns > 0).number(a.coldw_ns, a.coldw_ns > 0);
          row.number(a.hot_nj, a.hot_nj > 0).number(a.coldw_nj, a.coldw_nj > 0);
          row.flag(is(c.best)).flag(is(c.chosen)).flag(is(c.first));
          out += row.text(a.remark).text(partial).text(doubts).take();
        }
    }
  }
  return out;
}

} // namespace benanza::report
