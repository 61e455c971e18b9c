// SPDX-License-Identifier: Apache-2.0
// benanza_analyze compare OLD NEW: what became faster, what slower, and what can explain it? Sides
// are result files and stores, or two systems, or two spans of time, of one store.
#include "../answer.hpp"
#include "../command_options.hpp"
#include "answer.hpp"
#include "compared.hpp"
#include "junit.hpp"
#include "text.hpp"

#include <benanza/compare/compare.hpp>
#include <benanza/compare/framework_runs.hpp>
#include <benanza/result/reader.hpp>
#include <benanza/result/store_address.hpp>
#include <benanza/trace/profile/read_profile.hpp>

#include <charconv>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
struct compare_request {
  std::vector<std::string> sides{}, more_old{}, more_new{};
  std::string system{}, against{}, since{}, device{};
  selection wanted{};
  std::string min_change = "2%", within = "5%", chance = "5%", format = "text", rows = "10",
              output{};
  bool strict = false, in_turns = false;
};

/// A share as the command line has it: 2%, 0.5%.
double share_of(const std::string& text, const char* option) {
  double percent = 0;
  const char* const last = text.data() + text.size();
  const auto [end, bad] = std::from_chars(text.data(), last, percent);
  if (bad != std::errc{} || std::string_view(end, last) != "%" || !(percent >= 0 && percent < 100))
    throw error("a share from 0% to below 100% is needed, not \"" + text + '"', option,
                std::string("write ") + option + " 2%");
  return percent / 100;
}

void add_file(std::vector<result::run>& runs, const std::string& path, const std::string& system,
              const std::string& model) {
  if (!is_store(path)) {
    runs.push_back(result::read_file(path));
    return;
  }
  std::vector<result::run> its = runs_in_store(path, system, model);
  runs.insert(runs.end(), std::make_move_iterator(its.begin()), std::make_move_iterator(its.end()));
}

std::string date_of(const result::run& r) {
  const auto measuring = r.provenance.find("measuring");
  if (measuring == r.provenance.end() || !measuring->second.contains("date")) return {};
  return measuring->second.at("date");
}

/// The two sides of one store.
std::pair<side_runs, side_runs> in_one_store(const compare_request& asked) {
  const std::string& path = asked.sides.front();
  const std::string named = result::store::shown(path);
  if (!is_store(path))
    throw error("a second result is needed to compare with", named,
                "benanza_analyze compare OLD NEW; only a store holds both");
  if (!asked.since.empty()) {
    if (!asked.against.empty())
      throw error("--since splits the runs of one system, --against names a second one",
                  asked.against, "give one of them");
    std::vector<result::run> before = runs_in_store(path, asked.system, asked.wanted.model), after;
    for (result::run& r : before)
      if (date_of(r) >= asked.since) after.push_back(std::move(r));
    std::erase_if(before, [](const result::run& r) { return r.measurements.empty(); });
    if (before.empty() || after.empty())
      throw error(std::string("the store holds no run ") + (before.empty() ? "before" : "since") +
                      " that time",
                  "--since " + asked.since, "dates are written as 2026-11-27T08:00");
    return {made(named + " before " + asked.since, std::move(before), asked.device),
            made(named + " since " + asked.since, std::move(after), asked.device)};
  }
  std::string old_system = asked.system, new_system = asked.against;
  if (old_system.empty() && new_system.empty())
    if (const std::vector<std::string> all = systems_in_store(path); all.size() == 2) {
      old_system = all[0];
      new_system = all[1];
    }
  if (old_system.empty() || new_system.empty()) {
    if (const std::vector<std::string> all = systems_in_store(path); all.size() == 1)
      throw error("the store holds one system", named,
                  "split its runs by --since DATE, or name a second result");
    if (old_system.empty() && new_system.empty())
      (void)runs_in_store(path, "", asked.wanted.model); // says which systems there are
    throw error("which two systems?", named, "--system OLD --against NEW");
  }
  if (old_system == new_system)
    throw error("a system is compared with itself", "--system " + old_system,
                "name another one with --against");
  return {made(named + " system " + old_system, runs_in_store(path, old_system, asked.wanted.model),
               asked.device),
          made(named + " system " + new_system, runs_in_store(path, new_system, asked.wanted.model),
               asked.device)};
}

/// The files of both sides.
using files_of_sides = std::pair<std::vector<std::string>, std::vector<std::string>>;
files_of_sides named_files(const compare_request& asked) {
  if (asked.sides.size() > 2)
    throw error("more than two sides are named", result::store::shown(asked.sides[2]),
                "further results of a side go behind --old or --new");
  std::vector<std::string> before = asked.more_old, after = asked.more_new;
  if (!asked.sides.empty()) before.insert(before.begin(), asked.sides.front());
  if (asked.sides.size() > 1) after.insert(after.begin(), asked.sides[1]);
  if (before.empty() || after.empty())
    throw error("two sides are needed", "compare", "benanza_analyze compare OLD NEW");
  if (!asked.since.empty())
    throw error("--since splits one store", asked.since, "name that store alone");
  return {std::move(before), std::move(after)};
}

/// `a.json and 2 others`.
std::string source_of(const std::vector<std::string>& files) {
  const std::string first = result::store::shown(files.front());
  if (files.size() == 1) return first;
  return first + " and " + std::to_string(files.size() - 1) +
         (files.size() == 2 ? " other" : " others");
}

