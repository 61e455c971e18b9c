// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "heading.hpp"
#include "json.hpp"
#include "units.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/none_of.hpp>
#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::report {

std::string show_per_ns(double per_ns) {
  return fmt::format("{:.{}f}", per_ns, per_ns < 9.95 ? 2 : 1);
}

namespace {
using tables::unit;
using tables::whole;

/// The unit of a page's rates: of a CPU so many flops or bytes a ns, of a GPU thousands of them.
struct rate_unit {
  double per_ns = 1;
  std::string_view flops = "GFLOP/s", bytes = "GB/s";

  static rate_unit of(const result::run& r) {
    return fact(r, "machine", "gpu").empty() ? rate_unit{} : rate_unit{1000, "TFLOP/s", "TB/s"};
  }
  std::string operator()(double rate) const { return show_per_ns(rate / per_ns); }
};

/// The fastest of each kind of arithmetic, by type and threads.
tables::table shown_peaks(const bound::ceilings& c, const rate_unit& rate) {
  const auto best_of = [](const std::vector<bound::peak>& all, std::string_view kind) {
    const auto found = ranges::find(all, std::string(kind), &bound::peak::kind);
    return found == all.end() ? nullptr : &*found;
  };
  std::vector<std::string_view> kinds(result::peak_kinds.begin(), result::peak_kinds.end());
  std::erase_if(kinds, [&](std::string_view kind) { // of a GPU there are no loops of ours
    return ranges::none_of(c.peaks(), [&](const auto& p) { return best_of(p.second, kind); });
  });
  tables::table out{.columns = {{"", std::string(rate.flops)},
                                {"", "t", unit::count},
                                {"", "peak", unit::number}}};
  for (std::string_view kind : kinds)
    out.columns.push_back({"", std::string(kind), unit::number});
  out.columns.push_back({"", "the fastest"});
  for (const auto& [where, all] : c.peaks()) {
    std::vector<tables::cell>& row = out.rows.emplace_back();
    row = {std::string(name(where.first)), whole(where.second), rate(all.front().flops_per_ns)};
    for (std::string_view kind : kinds) {
      const bound::peak* const best = best_of(all, kind);
      row.push_back(best == nullptr ? tables::cell() : rate(best->flops_per_ns));
    }
    row.emplace_back(all.front().algorithm);
  }
  return out;
}

/// The kinds of a number of threads that were measured, in the order that people know them by.
std::vector<std::string> kinds_of(const bound::ceilings& c, int threads) {
  return result::bandwidth_kinds |
         ranges::views::transform([](std::string_view kind) { return std::string(kind); }) |
         ranges::views::filter([&](const std::string& kind) {
           return c.curves().contains({kind, threads});
         }) |
         ranges::to<std::vector>;
}

tables::table shown_bandwidth(const bound::ceilings& c, int threads, const rate_unit& rate) {
  const std::vector<std::string> kinds = kinds_of(c, threads);
  tables::table out{.columns = {{"", fmt::format("{}  t{}", rate.bytes, threads), unit::bytes}}};
  if (kinds.empty()) return out;
  for (const std::string& kind : kinds)
    out.columns.push_back({"", kind, unit::number});
  out.columns.push_back({"", "at most", unit::number});
  const bound::cache_levels levels = c.levels(threads);
  std::size_t level = 0;
  for (const bound::rate_at& at : c.best_curve(threads)) {
    for (; level < levels.caches().size() && at.bytes > levels.caches()[level].bytes; ++level) {
      std::vector<tables::cell>& line =
          out.rows.emplace_back(kinds.size() + 2, tables::cell(std::string()));
      line.front() = "-- " + levels.caches()[level].name + ": " +
                     show_bytes(levels.caches()[level].bytes) + " --";
    }
    std::vector<tables::cell>& row = out.rows.emplace_back();
    row.emplace_back(at.bytes);
    for (const std::string& kind : kinds) {
      const auto& points = c.curves().at({kind, threads});
      const auto point = ranges::find(points, at.bytes, &bound::bandwidth::working_set_bytes);
      row.push_back(point == points.end() ? tables::cell() : rate(point->bytes_per_ns()));
    }
    row.push_back(rate(c.bytes_per_ns(at.bytes, threads)));
  }
  out.note =
      "at most: the fastest kind, with what fits a faster level staying there; no layer over "
      "such a working set beats it.";
  return out;
}

/// What is counted as moved in the tables of fits.
std::string what_is_moved(const result::run& r) {
  return std::string("bytes read plus bytes written; a copy of 1 KiB moves 2 KiB") +
         (fact(r, "machine", "gpu").empty() ? "."
                                            : "; from, to and between GPUs what crosses the link.");
}

/// A line's figures, or what was measured where there is no line.
std::vector<tables::cell> shown_fit(const bound::level_fit& f) {
  tables::cell alpha, half;
  std::string rate = show_per_ns(f.slowest_per_ns);
  if (f.line) {
    alpha = f.line->alpha_known ? show_time(f.line->alpha_ns)
                                : "below " + show_time(f.line->alpha_below_ns);
    rate = show_per_ns(f.line->bytes_per_ns);
    if (const auto bytes = f.half_bytes()) half = std::round(*bytes);
  } else if (const std::string fastest = show_per_ns(f.fastest_per_ns); fastest != rate) {
    rate += " to " + fastest;
  }
  const std::string off = f.off_by      ? percent(*f.off_by)
                          : f.sizes < 3 ? counted(static_cast<std::int64_t>(f.sizes), "size")
                                        : "no line";
  return {alpha, rate, half, off};
}

/// How a level of a way of moving bytes is called.
std::string fit_name(const bound::level_fit& f) {
  return f.kind + (f.way.empty() ? "" : ' ' + f.way) + (f.level == "all" ? "" : ' ' + f.level);
}

/// What no roofline knows of: such as pure stores past the caches.
std::string beyond(const bound::ceilings& c) {
  std::string out;
  for (const bound::level_fit& f : c.fits())
    if (f.at_most_per_ns > 0 && f.fastest_per_ns > (1 + bound::most_off_by) * f.at_most_per_ns)
      out += (out.empty() ? "" : ", ") + fit_name(f);
  if (out.empty()) return out;
  return "beyond \"at most\": " + out + ". Rooflines rest on the sweeps above alone.";
}

tables::table shown_fits(const bound::ceilings& c) {
  tables::table out{.columns = {{"", "t = alpha + moved / beta"},
                                {"", "t", unit::count},
                                {"", "alpha", unit::time},
                                {"", "beta, GB/s", unit::number},
                                {"", "n_half", unit::bytes},
                                {"", "off by", unit::share}}};
  for (const bound::level_fit& f : c.fits()) {
    std::vector<tables::cell>& row = out.rows.emplace_back();
    row = {fit_name(f), whole(f.threads)};
    const std::vector<tables::cell> its = shown_fit(f);
    row.insert(row.end(), its.begin(), its.end());
  }
  out.note =
      fmt::format("off by: the time that lies furthest from the line. Over {:.0f} %, or with "
                  "fewer than three sizes in a level, there is none: x to y is what was "
                  "measured. below: alpha cannot be told from 0, or other sizes take less. "
                  "n_half: alpha * beta, the size that reaches half of beta, where it is "
                  "among the level's.",
                  100 * bound::most_off_by);
  return out;
}

std::string measured_on(const bound::overhead& o) {
  return counted(o.threads, "thread") + ", " + o.backend + ' ' + o.algorithm;
}

/// What it costs to start something: what people ask for first, then the others.
tables::table shown_starts(const bound::ceilings& c) {
  static constexpr std::string_view first[] = {"graph_gap", "event_pair", "kernel_launch",
                                               "device_launch", "graph_launch"};
  std::vector<bound::overhead> all = c.overheads();
  std::erase_if(all, [](const bound::overhead& o) { return o.bytes > 0; });
  ranges::stable_sort(all, ranges::less{}, [](const bound::overhead& o) {
    return std::find(std::begin(first), std::end(first), o.kind) - std::begin(first);
  });
  tables::table out{.columns = {{"", "start"}, {"", "time", unit::time}, {"", ""}}};
  for (const bound::overhead& o : all)
    out.rows.push_back({o.kind, o.ns, measured_on(o)});
  if (!all.empty() && all.front().kind == first[0])
    out.note = "graph_gap: from the last instruction of a kernel in a graph to the first of the "
               "next; a hot time holds one for each kernel.";
  return out;
}

/// What messages take, by the bytes that they move; of memory that is only opened, by its size.
tables::table shown_messages(const bound::ceilings& c) {
  tables::table out{
      .columns = {{"", "moved"}, {"", "time", unit::time}, {"", "GB/s", unit::number}, {"", ""}}};
  for (const bound::overhead& o : c.overheads()) {
    if (o.bytes <= 0) continue;
    const double bytes = o.moved_bytes > 0 ? o.moved_bytes : static_cast<double>(o.bytes);
    out.rows.push_back(
        {o.kind + ' ' + show_bytes(bytes), o.ns,
         o.moved_bytes > 0 ? tables::cell(show_per_ns(o.bytes_per_ns())) : tables::cell(),
         measured_on(o)});
  }
  return out;
}

/// The parts of a text that semicolons separate.
std::vector<std::string> absent_parts(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("; ", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

tables::table peaks_of(const bound::ceilings& c) {
  tables::table out{
      .key = "peaks",
      .columns = tables::keys({"type", "threads", "kind", "backend", "algorithm", "flops_per_ns"})};
  for (const auto& [where, all] : c.peaks())
    for (const bound::peak& p : all)
      out.rows.push_back({std::string(name(where.first)), whole(where.second), p.kind, p.backend,
                          p.algorithm, p.flops_per_ns});
  return out;
}

tables::table bandwidth_of(const bound::ceilings& c) {
  tables::table out{.key = "bandwidth",
                    .columns = tables::keys({"kind", "threads", "working_set_bytes", "bytes_per_ns",
                                             "at_most_bytes_per_ns", "algorithm"})};
  for (const auto& [where, points] : c.curves())
    for (const bound::bandwidth& b : points)
      out.rows.push_back({where.first, whole(where.second), b.working_set_bytes, b.bytes_per_ns(),
                          c.bytes_per_ns(b.working_set_bytes, where.second), b.algorithm});
  return out;
}

/// The figures of each level; nothing: there is no line, or the figure is not known.
tables::table fits_of(const bound::ceilings& c) {
  tables::table out{.key = "fits",
                    .columns =
                        tables::keys({"kind", "threads", "level", "algorithm", "sizes",
                                      "least_bytes", "most_bytes", "slowest_bytes_per_ns",
                                      "fastest_bytes_per_ns", "at_most_bytes_per_ns", "off_by",
                                      "alpha_ns", "alpha_below_ns", "bytes_per_ns", "half_bytes"})};
  const auto known = [](bool is, double value) {
    return is ? tables::cell(value) : tables::cell();
  };
  for (const bound::level_fit& f : c.fits()) {
    const bound::latency_fit line = f.line.value_or(bound::latency_fit{});
    const auto half = f.half_bytes();
    out.rows.push_back(
        {f.kind, whole(f.threads), f.level, f.way, whole(f.sizes), f.least_bytes, f.most_bytes,
         f.slowest_per_ns, f.fastest_per_ns, tables::above_zero(f.at_most_per_ns),
         known(f.off_by.has_value(), f.off_by.value_or(0)), known(line.alpha_known, line.alpha_ns),
         known(f.line.has_value(), line.alpha_below_ns),
         known(f.line.has_value(), line.bytes_per_ns), known(half.has_value(), half.value_or(0))});
  }
  return out;
}

tables::table overheads_of(const bound::ceilings& c) {
  tables::table out{.key = "overheads",
                    .columns = tables::keys(
                        {"kind", "threads", "bytes", "backend", "algorithm", "moved_bytes", "ns"})};
  for (const bound::overhead& o : c.overheads())
    out.rows.push_back(
        {o.kind, whole(o.threads), whole(o.bytes), o.backend, o.algorithm, o.moved_bytes, o.ns});
  return out;
}

bound::ceilings measured_ceilings(const result::run& r) {
  bound::ceilings c(r);
  if (c.empty())
    throw error("the result holds no measurement of the machine", r.source,
                "run benanza_bench --benchmark_filter=^machine/");
  return c;
}
} // namespace

std::string machine_shortfall(const result::run& r) {
  std::int64_t failed = 0;
  std::string first;
  for (const result::measurement& m : r.measurements)
    if (m.family == result::machine_family && !m.error.empty() && failed++ == 0)
      first = m.name + ": " + m.error;
  if (failed == 0) return {};
  return counted(failed, "case") + " of the machine failed, such as " + printable(first);
}

tables::chapter machine_answer(const result::run& r, bool details) {
  const bound::ceilings c = measured_ceilings(r);
  const auto rate = rate_unit::of(r);
  const std::vector<std::string> absent = absent_parts(c.absent()),
                                 faults = bound::ceiling_faults(r, c);
  tables::chapter out{.title = where_measured(r),
                      .fields = {{"schema", whole(report_schema)},
                                 {"sources", r.source},
                                 {"absent", absent},
                                 {"faults", faults}}};
  out.chapters.push_back(provenance_of(r));
  if (const std::string kept = fact(r, "measuring", "ceilings_kept"); !kept.empty())
    out.say("Kept from earlier runs: " + kept + '.');
  out.add(shown_peaks(c, rate));
  for (int threads : c.threads())
    out.add(shown_bandwidth(c, threads, rate));
  out.add(shown_starts(c));
  tables::table fits = shown_fits(c), messages = shown_messages(c);
  if (!details && !(fits.rows.empty() && messages.rows.empty())) {
    out.say("More", "--details  latency and bandwidth by level, and messages by size");
  } else {
    if (!fits.rows.empty()) out.say("Moved", what_is_moved(r));
    out.add(std::move(fits));
    if (const std::string faster = beyond(c); !faster.empty()) out.say(faster);
    out.add(std::move(messages));
  }
  for (tables::table t : {peaks_of(c), bandwidth_of(c), fits_of(c), overheads_of(c)})
    out.add(std::move(t));
  for (const std::string& what : absent)
    out.say("- Absent: " + what + '.');
  if (const std::string lacking = machine_shortfall(r); !lacking.empty()) out.warn(lacking + '.');
  for (const std::string& what : faults)
    out.warn("Measuring fault: " + what + ". Measure again on a quiet machine.");
  return out;
}

} // namespace benanza::report
