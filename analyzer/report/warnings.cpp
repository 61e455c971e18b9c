// SPDX-License-Identifier: Apache-2.0
#include "warnings.hpp"

#include "layers.hpp"
#include "memory.hpp"
#include "units.hpp"

#include <benanza/bound/faults.hpp>
#include <fmt/format.h>
#include <range/v3/algorithm/contains.hpp>
#include <range/v3/algorithm/find_if.hpp>
#include <range/v3/view/remove_if.hpp>
#include <range/v3/view/transform.hpp>

#include <iterator>
#include <map>
#include <set>
#include <utility>

namespace benanza::report {

std::string left_out(std::size_t limit, std::size_t all, std::string_view what) {
  if (limit >= all) return {};
  return fmt::format("        and {} more {} (--layers all shows them)\n", all - limit, what);
}

namespace {
/// Messages of a kind that a page shows at most.
constexpr std::size_t most_messages = 20;
} // namespace

std::string messages(std::string_view mark, const std::vector<std::string>& all) {
  std::string out;
  for (const std::string& text : first_of(all, most_messages))
    out += wrapped(mark, printable(text));
  if (all.size() > most_messages)
    out += wrapped(mark, fmt::format("and {} more.", all.size() - most_messages));
  return out;
}

std::string some_of(const std::vector<std::string>& names, std::size_t limit) {
  const auto shown = first_of(names, limit) |
                     ranges::views::transform([](const std::string& n) { return printable(n); }) |
                     ranges::to<std::vector>;
  std::string out = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > limit)
    out += fmt::format("{}{} more", shown.empty() ? "" : " and ", names.size() - limit);
  return out;
}

namespace {
std::string zero_cost(const bound::model_bound& b) {
  std::vector<std::string> names;
  for (const auto& [op, n] : views(b))
    names.push_back(fmt::format("{} {}", n, op));
  if (names.empty()) return {};
  return wrapped("- ", fmt::format("Views cost nothing: {}.", fmt::join(names, ", ")));
}
} // namespace

std::string unmeasured(std::string_view what, const std::vector<bound::hole>& holes,
                       std::string_view rows, std::size_t limit) {
  if (holes.empty()) return {};
  std::string out = wrapped("! ", what);
  for (const bound::hole& h : first_of(holes, limit))
    out += wrapped(fmt::format("{:>6} x ", h.nodes),
                   fmt::format("{}: {}", printable(h.name), printable(h.reason)));
  return out + left_out(limit, holes.size(), rows);
}

missing_kinds kinds_of_missing(const bound::model_bound& b) {
  const std::set<std::string> missing(b.missing.begin(), b.missing.end());
  missing_kinds out;
  for (const bound::layer_answer& l : b.layers) {
    if (!missing.contains(l.name)) continue;
    if (l.timed() && l.left > 0)
      ++out.in_part;
    else if (l.uses == 0)
      ++out.fused;
    else if (l.timed())
      ++out.other_type;
  }
  for (const std::string& l : b.missing)
    if (l.starts_with("reorder/") && out.reorders++ == 0)
      out.reorder = l;
    else if (l.starts_with("machine/"))
      ++out.of_machine;
  return out;
}

namespace {
/// The commands that measure all that is missing: one, or, where its filter is too long to copy,
/// before it one that writes this to a file. Empty: nothing is missing.
std::vector<std::string> missing_commands(const bound::model_bound& b) {
  constexpr std::size_t longest = 800;
  std::string command = b.missing_command;
  if (command.empty()) return {};
  const std::string_view filter = "--benchmark_filter='";
  const std::size_t from = command.find(filter);
  if (command.size() <= longest || from == std::string::npos) return {command};
  command.replace(from, command.rfind('\'') + 1 - from,
                  "--benchmark_filter=\"$(cat missing.txt)\"");
  return {"benanza_analyze RESULT --missing missing.txt", command};
}
} // namespace

std::string missing_line(const bound::model_bound& b) {
  return fmt::format("{}", fmt::join(missing_commands(b), " && "));
}

namespace {
/// The command that measures all that is missing, with what to do then.
std::string measure_missing(const bound::model_bound& b) {
  const std::vector<std::string> commands = missing_commands(b);
  if (commands.empty()) return {};
  std::string out =
      wrapped("! ", commands.back().ends_with(bound::missing_file)
                        ? "This measures all that is missing; then analyse its result "
                          "together with this one."
                        : "This measures all that is missing.");
  for (const std::string& c : commands)
    out += "    " + printable(c, std::size_t{1} << 14) + '\n';
  return out;
}
} // namespace

std::string faults(const bound::model_bound& b, std::size_t limit) {
  std::map<std::string, std::vector<std::string>> by_kind;
  for (const bound::fault& f : b.faults)
    by_kind[f.what].push_back(f.name);
  std::string out;
  for (const auto& [what, names] : by_kind)
    out += wrapped("! ", fmt::format("Measuring fault: {}: {}. Measure again on a quiet machine.",
                                     what, some_of(names, limit)));
  return out;
}

