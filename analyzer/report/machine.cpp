// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include "heading.hpp"
#include "json.hpp"
#include "json_array.hpp"
#include "units.hpp"
#include "warnings.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
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
/// The unit of a page's rates: of a CPU so many flops or bytes a ns, of a GPU thousands of them.
struct rate_unit {
  double per_ns = 1;
  std::string_view flops = "GFLOP/s", bytes = "GB/s";

  static rate_unit of(const result::run& r) {
    return fact(r, "machine", "gpu").empty() ? rate_unit{} : rate_unit{1000, "TFLOP/s", "TB/s"};
  }
  std::string operator()(double rate) const { return show_per_ns(rate / per_ns); }
};

std::string show_peaks(const bound::ceilings& c, const rate_unit& rate) {
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
std::vector<std::string> kinds_of(const bound::ceilings& c, int threads) {
  return result::bandwidth_kinds |
         ranges::views::transform([](std::string_view kind) { return std::string(kind); }) |
         ranges::views::filter([&](const std::string& kind) {
           return c.curves().contains({kind, threads});
         }) |
         ranges::to<std::vector>;
}

std::string show_bandwidth(const bound::ceilings& c, int threads, const rate_unit& rate) {
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

/// What is counted as moved, above the tables that it holds for.
std::string moved_bytes_heading(const result::run& r) {
  return wrapped("Moved: ", std::string("bytes read plus bytes written; a copy of 1 KiB moves 2 "
                                        "KiB") +
                                (fact(r, "machine", "gpu").empty()
                                     ? "."
                                     : "; from, to and between GPUs what crosses the link."));
}

/// A line's figures, or what was measured where there is no line.
std::string show_fit(const bound::level_fit& f) {
  std::string alpha = "-", rate = show_per_ns(f.slowest_per_ns), half = "-";
  if (f.line) {
    alpha = f.line->alpha_known ? show_time(f.line->alpha_ns)
                                : "below " + show_time(f.line->alpha_below_ns);
    rate = show_per_ns(f.line->bytes_per_ns);
    if (const auto bytes = f.half_bytes()) half = show_bytes(std::round(*bytes));
  } else if (const std::string fastest = show_per_ns(f.fastest_per_ns); fastest != rate) {
    rate += " to " + fastest;
  }
  const std::string off = f.off_by      ? percent(*f.off_by)
                          : f.sizes < 3 ? counted(static_cast<std::int64_t>(f.sizes), "size")
                                        : "no line";
  return fmt::format("{:>14}{:>15}{:>10}{:>8}\n", alpha, rate, half, off);
}

/// How a level of a way of moving bytes is called.
std::string fit_name(const bound::level_fit& f) {
  return printable(f.kind + (f.way.empty() ? "" : ' ' + f.way) +
                   (f.level == "all" ? "" : ' ' + f.level));
}

/// What no roofline knows of: such as pure stores past the caches.
std::string show_beyond(const bound::ceilings& c) {
  std::string out;
  for (const bound::level_fit& f : c.fits())
    if (f.at_most_per_ns > 0 && f.fastest_per_ns > (1 + bound::most_off_by) * f.at_most_per_ns)
      out += (out.empty() ? "" : ", ") + fit_name(f);
  if (out.empty()) return out;
  return wrapped("  beyond \"at most\": ", out + ". Rooflines rest on the sweeps above alone.");
}

std::string show_fits(const result::run& r, const bound::ceilings& c) {
  std::string out;
  for (const bound::level_fit& f : c.fits()) {
    if (out.empty())
      out = moved_bytes_heading(r) + fmt::format("{:<30}{:>3}{:>14}{:>15}{:>10}{:>8}\n",
                                                 "t = alpha + moved / beta", "t", "alpha",
                                                 "beta, GB/s", "n_half", "off by");
    constexpr std::size_t room = 30;
    out += fmt::format("{:<30}{:>3}", fit_name(f).substr(0, room), f.threads) + show_fit(f);
  }
  if (out.empty()) return out;
  return out +
         wrapped("  off by: ", fmt::format("the time that lies furthest from the line. Over {:.0f} "
                                           "%, or with fewer than three sizes in a level, there is "
                                           "none: x to y is what was measured.",
                                           100 * bound::most_off_by)) +
         wrapped("  below: ", "alpha cannot be told from 0, or other sizes take less.") +
         wrapped("  n_half: ",
                 "alpha * beta, the size that reaches half of beta, where it is among "
                 "the level's.") +
         show_beyond(c) + '\n';
}

std::string show_overhead(const bound::overhead& o) {
  return fmt::format("{:<28}{:>10}  {}, {}\n", printable(o.kind), show_time(o.ns),
                     counted(o.threads, "thread"), printable(o.backend + ' ' + o.algorithm));
}

/// What it costs to start something: what people ask for first, then the others.
std::string show_starts(const bound::ceilings& c) {
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

/// What messages take, by the bytes that they move; of memory that is only opened, by its size.
std::string show_messages(const bound::ceilings& c) {
  std::string out;
  for (const bound::overhead& o : c.overheads()) {
    if (o.bytes <= 0) continue;
    if (out.empty()) out = fmt::format("{:<28}{:>10}{:>8}\n", "moved", "time", "GB/s");
    const double bytes = o.moved_bytes > 0 ? o.moved_bytes : static_cast<double>(o.bytes);
    out += fmt::format("{:<28}{:>10}{:>8}  {}, {}\n", printable(o.kind) + ' ' + show_bytes(bytes),
                       show_time(o.ns), o.moved_bytes > 0 ? show_per_ns(o.bytes_per_ns()) : "-",
                       counted(o.threads, "thread"), printable(o.backend + ' ' + o.algorithm));
  }
  return out.empty() ? out : out + '\n';
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

/// A level's figures as JSON; null: there is no line, or the figure is not known.
result::ordered_json fit_json(const bound::level_fit& f) {
  const auto known = [](bool is, double value) {
    return is ? result::ordered_json(value) : result::ordered_json();
  };
  const bound::latency_fit line = f.line.value_or(bound::latency_fit{});
  const auto half = f.half_bytes();
  return {{"kind", f.kind},
          {"threads", f.threads},
          {"level", f.level},
          {"algorithm", f.way},
          {"sizes", f.sizes},
          {"least_bytes", f.least_bytes},
          {"most_bytes", f.most_bytes},
          {"slowest_bytes_per_ns", f.slowest_per_ns},
          {"fastest_bytes_per_ns", f.fastest_per_ns},
          {"at_most_bytes_per_ns", known(f.at_most_per_ns > 0, f.at_most_per_ns)},
          {"off_by", known(f.off_by.has_value(), f.off_by.value_or(0))},
          {"alpha_ns", known(line.alpha_known, line.alpha_ns)},
          {"alpha_below_ns", known(f.line.has_value(), line.alpha_below_ns)},
          {"bytes_per_ns", known(f.line.has_value(), line.bytes_per_ns)},
          {"half_bytes", known(half.has_value(), half.value_or(0))}};
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

std::string machine_report(const result::run& r, bool details) {
  const bound::ceilings c = measured_ceilings(r);
  const auto rate = rate_unit::of(r);
  std::string out = wrapped("", where_measured(r));
  if (const std::string kept = fact(r, "measuring", "ceilings_kept"); !kept.empty())
    out += wrapped("", "Kept from earlier runs: " + printable(kept, 100) + '.');
  out += '\n' + show_peaks(c, rate);
  for (int threads : c.threads())
    out += show_bandwidth(c, threads, rate);
  out += show_starts(c);
  if (const std::string more = show_fits(r, c) + show_messages(c); details)
    out += more;
  else if (!more.empty())
    out += wrapped("More:  ", "--details  latency and bandwidth by level, and messages by size") +
           '\n';
  const auto sentences = [](const std::vector<std::string>& all, const char* before,
                            const char* after) {
    return all |
           ranges::views::transform([=](const std::string& s) { return before + s + after; }) |
           ranges::to<std::vector>;
  };
  out += messages("- ", sentences(absent_parts(c.absent()), "Absent: ", "."));
  if (const std::string lacking = machine_shortfall(r); !lacking.empty())
    out += wrapped("! ", lacking + '.');
  return out +
         messages("! ", sentences(bound::ceiling_faults(r, c),
                                  "Measuring fault: ", ". Measure again on a quiet machine."));
}

std::string machine_json(const result::run& r) {
  using result::ordered_json;
  const bound::ceilings c = measured_ceilings(r);
  result::ordered_json peaks = result::ordered_json::array(),
                       curves = result::ordered_json::array();
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
  result::ordered_json fits = array_of(c.fits(), fit_json);
  result::ordered_json overheads =
      array_of(c.overheads(), [](const bound::overhead& o) -> result::ordered_json {
        return {{"kind", o.kind},
                {"threads", o.threads},
                {"bytes", o.bytes},
                {"backend", o.backend},
                {"algorithm", o.algorithm},
                {"moved_bytes", o.moved_bytes},
                {"ns", o.ns}};
      });
  return dumped({{"schema", report_schema},
                 {"sources", r.source},
                 {"provenance", r.provenance},
                 {"peaks", std::move(peaks)},
                 {"bandwidth", std::move(curves)},
                 {"fits", std::move(fits)},
                 {"overheads", std::move(overheads)},
                 {"absent", absent_parts(c.absent())},
                 {"faults", bound::ceiling_faults(r, c)}},
                1);
}

} // namespace benanza::report
