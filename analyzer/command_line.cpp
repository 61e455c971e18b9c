// SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include "answer.hpp"
#include "commands.hpp"
#include "formats.hpp"
#include "logs/call_commands.hpp"
#include "report/limit_figures.hpp"
#include "select.hpp"
#include "store/store_commands.hpp"
#include "versions.hpp"

#include <CLI/CLI.hpp>
#include <benanza/core/help_text.hpp>

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace benanza::analyzer {

CLI::Option* each(CLI::Option* o) {
  return o->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->allow_extra_args(false);
}

namespace {
/// What is asked for most, and how it is answered.
void add_first(CLI::App& app, request& asked) {
  const char* group = "What matters first";
  app.set_help_flag("-h,--help", "print this, and end")->group(group);
  app.set_version_flag("--version", versions)->group(group);
  app.add_option("results", asked.files,
                 "results of benanza_bench, or a store of them; none or -: standard input")
      ->type_name("RESULT");
  each(app.add_option("--framework", asked.frameworks,
                      "a framework's run beside it: benanza_measure_framework's file, or a trace "
                      "of ONNX Runtime, OpenVINO, PyTorch, TensorRT, Nsight Systems or oneDNN; "
                      "several: a.json,b.json, or given again"))
      ->delimiter(',')
      ->type_name("FILE,...")
      ->group(group);
  app.add_flag("--advice", asked.advice, "all advice in full: evidence, and a command to check it")
      ->group(group);
  app.add_flag("--details", asked.details, "all figures, explanations and warnings of a model")
      ->group(group);
  each(app.add_option("--format", asked.formats,
                      "how it is written (the list is below); several want a folder (-o)"))
      ->delimiter(',')
      ->type_name('{' + names_of_formats() + "},...")
      ->group(group);
  app.add_option("-o,--output", asked.output,
                 "write there, whole or not at all; into a folder as report.md and so on")
      ->type_name("FILE")
      ->group(group);
}

/// Of which figures it is.
void add_figures(CLI::App& app, request& asked) {
  const char* group = "Of which figures";
  app.add_option("--model", asked.wanted.model,
                 "only models of this name, or with it in their name")
      ->type_name("NAME")
      ->group(group);
  app.add_option("--type", asked.wanted.type, "only this type")
      ->type_name("{f32,tf32,f16,bf16,u8s8u8,s8s8s8,e4m3}")
      ->group(group);
  app.add_option("--threads", asked.wanted.threads, "only times on so many threads")
      ->type_name("N")
      ->group(group);
  app.add_option("--device", asked.device, "where the result holds times of both")
      ->check(CLI::Validator(CLI::IsMember({"cpu", "gpu"})).description(""))
      ->type_name("{cpu,gpu}")
      ->group(group);
  each(app.add_option("--backends", asked.backends,
                      "only these compete: onednn,host leaves out what frameworks ran"))
      ->delimiter(',')
      ->type_name("NAME,...")
      ->group(group);
  app.add_option("--workers", asked.wanted.workers,
                 "layers that run at the same time; else as many as the cores leave room for")
      ->check(CLI::Validator(CLI::Range(1, 1 << 20)).description(""))
      ->type_name("N")
      ->group(group);
  app.add_flag("--merge", asked.merge, "put the samples of several runs of one model together")
      ->group(group);
  app.add_option_function<std::string>(
         "--latency-limit",
         [&asked](const std::string& text) {
           asked.latency_limit_ns = time_of(text, "--latency-limit");
         },
         "time that a batch may take, such as 20ms: which one gives most items a second then")
      ->type_name("TIME")
      ->group(group);
}

/// What is shown in place of that, or of it.
void add_shown(CLI::App& app, request& asked) {
  const char* group = "What is shown";
  app.add_option("--layers", asked.layers,
                 "rows of a model's table in text, md and latex: a number, or all")
      ->type_name("N")
      ->group(group);
  app.add_flag("-q,--quiet", asked.quiet, "only the figures: no explanations, layers or advice")
      ->group(group);
  app.add_flag("--models", asked.models, "only list the models that the results hold")
      ->group(group);
  app.add_flag("--machine", asked.machine, "what the machine can do at most, in place of models")
      ->group(group);
  app.add_option("--algorithms", asked.algorithms,
                 "every algorithm of the layers with this in their names, or of this node: its "
                 "time, or why it has none")
      ->type_name("LAYER")
      ->group(group);
  app.add_flag("--versions", asked.versions,
               "where one version of a library is faster or slower than another")
      ->group(group);
}

/// What is made of it besides a page.
void add_uses(CLI::App& app, request& asked) {
  const char* group = "Limits and plans";
  each(app.add_option("--limit", asked.limits,
                      "end with status 3 where a model breaks it: [regular expression for models' "
                      "names] figure, <, <=, > or >=, number and unit, such as 'gap<1.3' or "
                      "'resnet50.* expected<60ms'; may be given again"))
      ->type_name("LIMIT")
      ->group(group);
  app.add_flag("--strict", asked.strict, "refuse (status 2) where figures would be partial")
      ->group(group);
  app.add_option("--missing", asked.missing,
                 "write there the filter (--benchmark_filter) for what was not measured")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--plan", asked.plan, "write there how each node of the model should run")
      ->type_name("FILE")
      ->group(group);
  auto* fused = app.add_flag("--fused", asked.fused, "the plan is that of the fused form");
  fused->group(group);
  app.add_flag("--unfused", asked.unfused, "the plan is that of the unfused form")
      ->excludes(fused)
      ->group(group);
}

/// Logs of frameworks' calls, and stores.
void add_others(CLI::App& app, request& asked) {
  const char* group = "What a framework called";
  each(app.add_option("--calls", asked.calls.logs,
                      "a log that cuDNN, cuBLAS or cublasLt wrote while a framework ran: which "
                      "calls it made, and the fastest of the results for each; without results, "
                      "only the calls; may be given again"))
      ->type_name("LOG")
      ->group(group);
  app.add_option("--iteration", asked.calls.iteration,
                 "which of the framework's iterations is shown, from 1; the last by default")
      ->type_name("N")
      ->group(group);
  app.add_option("--layers-out", asked.calls.layers_out,
                 "write the layers of the calls there, for benanza_generate --layers")
      ->type_name("FILE")
      ->group(group);
  group = "Stores of results";
  app.add_option("--system", asked.store.system, "whose results of a store: a number, or latest")
      ->type_name("SYSTEM")
      ->group(group);
  app.add_option("--export", asked.store.exported, "write the results of a store as a result file")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--import", asked.store.imported,
                 "add result files to the store that --store names")
      ->type_name("FILE")
      ->group(group);
  app.add_option("--store", asked.store.store, "the store that --import adds to")
      ->type_name("STORE")
      ->group(group);
}

std::string footer() {
  std::string out = "\nExamples:\n"
                    "  benanza_analyze run.json\n"
                    "  benanza_analyze run.json --framework ort.json --advice\n"
                    "  benanza_analyze run.json --format html -o report.html\n"
                    "  benanza_analyze run.json --limit 'expected<60ms'\n"
                    "  benanza_analyze compare old.json new.json\n"
                    "\nFormats:\n";
  const auto row = [&](std::string_view what, std::string_view about) {
    out += "  " + std::string(what) +
           std::string(28 - std::min<std::size_t>(27, what.size()), ' ') + std::string(about) +
           '\n';
  };
  for (const format& f : formats())
    row(f.name, f.about);
  out += "\nFigures of limits:\n";
  for (const report::limit_figure& f : report::limit_figures())
    row(f.name, f.about);
  return out + "\nExit status:\n"
               "  0 complete, 1 usable but partial, 2 refused (one line says what, where, and what "
               "to do), 3 worse than a limit.\n";
}
} // namespace

std::string parse(std::vector<std::string> arguments, request& asked) {
  CLI::App app("How fast could each model run on the machine that was measured?",
               "benanza_analyze");
  app.footer(footer());
  add_first(app, asked);
  add_figures(app, asked);
  add_shown(app, asked);
  add_uses(app, asked);
  add_others(app, asked);
  // For --help: they are called before this is reached.
  for (const command& c : commands())
    app.add_subcommand(std::string(c.name), c.about)->callback([&c] {
      throw error("a command comes first", std::string(c.name), "name it before its results");
    });
  std::reverse(arguments.begin(), arguments.end());
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    return fit_help(app.help(), terminal_columns(STDOUT_FILENO));
  } catch (const CLI::CallForVersion&) {
    return versions();
  }
  check_formats(asked);
  if (asked.quiet && asked.advice)
    throw error("--quiet leaves out the advice that --advice asks for", "", "give one of them");
  if (!asked.formats.empty()) asked.format = asked.formats.front();
  return {};
}

} // namespace benanza::analyzer
