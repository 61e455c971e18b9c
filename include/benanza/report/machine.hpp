// SPDX-License-Identifier: Apache-2.0
// What can the machine do at most? The page behind every roofline: peaks by type and threads, the
// bandwidth of each kind over the working set with the caches marked, what calls, launches and
// hand-offs cost, what is absent here, and which layers of the run beat what nothing may beat; with
// details also the lines through the times, and messages and fresh pages by size. 80 columns, or
// JSON, which has all.
//
//   std::string text = machine_report(run);   std::string json = machine_json(run);
#pragma once

#include "../bound/roofline.hpp"
#include "json.hpp"
#include "page.hpp"

#include <fmt/format.h>
#include <range/v3/algorithm/find.hpp>
#include <range/v3/algorithm/none_of.hpp>
#include <range/v3/algorithm/stable_sort.hpp>
#include <range/v3/range/conversion.hpp>
#include <range/v3/view/filter.hpp>
#include <range/v3/view/transform.hpp>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace detail {
/// A rate in four characters or so: three digits at least.
inline std::string show_rate(double per_ns) {
  return fmt::format("{:.{}f}", per_ns, per_ns < 9.95 ? 2 : 1);
}

/// The unit of a page's rates: of a CPU so many flops or bytes a ns, of a GPU thousands of them.
struct rate_unit {
  double per_ns = 1;
  std::string_view flops = "GFLOP/s", bytes = "GB/s";

  static rate_unit of(const result::run& r) {
    return fact(r, "machine", "gpu").empty() ? rate_unit{} : rate_unit{1000, "TFLOP/s", "TB/s"};
  }
  std::string operator()(double rate) const { return show_rate(rate / per_ns); }
};

inline std::string show_peaks(const bound::ceilings& c, const rate_unit& rate) {
  if (c.peaks().empty()) return {};
  const auto best_of = [](const std::vector<bound::peak>& all, std::string_view kind) {
    const auto found = ranges::find(all, std::string(kind), &bound::peak::kind);
    return found == all.end() ? nullptr : &*found;
  };
  std::vector<std::string_view> kinds(result::peak_kinds.begin(), result::peak_kinds.end());
  std::erase_if(kinds, [&](std::string_view kind) { // of a GPU there are no loops of ours
    return ranges::none_of(c.peaks(), [&](const auto& p) { return best_of(p.second, kind); });
  });
  std::string out = fmt::format("{:<9}{:>2}{:>9}", rate.flops, "t", "peak");
  for (std::string_view kind : kinds)
    out += fmt::format("{:>9}", kind);
  out += "  the fastest\n";
  for (const auto& [where, all] : c.peaks()) {
    out += fmt::format("{:<9}{:>2}{:>9}", name(where.first), where.second,
                       rate(all.front().flops_per_ns));
    for (std::string_view kind : kinds) {
      const bound::peak* const best = best_of(all, kind);
      out += fmt::format("{:>9}", best == nullptr ? "-" : rate(best->flops_per_ns));
    }
    std::string fastest = printable(all.front().algorithm);
    constexpr std::size_t room = 30;
    if (fastest.size() > room) fastest.resize(room);
    out += "  " + fastest + '\n';
  }
  return out + '\n';
}

/// The kinds of a number of threads that were measured, in the order that people know them by.
inline std::vector<std::string> kinds_of(const bound::ceilings& c, int threads) {
  return result::bandwidth_kinds |
         ranges::views::transform([](std::string_view kind) { return std::string(kind); }) |
         ranges::views::filter([&](const std::string& kind) {
           return c.curves().contains({kind, threads});
         }) |
         ranges::to<std::vector>;
}

