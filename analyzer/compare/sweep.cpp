// SPDX-License-Identifier: Apache-2.0
// benanza_analyze sweep RESULTS --over batch --figure bound: how does a figure change along an
// axis? Each result file is a system of its own, and so is each system of a store; over dates each
// run is.
#include "../answer.hpp"
#include "../command_options.hpp"
#include "../frameworks/framework_runs.hpp"
#include "../read_results.hpp"
#include "sweep_page.hpp"

#include <benanza/advice/advised.hpp>
#include <benanza/compare/sweep.hpp>
#include <benanza/model/sequence.hpp>
#include <benanza/result/merge.hpp>
#include <benanza/result/reader.hpp>
#include <benanza/result/store_address.hpp>
#include <range/v3/view/zip.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
struct sweep_request {
  std::vector<std::string> files{}, frameworks{}, at{}, by{};
  std::string over, figure = "bound", system{}, device{}, format = "text", output{};
  selection wanted{};
};

/// A result, and what it is called as a place on the axis `system`.
struct swept_run {
  std::string name{};
  result::run run{};
};

std::vector<swept_run> read_swept(const sweep_request& asked) {
  std::vector<swept_run> out;
  const bool by_run =
      asked.over == "date" || std::find(asked.by.begin(), asked.by.end(), "date") != asked.by.end();
  std::set<std::string> names;
  for (const std::string& file : asked.files) {
    const std::string named = result::store::shown(file);
    std::string name = std::filesystem::path(named).filename().string();
    if (!names.insert(name).second) name = named;
    if (!is_store(file)) {
      std::vector<result::run> one;
      one.push_back(result::read_file(file));
      out.push_back({name, result::merge(std::move(one))});
      continue;
    }
    const std::vector<std::string> systems =
        asked.system.empty() ? systems_in_store(file) : std::vector<std::string>{asked.system};
    if (systems.empty())
      throw error("the store holds no results yet", named, "run benanza_bench --store");
    for (const std::string& s : systems) {
      const std::string title = systems.size() == 1 ? name : name + ':' + s;
      if (!by_run) {
        out.push_back({title, read_from_store(file, s, asked.wanted.model)});
        continue;
      }
      for (result::run& r : runs_in_store(file, s, asked.wanted.model)) {
        std::vector<result::run> one;
        one.push_back(std::move(r));
        out.push_back({title, result::merge(std::move(one))});
      }
    }
  }
  for (swept_run& s : out) {
    std::erase_if(s.run.graphs, model::is_sequence);
    choose_device(s.run, asked.device);
  }
  return out;
}

/// `batch=6`, of the axis that is swept.
double asked_place(const std::string& text, const std::string& axis) {
  const std::size_t is = text.find('=');
  const auto at = is == std::string::npos
                      ? std::nullopt
                      : compare::number_at(std::string_view(text).substr(is + 1));
  if (!at)
    throw error("a place on the axis is needed", "--at " + text, "write --at " + axis + "=6");
  if (text.substr(0, is) != axis)
    throw error("values are asked for on the axis that is swept, " + axis, "--at " + text,
                "write --at " + axis + text.substr(is));
  return *at;
}

/// Keeps of each curve the values that were asked for.
void keep_asked(std::vector<compare::curve>& curves, const std::vector<double>& at,
                const sweep_request& asked) {
  for (compare::curve& c : curves) {
    std::vector<compare::curve_point> points;
    for (const double x : at)
      if (auto p = compare::value_at(c, x)) points.push_back(std::move(*p));
    c.points = std::move(points);
  }
  std::erase_if(curves, [](const compare::curve& c) { return c.points.empty(); });
  if (curves.empty())
    throw error("no curve has measured points on both sides of it", "--at " + asked.at.front(),
                "nothing is guessed outside of what was measured: measure it");
}

/// Empty: the request is read; else what --help prints.
std::string parse_sweep(std::vector<std::string> arguments, sweep_request& asked) {
  CLI::App app(
      "How does a figure change with batch, threads, a dim, type, system, version or date?",
      "benanza_analyze sweep");
  app.add_option("results", asked.files, "results of benanza_bench, or stores")->required();
  app.add_option("--over", asked.over,
                 "the axis: batch, threads, type, system, date, sequence or another dim's name, "
                 "cpu, compiler, onednn (a library's version) ...")
      ->required();
  app.add_option(
      "--figure", asked.figure,
      "bound, expected, roofline, run, parallel, items_per_s, bound_items_per_s, energy, "
      "tokens_per_s, bound_tokens_per_s (of language models), "
      "node:NAME, kind:Conv or layer:KEY (bound); with --framework, framework (its "
      "runs) or gap (these over the bound)");
  app.add_option("--framework", asked.frameworks,
                 "frameworks' runs of the models, a curve each: a.json,b.json, or given again")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option("--by", asked.by, "axes that tell curves apart; else all that differ")
      ->delimiter(',')
      ->allow_extra_args(false);
  app.add_option(
         "--at", asked.at,
         "only there: batch=6, on the line between its two measured points and marked so where it "
         "was not measured")
      ->allow_extra_args(false);
  app.add_option("--model", asked.wanted.model,
                 "only models of this name, or with it in their name");
  app.add_option("--type", asked.wanted.type, "only this type: f32, bf16, u8s8u8 ...");
  app.add_option("--threads", asked.wanted.threads, "only times on so many threads");
  app.add_option("--system", asked.system, "only this system of a store: a number, or latest");
  app.add_option("--device", asked.device, "cpu or gpu, where a result holds times of both")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  add_output(app, asked.format, asked.output);
  return parse_command(app, std::move(arguments));
}

