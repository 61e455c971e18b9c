// SPDX-License-Identifier: Apache-2.0
#include "model_commands.hpp"

#include "formats.hpp"
#include "frameworks/framework_runs.hpp"
#include "holdings.hpp"
#include "report/input.hpp"
#include "report/limits.hpp"
#include "report/units.hpp"
#include "report/warnings.hpp"
#include "request.hpp"
#include "select.hpp"
#include "store/store_commands.hpp"

#include <benanza/bound/layout/plan.hpp>
#include <benanza/model/sequence.hpp>
#include <nlohmann/json.hpp>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/any_of.hpp>
#include <range/v3/algorithm/count_if.hpp>
#include <range/v3/algorithm/none_of.hpp>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <utility>

namespace benanza::analyzer {

std::string shortfall(const std::vector<bound::model_bound>& models) {
  std::int64_t nodes = 0, others = 0, cut = 0, of_machine = 0;
  std::string node, other, run, in_part;
  std::set<std::string> failed;
  for (const bound::model_bound& b : models) {
    nodes += b.covered.unmeasured_nodes();
    if (node.empty() && b.covered.partial())
      node = (b.covered.holes.empty() ? b.covered.rooflines : b.covered.holes).front().name +
             " in " + b.graph->name;
    const report::missing_kinds kinds = report::kinds_of_missing(b);
    if (!b.covered.partial()) others += std::ssize(b.missing) - kinds.in_part - kinds.of_machine;
    if (other.empty() && !b.missing.empty()) other = b.missing.front();
    cut += b.left();
    of_machine = std::max(of_machine, b.machine_left);
    if (run.empty() && !b.failed_runs.empty()) run = b.failed_runs.front()->error;
    for (const bound::layer_answer& l : b.layers) {
      if (l.lost > 0) failed.insert(l.name);
      if (in_part.empty() && l.timed() && l.left > 0) in_part = l.name;
    }
  }
  std::vector<std::string> all;
  const auto add = [&](const std::string& what) { all.push_back(what); };
  if (nodes != 0) add(report::counted(nodes, "node") + " without a measured time, such as " + node);
  if (others != 0)
    add(std::to_string(others) + " layers or reorders not measured, such as " + other);
  if (cut != 0)
    add(report::counted(cut, "case") + " of measured layers not measured, such as of " + in_part);
  if (of_machine != 0)
    add(report::counted(of_machine, "case") + " of the machine's limits not measured");
  if (!failed.empty())
    add(report::counted(std::ssize(failed), "layer") + " with failed cases, such as " +
        *failed.begin());
  if (!run.empty()) add("the run of the whole model failed: " + run);
  const auto disturbed =
      ranges::count_if(models, [](const auto& b) { return !b.unmeasurable.empty(); });
  if (disturbed != 0)
    add(models.size() == 1 ? "no verdict: " + models.front().unmeasurable
                           : "no verdict on " + report::counted(disturbed, "model") +
                                 ", disturbed while measured");
  return printable(fmt::format("{}", fmt::join(all, ", and ")));
}

namespace {
bool of_one_model(const std::vector<bound::model_bound>& models) {
  return ranges::all_of(models, [&](const auto& b) { return b.graph == models.front().graph; });
}

/// True for the batches and other dims of one model.
bool of_one_name(const std::vector<bound::model_bound>& models) {
  return ranges::all_of(
      models, [&](const auto& b) { return b.graph->model == models.front().graph->model; });
}

/// Writes the plan of the only model, type and number of threads that were asked for.
void write_plan(const request& asked, const result::run& run,
                const std::vector<bound::model_bound>& models) {
  if (!of_one_model(models))
    throw error("a plan is for one model", models.front().graph->name + " and others",
                "choose one with --model");
  if (models.size() != 1)
    throw error("a plan is for one type on some threads", models.front().graph->name,
                "choose them with --type and --threads");
  const bound::model_bound& b = models.front();
  if (asked.fused && !b.fused)
    throw error("the result holds no fused form of " + b.graph->name, run.source,
                "leave out --fused, or measure the fused layers too");
  const result::plan p = bound::plan_of(run, b, b.fused && !asked.unfused);
  write_file(asked.plan,
             result::to_json(p).dump(1, ' ', true, result::ordered_json::error_handler_t::replace) +
                 '\n');
}

/// Writes the filter that selects all that is missing of some models.
void write_missing(const std::string& path, const std::string& source,
                   const std::vector<bound::model_bound>& models) {
  std::set<std::string> layers;
  for (const bound::model_bound& b : models)
    layers.insert(b.missing_filter.begin(), b.missing_filter.end());
  if (layers.empty()) throw error("nothing is missing that could be measured", source);
  write_file(path, bound::filter_of({layers.begin(), layers.end()}) + '\n');
}
} // namespace

status list_models(result::run& run, const answer& to) {
  if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
  to.write(holdings_answer(holdings(run)));
  return status::complete;
}

namespace {
/// Refuses a result of sequences alone: bounds are of single layers.
void refuse_sequences_alone(const result::run& run) {
  const auto of_a_sequence = [](const result::measurement& m) {
    return m.family == model::sequence_family;
  };
  if (ranges::any_of(run.measurements, of_a_sequence) &&
      ranges::none_of(run.measurements, result::of_a_layer))
    throw error("it holds times of sequences of layers alone, and bounds need those of single "
                "layers",
                run.source,
                "benanza_analyze compose puts models together from sequences; for bounds measure "
                "what benanza_generate writes without --granularity");
}
} // namespace

status report_models(result::run& run, std::size_t rows, const answer& to) {
  const request& asked = to.asked;
  refuse_sequences_alone(run);
  if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
  const bound::source source(run);
  std::vector<bound::model_bound> models = select(source, asked.wanted);
  if (asked.files.size() == 1 && is_store(asked.files.front()))
    for (bound::model_bound& b : models)
      if (!b.missing.empty())
        b.missing_command = bound::bench_command(run, b) + from_store(asked.files.front(), b);
  std::string lacking = shortfall(models);
  if (const std::string damaged = damaged_results(run); !damaged.empty())
    lacking += (lacking.empty() ? "" : ", and ") + damaged;
  to.check(lacking, run.source);
  if (!asked.plan.empty()) write_plan(asked, run, models);
  if (!asked.missing.empty()) write_missing(asked.missing, run.source, models);
  const std::vector<report::limit> limits(asked.limits.begin(), asked.limits.end());
  std::vector<trace::profile> profiles = read_framework_runs(asked.frameworks);
  for (trace::profile& p : profiles)
    check_machine(p, run);
  const bool pages = of_one_model(models) || !asked.wanted.model.empty() ||
                     (!profiles.empty() && of_one_name(models)) || asked.advice || asked.details;
  std::vector<bound::model_bound> others;
  std::vector<advice::advised> advised; // of what is shown
  std::vector<std::string> left_out;
  if (pages || !profiles.empty() || asked.formats.size() > 1 || asked.format != "text" ||
      !limits.empty()) {
    others = related(source, models);
    advised = advice::advise_all(
        source, models, profiles,
        {.others = &others, .latency_limit_ns = asked.latency_limit_ns, .left_out = &left_out});
  }
  to.left_out(left_out);
  std::vector<report::limit_answer> held = report::hold_to(limits, advised);
  report::check_limits(limits, held);
  const std::string broken = report::broken_limits(held);
  if (lacking.empty()) lacking = report::unsure_limits(held);
  write_report(to, {.run = run,
                    .models = models,
                    .advised = advised,
                    .options = {.layers = rows,
                                .pages = pages,
                                .details = asked.details,
                                .advice = asked.advice,
                                .quiet = asked.quiet,
                                .columns = to.columns()},
                    .lacking = lacking,
                    .limits = std::move(held)});
  return to.keeps(broken, lacking);
}

} // namespace benanza::analyzer