inline std::string show_bandwidth(const bound::ceilings& c, int threads, const rate_unit& rate) {
  const std::vector<std::string> kinds = kinds_of(c, threads);
  if (kinds.empty()) return {};
  std::string out = fmt::format("{:<13}", fmt::format("{}  t{}", rate.bytes, threads));
  for (const std::string& kind : kinds)
    out += fmt::format("{:>{}}", kind, std::max<std::size_t>(9, kind.size() + 2));
  out += fmt::format("{:>9}\n", "at most");
  const bound::cache_levels levels = c.levels(threads);
  std::size_t level = 0;
  for (const bound::rate_at& at : c.best_curve(threads)) {
    for (; level < levels.caches().size() && at.bytes > levels.caches()[level].bytes; ++level)
      out += fmt::format("  -- {} --\n", levels.caches()[level].name + ": " +
                                             show_bytes(levels.caches()[level].bytes));
    out += fmt::format("{:>11}  ", show_bytes(at.bytes));
    for (const std::string& kind : kinds) {
      const auto& points = c.curves().at({kind, threads});
      const auto point = ranges::find(points, at.bytes, &bound::bandwidth::working_set_bytes);
      out += fmt::format("{:>{}}", point == points.end() ? "-" : rate(point->bytes_per_ns()),
                         std::max<std::size_t>(9, kind.size() + 2));
    }
    out += fmt::format("{:>9}\n", rate(c.bytes_per_ns(at.bytes, threads)));
  }
  return out +
         wrapped("  at most: ", "the fastest kind, with what fits a faster level staying "
                                "there; no layer over such a working set beats it.") +
         '\n';
}

inline std::string show_fits(const bound::ceilings& c) {
  std::string out;
  for (const bound::level_fit& f : c.fits()) {
    if (out.empty())
      out = fmt::format("{:<34}{:>3}{:>10}{:>13}{:>11}{:>9}\n", "t = alpha + n / beta", "t",
                        "alpha", "beta", "n_half", "off by");
    std::string what = printable(f.kind + ' ' + (f.way.empty() ? f.level : f.way));
    constexpr std::size_t room = 33;
    if (what.size() > room) what.resize(room);
    out += fmt::format("{:<34}{:>3}{:>10}{:>8} GB/s{:>11}{:>9}\n", what, f.threads,
                       show_time(f.line.alpha_ns), show_rate(f.line.bytes_per_ns),
                       show_bytes(std::round(f.line.half_bytes())), percent(f.line.residual));
  }
  if (!out.empty())
    out += wrapped("  n_half: ", "alpha * beta, the size that reaches half of beta.");
  return out.empty() ? out : out + '\n';
}

inline std::string show_overhead(const bound::overhead& o) {
  const std::string what =
      printable(o.kind) +
      (o.bytes > 0 ? ' ' + show_bytes(static_cast<double>(o.bytes)) : std::string());
  return fmt::format("{:<28}{:>10}  {}, {}\n", what, show_time(o.ns), counted(o.threads, "thread"),
                     printable(o.backend + ' ' + o.algorithm));
}

/// What it costs to start something: what people ask for first, then the others.
inline std::string show_starts(const bound::ceilings& c) {
  static constexpr std::string_view first[] = {"graph_gap", "event_pair", "kernel_launch",
                                               "device_launch", "graph_launch"};
  std::vector<bound::overhead> all = c.overheads();
  std::erase_if(all, [](const bound::overhead& o) { return o.bytes > 0; });
  ranges::stable_sort(all, ranges::less{}, [](const bound::overhead& o) {
    return std::find(std::begin(first), std::end(first), o.kind) - std::begin(first);
  });
  std::string out;
  for (const bound::overhead& o : all)
    out += show_overhead(o);
  if (!all.empty() && all.front().kind == first[0])
    out += wrapped("  graph_gap: ", "from the last instruction of a kernel in a graph to the first "
                                    "of the next; a hot time holds one for each kernel.");
  return out.empty() ? out : out + '\n';
}

/// What messages take, by their sizes.
inline std::string show_messages(const bound::ceilings& c) {
  std::string out;
  for (const bound::overhead& o : c.overheads())
    if (o.bytes > 0) out += show_overhead(o);
  return out.empty() ? out : out + '\n';
}

/// The parts of a text that semicolons separate.
inline std::vector<std::string> absent_parts(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("; ", at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 2;
  }
  return out;
}

inline bound::ceilings measured_ceilings(const result::run& r) {
  bound::ceilings c(r);
  if (c.empty())
    throw error("the result holds no measurement of the machine", r.source,
                "run benanza_bench --benchmark_filter=^machine/");
  return c;
}
} // namespace detail

