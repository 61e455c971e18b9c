// SPDX-License-Identifier: Apache-2.0
// How long do models take, put together from their sequences, and how near is that to what runs of
// the whole took?
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../read_results.hpp"
#include "page.hpp"

#include <CLI/CLI.hpp>
#include <benanza/model/forms.hpp>
#include <benanza/result/graph_file.hpp>
#include <benanza/result/merge.hpp>

#include <charconv>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace benanza::analyzer {

namespace {
struct compose_request {
  std::vector<std::string> files{};
  std::string granularity{}, split = "chain", tiling = "none", against{}, models{}, system{};
  std::string model{}, type{}, format = "text", output{};
  int threads = 0;
  bool fused = false;

  bool best() const { return tiling == "best"; }
};

/// Empty: the request is read; else what --help prints.
std::string parse_compose(std::vector<std::string> arguments, compose_request& asked) {
  CLI::App app("put models together from what their sequences of layers took",
               "benanza_analyze compose");
  app.add_option("results", asked.files,
                 "results that hold sequences, or a store of them; none or -: standard input");
  app.add_option("--granularity", asked.granularity,
                 "of how many layers the sequences are at most, or all");
  app.add_option("--split", asked.split, "as the sequences were cut: chain or window")
      ->check(CLI::IsMember({"chain", "window"}));
  app.add_option("--tiling", asked.tiling,
                 "best: the cheapest of all ways to cover a model by measured sequences")
      ->check(CLI::IsMember({"none", "best"}));
  app.add_flag("--fused", asked.fused, "sequences of the models' fused forms");
  app.add_option("--against", asked.against,
                 "a result of whole models (--granularity all, or a plan's), or a store of them, "
                 "to compare with");
  app.add_option("--models", asked.models,
                 "a file of the models: of an anonymous suite the private map");
  app.add_option("--model", asked.model, "only models with this in their name");
  app.add_option("--type", asked.type, "f32, bf16 ...: which, where there are several");
  app.add_option("--threads", asked.threads, "on how many threads, where there are several")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--system", asked.system, "whose results of a store: a number, or latest");
  add_output(app, asked.format, asked.output);
  if (std::string told = parse_command(app, std::move(arguments)); !told.empty()) return told;
  if (asked.granularity.empty() == !asked.best())
    throw error(
        asked.best() ? "--tiling best takes sequences of all lengths" : "how are models cut?",
        "compose",
        asked.best() ? "leave --granularity out" : "give --granularity G, or --tiling best");
  return {};
}

std::int64_t length_of(const std::string& text) {
  if (text == "all") return model::whole_model;
  std::int64_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size() || n < 1)
    throw error("a number of layers from 1 on is needed, not \"" + text + '"', "--granularity",
                "write --granularity 6, or --granularity all");
  return n;
}

/// The models to put together, of the run or of a file.
std::vector<model::graph> models_of(const compose_request& asked, const result::run& run) {
  const std::vector<model::graph> all =
      asked.models.empty() ? run.graphs : result::read_graph_file(asked.models).graphs;
  std::vector<model::graph> out;
  for (const model::graph* g :
       model::one_form_each(all, asked.fused ? model::form::fused : model::form::unfused))
    if (g->name.find(asked.model) != std::string::npos) out.push_back(*g);
  if (out.empty())
    throw error(asked.model.empty() ? "it holds no models, only sequences"
                                    : "no model has \"" + asked.model + "\" in its name",
                asked.models.empty() ? run.source : asked.models,
                "name a file that holds them with --models");
  return out;
}

/// The type and the number of threads that sequences were measured in.
bound::setting setting_of(const compose_request& asked, const result::run& run) {
  std::set<bound::setting> all;
  for (const result::measurement& m : run.measurements)
    if (const auto type = parse_numeric(m.type); m.family == model::sequence_family && type &&
                                                 !result::nothing_runs(m) &&
                                                 (asked.type.empty() || asked.type == m.type) &&
                                                 (asked.threads == 0 || asked.threads == m.threads))
      all.emplace(*type, m.threads);
  if (all.empty())
    throw error("no sequence of layers was measured so", run.source,
                "measure what benanza_generate --granularity writes");
  if (all.size() > 1)
    throw error("sequences were measured in several types or on several threads", run.source,
                "choose with --type and --threads");
  return *all.begin();
}

/// Refuses models of which sequences lack a time, and names the first.
void refuse_missing(const std::vector<report::composed_row>& rows,
                    const bound::sequence_times& times, const result::run& run) {
  std::set<std::string> missing, suite;
  for (const model::graph& g : run.graphs)
    suite.insert(g.name);
  bool in_suite = true; // then the benchmark program has them
  std::string first, filter;
  for (const report::composed_row& r : rows)
    for (std::size_t i = 0; i < r.made.missing.size(); ++i) {
      const std::string& name = r.made.missing[i];
      if (!missing.insert(name).second) continue;
      in_suite = in_suite && suite.contains(name);
      filter += (filter.empty() ? "" : "|") + name.substr(model::sequence_prefix.size());
      if (!first.empty()) continue;
      first = name + " (" + printable(r.made.missing_text[i], 120) + ") of " +
              printable(r.made.graph->name);
      if (const auto* its = times.find(name); its != nullptr && its->failed != nullptr)
        first += ", which failed: " + printable(its->failed->error, 200);
    }
  if (missing.empty()) return;
  constexpr std::size_t longest = 300;
  throw error(
      std::to_string(missing.size()) + (missing.size() == 1 ? " sequence has" : " sequences have") +
          " no time, such as " + first,
      run.source,
      in_suite && filter.size() <= longest
          ? "measure them: benanza_bench --benchmark_filter='^sequence/(" + filter + ")/'"
          : "measure what benanza_generate writes with this --granularity, --split and form "
            "(--fused)");
}