std::string lacks(const bound::model_bound& b) {
  const bound::coverage& c = b.covered;
  std::vector<std::string> all;
  const auto add = [&](std::int64_t n, const std::string& what) {
    if (n > 0) all.push_back(what);
  };
  const auto were = [](std::int64_t n) { return n == 1 ? "was" : "were"; };
  add(c.missing_nodes, fmt::format("{} of {} {} no time", c.missing_nodes, counted(c.nodes, "node"),
                                   c.missing_nodes == 1 ? "has" : "have"));
  add(c.modelled_nodes,
      fmt::format("{} of {} {} not measured: {} of the bound is modelled", c.modelled_nodes,
                  counted(c.nodes, "node"), were(c.modelled_nodes), percent(c.modelled)));
  const missing_kinds k = kinds_of_missing(b);
  add(k.other_type, fmt::format("{} {} not measured in {}", counted(k.other_type, "layer"),
                                were(k.other_type), name(b.type)));
  add(k.fused, fmt::format("{} {} not measured", counted(k.fused, "fused layer"), were(k.fused)));
  add(k.reorders,
      fmt::format("{} {} not measured", counted(k.reorders, "reorder"), were(k.reorders)));
  add(k.in_part, fmt::format("{} of {} {} not measured", counted(b.left(), "case"),
                             counted(k.in_part, "layer"), were(b.left())));
  add(b.machine_left, fmt::format("{} of the machine's limits {} not measured",
                                  counted(b.machine_left, "case"), were(b.machine_left)));
  add(b.lost(), fmt::format("{} failed", counted(b.lost(), "case")));
  add(std::ssize(b.failed_runs), "the run of the whole model failed");
  return fmt::format("{}", fmt::join(all, "; "));
}

std::string what_is_missing(const bound::model_bound& b, std::size_t limit) {
  return unmeasured("Partial: these nodes were not measured, and their rooflines stand for "
                    "them; real algorithms are slower.",
                    b.covered.rooflines, "layers", limit) +
         unmeasured(b.has_bound() ? "Partial: these nodes have no time, so the figures are too low."
                                  : "Partial: none of these nodes has a time, so there are no "
                                    "figures.",
                    b.covered.holes, "holes", limit) +
         measure_missing(b);
}

std::vector<std::string> head_remarks(const bound::model_bound& b) {
  std::vector<std::string> out;
  if (model::is_training_step(*b.graph) && !b.graph->assumptions.empty())
    out.push_back(b.graph->assumptions.back());
  if (std::string wider = bound::wider_type(b); !wider.empty()) out.push_back(std::move(wider));
  for (std::string& remark : memory_remarks(b))
    out.push_back(std::move(remark));
  return out;
}

std::string warnings(const bound::model_bound& b, std::size_t limit, bool after_screen) {
  const std::vector<std::string> said = after_screen ? head_remarks(b) : std::vector<std::string>{};
  std::string out = zero_cost(b);
  if (b.graph != nullptr)
    out += messages(
        "- ", b.graph->assumptions | ranges::views::remove_if([&](const std::string& line) {
                return ranges::contains(said, line);
              }) | ranges::views::transform([](const std::string& line) { return line + '.'; }) |
                  ranges::to<std::vector>);
  const auto warn = [&](std::string_view text) { out += wrapped("! ", text); };

  const std::vector<std::string> other = names_of(
      b, [](const bound::layer_answer& l) { return l.rests_on == bound::basis::other_type; });
  if (!other.empty())
    warn(fmt::format("Not measured in {}, so taken in {}: {}.", name(b.type), name(b.graph->type),
                     some_of(other, limit)));
  for (const std::string& note : b.notes)
    if (!ranges::contains(said, note)) warn(printable(note) + '.');
  out += faults(b, limit);
  const std::pair<bound::roofline_for, std::string> reasons[] = {
      {bound::roofline_for::slow_kernels,
       fmt::format("run only by plain kernels, at over {:g} times their rooflines",
                   bound::slow_kernel)},
      {bound::roofline_for::rounding,
       "multiply weights in codes, beside which frameworks may round activations"},
      {bound::roofline_for::appending,
       "copy a cache to append to it, which frameworks may do in place"}};
  for (const auto& [reason, text] : reasons) {
    const auto is_meant = [why = reason](const bound::layer_answer& l) {
      return l.algorithms.why_roofline == why && l.uses > 0;
    };
    const std::vector<std::string> names = names_of(b, is_meant);
    if (names.empty()) continue;
    std::int64_t nodes = 0;
    for (const bound::layer_answer& l : b.layers)
      nodes += is_meant(l) ? l.uses : 0;
    out += wrapped("- ", fmt::format("{} {}: their rooflines stand in the bound: {}.",
                                     counted(nodes, "node"), text, some_of(names, limit)));
  }
  if (b.fused && b.fused->not_measured > 0)
    warn(fmt::format("{} of {} that can be fused were not measured fused: taken as their parts.",
                     b.fused->not_measured, counted(b.fused->fused_nodes, "group")));
  if (const missing_kinds k = kinds_of_missing(b); k.reorders > 0)
    warn(fmt::format("{} that the model's layouts may need {} not measured, such as {}: no figures "
                     "with layouts paid for.",
                     counted(k.reorders, "reorder"), k.reorders == 1 ? "was" : "were", k.reorder));
  if (const auto n = b.failed() - std::ssize(b.failed_runs); n > 0) {
    const auto first = ranges::find_if(
        b.layers, [](std::int64_t failed) { return failed > 0; }, &bound::layer_answer::failed);
    warn(fmt::format("{} failed, such as one of {}: {}.", counted(n, "case"), first->name,
                     printable(first->reason)));
  }
  if (const auto rows = disturbed(b); !rows.empty())
    warn(fmt::format(
        "Disturbed while measured: {}, such as {}: {}. Measure again on a quiet machine.",
        counted(std::ssize(rows), "layer"), rows.front().first, printable(rows.front().second)));
  return out + what_is_missing(b, limit);
}

} // namespace benanza::report