/// What of the machine failed to be measured, in one line; empty: nothing.
inline std::string machine_shortfall(const result::run& r) {
  std::int64_t failed = 0;
  std::string first;
  for (const result::measurement& m : r.measurements)
    if (m.family == result::machine_family && !m.error.empty() && failed++ == 0)
      first = m.name + ": " + m.error;
  if (failed == 0) return {};
  return counted(failed, "case") + " of the machine failed, such as " + printable(first);
}

/// The page of a run's machine. Refuses a run that did not measure it.
inline std::string machine_report(const result::run& r, bool details = false) {
  const bound::ceilings c = detail::measured_ceilings(r);
  const auto rate = detail::rate_unit::of(r);
  std::string out = wrapped("", detail::where_measured(r));
  if (const std::string kept = detail::fact(r, "measuring", "ceilings_kept"); !kept.empty())
    out += wrapped("", "Kept from earlier runs: " + printable(kept, 100) + '.');
  out += '\n' + detail::show_peaks(c, rate);
  for (int threads : c.threads())
    out += detail::show_bandwidth(c, threads, rate);
  out += detail::show_starts(c);
  if (const std::string more = detail::show_fits(c) + detail::show_messages(c); details)
    out += more;
  else if (!more.empty())
    out += wrapped("More:  ", "--details  lines through these times, and messages by size") + '\n';
  const auto sentences = [](const std::vector<std::string>& all, const char* before,
                            const char* after) {
    return all |
           ranges::views::transform([=](const std::string& s) { return before + s + after; }) |
           ranges::to<std::vector>;
  };
  out += detail::messages("- ", sentences(detail::absent_parts(c.absent()), "Absent: ", "."));
  if (const std::string lacking = machine_shortfall(r); !lacking.empty())
    out += wrapped("! ", lacking + '.');
  return out + detail::messages("! ", sentences(bound::ceiling_faults(r, c), "Measuring fault: ",
                                                ". Measure again on a quiet machine."));
}

/// The same as JSON: rates in flops and bytes a ns, times in ns.
inline std::string machine_json(const result::run& r) {
  using detail::ordered_json;
  const bound::ceilings c = detail::measured_ceilings(r);
  ordered_json peaks = ordered_json::array(), curves = ordered_json::array();
  for (const auto& [where, all] : c.peaks())
    for (const bound::peak& p : all)
      peaks.push_back({{"type", name(where.first)},
                       {"threads", where.second},
                       {"kind", p.kind},
                       {"backend", p.backend},
                       {"algorithm", p.algorithm},
                       {"flops_per_ns", p.flops_per_ns}});
  for (const auto& [where, points] : c.curves())
    for (const bound::bandwidth& b : points)
      curves.push_back({{"kind", where.first},
                        {"threads", where.second},
                        {"working_set_bytes", b.working_set_bytes},
                        {"bytes_per_ns", b.bytes_per_ns()},
                        {"at_most_bytes_per_ns", c.bytes_per_ns(b.working_set_bytes, where.second)},
                        {"algorithm", b.algorithm}});
  ordered_json fits = array_of(c.fits(), [](const bound::level_fit& f) -> ordered_json {
    return {{"kind", f.kind},
            {"threads", f.threads},
            {"level", f.level},
            {"algorithm", f.way},
            {"alpha_ns", f.line.alpha_ns},
            {"bytes_per_ns", f.line.bytes_per_ns},
            {"half_bytes", f.line.half_bytes()},
            {"residual", f.line.residual},
            {"points", f.line.points}};
  });
  ordered_json overheads = array_of(c.overheads(), [](const bound::overhead& o) -> ordered_json {
    return {{"kind", o.kind},       {"threads", o.threads},     {"bytes", o.bytes},
            {"backend", o.backend}, {"algorithm", o.algorithm}, {"ns", o.ns}};
  });
  return detail::dumped({{"schema", report_schema},
                         {"sources", r.source},
                         {"provenance", r.provenance},
                         {"peaks", std::move(peaks)},
                         {"bandwidth", std::move(curves)},
                         {"fits", std::move(fits)},
                         {"overheads", std::move(overheads)},
                         {"absent", detail::absent_parts(c.absent())},
                         {"faults", bound::ceiling_faults(r, c)}},
                        1);
}

} // namespace benanza::report