/// How warm caches are taken to be.
std::string estimate_text(const std::vector<report::composed_row>& rows,
                          const std::set<std::string>& states) {
  double least = 1, most = 0;
  bool hot = false;
  for (const report::composed_row& r : rows) {
    least = std::min(least, r.made.weights.gone);
    most = std::max(most, r.made.weights.gone);
    hot = hot || r.made.weights.hot;
  }
  const bool hot_too = hot && states.contains("hot");
  if (states.size() == 1 || (states.contains("coldw") && !states.contains("llcw")))
    return fmt::format(
        "composed: medians in one state ({}){}",
        states.contains("coldw") ? "coldw" : *states.begin(),
        hot_too && states.size() > 1 ? "; hot where a core's own caches hold all of a model" : "");
  return std::string("composed: medians ") +
         (states.contains("coldw")
              ? "with weights from the last cache (llcw) and from memory (coldw)"
              : "hot and cold") +
         fmt::format(", as much of each as runs of the models find there: {:.0f} to {:.0f} % from "
                     "memory{}",
                     100 * least, 100 * most,
                     hot_too ? "; hot where a core's own caches hold all of a model" : "");
}

report::composed_page page_of(const compose_request& asked, const result::run& run,
                              const std::vector<model::graph>& models, const result::run* against) {
  const bound::setting in = setting_of(asked, run);
  const bound::sequence_times times(run, in);
  const bound::run_caches caches = bound::caches_of(run);
  const model::cut by = *model::parse_cut(asked.split);
  report::composed_page out;
  out.type = name(in.first);
  out.threads = in.second;
  out.cut = asked.best() ? "best tiling, " + asked.split
                         : "G = " + asked.granularity + ", " + asked.split;
  if (asked.fused) out.cut += ", fused forms";
  std::map<std::string, bound::warmth> used; // as the first model that has it finds its weights
  for (const model::graph& g : models) {
    const bound::measurement* whole = against ? bound::whole_run(*against, g, in) : nullptr;
    if (against && whole == nullptr)
      throw error("it holds no run of " + printable(g.name) + " as a whole on so many threads",
                  against->source, "measure what benanza_generate --granularity all writes");
    if (whole != nullptr && whole->family == model::sequence_family &&
        whole->algorithm != times.how())
      throw error("whole models and sequences ran by different choices of algorithms",
                  against->source, "give benanza_bench the same --choices for both");
    const double clock_ns = whole != nullptr ? whole->clock_ns : 0;
    const auto cut_so = [&](const bound::warmth& w) {
      return asked.best() ? bound::best_tiling(g, by, times, times.longest(), w)
                          : model::split(g, {.length = length_of(asked.granularity), .by = by});
    };
    report::composed_row row{
        .made = bound::compose(g, cut_so({}), times, caches, in.first, clock_ns), .whole = whole};
    if (asked.best() && row.made.weights.gone < 1)
      row.made = bound::compose(g, cut_so(row.made.weights), times, caches, in.first, clock_ns);
    for (const std::string& name : row.made.used)
      used.emplace(name, row.made.weights);
    out.rows.push_back(std::move(row));
  }
  refuse_missing(out.rows, times, run);
  out.unique = used.size();
  std::set<std::string> states;
  double clocked_ns = 0;
  for (const auto& [name, weights] : used) {
    const bound::sequence_cases& its = *times.find(name);
    for (const bound::measurement* m : {its.hot, its.llcw, its.coldw, its.cold})
      if (m != nullptr) states.insert(m->state);
    out.by_latency.sequences_ns += its.estimate_ns(weights);
    clocked_ns += its.clock_time_ns();
  }
  for (const report::composed_row& r : out.rows)
    if (r.whole != nullptr) {
      out.by_latency.models_ns += r.whole_ns();
      out.by_clock.models_ns += r.whole->sampling_ns + r.whole->setup_ns;
    }
  if (out.by_clock.models_ns > 0) out.by_clock.sequences_ns = clocked_ns;
  out.estimate = estimate_text(out.rows, states);
  return out;
}
} // namespace

status compose(std::vector<std::string> arguments, const streams& to) {
  compose_request asked;
  if (const std::string told = parse_compose(std::move(arguments), asked); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  std::vector<std::string> all = asked.files;
  all.push_back(asked.against);
  check_system(all, asked.system);
  // Sequences of one length are among those of another too: what was measured twice is merged.
  const auto read = [&](const std::vector<std::string>& files) {
    return result::merge(read_each(files, asked.system, asked.model, to.in));
  };
  const result::run run = read(asked.files);
  std::optional<result::run> against;
  if (!asked.against.empty()) against = read({asked.against});
  const std::vector<model::graph> models = models_of(asked, run);
  const report::composed_page page = page_of(asked, run, models, against ? &*against : nullptr);
  deliver(to.out, asked.output, asked.format, report::composed_answer(page));
  return status::complete;
}

} // namespace benanza::analyzer
