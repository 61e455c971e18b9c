// SPDX-License-Identifier: Apache-2.0
#include "composed.hpp"

#include "units.hpp"

#include <benanza/result/json.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace benanza::report {

std::string composed_text(const composed_page& p) {
  std::size_t width = 5;
  for (const composed_row& r : p.rows)
    width = std::max(width, printable(r.made.graph->name).size());
  std::string out = fmt::format("{} model{} from {} unique sequences, {}, {}, {} thread{}\n\n",
                                p.rows.size(), p.rows.size() == 1 ? "" : "s", p.unique, p.cut,
                                p.type, p.threads, p.threads == 1 ? "" : "s");
  const auto line = [&](const auto& model, const auto& pieces, const auto& made,
                        const auto& interval, const auto& path, const auto& whole, const auto& n) {
    out += fmt::format("{:<{}} {:>9} {:>9}  {:<18} {:>9} {:>10} {:>6}\n", model, width, pieces,
                       made, interval, path, whole, n);
  };
  line("model", "sequences", "composed", "[hot, cold]", "path", "measured ", "n");
  for (const composed_row& r : p.rows) {
    const bound::figure& f = r.made.sequential;
    const time_scale s = scale_of(f.ns);
    line(printable(r.made.graph->name), r.made.sequences, show_time(f.ns),
         r.made.has_ends ? fmt::format("[{:.{}f}, {:.{}f}]", f.low_ns / s.ns, s.decimals,
                                       f.high_ns / s.ns, s.decimals)
                         : "-",
         show_time(r.made.parallel_ns),
         r.whole == nullptr ? "- " : show_time(r.whole_ns()) + (r.disturbed() ? "*" : " "),
         r.whole == nullptr ? "-" : fmt::format("{:.3f}", r.n()));
  }
  out += '\n' + p.estimate + '\n';
  const auto without_ends = [](const auto& r) { return !r.made.has_ends; };
  if (std::any_of(p.rows.begin(), p.rows.end(), without_ends))
    out += "-: no interval, as sequences were not measured in both (--states hot,coldw,cold)\n";
  for (const composed_row& r : p.rows)
    if (without_ends(r) && r.made.weights.hot)
      out += fmt::format("{}: a core's own caches hold all of it, so sequences that were not "
                         "measured hot are too slow\n",
                         printable(r.made.graph->name));
  if (std::any_of(p.rows.begin(), p.rows.end(), [](const auto& r) { return r.disturbed(); }))
    out += "* others disturbed it all along: the medians of its steps together\n";
  const bound::accuracy a = bound::accuracy_of(p.n_of_models());
  if (a.models == 0) return out;
  out +=
      fmt::format("n = composed / measured: geometric mean {:.3f}, mean absolute error {:.1f} %, "
                  "worst {:.3f}\n({}); within 5 %: {} of {}, within 10 %: {}\n",
                  a.geometric_mean, 100 * a.mean_absolute, a.worst_n, printable(a.worst),
                  a.within_5, a.models, a.within_10);
  out += fmt::format("saving {:.2f}x: the models take {}, the unique sequences {}, each once\n",
                     p.by_latency.times(), show_time(p.by_latency.models_ns),
                     show_time(p.by_latency.sequences_ns));
  if (p.by_clock.times() > 0)
    out += fmt::format("by the clock {:.2f}x: sampling took {} for the models, {} for the "
                       "sequences\n",
                       p.by_clock.times(), show_time(p.by_clock.models_ns),
                       show_time(p.by_clock.sequences_ns));
  return out;
}

std::string composed_json(const composed_page& p) {
  result::ordered_json out{
      {"cut", p.cut}, {"type", p.type}, {"threads", p.threads}, {"unique", p.unique}};
  out["models"] = result::ordered_json::array();
  for (const composed_row& r : p.rows) {
    result::ordered_json row{
        {"model", r.made.graph->name},         {"sequences", r.made.sequences},
        {"composed_ns", r.made.sequential.ns}, {"parallel_ns", r.made.parallel_ns},
        {"weights", r.made.weights.name()},    {"gone", r.made.weights.gone}};
    if (r.made.has_ends)
      row["low_ns"] = r.made.sequential.low_ns, row["high_ns"] = r.made.sequential.high_ns;
    if (r.whole != nullptr) {
      row["measured_ns"] = r.whole_ns();
      row["disturbed"] = r.disturbed();
      row["n"] = r.n();
    }
    out["models"].push_back(std::move(row));
  }
  const auto text = [&out] {
    return out.dump(1, ' ', true, result::ordered_json::error_handler_t::replace) + '\n';
  };
  const bound::accuracy a = bound::accuracy_of(p.n_of_models());
  if (a.models == 0) return text();
  out["accuracy"] = {{"models", a.models},
                     {"geometric_mean", a.geometric_mean},
                     {"mean_absolute_error", a.mean_absolute},
                     {"worst", a.worst},
                     {"worst_n", a.worst_n},
                     {"within_5_percent", a.within_5},
                     {"within_10_percent", a.within_10}};
  out["saving"] = {{"by_latency", p.by_latency.times()},
                   {"models_ns", p.by_latency.models_ns},
                   {"sequences_ns", p.by_latency.sequences_ns}};
  if (p.by_clock.times() > 0) out["saving"]["by_clock"] = p.by_clock.times();
  return text();
}

} // namespace benanza::report