compare::comparison of_results(const compare_request& asked, const compare::limits& limits) {
  auto sides = [&] {
    if (asked.sides.size() == 1 && asked.more_old.empty() && asked.more_new.empty())
      return in_one_store(asked);
    const auto side = [&](const std::vector<std::string>& files, const std::string& system) {
      std::vector<result::run> runs;
      for (const std::string& f : files)
        add_file(runs, f, system, asked.wanted.model);
      return made(source_of(files), std::move(runs), asked.device);
    };
    const auto [before, after] = named_files(asked);
    return std::pair{side(before, asked.system), side(after, asked.against)};
  }();
  return compare::compare(figures_of(sides.first, asked.wanted),
                          figures_of(sides.second, asked.wanted), limits);
}

/// Is one of the files a framework's? Then all have to be.
bool of_a_framework(const compare_request& asked) {
  for (const auto* files : {&asked.sides, &asked.more_old, &asked.more_new})
    for (const std::string& f : *files)
      if (!is_store(f) && trace::is_profile(f)) return true;
  return false;
}

/// Files of measure_framework, or of a framework's profiler.
compare::comparison of_frameworks(const compare_request& asked, const compare::limits& limits) {
  for (const auto& [option, given] : {std::pair("--system", &asked.system),
                                      {"--against", &asked.against},
                                      {"--model", &asked.wanted.model},
                                      {"--device", &asked.device}})
    if (!given->empty())
      throw error("it chooses among the results of a store or a file, and these are runs of a "
                  "framework",
                  option, "leave it out");
  if (!asked.wanted.type.empty() || asked.wanted.threads)
    throw error("a framework's run is of one type and number of threads", "--type and --threads",
                "leave them out");
  const auto side = [](const std::vector<std::string>& files) {
    compare::framework_side out{.source = source_of(files), .visits = {}};
    for (const std::string& f : files)
      out.visits.push_back(trace::read_profile_file(f));
    return out;
  };
  const auto [before, after] = named_files(asked);
  return compare::compare_runs(side(before), side(after), limits);
}

/// Empty: the request is read; else what --help prints.
std::string parse_compare(std::vector<std::string> arguments, compare_request& asked) {
  CLI::App app("What became faster or slower, and what can explain it? Status 0 same or faster,\n"
               "3 slower, 2 not comparable.",
               "benanza_analyze compare");
  app.add_option("sides", asked.sides,
                 "OLD NEW: results of benanza_bench or stores, or a framework's runs; or one store "
                 "that holds both");
  app.add_option("--old", asked.more_old, "a further result of the old side: another visit")
      ->allow_extra_args(false);
  app.add_option("--new", asked.more_new, "a further result of the new side")
      ->allow_extra_args(false);
  app.add_option("--system", asked.system, "the old side's system of a store: a number, or latest");
  app.add_option("--against", asked.against, "the new side's");
  app.add_option("--since", asked.since,
                 "of one store: runs since that date against those before it");
  app.add_option("--model", asked.wanted.model,
                 "only models of this name, or with it in their name");
  app.add_option("--type", asked.wanted.type, "only this type: f32, bf16, u8s8u8 ...");
  app.add_option("--threads", asked.wanted.threads, "only times on so many threads");
  app.add_option("--device", asked.device, "cpu or gpu, where a result holds times of both")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--min-change", asked.min_change, "a change of less is none (2%)");
  app.add_option("--within", asked.within, "SAME rules out a change of more than this (5%)");
  app.add_option("--chance", asked.chance,
                 "of one SLOWER or FASTER or more where nothing changed, in each table (5%)");
  app.add_option("--rows", asked.rows, "rows of a table: a number (10), or all");
  add_output(app, asked.format, asked.output, "junit");
  app.add_flag("--in-turns", asked.in_turns,
               "the sides were measured in turns: old and new results in their order are pairs");
  app.add_flag("--strict", asked.strict, "status 1 where a model's figure is UNSURE");
  return parse_command(app, std::move(arguments));
}
} // namespace

status compare_results(std::vector<std::string> arguments, const streams& to) {
  compare_request asked;
  if (const std::string told = parse_compare(std::move(arguments), asked); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  const std::size_t rows = layer_limit(asked.rows, "--rows");
  const compare::limits limits{.min_change = share_of(asked.min_change, "--min-change"),
                               .within = share_of(asked.within, "--within"),
                               .chance = share_of(asked.chance, "--chance"),
                               .in_turns = asked.in_turns};
  const compare::comparison c =
      of_a_framework(asked) ? of_frameworks(asked, limits) : of_results(asked, limits);
  if (asked.format == "text")
    deliver(to.out, asked.output, asked.format, report::comparison_text(c, rows));
  else if (asked.format == "junit")
    deliver(to.out, asked.output, asked.format, report::comparison_junit(c));
  else
    deliver(to.out, asked.output, asked.format, report::comparison_answer(c, rows));
  if (c.worst() == compare::verdict::slower) {
    to.err << "benanza_analyze: slower\n";
    return status::broken;
  }
  if (!c.unsure()) return status::complete;
  to.err << "benanza_analyze: unsure: more visits, or a quieter machine, would tell\n";
  return asked.strict ? status::partial : status::complete;
}

} // namespace benanza::analyzer
