// SPDX-License-Identifier: Apache-2.0
#include "changes.hpp"

#include "advice.hpp"
#include "units.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <vector>

namespace benanza::report {

namespace {
/// The most changes of each part that a screen shows.
constexpr std::size_t most_changes = 3;
} // namespace

std::string share_of_run(const bound::model_bound& b, double ns, double run_ns) {
  return !b.sure() || !(run_ns > 0) ? "-" : percent(ns / run_ns);
}

namespace {
/// A row of a table whose text has `width` columns, and goes on below where it is longer.
std::string change_row(std::string_view head, std::string_view text, std::size_t width,
                       std::string_view numbers) {
  std::string out(head);
  std::size_t column = 0;
  bool first_line = true;
  const auto end_line = [&] {
    if (first_line) out += std::string(width - std::min(width, column), ' ') + std::string(numbers);
    first_line = false;
    out += '\n';
  };
  while (!text.empty()) {
    // A word longer than the row is broken.
    const std::size_t end = std::min({text.find(' '), text.size(), width - 2});
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > width) {
      end_line();
      out += std::string(head.size() + 2, ' ');
      column = 2;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    const bool broken = end < text.size() && text[end] != ' ';
    text.remove_prefix(std::min(end + (broken ? 0 : 1), text.size()));
  }
  end_line();
  return out;
}

/// A change in one line, or two: what, and how it is done.
std::string change_text(const advice::item& i) {
  std::string out = printable(i.what, 200);
  if (i.how.by == advice::doer::you && !i.how.text.empty())
    out += " (" + printable(i.how.text, 300) + ')';
  return out;
}

/// What is not worth doing, in a few words each.
std::string not_worth_text(const advice::advice_list& l) {
  std::vector<std::string> all;
  for (const advice::remark& r : l.not_worth)
    all.push_back(printable(r.brief.empty() ? std::string(r.kind) : r.brief, 200));
  if (l.small > 0)
    all.push_back(fmt::format("{} of less than 0.5 % each ({})", counted(l.small, "change"),
                              show_time(l.small_ns)));
  return fmt::format("{}", fmt::join(all, ", "));
}

/// What was not measured, and the command for what a user can decide by it.
std::string not_measured_lines(const advice::advice_list& l) {
  std::string out;
  for (const advice::question& q : l.not_measured) {
    if ((q.kind != "threads" && q.kind != "batch" && q.kind != "type") || q.command.empty())
      continue;
    out += wrapped("Not measured: ", printable(q.what, 300) + ". This does:");
    out += "    " + printable(q.command, 4000) + '\n';
  }
  return out;
}
} // namespace

std::string changes_table(const advice::advised& a) {
  const advice::advice_list& l = a.list;
  constexpr std::size_t width = columns - 3 - 20;
  const double run_ns = advice::changed_run_ns(a);
  std::string out;
  std::size_t shown = 0, of_part = 0, n = 0;
  if (l.items.empty() || l.items.front().how.by != advice::doer::you)
    out = wrapped("What you can do: ",
                  std::string("nothing that was measured") +
                      (a.frameworks.empty() && !model::is_training_step(*a.model->graph)
                           ? "; how far your framework is and why, its run beside "
                             "this says (below)."
                           : "."));
  for (const advice::item& i : l.items) {
    ++n;
    if (n == 1 || i.how.by != l.items[n - 2].how.by) {
      of_part = 0;
      const std::string title = part_title(a, i.how.by);
      out +=
          n == 1 ? fmt::format("{:<60} {:>9} {:>8}\n", title, "saves", "of a run") : title + '\n';
    }
    if (++of_part > most_changes) continue;
    ++shown;
    out += change_row(fmt::format("{:>2} ", n), change_text(i), width,
                      fmt::format(" {:>9} {:>9}", show_time(i.saves.ns),
                                  share_of_run(*a.model, i.saves.ns, run_ns)));
  }
  if (l.items.empty())
    out = wrapped("", "Nothing to change: no change that was looked at saves 0.5 % of a run.");
  if (l.items.size() > shown)
    out += fmt::format("   and {} more (--advice)\n", l.items.size() - shown);
  if (const std::string text = not_worth_text(l); !text.empty())
    out += wrapped("Not worth it: ", text + '.');
  return out + not_measured_lines(l);
}

} // namespace benanza::report
