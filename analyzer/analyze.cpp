// SPDX-License-Identifier: Apache-2.0
// What the command line asks for, and who answers it.
#include "analyze.hpp"

#include "call_commands.hpp"
#include "holdings.hpp"
#include "select.hpp"
#include "store_commands.hpp"
#include "versions.hpp"

#include <CLI/CLI.hpp>
#include <benanza/bound/layout/plan.hpp>
#include <benanza/bound/missing.hpp>
#include <benanza/core/out_of_memory.hpp>
#include <benanza/report/json.hpp>
#include <benanza/report/machine.hpp>
#include <benanza/report/text.hpp>
#include <benanza/result/device.hpp>
#include <benanza/result/merge.hpp>
#include <benanza/result/output_file.hpp>
#include <benanza/result/reader.hpp>
#include <range/v3/algorithm/all_of.hpp>
#include <range/v3/algorithm/count.hpp>
#include <range/v3/algorithm/count_if.hpp>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <fstream>
#include <istream>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace benanza::analyzer {

namespace {
/// What the command line asks for.
struct request {
  std::vector<std::string> files;
  selection wanted;
  std::string format = "text";
  std::string layers = "10";
  std::string output;
  std::string plan;
  bool fused = false, unfused = false; ///< the form of the plan; neither: fused where there is one
  bool strict = false;
  bool merge = false;  ///< several runs of the same cases
  bool models = false; ///< list what there is
  bool quiet = false;
  std::string missing; ///< where the filter goes that measures what is missing
  store_request store;
  std::string device;
  call_request calls;
  bool machine = false;
};

result::run read_all(const request& asked, std::istream& in) {
  std::vector<result::run> runs;
  bool taken = false, stores = false;
  for (const std::string& f : asked.files.empty() ? std::vector<std::string>{"-"} : asked.files) {
    if (f != "-") {
      const bool from_store = is_store(f);
      stores = stores || from_store;
      runs.push_back(from_store ? read_from_store(f, asked.store.system, asked.wanted.model)
                                : result::read_file(f));
      continue;
    }
    if (std::exchange(taken, true))
      throw error("standard input is named twice", "-", "name it once");
    runs.push_back(result::read(in, "standard input"));
  }
  if (!asked.store.system.empty() && !stores)
    throw error("--system chooses from a store, and no store was given", asked.store.system);
  const result::overlap both = result::overlap_of(runs);
  if (both.cases != 0 && !asked.merge)
    throw error(
        "two runs of the same cases, " + std::to_string(both.cases) + " of them, such as " +
            both.example,
        both.one + " and " + both.another,
        "--merge puts their samples together, and bounds take the better of both; to compare them, "
        "analyse each, and divide its bounds by its bound_clock_ns (--format json)");
  result::run out = result::merge(std::move(runs));
  if (both.cases != 0)
    out.provenance["measuring"][result::merged_cases_fact] = std::to_string(both.cases);
  return out;
}

/// Writes `text` to a stream. A reader that went away, as `head` does, is no failure.
void write_stream(std::ostream& out, const std::string& text, const std::string& name) {
  errno = 0;
  if (!(out << text << std::flush) && errno != EPIPE)
    throw error("the report cannot be written", name, "check the disk, the folder and your rights");
}

/// Writes `text` to a file whole or not at all; to what is no file, such as /dev/null, directly.
void write_file(const std::string& path, const std::string& text) {
  result::output_file file(path);
  std::ofstream out(file.written_to(), std::ios::binary | std::ios::trunc);
  write_stream(out, text, path);
  out.close();
  file.commit();
}

/// What makes the figures partial, in one line; empty: nothing.
std::string shortfall(const std::vector<bound::model_bound>& models) {
  std::int64_t nodes = 0, others = 0;
  std::string node, other, run;
  std::set<std::string> failed;
  for (const bound::model_bound& b : models) {
    nodes += b.covered.unmeasured_nodes();
    if (node.empty() && b.covered.partial())
      node = (b.covered.holes.empty() ? b.covered.rooflines : b.covered.holes).front().name +
             " in " + b.graph->name;
    if (!b.covered.partial()) others += std::ssize(b.missing);
    if (other.empty() && !b.missing.empty()) other = b.missing.front();
    if (run.empty() && !b.failed_runs.empty()) run = b.failed_runs.front()->error;
    for (const bound::layer_answer& l : b.layers)
      if (l.failed > 0) failed.insert(l.name);
  }
  std::vector<std::string> all;
  const auto add = [&](const std::string& what) { all.push_back(what); };
  if (nodes != 0) add(report::counted(nodes, "node") + " without a measured time, such as " + node);
  if (others != 0)
    add(std::to_string(others) + " layers or reorders not measured, such as " + other);
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
  return report::printable(fmt::format("{}", fmt::join(all, ", and ")));
}

std::size_t layer_limit(const std::string& text) {
  if (text == "all") return report::all_layers;
  std::size_t n = 0;
  const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (bad != std::errc{} || end != text.data() + text.size())
    throw error("--layers takes a number or all", text);
  return n;
}

void deliver(const request& asked, const std::string& text, std::ostream& out) {
  if (asked.output.empty())
    write_stream(out, text, "standard output");
  else
    write_file(asked.output, text);
}

/// The page of the machine in place of the models'.
status respond_machine(const request& asked, const result::run& run, std::ostream& out,
                       std::ostream& err) {
  const std::string lacking = report::machine_shortfall(run);
  if (asked.strict && !lacking.empty())
    throw error("partial: " + lacking, run.source, "leave out --strict to see the report");
  deliver(asked, asked.format == "json" ? report::machine_json(run) : report::machine_report(run),
          out);
  if (lacking.empty()) return status::complete;
  err << "benanza_analyze: partial: " << lacking << '\n';
  return status::partial;
}

/// Leaves the cases of the device that was asked for, or of the only one there is.
void choose_device(result::run& run, const std::string& device) {
  const std::set<std::string_view> known = result::devices(run);
  if (device.empty()) {
    if (known.size() > 1)
      throw error("the result holds times of the CPU and of a GPU", run.source,
                  "choose with --device cpu or --device gpu");
    // What was measured of the machine with it may be another device's.
    if (known.size() == 1) result::keep_device(run, *known.begin());
    return;
  }
  if (!known.contains(device)) detail::refuse_choice("nothing was measured on a " + device, known);
  result::keep_device(run, device);
}

/// The page of a framework's calls in place of the models'.
status respond_calls(const request& asked, std::istream& in, std::ostream& out, std::ostream& err) {
  const std::size_t limit = layer_limit(asked.layers);
  if (ranges::count(asked.files, "-") + ranges::count(asked.calls.logs, "-") > 1)
    throw error("standard input is named twice", "-", "name it once");
  if (!asked.plan.empty() || asked.machine)
    throw error("--calls goes with neither --plan nor --machine", asked.calls.logs.front());
  const std::vector<trace::call_log> logs = read_logs(asked.calls, in);
  const std::string lacking = log_shortfall(logs);
  if (asked.strict && !lacking.empty())
    throw error("partial: " + lacking, {}, "leave out --strict to see the report");
  std::optional<result::run> run;
  if (!asked.files.empty()) run = read_all(asked, in);
  // The calls are a GPU's, and are held against one's times where there are any.
  if (run)
    choose_device(*run, asked.device.empty() && result::devices(*run).size() > 1
                            ? std::string(result::gpu_device)
                            : asked.device);
  if (run && run->graphs.empty()) run->graphs.push_back(loose_layers(*run));
  const std::string text =
      calls_report(logs, run ? &*run : nullptr, asked.wanted, asked.calls,
                   {.json = asked.format == "json", .partial = !lacking.empty(), .limit = limit});
  if (!asked.calls.layers_out.empty()) write_file(asked.calls.layers_out, layers_of_calls(logs));
  deliver(asked, text, out);
  if (lacking.empty()) return status::complete;
  err << "benanza_analyze: partial: " << lacking << '\n';
  return status::partial;
}

bool of_one_model(const std::vector<bound::model_bound>& models) {
  return ranges::all_of(models, [&](const auto& b) { return b.graph == models.front().graph; });
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

status respond(const request& asked, std::istream& in, std::ostream& out, std::ostream& err) {
  const std::size_t layers = layer_limit(asked.layers);
  result::run run = read_all(asked, in);
  if (asked.models) {
    if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
    const std::vector<holding> rows = holdings(run);
    deliver(asked, asked.format == "json" ? holdings_json(rows) : holdings_text(rows), out);
    return status::complete;
  }
  choose_device(run, asked.device);
  if (asked.machine) return respond_machine(asked, run, out, err);
  if (run.graphs.empty()) run.graphs.push_back(loose_layers(run));
  std::vector<bound::model_bound> models = select(run, asked.wanted);
  if (asked.files.size() == 1 && is_store(asked.files.front()))
    for (bound::model_bound& b : models)
      if (!b.missing.empty())
        b.missing_command = bound::bench_command(run, b) + from_store(asked.files.front(), b);
  std::string lacking = shortfall(models);
  if (const std::string damaged = damaged_results(run); !damaged.empty())
    lacking += (lacking.empty() ? "" : ", and ") + damaged;
  if (asked.strict && !lacking.empty())
    throw error("partial: " + lacking, run.source, "leave out --strict to see the report");

  if (!asked.plan.empty()) write_plan(asked, run, models);
  if (!asked.missing.empty()) write_missing(asked.missing, run.source, models);

  const report::text_options options{.layers = layers,
                                     .details = of_one_model(models) || !asked.wanted.model.empty(),
                                     .quiet = asked.quiet};
  const std::string text = asked.format == "json"
                               ? report::json_report(run, models, !lacking.empty())
                               : report::text_report(run, models, options);
  deliver(asked, text, out);
  if (lacking.empty()) return status::complete;
  err << "benanza_analyze: partial: " << lacking << '\n';
  return status::partial;
}

/// --import and --export, which report nothing.
status move_results(const request& asked, std::ostream& out, std::ostream& err) {
  const store_request& s = asked.store;
  if (!s.imported.empty()) {
    if (s.store.empty())
      throw error("--import needs --store", s.imported.front(), "name the store");
    if (!s.exported.empty() || !asked.files.empty())
      throw error("--import takes nothing but --store", "", "export or analyse in a second step");
    import_files(s, out);
  } else {
    if (asked.files.size() != 1 || !is_store(asked.files.front()))
      throw error("--export needs a store, and one only",
                  asked.files.empty() ? std::string() : asked.files.front());
    std::string lacking;
    write_file(s.exported, export_text(asked.files.front(), s.system, asked.wanted.model, lacking));
    if (!lacking.empty()) {
      err << "benanza_analyze: partial: " << lacking << '\n';
      return status::partial;
    }
  }
  return status::complete;
}
} // namespace

status parse_and_respond(std::vector<std::string> arguments, std::istream& in, std::ostream& out,
                         std::ostream& err) {
  request asked;
  CLI::App app("How fast could each model run on the machine that was measured?",
               "benanza_analyze");
  app.set_version_flag("--version", versions);
  app.add_option("results", asked.files,
                 "results of benanza_bench, or a store of them; none or -: standard input");
  app.add_option("--model", asked.wanted.model,
                 "only models of this name, or with it in their name");
  app.add_option("--type", asked.wanted.type, "only this type: f32, bf16, u8s8u8 ...");
  app.add_option("--threads", asked.wanted.threads, "only times on so many threads");
  app.add_option("--device", asked.device, "cpu or gpu, where the result holds times of both")
      ->check(CLI::IsMember({"cpu", "gpu"}));
  app.add_option("--workers", asked.wanted.workers,
                 "layers that run at the same time; else as many as the cores leave room for")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--plan", asked.plan, "write there how each node of the model should run");
  auto* fused = app.add_flag("--fused", asked.fused, "the plan is that of the fused form");
  app.add_flag("--unfused", asked.unfused, "the plan is that of the unfused form")->excludes(fused);
  app.add_option("--format", asked.format, "text or json")->check(CLI::IsMember({"text", "json"}));
  app.add_option("--layers", asked.layers, "rows of a model's table: a number, or all");
  app.add_option("-o,--output", asked.output, "write there, whole or not at all");
  app.add_flag("-q,--quiet", asked.quiet, "only the figures: no explanations, layers or advice");
  app.add_flag("--models", asked.models, "only list the models that the results hold");
  app.add_flag("--merge", asked.merge,
               "put the samples of several runs of the same cases together");
  app.add_option(
      "--missing", asked.missing,
      "write there the benanza_bench filter (--benchmark_filter) for what was not measured");
  app.add_flag("--machine", asked.machine, "what the machine can do at most, in place of models");
  app.add_option("--calls", asked.calls.logs,
                 "logs that cuDNN, cuBLAS or cublasLt wrote while a framework ran: which calls it "
                 "made, and the fastest of the results for each; without results, only the calls")
      ->allow_extra_args(false);
  app.add_option("--iteration", asked.calls.iteration,
                 "which of the framework's iterations is shown, from 1; the last by default");
  app.add_option("--layers-out", asked.calls.layers_out,
                 "write the layers of the calls there, for benanza_generate --layers");
  app.add_flag("--strict", asked.strict, "refuse (status 2) where figures would be partial");
  app.add_option("--system", asked.store.system, "whose results of a store: a number, or latest");
  app.add_option("--export", asked.store.exported, "write the results of a store as a result file");
  app.add_option("--import", asked.store.imported,
                 "add result files to the store that --store names");
  app.add_option("--store", asked.store.store, "the store that --import adds to");
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    write_stream(out, app.help(), "standard output");
    return status::complete;
  } catch (const CLI::CallForVersion&) {
    write_stream(out, versions(), "standard output");
    return status::complete;
  }
  if (!asked.store.store.empty() && asked.store.imported.empty())
    throw error("--store says where --import adds to, and nothing is imported", asked.store.store,
                "to analyse a store, name it like a result file");
  if (!asked.store.imported.empty() || !asked.store.exported.empty())
    return move_results(asked, out, err);
  if (!asked.calls.logs.empty()) return respond_calls(asked, in, out, err);
  if (asked.calls.iteration || !asked.calls.layers_out.empty())
    throw error("--iteration and --layers-out are about calls", "", "name a log with --calls");
  return respond(asked, in, out, err);
}

int analyze(std::vector<std::string> arguments, std::istream& in, std::ostream& out,
            std::ostream& err) {
  try {
    return static_cast<int>(parse_and_respond(std::move(arguments), in, out, err));
  } catch (const std::exception& e) {
    err << "benanza_analyze: " << reason(e) << '\n';
  }
  return static_cast<int>(status::refused);
}

} // namespace benanza::analyzer
