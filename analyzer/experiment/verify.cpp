// SPDX-License-Identifier: Apache-2.0
// benanza_analyze verify RUN.json: do the figures that a bound rests on hold here? A random sample
// of these cases is measured again by the benchmark program at hand, at most a minute of it, and
// compared with the result at one clock. What rests on no case is reported too.
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../read_results.hpp"
#include "../report/tables/page.hpp"
#include "../select.hpp"

#include <CLI/CLI.hpp>
#include <benanza/bound/answers.hpp>
#include <benanza/result/backends.hpp>
#include <benanza/result/device.hpp>
#include <benanza/result/graph_file.hpp>
#include <benanza/result/reader.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

extern char** environ;

namespace benanza::analyzer {

namespace {

/// The case that a layer's bound rests on; null: none.
const bound::measurement* case_of(const bound::layer_answer& l) {
  return l.algorithms.bound_from_roofline() ? nullptr : l.algorithms.best;
}

/// The cases that the bounds of some models rest on, each once.
std::vector<const bound::measurement*> cases_of(const std::vector<bound::model_bound>& models) {
  std::set<std::string> seen;
  std::vector<const bound::measurement*> out;
  for (const bound::model_bound& b : models)
    for (const bound::layer_answer& l : b.layers)
      if (const bound::measurement* m = case_of(l); m != nullptr && seen.insert(m->name).second)
        out.push_back(m);
  return out;
}

/// What cannot be checked by measuring again: layers whose bound is a roofline, or that have none.
/// Views take no time.
struct beyond_reach {
  std::size_t modelled = 0, missing = 0, layers = 0;
  double modelled_ns = 0, ns = 0; ///< by all nodes of the models, unfused
};

beyond_reach beyond(const std::vector<bound::model_bound>& models) {
  beyond_reach out;
  std::set<std::string> seen;
  for (const bound::model_bound& b : models)
    for (const bound::layer_answer& l : b.layers) {
      if (l.rests_on == bound::basis::view) continue;
      const double ns = l.known() ? static_cast<double>(l.uses) * l.algorithms.bound.ns : 0;
      const bool modelled = l.known() && case_of(l) == nullptr;
      out.ns += ns;
      if (modelled) out.modelled_ns += ns;
      if (!seen.insert(l.name + '/' + std::string(name(l.type)) + '/' + std::to_string(b.threads))
               .second)
        continue;
      ++out.layers;
      out.modelled += modelled;
      out.missing += !l.known();
    }
  return out;
}

/// `count` of them, each as likely as others, by a seed.
std::vector<const bound::measurement*> drawn(std::vector<const bound::measurement*> all,
                                             std::size_t count, std::uint64_t seed) {
  bound::generator random{seed};
  for (std::size_t i = 0; i < std::min(count, all.size()); ++i)
    std::swap(all[i], all[i + random() % (all.size() - i)]);
  all.resize(std::min(count, all.size()));
  return all;
}

/// A folder that is gone afterwards.
struct scratch_folder {
  std::string path{};
  scratch_folder() {
    std::error_code bad;
    path = (std::filesystem::temp_directory_path(bad) / "benanza-verify-XXXXXX").string();
    if (bad)
      throw error("the folder for what is temporary: " + bad.message(), "TMPDIR",
                  "name another one");
    if (mkdtemp(path.data()) == nullptr)
      throw error(std::string("no folder can be made: ") + std::strerror(errno), path);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;
  ~scratch_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

/// The benchmark program: as it was named, next to this program, or on the path.
std::string bench_program(const std::string& asked) {
  if (!asked.empty()) return asked;
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const auto beside = here / "benanza_bench";
  return std::filesystem::exists(beside, ignored) ? beside.string() : "benanza_bench";
}

/// Runs a program, with its messages in a file; its exit status, or -1.
int run_program(const std::vector<std::string>& words, const std::string& messages) {
  std::vector<char*> values;
  for (const std::string& w : words)
    values.push_back(const_cast<char*>(w.c_str()));
  values.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDERR_FILENO, messages.c_str(),
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int bad = posix_spawnp(&child, values[0], &files, nullptr, values.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (bad != 0)
    throw error(std::string("the benchmark program cannot be started: ") + std::strerror(bad),
                words[0], "name it with --bench");
  int ended = 0;
  while (waitpid(child, &ended, 0) < 0 && errno == EINTR)
    ;
  return WIFEXITED(ended) ? WEXITSTATUS(ended) : -1;
}

std::string last_line(const std::string& path) {
  std::ifstream in(path);
  std::string line, last;
  while (std::getline(in, line))
    if (!line.empty()) last = line;
  return last;
}

/// What measures some cases again.
std::vector<std::string> command_for(const std::vector<const bound::measurement*>& cases,
                                     const std::string& program, const std::string& folder) {
  std::set<std::string> types, states, backends;
  std::set<int> threads;
  std::string filter;
  for (const bound::measurement* m : cases) {
    types.insert(m->type);
    states.insert(m->state);
    threads.insert(m->threads);
    backends.insert(m->backend);
    filter += (filter.empty() ? "^(" : "|") + bound::as_pattern(m->name);
  }
  return {program,
          "--graphs",
          folder + "/graphs.json",
          "--types",
          join(types, ","),
          "--threads",
          fmt::format("{}", fmt::join(threads, ",")),
          "--states",
          join(states, ","),
          "--backends",
          join(backends, ","),
          "--all",
          "--quiet",
          "--benchmark_filter=" + filter + ")$",
          "--benchmark_out=" + folder + "/again.json"};
}

/// A case, as it was and as it is here.
struct verified_case {
  const bound::measurement* was = nullptr;
  double now_ns = 0; ///< 0: not measured
  double ratio = 0;  ///< at one clock
  std::string disturbed{}, error{};
};

/// Within which a least time is reproduced on the same machine.
constexpr double tolerance = 0.05;

bool holds(const verified_case& c) {
  return c.now_ns > 0 && std::abs(c.ratio - 1) <= tolerance;
}

/// With 95 % confidence at least this share of all cases holds, where `good` of `tried` do (Clopper
/// and Pearson).
double least_share(std::size_t good, std::size_t tried) {
  if (good == 0 || tried == 0) return 0;
  double low = 0, high = 1;
  for (int i = 0; i < 60; ++i) {
    const double p = (low + high) / 2;
    double at_least = 0; // so many hold by chance
    for (std::size_t k = good; k <= tried; ++k) {
      const auto n = static_cast<double>(tried), x = static_cast<double>(k);
      at_least += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                           x * std::log(p) + (n - x) * std::log1p(-p));
    }
    (at_least < 0.05 ? low : high) = p;
  }
  return low;
}

struct verdict_of_run {
  std::vector<verified_case> cases;
  std::size_t of = 0; ///< cases that the bounds rest on
  std::size_t good = 0, measured = 0;
  beyond_reach beyond{};
  std::string machine; ///< in which fact this machine is another one; empty: in none
  double median_ratio = 0;
};

report::tables::table table_of(const std::vector<verified_case>& all) {
  using report::tables::cell;
  using report::tables::unit;
  report::tables::table out{.key = "cases",
                            .columns = {{"name", "case, least times", unit::name},
                                        {"claimed_ns", "claimed", unit::time},
                                        {"ns", "here", unit::time},
                                        {"ratio_at_one_clock", "ratio", unit::factor},
                                        {"", ""},
                                        {"holds", "", unit::flag},
                                        {"disturbed", ""},
                                        {"error", ""}}};
  for (const verified_case& c : all) {
    const bool tried = c.now_ns > 0;
    out.rows.push_back({c.was->name, c.was->min_ns, report::tables::above_zero(c.now_ns),
                        tried ? cell(c.ratio) : cell(),
                        !tried        ? "not measured: " + c.error
                        : holds(c)    ? std::string()
                        : c.ratio > 1 ? std::string("SLOWER")
                                      : std::string("FASTER"),
                        holds(c), c.disturbed, c.error});
  }
  return out;
}

report::tables::chapter answer_of(const verdict_of_run& v) {
  using report::tables::whole;
  report::tables::chapter out;
  out.add(table_of(v.cases));
  const double sure = least_share(v.good, v.measured);
  const double modelled = v.beyond.ns > 0 ? v.beyond.modelled_ns / v.beyond.ns : 0;
  if (v.measured == 0)
    out.say(fmt::format("none of {} drawn from {} could be measured here", v.cases.size(), v.of));
  else
    out.say(fmt::format("{} of {} drawn from {} hold within {:.0f} % at one clock; median ratio "
                        "{:.3f}; with 95 % confidence at least {:.0f} % of all do",
                        v.good, v.measured, v.of, 100 * tolerance, v.median_ratio, 100 * sure));
  if (v.beyond.modelled > 0)
    out.say(fmt::format("Not checked: {} of {} layers, {:.1f} % of the time of all nodes, rest on "
                        "rooflines, which no case can confirm.",
                        v.beyond.modelled, v.beyond.layers, 100 * modelled));
  if (v.beyond.missing > 0)
    out.say(fmt::format("Not checked: {} of {} layers have no time in this result.",
                        v.beyond.missing, v.beyond.layers));
  if (!v.machine.empty()) out.say("This is another machine: " + v.machine + ".");
  out.fields = {{"drawn_from", whole(v.of)},
                {"measured", whole(v.measured)},
                {"hold", whole(v.good)},
                {"tolerance", tolerance},
                {"median_ratio", v.median_ratio},
                {"least_share_with_95_percent", sure},
                {"layers", whole(v.beyond.layers)},
                {"layers_by_rooflines", whole(v.beyond.modelled)},
                {"layers_without_a_time", whole(v.beyond.missing)},
                {"share_of_time_by_rooflines", modelled},
                {"other_machine", v.machine}};
  return out;
}

/// In which fact the machine of `again` differs; empty: in none.
std::string other_machine(const result::run& was, const result::run& again) {
  const auto a = was.provenance.find(result::machine_section),
             b = again.provenance.find(result::machine_section);
  if (a == was.provenance.end() || b == again.provenance.end()) return {};
  for (const auto& [fact, value] : a->second) {
    const auto its = b->second.find(fact);
    const std::string here = its == b->second.end() ? "not told" : its->second;
    if (here != value) return fact + " was \"" + value + "\" and is \"" + here + '"';
  }
  return {};
}

/// The result of measuring some cases again, which one command line can name.
result::run measure_at_once(const std::vector<const bound::measurement*>& cases,
                            const std::string& program, const std::string& folder) {
  const std::string messages = folder + "/messages", out = folder + "/again.json";
  std::error_code ignored;
  std::filesystem::remove(out, ignored);
  const int ended = run_program(command_for(cases, program, folder), messages);
  if ((ended != 0 && ended != 1) || !std::filesystem::exists(out, ignored))
    throw error("the benchmark program failed: " + printable(last_line(messages), 300), program,
                "try it by hand, or name another one with --bench");
  result::run again = result::read_file(out);
  result::keep_device(again, result::device_of(*cases.front()));
  return again;
}

/// The same of any number of cases, in several turns.
result::run measure_again(const std::vector<const bound::measurement*>& cases,
                          const std::string& program, const std::string& folder) {
  constexpr std::size_t longest_word = 100'000; // Linux takes one of 128 KiB
  result::run all;
  for (std::size_t next = 0; next < cases.size();) {
    std::vector<const bound::measurement*> some;
    std::size_t letters = 0;
    for (; next < cases.size(); some.push_back(cases[next++]))
      if (letters += bound::as_pattern(cases[next]->name).size() + 1;
          letters > longest_word && !some.empty())
        break;
    result::run again = measure_at_once(some, program, folder);
    if (all.measurements.empty())
      all = std::move(again);
    else
      std::move(again.measurements.begin(), again.measurements.end(),
                std::back_inserter(all.measurements));
  }
  return all;
}

/// A case, and what it is in another result.
verified_case held_against(const bound::measurement& was, const result::run& again) {
  verified_case c;
  c.was = &was;
  c.error = "this program does not offer it";
  for (const result::measurement& now : again.measurements) {
    if (result::identity(now) != result::identity(was)) continue;
    c.error = now.error;
    if (!now.error.empty()) return c;
    c.now_ns = now.min_ns;
    c.disturbed = now.disturbed;
    const bool clocks = was.min_clock_ns > 0 && now.min_clock_ns > 0;
    c.ratio = now.min_ns * (clocks ? was.min_clock_ns / now.min_clock_ns : 1) / was.min_ns;
  }
  return c;
}
} // namespace

status verify_result(std::vector<std::string> arguments, const streams& to) {
  CLI::App app("Do the figures that a bound rests on hold on this machine? Measures a random\n"
               "sample of its cases again. Status 1 where fewer than nine of ten hold.",
               "benanza_analyze verify");
  std::string file, program, device, format = "text", output;
  selection wanted;
  std::size_t count = 20;
  std::uint64_t seed = 1;
  app.add_option("result", file, "a result of benanza_bench")->required();
  app.add_option("--model", wanted.model, "only of models of this name, or with it in their name");
  app.add_option("--device", device, "cpu or gpu, where the result holds times of both")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--cases", count, "how many are drawn (20)")->check(CLI::Range(1, 100'000));
  app.add_option("--seed", seed, "another one draws others (1)");
  app.add_option("--bench", program, "the benchmark program; the one beside this by default");
  add_output(app, format, output);
  if (const std::string told = parse_command(app, std::move(arguments)); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  result::run run = result::read_file(file);
  result::leave_out_frameworks(run);
  choose_device(run, device);
  if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
  const bound::source source(run);
  const std::vector<bound::model_bound> models = select(source, wanted);
  const std::vector<const bound::measurement*> all = cases_of(models);
  if (all.empty())
    throw error("no bound here rests on a case that could be measured again", file,
                "give a result with times of layers");
  verdict_of_run v;
  v.beyond = beyond(models);
  v.of = all.size();
  const std::vector<const bound::measurement*> chosen = drawn(all, count, seed);

  const scratch_folder folder;
  write_file(folder.path + "/graphs.json", result::to_text({.graphs = run.graphs, .known = {}}));
  const result::run again = measure_again(chosen, bench_program(program), folder.path);
  v.machine = other_machine(run, again);
  for (const bound::measurement* m : chosen)
    v.cases.push_back(held_against(*m, again));
  // What was there only for a moment does not recur.
  std::vector<const bound::measurement*> doubtful;
  for (const verified_case& c : v.cases)
    if (c.now_ns > 0 && !holds(c)) doubtful.push_back(c.was);
  if (!doubtful.empty()) {
    const result::run once_more = measure_again(doubtful, bench_program(program), folder.path);
    for (verified_case& c : v.cases)
      if (c.now_ns > 0 && !holds(c))
        if (verified_case next = held_against(*c.was, once_more);
            next.now_ns > 0 && std::abs(next.ratio - 1) < std::abs(c.ratio - 1))
          c = std::move(next);
  }
  std::vector<double> ratios;
  for (const verified_case& c : v.cases) {
    v.good += holds(c);
    if (c.now_ns > 0) ratios.push_back(c.ratio);
  }
  v.measured = ratios.size();
  v.median_ratio = result::median(ratios);
  deliver(to.out, output, format, answer_of(v));
  const bool fine = 10 * v.good >= 9 * chosen.size();
  if (!fine)
    to.err << "benanza_analyze: "
           << (v.measured == 0 ? "none of the figures can be tried here\n"
                               : "the figures do not hold here\n");
  return fine ? status::complete : status::partial;
}

} // namespace benanza::analyzer
