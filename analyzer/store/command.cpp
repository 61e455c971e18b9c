// SPDX-License-Identifier: Apache-2.0
// benanza_analyze store runs|check|prune STORE: who measured what and when; is all of it what was
// written; and what is old is forgotten.
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../report/tables/page.hpp"
#include "../report/units.hpp"

#ifdef BENANZA_WITH_STORE
#include <benanza/result/store/keeping.hpp>
#endif

#include <fmt/format.h>
#include <range/v3/view/take.hpp>

#include <charconv>
#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
/// The words after `store`.
struct store_words {
  std::string store, system, before, format = "text", output;
  std::int64_t keep = 0;
  bool only_tell = false;
};
} // namespace

#ifdef BENANZA_WITH_STORE

namespace {
namespace rs = result::store;
using report::counted;
using report::tables::unit;
using report::tables::whole;

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
  report::tables::table all{.key = "runs",
                            .columns = {{"run", "run", unit::count},
                                        {"", "date"},
                                        {"date", ""},
                                        {"system", "system", unit::count},
                                        {"machine", "machine"},
                                        {"effort", "effort"},
                                        {"results", "results", unit::count},
                                        {"models", ""},
                                        {"by", ""},
                                        {"", "models"}}};
  for (const rs::run_entry& r : runs) {
    std::string some = join(r.models | ranges::views::take(2), ", ");
    if (r.models.size() > 2) some += fmt::format(" and {} more", r.models.size() - 2);
    if (some.empty()) some = "no model";
    if (!r.by.empty()) some += " (by " + r.by + ')';
    all.rows.push_back({whole(r.id), r.date.substr(0, 19), r.date, whole(r.system), r.machine,
                        std::string(name(r.reached)), whole(r.results), r.models, r.by, some});
  }
  report::tables::chapter out{.fields = {{"store", s.path()}}};
  out.add(std::move(all));
  deliver(to.out, asked.output, asked.format, out);
  return status::complete;
}

status check_store(const store_words& asked, const streams& to) {
  const rs::store s(asked.store, rs::access::read);
  const rs::findings f = rs::check_all(s);
  const bool fine = f.faults.empty();
  report::tables::chapter out{.fields = {{"store", s.path()},
                                         {"systems", whole(f.systems)},
                                         {"runs", whole(f.runs)},
                                         {"graphs", whole(f.graphs)},
                                         {"results", whole(f.results)},
                                         {"damaged_results", whole(f.damaged)},
                                         {"whole", fine},
                                         {"faults", f.faults}}};
  out.say(fmt::format("{}: {}, {}, {}, {}", s.path(), counted(f.systems, "system"),
                      counted(f.runs, "run"), counted(f.graphs, "graph"),
                      counted(f.results, "result")));
  report::tables::table faults{
      .columns = {{"", "not what was written"}}, .shown = 20, .all_by = "--format json"};
  for (const std::string& fault : f.faults)
    faults.rows.push_back({fault});
  out.add(std::move(faults));
  if (f.damaged > 0) out.say(fmt::format("{} damaged results are measured again", f.damaged));
  if (fine) out.say("all is what was written");
  deliver(to.out, asked.output, asked.format, out);
  if (fine) return status::complete;
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
  report::tables::chapter out{.fields = {{"store", s.path()},
                                         {"done", !asked.only_tell},
                                         {"results", whole(gone.results)},
                                         {"runs", whole(gone.runs)},
                                         {"graphs", whole(gone.graphs)}}};
  out.say(fmt::format("{}: {}: {}, {}, {}", s.path(),
                      asked.only_tell ? "would be forgotten (--dry-run)" : "forgotten",
                      counted(gone.results, "result"), counted(gone.runs, "run"),
                      counted(gone.graphs, "graph")));
  deliver(to.out, asked.output, asked.format, out);
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
    add_output(*c, asked.format, asked.output);
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
