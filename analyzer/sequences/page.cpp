// SPDX-License-Identifier: Apache-2.0
#include "page.hpp"

#include "../report/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

namespace benanza::report {

namespace {
using tables::above_zero;
using tables::unit;
using tables::whole;

tables::table models_of(const composed_page& p) {
  tables::table out{.key = "models",
                    .columns = {{"model", "model", unit::name},
                                {"sequences", "sequences", unit::count},
                                {"composed_ns", "composed", unit::time},
                                {"", "[hot, cold]"},
                                {"low_ns", "", unit::time},
                                {"high_ns", "", unit::time},
                                {"parallel_ns", "path", unit::time},
                                {"measured_ns", "measured", unit::time},
                                {"disturbed", "", unit::flag},
                                {"n", "n", unit::factor},
                                {"", ""},
                                {"weights", ""},
                                {"gone", "", unit::share}}};
  for (const composed_row& r : p.rows) {
    const bound::figure& f = r.made.sequential;
    const time_scale s = scale_of(f.ns);
    const bool ends = r.made.has_ends;
    const bool run = r.whole != nullptr;
    out.rows.push_back({r.made.graph->name, whole(r.made.sequences), f.ns,
                        ends ? fmt::format("[{:.{}f}, {:.{}f}]", f.low_ns / s.ns, s.decimals,
                                           f.high_ns / s.ns, s.decimals)
                             : "-",
                        ends ? tables::cell(f.low_ns) : tables::cell(),
                        ends ? tables::cell(f.high_ns) : tables::cell(), r.made.parallel_ns,
                        run ? tables::cell(r.whole_ns()) : tables::cell(),
                        run ? tables::cell(r.disturbed()) : tables::cell(),
                        run ? tables::cell(r.n()) : tables::cell(),
                        std::string(r.disturbed() ? "*" : ""), std::string(r.made.weights.name()),
                        r.made.weights.gone});
  }
  return out;
}

/// How good the estimates are, and what they save; without runs of whole models nothing.
void add_accuracy(const composed_page& p, tables::chapter& to) {
  const bound::accuracy a = bound::accuracy_of(p.n_of_models());
  if (a.models == 0) return;
  to.say(fmt::format("n = composed / measured: geometric mean {:.3f}, mean absolute error {:.1f} "
                     "%, worst {:.3f} ({}); within 5 %: {} of {}, within 10 %: {}.",
                     a.geometric_mean, 100 * a.mean_absolute, a.worst_n, a.worst, a.within_5,
                     a.models, a.within_10));
  to.say(fmt::format("saving {:.2f}x: the models take {}, the unique sequences {}, each once.",
                     p.by_latency.times(), show_time(p.by_latency.models_ns),
                     show_time(p.by_latency.sequences_ns)));
  if (p.by_clock.times() > 0)
    to.say(fmt::format("by the clock {:.2f}x: sampling took {} for the models, {} for the "
                       "sequences.",
                       p.by_clock.times(), show_time(p.by_clock.models_ns),
                       show_time(p.by_clock.sequences_ns)));
  to.chapters.push_back({.key = "accuracy",
                         .only_one = true,
                         .fields = {{"models", whole(a.models)},
                                    {"geometric_mean", a.geometric_mean},
                                    {"mean_absolute_error", a.mean_absolute},
                                    {"worst", a.worst},
                                    {"worst_n", a.worst_n},
                                    {"within_5_percent", whole(a.within_5)},
                                    {"within_10_percent", whole(a.within_10)}}});
  to.chapters.push_back({.key = "saving",
                         .only_one = true,
                         .fields = {{"by_latency", p.by_latency.times()},
                                    {"models_ns", p.by_latency.models_ns},
                                    {"sequences_ns", p.by_latency.sequences_ns},
                                    {"by_clock", above_zero(p.by_clock.times())}}});
}
} // namespace

tables::chapter composed_answer(const composed_page& p) {
  tables::chapter out{
      .title = fmt::format("{} from {}, {}, {}, {}", counted(std::ssize(p.rows), "model"),
                           counted(static_cast<std::int64_t>(p.unique), "unique sequence"), p.cut,
                           p.type, counted(p.threads, "thread")),
      .fields = {{"cut", p.cut},
                 {"type", p.type},
                 {"threads", whole(p.threads)},
                 {"unique", whole(p.unique)}}};
  out.add(models_of(p));
  out.say(p.estimate + '.');
  const auto without_ends = [](const auto& r) { return !r.made.has_ends; };
  if (std::any_of(p.rows.begin(), p.rows.end(), without_ends))
    out.say("-: no interval, as sequences were not measured in both (--states hot,coldw,cold).");
  for (const composed_row& r : p.rows)
    if (without_ends(r) && r.made.weights.hot)
      out.say(r.made.graph->name + ": a core's own caches hold all of it, so sequences that were "
                                   "not measured hot are too slow.");
  if (std::any_of(p.rows.begin(), p.rows.end(), [](const auto& r) { return r.disturbed(); }))
    out.say("*: interference all along; the medians of its steps added up.");
  add_accuracy(p, out);
  return out;
}

} // namespace benanza::report
