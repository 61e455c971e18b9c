// SPDX-License-Identifier: Apache-2.0
#include "text.hpp"

#include "../report/units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace benanza::report {

std::string signed_percent(double share) {
  return fmt::format("{:+.{}f} %", 100 * share, std::abs(share) < 1 ? 1 : 0);
}

std::string interval_text(const compare::difference& d) {
  if (d.high - d.low > 9.99) return "[unknown]";
  return fmt::format("[{:+.1f}, {:+.1f}]", 100 * d.low, 100 * d.high);
}

std::string counts_text(const std::vector<compare::row>& rows) {
  using enum compare::verdict;
  return fmt::format("{} SLOWER, {} FASTER, {} UNSURE, {} SAME", comparison::count(rows, slower),
                     comparison::count(rows, faster), comparison::count(rows, unsure),
                     comparison::count(rows, same));
}

std::string verdict_line(const comparison& c) {
  using enum compare::verdict;
  const compare::verdict worst = c.worst();
  const auto part = [&](const std::vector<compare::row>& rows, std::string_view what) {
    return fmt::format("{} of {} {}", comparison::count(rows, worst), rows.size(), what);
  };
  std::string out = fmt::format("{:<8}", compare::name(worst));
  if (!c.models.empty() && worst == same)
    return out + (c.operators ? "the run, and no operator's time is another"
                              : "the models' figures, and no kernel's or layer's time is another");
  std::string parts;
  const auto add = [&](const std::vector<compare::row>& rows, std::string_view what) {
    if (!rows.empty()) parts += (parts.empty() ? "" : ", ") + part(rows, what);
  };
  add(c.models, c.operators ? "runs" : "figures of models");
  add(c.kernels, "kernels");
  add(c.layers, c.operators ? "operators" : "times of layers");
  return out + parts +
         (!c.models.empty() && worst != unsure && c.unsure() ? "; UNSURE of some" : "");
}

std::string layers_title(const comparison& c) {
  return c.operators ? "Operators" : "Layers alone and in a run";
}

namespace {
std::string side_line(std::string_view which, const compare::side_facts& s) {
  std::string text = printable(s.source, 200) + ": " +
                     counted(static_cast<std::int64_t>(s.visits), "visit") + ", " +
                     (s.cpu.empty() ? "unknown processor" : printable(s.cpu, 100));
  if (!s.software.empty()) text += ", " + printable(s.software, 200);
  if (!s.dates.empty()) text += ", " + printable(s.dates, 100);
  return wrapped(fmt::format("{}  ", which), text);
}
} // namespace

std::string figures_of(const compare::row& r) {
  return fmt::format("{:>9} {:>9} {:>8} {:<15} {}", show_time(r.of.before_ns),
                     show_time(r.of.after_ns), signed_percent(r.of.change), interval_text(r.of),
                     compare::name(r.says));
}

std::string on_threads(const compare::row& r) {
  return r.threads == 1 ? std::string() : fmt::format(" on {}", counted(r.threads, "thread"));
}

std::string row_title(const compare::row& r) {
  std::string out = r.subject + ' ' + r.type + on_threads(r);
  if (!r.algorithm.empty()) out += ' ' + r.algorithm;
  return out + ", " + r.what;
}