bool is_a_figure(const std::string& name) {
  for (const std::string_view prefix : {"node:", "kind:", "layer:"})
    if (name.starts_with(prefix) && name.size() > prefix.size()) return true;
  return std::find(std::begin(compare::sweep_figures), std::end(compare::sweep_figures), name) !=
         std::end(compare::sweep_figures);
}

/// The frameworks' runs for each result that they fit; refuses them where none does.
std::deque<advice::comparison> runs_of(const std::vector<trace::profile>& profiles,
                                       const std::vector<swept_run>& runs,
                                       const std::deque<std::vector<bound::model_bound>>& models,
                                       std::ostream& err) {
  std::deque<advice::comparison> out;
  std::vector<std::string> left_out;
  for (const trace::profile& p : profiles) {
    const std::size_t before = out.size();
    std::string why;
    for (const auto& [swept, its] : ranges::views::zip(runs, models)) {
      if (!fits(p, swept.run)) {
        why = p.source + ": it was measured on another machine: on " + machine_of(p);
        continue;
      }
      try {
        if (auto c = advice::run_beside(p, its, why)) out.push_back(std::move(*c));
      } catch (const error& e) { // it may be a run of another result
        why = e.what();
      }
    }
    if (out.size() == before) left_out.push_back(why);
  }
  if (out.empty()) throw error("no result has figures of the frameworks' runs", left_out.front());
  for (const std::string& why : left_out)
    err << "benanza_analyze: left out: " << printable(why) << '\n';
  return out;
}

/// Why there is nothing to show.
[[noreturn]] void refuse_sweep(const sweep_request& asked, const std::vector<compare::point>& all) {
  std::set<std::string> axes;
  bool placed = false;
  for (const compare::point& p : all) {
    for (const auto& [axis, place] : p.axes)
      axes.insert(axis);
    placed = placed || p.axes.contains(asked.over);
  }
  if (!placed) refuse_choice("no result has a place on the axis \"" + asked.over + '"', axes);
  throw error("no result has that figure", "--figure " + asked.figure,
              asked.figure == "run" ? "measure runs with benanza_bench --plan"
                                    : "benanza_analyze --details shows what there is");
}
} // namespace

status sweep_results(std::vector<std::string> arguments, const streams& to) {
  sweep_request asked;
  if (const std::string told = parse_sweep(std::move(arguments), asked); !told.empty()) {
    write_stream(to.out, told, "standard output");
    return status::complete;
  }
  if (asked.figure == "prediction") asked.figure = "expected"; // as it was called before
  if (!is_a_figure(asked.figure))
    refuse_choice("no figure is called \"" + asked.figure + '"',
                  std::vector<std::string_view>(std::begin(compare::sweep_figures),
                                                std::end(compare::sweep_figures)));
  if (compare::is_of_frameworks(asked.figure) == asked.frameworks.empty())
    throw error("the figures framework and gap are of frameworks' runs, others are not",
                "--figure " + asked.figure,
                "name runs with --framework and one of the two figures, or neither");
  std::vector<double> at;
  for (const std::string& text : asked.at)
    at.push_back(asked_place(text, asked.over));
  std::vector<swept_run> runs = read_swept(asked);
  std::deque<std::vector<bound::model_bound>> models; // points refer to them
  std::vector<compare::point> points;
  std::string lacks;
  for (swept_run& s : runs) {
    if (s.run.graphs.empty()) s.run.graphs.push_back(loose_layers(s.run));
    const bound::source source(s.run);
    models.emplace_back();
    try {
      models.back() = select(source, asked.wanted);
    } catch (const error& e) { // another result may hold it
      lacks = e.what();
      continue;
    }
    for (compare::point& p : compare::points_of(s.run, models.back(), s.name))
      points.push_back(std::move(p));
  }
  if (points.empty()) throw error(lacks);
  const std::vector<trace::profile> profiles = read_framework_runs(asked.frameworks);
  std::deque<advice::comparison> beside;
  if (!profiles.empty()) {
    beside = runs_of(profiles, runs, models, to.err);
    points = compare::points_of_runs(points, beside);
  }
  report::sweep_page page{asked.over, asked.figure, {}};
  page.curves =
      compare::curves(points, asked.over, asked.figure, {asked.by.begin(), asked.by.end()});
  if (page.curves.empty()) refuse_sweep(asked, points);
  if (!at.empty()) keep_asked(page.curves, at, asked);
  deliver(to.out, asked.output, asked.format, report::sweep_answer(page));
  return status::complete;
}

} // namespace benanza::analyzer
