// SPDX-License-Identifier: Apache-2.0
// benanza_analyze store runs|check|prune STORE: who measured what and when; is all of it what was
// written; and what is old is forgotten.
#include "../answer.hpp"
#include "all.hpp"

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/keeping.hpp>
#endif

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace benanza::analyzer {

namespace {
/// The words after `store`.
struct store_words {
  std::string store, system, before, format = "text";
  std::int64_t keep = 0;
  bool only_tell = false;
  bool json() const { return format == "json"; }
};
} // namespace

#ifdef BENANZA_WITH_STORE

namespace {
namespace rs = result::store;
using nlohmann::ordered_json;

std::string dump(const ordered_json& j) {
  return j.dump(2, ' ', true, ordered_json::error_handler_t::replace) + '\n';
}

std::string so_many(std::int64_t n, const char* what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

/// A date as runs have it: as given, or so many days ago (90d).
std::string begin_of(const std::string& asked) {
  int days = 0;
  const auto [end, bad] = std::from_chars(asked.data(), asked.data() + asked.size(), days);
  if (bad == std::errc{} && days >= 0 && end + 1 == asked.data() + asked.size() && *end == 'd') {
    using namespace std::chrono;
    const year_month_day day(floor<std::chrono::days>(system_clock::now()) -
                             std::chrono::days(days));
    return fmt::format("{:04}-{:02}-{:02}", int(day.year()), unsigned(day.month()),
                       unsigned(day.day()));
  }
  const bool date = asked.size() >= 10 && asked[4] == '-' && asked[7] == '-' &&
                    asked.find_first_not_of("0123456789-:T+") == std::string::npos;
  if (!date)
    throw error("\"" + asked + "\" is no date", "--older-than", "write 2026-01-31, or 90d");
  return asked;
}

status tell_runs(const store_words& asked, const streams& to) {
  const rs::store s(asked.store, rs::access::read);
  std::optional<std::int64_t> system;
  if (!asked.system.empty()) system = rs::choose_system(s, asked.system);
  const std::vector<rs::run_entry> runs = rs::runs_of(s, system);
  if (asked.json()) {
    ordered_json rows = ordered_json::array();
    for (const rs::run_entry& r : runs)
      rows.push_back({{"run", r.id},
                      {"date", r.date},
                      {"system", r.system},
                      {"machine", r.machine},
                      {"effort", name(r.reached)},
                      {"results", r.results},
                      {"models", r.models},
                      {"by", r.by}});
    write_stream(to.out, dump({{"store", s.path()}, {"runs", rows}}), "standard output");
    return status::complete;
  }
  std::string out = fmt::format("{:>5}  {:<19}  {:>6}  {:<26}  {:<10}  {:>7}  {}\n", "run", "date",
                                "system", "machine", "effort", "results", "models");
  for (const rs::run_entry& r : runs) {
    std::string models;
    for (std::size_t i = 0; i < r.models.size() && i < 2; ++i)
      models += (i == 0 ? "" : ", ") + printable(r.models[i], 40);
    if (r.models.size() > 2) models += fmt::format(" and {} more", r.models.size() - 2);
    if (!r.by.empty()) models += " (by " + printable(r.by, 60) + ')';
    if (models.empty()) models = "no model";
    out += fmt::format("{:>5}  {:<19}  {:>6}  {:<26}  {:<10}  {:>7}  {}\n", r.id,
                       printable(r.date.substr(0, 19)), r.system, printable(r.machine, 26),
                       name(r.reached), r.results, models);
  }
  write_stream(to.out, out, "standard output");
  return status::complete;
}

status check_store(const store_words& asked, const streams& to) {
  const rs::store s(asked.store, rs::access::read);
  const rs::findings f = rs::check_all(s);
  const bool whole = f.faults.empty();
  if (asked.json()) {
    write_stream(to.out,
                 dump({{"store", s.path()},
                       {"systems", f.systems},
                       {"runs", f.runs},
                       {"graphs", f.graphs},
                       {"results", f.results},
                       {"damaged_results", f.damaged},
                       {"whole", whole},
                       {"faults", f.faults}}),
                 "standard output");
  } else {
    std::string out = fmt::format("{}: {}, {}, {}, {}\n", printable(s.path()),
                                  so_many(f.systems, "system"), so_many(f.runs, "run"),
                                  so_many(f.graphs, "graph"), so_many(f.results, "result"));
    for (std::size_t i = 0; i < f.faults.size() && i < 20; ++i)
      out += "  " + printable(f.faults[i]) + '\n';
    if (f.faults.size() > 20) out += fmt::format("  and {} more\n", f.faults.size() - 20);
    if (f.damaged > 0) out += fmt::format("  {} damaged results are measured again\n", f.damaged);
    out += whole ? "all is what was written\n" : "";
    write_stream(to.out, out, "standard output");
  }
  if (whole) return status::complete;
  to.err << "benanza_analyze: the store does not hold what was written\n";
  return status::partial;
}

status prune_store(const store_words& asked, const streams& to) {
  rs::retention r{.keep = asked.keep};
  if (!asked.before.empty()) r.before = begin_of(asked.before);
  if (r.keep == 0 && r.before.empty())
    throw error("nothing says what is old", "store prune",
                "give --keep RUNS, --older-than DATE, or both");
  { // It is not made by this.
    const rs::store there(asked.store, rs::access::read);
  }
  const rs::store s(asked.store, rs::access::write);
  const rs::pruned gone = rs::prune(s, r, asked.only_tell);
  if (asked.json())
    write_stream(to.out,
                 dump({{"store", s.path()},
                       {"done", !asked.only_tell},
                       {"results", gone.results},
                       {"runs", gone.runs},
                       {"graphs", gone.graphs}}),
                 "standard output");
  else
    write_stream(to.out,
                 fmt::format("{}: {}: {}, {}, {}\n", printable(s.path()),
                             asked.only_tell ? "would be forgotten (--dry-run)" : "forgotten",
                             so_many(gone.results, "result"), so_many(gone.runs, "run"),
                             so_many(gone.graphs, "graph")),
                 "standard output");
  return status::complete;
}
} // namespace

#else

namespace {
[[noreturn]] status no_store(const store_words& asked) {
  throw error("this program was built without SQLite and reads no stores",
              result::store::shown(asked.store), "install libsqlite3-dev and build it again");
}
status tell_runs(const store_words& asked, const streams&) {
  no_store(asked);
}
status check_store(const store_words& asked, const streams&) {
  no_store(asked);
}
status prune_store(const store_words& asked, const streams&) {
  no_store(asked);
}
} // namespace

#endif

status keep_store(std::vector<std::string> arguments, const streams& to) {
  CLI::App app("What a team asks of its store, a file or postgresql://...: who measured what and\n"
               "when (runs), is all of it what was written (check; status 1 if not), and forget\n"
               "what newer runs have measured again (prune).",
               "benanza_analyze store");
  store_words asked;
  app.require_subcommand(1);
  const auto common = [&](const char* name, const char* about) {
    CLI::App* c = app.add_subcommand(name, about);
    c->add_option("store", asked.store, "the store: a file, or postgresql://...")->required();
    c->add_option("--format", asked.format, "text or json")->check(CLI::IsMember({"text", "json"}));
    return c;
  };
  CLI::App* runs = common("runs", "every run: when, where, of what, with how many results");
  runs->add_option("--system", asked.system, "of which system: a number, or latest");
  CLI::App* check = common("check", "reads all of it and compares it with its checksums");
  CLI::App* prune = common("prune", "forgets results of old runs that newer ones have as well");
  prune->add_option("--keep", asked.keep, "the newest so many runs of each system are not old")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
  prune->add_option("--older-than", asked.before, "what is older is old: 2026-01-31, or 90d");
  prune->add_flag("--dry-run", asked.only_tell, "only say what would be forgotten");
  if (const std::string told = parse_command(app, std::move(arguments)); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  return runs->parsed()    ? tell_runs(asked, to)
         : check->parsed() ? check_store(asked, to)
                           : prune_store(asked, to);
}

} // namespace benanza::analyzer