namespace {
std::string model_rows(const comparison& c) {
  if (c.models.empty()) return {};
  std::string out = fmt::format("\n{:<20}{:>9} {:>9} {:>8} {:<15} {}\n",
                                c.one_clock ? "at one clock" : "as measured", "old", "new",
                                "change", "95 % sure", "");
  std::string last;
  std::vector<const compare::row*> rows;
  for (const compare::row& r : c.models)
    rows.push_back(&r);
  // A model's rows together, in the order of the first of them.
  for (std::size_t i = 0; i < rows.size(); ++i)
    std::stable_partition(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(),
                          [&](const compare::row* r) {
                            return r->subject == rows[i]->subject && r->type == rows[i]->type &&
                                   r->threads == rows[i]->threads;
                          });
  for (const compare::row* r : rows) {
    const std::string title = printable(r->subject) + ' ' + r->type + on_threads(*r);
    if (title != last) out += title + '\n';
    last = title;
    const std::string what = "  " + printable(r->what);
    out += what.size() < 20 ? fmt::format("{:<20}", what) : what + '\n' + std::string(20, ' ');
    out += figures_of(*r) + '\n';
  }
  return out;
}

/// Rows of layers or algorithms that changed, and of those that nothing is sure of, at most `most`.
std::string changed_rows(const std::vector<compare::row>& rows, std::string_view title,
                         std::size_t most, bool unsure_too) {
  std::string out = fmt::format("\n{}: {}\n", title, counts_text(rows));
  std::size_t shown = 0, left = 0;
  for (const compare::row& r : rows) {
    constexpr double worth_a_row = 0.01; // of a model, where nothing is sure
    if (r.says == compare::verdict::same ||
        (r.says == compare::verdict::unsure &&
         (!unsure_too || std::abs(r.effect_share) < worth_a_row)))
      continue;
    if (shown >= most) {
      ++left;
      continue;
    }
    ++shown;
    out +=
        fmt::format("  {}{}\n", figures_of(r),
                    r.effect_share != 0 ? fmt::format("  {} of {}", signed_percent(r.effect_share),
                                                      printable(r.in_model, 60))
                                        : std::string());
    std::string what =
        fmt::format("{} {}{}, {}", printable(r.subject), r.type, on_threads(r), printable(r.what));
    if (!r.algorithm.empty()) what += ", " + printable(r.algorithm);
    if (!r.before_by.empty())
      what += ", " + printable(r.before_by) +
              (r.before_by == r.after_by ? "" : ", now " + printable(r.after_by));
    if (r.layers != 0) what += " of " + counted(static_cast<std::int64_t>(r.layers), "layer");
    if (r.says == compare::verdict::unsure) {
      if (r.uncorroborated)
        what += ": one layer of one visit; neither kernel nor bound says the same";
      else if (r.of.raised)
        what += ": interference";
    }
    out += wrapped("    ", what);
  }
  if (left != 0) out += fmt::format("  and {} more (--rows all)\n", left);
  return out;
}

std::string one_sided_rows(const comparison& c, std::size_t most) {
  std::string out;
  std::size_t shown = 0;
  for (const char* kind : {"failure", "model", "layer", "operator", "algorithm"})
    for (const compare::one_sided& o : c.alone) {
      if (o.kind != kind) continue;
      if (shown++ == 0) out += "\nOn one side only\n";
      if (shown > most) continue;
      out += wrapped(fmt::format("  {:<8}", o.kind == "failure" ? "fails"
                                            : o.came            ? "new"
                                                                : "gone"),
                     o.kind + ' ' + printable(o.subject, 300) +
                         (o.why.empty() ? "" : ": " + printable(o.why, 300)));
    }
  if (shown > most) out += fmt::format("  and {} more (--rows all)\n", shown - most);
  return out;
}

std::string advice_rows(const comparison& c, std::size_t most) {
  std::string out;
  std::size_t shown = 0;
  for (const compare::advice_change& a : c.advice) {
    if (shown++ == 0) out += "\nAdvice that changed, and what it saves\n";
    if (shown > most) break;
    const auto saves = [](double ns) { return ns > 0 ? show_time(ns) : std::string("-"); };
    out += wrapped(fmt::format("  {:>9} {:>9}  ", saves(a.before_ns), saves(a.after_ns)),
                   printable(a.what, 300) + " (" + printable(a.model, 100) + ')');
  }
  return out;
}
} // namespace

std::string explanations(const comparison& c) {
  std::string out;
  const std::size_t changed = comparison::count(c.layers, compare::verdict::slower) +
                              comparison::count(c.layers, compare::verdict::faster);
  for (const compare::fact_change& f : c.facts) {
    if (out.empty()) out += "\nWhat differs besides\n";
    std::string can;
    if (!f.explains_any())
      can = "explains nothing";
    else if (changed != 0)
      can = fmt::format("can explain {} of {}", c.explained(f), changed);
    out += wrapped("  ",
                   fmt::format("{}: {} -> {}{}", printable(f.fact, 100), printable(f.before, 200),
                               printable(f.after, 200), can.empty() ? "" : "  (" + can + ")"));
  }
  if (c.facts.empty() && changed != 0)
    out += '\n' + wrapped("", "Nothing that the results tell of differs: neither machine, software "
                              "nor flags. What is left is what others on the machine did, or code "
                              "that changed without its version.");
  constexpr std::size_t most_machine = 3;
  for (std::size_t i = 0; i < std::min(most_machine, c.machine.size()); ++i)
    out += wrapped(
        i == 0 ? "machine   " : "          ",
        fmt::format("{} of the machine itself: {} -> {} ({})", printable(c.machine[i].subject),
                    show_time(c.machine[i].of.before_ns), show_time(c.machine[i].of.after_ns),
                    signed_percent(c.machine[i].of.change)));
  if (std::max(c.before.disturbed_share(), c.after.disturbed_share()) > compare::most_disturbed)
    out += (out.empty() ? "\n" : "") +
           wrapped("~         ",
                   fmt::format(
                       "interference met {} of the old cases and {} of the new ones: it may "
                       "explain what is slower, and intervals are wide",
                       percent(c.before.disturbed_share()), percent(c.after.disturbed_share())));
  return out;
}

std::string comparison_text(const compare::comparison& c, std::size_t most) {
  std::string out =
      verdict_line(c) + "\n\n" + side_line("old", c.before) + side_line("new", c.after);
  out += model_rows(c);
  for (const std::string& note : c.notes)
    out += wrapped("  ! ", printable(note));
  if (!c.kernels.empty())
    out += changed_rows(c.kernels, "Kernels, over all layers that they run", most / 2, false);
  if (!c.layers.empty()) out += changed_rows(c.layers, layers_title(c), most, true);
  if (!c.algorithms.empty())
    out += changed_rows(c.algorithms, "All algorithms in all cache states", most / 2, false);
  out += one_sided_rows(c, most);
  out += advice_rows(c, most / 2);
  out += explanations(c);
  out += '\n' +
         wrapped(
             "",
             fmt::format(
                 "SLOWER and FASTER: more than chance ({}) by Holm's correction of all "
                 "rows of a kind, and {} or more. SAME: a change of more than {} is ruled out with "
                 "95 % confidence.",
                 percent(c.asked.chance), percent(c.asked.min_change),
                 percent(std::max(c.asked.within, c.asked.min_change))));
  if (c.before.visits == 1 || c.after.visits == 1)
    out += "More visits tell more: --old and --new take further results of the same.\n";
  return out;
}

} // namespace benanza::report
